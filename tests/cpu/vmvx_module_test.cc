// Every import of the vmvx module, called from bytecode that forwards to it:
// right results, and every range that does not fit.
#include "cpu/vmvx_module.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "base/mapped_file.h"
#include "cpu/cpu_features.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vm/byte_buffer.h"
#include "vm/bytecode_module.h"
#include "vm/context.h"
#include "vm/invocation.h"
#include "vm/type_registry.h"

namespace takt::cpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using vm::Value;
using Code = absl::StatusCode;

constexpr int64_t kDynamicSize = std::numeric_limits<int64_t>::min();

class VmvxModuleTest : public testing::Test {
 protected:
  void SetUp() override {
    auto file = MappedFile::Open(TAKT_TESTDATA_DIR "/vmvx/vmvx_calls.vmfb",
                                 MappedFile::Mode::kPreload);
    ASSERT_TRUE(file.ok()) << file.status();
    const vm::TypeRegistry types;
    auto calls = vm::BytecodeModule::Load(types, (*file)->bytes(), *file,
                                          "vmvx_calls.vmfb");
    ASSERT_TRUE(calls.ok()) << calls.status();
    auto vmvx = CreateVmvxModule(
        kernels::SelectKernels(UsableInstructionSets(DetectProcessor())));
    ASSERT_TRUE(vmvx.ok()) << vmvx.status();
    module_ = *vmvx;
    const Ref<vm::Module> modules[] = {*vmvx, *calls};
    auto context = vm::Context::Create(modules, nullptr);
    ASSERT_TRUE(context.ok()) << context.status();
    context_ = *std::move(context);
  }

  // Calls `vmvx.<name>`.
  absl::StatusOr<std::vector<Value>> CallFor(const std::string& name,
                                             std::vector<Value> arguments) {
    const std::string function = absl::StrReplaceAll(name, {{".", "_"}});
    auto found = context_->FindFunction(function);
    if (!found.ok()) return found.status();
    return vm::Invoke(*context_, *found, absl::MakeSpan(arguments));
  }
  absl::Status Call(const std::string& name, std::vector<Value> arguments) {
    return CallFor(name, std::move(arguments)).status();
  }

  template <typename T>
  static Ref<vm::ByteBuffer> MakeBuffer(const std::vector<T>& elements) {
    auto buffer = vm::ByteBuffer::Allocate(elements.size() * sizeof(T), 64);
    EXPECT_TRUE(buffer.ok());
    std::copy(elements.begin(), elements.end(),
              reinterpret_cast<T*>((*buffer)->data()));
    return *std::move(buffer);
  }
  template <typename T>
  static std::vector<T> Read(const Ref<vm::ByteBuffer>& buffer) {
    const auto* begin = reinterpret_cast<const T*>(buffer->data());
    return {begin, begin + buffer->byte_length() / sizeof(T)};
  }
  static Value I64(int64_t value) { return Value::I64(value); }
  static Value I32(int32_t value) { return Value::I32(value); }
  static Value Of(const Ref<vm::ByteBuffer>& buffer) {
    return Value::FromRef(buffer);
  }

  // One row of an elementwise operation.
  std::vector<Value> BinaryRow(const Ref<vm::ByteBuffer>& lhs,
                               const Ref<vm::ByteBuffer>& rhs,
                               const Ref<vm::ByteBuffer>& out, int64_t count) {
    return {Of(lhs),    I64(0),     I64(count), I64(1),    Of(rhs),
            I64(0),     I64(count), I64(1),     Of(out),   I64(0),
            I64(count), I64(1),     I64(1),     I64(count)};
  }
  std::vector<Value> UnaryRow(const Ref<vm::ByteBuffer>& in,
                              const Ref<vm::ByteBuffer>& out, int64_t count) {
    return {Of(in), I64(0),     I64(count), I64(1), Of(out),
            I64(0), I64(count), I64(1),     I64(1), I64(count)};
  }

