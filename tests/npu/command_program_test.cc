#include "npu/command_program.h"

#include <cstring>
#include <string>
#include <vector>

#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/npu/assembler.h"

namespace takt::npu {
namespace {

using testing::HasSubstr;

// A program that is run on bindings of bytes.
class ProgramRun {
 public:
  explicit ProgramRun(const std::vector<uint8_t>& bytes)
      : scratchpad_(CommandProgram::kScratchpadBytes) {
    auto program = CommandProgram::Parse(bytes);
    EXPECT_TRUE(program.ok()) << program.status();
    if (program.ok()) program_ = *std::move(program);
  }

  takt_npu_result_t operator()(std::vector<std::vector<uint8_t>>& bindings,
                               const std::vector<uint32_t>& constants = {}) {
    std::vector<takt_npu_range_t> ranges;
    for (auto& each : bindings) {
      ranges.push_back({each.data(), 0, 0, each.size()});
    }
    takt_npu_program_t dispatch;
    std::memset(&dispatch, 0, sizeof(dispatch));
    dispatch.constants = constants.data();
    dispatch.constant_count = static_cast<uint32_t>(constants.size());
    dispatch.bindings = ranges.data();
    dispatch.binding_count = ranges.size();
    work = {};
    return program_->Run(dispatch, absl::MakeSpan(scratchpad_), &work);
  }

  CommandProgram::Work work;

