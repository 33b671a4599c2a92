#include "npu/npu_offload.h"

#include <cstring>

#include "npu/operation.h"
#include "npu/operation_runner.h"
#include "npu/request_executable.h"

namespace takt::npu {
namespace {

using kernels::Operand2d;
using kernels::Shape2d;

// The bytes of size0 x size1 blocks of `block` elements; they lie in memory.
template <typename T>
takt_npu_range_t RangeOf(const T* data, int64_t size0, int64_t size1,
                         int64_t stride0, int64_t stride1, int64_t block,
                         size_t element_bytes) {
  takt_npu_range_t range;
  std::memset(&range, 0, sizeof(range));
  range.data = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(data));
  if (size0 == 0 || size1 == 0 || block == 0) return range;
  const int64_t end = (size0 - 1) * stride0 + (size1 - 1) * stride1 + block;
  range.byte_length = static_cast<uint64_t>(end) * element_bytes;
  return range;
}

// Sets the sizes in the order of memory, from which MakeTileGrid() made the
// grid.
void SetGrid(const kernels::TileGrid& grid, takt_npu_pack_t* pack) {
  pack->transpose_inner = grid.transpose_inner;
  pack->transpose_outer = grid.transpose_outer;
  pack->sizes[0] = grid.transpose_outer ? grid.count1 : grid.count0;
  pack->sizes[1] = grid.transpose_outer ? grid.count0 : grid.count1;
  pack->sizes[2] = grid.transpose_inner ? grid.tile1 : grid.tile0;
  pack->sizes[3] = grid.transpose_inner ? grid.tile0 : grid.tile1;
}

template <typename M, typename T>
void SetPackOperands(Operand2d<M> matrix, Shape2d shape, Operand2d<T> tiles,
                     size_t element_bytes, takt_npu_pack_t* pack) {
  pack->element_bytes = static_cast<uint32_t>(element_bytes);
  pack->size0 = shape.size0;
  pack->size1 = shape.size1;
  pack->stride0 = matrix.stride0;
  pack->stride1 = matrix.stride1;
  pack->tile_stride0 = tiles.stride0;
  pack->tile_stride1 = tiles.stride1;
  pack->matrix = RangeOf(matrix.data, shape.size0, shape.size1, matrix.stride0,
                         matrix.stride1, 1, element_bytes);
  pack->tiles =
      RangeOf(tiles.data, pack->sizes[0], pack->sizes[1], tiles.stride0,
              tiles.stride1, pack->sizes[2] * pack->sizes[3], element_bytes);
}

}  // namespace

absl::StatusOr<bool> NpuOffload::Run(const takt_npu_operation_t& operation) {
  if (!Takes(*unit_, operation)) {
    unit_->CountUnsupported(1);
    return false;
  }
  const NpuFaultPolicy policy = NpuRequestScope::CurrentPolicy(unit_->policy());
  NpuRequest request;
  request.urgency = NpuRequestScope::Current();
  request.policy = &policy;
  return RunOnUnit(*unit_, {&operation, 1}, request);
}

absl::StatusOr<bool> NpuOffload::Mmt4d(kernels::Mmt4dType kernel_type,
                                       const kernels::Mmt4dArguments& a) {
  const takt_npu_type_t type = kernel_type == kernels::Mmt4dType::kF32
                                   ? TAKT_NPU_TYPE_F32
                                   : TAKT_NPU_TYPE_S8_S8_S32;
  takt_npu_operation_t operation = MakeOperation(TAKT_NPU_KIND_MMT4D);
  takt_npu_mmt4d_t& product = operation.mmt4d;
  const TypeBytes bytes = BytesOf(type);
  product.type = type;
  product.accumulate = a.accumulate;
  product.m = a.m;
  product.n = a.n;
  product.k = a.k;
  product.m0 = a.m0;
  product.n0 = a.n0;
  product.k0 = a.k0;
  product.left_stride = a.left_stride;
  product.right_stride = a.right_stride;
  product.out_stride = a.out_stride;
  product.left = RangeOf(static_cast<const uint8_t*>(a.left), a.m, 1,
                         a.left_stride, 0, a.k * a.m0 * a.k0, bytes.left);
  product.right = RangeOf(static_cast<const uint8_t*>(a.right), a.n, 1,
                          a.right_stride, 0, a.k * a.n0 * a.k0, bytes.right);
  product.out = RangeOf(static_cast<const uint8_t*>(a.out), a.m, 1,
                        a.out_stride, 0, a.n * a.m0 * a.n0, bytes.sum);
  return Run(operation);
}

absl::StatusOr<bool> NpuOffload::Pack(size_t element_bytes,
                                      Operand2d<const uint8_t> in,
                                      Shape2d in_shape, Operand2d<uint8_t> out,
                                      const kernels::TileGrid& grid,
                                      uint64_t padding) {
  takt_npu_operation_t operation = MakeOperation(TAKT_NPU_KIND_PACK);
  SetGrid(grid, &operation.pack);
  SetPackOperands(in, in_shape, out, element_bytes, &operation.pack);
  operation.pack.padding = padding;
  return Run(operation);
}

absl::StatusOr<bool> NpuOffload::Unpack(Operand2d<const uint32_t> in,
                                        const kernels::TileGrid& grid,
                                        Operand2d<uint32_t> out,
                                        Shape2d out_shape) {
  takt_npu_operation_t operation = MakeOperation(TAKT_NPU_KIND_UNPACK);
  SetGrid(grid, &operation.pack);
  SetPackOperands(out, out_shape, in, sizeof(uint32_t), &operation.pack);
  return Run(operation);
}

absl::StatusOr<bool> NpuOffload::Fill(uint32_t value, Operand2d<uint32_t> out,
                                      Shape2d shape) {
  takt_npu_operation_t operation = MakeOperation(TAKT_NPU_KIND_FILL);
  takt_npu_fill_t& fill = operation.fill;
  fill.size0 = shape.size0;
  fill.size1 = shape.size1;
  fill.stride0 = out.stride0;
  fill.stride1 = out.stride1;
  fill.pattern = value;
  fill.out = RangeOf(out.data, shape.size0, shape.size1, out.stride0,
                     out.stride1, 1, sizeof(uint32_t));
  return Run(operation);
}

absl::StatusOr<bool> NpuOffload::Copy(size_t element_bytes,
                                      Operand2d<const uint8_t> in,
                                      Operand2d<uint8_t> out, Shape2d shape) {
  // A copy onto itself could not be repeated, and has no effect.
  if (in.data == out.data) {
    unit_->CountUnsupported(1);
    return false;
  }
  takt_npu_operation_t operation = MakeOperation(TAKT_NPU_KIND_COPY);
  takt_npu_copy_t& copy = operation.copy;
  copy.element_bytes = static_cast<uint32_t>(element_bytes);
  copy.size0 = shape.size0;
  copy.size1 = shape.size1;
  copy.in_stride0 = in.stride0;
  copy.in_stride1 = in.stride1;
  copy.out_stride0 = out.stride0;
  copy.out_stride1 = out.stride1;
  copy.in = RangeOf(in.data, shape.size0, shape.size1, in.stride0, in.stride1,
                    1, element_bytes);
  copy.out = RangeOf(out.data, shape.size0, shape.size1, out.stride0,
                     out.stride1, 1, element_bytes);
  return Run(operation);
}

}  // namespace takt::npu
