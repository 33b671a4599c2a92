// mmt4d: the product of a packed matrix with a packed and transposed one.
//
//   left    M panels of K tiles [M0][K0]
//   right   N panels of K tiles [N0][K0]
//   out     M×N tiles [M0][N0]
//   out(i, j, i0, j0) = [old value +] sum over k, k0 of left * right
//
// Integer sums wrap and are the same for every kernel. Float sums are rounded
// in an order of the kernel's own.
//
// The fastest kernel that takes a tile shape serves it. The portable kernels
// take all shapes.
#ifndef TAKT_KERNELS_MMT4D_H_
#define TAKT_KERNELS_MMT4D_H_

#include <cstdint>

#include "kernels/instruction_sets.h"

namespace takt::kernels {

// Left, right and sum.
enum class Mmt4dType : uint8_t {
  kF32,
  kS8S8S32,
  kF16F16F32,
  kBF16BF16F32,
  kS16S16S32,
  kS16S8S32,
};
inline constexpr int kMmt4dTypeCount = 6;

// Strides are in elements, from panel to panel. All of it lies in memory, and
// the output overlaps neither input.
struct Mmt4dArguments {
  const void* left = nullptr;
  int64_t left_stride = 0;
  const void* right = nullptr;
  int64_t right_stride = 0;
  void* out = nullptr;
  int64_t out_stride = 0;
  int64_t m = 0;  // Panels, and tiles of a panel.
  int64_t n = 0;
  int64_t k = 0;
  int64_t m0 = 0;  // Elements.
  int64_t n0 = 0;
  int64_t k0 = 0;
  bool accumulate = false;
};

using Mmt4dKernel = void (*)(const Mmt4dArguments& arguments);

struct Mmt4dKernels {
  Mmt4dKernel by_type[kMmt4dTypeCount];
};

extern const Mmt4dKernels kMmt4dPortable;
#if defined(__x86_64__)
extern const Mmt4dKernels kMmt4dAvx2;        // Needs AVX2, FMA and F16C.
extern const Mmt4dKernels kMmt4dAvxVnni;     // And AVX-VNNI.
extern const Mmt4dKernels kMmt4dAvx512Vnni;  // Or AVX-512 F, BW, VL and VNNI.
// Of bytes alone; the tables above have them.
void Mmt4dS8AvxVnni(const Mmt4dArguments& arguments);
void Mmt4dS8Avx512Vnni(const Mmt4dArguments& arguments);
#elif defined(__aarch64__)
extern const Mmt4dKernels kMmt4dNeonDotProd;  // Needs the dot product.
extern const Mmt4dKernels kMmt4dNeonI8mm;     // And the products of matrices.
#elif defined(TAKT_KERNELS_RVV)
extern const Mmt4dKernels kMmt4dRvv;  // Needs V.
#endif

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_MMT4D_H_
