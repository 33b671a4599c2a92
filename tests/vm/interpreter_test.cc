// Every instruction on scalars, by its mnemonic: what it computes, with
// operands and results from arithmetic and docs/module_format.md. Those on
// other things have tests of their own, here and in object_ops_test.cc; the
// last test sees that none is missing.
#include "vm/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/vm/short_values.h"
#include "tests/vm/vm_test_util.h"
#include "vm/byte_buffer.h"
#include "vm/opcodes.h"

namespace takt::vm {
namespace {

using ::testing::HasSubstr;

constexpr int32_t kMin32 = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr double kNan64 = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf64 = std::numeric_limits<double>::infinity();

Value U(uint64_t value) { return Value::I64(static_cast<int64_t>(value)); }

const OpInfo& OpNamed(const std::string& mnemonic) {
  for (int op = 0; op < static_cast<int>(Op::kCount); ++op) {
    const OpInfo& info = InfoOf(static_cast<Op>(op));
    if (mnemonic == info.mnemonic) return info;
  }
  ADD_FAILURE() << "no instruction is called " << mnemonic;
  return InfoOf(Op::kBlock);
}

// A function whose arguments are the instruction's operands and whose result
// is its result. The instruction before it makes the operand number `last`, if
// there is one of that number.
absl::StatusOr<std::vector<Value>> RunScalar(const std::string& mnemonic,
                                             const std::vector<Value>& args,
                                             size_t last = 99) {
  const OpInfo& info = OpNamed(mnemonic);
  std::istringstream fields(info.fields);
  std::string convention = "0";
  std::vector<uint16_t> operands;
  bool last_is_wide = false;
  uint16_t next = 0;
  uint16_t result = 0;
  for (std::string field; fields >> field;) {
    if (field == ">") {
      convention += "_";
      next = static_cast<uint16_t>((next + 1) / 2 * 2);
      result = next;
      next = static_cast<uint16_t>(next + 2);
      continue;
    }
    convention += field;
    if (convention.find('_') != std::string::npos) continue;
    const bool wide = field == "I" || field == "F";
    if (wide) next = static_cast<uint16_t>((next + 1) / 2 * 2);
    if (operands.size() == last) last_is_wide = wide;
    operands.push_back(next);
    next = static_cast<uint16_t>(next + (wide ? 2 : 1));
  }
  BodyBuilder body;
  body.Block();
  if (last < operands.size()) {
    body.Emit(last_is_wide ? Op::kOrI64 : Op::kOrI32);
    body.U16(operands[last]).U16(operands[last]).U16(next);
    operands[last] = next;
    next = static_cast<uint16_t>(next + 2);
  }
  body.Emit(info.op);
  for (uint16_t operand : operands) body.U16(operand);
  body.U16(result).Emit(Op::kReturn).List({result});
  return RunBody(convention, body, next, 0, args);
}

struct Case {
  const char* mnemonic;
  std::vector<Value> operands;
  Value result;
};

void CheckCase(const Case& c, size_t last) {
  const auto results = RunScalar(c.mnemonic, c.operands, last);
  std::string operands;
  for (const Value& operand : c.operands) operands += " " + Describe(operand);
  ASSERT_TRUE(results.ok()) << c.mnemonic << operands << results.status();
  ASSERT_EQ(results->size(), 1u);
  const Value& actual = (*results)[0];
  const bool both_nan =
      (actual.kind() == ValueKind::kF32 && std::isnan(actual.f32()) &&
       std::isnan(c.result.f32())) ||
      (actual.kind() == ValueKind::kF64 && std::isnan(actual.f64()) &&
       std::isnan(c.result.f64()));
  EXPECT_TRUE(both_nan || SameBits(actual, c.result))
      << c.mnemonic << operands << " gave " << Describe(actual) << ", expected "
      << Describe(c.result);
}

void Check(const std::vector<Case>& cases, std::set<std::string>* seen) {
  for (const Case& c : cases) {
    if (seen != nullptr) {
      seen->insert(c.mnemonic);
      continue;
    }
    // With each of the operands as the last result, and with none.
    for (size_t last = 0; last <= c.operands.size(); ++last) CheckCase(c, last);
  }
}

std::vector<Case> IntegerCases() {
  return {
      {"select.i32", {i(-1), i(7), i(8)}, i(7)},
      {"select.i32", {i(0), i(7), i(8)}, i(8)},
      {"select.i64", {i(2), I(kMin64), I(8)}, I(kMin64)},
      {"select.i64", {i(0), I(7), I(kMax64)}, I(kMax64)},
      {"add.i32", {i(kMax32), i(1)}, i(kMin32)},
      {"add.i64", {I(kMax64), I(2)}, I(kMin64 + 1)},
      {"sub.i32", {i(kMin32), i(1)}, i(kMax32)},
      {"sub.i64", {I(5), I(7)}, I(-2)},
      {"mul.i32", {i(0x10001), i(0x10001)}, i(0x20001)},
      {"mul.i64", {I(-3), I(int64_t{1} << 40)}, I(-3 * (int64_t{1} << 40))},
      {"div.i32.s", {i(-7), i(2)}, i(-3)},
      {"div.i32.s", {i(kMin32), i(-1)}, i(kMin32)},
      {"div.i32.u", {i(-1), i(16)}, i(0x0fffffff)},
      {"div.i64.s", {I(-7), I(-2)}, I(3)},
      {"div.i64.s", {I(kMin64), I(-1)}, I(kMin64)},
      {"div.i64.u", {I(-1), I(2)}, I(kMax64)},
      {"rem.i32.s", {i(-7), i(2)}, i(-1)},
      {"rem.i32.s", {i(kMin32), i(-1)}, i(0)},
      {"rem.i32.u", {i(-1), i(10)}, i(5)},
      {"rem.i64.s", {I(7), I(-4)}, I(3)},
      {"rem.i64.s", {I(kMin64), I(-1)}, I(0)},
      {"rem.i64.u", {I(-1), I(10)}, I(5)},
      {"fma.i32", {i(kMax32), i(2), i(5)}, i(3)},
      {"fma.i64", {I(kMax64), I(2), I(5)}, I(3)},
      {"not.i32", {i(0x0f0f0f0f)}, i(0xf0f0f0f0)},
      {"not.i64", {I(0)}, I(-1)},
      {"and.i32", {i(0xff00), i(0x0ff0)}, i(0x0f00)},
      {"and.i64", {I(-1), I(0x123456789)}, I(0x123456789)},
      {"or.i32", {i(0xff00), i(0x0ff0)}, i(0xfff0)},
      {"or.i64", {I(int64_t{1} << 40), I(1)}, I((int64_t{1} << 40) + 1)},
      {"xor.i32", {i(0xff00), i(0x0ff0)}, i(0xf0f0)},
      {"xor.i64", {I(-1), I(1)}, I(-2)},
      {"shl.i32", {i(1), i(33)}, i(2)},
      {"shl.i64", {I(1), i(65)}, I(2)},
      {"shl.i64", {I(1), i(40)}, I(int64_t{1} << 40)},
      {"shr.i32.s", {i(-8), i(1)}, i(-4)},
      {"shr.i32.s", {i(-8), i(33)}, i(-4)},
      {"shr.i32.u", {i(-1), i(28)}, i(15)},
      {"shr.i64.s", {I(kMin64), i(63)}, I(-1)},
      {"shr.i64.u", {I(kMin64), i(63)}, I(1)},
      {"shr.i64.u", {I(kMin64), i(127)}, I(1)},
      {"trunc.i32.i8", {i(-1)}, i(0xff)},
      {"trunc.i32.i16", {i(0x12345)}, i(0x2345)},
      {"trunc.i64.i32", {I(0x123456789)}, i(0x23456789)},
      {"ext.i8.i32.s", {i(0x180)}, i(-128)},
      {"ext.i8.i32.u", {i(-1)}, i(0xff)},
      {"ext.i16.i32.s", {i(0x18000)}, i(-32768)},
      {"ext.i16.i32.u", {i(-1)}, i(0xffff)},
      {"ext.i32.i64.s", {i(-5)}, I(-5)},
      {"ext.i32.i64.u", {i(-1)}, I(0xffffffff)},
      {"cmp.eq.i32", {i(3), i(3)}, i(1)},
      {"cmp.eq.i32", {i(3), i(4)}, i(0)},
      {"cmp.ne.i32", {i(3), i(3)}, i(0)},
      {"cmp.ne.i32", {i(3), i(4)}, i(1)},
      {"cmp.lt.i32.s", {i(-1), i(0)}, i(1)},
      {"cmp.lt.i32.s", {i(0), i(0)}, i(0)},
      {"cmp.lt.i32.u", {i(-1), i(0)}, i(0)},
      {"cmp.lt.i32.u", {i(0), i(-1)}, i(1)},
      {"cmp.nz.i32", {i(-4)}, i(1)},
      {"cmp.nz.i32", {i(0)}, i(0)},
      {"cmp.eq.i64", {I(int64_t{1} << 32), I(0)}, i(0)},
      {"cmp.eq.i64", {I(-1), I(-1)}, i(1)},
      {"cmp.ne.i64", {I(int64_t{1} << 32), I(0)}, i(1)},
      {"cmp.lt.i64.s", {I(kMin64), I(kMax64)}, i(1)},
      {"cmp.lt.i64.s", {I(1), I(1)}, i(0)},
      {"cmp.lt.i64.u", {I(kMin64), I(kMax64)}, i(0)},
      {"cmp.nz.i64", {I(int64_t{1} << 32)}, i(1)},
      {"cmp.nz.i64", {I(0)}, i(0)},
      {"ctlz.i32", {i(0)}, i(32)},
      {"ctlz.i32", {i(1)}, i(31)},
      {"ctlz.i64", {I(0)}, I(64)},
      {"ctlz.i64", {I(-1)}, I(0)},
      {"abs.i32", {i(-5)}, i(5)},
      {"abs.i32", {i(kMin32)}, i(kMin32)},
      {"abs.i64", {I(-5)}, I(5)},
      {"abs.i64", {I(kMin64)}, I(kMin64)},
      {"min.i32.s", {i(-1), i(1)}, i(-1)},
      {"min.i32.u", {i(-1), i(1)}, i(1)},
      {"max.i32.s", {i(-1), i(1)}, i(1)},
      {"max.i32.u", {i(-1), i(1)}, i(-1)},
      {"min.i64.s", {I(-1), I(1)}, I(-1)},
      {"min.i64.u", {I(-1), I(1)}, I(1)},
      {"max.i64.s", {I(-1), I(1)}, I(1)},
      {"max.i64.u", {I(-1), I(1)}, I(-1)},
  };
}

std::vector<Case> F32Cases() {
  return {
      {"select.f32", {i(1), f(1.5f), f(2.5f)}, f(1.5f)},
      {"select.f32", {i(0), f(1.5f), f(2.5f)}, f(2.5f)},
      {"add.f32", {f(1.5f), f(2.25f)}, f(3.75f)},
      {"sub.f32", {f(1.5f), f(2.25f)}, f(-0.75f)},
      {"mul.f32", {f(1.5f), f(-2.0f)}, f(-3.0f)},
      {"div.f32", {f(1.0f), f(0.0f)}, f(kInf)},
      {"div.f32", {f(1.0f), f(4.0f)}, f(0.25f)},
      // The quotient 1.75 rounds to 2, unlike fmod's 1.
      {"rem.f32", {f(7.0f), f(4.0f)}, f(-1.0f)},
      {"rem.f32", {f(1.0f), f(0.0f)}, f(kNan)},
      {"fma.f32", {f(2.0f), f(3.0f), f(4.0f)}, f(10.0f)},
      // Not fused: the product rounds to 1 + 2^-11 before 1 is taken away.
      {"fma.f32",
       {f(1.0f + 0x1p-12f), f(1.0f + 0x1p-12f), f(-1.0f - 0x1p-11f)},
       f(0.0f)},
      {"abs.f32", {f(-0.0f)}, f(0.0f)},
      {"neg.f32", {f(0.0f)}, f(-0.0f)},
      {"ceil.f32", {f(-1.5f)}, f(-1.0f)},
      {"floor.f32", {f(-1.5f)}, f(-2.0f)},
      {"round.f32", {f(2.5f)}, f(3.0f)},
      {"round.f32", {f(-2.5f)}, f(-3.0f)},
      {"round.f32", {f(0.49999997f)}, f(0.0f)},
      {"round.f32.even", {f(2.5f)}, f(2.0f)},
      {"round.f32.even", {f(3.5f)}, f(4.0f)},
      {"min.f32", {f(1.0f), f(-1.0f)}, f(-1.0f)},
      {"min.f32", {f(kNan), f(1.0f)}, f(kNan)},
      {"min.f32", {f(1.0f), f(kNan)}, f(1.0f)},
      {"max.f32", {f(1.0f), f(-1.0f)}, f(1.0f)},
      {"max.f32", {f(1.0f), f(kNan)}, f(1.0f)},
      {"cast.si32.f32", {i(-3)}, f(-3.0f)},
      {"cast.si32.f32", {i(16777217)}, f(16777216.0f)},
      {"cast.ui32.f32", {i(-1)}, f(4294967296.0f)},
      {"cast.si64.f32", {I(-3)}, f(-3.0f)},
      {"cast.ui64.f32", {I(-1)}, f(18446744073709551616.0f)},
      {"cast.f32.si32", {f(2.5f)}, i(3)},
      {"cast.f32.si32", {f(-2.5f)}, i(-3)},
      {"cast.f32.si32", {f(0.49999997f)}, i(0)},
      {"cast.f32.si32", {f(2147483648.0f)}, i(kMin32)},
      {"cast.f32.si32", {f(-3e9f)}, i(1294967296)},
      {"cast.f32.si32", {f(kNan)}, i(0)},
      {"cast.f32.si32", {f(kInf)}, i(0)},
      {"cast.f32.si32", {f(1e19f)}, i(0)},
      {"cast.f32.ui32", {f(3e9f)}, i(int64_t{3000000000})},
      {"cast.f32.ui32", {f(-1.0f)}, i(-1)},
      {"cast.f32.si64", {f(-2.5f)}, I(-3)},
      {"cast.f32.si64", {f(9223372036854775808.0f)}, I(kMin64)},
      {"cast.f32.si64", {f(kNan)}, I(kMin64)},
      {"cast.f32.ui64", {f(1e19f)}, U(9999999980506447872ull)},
      {"cast.f32.ui64", {f(-1.0f)}, I(-1)},
      {"cast.f32.ui64", {f(2.5f)}, I(3)},
      {"bitcast.i32.f32", {i(0x3f800000)}, f(1.0f)},
      {"bitcast.f32.i32", {f(-0.0f)}, i(kMin32)},
      {"atan.f32", {f(0.0f)}, f(0.0f)},
      {"atan2.f32", {f(1.0f), f(0.0f)}, f(1.57079632679f)},
      {"cos.f32", {f(0.0f)}, f(1.0f)},
      {"sin.f32", {f(0.0f)}, f(0.0f)},
      {"exp.f32", {f(0.0f)}, f(1.0f)},
      {"exp2.f32", {f(3.0f)}, f(8.0f)},
      {"expm1.f32", {f(0.0f)}, f(0.0f)},
      {"log.f32", {f(1.0f)}, f(0.0f)},
      {"log10.f32", {f(1000.0f)}, f(3.0f)},
      {"log1p.f32", {f(0.0f)}, f(0.0f)},
      {"log2.f32", {f(8.0f)}, f(3.0f)},
      {"pow.f32", {f(2.0f), f(10.0f)}, f(1024.0f)},
      {"fpowi.f32", {f(-1.5f), I(3)}, f(-3.375f)},
      {"fpowi.f32", {f(2.0f), I(-2)}, f(0.25f)},
      {"rsqrt.f32", {f(4.0f)}, f(0.5f)},
      {"sqrt.f32", {f(9.0f)}, f(3.0f)},
      {"tanh.f32", {f(20.0f)}, f(1.0f)},
      {"erf.f32", {f(20.0f)}, f(1.0f)},
      {"cmp.eq.f32.o", {f(1.0f), f(1.0f)}, i(1)},
      {"cmp.eq.f32.o", {f(kNan), f(kNan)}, i(0)},
      {"cmp.eq.f32.u", {f(1.0f), f(2.0f)}, i(0)},
      {"cmp.eq.f32.u", {f(kNan), f(1.0f)}, i(1)},
      {"cmp.ne.f32.o", {f(kNan), f(1.0f)}, i(1)},
      {"cmp.ne.f32.o", {f(1.0f), f(1.0f)}, i(0)},
      {"cmp.ne.f32.u", {f(kNan), f(1.0f)}, i(1)},
      {"cmp.ne.f32.u", {f(1.0f), f(2.0f)}, i(1)},
      {"cmp.lt.f32.o", {f(1.0f), f(2.0f)}, i(1)},
      {"cmp.lt.f32.o", {f(kNan), f(2.0f)}, i(0)},
      {"cmp.lt.f32.u", {f(2.0f), f(2.0f)}, i(0)},
      {"cmp.lt.f32.u", {f(kNan), f(2.0f)}, i(1)},
      {"cmp.lte.f32.o", {f(2.0f), f(2.0f)}, i(1)},
      {"cmp.lte.f32.o", {f(2.0f), f(kNan)}, i(0)},
      {"cmp.lte.f32.u", {f(3.0f), f(2.0f)}, i(0)},
      {"cmp.lte.f32.u", {f(3.0f), f(kNan)}, i(1)},
      {"cmp.nan.f32", {f(kNan)}, i(1)},
      {"cmp.nan.f32", {f(kInf)}, i(0)},
  };
}

std::vector<Case> F64Cases() {
  return {
      {"select.f64", {i(1), F(1.5), F(2.5)}, F(1.5)},
      {"select.f64", {i(0), F(1.5), F(2.5)}, F(2.5)},
      {"add.f64", {F(1.5), F(2.25)}, F(3.75)},
      {"sub.f64", {F(1.5), F(2.25)}, F(-0.75)},
      {"mul.f64", {F(1.5), F(-2.0)}, F(-3.0)},
      {"div.f64", {F(-1.0), F(0.0)}, F(-kInf64)},
      {"rem.f64", {F(7.0), F(4.0)}, F(-1.0)},
      {"fma.f64", {F(2.0), F(3.0), F(4.0)}, F(10.0)},
      {"abs.f64", {F(-2.5)}, F(2.5)},
      {"neg.f64", {F(2.5)}, F(-2.5)},
      {"ceil.f64", {F(1.25)}, F(2.0)},
      {"floor.f64", {F(1.75)}, F(1.0)},
      {"round.f64", {F(-0.5)}, F(-1.0)},
      {"round.f64.even", {F(0.5)}, F(0.0)},
      {"min.f64", {F(kNan64), F(1.0)}, F(kNan64)},
      {"min.f64", {F(2.0), F(1.0)}, F(1.0)},
      {"max.f64", {F(2.0), F(1.0)}, F(2.0)},
      {"max.f64", {F(2.0), F(kNan64)}, F(2.0)},
      {"trunc.f64.f32", {F(1.0 + 0x1p-30)}, f(1.0f)},
      {"ext.f32.f64", {f(0.1f)}, F(static_cast<double>(0.1f))},
      {"cast.si32.f64", {i(-3)}, F(-3.0)},
      {"cast.ui32.f64", {i(-1)}, F(4294967295.0)},
      {"cast.si64.f64", {I(-3)}, F(-3.0)},
      {"cast.ui64.f64", {I(-1)}, F(18446744073709551616.0)},
      // By way of f32: 16777217 has no f32.
      {"cast.f64.si32", {F(16777217.0)}, i(16777216)},
      {"cast.f64.si32", {F(-2.5)}, i(-3)},
      {"cast.f64.ui32", {F(2.5)}, i(3)},
      {"cast.f64.si64", {F(2.5)}, I(3)},
      {"cast.f64.si64", {F(kNan64)}, I(kMin64)},
      {"cast.f64.ui64", {F(-2.5)}, I(-3)},
      {"cast.f64.ui64", {F(1e19)}, I(kMin64)},
      {"bitcast.i64.f64", {I(0x3ff0000000000000)}, F(1.0)},
      {"bitcast.f64.i64", {F(-0.0)}, I(kMin64)},
      {"atan.f64", {F(0.0)}, F(0.0)},
      {"atan2.f64", {F(1.0), F(0.0)}, F(1.5707963267948966)},
      {"cos.f64", {F(0.0)}, F(1.0)},
      {"sin.f64", {F(0.0)}, F(0.0)},
      {"exp.f64", {F(0.0)}, F(1.0)},
      {"exp2.f64", {F(-1.0)}, F(0.5)},
      {"expm1.f64", {F(0.0)}, F(0.0)},
      {"log.f64", {F(1.0)}, F(0.0)},
      {"log10.f64", {F(100.0)}, F(2.0)},
      {"log1p.f64", {F(0.0)}, F(0.0)},
      {"log2.f64", {F(0.25)}, F(-2.0)},
      {"pow.f64", {F(3.0), F(3.0)}, F(27.0)},
      {"fpowi.f64", {F(-1.5), I(3)}, F(-3.375)},
      {"fpowi.f64", {F(10.0), I(0)}, F(1.0)},
      {"rsqrt.f64", {F(0.25)}, F(2.0)},
      {"sqrt.f64", {F(2.25)}, F(1.5)},
      {"tanh.f64", {F(-40.0)}, F(-1.0)},
      {"erf.f64", {F(-40.0)}, F(-1.0)},
      {"cmp.eq.f64.o", {F(kNan64), F(1.0)}, i(0)},
      {"cmp.eq.f64.o", {F(1.0), F(1.0)}, i(1)},
      {"cmp.eq.f64.u", {F(kNan64), F(1.0)}, i(1)},
      {"cmp.eq.f64.u", {F(1.0), F(2.0)}, i(0)},
      {"cmp.ne.f64.o", {F(kNan64), F(1.0)}, i(1)},
      {"cmp.ne.f64.o", {F(1.0), F(1.0)}, i(0)},
      {"cmp.ne.f64.u", {F(kNan64), F(1.0)}, i(1)},
      {"cmp.ne.f64.u", {F(1.0), F(2.0)}, i(1)},
      {"cmp.lt.f64.o", {F(kNan64), F(1.0)}, i(0)},
      {"cmp.lt.f64.o", {F(0.0), F(1.0)}, i(1)},
      {"cmp.lt.f64.u", {F(kNan64), F(1.0)}, i(1)},
      {"cmp.lt.f64.u", {F(1.0), F(1.0)}, i(0)},
      {"cmp.lte.f64.o", {F(kNan64), F(1.0)}, i(0)},
      {"cmp.lte.f64.o", {F(1.0), F(1.0)}, i(1)},
      {"cmp.lte.f64.u", {F(1.0), F(kNan64)}, i(1)},
      {"cmp.lte.f64.u", {F(2.0), F(1.0)}, i(0)},
      {"cmp.nan.f64", {F(kNan64)}, i(1)},
      {"cmp.nan.f64", {F(0.0)}, i(0)},
  };
}

TEST(InterpreterTest, Integers) { Check(IntegerCases(), nullptr); }
TEST(InterpreterTest, F32) { Check(F32Cases(), nullptr); }
TEST(InterpreterTest, F64) { Check(F64Cases(), nullptr); }

// As iree-as-module writes them: it declares only registers that are used.
TEST(InterpreterTest, UnusedArgumentsNeedNoRegisters) {
  BodyBuilder callee;
  callee.Block().Emit(Op::kReturn).List({0});
  BodyBuilder caller;
  caller.Block().Emit(Op::kConstI64).U64(7).U16(2);
  caller.Emit(Op::kCall).U32(0).List({0, 2, 1, R(0)}).List({0});
  caller.Emit(Op::kReturn).List({0, 1, R(0)});
  ModuleBuilder builder("m");
  builder.AddFunction("0iIir_i", callee, 1, 0);
  Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(4, 16);
  const auto results =
      RunBody("0iir_iir", caller, 4, 1,
              {i(5), i(6), Value::FromRef(Ref<Object>(buffer))}, builder);
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_TRUE(SameBits((*results)[0], i(5)));
  EXPECT_TRUE(SameBits((*results)[1], i(6)));
  EXPECT_EQ((*results)[2].ref(), buffer.get());
  EXPECT_EQ(buffer->reference_count(), 2);

  BodyBuilder nothing;
  nothing.Block().Emit(Op::kReturn).List({});
  EXPECT_TRUE(RunBody("0ir_v", nothing, 0, 0,
                      {i(5), Value::FromRef(Ref<Object>(buffer))})
                  .ok());
  EXPECT_EQ(buffer->reference_count(), 2);
}

// Arguments of all kinds between functions, and a result that is the last one
// or an older one. The refs are moved, and one is passed as null.
TEST(InterpreterTest, CallsPassArgumentsOfAllKinds) {
  for (const bool is_wide : {false, true}) {
    for (const bool is_last : {false, true}) {
      // i, I, r, f, F, r, i at words 0, 2, 4, 6, 8 and refs 0, 1.
      BodyBuilder callee;
      callee.Block().Emit(Op::kExtI32I64S).U16(0).U16(10);
      callee.Emit(Op::kExtI32I64S).U16(8).U16(12);
      callee.Emit(Op::kSubI64).U16(2).U16(10).U16(10);
      callee.Emit(Op::kMulI64).U16(6).U16(12).U16(12);
      callee.Emit(Op::kCmpNzRef).U16(R(0)).U16(14);
      callee.Emit(Op::kCmpNzRef).U16(R(1)).U16(15);
      callee.Emit(Op::kAddI64).U16(10).U16(12).U16(10);
      callee.Emit(Op::kTruncI64I32).U16(10).U16(16);
      callee.Emit(Op::kSubI32).U16(14).U16(15).U16(14);
      callee.Emit(Op::kAddI32).U16(16).U16(14).U16(16);
      if (is_wide) callee.Emit(Op::kExtI32I64S).U16(16).U16(10);
      if (!is_last) callee.Emit(Op::kConstI32Zero).U16(15);
      callee.Emit(Op::kReturn).List({static_cast<uint16_t>(is_wide ? 10 : 16)});
      BodyBuilder caller;
      caller.Block().Emit(Op::kConstI64).U64(3).U16(6);
      caller.Emit(Op::kConstI64).U64(uint64_t{1} << 33).U16(8);
      caller.Emit(Op::kCall).U32(0);
      caller.List({0, 8, MoveR(0), 1, 6, R(1), 2});
      caller.List({4}).Emit(Op::kCmpNzRef).U16(R(0)).U16(0);
      caller.Emit(Op::kReturn).List({4, 0});
      ModuleBuilder builder("m");
      builder.AddFunction(is_wide ? "0iIrfIri_I" : "0iIrfIri_i", callee, 18, 2);
      Ref<ByteBuffer> buffer = *ByteBuffer::Allocate(4, 16);
      const auto results = RunBody(
          is_wide ? "0iiir_Ii" : "0iiir_ii", caller, 10, 2,
          {i(5), i(6), i(-7), Value::FromRef(Ref<Object>(buffer))}, builder);
      ASSERT_TRUE(results.ok()) << results.status();
      // (2^33 - 5) + 3 * -7, cut to 32 bits, and 1 for the first ref alone.
      EXPECT_TRUE(SameBits((*results)[0], is_wide ? I(-25) : i(-25)));
      EXPECT_TRUE(SameBits((*results)[1], i(0)));
      EXPECT_TRUE(buffer->IsUnique());
    }
  }
}

TEST(InterpreterTest, DivisionByZeroFails) {
  for (const char* mnemonic :
       {"div.i32.s", "div.i32.u", "rem.i32.s", "rem.i32.u"}) {
    const absl::Status status = RunScalar(mnemonic, {i(1), i(0)}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << mnemonic;
    EXPECT_EQ(status.message(), "m.f+1: division by zero");
  }
  for (const char* mnemonic :
       {"div.i64.s", "div.i64.u", "rem.i64.s", "rem.i64.u"}) {
    EXPECT_EQ(RunScalar(mnemonic, {I(1), I(0)}).status().code(),
              absl::StatusCode::kInvalidArgument)
        << mnemonic;
  }
}

// const.i32, const.i32.zero, const.i64, const.i64.zero, const.f32,
// const.f32.zero, const.f64, const.f64.zero
TEST(InterpreterTest, Constants) {
  BodyBuilder body;
  body.Block()
      .Emit(Op::kConstI32)
      .U32(0x80000001)
      .U16(0)
      .Emit(Op::kConstI32Zero)
      .U16(1)
      .Emit(Op::kConstI64)
      .U64(0x8000000000000001)
      .U16(2)
      .Emit(Op::kConstI64Zero)
      .U16(4)
      .Emit(Op::kConstF32)
      .F32(-1.5f)
      .U16(6)
      .Emit(Op::kConstF32Zero)
      .U16(7)
      .Emit(Op::kConstF64)
      .F64(-2.5)
      .U16(8)
      .Emit(Op::kConstF64Zero)
      .U16(10)
      .Emit(Op::kConstI64)
      .U64(static_cast<uint64_t>(-7))
      .U16(12)
      .Emit(Op::kReturn)
      .List({0, 1, 2, 4, 6, 7, 8, 10, 12});
  const auto results = RunBody("0v_iiIIffFFI", body, 14, 0, {});
  ASSERT_TRUE(results.ok()) << results.status();
  const std::vector<Value> expected = {i(0x80000001), i(0),     I(kMin64 + 1),
                                       I(0),          f(-1.5f), f(0.0f),
                                       F(-2.5),       F(0.0),   I(-7)};
  for (size_t n = 0; n < expected.size(); ++n) {
    EXPECT_TRUE(SameBits((*results)[n], expected[n])) << n;
  }
}

// switch.i32, switch.f32, switch.i64, switch.f64
TEST(InterpreterTest, SwitchesChooseByIndex) {
  for (const Op op : {Op::kSwitchI32, Op::kSwitchF32}) {
    for (const auto& [index, expected] :
         std::vector<std::pair<int, int>>{{0, 10}, {1, 20}, {2, 9}, {-1, 9}}) {
      BodyBuilder body;
      body.Block().Emit(op).U16(0).U16(1).List({2, 3}).U16(4);
      body.Emit(Op::kReturn).List({4});
      const auto results =
          RunBody("0iiii_i", body, 5, 0, {i(index), i(9), i(10), i(20)});
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_EQ((*results)[0].i32(), expected);
    }
  }
  for (const Op op : {Op::kSwitchI64, Op::kSwitchF64}) {
    // All 64 bits of a chosen element count.
    const int64_t big = (int64_t{1} << 40) + 0x80000000;
    for (const auto& [index, expected] :
         std::vector<std::pair<int, int64_t>>{{0, 10}, {1, big}, {2, 9}}) {
      BodyBuilder body;
      body.Block().Emit(op).U16(0).U16(2).List({4, 6}).U16(8);
      body.Emit(Op::kReturn).List({8});
      const auto results =
          RunBody("0iIII_I", body, 10, 0, {i(index), I(9), I(10), I(big)});
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_EQ((*results)[0].i64(), expected);
    }
  }
}

// br, cond_br, br_table, break, block
TEST(InterpreterTest, BranchTableGoesByIndexOrToDefault) {
  for (const auto& [index, expected] : std::vector<std::pair<int, int>>{
           {0, 100}, {1, 101}, {2, 7}, {-1, 7}, {kMin32, 7}}) {
    BodyBuilder body;
    const uint32_t exit = body.NewLabel();
    body.Block();
    body.Emit(Op::kConstI32).U32(100).U16(1);
    body.Emit(Op::kConstI32).U32(101).U16(2);
    body.Emit(Op::kConstI32).U32(7).U16(3);
    body.Emit(Op::kBrTable).U16(0).Branch(exit, {{3, 4}});
    body.U16(2).Branch(exit, {{1, 4}}).Branch(exit, {{2, 4}});
    body.Block(exit).Emit(Op::kReturn).List({4});
    const auto results = RunBody("0i_i", body, 5, 0, {i(index)});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0].i32(), expected) << index;
  }
}

TEST(InterpreterTest, ConditionalBranchTakesNonZeroFirst) {
  for (const Op compare : {Op::kBlock, Op::kCmpNzI32}) {
    for (const auto& [value, expected] :
         std::vector<std::pair<int, int>>{{0, 2}, {1, 1}, {-1, 1}}) {
      BodyBuilder body;
      const uint32_t yes = body.NewLabel();
      const uint32_t no = body.NewLabel();
      body.Block();
      if (compare == Op::kCmpNzI32) body.Emit(compare).U16(0).U16(0);
      body.Emit(Op::kCondBr).U16(0).Branch(yes).Branch(no);
      body.Block(no).Emit(Op::kConstI32).U32(2).U16(1);
      body.Emit(Op::kReturn).List({1});
      body.Block(yes).Emit(Op::kConstI32).U32(1).U16(1);
      body.Emit(Op::kReturn).List({1});
      const auto results = RunBody("0i_i", body, 2, 0, {i(value)});
      ASSERT_TRUE(results.ok()) << results.status();
      EXPECT_EQ((*results)[0].i32(), expected);
    }
  }
}

// Every comparison that can be part of a branch, forward and backward, with
// and without the addition that makes a loop counter.
TEST(InterpreterTest, ComparisonsWithinBranches) {
  const std::vector<std::pair<int64_t, int64_t>> operands = {
      {0, 0}, {0, 1}, {1, 0}, {-1, 0}, {0, -1}, {kMin32, kMax32}};
  const auto expected = [](Op op, int64_t a, int64_t b, bool wide) {
    const uint64_t mask = wide ? ~uint64_t{0} : 0xffffffff;
    const uint64_t ua = static_cast<uint64_t>(a) & mask;
    const uint64_t ub = static_cast<uint64_t>(b) & mask;
    switch (op) {
      case Op::kCmpEqI32:
      case Op::kCmpEqI64:
        return a == b;
      case Op::kCmpNeI32:
      case Op::kCmpNeI64:
        return a != b;
      case Op::kCmpLtI32S:
      case Op::kCmpLtI64S:
        return a < b;
      default:
        return ua < ub;
    }
  };
  for (const Op op :
       {Op::kCmpEqI32, Op::kCmpNeI32, Op::kCmpLtI32S, Op::kCmpLtI32U,
        Op::kCmpEqI64, Op::kCmpNeI64, Op::kCmpLtI64S, Op::kCmpLtI64U}) {
    const bool wide = op >= Op::kCmpEqI64;
    for (const auto& [a, b] : operands) {
      for (const bool add : {false, true}) {
        for (const bool backward : {false, true}) {
          for (const bool invert : {false, true}) {
            // x at 0, y at 2, zero at 4, flag at 6, result at 7.
            BodyBuilder body;
            const uint32_t start = body.NewLabel();
            const uint32_t yes = body.NewLabel();
            const uint32_t no = body.NewLabel();
            body.Block();
            body.Emit(Op::kConstI64Zero).U16(4);
            body.Emit(Op::kBr).Branch(start);
            if (backward) {
              body.Block(yes).Emit(Op::kConstI32).U32(1).U16(7);
              body.Emit(Op::kReturn).List({7});
            }
            body.Block(start);
            if (add) {
              body.Emit(wide ? Op::kAddI64 : Op::kAddI32).U16(0).U16(4).U16(0);
            }
            body.Emit(op).U16(0).U16(2).U16(6);
            body.Emit(Op::kCondBr).U16(6);
            if (invert) {
              body.Branch(no).Branch(yes);
            } else {
              body.Branch(yes).Branch(no);
            }
            body.Block(no).Emit(Op::kConstI32Zero).U16(7);
            body.Emit(Op::kReturn).List({7});
            if (!backward) {
              body.Block(yes).Emit(Op::kConstI32).U32(1).U16(7);
              body.Emit(Op::kReturn).List({7});
            }
            const auto results = RunBody("0II_i", body, 8, 0, {I(a), I(b)});
            ASSERT_TRUE(results.ok()) << results.status();
            EXPECT_EQ((*results)[0].i32() != 0,
                      expected(op, a, b, wide) != invert)
                << InfoOf(op).mnemonic << " " << a << " " << b << add
                << backward << invert;
          }
        }
      }
    }
  }
}

struct Half {
  Op op32, op64;
  uint64_t (*function)(uint64_t, uint64_t);
};

struct PairShape {
  bool is_wide;
  bool is_swapped;       // The second one's operands.
  uint16_t target;       // Of the second one; the first one's is 6.
  uint16_t last = 0xff;  // Which operand of the first is the last result.
};

void CheckPair(const Half& first, const Half& second, const PairShape& shape) {
  const int64_t a = 0x1234567890, b = -7654321, c = 0x5555aaaa3333;
  const bool wide = shape.is_wide;
  uint16_t operands[] = {0, 2};
  BodyBuilder body;
  body.Block();
  if (shape.last < 2) {
    body.Emit(wide ? Op::kOrI64 : Op::kOrI32);
    body.U16(operands[shape.last]).U16(operands[shape.last]).U16(8);
    operands[shape.last] = 8;
  }
  body.Emit(wide ? first.op64 : first.op32);
  body.U16(operands[0]).U16(operands[1]).U16(6);
  body.Emit(wide ? second.op64 : second.op32);
  body.U16(shape.is_swapped ? 4 : 6).U16(shape.is_swapped ? 6 : 4);
  body.U16(shape.target).Emit(Op::kReturn).List({6, shape.target});
  const auto results =
      RunBody(wide ? "0III_II" : "0III_ii", body, 10, 0, {I(a), I(b), I(c)});
  ASSERT_TRUE(results.ok()) << results.status();
  const uint64_t mask = wide ? ~uint64_t{0} : 0xffffffff;
  const uint64_t x = first.function(a, b);
  const uint64_t y =
      shape.is_swapped ? second.function(c, x) : second.function(x, c);
  const auto bits = [&](size_t i) {
    const Value& value = (*results)[i];
    return static_cast<uint64_t>(wide ? value.i64() : value.i32()) & mask;
  };
  EXPECT_EQ(bits(0), (shape.target == 6 ? y : x) & mask);
  EXPECT_EQ(bits(1), y & mask);
}

// Two operations in a row, the second on the result of the first. An operand of
// the first may be the result of an instruction before it.
TEST(InterpreterTest, PairsOfOperations) {
  const Half halves[] = {
      {Op::kAddI32, Op::kAddI64, [](uint64_t a, uint64_t b) { return a + b; }},
      {Op::kSubI32, Op::kSubI64, [](uint64_t a, uint64_t b) { return a - b; }},
      {Op::kMulI32, Op::kMulI64, [](uint64_t a, uint64_t b) { return a * b; }},
      {Op::kAndI32, Op::kAndI64, [](uint64_t a, uint64_t b) { return a & b; }},
      {Op::kOrI32, Op::kOrI64, [](uint64_t a, uint64_t b) { return a | b; }},
      {Op::kXorI32, Op::kXorI64, [](uint64_t a, uint64_t b) { return a ^ b; }},
  };
  for (const Half& first : halves) {
    for (const Half& second : halves) {
      for (const bool is_wide : {false, true}) {
        for (const bool is_swapped : {false, true}) {
          for (const uint16_t target : {0, 2, 4, 6, 8}) {
            CheckPair(first, second, {is_wide, is_swapped, target});
          }
          for (const uint16_t last : {0, 1}) {
            CheckPair(first, second, {is_wide, is_swapped, 6, last});
          }
        }
      }
    }
  }
}

TEST(InterpreterTest, ConstantsFoldedIntoSums) {
  struct {
    Op op;
    bool constant_first;
    int64_t expected;
  } const cases[] = {{Op::kAddI32, false, 105}, {Op::kAddI32, true, 105},
                     {Op::kSubI32, false, 95},  {Op::kSubI32, true, -95},
                     {Op::kAddI64, false, 105}, {Op::kAddI64, true, 105},
                     {Op::kSubI64, false, 95},  {Op::kSubI64, true, -95}};
  for (const auto& c : cases) {
    const bool wide = c.op == Op::kAddI64 || c.op == Op::kSubI64;
    BodyBuilder body;
    body.Block();
    if (wide) {
      body.Emit(Op::kConstI64).U64(5).U16(2);
    } else {
      body.Emit(Op::kConstI32).U32(5).U16(2);
    }
    body.Emit(c.op).U16(c.constant_first ? 2 : 0).U16(c.constant_first ? 0 : 2);
    body.U16(2).Emit(Op::kReturn).List({2});
    const auto results = RunBody(wide ? "0I_I" : "0I_i", body, 4, 0, {I(100)});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(wide ? (*results)[0].i64() : (*results)[0].i32(), c.expected);
  }
}

// global.load.*, global.store.* of i32, i64, f32 and f64, direct and indirect:
// each stores an argument and loads it back.
TEST(InterpreterTest, GlobalsKeepValues) {
  struct {
    Op store, load;
    const char* convention;
    Value value;
    bool indirect;
  } const cases[] = {
      {Op::kGlobalStoreI32, Op::kGlobalLoadI32, "0i_i", i(-5), false},
      {Op::kGlobalStoreF32, Op::kGlobalLoadF32, "0f_f", f(2.5f), false},
      {Op::kGlobalStoreI64, Op::kGlobalLoadI64, "0I_I", I(kMin64 + 3), false},
      {Op::kGlobalStoreF64, Op::kGlobalLoadF64, "0F_F", F(-2.5), false},
      {Op::kGlobalStoreIndirectI32, Op::kGlobalLoadIndirectI32, "0i_i", i(-6),
       true},
      {Op::kGlobalStoreIndirectF32, Op::kGlobalLoadIndirectF32, "0f_f", f(3.5f),
       true},
      {Op::kGlobalStoreIndirectI64, Op::kGlobalLoadIndirectI64, "0I_I",
       I(kMax64 - 1), true},
      {Op::kGlobalStoreIndirectF64, Op::kGlobalLoadIndirectF64, "0F_F", F(7.5),
       true},
  };
  for (const auto& c : cases) {
    ModuleBuilder builder("m");
    builder.global_bytes = 24;
    BodyBuilder body;
    body.Block();
    if (c.indirect) {
      body.Emit(Op::kConstI32).U32(16).U16(4);
      body.Emit(c.store).U16(4).U16(0);
      body.Emit(c.load).U16(4).U16(2);
    } else {
      body.Emit(c.store).U32(16).U16(0);
      body.Emit(c.load).U32(16).U16(2);
    }
    body.Emit(Op::kReturn).List({2});
    const auto results = RunBody(c.convention, body, 6, 0, {c.value}, builder);
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_TRUE(SameBits((*results)[0], c.value)) << InfoOf(c.store).mnemonic;
  }
}

// global.load.indirect.*, global.store.indirect.*
TEST(InterpreterTest, IndirectGlobalsOutOfRangeFail) {
  for (const Op op :
       {Op::kGlobalStoreIndirectI32, Op::kGlobalStoreIndirectI64,
        Op::kGlobalLoadIndirectI32, Op::kGlobalLoadIndirectI64,
        Op::kGlobalStoreIndirectF32, Op::kGlobalLoadIndirectF64}) {
    const bool wide =
        std::string(InfoOf(op).mnemonic).find("64") != std::string::npos;
    for (const int64_t offset : {wide ? 17 : 21, 24, -1, -4}) {
      ModuleBuilder builder("m");
      builder.global_bytes = 24;
      BodyBuilder body;
      body.Block().Emit(op).U16(0).U16(2).Emit(Op::kReturn).List({});
      EXPECT_EQ(
          RunBody("0i_v", body, 4, 0, {i(offset)}, builder).status().code(),
          absl::StatusCode::kOutOfRange)
          << InfoOf(op).mnemonic << " " << offset;
    }
  }
}

// fail
TEST(InterpreterTest, FailEndsWithItsCodeAndText) {
  const auto fail = [](int32_t code, const std::string& text) {
    BodyBuilder body;
    body.Block().Emit(Op::kFail).U16(0).Text(text);
    return RunBody("0i_v", body, 1, 0, {i(code)}).status();
  };
  EXPECT_EQ(fail(9, "no").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(fail(9, "no").message(), "m.f+1: no");
  EXPECT_EQ(fail(9 + 32, "no").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(fail(0, "x").code(), absl::StatusCode::kInternal);
  EXPECT_EQ(fail(17, "x").code(), absl::StatusCode::kInternal);
  EXPECT_EQ(fail(32, "").code(), absl::StatusCode::kInternal);
  EXPECT_EQ(fail(18, "x").code(), absl::StatusCode::kUnknown);
  EXPECT_THAT(std::string(fail(31, "x").message()), HasSubstr("code 31"));
}

// trace, print, break, cond_break, yield
TEST(InterpreterTest, DebugInstructionsHaveNoEffect) {
  BodyBuilder body;
  const uint32_t a = body.NewLabel();
  const uint32_t b = body.NewLabel();
  const uint32_t c = body.NewLabel();
  body.Block();
  body.Emit(Op::kTrace).Text("t").List({0, R(0)});
  body.Emit(Op::kPrint).Text("").List({MoveR(0)});
  body.Emit(Op::kBreak).Branch(a, {{0, 1}});
  body.Block(a).Emit(Op::kCondBreak).U16(0).Branch(b, {{1, 2}});
  body.Block(b).Emit(Op::kYield).Branch(c, {{2, 3}});
  body.Block(c).Emit(Op::kCmpNzRef).U16(R(0)).U16(4);
  body.Emit(Op::kReturn).List({3, 4});
  auto buffer = *ByteBuffer::Allocate(1, 0);
  const auto results =
      RunBody("0ir_ii", body, 5, 1, {i(42), Value::FromRef(buffer)});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0].i32(), 42);
  EXPECT_EQ((*results)[1].i32(), 0);  // print moved it.
  EXPECT_TRUE(buffer->IsUnique());
}

// The instructions of object_ops_test.cc and of the calls in
// invocation_test.cc, linkage_test.cc.
const char* const kElsewhere[] = {
    // This file, above.
    "const.i32", "const.i32.zero", "const.i64", "const.i64.zero", "const.f32",
    "const.f32.zero", "const.f64", "const.f64.zero", "switch.i32", "switch.f32",
    "switch.i64", "switch.f64", "br", "cond_br", "br_table", "break", "block",
    "fail", "trace", "print", "cond_break", "yield", "return",
    "global.load.i32", "global.store.i32", "global.load.indirect.i32",
    "global.store.indirect.i32", "global.load.i64", "global.store.i64",
    "global.load.indirect.i64", "global.store.indirect.i64", "global.load.f32",
    "global.store.f32", "global.load.indirect.f32", "global.store.indirect.f32",
    "global.load.f64", "global.store.f64", "global.load.indirect.f64",
    "global.store.indirect.f64",
    // object_ops_test.cc
    "global.load.ref", "global.store.ref", "global.load.indirect.ref",
    "global.store.indirect.ref", "const.ref.zero", "const.ref.rodata",
    "assign.ref", "discard.refs", "select.ref", "switch.ref", "cast.any.ref",
    "cmp.eq.ref", "cmp.ne.ref", "cmp.nz.ref", "list.alloc", "list.reserve",
    "list.size", "list.resize", "list.get.i32", "list.set.i32", "list.get.i64",
    "list.set.i64", "list.get.f32", "list.set.f32", "list.get.f64",
    "list.set.f64", "list.get.ref", "list.set.ref", "buffer.load.i8.u",
    "buffer.load.i8.s", "buffer.load.i16.u", "buffer.load.i16.s",
    "buffer.load.i32", "buffer.load.i64", "buffer.load.f32", "buffer.load.f64",
    "buffer.store.i8", "buffer.store.i16", "buffer.store.i32",
    "buffer.store.i64", "buffer.store.f32", "buffer.store.f64", "buffer.alloc",
    "buffer.clone", "buffer.length", "buffer.copy", "buffer.compare",
    "buffer.fill.i8", "buffer.fill.i16", "buffer.fill.i32", "buffer.fill.i64",
    "buffer.fill.f32", "buffer.fill.f64", "buffer.hash",
    // invocation_test.cc, linkage_test.cc
    "call", "call.variadic", "call.yieldable", "call.variadic.yieldable",
    "import.resolved"};

TEST(InterpreterTest, EveryInstructionHasATest) {
  std::set<std::string> seen(std::begin(kElsewhere), std::end(kElsewhere));
  Check(IntegerCases(), &seen);
  Check(F32Cases(), &seen);
  Check(F64Cases(), &seen);
  for (int op = 0; op < static_cast<int>(Op::kCount); ++op) {
    const char* mnemonic = InfoOf(static_cast<Op>(op)).mnemonic;
    EXPECT_EQ(seen.count(mnemonic), 1u) << mnemonic;
  }
}

}  // namespace
}  // namespace takt::vm
