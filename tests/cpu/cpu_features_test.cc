#include "cpu/cpu_features.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/kernel_table.h"
#include "tests/kernels/test_support.h"

namespace takt::cpu {
namespace {

TEST(CpuFeaturesTest, OnlyTheFirstWordIsUsed) {
  const ProcessorData processor = DetectProcessor();
  for (size_t i = 1; i < processor.words.size(); ++i) {
    EXPECT_EQ(processor.words[i], 0u);
  }
}

TEST(CpuFeaturesTest, NothingIsUsableOfAnUnknownProcessor) {
  const kernels::InstructionSets sets = UsableInstructionSets({});
  EXPECT_FALSE(sets.avx2_fma);
  EXPECT_FALSE(sets.avx512_vnni);
  EXPECT_FALSE(sets.neon);
  EXPECT_FALSE(sets.neon_dotprod);
}

#if defined(__x86_64__)
// The compiler's own detection, which is written apart from ours.
TEST(CpuFeaturesTest, AgreesWithTheCompiler) {
  const ProcessorData processor = DetectProcessor();
  const auto expect = [&](int bit, int supported) {
    EXPECT_EQ(processor.Has(bit), supported != 0) << bit;
  };
  expect(x86_64::kSse3, __builtin_cpu_supports("sse3"));
  expect(x86_64::kSsse3, __builtin_cpu_supports("ssse3"));
  expect(x86_64::kSse41, __builtin_cpu_supports("sse4.1"));
  expect(x86_64::kSse42, __builtin_cpu_supports("sse4.2"));
  expect(x86_64::kSse4a, __builtin_cpu_supports("sse4a"));
  expect(x86_64::kAvx, __builtin_cpu_supports("avx"));
  expect(x86_64::kFma, __builtin_cpu_supports("fma"));
  expect(x86_64::kFma4, __builtin_cpu_supports("fma4"));
  expect(x86_64::kXop, __builtin_cpu_supports("xop"));
  expect(x86_64::kAvx2, __builtin_cpu_supports("avx2"));
  expect(x86_64::kAvx512F, __builtin_cpu_supports("avx512f"));
  expect(x86_64::kAvx512Cd, __builtin_cpu_supports("avx512cd"));
  expect(x86_64::kAvx512Vl, __builtin_cpu_supports("avx512vl"));
  expect(x86_64::kAvx512Dq, __builtin_cpu_supports("avx512dq"));
  expect(x86_64::kAvx512Bw, __builtin_cpu_supports("avx512bw"));
  expect(x86_64::kAvx512Ifma, __builtin_cpu_supports("avx512ifma"));
  expect(x86_64::kAvx512Vbmi, __builtin_cpu_supports("avx512vbmi"));
  expect(x86_64::kAvx512Vnni, __builtin_cpu_supports("avx512vnni"));
  expect(x86_64::kAvx512Bf16, __builtin_cpu_supports("avx512bf16"));
}

TEST(CpuFeaturesTest, KernelsNeedAllPartsOfTheirSet) {
  ProcessorData processor;
  processor.words[0] = uint64_t{1} << x86_64::kAvx2;
  EXPECT_FALSE(UsableInstructionSets(processor).avx2_fma);
  processor.words[0] |= uint64_t{1} << x86_64::kFma;
  EXPECT_FALSE(UsableInstructionSets(processor).avx2_fma);
  processor.words[0] |= uint64_t{1} << x86_64::kF16c;
  EXPECT_TRUE(UsableInstructionSets(processor).avx2_fma);
  processor.words[0] |= uint64_t{1} << x86_64::kAvx512Vnni;
  EXPECT_FALSE(UsableInstructionSets(processor).avx512_vnni);
}
#endif

// What is chosen is the last set that the tests of the kernels run, which find
// the processor's instructions apart from ours.
TEST(CpuFeaturesTest, ChoosesTheBestKernelsThatRunHere) {
  kernels::KernelTable table =
      kernels::SelectKernels(UsableInstructionSets(DetectProcessor()));
  // As an executable does that needs them.
  if (table.conv_bf16_tiles != nullptr && kernels::EnableTileRegisters()) {
    table.conv_bf16 = table.conv_bf16_tiles;
  }
  const std::string chosen = kernels::NameOf(table);
  const std::string best = kernels::NameOf(kernels::RunnableKernels().back());
  if (chosen != "avx-vnni") {  // mmt4d_vnni_test is for these.
    EXPECT_EQ(chosen, best);
  }
  // Given by scripts/cross.sh --cpus, which knows the emulated processor.
  const char* const expected = std::getenv("TAKT_EXPECTED_KERNELS");
  if (expected != nullptr) {
    EXPECT_EQ(chosen, expected);
  }
}

TEST(CpuFeaturesTest, NamesTheExistingOnes) {
  EXPECT_TRUE(FeatureNames(ProcessorData()).empty());
  ProcessorData all;
  all.words[0] = ~uint64_t{0};
  const std::vector<std::string> names = FeatureNames(all);
#if defined(__x86_64__)
  EXPECT_EQ(names.front(), "sse3");
  EXPECT_EQ(names.back(), "amx-bf16");
  ProcessorData one;
  one.words[0] = uint64_t{1} << x86_64::kAvx512Vnni;
  EXPECT_EQ(FeatureNames(one), std::vector<std::string>{"avx512vnni"});
#endif
}

}  // namespace
}  // namespace takt::cpu
