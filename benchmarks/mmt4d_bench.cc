// Measures how much of the peak of this machine's multipliers the mmt4d kernels
// reach on one core. The kernel at M x N x K and a loop that only multiplies
// registers run in turns; the best run of each counts.
//
//   mmt4d_bench [--size=512x512x512] [--rounds=200] [--once=TYPE]
//
// Types are i8, f32, f16, bf16, i16 and i16i8. With --once only the kernel
// runs, one time: for callgrind.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/clock.h"
#include "benchmarks/peak_macs.h"
#include "cpu/cpu_features.h"
#include "kernels/kernel_table.h"

namespace takt {
namespace {

using kernels::Mmt4dArguments;
using kernels::Mmt4dType;

struct Type {
  const char* name;
  Mmt4dType type;
  int64_t left_bytes;
  int64_t right_bytes;
  bool is_float;
};
constexpr Type kTypes[] = {
    {"i8", Mmt4dType::kS8S8S32, 1, 1, false},
    {"f32", Mmt4dType::kF32, 4, 4, true},
    {"f16", Mmt4dType::kF16F16F32, 2, 2, true},
    {"bf16", Mmt4dType::kBF16BF16F32, 2, 2, true},
    {"i16", Mmt4dType::kS16S16S32, 2, 2, false},
    {"i16i8", Mmt4dType::kS16S8S32, 2, 1, false},
};

// Operands of one product, of small numbers.
class Product {
 public:
  Product(const Type& type, int64_t m, int64_t n, int64_t k)
      : left_(Numbers(type, m * k, type.left_bytes)),
        right_(Numbers(type, n * k, type.right_bytes)),
        out_(static_cast<size_t>(m * n * 4)) {
    constexpr int64_t kM0 = 8, kN0 = 8, kK0 = 4;
    a_.left = left_.data();
    a_.right = right_.data();
    a_.out = out_.data();
    a_.m0 = kM0;
    a_.n0 = kN0;
    a_.k0 = kK0;
    a_.m = m / kM0;
    a_.n = n / kN0;
    a_.k = k / kK0;
    a_.left_stride = k * kM0;
    a_.right_stride = k * kN0;
    a_.out_stride = n * kM0;
  }
  const Mmt4dArguments& arguments() const { return a_; }

 private:
  static std::vector<uint8_t> Numbers(const Type& type, int64_t count,
                                      int64_t bytes) {
    std::vector<uint8_t> data(static_cast<size_t>(count * bytes));
    for (int64_t i = 0; i < count; ++i) {
      uint8_t* const at = data.data() + i * bytes;
      if (type.is_float) {
        // The upper or lower half is a valid f16 or bf16, too.
        const float value = static_cast<float>(i % 17) - 8.f;
        std::memcpy(at, reinterpret_cast<const uint8_t*>(&value) + 4 - bytes,
                    static_cast<size_t>(bytes));
      } else {
        at[0] = static_cast<uint8_t>(i * 7);
      }
    }
    return data;
  }

  const std::vector<uint8_t> left_;
  const std::vector<uint8_t> right_;
  std::vector<uint8_t> out_;
  Mmt4dArguments a_;
};

int64_t TimeNs(kernels::Mmt4dKernel kernel, const Mmt4dArguments& a) {
  const int64_t start_ns = NowNs();
  kernel(a);
  return NowNs() - start_ns;
}

void Measure(const Type& type, const kernels::KernelTable& table, int64_t m,
             int64_t n, int64_t k, int rounds) {
  Product product(type, m, n, k);
  const benchmarks::PeakLoop* const peak =
      benchmarks::FindPeakLoop(type.is_float);
  const kernels::Mmt4dKernel kernel = table.Mmt4d(type.type);
  double kernel_macs = 0;  // In a ns.
  double peak_macs = 0;
  const double macs = static_cast<double>(m * n * k);
  for (int i = 0; i < rounds; ++i) {
    const int64_t ns = TimeNs(kernel, product.arguments());
    kernel_macs = std::max(kernel_macs, macs / static_cast<double>(ns));
    if (peak == nullptr) continue;
    const int64_t start_ns = NowNs();
    const double done = static_cast<double>(peak->run());
    peak_macs =
        std::max(peak_macs, done / static_cast<double>(NowNs() - start_ns));
  }
  std::printf("%-6s %10.1f %10.1f %8.2f  %s\n", type.name, kernel_macs,
              peak_macs, peak_macs > 0 ? kernel_macs / peak_macs : 0.,
              peak != nullptr ? peak->name : "no loop for this machine");
}

const char* FlagValue(const char* argument, const char* name) {
  const size_t length = std::strlen(name);
  return std::strncmp(argument, name, length) == 0 ? argument + length
                                                   : nullptr;
}

int Main(int argc, char** argv) {
  long m = 512, n = 512, k = 512;
  int rounds = 200;
  std::string once;
  for (int i = 1; i < argc; ++i) {
    if (const char* size = FlagValue(argv[i], "--size=")) {
      if (std::sscanf(size, "%ldx%ldx%ld", &m, &n, &k) != 3 || m % 8 != 0 ||
          n % 8 != 0 || k % 4 != 0) {
        std::fprintf(stderr, "--size: MxNxK of multiples of 8, 8 and 4\n");
        return 2;
      }
    } else if (const char* count = FlagValue(argv[i], "--rounds=")) {
      rounds = std::atoi(count);
    } else if (const char* type = FlagValue(argv[i], "--once=")) {
      once = type;
    } else {
      std::fprintf(stderr, "unknown flag %s\n", argv[i]);
      return 2;
    }
  }
  const kernels::KernelTable table = kernels::SelectKernels(
      cpu::UsableInstructionSets(cpu::DetectProcessor()));
  if (!once.empty()) {
    for (const Type& type : kTypes) {
      if (once != type.name) continue;
      Product product(type, m, n, k);
      table.Mmt4d(type.type)(product.arguments());
    }
    return 0;
  }
  std::printf("%ldx%ldx%ld, one core, the best of %d\n", m, n, k, rounds);
  std::printf("%-6s %10s %10s %8s\n", "type", "GMAC/s", "peak", "of it");
  for (const Type& type : kTypes) Measure(type, table, m, n, k, rounds);
  return 0;
}

}  // namespace
}  // namespace takt

int main(int argc, char** argv) { return takt::Main(argc, argv); }