  template <typename T>
  std::vector<T> Binary(const std::string& name, const std::vector<T>& a,
                        const std::vector<T>& b) {
    const auto out = MakeBuffer(std::vector<T>(a.size()));
    const absl::Status status =
        Call(name, BinaryRow(MakeBuffer(a), MakeBuffer(b), out,
                             static_cast<int64_t>(a.size())));
    EXPECT_TRUE(status.ok()) << status;
    return Read<T>(out);
  }
  template <typename T>
  std::vector<T> Unary(const std::string& name, const std::vector<T>& a) {
    const auto out = MakeBuffer(std::vector<T>(a.size()));
    const absl::Status status = Call(
        name, UnaryRow(MakeBuffer(a), out, static_cast<int64_t>(a.size())));
    EXPECT_TRUE(status.ok()) << status;
    return Read<T>(out);
  }

  Ref<vm::NativeModule> module_;
  Ref<vm::Context> context_;
};

TEST_F(VmvxModuleTest, NameVersionAndConventions) {
  EXPECT_EQ(module_->name(), "vmvx");
  EXPECT_EQ(module_->version(), 0u);
  EXPECT_EQ(module_->exports().size(), 32u);
  for (const vm::ExportInfo& info : module_->exports()) {
    const std::string& text = info.convention.text;
    if (info.name == "mmt4d") {
      EXPECT_EQ(text, "0rIIrIIrIIIIIiiii_v");
    } else if (info.name == "pack") {
      EXPECT_EQ(text, "0rIIIrIIIIIIIIIIi_v");
    } else if (info.name == "unpack") {
      EXPECT_EQ(text, "0rIIIrIIIIIIIIIi_v");
    } else if (info.name == "fill.2d.x32") {
      EXPECT_EQ(text, "0irIIII_v");
    } else if (info.name == "query_tile_sizes.2d") {
      EXPECT_EQ(text, "0IIi_II");
    } else {
      EXPECT_TRUE(text == "0rIIIrIIIrIIIII_v" || text == "0rIIIrIIIII_v")
          << info.name << " " << text;
    }
  }
}

TEST_F(VmvxModuleTest, FloatArithmetic) {
  const std::vector<float> a = {6, -1, 0.5};
  const std::vector<float> b = {3, 4, -2};
  EXPECT_THAT(Binary("add.2d.f32", a, b), ElementsAre(9, 3, -1.5));
  EXPECT_THAT(Binary("sub.2d.f32", a, b), ElementsAre(3, -5, 2.5));
  EXPECT_THAT(Binary("mul.2d.f32", a, b), ElementsAre(18, -4, -1));
  EXPECT_THAT(Binary("div.2d.f32", a, b), ElementsAre(2, -0.25, -0.25));
}

TEST_F(VmvxModuleTest, IntegerArithmetic) {
  const std::vector<int32_t> a = {7, -7, 100};
  const std::vector<int32_t> b = {2, 2, -3};
  EXPECT_THAT(Binary("add.2d.i32", a, b), ElementsAre(9, -5, 97));
  EXPECT_THAT(Binary("sub.2d.i32", a, b), ElementsAre(5, -9, 103));
  EXPECT_THAT(Binary("mul.2d.i32", a, b), ElementsAre(14, -14, -300));
  EXPECT_THAT(Binary("divs.2d.i32", a, b), ElementsAre(3, -3, -33));
  EXPECT_THAT(Binary("divu.2d.i32", a, b), ElementsAre(3, 0x7ffffffc, 0));
  EXPECT_THAT(Binary("and.2d.i32", a, b), ElementsAre(2, 0, 100 & -3));
  EXPECT_THAT(Binary("or.2d.i32", a, b), ElementsAre(7, -5, 100 | -3));
  EXPECT_THAT(Binary("xor.2d.i32", a, b), ElementsAre(5, -5, 100 ^ -3));
  const std::vector<int32_t> shift = {1, 1, 3};
  EXPECT_THAT(Binary("shl.2d.i32", a, shift), ElementsAre(14, -14, 800));
  EXPECT_THAT(Binary("shrs.2d.i32", a, shift), ElementsAre(3, -4, 12));
  EXPECT_THAT(Binary("shru.2d.i32", a, shift), ElementsAre(3, 0x7ffffffc, 12));
}

