#include "tools/common/module_description.h"

#include <gtest/gtest.h>

#include "tests/tools/tool_process.h"

namespace takt::tools {
namespace {

TEST(SignatureTextTest, WritesConventionsInWords) {
  EXPECT_EQ(SignatureText("0v_v"), "() -> ()");
  EXPECT_EQ(SignatureText("0"), "() -> ()");
  EXPECT_EQ(SignatureText("0iIfFr_r"),
            "(i32, i64, f32, f64, !vm.ref<?>) -> (!vm.ref<?>)");
  EXPECT_EQ(SignatureText("0rCiID_v"),
            "(!vm.ref<?>, tuple<i32, i64>...) -> ()");
}

TEST(SignatureTextTest, LeavesOtherTextUnchanged) {
  for (const char* text : {"", "1v", "0z", "0CiI", "0iD", "0i_r_r"}) {
    EXPECT_EQ(SignatureText(text), text);
  }
}

TEST(DescribeModuleTest, DisassemblesTheNamedFunctions) {
  const Instance instance = Instance::Create().value();
  const Module module =
      Module::Load(instance, TestData("tools/pass_through.vmfb")).value();
  DescribeOptions options;
  options.function = "nothing";
  const ModuleDescription description = DescribeModule(module, options).value();
  size_t count = 0;
  for (const auto& function : description.functions) {
    if (!function.disassembly.empty()) ++count;
  }
  EXPECT_EQ(count, 1u);
  options.disassemble = false;
  EXPECT_TRUE(
      DescribeModule(module, options)->functions[0].disassembly.empty());
  options.function = "zork";
  EXPECT_EQ(DescribeModule(module, options).status().code(),
            TAKT_STATUS_NOT_FOUND);
}

}  // namespace
}  // namespace takt::tools
