// mmt4d for RISC-V with V, where the compiler has its intrinsics, tiles
// M0×N0×K0 of bytes and floats. A vector is a row of a tile's columns; other
// types are left to the portable kernels.
#include "kernels/mmt4d.h"

#if defined(TAKT_KERNELS_RVV)
#include <riscv_vector.h>

#include <cstddef>
#include <cstdint>

namespace takt::kernels {
namespace {

// One row of one output tile at a time: the columns' elements of one k0 are
// kK0 apart, so they are loaded with a stride.
void S8Row(const Mmt4dArguments& a, const int8_t* left, const int8_t* right,
           int32_t* out) {
  const auto columns = static_cast<size_t>(a.n0);
  for (size_t j = 0; j < columns;) {
    const size_t lanes = __riscv_vsetvl_e32m4(columns - j);
    vint32m4_t sum = a.accumulate ? __riscv_vle32_v_i32m4(out + j, lanes)
                                  : __riscv_vmv_v_x_i32m4(0, lanes);
    for (int64_t t = 0; t < a.k; ++t) {
      for (int64_t k0 = 0; k0 < a.k0; ++k0) {
        const int8_t x = left[t * a.m0 * a.k0 + k0];
        const int8_t* const at =
            right + (t * a.n0 + static_cast<int64_t>(j)) * a.k0 + k0;
        const vint8m1_t y = __riscv_vlse8_v_i8m1(at, a.k0, lanes);
        sum = __riscv_vwmacc_vx_i32m4(sum, x, __riscv_vsext_vf2_i16m2(y, lanes),
                                      lanes);
      }
    }
    __riscv_vse32_v_i32m4(out + j, sum, lanes);
    j += lanes;
  }
}

void F32Row(const Mmt4dArguments& a, const float* left, const float* right,
            float* out) {
  const auto columns = static_cast<size_t>(a.n0);
  const ptrdiff_t step = a.k0 * static_cast<ptrdiff_t>(sizeof(float));
  for (size_t j = 0; j < columns;) {
    const size_t lanes = __riscv_vsetvl_e32m4(columns - j);
    vfloat32m4_t sum = a.accumulate ? __riscv_vle32_v_f32m4(out + j, lanes)
                                    : __riscv_vfmv_v_f_f32m4(0.f, lanes);
    for (int64_t t = 0; t < a.k; ++t) {
      for (int64_t k0 = 0; k0 < a.k0; ++k0) {
        const float* const at =
            right + (t * a.n0 + static_cast<int64_t>(j)) * a.k0 + k0;
        sum = __riscv_vfmacc_vf_f32m4(sum, left[t * a.m0 * a.k0 + k0],
                                      __riscv_vlse32_v_f32m4(at, step, lanes),
                                      lanes);
      }
    }
    __riscv_vse32_v_f32m4(out + j, sum, lanes);
    j += lanes;
  }
}

template <typename T, typename Sum,
          void (*kRow)(const Mmt4dArguments&, const T*, const T*, Sum*)>
void Mmt4d(const Mmt4dArguments& a) {
  for (int64_t i = 0; i < a.m; ++i) {
    const T* const left = static_cast<const T*>(a.left) + i * a.left_stride;
    Sum* const out = static_cast<Sum*>(a.out) + i * a.out_stride;
    for (int64_t j = 0; j < a.n; ++j) {
      const T* const right =
          static_cast<const T*>(a.right) + j * a.right_stride;
      for (int64_t i0 = 0; i0 < a.m0; ++i0) {
        kRow(a, left + i0 * a.k0, right, out + (j * a.m0 + i0) * a.n0);
      }
    }
  }
}

template <Mmt4dType kType>
void Portable(const Mmt4dArguments& a) {
  kMmt4dPortable.by_type[static_cast<int>(kType)](a);
}

}  // namespace

const Mmt4dKernels kMmt4dRvv = {
    {&Mmt4d<float, float, &F32Row>, &Mmt4d<int8_t, int32_t, &S8Row>,
     &Portable<Mmt4dType::kF16F16F32>, &Portable<Mmt4dType::kBF16BF16F32>,
     &Portable<Mmt4dType::kS16S16S32>, &Portable<Mmt4dType::kS16S8S32>}};

}  // namespace takt::kernels

#endif  // defined(TAKT_KERNELS_RVV)