TEST_F(VmvxModuleTest, UnaryFunctions) {
  const std::vector<float> a = {2.25, -2.25, 0};
  EXPECT_THAT(Unary("abs.2d.f32", a), ElementsAre(2.25, 2.25, 0));
  EXPECT_THAT(Unary("ceil.2d.f32", a), ElementsAre(3, -2, 0));
  EXPECT_THAT(Unary("floor.2d.f32", a), ElementsAre(2, -3, 0));
  EXPECT_THAT(Unary("neg.2d.f32", a), ElementsAre(-2.25, 2.25, 0));
  EXPECT_THAT(Unary("exp.2d.f32", a),
              ElementsAre(testing::FloatEq(std::exp(2.25f)),
                          testing::FloatEq(std::exp(-2.25f)), 1));
  const std::vector<float> positive = {4, 1, 0.25};
  EXPECT_THAT(Unary("rsqrt.2d.f32", positive), ElementsAre(0.5, 1, 2));
  EXPECT_THAT(Unary("log.2d.f32", positive),
              ElementsAre(testing::FloatEq(std::log(4.0f)), 0,
                          testing::FloatEq(std::log(0.25f))));
  EXPECT_THAT(Unary<int32_t>("ctlz.2d.i32", {0, 1, -1}),
              ElementsAre(32, 31, 0));
}

TEST_F(VmvxModuleTest, StridesAndOffsetsAreInElements) {
  // out[1 + 3i + j] = lhs[2 + 4i + j] + rhs[i], i < 2, j < 2.
  const auto lhs = MakeBuffer<int32_t>({0, 0, 10, 11, 0, 0, 20, 21});
  const auto rhs = MakeBuffer<int32_t>({100, 200});
  const auto out = MakeBuffer(std::vector<int32_t>(6));
  ASSERT_TRUE(Call("add.2d.i32",
                   {Of(lhs), I64(2), I64(4), I64(1), Of(rhs), I64(0), I64(1),
                    I64(0), Of(out), I64(1), I64(3), I64(1), I64(2), I64(2)})
                  .ok());
  EXPECT_THAT(Read<int32_t>(out), ElementsAre(0, 110, 111, 0, 220, 221));
}

TEST_F(VmvxModuleTest, CopiesEveryWidth) {
  const std::pair<const char*, size_t> kCopies[] = {{"copy.2d.x8", 1},
                                                    {"copy.2d.x16", 2},
                                                    {"copy.2d.x32", 4},
                                                    {"copy.2d.x64", 8}};
  for (const auto& [name, bytes] : kCopies) {
    std::vector<uint8_t> elements(3 * bytes);
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = i + 1;
    const auto out = MakeBuffer(std::vector<uint8_t>(3 * bytes));
    ASSERT_TRUE(Call(name, UnaryRow(MakeBuffer(elements), out, 3)).ok());
    EXPECT_EQ(Read<uint8_t>(out), elements);
    EXPECT_EQ(Call(name, UnaryRow(MakeBuffer(elements), out, 4)).code(),
              Code::kOutOfRange);
  }
}

TEST_F(VmvxModuleTest, Fills) {
  const auto out = MakeBuffer(std::vector<int32_t>(6));
  ASSERT_TRUE(
      Call("fill.2d.x32", {I32(-7), Of(out), I64(1), I64(3), I64(2), I64(2)})
          .ok());
  EXPECT_THAT(Read<int32_t>(out), ElementsAre(0, -7, -7, 0, -7, -7));
  EXPECT_EQ(
      Call("fill.2d.x32", {I32(-7), Of(out), I64(2), I64(3), I64(2), I64(2)})
          .code(),
      Code::kOutOfRange);
}

