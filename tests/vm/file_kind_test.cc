#include "vm/file_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/string_view.h"

namespace takt::vm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Explain(absl::string_view bytes) {
  return ExplainForeignFile(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

TEST(FileKindTest, SaysHowToCompileMlir) {
  const auto compile =
      AllOf(HasSubstr("this is MLIR text, not a compiled module (.vmfb)"),
            HasSubstr("iree-compile --iree-hal-target-device=local"));
  EXPECT_THAT(Explain("// A model.\nfunc.func @f() {\n  return\n}\n"), compile);
  EXPECT_THAT(Explain("module @m {\n}\n"), compile);
  EXPECT_THAT(Explain("ML\xEFR\x0dIREE"), HasSubstr("MLIR bytecode"));
}

TEST(FileKindTest, NamesOtherFormats) {
  EXPECT_THAT(Explain("\x7f"
                      "ELF\x02\x01\x01"),
              HasSubstr("an ELF file"));
  EXPECT_THAT(Explain(absl::string_view("\x08\x0a\x12\x07pytorch\x1a", 12)),
              AllOf(HasSubstr("an ONNX model"), HasSubstr("iree-import-onnx"),
                    HasSubstr("iree-compile")));
  EXPECT_THAT(Explain(absl::string_view("\x1c\0\0\0TFL3\x14\0", 10)),
              HasSubstr("TensorFlow Lite"));
  EXPECT_THAT(Explain("just words\n"), HasSubstr("this is text"));
  EXPECT_THAT(Explain(""), HasSubstr("an empty file"));
}

std::string Zip(const std::string& name) {
  std::string zip("PK\3\4", 4);
  zip.resize(30);
  zip[26] = static_cast<char>(name.size());
  return zip + name + std::string(8, '\0');
}

TEST(FileKindTest, DistinguishesAWrappedModuleFromOtherArchives) {
  EXPECT_THAT(Explain(Zip("model.pth")), HasSubstr("a zip archive"));
  EXPECT_EQ(Explain(Zip("module.fb")), "");
}

TEST(FileKindTest, LeavesDamagedModulesToTheirOwnMessage) {
  EXPECT_EQ(Explain(absl::string_view("\x08\x01\x12\0\x01\0\0\0IREE", 12)), "");
  EXPECT_EQ(Explain(absl::string_view("\x10\x01\0\0\x01\0\0\0IRXE", 12)), "");
}

}  // namespace
}  // namespace takt::vm