 private:
  std::unique_ptr<CommandProgram> program_;
  std::vector<uint8_t> scratchpad_;
};

// The product of s8 matrices of m, n, k, which are constants, requantized.
std::vector<uint8_t> ProductProgram() {
  const Field m = Field::Constant(0), n = Field::Constant(1),
              k = Field::Constant(2);
  Assembler assembler;
  assembler.Function("product", 4, 3)
      .Add(Opcode::kLoad, {0, 0, k, m, k, 0, k})
      .Add(Opcode::kLoad, {1, 0, n, k, n, 0x10000, n})
      .Add(Opcode::kBarrier, {})
      .Add(Opcode::kMatmul, {0, 0x10000, 0x20000, m, n, k, 0})
      .Add(Opcode::kFill, {0x40000, Field::Constant(3), 3})
      .Add(Opcode::kElementwise,
           {0, 0x20000, 0x40000, 0x20000, Field::Constant(3)})
      .Add(Opcode::kRequantize, {0x20000, 0x60000, Field::Constant(3), 5, 3, 1})
      .Add(Opcode::kStore, {2, 0, n, m, n, 0x60000, n});
  return assembler.Assemble();
}

TEST(CommandProgramTest, ComputesItsCommands) {
  ProgramRun run(ProductProgram());
  Random random(1);
  for (int i = 0; i < 50; ++i) {
    const uint32_t m = random.Below(9) + 1, n = random.Below(9) + 1,
                   k = random.Below(9) + 1;
    std::vector<std::vector<uint8_t>> bindings(3);
    bindings[0].resize(m * k);
    bindings[1].resize(k * n);
    bindings[2].resize(m * n);
    for (auto& x : bindings[0]) x = static_cast<uint8_t>(random.Below(5));
    for (auto& x : bindings[1]) x = static_cast<uint8_t>(random.Below(7) - 3);
    ASSERT_EQ(run(bindings, {m, n, k, m * n}), TAKT_NPU_RESULT_OK);
    EXPECT_EQ(run.work.mac_count, uint64_t{m} * n * k);
    for (uint32_t r = 0; r < m; ++r) {
      for (uint32_t c = 0; c < n; ++c) {
        int sum = 3;
        for (uint32_t p = 0; p < k; ++p) {
          sum += static_cast<int8_t>(bindings[0][r * k + p]) *
                 static_cast<int8_t>(bindings[1][p * n + c]);
        }
        const int expected =
            std::min(127, std::max(-128, ((sum * 5 + 4) >> 3) + 1));
        ASSERT_EQ(static_cast<int8_t>(bindings[2][r * n + c]), expected);
      }
    }
  }
}

TEST(CommandProgramTest, ElementwiseOperationsWrapAndCompareSigned) {
  for (uint32_t operation = 0; operation < kElementwiseCount; ++operation) {
    Assembler assembler;
    assembler.Function("f", 0, 3)
        .Add(Opcode::kLoad, {0, 0, 8, 1, 8, 0, 8})
        .Add(Opcode::kLoad, {1, 0, 8, 1, 8, 8, 8})
        .Add(Opcode::kElementwise, {operation, 0, 8, 16, 2})
        .Add(Opcode::kStore, {2, 0, 8, 1, 8, 16, 8});
    ProgramRun run(assembler.Assemble());
    const uint32_t a[] = {0x7fffffff, 0xffffffff}, b[] = {2, 5};
    std::vector<std::vector<uint8_t>> bindings(3, std::vector<uint8_t>(8));
    std::memcpy(bindings[0].data(), a, 8);
    std::memcpy(bindings[1].data(), b, 8);
    ASSERT_EQ(run(bindings), TAKT_NPU_RESULT_OK);
    uint32_t out[2];
    std::memcpy(out, bindings[2].data(), 8);
    const uint32_t expected[kElementwiseCount][2] = {{0x80000001, 4},
                                                     {0x7ffffffd, 0xfffffffa},
                                                     {0xfffffffe, 0xfffffffb},
                                                     {0x7fffffff, 5},
                                                     {2, 0xffffffff}};
    EXPECT_EQ(out[0], expected[operation][0]) << operation;
    EXPECT_EQ(out[1], expected[operation][1]) << operation;
  }
}

takt_npu_result_t RunOne(Opcode opcode, const std::vector<Field>& fields) {
  Assembler assembler;
  assembler.Function("f", 1, 1).Add(opcode, fields);
  ProgramRun run(assembler.Assemble());
  std::vector<std::vector<uint8_t>> bindings(1, std::vector<uint8_t>(64));
  return run(bindings, {0xffffffff});
}

TEST(CommandProgramTest, RefusesRangesOutside) {
  constexpr uint32_t kEnd = CommandProgram::kScratchpadBytes;
  const Field huge = Field::Constant(0);
  using O = Opcode;
  EXPECT_EQ(RunOne(O::kLoad, {0, 0, 8, 8, 8, 0, 8}), TAKT_NPU_RESULT_OK);
  EXPECT_EQ(RunOne(O::kLoad, {0, 1, 8, 8, 8, 0, 8}), TAKT_NPU_RESULT_INVALID);
  EXPECT_EQ(RunOne(O::kLoad, {1, 0, 8, 1, 8, 0, 8}), TAKT_NPU_RESULT_INVALID);
  EXPECT_EQ(RunOne(O::kLoad, {0, 0, 0, huge, 1, 0, 0}),
            TAKT_NPU_RESULT_INVALID);
  EXPECT_EQ(RunOne(O::kLoad, {0, 0, 0, 2, 8, 0, huge}),
            TAKT_NPU_RESULT_INVALID);
  EXPECT_EQ(RunOne(O::kLoad, {0, 0, 8, 1, 8, kEnd - 7, 8}),
            TAKT_NPU_RESULT_INVALID);
  EXPECT_EQ(RunOne(O::kStore, {0, 60, 8, 1, 8, 0, 8}), TAKT_NPU_RESULT_INVALID);
  EXPECT_EQ(RunOne(O::kFill, {0, kEnd / 4, 1}), TAKT_NPU_RESULT_OK);
  EXPECT_EQ(RunOne(O::kFill, {4, kEnd / 4, 1}), TAKT_NPU_RESULT_INVALID);
  EXPECT_EQ(RunOne(O::kFill, {2, 1, 1}), TAKT_NPU_RESULT_INVALID);
  EXPECT_EQ(RunOne(O::kFill, {0, huge, 1}), TAKT_NPU_RESULT_INVALID);
  EXPECT_EQ(RunOne(O::kMatmul, {0, 0, 0, huge, huge, huge, 0}),
            TAKT_NPU_RESULT_INVALID);
  EXPECT_EQ(RunOne(O::kMatmul, {0, 0, 2, 1, 1, 1, 0}), TAKT_NPU_RESULT_INVALID);
  EXPECT_EQ(RunOne(O::kElementwise, {5, 0, 0, 0, 1}), TAKT_NPU_RESULT_INVALID);
  EXPECT_EQ(RunOne(O::kElementwise, {0, 0, 0, huge, 1}),
            TAKT_NPU_RESULT_INVALID);
  EXPECT_EQ(RunOne(O::kRequantize, {0, 0, 1, 1, 63, 0}),
            TAKT_NPU_RESULT_INVALID);
  EXPECT_EQ(RunOne(O::kRequantize, {0, 0, huge, 1, 1, 0}),
            TAKT_NPU_RESULT_INVALID);
  EXPECT_EQ(RunOne(O::kFill, {Field::Constant(1), 1, 1}),
            TAKT_NPU_RESULT_INVALID);
}

TEST(CommandProgramTest, RefusesDispatchesOfOtherCounts) {
  ProgramRun run(ProductProgram());
  std::vector<std::vector<uint8_t>> bindings(2, std::vector<uint8_t>(8));
  EXPECT_EQ(run(bindings, {1, 1, 1, 1}), TAKT_NPU_RESULT_INVALID);
  bindings.resize(3);
  EXPECT_EQ(run(bindings, {1, 1, 1}), TAKT_NPU_RESULT_INVALID);
}

std::string ParseError(std::vector<uint8_t> bytes, size_t offset,
                       uint32_t word) {
  std::memcpy(bytes.data() + offset, &word, sizeof(word));
  const absl::Status status = CommandProgram::Parse(bytes).status();
  EXPECT_FALSE(status.ok()) << offset;
  return std::string(status.message());
}

TEST(CommandProgramTest, SaysWhatIsWrongWithABadFile) {
  const std::vector<uint8_t> good = ProductProgram();
  ASSERT_TRUE(CommandProgram::Parse(good).ok());
  EXPECT_THAT(ParseError(good, 0, 0), HasSubstr("no header"));
  EXPECT_THAT(ParseError(good, 4, 2), HasSubstr("version 2"));
  EXPECT_THAT(ParseError(good, 8, 2), HasSubstr("bytes, expected"));
  EXPECT_THAT(ParseError(good, 12, 0x7fffffff), HasSubstr("commands"));
  EXPECT_THAT(ParseError(good, 20, 1), HasSubstr("is not 0"));
  EXPECT_THAT(ParseError(good, 32, 1000), HasSubstr("has no name"));
  EXPECT_THAT(ParseError(good, 36, 5), HasSubstr("commands 5 to 13 of 8"));
  EXPECT_THAT(ParseError(good, 44, 0x00030041), HasSubstr("65 constants"));
  EXPECT_THAT(ParseError(good, 48, 7), HasSubstr("opcode 7"));
  EXPECT_THAT(ParseError(good, 52, 0x80), HasSubstr("mask 0x80"));
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(CommandProgram::Parse({good.data(), length}).ok());
  }
}

// Bytes changed at random: refused, or run without touching anything else
// (which a sanitizer would see).
TEST(CommandProgramTest, RefusesFunctionsThatShareAName) {
  Assembler assembler;
  assembler.Function(std::string(1000, 'x'), 0, 0).Function("y", 0, 0);
  std::vector<uint8_t> bytes = assembler.Assemble();
  EXPECT_TRUE(CommandProgram::Parse(bytes).ok());
  const size_t second =
      CommandProgram::kHeaderBytes + CommandProgram::kFunctionBytes;
  std::memset(bytes.data() + second, 0, sizeof(uint32_t));
  EXPECT_THAT(std::string(CommandProgram::Parse(bytes).status().message()),
              HasSubstr("function 1: its name at 0 overlaps another"));
}

TEST(CommandProgramTest, SurvivesChangedBytes) {
  const std::vector<uint8_t> good = ProductProgram();
  Random random(7);
  int parsed = 0;
  std::vector<uint8_t> scratchpad(1 << 18);
  for (int i = 0; i < 3000; ++i) {
    std::vector<uint8_t> bytes = good;
    for (uint32_t n = random.Below(4) + 1; n > 0; --n) {
      bytes[random.Below(static_cast<uint32_t>(bytes.size()))] =
          static_cast<uint8_t>(random.Next());
    }
    auto program = CommandProgram::Parse(bytes);
    if (!program.ok()) continue;
    ++parsed;
    std::vector<std::vector<uint8_t>> bindings(3, std::vector<uint8_t>(256));
    std::vector<takt_npu_range_t> ranges;
    for (auto& each : bindings) ranges.push_back({each.data(), 0, 0, 256});
    const uint32_t constants[] = {8, 8, 8, 64};
    takt_npu_program_t dispatch;
    std::memset(&dispatch, 0, sizeof(dispatch));
    dispatch.constants = constants;
    dispatch.constant_count = 4;
    dispatch.bindings = ranges.data();
    dispatch.binding_count = ranges.size();
    CommandProgram::Work work;
    const takt_npu_result_t result =
        (*program)->Run(dispatch, absl::MakeSpan(scratchpad), &work);
    EXPECT_TRUE(result == TAKT_NPU_RESULT_OK ||
                result == TAKT_NPU_RESULT_INVALID);
  }
  EXPECT_GT(parsed, 100);
}

}  // namespace
}  // namespace takt::npu
