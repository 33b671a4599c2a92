#include "npu/operation.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "base/status.h"

namespace takt::npu {
namespace {

// Whether a size or stride is in range: products of two such numbers do not
// overflow.
bool IsSize(int64_t value) { return value >= 0 && value <= INT32_MAX; }
bool IsStride(int64_t value) { return value >= 0 && value <= UINT32_MAX; }

// Computes the bytes from the first to the last element; false for an invalid
// layout.
bool BytesUsed(const Layout& layout, uint32_t element_bytes, uint64_t* bytes) {
  *bytes = 0;
  if (!IsSize(layout.size0) || !IsSize(layout.size1) ||
      !IsStride(layout.stride0) || !IsStride(layout.stride1)) {
    return false;
  }
  if (layout.size0 == 0 || layout.size1 == 0 || layout.block == 0) return true;
  // Each is below 2^63.
  const uint64_t last = static_cast<uint64_t>(layout.size0 - 1) *
                            static_cast<uint64_t>(layout.stride0) +
                        static_cast<uint64_t>(layout.size1 - 1) *
                            static_cast<uint64_t>(layout.stride1);
  uint64_t end = 0;
  return CheckedAdd(last, layout.block, &end) &&
         CheckedMul(end, uint64_t{element_bytes}, bytes);
}

enum class Access { kRead, kWrite, kUpdate };

absl::Status Add(const char* name, takt_npu_range_t& range, Access access,
                 const Layout& layout, uint32_t element_bytes,
                 OperandRanges* operands) {
  uint64_t used = 0;
  if (!BytesUsed(layout, element_bytes, &used)) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": ", layout.size0, " x ", layout.size1, " at strides ",
        layout.stride0, " and ", layout.stride1, " is no layout"));
  }
  operands->push_back({name, &range, layout, element_bytes, used,
                       access != Access::kWrite, access != Access::kRead});
  return absl::OkStatus();
}

// size0 * size1 * size2 elements.
absl::Status BlockOf(int64_t size0, int64_t size1, int64_t size2,
                     uint64_t* block) {
  if (IsSize(size0) && IsSize(size1) && IsSize(size2) &&
      CheckedMul(static_cast<uint64_t>(size0) * static_cast<uint64_t>(size1),
                 static_cast<uint64_t>(size2), block)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(size0, " x ", size1, " x ", size2, " elements"));
}

absl::Status Unsupported(absl::string_view what, uint32_t number) {
  return absl::UnimplementedError(absl::StrCat(what, " ", number));
}

absl::Status FindMmt4d(takt_npu_mmt4d_t& p, OperandRanges* operands) {
  const TypeBytes bytes = BytesOf(p.type);
  if (bytes.sum == 0) return Unsupported("products of type", p.type);
  uint64_t left = 0;
  uint64_t right = 0;
  uint64_t out = 0;
  TAKT_RETURN_IF_ERROR(BlockOf(p.k, p.m0, p.k0, &left));
  TAKT_RETURN_IF_ERROR(BlockOf(p.k, p.n0, p.k0, &right));
  TAKT_RETURN_IF_ERROR(BlockOf(p.n, p.m0, p.n0, &out));
  TAKT_RETURN_IF_ERROR(Add("left", p.left, Access::kRead,
                           {p.m, 1, p.left_stride, 0, left}, bytes.left,
                           operands));
  TAKT_RETURN_IF_ERROR(Add("right", p.right, Access::kRead,
                           {p.n, 1, p.right_stride, 0, right}, bytes.right,
                           operands));
  return Add("out", p.out, p.accumulate != 0 ? Access::kUpdate : Access::kWrite,
             {p.m, 1, p.out_stride, 0, out}, bytes.sum, operands);
}

absl::Status FindPack(takt_npu_pack_t& p, bool is_unpack,
                      OperandRanges* operands) {
  const bool is_known =
      p.element_bytes == 4 ||
      (!is_unpack && (p.element_bytes == 1 || p.element_bytes == 2));
  if (!is_known) return Unsupported("tiles of element bytes", p.element_bytes);
  uint64_t tile = 0;
  TAKT_RETURN_IF_ERROR(BlockOf(p.sizes[2], p.sizes[3], 1, &tile));
  TAKT_RETURN_IF_ERROR(Add(
      "matrix", p.matrix, is_unpack ? Access::kWrite : Access::kRead,
      {p.size0, p.size1, p.stride0, p.stride1, 1}, p.element_bytes, operands));
  return Add("tiles", p.tiles, is_unpack ? Access::kRead : Access::kWrite,
             {p.sizes[0], p.sizes[1], p.tile_stride0, p.tile_stride1, tile},
             p.element_bytes, operands);
}

