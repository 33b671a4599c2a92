// Branches with remap lists, by rule (b) of docs/module_format.md: in order,
// but a word that an earlier pair overwrote is read as it was before the
// branch, unless it is scratch. And that folding keeps what programs mean.
#include "vm/translator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/vm/short_values.h"
#include "tests/vm/vm_test_util.h"
#include "vm/byte_buffer.h"
#include "vm/program.h"

namespace takt::vm {
namespace {

// Words 0 to 3 are arguments 10, 11, 12, 13; what they are after the branch.
std::vector<int32_t> AfterBranch(const BodyBuilder::Remap& remap,
                                 uint16_t registers) {
  BodyBuilder body;
  const uint32_t next = body.NewLabel();
  body.Block().Emit(Op::kBr).Branch(next, remap);
  body.Block(next).Emit(Op::kReturn).List({0, 1, 2, 3});
  const auto results =
      RunBody("0iiii_iiii", body, registers, 0, {i(10), i(11), i(12), i(13)});
  EXPECT_TRUE(results.ok()) << results.status();
  std::vector<int32_t> words;
  if (results.ok()) {
    for (const Value& value : *results) words.push_back(value.i32());
  }
  return words;
}

using Words = std::vector<int32_t>;

TEST(TranslatorTest, CyclesGoThroughScratch) {
  EXPECT_EQ(AfterBranch({{0, 4}, {1, 0}, {4, 1}}, 5), (Words{11, 10, 12, 13}));
  EXPECT_EQ(AfterBranch({{0, 4}, {1, 0}, {2, 1}, {4, 2}}, 5),
            (Words{11, 12, 10, 13}));
  // One scratch word for two cycles, one after the other.
  EXPECT_EQ(AfterBranch({{0, 4}, {1, 0}, {4, 1}, {2, 4}, {3, 2}, {4, 3}}, 5),
            (Words{11, 10, 13, 12}));
}

TEST(TranslatorTest, OverwrittenWordsAreReadAsBefore) {
  EXPECT_EQ(AfterBranch({{0, 1}, {1, 2}, {2, 3}}, 4), (Words{10, 10, 11, 12}));
  EXPECT_EQ(AfterBranch({{0, 1}, {1, 0}}, 4), (Words{11, 10, 12, 13}));
  // The same word twice.
  EXPECT_EQ(AfterBranch({{0, 1}, {1, 2}, {1, 3}}, 4), (Words{10, 10, 11, 11}));
}

TEST(TranslatorTest, WideScratchMayStartOdd) {
  // The pair 0:1 by way of 5:6 while 2:3 takes its place.
  EXPECT_EQ(AfterBranch({{0, 5}, {1, 6}, {2, 0}, {3, 1}, {5, 2}, {6, 3}}, 7),
            (Words{12, 13, 10, 11}));
}

// The list that the compiler gets wrong: i4 -> i2, i5 -> i3, i2 -> i0.
TEST(TranslatorTest, OverlapOfWideAndNarrowIsPutRight) {
  BodyBuilder body;
  const uint32_t next = body.NewLabel();
  body.Block().Emit(Op::kBr).Branch(next, {{4, 2}, {5, 3}, {2, 0}});
  body.Block(next).Emit(Op::kReturn).List({0, 2});
  const auto results =
      RunBody("0iiiiI_iI", body, 6, 0, {i(1), i(2), i(3), i(4), I(99)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].i32(), 3);
  EXPECT_EQ((*results)[1].i64(), 99);
}

// Words that a branch saves were numbered in 16 bits before they were counted:
// the numbers wrapped, and the branch back read in front of a table.
TEST(TranslatorTest, ABranchThatSavesTooManyWordsIsRefused) {
  for (const size_t save_count : {31'990u, 33'000u, 65'000u}) {
    BodyBuilder body;
    const uint32_t loop = body.NewLabel();
    BodyBuilder::Remap remap = {{1, 0}};
    for (size_t i = 0; i < save_count; ++i) remap.emplace_back(0, 1);
    body.Block().Emit(Op::kBr).Branch(loop);
    body.Block(loop).Emit(Op::kAddI32).U16(0).U16(1).U16(2);
    body.Emit(Op::kBr).Branch(loop, remap);
    const auto results = RunBody("0ii_i", body, 20, 0, {i(1), i(2)});
    EXPECT_THAT(std::string(results.status().message()),
                testing::HasSubstr("more than 32000 words"))
        << save_count;
  }
}

TEST(TranslatorTest, RefsAreRemappedInOrder) {
  BodyBuilder body;
  const uint32_t next = body.NewLabel();
  body.Block().Emit(Op::kBr).Branch(
      next, {{MoveR(0), R(2)}, {MoveR(1), R(0)}, {MoveR(2), R(1)}});
  body.Block(next).Emit(Op::kReturn).List({R(0), R(1), R(2)});
  Ref<ByteBuffer> a = *ByteBuffer::Allocate(1, 0);
  Ref<ByteBuffer> b = *ByteBuffer::Allocate(1, 0);
  auto results =
      RunBody("0rr_rrr", body, 0, 3, {Value::FromRef(a), Value::FromRef(b)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].ref(), b.get());
  EXPECT_EQ((*results)[1].ref(), a.get());
  EXPECT_EQ((*results)[2].ref(), a.get());
  results->clear();
  EXPECT_TRUE(a->IsUnique() && b->IsUnique());
}

// iree-compile 3.13 marks a ref as moved that the block reads as two
// parameters, one of which stays in its register.
TEST(TranslatorTest, ARefThatABranchMovesStaysInItsRegister) {
  BodyBuilder body;
  const uint32_t next = body.NewLabel();
  body.Block().Emit(Op::kBr).Branch(next, {{MoveR(0), R(1)}});
  body.Block(next).Emit(Op::kReturn).List({R(0), R(1)});
  Ref<ByteBuffer> a = *ByteBuffer::Allocate(1, 0);
  auto results = RunBody("0r_rr", body, 0, 2, {Value::FromRef(a)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].ref(), a.get());
  EXPECT_EQ((*results)[1].ref(), a.get());
}

// A loop over s and n whose new value of s is copied back at the end, so that
// it can be written there at once; `uses` lists its other readers.
struct LoopShape {
  bool result_is_new;  // The exit returns the new value, else the old one.
  bool old_is_read;    // After the new one was made.
};

TEST(TranslatorTest, ValuesThatGoRoundALoop) {
  for (const LoopShape& shape :
       {LoopShape{true, false}, {true, true}, {false, false}, {false, true}}) {
    // n at 0, i at 1, one at 2, s at 3, new s at 4, flag at 5, trail at 6.
    BodyBuilder body;
    const uint32_t loop = body.NewLabel();
    const uint32_t exit = body.NewLabel();
    body.Block().Emit(Op::kConstI32).U32(1).U16(2);
    body.Emit(Op::kConstI32Zero).U16(1).Emit(Op::kConstI32).U32(3).U16(3);
    body.Emit(Op::kConstI32Zero).U16(6);
    body.Emit(Op::kBr).Branch(loop);
    body.Block(loop).Emit(Op::kAddI32).U16(3).U16(3).U16(4);  // s' = 2 s
    if (shape.old_is_read) body.Emit(Op::kAddI32).U16(6).U16(3).U16(6);
    body.Emit(Op::kAddI32).U16(1).U16(2).U16(1);
    body.Emit(Op::kCmpLtI32S).U16(1).U16(0).U16(5);
    body.Emit(Op::kCondBr).U16(5).Branch(loop, {{4, 3}}).Branch(exit);
    body.Block(exit)
        .Emit(Op::kReturn)
        .List({static_cast<uint16_t>(shape.result_is_new ? 4 : 3), 6});
    const auto results = RunBody("0i_ii", body, 7, 0, {i(5)});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0].i32(), shape.result_is_new ? 96 : 48);
    EXPECT_EQ((*results)[1].i32(), shape.old_is_read ? 3 * 31 : 0);
  }
}

std::vector<InnerOp> OpsOf(const Function& function,
                           const std::vector<size_t>& units) {
  std::vector<InnerOp> ops;
  for (size_t unit : units) {
    ops.push_back(static_cast<InnerOp>(function.code[unit].op));
  }
  return ops;
}

// An instruction takes an operand from the one before it, if that has the same
// register and width.
TEST(TranslatorTest, OperandsFromTheLastResult) {
  BodyBuilder body;
  body.Block().Emit(Op::kAddI64).U16(0).U16(0).U16(2);
  body.Emit(Op::kBufferLoadI32).U16(R(0)).U16(2).U16(4);
  body.Emit(Op::kSubI32).U16(0).U16(4).U16(5);
  body.Emit(Op::kBufferStoreI32).U16(R(0)).U16(0).U16(5);
  body.Emit(Op::kXorI32).U16(5).U16(4).U16(4);
  body.Emit(Op::kOrI64).U16(4).U16(0).U16(6);
  body.Emit(Op::kReturn).List({6});
  ModuleBuilder builder("m");
  builder.AddFunction("0Ir_I", body, 8, 1);
  absl::StatusOr<Ref<BytecodeModule>> module = TryLoad(builder);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(OpsOf((*module)->program().functions[0], {0, 1, 2, 3, 4, 5, 6}),
            (std::vector<InnerOp>{InnerOp::kAddI64, InnerOp::kBufferLoadI32C,
                                  InnerOp::kSubI32C, InnerOp::kBufferStoreI32C,
                                  InnerOp::kXorI32, InnerOp::kOrI64,
                                  InnerOp::kReturnLast64}));
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(12, 0);
  buffer->data()[8] = 9;
  const auto results =
      RunBody("0Ir_I", body, 8, 1, {I(1), Value::FromRef(buffer)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(buffer->data()[4], static_cast<uint8_t>(1 - 9));
  const auto low = static_cast<uint32_t>((1 - 9) ^ 9);
  const auto high = static_cast<uint32_t>(1 - 9);
  EXPECT_EQ(static_cast<uint64_t>((*results)[0].i64()),
            (uint64_t{high} << 32 | low) | 1);
}

// Two operations whose first result is overwritten by the second are one
// instruction. The first instruction of a block takes nothing from another one.
TEST(TranslatorTest, ChainsEndWithTheirBlock) {
  BodyBuilder body;
  const uint32_t next = body.NewLabel();
  body.Block().Emit(Op::kMulI32).U16(0).U16(0).U16(2);
  body.Emit(Op::kSubI32).U16(1).U16(2).U16(3);
  body.Emit(Op::kXorI32).U16(0).U16(3).U16(3);
  body.Emit(Op::kBr).Branch(next);
  body.Block(next).Emit(Op::kAddI32).U16(3).U16(1).U16(4);
  body.Emit(Op::kReturn).List({4});
  ModuleBuilder builder("m");
  builder.AddFunction("0ii_i", body, 5, 0);
  absl::StatusOr<Ref<BytecodeModule>> module = TryLoad(builder);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(OpsOf((*module)->program().functions[0], {0, 1, 3, 4}),
            (std::vector<InnerOp>{InnerOp::kMulI32, InnerOp::kSubXorI32,
                                  InnerOp::kAddI32, InnerOp::kReturnLast32}));
  const auto results = RunBody("0ii_i", body, 5, 0, {i(5), i(7)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].i32(), ((7 - 25) ^ 5) + 7);
}

// The first block of a loop only compares; its flag may be seen after it.
TEST(TranslatorTest, LoopsThatCompareFirst) {
  for (const bool flag_is_read : {false, true}) {
    for (const int32_t rounds : {0, 1, 6}) {
      BodyBuilder body;
      const uint32_t head = body.NewLabel();
      const uint32_t inner = body.NewLabel();
      const uint32_t exit = body.NewLabel();
      body.Block().Emit(Op::kConstI32).U32(1).U16(2);
      body.Emit(Op::kConstI32Zero).U16(1).Emit(Op::kConstI64Zero).U16(4);
      body.Emit(Op::kBr).Branch(head);
      body.Block(head).Emit(Op::kCmpLtI32S).U16(1).U16(0).U16(3);
      body.Emit(Op::kCondBr).U16(3).Branch(inner).Branch(exit);
      body.Block(inner).Emit(Op::kExtI32I64S).U16(1).U16(6);
      body.Emit(Op::kAddI64).U16(4).U16(6).U16(6);
      body.Emit(Op::kAddI32).U16(1).U16(2).U16(1);
      body.Emit(Op::kBr).Branch(head, {{6, 4}, {7, 5}});
      body.Block(exit)
          .Emit(Op::kReturn)
          .List({4, static_cast<uint16_t>(flag_is_read ? 3 : 1)});
      const auto results = RunBody("0i_Ii", body, 8, 0, {i(rounds)});
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_EQ((*results)[0].i64(), rounds * (rounds - 1) / 2);
      EXPECT_EQ((*results)[1].i32(), flag_is_read ? 0 : rounds);
    }
  }
}

// The jump back to a loop's header holds the header's comparison. The block
// after the loop follows in the bytecode, but not in the translated code: there
// the edges stand that the branch or the table has besides.
TEST(TranslatorTest, LoopsThatAreLeftFromAHeaderInTheMiddleOfABranch) {
  for (const bool is_table : {false, true}) {
    BodyBuilder body;
    const uint32_t header = body.NewLabel();
    const uint32_t failed = body.NewLabel();
    const uint32_t loop = body.NewLabel();
    const uint32_t done = body.NewLabel();
    body.Block().Emit(Op::kConstI32).U32(1).U16(5);
    body.Emit(Op::kBr).Branch(header, {});
    body.Block(header).Emit(Op::kCmpLtI32S).U16(1).U16(0).U16(3);
    body.Emit(Op::kCondBr).U16(3).Branch(loop, {}).Branch(done, {});
    body.Block(failed).Emit(Op::kReturn).List({4});
    body.Block(loop).Emit(Op::kAddI32).U16(1).U16(5).U16(1);
    body.Emit(Op::kAndI32).U16(6).U16(5).U16(3);
    if (is_table) {
      body.Emit(Op::kBrTable).U16(3).Branch(failed, {{3, 4}});
      body.U16(1).Branch(header, {{1, 2}});
    } else {
      body.Emit(Op::kCondBr).U16(3).Branch(failed, {{3, 4}});
      body.Branch(header, {{1, 2}});
    }
    body.Block(done).Emit(Op::kReturn).List({2});
    const auto results = RunBody("0i_i", body, 7, 0, {i(3)});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0].i32(), 3) << is_table;
  }
}

// A block that only jumps back follows the moves of one of its two entries.
TEST(TranslatorTest, AMoveIsNoPartOfTheJumpOfTheNextBlock) {
  BodyBuilder body;
  const uint32_t loop = body.NewLabel(), choice = body.NewLabel();
  const uint32_t back = body.NewLabel(), out = body.NewLabel();
  body.Block(loop).Emit(Op::kAddI32).U16(0).U16(1).U16(0);
  body.Emit(Op::kCondBr).U16(0).Branch(choice).Branch(out);
  body.Block(choice).Emit(Op::kCondBr).U16(2);
  body.Branch(back).Branch(back, {{1, 3}});
  body.Block(back).Emit(Op::kBr).Branch(loop);
  body.Block(out).Emit(Op::kReturn).List({0, 3});
  for (const int32_t is_moved : {0, 1}) {
    const auto results =
        RunBody("0iiii_ii", body, 4, 0, {i(5), i(-1), i(1 - is_moved), i(7)});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0].i32(), 0);
    EXPECT_EQ((*results)[1].i32(), is_moved != 0 ? -1 : 7);
  }
}

TEST(TranslatorTest, UnknownTypesAreNotFound) {
  ModuleBuilder builder("m");
  builder.AddType("!other.thing");
  const absl::Status status = TryLoad(builder).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("!other.thing"), absl::string_view::npos);
}

}  // namespace
}  // namespace takt::vm
