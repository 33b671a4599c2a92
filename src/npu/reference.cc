#include "npu/reference.h"

#include <cstring>

#include "cpu/cpu_features.h"
#include "kernels/copy.h"
#include "kernels/pack.h"
#include "npu/operation.h"

namespace takt::npu {
namespace {

using kernels::Operand2d;
using kernels::Shape2d;

// Finds the start of an operand; false if it does not exist or is not aligned
// to elements.
template <typename T>
bool Resolve(const takt_npu_range_t& range, const AddressSpace& memory,
             int64_t stride0, int64_t stride1, uint32_t element_bytes,
             Operand2d<T>* operand) {
  uint8_t* const data = memory.Find(range);
  if (data == nullptr && range.byte_length > 0) return false;
  if (reinterpret_cast<uintptr_t>(data) % element_bytes != 0) return false;
  operand->data = reinterpret_cast<T*>(data);
  operand->stride0 = stride0;
  operand->stride1 = stride1;
  return true;
}

takt_npu_result_t Pack(const takt_npu_pack_t& pack, const AddressSpace& memory,
                       bool is_unpack) {
  const uint32_t bytes = pack.element_bytes;
  const kernels::TileGrid grid = kernels::MakeTileGrid(
      pack.sizes, pack.transpose_inner != 0, pack.transpose_outer != 0);
  const Shape2d shape = {pack.size0, pack.size1};
  const auto resolve = [&](auto* matrix, auto* tiles) {
    return Resolve(pack.matrix, memory, pack.stride0, pack.stride1, bytes,
                   matrix) &&
           Resolve(pack.tiles, memory, pack.tile_stride0, pack.tile_stride1,
                   bytes, tiles);
  };
  if (is_unpack) {
    Operand2d<uint32_t> matrix;
    Operand2d<const uint32_t> tiles;
    if (!resolve(&matrix, &tiles)) return TAKT_NPU_RESULT_INVALID;
    if (pack.sizes[0] == 0 || pack.sizes[1] == 0) return TAKT_NPU_RESULT_OK;
    if (shape.size0 == 0 || shape.size1 == 0) return TAKT_NPU_RESULT_OK;
    kernels::Unpack(tiles, grid, matrix, shape);
    return TAKT_NPU_RESULT_OK;
  }
  Operand2d<const uint8_t> matrix;
  Operand2d<uint8_t> tiles;
  if (!resolve(&matrix, &tiles)) return TAKT_NPU_RESULT_INVALID;
  if (pack.sizes[0] == 0 || pack.sizes[1] == 0) return TAKT_NPU_RESULT_OK;
  kernels::Pack(bytes, matrix, shape, tiles, grid, pack.padding);
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t Fill(const takt_npu_fill_t& fill,
                       const AddressSpace& memory) {
  Operand2d<uint32_t> out;
  if (!Resolve(fill.out, memory, fill.stride0, fill.stride1, sizeof(uint32_t),
               &out)) {
    return TAKT_NPU_RESULT_INVALID;
  }
  if (fill.size0 > 0 && fill.size1 > 0) {
    kernels::Fill2d(fill.pattern, out, {fill.size0, fill.size1});
  }
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t Copy(const takt_npu_copy_t& copy,
                       const AddressSpace& memory) {
  const uint32_t bytes = copy.element_bytes;
  Operand2d<const uint8_t> in;
  Operand2d<uint8_t> out;
  if (!Resolve(copy.in, memory, copy.in_stride0, copy.in_stride1, bytes, &in) ||
      !Resolve(copy.out, memory, copy.out_stride0, copy.out_stride1, bytes,
               &out)) {
    return TAKT_NPU_RESULT_INVALID;
  }
  if (copy.size0 > 0 && copy.size1 > 0) {
    kernels::Copy2d(bytes, in, out, {copy.size0, copy.size1});
  }
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t Transfer(const takt_npu_transfer_t& transfer,
                           const AddressSpace& memory) {
  const uint64_t length = transfer.source.byte_length;
  if (length == 0) return TAKT_NPU_RESULT_OK;
  const uint8_t* const source = memory.Find(transfer.source);
  uint8_t* const target = memory.Find(transfer.target);
  if (source == nullptr || target == nullptr) return TAKT_NPU_RESULT_INVALID;
  std::memmove(target, source, length);
  if (transfer.checksum != nullptr) {
    *transfer.checksum = takt_npu_checksum(target, length);
  }
  return TAKT_NPU_RESULT_OK;
}

// The kernels' name of a type; BytesOf() knows it.
kernels::Mmt4dType KernelType(uint32_t type) {
  switch (type) {
    case TAKT_NPU_TYPE_F32:
      return kernels::Mmt4dType::kF32;
    case TAKT_NPU_TYPE_S8_S8_S32:
      return kernels::Mmt4dType::kS8S8S32;
    case TAKT_NPU_TYPE_F16_F16_F32:
      return kernels::Mmt4dType::kF16F16F32;
    case TAKT_NPU_TYPE_BF16_BF16_F32:
      return kernels::Mmt4dType::kBF16BF16F32;
    case TAKT_NPU_TYPE_S16_S16_S32:
      return kernels::Mmt4dType::kS16S16S32;
    default:
      return kernels::Mmt4dType::kS16S8S32;
  }
}

}  // namespace

Reference::Reference()
    : kernels_(kernels::SelectKernels(
          cpu::UsableInstructionSets(cpu::DetectProcessor()))) {}

uint32_t Reference::kinds() {
  return 1u << TAKT_NPU_KIND_MMT4D | 1u << TAKT_NPU_KIND_PACK |
         1u << TAKT_NPU_KIND_UNPACK | 1u << TAKT_NPU_KIND_FILL |
         1u << TAKT_NPU_KIND_COPY | 1u << TAKT_NPU_KIND_TRANSFER;
}

uint32_t Reference::types() {
  return 1u << TAKT_NPU_TYPE_F32 | 1u << TAKT_NPU_TYPE_S8_S8_S32 |
         1u << TAKT_NPU_TYPE_F16_F16_F32 | 1u << TAKT_NPU_TYPE_BF16_BF16_F32 |
         1u << TAKT_NPU_TYPE_S16_S16_S32 | 1u << TAKT_NPU_TYPE_S16_S8_S32;
}

takt_npu_result_t Reference::Mmt4d(const takt_npu_mmt4d_t& p,
                                   const AddressSpace& memory) const {
  const TypeBytes bytes = BytesOf(p.type);
  Operand2d<const uint8_t> left;
  Operand2d<const uint8_t> right;
  Operand2d<uint8_t> out;
  if (!Resolve(p.left, memory, p.left_stride, 0, bytes.left, &left) ||
      !Resolve(p.right, memory, p.right_stride, 0, bytes.right, &right) ||
      !Resolve(p.out, memory, p.out_stride, 0, bytes.sum, &out)) {
    return TAKT_NPU_RESULT_INVALID;
  }
  if (p.m == 0 || p.n == 0 || p.m0 == 0 || p.n0 == 0) return TAKT_NPU_RESULT_OK;
  kernels::Mmt4dArguments a;
  a.left = left.data;
  a.left_stride = p.left_stride;
  a.right = right.data;
  a.right_stride = p.right_stride;
  a.out = out.data;
  a.out_stride = p.out_stride;
  a.m = p.m;
  a.n = p.n;
  a.k = p.k;
  a.m0 = p.m0;
  a.n0 = p.n0;
  a.k0 = p.k0;
  a.accumulate = p.accumulate != 0;
  kernels_.Mmt4d(KernelType(p.type))(a);
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t Reference::Run(const takt_npu_operation_t& operation,
                                 const AddressSpace& memory) const {
  const absl::Status status = CheckOperands(operation);
  if (!status.ok()) {
    return status.code() == absl::StatusCode::kUnimplemented
               ? TAKT_NPU_RESULT_UNSUPPORTED
               : TAKT_NPU_RESULT_INVALID;
  }
  switch (operation.kind) {
    case TAKT_NPU_KIND_MMT4D:
      return Mmt4d(operation.mmt4d, memory);
    case TAKT_NPU_KIND_PACK:
      return Pack(operation.pack, memory, /*is_unpack=*/false);
    case TAKT_NPU_KIND_UNPACK:
      return Pack(operation.pack, memory, /*is_unpack=*/true);
    case TAKT_NPU_KIND_FILL:
      return Fill(operation.fill, memory);
    case TAKT_NPU_KIND_COPY:
      return Copy(operation.copy, memory);
    case TAKT_NPU_KIND_TRANSFER:
      return Transfer(operation.transfer, memory);
    default:
      return TAKT_NPU_RESULT_UNSUPPORTED;
  }
}

}  // namespace takt::npu
