// What the tests of kernels share: the kernels that this machine can run, and
// random operands.
#ifndef TAKT_TESTS_KERNELS_TEST_SUPPORT_H_
#define TAKT_TESTS_KERNELS_TEST_SUPPORT_H_

#include <cstdint>
#include <random>
#include <vector>

#if defined(__aarch64__) || defined(__riscv)
#include <sys/auxv.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#endif

#include "kernels/kernel_table.h"
#include "kernels/tile_registers.h"

namespace takt::kernels {

#if defined(__x86_64__)
inline bool HasAmxBf16() {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 22 & 1) != 0;
}
#endif

// One entry for each set of kernels that runs here, the portable one first.
inline std::vector<KernelTable> RunnableKernels() {
  std::vector<KernelTable> tables = {SelectKernels({})};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    tables.push_back(SelectKernels({.avx2_fma = true}));
    if (__builtin_cpu_supports("avxvnni")) {
      tables.push_back(SelectKernels({.avx2_fma = true, .avx_vnni = true}));
    }
    if (__builtin_cpu_supports("avx512vnni") &&
        __builtin_cpu_supports("avx512vl")) {
      const bool has_vbmi = __builtin_cpu_supports("avx512vbmi");
      const bool has_bf16 = __builtin_cpu_supports("avx512bf16");
      // GCC 12 has no name for amx-bf16.
      tables.push_back(SelectKernels({.avx2_fma = true,
                                      .avx512_vnni = true,
                                      .avx512_vbmi = has_vbmi,
                                      .avx512_bf16 = has_bf16,
                                      .amx_bf16 = HasAmxBf16()}));
      KernelTable tiled = tables.back();
      // A build may be without them.
      if (tiled.conv_bf16_tiles != nullptr && EnableTileRegisters()) {
        tiled.conv_bf16 = tiled.conv_bf16_tiles;
        tables.push_back(tiled);
      }
    }
  }
#elif defined(__aarch64__)
  tables.push_back(SelectKernels({.neon = true}));
  // Bits of Linux's HWCAP and HWCAP2.
  if ((getauxval(AT_HWCAP) >> 20 & 1) != 0) {
    tables.push_back(SelectKernels({.neon = true, .neon_dotprod = true}));
    if ((getauxval(AT_HWCAP2) >> 13 & 1) != 0) {
      tables.push_back(SelectKernels(
          {.neon = true, .neon_dotprod = true, .neon_i8mm = true}));
    }
  }
#elif defined(TAKT_KERNELS_RVV)
  if ((getauxval(AT_HWCAP) >> ('v' - 'a') & 1) != 0) {
    tables.push_back(SelectKernels({.riscv_v = true}));
  }
#endif
  return tables;
}

// What the products of the set are made with, in the words of docs/npu.md.
inline const char* NameOf(const KernelTable& table) {
#if defined(__x86_64__)
  if (table.conv_bf16 != nullptr && table.conv_bf16 == table.conv_bf16_tiles) {
    return "amx";
  }
  if (table.mmt4d == &kMmt4dAvx512Vnni) return "avx512-vnni";
  if (table.mmt4d == &kMmt4dAvxVnni) return "avx-vnni";
  if (table.mmt4d == &kMmt4dAvx2) return "avx2";
#elif defined(__aarch64__)
  if (table.mmt4d == &kMmt4dNeonI8mm) return "neon-i8mm";
  if (table.mmt4d == &kMmt4dNeonDotProd) return "neon-dotprod";
#elif defined(TAKT_KERNELS_RVV)
  if (table.mmt4d == &kMmt4dRvv) return "rvv";
#endif
  return "portable";
}

// The same numbers on every machine.
class TestRandom {
 public:
  explicit TestRandom(uint32_t seed) : engine_(seed) {}
  uint32_t Word() { return static_cast<uint32_t>(engine_()); }
  // Between `least` and `most`, both included.
  int64_t Between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(
                       engine_() % static_cast<uint64_t>(most - least + 1));
  }
  template <typename T>
  std::vector<T> Elements(int64_t count) {
    std::vector<T> elements(static_cast<size_t>(count));
    for (T& element : elements) element = static_cast<T>(Word());
    return elements;
  }

 private:
  std::mt19937 engine_;
};

// A small convolution or, if it is depthwise, a pool.
inline ConvShape RandomConvShape(bool is_depthwise, TestRandom* random) {
  ConvShape s{};
  s.batch = random->Between(1, 2);
  s.in_h = random->Between(1, 9);
  s.in_w = random->Between(1, 13);
  s.kernel_h = random->Between(1, 4);
  s.kernel_w = random->Between(1, 4);
  s.stride_h = random->Between(1, 3);
  s.stride_w = random->Between(1, 3);
  s.dilation_h = random->Between(1, 2);
  s.dilation_w = random->Between(1, 2);
  s.pad_top = random->Between(0, 3);
  s.pad_left = random->Between(0, 3);
  s.out_h = random->Between(1, 7);
  s.out_w = random->Between(1, 9);
  s.groups = is_depthwise ? random->Between(1, 400) : random->Between(1, 3);
  s.in_c = is_depthwise ? s.groups : s.groups * random->Between(1, 17);
  s.out_c = is_depthwise ? s.groups : s.groups * random->Between(1, 90);
  return s;
}

}  // namespace takt::kernels

#endif  // TAKT_TESTS_KERNELS_TEST_SUPPORT_H_