// The offset, stride or size in which an elementwise call is wrong, and how.
struct BadArgument {
  size_t index;
  int64_t value;
  Code code;
};
constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

TEST_F(VmvxModuleTest, ElementwiseRangesThatDoNotFit) {
  const auto in = MakeBuffer(std::vector<float>(8, 1.0f));
  const auto out = MakeBuffer(std::vector<float>(8));
  const std::vector<Value> good = {Of(in), I64(0), I64(4), I64(1),  Of(in),
                                   I64(0), I64(4), I64(1), Of(out), I64(0),
                                   I64(4), I64(1), I64(2), I64(4)};
  std::vector<BadArgument> cases;
  for (const size_t offset : {1, 5, 9}) {
    for (const int64_t value : {int64_t{1}, int64_t{8}, int64_t{9}, int64_t{-1},
                                kLargest, kDynamicSize}) {
      cases.push_back({offset, value, Code::kOutOfRange});
    }
    for (const size_t stride : {offset + 1, offset + 2}) {
      cases.push_back({stride, 5, Code::kOutOfRange});
      cases.push_back({stride, UINT32_MAX, Code::kOutOfRange});
      cases.push_back(
          {stride, int64_t{UINT32_MAX} + 1, Code::kInvalidArgument});
      cases.push_back({stride, -1, Code::kInvalidArgument});
      cases.push_back({stride, kDynamicSize, Code::kInvalidArgument});
    }
  }
  for (const size_t size : {12, 13}) {
    cases.push_back({size, 9, Code::kOutOfRange});
    cases.push_back({size, INT32_MAX, Code::kOutOfRange});
    cases.push_back({size, int64_t{UINT32_MAX} + 1, Code::kInvalidArgument});
    cases.push_back({size, -1, Code::kInvalidArgument});
  }
  ASSERT_TRUE(Call("mul.2d.f32", good).ok());
  for (const BadArgument& bad : cases) {
    std::vector<Value> arguments = good;
    arguments[bad.index] = I64(bad.value);
    EXPECT_EQ(Call("mul.2d.f32", arguments).code(), bad.code)
        << bad.index << " " << bad.value;
  }
}

TEST_F(VmvxModuleTest, NothingHappensToNothing) {
  const auto empty = MakeBuffer(std::vector<float>());
  // Any offset and stride, as nothing is touched.
  for (const auto& [size0, size1] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 5}, {5, 0}, {0, 0}}) {
    EXPECT_TRUE(Call("exp.2d.f32",
                     {Of(empty), I64(kLargest), I64(UINT32_MAX),
                      I64(UINT32_MAX), Of(empty), I64(-1), I64(UINT32_MAX),
                      I64(UINT32_MAX), I64(size0), I64(size1)})
                    .ok());
    EXPECT_TRUE(Call("fill.2d.x32", {I32(1), Of(empty), I64(99), I64(1),
                                     I64(size0), I64(size1)})
                    .ok());
  }
}

