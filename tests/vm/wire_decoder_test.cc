#include "vm/wire_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vm/module_builder.h"

namespace takt::vm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// The text of the error that decoding the first instruction gives, or "".
std::string ErrorOf(const std::vector<uint8_t>& body) {
  WireInstruction out;
  const absl::Status status = DecodeInstruction(body, 0, &out);
  EXPECT_TRUE(status.ok() ||
              status.code() == absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(WireDecoderTest, ReadsOperandsAndResults) {
  BodyBuilder body;
  body.Emit(Op::kFmaI64).U16(2).U16(4).U16(6).U16(8);
  WireInstruction out;
  ASSERT_TRUE(DecodeInstruction(body.bytes(), 0, &out).ok());
  EXPECT_EQ(out.info, &InfoOf(Op::kFmaI64));
  EXPECT_EQ(out.pc, 0u);
  EXPECT_EQ(out.next_pc, 9u);
  ASSERT_EQ(out.fields.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(out.fields[i].kind, WireFieldKind::kI64);
    EXPECT_EQ(out.fields[i].value, 2 * i + 2);
    EXPECT_EQ(out.fields[i].offset, 2 * i + 1);
    EXPECT_EQ(out.fields[i].is_result, i == 3);
  }
}

TEST(WireDecoderTest, ReadsImmediatesLittleEndian) {
  BodyBuilder body;
  body.Emit(Op::kConstI64).U64(0x0102030405060708).U16(2);
  const uint32_t second = body.pc();
  body.Emit(Op::kConstF32).F32(1.0f).U16(3);
  WireInstruction out;
  ASSERT_TRUE(DecodeInstruction(body.bytes(), 0, &out).ok());
  EXPECT_EQ(out.fields[0].value, 0x0102030405060708u);
  ASSERT_EQ(out.next_pc, second);
  ASSERT_TRUE(DecodeInstruction(body.bytes(), second, &out).ok());
  EXPECT_EQ(out.info, &InfoOf(Op::kConstF32));
  EXPECT_EQ(out.fields[0].kind, WireFieldKind::kConstF32);
  EXPECT_EQ(out.fields[0].value, 0x3f800000u);
  EXPECT_EQ(out.fields[1].value, 3u);
}

TEST(WireDecoderTest, AlignsListsToTwoBytesFromTheBody) {
  for (const bool shifted : {false, true}) {
    BodyBuilder body;
    if (shifted) body.Emit(Op::kBlock);
    const uint32_t pc = body.pc();
    body.Emit(Op::kCall).U32(7).List({1, R(2), MoveR(3)}).List({4});
    WireInstruction out;
    ASSERT_TRUE(DecodeInstruction(body.bytes(), pc, &out).ok());
    ASSERT_EQ(out.fields.size(), 3u);
    EXPECT_EQ(out.fields[0].kind, WireFieldKind::kFunction);
    EXPECT_EQ(out.fields[0].value, 7u);
    EXPECT_THAT(out.fields[1].list, ElementsAre(1, 0x8002, 0xc003));
    EXPECT_THAT(out.fields[2].list, ElementsAre(4));
    EXPECT_EQ(out.next_pc, body.pc());
  }
}

TEST(WireDecoderTest, ReadsStringsWithoutAlignment) {
  BodyBuilder body;
  body.Emit(Op::kFail).U16(1).Text("odd");
  WireInstruction out;
  const std::vector<uint8_t> bytes = body.bytes();
  ASSERT_TRUE(DecodeInstruction(bytes, 0, &out).ok());
  EXPECT_EQ(out.fields[1].text, "odd");
  EXPECT_EQ(out.next_pc, bytes.size());
}

TEST(WireDecoderTest, ReadsBranchesAndTables) {
  BodyBuilder body;
  const uint32_t a = body.NewLabel();
  const uint32_t b = body.NewLabel();
  body.Emit(Op::kBrTable).U16(5).Branch(a, {{1, 2}});
  body.U16(2).Branch(b).Branch(a, {{MoveR(0), R(1)}, {3, 4}});
  const uint32_t end = body.pc();
  body.Block(a).Block(b);
  WireInstruction out;
  ASSERT_TRUE(DecodeInstruction(body.bytes(), 0, &out).ok());
  ASSERT_EQ(out.fields.size(), 3u);
  ASSERT_EQ(out.fields[1].branches.size(), 1u);
  EXPECT_EQ(out.fields[1].branches[0].target_pc, end);
  EXPECT_THAT(out.fields[1].branches[0].remap, ElementsAre(Pair(1, 2)));
  ASSERT_EQ(out.fields[2].branches.size(), 2u);
  EXPECT_EQ(out.fields[2].branches[0].target_pc, end + 1);
  EXPECT_THAT(out.fields[2].branches[0].remap, IsEmpty());
  EXPECT_THAT(out.fields[2].branches[1].remap,
              ElementsAre(Pair(0xc000, 0x8001), Pair(3, 4)));
  EXPECT_EQ(out.next_pc, end);
}

TEST(WireDecoderTest, ReusedStorageForgetsTheInstructionBefore) {
  BodyBuilder body;
  body.Emit(Op::kReturn).List({1, 2, 3});
  const uint32_t second = body.pc();
  body.Emit(Op::kReturn).List({});
  WireInstruction out;
  ASSERT_TRUE(DecodeInstruction(body.bytes(), 0, &out).ok());
  ASSERT_TRUE(DecodeInstruction(body.bytes(), second, &out).ok());
  EXPECT_THAT(out.fields[0].list, IsEmpty());
}

TEST(WireDecoderTest, RefusesUnknownOpcodes) {
  EXPECT_EQ(ErrorOf({0x89}), "pc 0: unknown opcode 89");
  EXPECT_EQ(ErrorOf({0xe0, 0x3e}), "pc 0: unknown opcode e0 3e");
  EXPECT_EQ(ErrorOf({0xe1, 0x40}), "pc 0: unknown opcode e1 40");
  EXPECT_EQ(ErrorOf({0xe2, 0x00}), "pc 0: unknown opcode e2");
}

TEST(WireDecoderTest, RefusesAPrefixWithoutAnOpcode) {
  EXPECT_EQ(ErrorOf({0xe0}), "pc 0: the body ends inside an opcode");
  EXPECT_EQ(ErrorOf({}), "pc 0: past the body's end at 0");
}

TEST(WireDecoderTest, NamesTheOperandThatDoesNotFit) {
  BodyBuilder body;
  body.Emit(Op::kAddI32).U16(0).U16(1).U8(2);
  EXPECT_EQ(ErrorOf(body.bytes()),
            "pc 0: add.i32: operand 2 (i) at 5 does not fit the body of 6 "
            "bytes");
}

// One instruction of every shape, cut at every byte: an error each time, and
// (under ASan) no byte read that is not there.
TEST(WireDecoderTest, RefusesEveryTruncation) {
  BodyBuilder body;
  const uint32_t label = body.NewLabel();
  std::vector<std::vector<uint8_t>> instructions;
  const auto take = [&](const BodyBuilder& builder) {
    instructions.push_back(builder.bytes());
  };
  take(BodyBuilder().Emit(Op::kGlobalStoreRef).U32(0).U32(0).U16(R(0)));
  take(BodyBuilder().Emit(Op::kConstF64).F64(1).U16(0));
  take(BodyBuilder().Emit(Op::kSwitchI64).U16(0).U16(0).List({1}).U16(2));
  take(BodyBuilder()
           .Emit(Op::kCallVariadic)
           .U32(ImportOrdinal(0))
           .List({1, 2})
           .List({3})
           .List({4}));
  take(BodyBuilder().Emit(Op::kTrace).Text("text").List({1}));
  BodyBuilder branches;
  branches.NewLabel();
  branches.Emit(Op::kBrTable).U16(0).Branch(label, {{1, 2}});
  branches.U16(1).Branch(label, {{3, 4}});
  take(branches);
  for (const std::vector<uint8_t>& instruction : instructions) {
    EXPECT_EQ(ErrorOf(instruction), "");
    for (size_t size = 0; size < instruction.size(); ++size) {
      // A copy of its own, so that ASan sees where it ends.
      const std::vector<uint8_t> cut(instruction.begin(),
                                     instruction.begin() + size);
      EXPECT_NE(ErrorOf(cut), "") << size;
    }
  }
}

TEST(WireDecoderTest, HugeCountsCostNothing) {
  BodyBuilder list;
  list.Emit(Op::kReturn).Align().U16(0xffff);
  EXPECT_THAT(ErrorOf(list.bytes()), HasSubstr("(a*)"));
  BodyBuilder table;
  table.NewLabel();
  table.Emit(Op::kBrTable).U16(0).Branch(0).U16(0xffff);
  EXPECT_THAT(ErrorOf(table.bytes()), HasSubstr("(tbl)"));
  BodyBuilder text;
  text.Emit(Op::kFail).U16(0).U16(0xffff);
  EXPECT_THAT(ErrorOf(text.bytes()), HasSubstr("(s)"));
}

TEST(WireDecoderTest, RefusesAPcPastTheBody) {
  WireInstruction out;
  const std::vector<uint8_t> body = {0x79};
  EXPECT_TRUE(DecodeInstruction(body, 0, &out).ok());
  EXPECT_FALSE(DecodeInstruction(body, 1, &out).ok());
  EXPECT_FALSE(DecodeInstruction(body, 0xffffffff, &out).ok());
}

}  // namespace
}  // namespace takt::vm