absl::Status FindCopy(takt_npu_copy_t& copy, OperandRanges* operands) {
  const uint32_t bytes = copy.element_bytes;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
    return Unsupported("copies of element bytes", bytes);
  }
  TAKT_RETURN_IF_ERROR(
      Add("in", copy.in, Access::kRead,
          {copy.size0, copy.size1, copy.in_stride0, copy.in_stride1, 1}, bytes,
          operands));
  return Add("out", copy.out, Access::kWrite,
             {copy.size0, copy.size1, copy.out_stride0, copy.out_stride1, 1},
             bytes, operands);
}

absl::Status FindTransfer(takt_npu_transfer_t& transfer,
                          OperandRanges* operands) {
  const uint64_t length = transfer.source.byte_length;
  if (length != transfer.target.byte_length) {
    return absl::InvalidArgumentError(
        absl::StrCat("source and target: ", length, " bytes to ",
                     transfer.target.byte_length));
  }
  const Layout bytes = {1, 1, 0, 0, length};
  operands->push_back(
      {"source", &transfer.source, bytes, 1, length, true, false});
  operands->push_back(
      {"target", &transfer.target, bytes, 1, length, false, true});
  return absl::OkStatus();
}

}  // namespace

TypeBytes BytesOf(uint32_t type) {
  switch (type) {
    case TAKT_NPU_TYPE_F32:
      return {4, 4, 4};
    case TAKT_NPU_TYPE_S8_S8_S32:
      return {1, 1, 4};
    case TAKT_NPU_TYPE_F16_F16_F32:
    case TAKT_NPU_TYPE_BF16_BF16_F32:
    case TAKT_NPU_TYPE_S16_S16_S32:
      return {2, 2, 4};
    case TAKT_NPU_TYPE_S16_S8_S32:
      return {2, 1, 4};
    default:
      return {};
  }
}

takt_npu_operation_t MakeOperation(takt_npu_kind_t kind) {
  takt_npu_operation_t operation;
  std::memset(&operation, 0, sizeof(operation));
  operation.kind = kind;
  return operation;
}

absl::Status FindOperands(takt_npu_operation_t& operation,
                          OperandRanges* operands) {
  switch (operation.kind) {
    case TAKT_NPU_KIND_MMT4D:
      return FindMmt4d(operation.mmt4d, operands);
    case TAKT_NPU_KIND_PACK:
      return FindPack(operation.pack, /*is_unpack=*/false, operands);
    case TAKT_NPU_KIND_UNPACK:
      return FindPack(operation.pack, /*is_unpack=*/true, operands);
    case TAKT_NPU_KIND_FILL: {
      takt_npu_fill_t& fill = operation.fill;
      return Add("out", fill.out, Access::kWrite,
                 {fill.size0, fill.size1, fill.stride0, fill.stride1, 1},
                 sizeof(uint32_t), operands);
    }
    case TAKT_NPU_KIND_COPY:
      return FindCopy(operation.copy, operands);
    case TAKT_NPU_KIND_TRANSFER:
      return FindTransfer(operation.transfer, operands);
    default:
      return Unsupported("operations of kind", operation.kind);
  }
}

absl::Status CheckOperands(const takt_npu_operation_t& operation) {
  takt_npu_operation_t copy = operation;
  OperandRanges operands;
  TAKT_RETURN_IF_ERROR(FindOperands(copy, &operands));
  for (const OperandRange& each : operands) {
    if (each.used_bytes > each.range->byte_length) {
      return absl::InvalidArgumentError(
          absl::StrCat(each.name, ": needs ", each.used_bytes,
                       " bytes, its range has ", each.range->byte_length));
    }
  }
  return absl::OkStatus();
}

}  // namespace takt::npu
