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

absl::Status Decode(const std::vector<uint8_t>& body, uint32_t pc,
                    WireInstruction* out, uint32_t major = 17) {
  return DecodeInstruction(**FindBytecodeVersion(major << 16), body, pc, out);
}

// The text of the error that decoding the first instruction gives, or "".
std::string ErrorOf(const std::vector<uint8_t>& body, uint32_t major = 17) {
  WireInstruction out;
  const absl::Status status = Decode(body, 0, &out, major);
  EXPECT_TRUE(status.ok() ||
              status.code() == absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(WireDecoderTest, ReadsOperandsAndResults) {
  BodyBuilder body;
  body.Emit(Op::kFmaI64).U16(2).U16(4).U16(6).U16(8);
  WireInstruction out;
  ASSERT_TRUE(Decode(body.bytes(), 0, &out).ok());
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
  ASSERT_TRUE(Decode(body.bytes(), 0, &out).ok());
  EXPECT_EQ(out.fields[0].value, 0x0102030405060708u);
  ASSERT_EQ(out.next_pc, second);
  ASSERT_TRUE(Decode(body.bytes(), second, &out).ok());
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
    ASSERT_TRUE(Decode(body.bytes(), pc, &out).ok());
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
  ASSERT_TRUE(Decode(bytes, 0, &out).ok());
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
  ASSERT_TRUE(Decode(body.bytes(), 0, &out).ok());
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
  ASSERT_TRUE(Decode(body.bytes(), 0, &out).ok());
  ASSERT_TRUE(Decode(body.bytes(), second, &out).ok());
  EXPECT_THAT(out.fields[0].list, IsEmpty());
}

TEST(WireDecoderTest, RefusesUnknownOpcodes) {
  EXPECT_EQ(ErrorOf({0x89}), "pc 0: unknown opcode 89 in bytecode 17.0");
  EXPECT_EQ(ErrorOf({0xe0, 0x3f}),
            "pc 0: unknown opcode e0 3f in bytecode 17.0");
  EXPECT_EQ(ErrorOf({0xe1, 0x41}),
            "pc 0: unknown opcode e1 41 in bytecode 17.0");
  EXPECT_EQ(ErrorOf({0xe2, 0x00}), "pc 0: unknown opcode e2 in bytecode 17.0");
}

TEST(WireDecoderTest, OlderVersionsLackTheNewerOpcodes) {
  BodyBuilder discard;
  discard.Emit(Op::kDiscardRefs).List({});
  EXPECT_EQ(ErrorOf(discard.bytes(), 15),
            "pc 0: unknown opcode 85 in bytecode 15.0");
  EXPECT_EQ(ErrorOf(discard.bytes(), 16), "");
  BodyBuilder call;
  const uint32_t next = call.NewLabel();
  call.Emit(Op::kCallYieldable).U32(0).List({}).Target(next).List({});
  call.Block(next);
  EXPECT_EQ(ErrorOf(call.bytes(), 15),
            "pc 0: unknown opcode 87 in bytecode 15.0");
  EXPECT_EQ(ErrorOf(call.bytes(), 16),
            "pc 0: unknown opcode 87 in bytecode 16.0");
  EXPECT_EQ(ErrorOf(call.bytes(), 17), "");
  BodyBuilder power;
  power.Emit(Op::kFpowiF32).U16(0).U16(2).U16(1);
  EXPECT_EQ(ErrorOf(power.bytes(), 16),
            "pc 0: unknown opcode e0 3e in bytecode 16.0");
  EXPECT_EQ(ErrorOf(power.bytes(), 17), "");
}

TEST(WireDecoderTest, SingleMovesOfBytecode15AreGone) {
  const auto fields = [](const BodyBuilder& body, uint32_t major) {
    WireInstruction out;
    const absl::Status status = Decode(body.bytes(), 0, &out, major);
    EXPECT_TRUE(status.ok()) << status;
    std::vector<uint64_t> values;
    for (const WireField& field : out.fields) values.push_back(field.value);
    return values;
  };
  // An operand that is only looked at, one that may be given away, a result.
  BodyBuilder load;
  load.Emit(Op::kListGetRef).U16(MoveR(1)).U16(0).U32(0).U16(MoveR(2));
  EXPECT_THAT(fields(load, 15), ElementsAre(R(1), 0, 0, MoveR(2)));
  EXPECT_THAT(fields(load, 16), ElementsAre(MoveR(1), 0, 0, MoveR(2)));
  BodyBuilder store;
  store.Emit(Op::kListSetRef).U16(R(1)).U16(0).U16(MoveR(2));
  EXPECT_THAT(fields(store, 15), ElementsAre(R(1), 0, R(2)));
  EXPECT_THAT(fields(store, 16), ElementsAre(R(1), 0, MoveR(2)));
  // Bit 14 of a value register is part of its ordinal.
  BodyBuilder word;
  word.Emit(Op::kNotI32).U16(0x4001).U16(0x4002);
  EXPECT_THAT(fields(word, 15), ElementsAre(0x4001, 0x4002));
  BodyBuilder value_for_a_ref;  // The verifier's business.
  value_for_a_ref.Emit(Op::kCmpNzRef).U16(0x4001).U16(0);
  EXPECT_THAT(fields(value_for_a_ref, 15), ElementsAre(0x4001, 0));
}

TEST(WireDecoderTest, ImportsBorrowInBytecode15) {
  const auto operands = [](Op op, uint32_t callee, uint32_t major) {
    BodyBuilder body;
    body.Emit(op).U32(callee);
    if (op == Op::kCallVariadic) body.List({0xffff, 0xffff});
    body.List({0x4001, MoveR(2), R(3)}).List({MoveR(4)});
    WireInstruction out;
    const absl::Status status = Decode(body.bytes(), 0, &out, major);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_THAT(out.fields.back().list, ElementsAre(MoveR(4)));
    return out.fields[op == Op::kCallVariadic ? 2 : 1].list;
  };
  for (const Op op : {Op::kCall, Op::kCallVariadic}) {
    EXPECT_THAT(operands(op, ImportOrdinal(1), 15),
                ElementsAre(0x4001, R(2), R(3)));
    for (const uint32_t major : {16, 17}) {
      EXPECT_THAT(operands(op, ImportOrdinal(1), major),
                  ElementsAre(0x4001, MoveR(2), R(3)));
    }
  }
  // A function of the module's own takes what it is given.
  EXPECT_THAT(operands(Op::kCall, 1, 15), ElementsAre(0x4001, MoveR(2), R(3)));
}

// Remaps, returns, prints and switches.
TEST(WireDecoderTest, OtherMovesInListsCountInEveryVersion) {
  for (const uint32_t major : {15, 16, 17}) {
    WireInstruction out;
    BodyBuilder branch;
    const uint32_t label = branch.NewLabel();
    branch.Emit(Op::kBr).Branch(label, {{MoveR(0), R(1)}}).Block(label);
    ASSERT_TRUE(Decode(branch.bytes(), 0, &out, major).ok());
    EXPECT_THAT(out.fields[0].branches[0].remap,
                ElementsAre(Pair(MoveR(0), R(1))));
    BodyBuilder returned;
    returned.Emit(Op::kReturn).List({MoveR(1)});
    ASSERT_TRUE(Decode(returned.bytes(), 0, &out, major).ok());
    EXPECT_THAT(out.fields[0].list, ElementsAre(MoveR(1)));
    BodyBuilder print;
    print.Emit(Op::kPrint).Text("x").List({MoveR(1)});
    ASSERT_TRUE(Decode(print.bytes(), 0, &out, major).ok());
    EXPECT_THAT(out.fields[1].list, ElementsAre(MoveR(1)));
    BodyBuilder choice;
    choice.Emit(Op::kSwitchRef).U16(0).U32(0).U16(R(1)).List({MoveR(2)});
    choice.U16(R(1));
    ASSERT_TRUE(Decode(choice.bytes(), 0, &out, major).ok());
    EXPECT_THAT(out.fields[3].list, ElementsAre(MoveR(2)));
  }
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
  EXPECT_TRUE(Decode(body, 0, &out).ok());
  EXPECT_FALSE(Decode(body, 1, &out).ok());
  EXPECT_FALSE(Decode(body, 0xffffffff, &out).ok());
}

}  // namespace
}  // namespace takt::vm
