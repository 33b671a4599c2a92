// The instructions on buffers, lists, refs and ref globals, run as bytecode.
#include "vm/object_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/vm/short_values.h"
#include "tests/vm/vm_test_util.h"
#include "vm/byte_buffer.h"
#include "vm/list.h"

namespace takt::vm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Value OfOwned(Ref<Object> ref) { return Value::FromRef(std::move(ref)); }

Ref<ByteBuffer> BufferOf(const std::vector<uint8_t>& bytes) {
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(bytes.size(), 0);
  if (!bytes.empty()) std::memcpy(buffer->data(), bytes.data(), bytes.size());
  return buffer;
}
Ref<ByteBuffer> ReadOnly(size_t size) {
  static uint8_t bytes[64];
  return ByteBuffer::Wrap(nullptr, bytes, size, /*is_mutable=*/false);
}

absl::StatusCode CodeOf(const absl::StatusOr<std::vector<Value>>& results) {
  return results.status().code();
}

// ---- Buffers ----

absl::StatusOr<std::vector<Value>> RunLoad(Op op, char letter, Value buffer,
                                           int64_t index) {
  BodyBuilder body;
  body.Block().Emit(op).U16(R(0)).U16(0).U16(2).Emit(Op::kReturn).List({2});
  return RunBody(std::string("0rI_") + letter, body, 4, 1,
                 {std::move(buffer), I(index)});
}

// buffer.load.i8.u, buffer.load.i8.s, buffer.load.i16.u, buffer.load.i16.s,
// buffer.load.i32, buffer.load.i64, buffer.load.f32, buffer.load.f64
TEST(ObjectOpsTest, LoadsElementsByIndex) {
  const Ref<ByteBuffer> bytes =
      BufferOf({0, 0, 0, 0, 0, 0, 0, 0,  //
                0x80, 0xff, 0x01, 0x02, 0, 0, 0xf0, 0x3f, 0x7f});
  struct {
    Op op;
    char letter;
    int64_t index;
    Value expected;
  } const cases[] = {
      {Op::kBufferLoadI8U, 'i', 8, i(0x80)},
      {Op::kBufferLoadI8S, 'i', 8, i(-128)},
      {Op::kBufferLoadI8U, 'i', 16, i(0x7f)},
      {Op::kBufferLoadI16U, 'i', 4, i(0xff80)},
      {Op::kBufferLoadI16S, 'i', 4, i(-128)},
      {Op::kBufferLoadI32, 'i', 2, i(0x0201ff80)},
      {Op::kBufferLoadI64, 'I', 1, I(0x3ff000000201ff80)},
      {Op::kBufferLoadF32, 'f', 3, f(1.875f)},
      {Op::kBufferLoadF64, 'F', 0, F(0.0)},
  };
  for (const auto& c : cases) {
    const auto results = RunLoad(c.op, c.letter, OfOwned(bytes), c.index);
    ASSERT_TRUE(results.ok()) << InfoOf(c.op).mnemonic << results.status();
    EXPECT_TRUE(SameBits((*results)[0], c.expected))
        << InfoOf(c.op).mnemonic << Describe((*results)[0]);
  }
}

TEST(ObjectOpsTest, LoadsRefuseIndicesOutOfBounds) {
  struct {
    Op op;
    int64_t first_bad;  // Of a buffer of 17 bytes.
    char letter;
  } const cases[] = {
      {Op::kBufferLoadI8U, 17, 'i'}, {Op::kBufferLoadI8S, 17, 'i'},
      {Op::kBufferLoadI16U, 8, 'i'}, {Op::kBufferLoadI16S, 8, 'i'},
      {Op::kBufferLoadI32, 4, 'i'},  {Op::kBufferLoadI64, 2, 'I'},
      {Op::kBufferLoadF32, 4, 'f'},  {Op::kBufferLoadF64, 2, 'F'}};
  const Ref<ByteBuffer> bytes = BufferOf(std::vector<uint8_t>(17));
  for (const auto& c : cases) {
    EXPECT_TRUE(RunLoad(c.op, c.letter, OfOwned(bytes), c.first_bad - 1).ok());
    // The last two, times the element's size, come round to 0.
    for (const int64_t index :
         {c.first_bad, int64_t{-1}, int64_t{1} << 62, int64_t{1} << 61}) {
      EXPECT_EQ(CodeOf(RunLoad(c.op, c.letter, OfOwned(bytes), index)),
                absl::StatusCode::kOutOfRange)
          << InfoOf(c.op).mnemonic << index;
    }
  }
}

