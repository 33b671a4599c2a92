#include "vm/opcodes.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace takt::vm {
namespace {

TEST(OpcodesTest, EveryOpIsFoundUnderItsCode) {
  for (uint16_t i = 0; i < static_cast<uint16_t>(Op::kCount); ++i) {
    const OpInfo& info = InfoOf(static_cast<Op>(i));
    EXPECT_EQ(static_cast<uint16_t>(info.op), i);
    EXPECT_EQ(FindOp(info.set, info.code), &info) << info.mnemonic;
  }
}

TEST(OpcodesTest, SetsAreDenseAndEndWhereTheFormatSays) {
  const struct {
    OpSet set;
    int count;
  } kSets[] = {{OpSet::kCore, 0x89}, {OpSet::kF32, 0x3f}, {OpSet::kF64, 0x41}};
  for (const auto& [set, count] : kSets) {
    for (int code = 0; code < 256; ++code) {
      EXPECT_EQ(FindOp(set, static_cast<uint8_t>(code)) != nullptr,
                code < count)
          << code;
    }
  }
}

TEST(OpcodesTest, MnemonicsAreUnique) {
  std::set<std::string> mnemonics;
  for (uint16_t i = 0; i < static_cast<uint16_t>(Op::kCount); ++i) {
    EXPECT_TRUE(mnemonics.insert(InfoOf(static_cast<Op>(i)).mnemonic).second);
  }
}

TEST(OpcodesTest, KnownCodes) {
  EXPECT_STREQ(FindOp(OpSet::kCore, 0x22)->mnemonic, "add.i32");
  EXPECT_STREQ(FindOp(OpSet::kCore, 0x79)->mnemonic, "block");
  EXPECT_STREQ(FindOp(OpSet::kF32, 0x0a)->mnemonic, "add.f32");
  EXPECT_STREQ(FindOp(OpSet::kF64, 0x3f)->mnemonic, "round.f64.even");
  EXPECT_TRUE(FindOp(OpSet::kCore, 0x5a)->is_terminator);
  EXPECT_FALSE(FindOp(OpSet::kCore, 0x58)->is_terminator);
}

}  // namespace
}  // namespace takt::vm