TEST_F(VmvxModuleTest, BuffersOfTheWrongKind) {
  const auto good = MakeBuffer(std::vector<float>(4));
  const auto read_only =
      vm::ByteBuffer::Wrap(good, good->data(), good->byte_length(), false);
  const auto misaligned =
      vm::ByteBuffer::Wrap(good, good->data() + 1, 12, true);
  EXPECT_EQ(Call("neg.2d.f32", UnaryRow(good, read_only, 2)).code(),
            Code::kPermissionDenied);
  EXPECT_TRUE(Call("neg.2d.f32", UnaryRow(read_only, good, 2)).ok());
  EXPECT_EQ(Call("neg.2d.f32", UnaryRow(misaligned, good, 2)).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(Call("neg.2d.f32", UnaryRow(good, misaligned, 2)).code(),
            Code::kInvalidArgument);
  EXPECT_TRUE(Call("copy.2d.x8", UnaryRow(misaligned, good, 2)).ok());
  EXPECT_EQ(Call("neg.2d.f32", UnaryRow(nullptr, good, 2)).code(),
            Code::kInvalidArgument);
}

// The worked example of the specification: A 32×64, B 64×48, tiles 8×8×4.
TEST_F(VmvxModuleTest, PackMmt4dAndUnpackMakeAProduct) {
  std::vector<int8_t> a(32 * 64), b(64 * 48);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int8_t>(i * 37);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<int8_t>(i * 91 + 5);
  const auto packed = MakeBuffer(std::vector<int8_t>(2048 + 3072));
  const auto tiles = MakeBuffer(std::vector<int32_t>(4 * 384));
  const auto out = MakeBuffer(std::vector<int32_t>(32 * 48));
  absl::Status status =
      Call("pack", {Of(MakeBuffer(a)), I64(0), I64(64), I64(1), Of(packed),
                    I64(0), I64(512), I64(32), I64(32), I64(64), I64(4),
                    I64(16), I64(8), I64(4), I64(0), I32(2)});
  ASSERT_TRUE(status.ok()) << status;
  status = Call("pack", {Of(MakeBuffer(b)), I64(0), I64(48), I64(1), Of(packed),
                         I64(2048), I64(512), I64(32), I64(64), I64(48), I64(6),
                         I64(16), I64(8), I64(4), I64(0), I32(770)});
  ASSERT_TRUE(status.ok()) << status;
  status = Call("mmt4d", {Of(packed), I64(0), I64(512), Of(packed), I64(2048),
                          I64(512), Of(tiles), I64(0), I64(384), I64(4), I64(6),
                          I64(16), I32(8), I32(8), I32(4), I32(0x602)});
  ASSERT_TRUE(status.ok()) << status;
  status = Call("unpack", {Of(tiles), I64(0), I64(384), I64(64), Of(out),
                           I64(0), I64(48), I64(1), I64(4), I64(6), I64(8),
                           I64(8), I64(32), I64(48), I32(3)});
  ASSERT_TRUE(status.ok()) << status;
  const std::vector<int32_t> actual = Read<int32_t>(out);
  for (int i = 0; i < 32; ++i) {
    for (int j = 0; j < 48; ++j) {
      int32_t sum = 0;
      for (int k = 0; k < 64; ++k) sum += a[i * 64 + k] * b[k * 48 + j];
      ASSERT_EQ(actual[i * 48 + j], sum) << i << "," << j;
    }
  }
}

TEST_F(VmvxModuleTest, Mmt4dRangesThatDoNotFit) {
  const auto in = MakeBuffer(std::vector<int8_t>(2 * 3 * 32));
  const auto out = MakeBuffer(std::vector<int32_t>(2 * 2 * 64));
  const std::vector<Value> good = {
      Of(in),   I64(0), I64(96), Of(in), I64(0), I64(96), Of(out), I64(0),
      I64(128), I64(2), I64(2),  I64(3), I32(8), I32(8),  I32(4),  I32(2)};
  ASSERT_TRUE(Call("mmt4d", good).ok());
  std::vector<BadArgument> cases;
  for (const size_t offset : {1, 4, 7}) {
    cases.push_back({offset, 1, Code::kOutOfRange});
    cases.push_back({offset, -1, Code::kOutOfRange});
    cases.push_back({offset, kLargest, Code::kOutOfRange});
    cases.push_back({offset + 1, 129, Code::kOutOfRange});
    cases.push_back({offset + 1, UINT32_MAX, Code::kOutOfRange});
    cases.push_back({offset + 1, -1, Code::kInvalidArgument});
  }
  for (const size_t size : {9, 10, 11}) {
    cases.push_back({size, 4, Code::kOutOfRange});
    cases.push_back({size, INT32_MAX, Code::kOutOfRange});
    cases.push_back({size, -1, Code::kInvalidArgument});
    cases.push_back({size, int64_t{1} << 32, Code::kInvalidArgument});
  }
  for (const BadArgument& bad : cases) {
    std::vector<Value> arguments = good;
    arguments[bad.index] = I64(bad.value);
    EXPECT_EQ(Call("mmt4d", arguments).code(), bad.code)
        << bad.index << " " << bad.value;
  }
  const BadArgument narrow[] = {
      {12, 9, Code::kOutOfRange},         {13, 9, Code::kOutOfRange},
      {14, 5, Code::kOutOfRange},         {12, INT32_MAX, Code::kOutOfRange},
      {14, INT32_MAX, Code::kOutOfRange}, {12, 0, Code::kInvalidArgument},
      {13, -1, Code::kInvalidArgument},   {14, 0, Code::kInvalidArgument},
      {15, 1, Code::kOutOfRange},         {15, 3, Code::kUnimplemented},
      {15, 0, Code::kUnimplemented},      {15, 0x802, Code::kInvalidArgument}};
  for (const BadArgument& bad : narrow) {
    std::vector<Value> arguments = good;
    arguments[bad.index] = I32(static_cast<int32_t>(bad.value));
    EXPECT_EQ(Call("mmt4d", arguments).code(), bad.code)
        << bad.index << " " << bad.value;
  }
  // All sizes at their limits: their product overflows 64 bits.
  std::vector<Value> arguments = good;
  for (const size_t size : {9, 10, 11}) arguments[size] = I64(INT32_MAX);
  for (const size_t size : {12, 13, 14}) arguments[size] = I32(INT32_MAX);
  EXPECT_EQ(Call("mmt4d", arguments).code(), Code::kOutOfRange);
}

TEST_F(VmvxModuleTest, Mmt4dOverNothingWritesZerosUnlessItAccumulates) {
  const auto in = MakeBuffer(std::vector<int8_t>());
  const auto out = MakeBuffer(std::vector<int32_t>(64, 9));
  const auto call = [&](int32_t flags) {
    return Call("mmt4d", {Of(in), I64(0), I64(0), Of(in), I64(0), I64(0),
                          Of(out), I64(0), I64(64), I64(1), I64(1), I64(0),
                          I32(8), I32(8), I32(4), I32(flags)});
  };
  ASSERT_TRUE(call(0x702).ok());
  EXPECT_THAT(Read<int32_t>(out), testing::Each(9));
  ASSERT_TRUE(call(0x602).ok());
  EXPECT_THAT(Read<int32_t>(out), testing::Each(0));
}

TEST_F(VmvxModuleTest, PackPadsAndChecks) {
  const auto in = MakeBuffer<float>({1, 2, 3, 4, 5, 6});
  const auto out = MakeBuffer(std::vector<float>(8));
  const int64_t seven = std::bit_cast<int32_t>(7.0f);
  // 2×3 into one row of two tiles of 2×2.
  const std::vector<Value> good = {
      Of(in), I64(0), I64(3), I64(1), Of(out), I64(0), I64(8),     I64(4),
      I64(2), I64(3), I64(1), I64(2), I64(2),  I64(2), I64(seven), I32(1)};
  ASSERT_TRUE(Call("pack", good).ok());
  EXPECT_THAT(Read<float>(out), ElementsAre(1, 2, 4, 5, 3, 7, 6, 7));
  const BadArgument cases[] = {{1, 1, Code::kOutOfRange},
                               {2, 4, Code::kOutOfRange},
                               {3, 2, Code::kOutOfRange},
                               {5, 1, Code::kOutOfRange},
                               {5, -1, Code::kOutOfRange},
                               {7, 5, Code::kOutOfRange},
                               {6, -1, Code::kInvalidArgument},
                               {8, 3, Code::kOutOfRange},
                               {9, 4, Code::kOutOfRange},
                               {10, 2, Code::kOutOfRange},
                               {11, 3, Code::kOutOfRange},
                               {12, 3, Code::kOutOfRange},
                               {13, INT32_MAX, Code::kOutOfRange},
                               {10, -1, Code::kInvalidArgument},
                               {12, -1, Code::kInvalidArgument},
                               {13, int64_t{1} << 31, Code::kInvalidArgument}};
  for (const BadArgument& bad : cases) {
    std::vector<Value> arguments = good;
    arguments[bad.index] = I64(bad.value);
    EXPECT_EQ(Call("pack", arguments).code(), bad.code)
        << bad.index << " " << bad.value;
  }
  for (const auto& [flags, code] :
       std::vector<std::pair<int32_t, Code>>{{0, Code::kUnimplemented},
                                             {4, Code::kUnimplemented},
                                             {0x401, Code::kInvalidArgument}}) {
    std::vector<Value> arguments = good;
    arguments[15] = I32(flags);
    EXPECT_EQ(Call("pack", arguments).code(), code) << flags;
  }
}

TEST_F(VmvxModuleTest, UnpackDropsAndChecks) {
  const auto in = MakeBuffer<float>({1, 2, 4, 5, 3, 7, 6, 7});
  const auto out = MakeBuffer(std::vector<float>(6));
  const std::vector<Value> good = {Of(in), I64(0), I64(8), I64(4), Of(out),
                                   I64(0), I64(3), I64(1), I64(1), I64(2),
                                   I64(2), I64(2), I64(2), I64(3), I32(1)};
  ASSERT_TRUE(Call("unpack", good).ok());
  EXPECT_THAT(Read<float>(out), ElementsAre(1, 2, 3, 4, 5, 6));
  const BadArgument cases[] = {
      {1, 1, Code::kOutOfRange},       {3, 5, Code::kOutOfRange},
      {5, 1, Code::kOutOfRange},       {6, 4, Code::kOutOfRange},
      {7, 2, Code::kOutOfRange},       {8, 2, Code::kOutOfRange},
      {9, 3, Code::kOutOfRange},       {10, 3, Code::kOutOfRange},
      {12, 3, Code::kOutOfRange},      {13, 4, Code::kOutOfRange},
      {13, -1, Code::kInvalidArgument}};
  for (const BadArgument& bad : cases) {
    std::vector<Value> arguments = good;
    arguments[bad.index] = I64(bad.value);
    EXPECT_EQ(Call("unpack", arguments).code(), bad.code)
        << bad.index << " " << bad.value;
  }
  std::vector<Value> arguments = good;
  arguments[14] = I32(2);  // There is no use for packed bytes unpacked.
  EXPECT_EQ(Call("unpack", arguments).code(), Code::kUnimplemented);
}

TEST_F(VmvxModuleTest, TileSizesDependOnTheOperationOnly) {
  const auto query = [&](int64_t size0, int64_t size1, int32_t flags) {
    auto results =
        CallFor("query_tile_sizes.2d", {I64(size0), I64(size1), I32(flags)});
    EXPECT_TRUE(results.ok()) << results.status();
    return std::make_pair((*results)[0].i64(), (*results)[1].i64());
  };
  for (const int32_t operation : {0x100, 0x200}) {
    EXPECT_EQ(query(kDynamicSize, kDynamicSize, operation | 1),
              query(3, 1000, operation | 1));
    EXPECT_EQ(query(kDynamicSize, 5, operation | 1).second,
              query(5, kDynamicSize, operation | 2).second);
  }
  EXPECT_EQ(Call("query_tile_sizes.2d", {I64(1), I64(1), I32(0x700)}).code(),
            Code::kUnimplemented);
}

TEST_F(VmvxModuleTest, AnErrorNamesTheFunctionAndTheOperand) {
  const auto in = MakeBuffer(std::vector<float>(4));
  const auto out = MakeBuffer(std::vector<float>(2));
  const absl::Status status = Call("neg.2d.f32", UnaryRow(in, out, 4));
  EXPECT_THAT(std::string(status.message()), HasSubstr("neg.2d.f32"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("out"));
}

}  // namespace
}  // namespace takt::cpu
