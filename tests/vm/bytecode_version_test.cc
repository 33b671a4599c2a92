#include "vm/bytecode_version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace takt::vm {
namespace {

using ::testing::HasSubstr;

const BytecodeVersion& VersionOf(uint32_t major) {
  const auto version = FindBytecodeVersion(major << 16);
  EXPECT_TRUE(version.ok()) << version.status();
  return version.ok() ? **version : NewestBytecode();
}

std::string ErrorOf(uint32_t number) {
  const absl::Status status = FindBytecodeVersion(number).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(BytecodeVersionTest, FindsEachMajor) {
  for (const uint32_t major : {15, 16, 17}) {
    EXPECT_EQ(VersionOf(major).number, major << 16);
  }
  EXPECT_EQ(NewestBytecode().number, 17u << 16);
}

TEST(BytecodeVersionTest, NamesTheCompilersOfAnotherVersion) {
  EXPECT_EQ(ErrorOf(14u << 16),
            "bytecode version 14.0 is not supported: written by an "
            "iree-compile from before March 2023; supported: iree-compile 3.8 "
            "to 3.13 (bytecode 15.0, 16.0, 17.0)");
  EXPECT_THAT(ErrorOf(18u << 16),
              HasSubstr("18.0 is not supported: written by an iree-compile "
                        "newer than 3.13"));
  EXPECT_THAT(ErrorOf(17u << 16 | 1), HasSubstr("newer than 3.13"));
  EXPECT_THAT(ErrorOf(15u << 16 | 1), HasSubstr("no release of iree-compile"));
  EXPECT_THAT(ErrorOf(0), HasSubstr("bytecode version 0.0"));
}

// discard.refs, assign.ref: from 16. call.yieldable and its variadic form,
// fpowi: from 17.
TEST(BytecodeVersionTest, OlderVersionsHaveFewerInstructions) {
  const auto has = [](uint32_t major, Op op) {
    return VersionOf(major).Has(InfoOf(op).set, InfoOf(op).code);
  };
  for (const Op op : {Op::kBufferHash, Op::kRoundF32Even, Op::kCastUi64F32,
                      Op::kRoundF64Even, Op::kBlock}) {
    EXPECT_TRUE(has(15, op) && has(16, op) && has(17, op));
  }
  for (const Op op : {Op::kDiscardRefs, Op::kAssignRef}) {
    EXPECT_TRUE(!has(15, op) && has(16, op) && has(17, op));
  }
  for (const Op op : {Op::kCallYieldable, Op::kCallVariadicYieldable,
                      Op::kFpowiF32, Op::kFpowiF64}) {
    EXPECT_TRUE(!has(15, op) && !has(16, op) && has(17, op));
  }
  for (uint16_t op = 0; op < static_cast<uint16_t>(Op::kCount); ++op) {
    EXPECT_TRUE(has(17, static_cast<Op>(op)));
  }
}

}  // namespace
}  // namespace takt::vm
