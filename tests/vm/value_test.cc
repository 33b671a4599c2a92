#include "vm/value.h"

#include <gtest/gtest.h>

#include "vm/byte_buffer.h"

namespace takt::vm {
namespace {

TEST(ValueTest, CountsTheRefItHolds) {
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(1, 0);
  {
    Value a = Value::FromRef(buffer);
    EXPECT_EQ(buffer->reference_count(), 2);
    Value b = a;
    EXPECT_EQ(buffer->reference_count(), 3);
    Value c = std::move(a);
    EXPECT_EQ(a.kind(), ValueKind::kNone);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(buffer->reference_count(), 3);
    b = Value::I32(1);
    EXPECT_EQ(buffer->reference_count(), 2);
    EXPECT_EQ(c.TakeRef(), buffer);
    EXPECT_TRUE(c.is_ref());
    EXPECT_EQ(c.ref(), nullptr);
  }
  EXPECT_TRUE(buffer->IsUnique());
}

TEST(ValueTest, ConvertsWithinIntegersAndWithinFloats) {
  const auto convert = [](Value from, ValueKind to) {
    return ConvertScalar(from.kind(), from.slot(), to);
  };
  EXPECT_EQ(convert(Value::I32(0x1ff), ValueKind::kI8).i32, -1);
  EXPECT_EQ(convert(Value::I64(0x18000), ValueKind::kI16).i32, -32768);
  EXPECT_EQ(convert(Value::I64(int64_t{5} << 32), ValueKind::kI32).i32, 0);
  EXPECT_EQ(convert(Value::I32(-1), ValueKind::kI64).i64, -1);
  EXPECT_EQ(convert(Value::F64(0.5), ValueKind::kF32).f32, 0.5f);
  EXPECT_EQ(convert(Value::F32(0.5f), ValueKind::kF64).f64, 0.5);
  EXPECT_EQ(convert(Value::F32(5.0f), ValueKind::kI32).i32, 0);
  EXPECT_EQ(convert(Value::I64(5), ValueKind::kF64).f64, 0.0);
}

// A conversion by way of another type would make it a quiet NaN, or on RISC-V
// the one NaN that conversions give there.
TEST(ValueTest, KeepsTheBitsOfANanOfTheSameKind) {
  const auto narrow =
      ConvertScalar(ValueKind::kF32, Slot{.i32 = 0x7f800001}, ValueKind::kF32);
  EXPECT_EQ(narrow.i32, 0x7f800001);
  const auto wide = ConvertScalar(
      ValueKind::kF64, Slot{.i64 = 0x7ff0000000000001}, ValueKind::kF64);
  EXPECT_EQ(wide.i64, 0x7ff0000000000001);
}

TEST(ValueTest, NamesItsKinds) {
  EXPECT_STREQ(ValueKindName(ValueKind::kI8), "i8");
  EXPECT_STREQ(ValueKindName(ValueKind::kF64), "f64");
  EXPECT_STREQ(ValueKindName(ValueKind::kRef), "ref");
  EXPECT_STREQ(ValueKindName(ValueKind::kNone), "none");
}

}  // namespace
}  // namespace takt::vm
