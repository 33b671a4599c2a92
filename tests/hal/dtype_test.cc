#include "hal/dtype.h"

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace takt::hal {
namespace {

using Kind = NumericalKind;

// The names of all element types that have one.
std::set<std::string> AllNames() {
  std::set<std::string> names;
  for (uint32_t kind = 0; kind < 256; ++kind) {
    for (uint32_t bits = 0; bits < 256; ++bits) {
      const char* const name =
          DtypeName(MakeElementType(static_cast<Kind>(kind), bits));
      if (name == nullptr) continue;
      names.insert(name);
      EXPECT_EQ(DtypeBits(name), bits) << name;
    }
  }
  return names;
}

TEST(DtypeTest, IsTheNameOfAnElementType) {
  EXPECT_STREQ(DtypeName(MakeElementType(Kind::kFloatIeee, 32)), "F32");
  EXPECT_STREQ(DtypeName(MakeElementType(Kind::kInteger, 64)), "I64");
  EXPECT_STREQ(DtypeName(MakeElementType(Kind::kF8E4M3FN, 8)), "F8_E4M3");
  EXPECT_EQ(DtypeName(MakeElementType(Kind::kInteger, 4)), nullptr);
  EXPECT_EQ(DtypeName(MakeElementType(Kind::kComplex, 64)), nullptr);
  EXPECT_EQ(DtypeBits("F4"), 0u);
  EXPECT_EQ(DtypeBits("f32"), 0u);
}

// The tools know the C API only, so they have a table of their own.
TEST(DtypeTest, TheToolsHaveTheSameNames) {
  std::ifstream file(TAKT_SOURCE_DIR "/tools/common/capture.cc");
  const std::string text((std::istreambuf_iterator<char>(file)),
                         std::istreambuf_iterator<char>());
  const std::regex row(R"re(\{"(\w+)",\s*TAKT_ELEMENT_\w+\})re");
  std::set<std::string> names;
  for (std::sregex_iterator each(text.begin(), text.end(), row), end;
       each != end; ++each) {
    names.insert((*each)[1]);
  }
  EXPECT_EQ(names, AllNames());
}

}  // namespace
}  // namespace takt::hal