TEST(ObjectOpsTest, BufferInstructionsWantABuffer) {
  const auto null = RunLoad(Op::kBufferLoadI32, 'i', Null(), 0);
  EXPECT_EQ(CodeOf(null), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(null.status().message(), "m.f+1: expected vm.buffer, got null");
  const auto list =
      RunLoad(Op::kBufferLoadI32, 'i', OfOwned(List::Create({}, 0)), 0);
  EXPECT_EQ(CodeOf(list), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(list.status().message()), HasSubstr("got vm.list"));
}

absl::StatusOr<std::vector<Value>> RunStore(Op op, char letter, Value buffer,
                                            int64_t index, Value value) {
  BodyBuilder body;
  body.Block().Emit(op).U16(R(0)).U16(0).U16(2).Emit(Op::kReturn).List({});
  return RunBody(std::string("0rI") + letter + "_v", body, 4, 1,
                 {std::move(buffer), I(index), std::move(value)});
}

std::vector<uint8_t> BytesOf(const ByteBuffer& buffer) {
  return {buffer.bytes().begin(), buffer.bytes().end()};
}

// buffer.store.i8, buffer.store.i16, buffer.store.i32, buffer.store.i64,
// buffer.store.f32, buffer.store.f64
TEST(ObjectOpsTest, StoresElementsByIndex) {
  struct {
    Op op;
    char letter;
    Value value;
    std::vector<uint8_t> expected;  // From index 1 on.
  } const cases[] = {
      {Op::kBufferStoreI8, 'i', i(0x1234), {0x34}},
      {Op::kBufferStoreI16, 'i', i(0x123456), {0x56, 0x34}},
      {Op::kBufferStoreI32, 'i', i(-2), {0xfe, 0xff, 0xff, 0xff}},
      {Op::kBufferStoreI64, 'I', I(1), {1, 0, 0, 0, 0, 0, 0, 0}},
      {Op::kBufferStoreF32, 'f', f(1.0f), {0, 0, 0x80, 0x3f}},
      {Op::kBufferStoreF64, 'F', F(1.0), {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
  };
  for (const auto& c : cases) {
    const size_t size = c.expected.size();
    const Ref<ByteBuffer> buffer =
        BufferOf(std::vector<uint8_t>(2 * size, 0xaa));
    TAKT_ASSERT_OK(
        RunStore(c.op, c.letter, OfOwned(buffer), 1, c.value).status());
    std::vector<uint8_t> expected(size, 0xaa);
    expected.insert(expected.end(), c.expected.begin(), c.expected.end());
    EXPECT_EQ(BytesOf(*buffer), expected) << InfoOf(c.op).mnemonic;

    EXPECT_EQ(CodeOf(RunStore(c.op, c.letter, OfOwned(buffer), 2, c.value)),
              absl::StatusCode::kOutOfRange);
    EXPECT_EQ(CodeOf(RunStore(c.op, c.letter, OfOwned(buffer), int64_t{1} << 62,
                              c.value)),
              absl::StatusCode::kOutOfRange);
    EXPECT_EQ(BytesOf(*buffer), expected);
    // Access comes before bounds, type before access.
    EXPECT_EQ(
        CodeOf(RunStore(c.op, c.letter, OfOwned(ReadOnly(8)), 99, c.value)),
        absl::StatusCode::kPermissionDenied);
    EXPECT_EQ(CodeOf(RunStore(c.op, c.letter, Null(), 0, c.value)),
              absl::StatusCode::kInvalidArgument);
  }
}

// buffer.fill.i8, buffer.fill.i16, buffer.fill.i32, buffer.fill.i64,
// buffer.fill.f32, buffer.fill.f64
TEST(ObjectOpsTest, FillsElements) {
  struct {
    Op op;
    char letter;
    Value value;
    std::vector<uint8_t> element;
  } const cases[] = {
      {Op::kBufferFillI8, 'i', i(0x1234), {0x34}},
      {Op::kBufferFillI16, 'i', i(0x123456), {0x56, 0x34}},
      {Op::kBufferFillI32, 'i', i(-2), {0xfe, 0xff, 0xff, 0xff}},
      {Op::kBufferFillI64, 'I', I(1), {1, 0, 0, 0, 0, 0, 0, 0}},
      {Op::kBufferFillF32, 'f', f(1.0f), {0, 0, 0x80, 0x3f}},
      {Op::kBufferFillF64, 'F', F(1.0), {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
  };
  const auto fill = [](const auto& c, Value buffer, int64_t offset,
                       int64_t length) {
    BodyBuilder body;
    body.Block().Emit(c.op).U16(R(0)).U16(0).U16(2).U16(4);
    body.Emit(Op::kReturn).List({});
    return RunBody(std::string("0rII") + c.letter + "_v", body, 6, 1,
                   {std::move(buffer), I(offset), I(length), c.value});
  };
  for (const auto& c : cases) {
    const size_t size = c.element.size();
    const Ref<ByteBuffer> buffer =
        BufferOf(std::vector<uint8_t>(4 * size, 0xaa));
    TAKT_ASSERT_OK(fill(c, OfOwned(buffer), 1, 2).status());
    std::vector<uint8_t> expected(size, 0xaa);
    for (int n = 0; n < 2; ++n) {
      expected.insert(expected.end(), c.element.begin(), c.element.end());
    }
    expected.resize(4 * size, 0xaa);
    EXPECT_EQ(BytesOf(*buffer), expected) << InfoOf(c.op).mnemonic;

    EXPECT_TRUE(fill(c, OfOwned(buffer), 4, 0).ok());
    for (const auto& [offset, length] :
         std::vector<std::pair<int64_t, int64_t>>{
             {4, 1}, {0, 5}, {5, 0}, {-1, 2}, {1, -1}, {int64_t{1} << 61, 1}}) {
      EXPECT_EQ(CodeOf(fill(c, OfOwned(buffer), offset, length)),
                absl::StatusCode::kOutOfRange)
          << InfoOf(c.op).mnemonic << offset << "," << length;
    }
    EXPECT_EQ(BytesOf(*buffer), expected);
    EXPECT_EQ(CodeOf(fill(c, OfOwned(ReadOnly(8)), 99, 1)),
              absl::StatusCode::kPermissionDenied);
  }
}

// buffer.alloc, buffer.length
TEST(ObjectOpsTest, AllocatesZeroedBuffers) {
  const auto alloc = [](int64_t length, int32_t alignment) {
    BodyBuilder body;
    body.Block().Emit(Op::kBufferAlloc).U16(0).U16(2).U16(R(0));
    body.Emit(Op::kBufferLength).U16(R(0)).U16(4);
    body.Emit(Op::kReturn).List({MoveR(0), 4});
    return RunBody("0Ii_rI", body, 6, 1, {I(length), i(alignment)});
  };
  for (const int32_t alignment : {0, 1, 16, 64, 4096}) {
    for (const int64_t length : {0, 1, 100, 5000}) {
      auto results = alloc(length, alignment);
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_EQ((*results)[1].i64(), length);
      const auto* buffer = DynCast<ByteBuffer>((*results)[0].ref());
      ASSERT_NE(buffer, nullptr);
      EXPECT_TRUE(buffer->is_mutable());
      EXPECT_EQ(BytesOf(*buffer),
                std::vector<uint8_t>(static_cast<size_t>(length)));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) %
                    static_cast<uint32_t>(std::max(alignment, 1)),
                0u);
    }
  }
  EXPECT_EQ(CodeOf(alloc(16, 3)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(alloc(16, -1)), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(alloc(-1, 0)), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(CodeOf(alloc(-1, 4096)), absl::StatusCode::kResourceExhausted);
}

// buffer.clone
TEST(ObjectOpsTest, ClonesARange) {
  const auto clone = [](Value source, int64_t offset, int64_t length) {
    BodyBuilder body;
    body.Block().Emit(Op::kBufferClone).U16(R(0)).U16(0).U16(2).U16(4);
    body.U16(R(1)).Emit(Op::kReturn).List({R(1)});
    return RunBody("0rIIi_r", body, 6, 2,
                   {std::move(source), I(offset), I(length), i(16)});
  };
  auto results = clone(OfOwned(BufferOf({1, 2, 3, 4})), 1, 2);
  ASSERT_TRUE(results.ok()) << results.status();
  const auto* copy = DynCast<ByteBuffer>((*results)[0].ref());
  ASSERT_NE(copy, nullptr);
  EXPECT_THAT(BytesOf(*copy), ElementsAre(2, 3));
  EXPECT_TRUE(clone(OfOwned(ReadOnly(8)), 8, 0).ok());
  EXPECT_EQ(CodeOf(clone(OfOwned(ReadOnly(8)), 1, 8)),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf(clone(OfOwned(ReadOnly(8)), -1, 2)),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf(clone(Null(), 0, 0)), absl::StatusCode::kInvalidArgument);
}

// buffer.copy
TEST(ObjectOpsTest, CopiesAsIfByWayOfAnotherPlace) {
  const auto copy = [](Value source, int64_t from, Value target, int64_t to,
                       int64_t length) {
    BodyBuilder body;
    body.Block().Emit(Op::kBufferCopy).U16(R(0)).U16(0).U16(R(1)).U16(2).U16(4);
    body.Emit(Op::kReturn).List({});
    return RunBody(
        "0rIrII_v", body, 6, 2,
        {std::move(source), I(from), std::move(target), I(to), I(length)});
  };
  const Ref<ByteBuffer> buffer = BufferOf({1, 2, 3, 4, 5});
  TAKT_ASSERT_OK(copy(OfOwned(buffer), 0, OfOwned(buffer), 1, 4).status());
  EXPECT_THAT(BytesOf(*buffer), ElementsAre(1, 1, 2, 3, 4));
  TAKT_ASSERT_OK(copy(OfOwned(ReadOnly(8)), 0, OfOwned(buffer), 3, 2).status());
  EXPECT_THAT(BytesOf(*buffer), ElementsAre(1, 1, 2, 0, 0));
  EXPECT_EQ(CodeOf(copy(OfOwned(buffer), 0, OfOwned(ReadOnly(8)), 0, 1)),
            absl::StatusCode::kPermissionDenied);
  for (const auto& [from, to, length] :
       std::vector<std::tuple<int64_t, int64_t, int64_t>>{
           {4, 0, 2}, {0, 4, 2}, {-1, 0, 1}, {0, 0, -1}, {6, 0, 0}}) {
    EXPECT_EQ(CodeOf(copy(OfOwned(buffer), from, OfOwned(buffer), to, length)),
              absl::StatusCode::kOutOfRange);
  }
  EXPECT_EQ(CodeOf(copy(OfOwned(buffer), 0, Null(), 0, 0)),
            absl::StatusCode::kInvalidArgument);
}

// buffer.compare
TEST(ObjectOpsTest, ComparesRanges) {
  const auto compare = [](Value x, int64_t x_offset, Value y, int64_t y_offset,
                          int64_t length) {
    BodyBuilder body;
    body.Block().Emit(Op::kBufferCompare);
    body.U16(R(0)).U16(0).U16(R(1)).U16(2).U16(4).U16(6);
    body.Emit(Op::kReturn).List({6});
    return RunBody(
        "0rIrII_i", body, 7, 2,
        {std::move(x), I(x_offset), std::move(y), I(y_offset), I(length)});
  };
  const Ref<ByteBuffer> x = BufferOf({1, 2, 3});
  const Ref<ByteBuffer> y = BufferOf({9, 1, 2, 4});
  EXPECT_EQ((*compare(OfOwned(x), 0, OfOwned(y), 1, 2))[0].i32(), 1);
  EXPECT_EQ((*compare(OfOwned(x), 0, OfOwned(y), 1, 3))[0].i32(), 0);
  EXPECT_EQ((*compare(OfOwned(x), 3, OfOwned(y), 4, 0))[0].i32(), 1);
  EXPECT_EQ(CodeOf(compare(OfOwned(x), 0, OfOwned(y), 2, 3)),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf(compare(OfOwned(x), 2, OfOwned(y), 0, 2)),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(CodeOf(compare(OfOwned(x), 0, Null(), 0, 0)),
            absl::StatusCode::kInvalidArgument);
}

// buffer.hash: the first test vectors of SipHash-2-4's own paper.
TEST(ObjectOpsTest, HashesARange) {
  const auto hash = [](Value buffer, int64_t offset, int64_t length) {
    BodyBuilder body;
    body.Block().Emit(Op::kBufferHash).U16(R(0)).U16(0).U16(2).U16(4);
    body.Emit(Op::kReturn).List({4});
    return RunBody("0rII_I", body, 6, 1,
                   {std::move(buffer), I(offset), I(length)});
  };
  std::vector<uint8_t> bytes;
  for (uint8_t n = 0; n < 16; ++n) bytes.push_back(n);
  const Ref<ByteBuffer> buffer = BufferOf(bytes);
  EXPECT_EQ(static_cast<uint64_t>((*hash(OfOwned(buffer), 0, 15))[0].i64()),
            0xa129ca6149be45e5u);
  EXPECT_EQ(static_cast<uint64_t>((*hash(OfOwned(buffer), 3, 0))[0].i64()),
            0x726fdb47dd0e0e31u);
  EXPECT_EQ(CodeOf(hash(OfOwned(buffer), 2, 15)),
            absl::StatusCode::kOutOfRange);
}

// ---- Lists ----

// list.alloc of `type`, list.reserve, list.resize, list.size, then `more`,
// which finds the list in r0 and the index in i0.
absl::StatusOr<std::vector<Value>> RunList(
    const std::string& type, int32_t size, const std::string& convention,
    std::vector<Value> arguments,
    const std::function<void(BodyBuilder&)>& more) {
  ModuleBuilder builder("m");
  builder.AddType(type);
  builder.AddType("!vm.buffer");
  builder.AddType("!vm.opaque");
  builder.AddType("!vm.list<i8>");
  BodyBuilder body;
  body.Block();
  body.Emit(Op::kConstI32).U32(static_cast<uint32_t>(size)).U16(8);
  body.Emit(Op::kListAlloc).U32(0).U16(8).U16(R(0));
  body.Emit(Op::kListReserve).U16(R(0)).U16(8);
  body.Emit(Op::kListResize).U16(R(0)).U16(8);
  body.Emit(Op::kListSize).U16(R(0)).U16(9);
  more(body);
  return RunBody(convention, body, 12, 4, std::move(arguments), builder);
}

// list.set.i32, list.get.i32, list.set.i64, list.get.i64, list.set.f32,
// list.get.f32, list.set.f64, list.get.f64
TEST(ObjectOpsTest, ListsConvertValues) {
  struct {
    const char* type;
    Op set;
    Value value;
    Op get;
    Value expected;
  } const cases[] = {
      {"i8", Op::kListSetI32, i(0x1ff), Op::kListGetI32, i(-1)},
      {"i16", Op::kListSetI32, i(0x18000), Op::kListGetI32, i(-32768)},
      {"i32", Op::kListSetI32, i(-7), Op::kListGetI64, I(-7)},
      {"i64", Op::kListSetI64, I(int64_t{7} << 32), Op::kListGetI32, i(0)},
      {"i64", Op::kListSetI64, I(int64_t{7} << 32), Op::kListGetI64,
       I(int64_t{7} << 32)},
      {"i32", Op::kListSetF32, f(5.0f), Op::kListGetI32, i(0)},
      {"f32", Op::kListSetF64, F(0.1), Op::kListGetF64,
       F(static_cast<double>(0.1f))},
      {"f32", Op::kListSetF32, f(2.5f), Op::kListGetF32, f(2.5f)},
      {"f32", Op::kListSetI32, i(3), Op::kListGetF32, f(0.0f)},
      {"f64", Op::kListSetF32, f(2.5f), Op::kListGetF64, F(2.5)},
      {"!vm.opaque", Op::kListSetI64, I(int64_t{1} << 40), Op::kListGetI64,
       I(int64_t{1} << 40)},
      {"!vm.opaque", Op::kListSetF32, f(1.5f), Op::kListGetF64, F(1.5)},
      {"!vm.opaque", Op::kListSetF64, F(1.5), Op::kListGetI64, I(0)},
  };
  const auto letter = [](const Value& value) {
    switch (value.kind()) {
      case ValueKind::kI32:
        return "i";
      case ValueKind::kI64:
        return "I";
      case ValueKind::kF32:
        return "f";
      default:
        return "F";
    }
  };
  for (const auto& c : cases) {
    const auto results = RunList(
        c.type, 3,
        std::string("0i") + letter(c.value) + "_" + letter(c.expected) + "i",
        {i(2), c.value}, [&c, &letter](BodyBuilder& body) {
          // The value is in word 1, or 2 if it is wide.
          const uint16_t at =
              *letter(c.value) == 'I' || *letter(c.value) == 'F' ? 2 : 1;
          body.Emit(c.set).U16(R(0)).U16(0).U16(at);
          body.Emit(c.get).U16(R(0)).U16(0).U16(4);
          body.Emit(Op::kReturn).List({4, 9});
        });
    ASSERT_TRUE(results.ok()) << c.type << results.status();
    EXPECT_TRUE(SameBits((*results)[0], c.expected))
        << c.type << " " << InfoOf(c.get).mnemonic << Describe((*results)[0]);
    EXPECT_EQ((*results)[1].i32(), 3);
  }
}

TEST(ObjectOpsTest, NewListElementsAreZero) {
  const auto results =
      RunList("f64", 1, "0i_FI", {i(0)}, [](BodyBuilder& body) {
        body.Emit(Op::kListGetF64).U16(R(0)).U16(0).U16(2);
        body.Emit(Op::kListGetI64).U16(R(0)).U16(0).U16(4);
        body.Emit(Op::kReturn).List({2, 4});
      });
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].f64(), 0.0);
  EXPECT_EQ((*results)[1].i64(), 0);
}

TEST(ObjectOpsTest, ListIndicesAreChecked) {
  for (const Op op : {Op::kListGetI32, Op::kListSetI32}) {
    for (const int32_t index : {3, -1}) {
      EXPECT_EQ(CodeOf(RunList("i32", 3, "0ii_v", {i(index), i(0)},
                               [op](BodyBuilder& body) {
                                 body.Emit(op).U16(R(0)).U16(0).U16(1);
                                 body.Emit(Op::kReturn).List({});
                               })),
                absl::StatusCode::kOutOfRange);
    }
  }
}

TEST(ObjectOpsTest, ListsOfOtherKindsRefuse) {
  const auto run = [](const char* type, Op op) {
    return CodeOf(RunList(
        type, 1, "0iir_v", {i(0), i(0), Null()}, [op](BodyBuilder& body) {
          // The list took the argument's register.
          body.Emit(op).U16(R(0)).U16(0);
          if (op == Op::kListGetRef) body.U32(2);
          body.U16(op == Op::kListGetRef || op == Op::kListSetRef ? R(1) : 1);
          body.Emit(Op::kReturn).List({});
        }));
  };
  constexpr auto kPrecondition = absl::StatusCode::kFailedPrecondition;
  EXPECT_EQ(run("i32", Op::kListGetRef), kPrecondition);
  EXPECT_EQ(run("i32", Op::kListSetRef), kPrecondition);
  EXPECT_EQ(run("!vm.buffer", Op::kListGetI32), kPrecondition);
  EXPECT_EQ(run("!vm.buffer", Op::kListSetI32), kPrecondition);
  EXPECT_EQ(run("!vm.opaque", Op::kListGetI32), kPrecondition);  // Empty.
  EXPECT_EQ(run("!vm.opaque", Op::kListGetRef), absl::StatusCode::kOk);
  EXPECT_EQ(run("!vm.opaque", Op::kListSetRef), absl::StatusCode::kOk);
}

// list.set.ref, list.get.ref: `set` is how the argument in r1 is stored,
// `get_type` the type asked for.
absl::StatusOr<std::vector<Value>> SetAndGetRef(const std::string& type,
                                                uint16_t set, uint32_t get_type,
                                                Value ref) {
  return RunList(type, 1, "0irr_rr", {i(0), Null(), std::move(ref)},
                 [=](BodyBuilder& body) {
                   body.Emit(Op::kListSetRef).U16(R(0)).U16(0).U16(set);
                   body.Emit(Op::kListGetRef).U16(R(0)).U16(0);
                   body.U32(get_type).U16(R(2));
                   body.Emit(Op::kReturn).List({R(2), R(1)});
                 });
}

TEST(ObjectOpsTest, ListsHoldRefs) {
  Ref<ByteBuffer> buffer = BufferOf({1});
  for (const char* type : {"!vm.buffer", "!vm.opaque"}) {
    for (const uint32_t get_type : {1u, 2u}) {
      auto copied = SetAndGetRef(type, R(1), get_type, OfOwned(buffer));
      ASSERT_TRUE(copied.ok()) << copied.status();
      EXPECT_EQ((*copied)[0].ref(), buffer.get());
      EXPECT_EQ((*copied)[1].ref(), buffer.get());
      auto moved = SetAndGetRef(type, MoveR(1), get_type, OfOwned(buffer));
      ASSERT_TRUE(moved.ok()) << moved.status();
      EXPECT_EQ((*moved)[0].ref(), buffer.get());
      EXPECT_EQ((*moved)[1].ref(), nullptr);
    }
    // Asked for a list, a stored buffer is null, not an error.
    auto other = SetAndGetRef(type, R(1), 3, OfOwned(buffer));
    ASSERT_TRUE(other.ok()) << other.status();
    EXPECT_EQ((*other)[0].ref(), nullptr);
  }
  EXPECT_TRUE(buffer->IsUnique());
  EXPECT_EQ(CodeOf(SetAndGetRef("!vm.list<i8>", R(1), 2, OfOwned(buffer))),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(buffer->IsUnique());
}

TEST(ObjectOpsTest, ListSizesAreBounded) {
  EXPECT_EQ(CodeOf(RunList("i32", -1, "0v_v", {}, [](BodyBuilder&) {})),
            absl::StatusCode::kInvalidArgument);  // No terminator, no module.
  EXPECT_EQ(CodeOf(RunList(
                "i32", -1, "0v_v", {},
                [](BodyBuilder& body) { body.Emit(Op::kReturn).List({}); })),
            absl::StatusCode::kResourceExhausted);
}

TEST(ObjectOpsTest, ListInstructionsWantAList) {
  for (const Op op : {Op::kListReserve, Op::kListResize, Op::kListSize}) {
    BodyBuilder body;
    body.Block().Emit(op).U16(R(0)).U16(0).Emit(Op::kReturn).List({});
    EXPECT_EQ(CodeOf(RunBody("0ir_v", body, 1, 1, {i(0), Null()})),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(
        CodeOf(RunBody("0ir_v", body, 1, 1, {i(0), OfOwned(ReadOnly(1))})),
        absl::StatusCode::kInvalidArgument);
  }
}

// ---- Refs ----

// const.ref.zero, assign.ref, discard.refs, cmp.eq.ref, cmp.ne.ref, cmp.nz.ref
TEST(ObjectOpsTest, RefsAreCopiedMovedAndCompared) {
  BodyBuilder body;
  body.Block();
  body.Emit(Op::kAssignRef).U16(R(0)).U16(R(1));        // r1 = r0
  body.Emit(Op::kCmpEqRef).U16(R(0)).U16(R(1)).U16(0);  // 1
  body.Emit(Op::kAssignRef).U16(MoveR(1)).U16(R(2));    // r2 = move r1
  body.Emit(Op::kCmpNzRef).U16(R(1)).U16(1);            // 0
  body.Emit(Op::kCmpNeRef).U16(R(0)).U16(R(2)).U16(2);  // 0
  body.Emit(Op::kAssignRef).U16(MoveR(2)).U16(R(2));    // Onto itself.
  body.Emit(Op::kCmpNzRef).U16(R(2)).U16(3);            // 1
  body.Emit(Op::kConstRefZero).U16(R(2));
  body.Emit(Op::kCmpEqRef).U16(R(1)).U16(R(2)).U16(4);  // Both null: 1
  body.Emit(Op::kDiscardRefs).List({R(0), R(1)});
  body.Emit(Op::kCmpNzRef).U16(R(0)).U16(5);  // 0
  body.Emit(Op::kReturn).List({0, 1, 2, 3, 4, 5});
  Ref<ByteBuffer> buffer = BufferOf({});
  const auto results = RunBody("0r_iiiiii", body, 6, 3, {OfOwned(buffer)});
  ASSERT_TRUE(results.ok()) << results.status();
  const std::vector<int> expected = {1, 0, 0, 1, 1, 0};
  for (size_t n = 0; n < expected.size(); ++n) {
    EXPECT_EQ((*results)[n].i32(), expected[n]) << n;
  }
  EXPECT_TRUE(buffer->IsUnique());
}

ModuleBuilder WithTypes() {
  ModuleBuilder builder("m");
  builder.AddType("!vm.buffer");
  builder.AddType("!vm.list<i8>");
  builder.AddType("!vm.opaque");
  builder.global_refs = 2;
  return builder;
}

// select.ref
TEST(ObjectOpsTest, SelectTakesOneAndReleasesTheOtherIfMoved) {
  Ref<ByteBuffer> a = BufferOf({});
  Ref<ByteBuffer> b = BufferOf({});
  for (const bool first : {true, false}) {
    for (const uint16_t target : {0, 1, 2}) {
      BodyBuilder body;
      body.Block().Emit(Op::kSelectRef).U16(0).U32(0);
      body.U16(MoveR(0)).U16(MoveR(1)).U16(R(target));
      body.Emit(Op::kReturn).List({R(0), R(1), R(2)});
      auto results = RunBody("0irr_rrr", body, 1, 3,
                             {i(first), OfOwned(a), OfOwned(b)}, WithTypes());
      ASSERT_TRUE(results.ok()) << results.status();
      for (uint16_t n = 0; n < 3; ++n) {
        EXPECT_EQ((*results)[n].ref(),
                  n == target ? (first ? a : b).get() : nullptr);
      }
      results->clear();
      EXPECT_TRUE(a->IsUnique() && b->IsUnique());
    }
  }
}

TEST(ObjectOpsTest, SelectChecksTheTypeAndChangesNothing) {
  // On failure the frame still owns both.
  BodyBuilder body;
  body.Block().Emit(Op::kSelectRef).U16(0).U32(1);
  body.U16(MoveR(0)).U16(MoveR(1)).U16(R(2));
  body.Emit(Op::kReturn).List({});
  Ref<ByteBuffer> buffer = BufferOf({});
  EXPECT_EQ(CodeOf(RunBody("0irr_v", body, 1, 3,
                           {i(1), OfOwned(buffer), Null()}, WithTypes())),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(RunBody("0irr_v", body, 1, 3, {i(0), OfOwned(buffer), Null()},
                      WithTypes())
                  .ok());
  EXPECT_TRUE(buffer->IsUnique());
}

// switch.ref
TEST(ObjectOpsTest, SwitchTakesOnlyTheChosen) {
  Ref<ByteBuffer> a = BufferOf({});
  Ref<ByteBuffer> b = BufferOf({});
  Ref<ByteBuffer> c = BufferOf({});
  for (const auto& [index, expected] : std::vector<std::pair<int, ByteBuffer*>>{
           {0, b.get()}, {1, c.get()}, {2, a.get()}, {-1, a.get()}}) {
    BodyBuilder body;
    body.Block().Emit(Op::kSwitchRef).U16(0).U32(0).U16(MoveR(0));
    body.List({MoveR(1), R(2)}).U16(R(3));
    body.Emit(Op::kReturn).List({R(3), R(0), R(1), R(2)});
    auto results =
        RunBody("0irrr_rrrr", body, 1, 4,
                {i(index), OfOwned(a), OfOwned(b), OfOwned(c)}, WithTypes());
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0].ref(), expected);
    EXPECT_EQ((*results)[1].ref(), expected == a.get() ? nullptr : a.get());
    EXPECT_EQ((*results)[2].ref(), expected == b.get() ? nullptr : b.get());
    EXPECT_EQ((*results)[3].ref(), c.get());
  }
  EXPECT_TRUE(a->IsUnique() && b->IsUnique() && c->IsUnique());
}

// cast.any.ref
TEST(ObjectOpsTest, CastsPassWhatFits) {
  const auto cast = [](uint32_t type, Value ref) {
    BodyBuilder body;
    body.Block().Emit(Op::kCastAnyRef).U16(MoveR(0)).U32(type).U16(R(1));
    body.Emit(Op::kReturn).List({R(1), R(0)});
    return RunBody("0r_rr", body, 0, 2, {std::move(ref)}, WithTypes());
  };
  Ref<ByteBuffer> buffer = BufferOf({});
  for (const uint32_t type : {0u, 2u}) {
    auto results = cast(type, OfOwned(buffer));
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0].ref(), buffer.get());
    EXPECT_EQ((*results)[1].ref(), nullptr);
  }
  EXPECT_TRUE(cast(1, Null()).ok());
  const auto wrong = cast(1, OfOwned(buffer));
  EXPECT_EQ(wrong.status().message(), "m.f+1: expected vm.list, got vm.buffer");
  EXPECT_TRUE(buffer->IsUnique());
}

// global.store.ref, global.load.ref, global.store.indirect.ref,
// global.load.indirect.ref
TEST(ObjectOpsTest, RefGlobalsKeepRefs) {
  for (const bool indirect : {false, true}) {
    for (const uint32_t type : {0u, 2u}) {
      BodyBuilder body;
      body.Block();
      if (indirect) {
        body.Emit(Op::kGlobalStoreIndirectRef).U16(0).U32(type).U16(R(0));
        body.Emit(Op::kGlobalLoadIndirectRef).U16(0).U32(type).U16(R(1));
      } else {
        body.Emit(Op::kGlobalStoreRef).U32(1).U32(type).U16(MoveR(0));
        body.Emit(Op::kGlobalLoadRef).U32(1).U32(type).U16(R(1));
      }
      body.Emit(Op::kReturn).List({R(0), R(1)});
      Ref<ByteBuffer> buffer = BufferOf({});
      auto results =
          RunBody("0ir_rr", body, 1, 2, {i(1), OfOwned(buffer)}, WithTypes());
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_EQ((*results)[0].ref(), indirect ? buffer.get() : nullptr);
      EXPECT_EQ((*results)[1].ref(), buffer.get());
      results->clear();
      EXPECT_TRUE(buffer->IsUnique());  // The context is gone.
    }
  }
}

TEST(ObjectOpsTest, RefGlobalsCheckTypesAndOrdinals) {
  Ref<ByteBuffer> buffer = BufferOf({});
  BodyBuilder store;
  store.Block().Emit(Op::kGlobalStoreRef).U32(0).U32(1).U16(MoveR(0));
  store.Emit(Op::kReturn).List({});
  EXPECT_EQ(
      CodeOf(RunBody("0r_v", store, 0, 1, {OfOwned(buffer)}, WithTypes())),
      absl::StatusCode::kInvalidArgument);
  BodyBuilder load;
  load.Block().Emit(Op::kGlobalStoreRef).U32(0).U32(0).U16(R(0));
  load.Emit(Op::kGlobalLoadRef).U32(0).U32(1).U16(R(0));
  load.Emit(Op::kReturn).List({});
  EXPECT_EQ(CodeOf(RunBody("0r_v", load, 0, 1, {OfOwned(buffer)}, WithTypes())),
            absl::StatusCode::kInvalidArgument);
  for (const Op op :
       {Op::kGlobalLoadIndirectRef, Op::kGlobalStoreIndirectRef}) {
    for (const int32_t ordinal : {2, -1}) {
      BodyBuilder body;
      body.Block().Emit(op).U16(0).U32(0).U16(R(0));
      body.Emit(Op::kReturn).List({});
      EXPECT_EQ(CodeOf(RunBody("0ir_v", body, 1, 1,
                               {i(ordinal), OfOwned(buffer)}, WithTypes())),
                absl::StatusCode::kOutOfRange);
    }
  }
  EXPECT_TRUE(buffer->IsUnique());
}

// const.ref.rodata
TEST(ObjectOpsTest, RodataIsTheSameReadOnlyBufferEachTime) {
  ModuleBuilder builder("m");
  builder.AddRodata({5, 6, 7});
  BodyBuilder body;
  body.Block().Emit(Op::kConstRefRodata).U32(0).U16(R(0));
  body.Emit(Op::kConstRefRodata).U32(0).U16(R(1));
  body.Emit(Op::kReturn).List({R(0), R(1)});
  auto results = RunBody("0v_rr", body, 0, 2, {}, builder);
  ASSERT_TRUE(results.ok()) << results.status();
  // The module is gone; its bytes are not.
  const auto* buffer = DynCast<ByteBuffer>((*results)[0].ref());
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ((*results)[1].ref(), buffer);
  EXPECT_FALSE(buffer->is_mutable());
  EXPECT_THAT(BytesOf(*buffer), ElementsAre(5, 6, 7));
}

}  // namespace
}  // namespace takt::vm
