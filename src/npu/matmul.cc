#include "npu/matmul.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/math.h"
#include "base/status.h"
#include "npu/operation.h"

namespace takt::npu {
namespace {

// The tile sizes for which the kernels are fastest. Each is changed only as far
// as the unit requires.
constexpr uint32_t kLikedTile[3] = {8, 8, 4};
constexpr uint64_t kAlignment = 64;
constexpr int64_t kSizeMax = INT32_MAX / 2;  // Leaves room for padding.

int64_t TileOf(const takt_npu_capabilities_t& capabilities, int d) {
  const uint32_t multiple = capabilities.tile_multiple[d];
  const uint32_t most = capabilities.tile_max[d] / multiple * multiple;
  const uint32_t liked = (kLikedTile[d] + multiple - 1) / multiple * multiple;
  return std::min(liked, most);
}

int64_t CountOf(int64_t size, int64_t tile) { return (size + tile - 1) / tile; }

// A matrix and its tiles in scratch memory.
struct Tiled {
  uint64_t binding;
  int64_t size0, size1;
  int64_t stride;
  int64_t tile0, tile1;
  uint32_t element_bytes;
  // The tiles of its columns, each transposed, come one after the other.
  bool is_transposed;

  int64_t count0() const { return CountOf(size0, tile0); }
  int64_t count1() const { return CountOf(size1, tile1); }
  // Elements from panel to panel.
  int64_t panel() const {
    return (is_transposed ? count0() : count1()) * tile0 * tile1;
  }

  takt_npu_operation_t Move(takt_npu_kind_t kind, uint64_t tiles_at) const {
    takt_npu_operation_t operation = MakeOperation(kind);
    takt_npu_pack_t& pack = operation.pack;
    pack.matrix.buffer = binding;
    pack.tiles.buffer = kMatmulScratch;
    pack.tiles.offset = tiles_at;
    pack.size0 = size0;
    pack.size1 = size1;
    pack.stride0 = stride;
    pack.stride1 = 1;
    pack.sizes[0] = is_transposed ? count1() : count0();
    pack.sizes[1] = is_transposed ? count0() : count1();
    pack.sizes[2] = is_transposed ? tile1 : tile0;
    pack.sizes[3] = is_transposed ? tile0 : tile1;
    pack.tile_stride0 = panel();
    pack.tile_stride1 = tile0 * tile1;
    pack.element_bytes = element_bytes;
    pack.transpose_inner = is_transposed;
    pack.transpose_outer = is_transposed;
    return operation;
  }
};

absl::Status CheckSizes(const Matmul& matmul) {
  for (const int64_t size : {matmul.m, matmul.n, matmul.k}) {
    if (size < 0 || size > kSizeMax) {
      return absl::InvalidArgumentError(absl::StrCat(
          "matmul of ", matmul.m, " x ", matmul.n, " x ", matmul.k));
    }
  }
  const struct {
    const char* name;
    int64_t stride;
    int64_t row;
  } strides[] = {{"left", matmul.left_stride, matmul.k},
                 {"right", matmul.right_stride,
                  matmul.right_is_transposed ? matmul.k : matmul.n},
                 {"out", matmul.out_stride, matmul.n}};
  for (const auto& each : strides) {
    if (each.stride < each.row || each.stride > UINT32_MAX) {
      return absl::InvalidArgumentError(
          absl::StrCat("matmul: ", each.name, ": rows of ", each.row,
                       " elements at a stride of ", each.stride));
    }
  }
  return absl::OkStatus();
}

// Places the tiles of the three operands in the scratch memory, one after the
// other, and stores their offsets. False if the sizes overflow.
bool PlaceTiles(const Tiled* const (&tiled)[3], const int64_t (&panels)[3],
                uint64_t (&offsets)[3], uint64_t* scratch_bytes) {
  for (int i = 0; i < 3; ++i) {
    uint64_t elements = 0;
    uint64_t tile_bytes = 0;
    offsets[i] = *scratch_bytes;
    if (!CheckedMul(static_cast<uint64_t>(panels[i]),
                    static_cast<uint64_t>(tiled[i]->panel()), &elements) ||
        !CheckedMul(elements, uint64_t{tiled[i]->element_bytes}, &tile_bytes) ||
        tile_bytes > UINT64_MAX / 8) {
      return false;
    }
    *scratch_bytes += AlignUp(tile_bytes, kAlignment);
    TAKT_CHECK(*scratch_bytes >= offsets[i]);
  }
  return true;
}

}  // namespace

absl::StatusOr<MatmulOperations> PlanMatmul(
    const takt_npu_capabilities_t& capabilities, const Matmul& matmul) {
  const TypeBytes bytes = BytesOf(matmul.type);
  if (bytes.sum == 0) {
    return absl::UnimplementedError(
        absl::StrCat("matmul of type ", static_cast<int>(matmul.type)));
  }
  TAKT_RETURN_IF_ERROR(CheckSizes(matmul));
  const int64_t m0 = TileOf(capabilities, 0);
  const int64_t n0 = TileOf(capabilities, 1);
  const int64_t k0 = TileOf(capabilities, 2);
  const Tiled left = {kMatmulLeft, matmul.m, matmul.k,   matmul.left_stride,
                      m0,          k0,       bytes.left, false};
  Tiled right = {kMatmulRight, matmul.k, matmul.n,    matmul.right_stride,
                 k0,           n0,       bytes.right, true};
  if (matmul.right_is_transposed) {
    right = {kMatmulRight, matmul.n, matmul.k,    matmul.right_stride,
             n0,           k0,       bytes.right, false};
  }
  const Tiled out = {kMatmulOut, matmul.m, matmul.n,  matmul.out_stride,
                     m0,         n0,       bytes.sum, false};

  MatmulOperations plan;
  const int64_t panels[3] = {left.count0(), CountOf(matmul.n, n0),
                             out.count0()};
  uint64_t at[3];
  if (!PlaceTiles({&left, &right, &out}, panels, at, &plan.scratch_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("matmul of ", matmul.m, " x ", matmul.n, " x ", matmul.k));
  }
  takt_npu_operation_t product = MakeOperation(TAKT_NPU_KIND_MMT4D);
  takt_npu_mmt4d_t& p = product.mmt4d;
  p.left.buffer = p.right.buffer = p.out.buffer = kMatmulScratch;
  p.left.offset = at[0];
  p.right.offset = at[1];
  p.out.offset = at[2];
  p.left_stride = left.panel();
  p.right_stride = right.panel();
  p.out_stride = out.panel();
  p.m = left.count0();
  p.n = panels[1];
  p.k = CountOf(matmul.k, k0);
  p.m0 = m0;
  p.n0 = n0;
  p.k0 = k0;
  p.type = matmul.type;
  p.accumulate = matmul.accumulate;
  plan.operations.push_back(left.Move(TAKT_NPU_KIND_PACK, at[0]));
  plan.operations.push_back(right.Move(TAKT_NPU_KIND_PACK, at[1]));
  if (matmul.accumulate) {
    plan.operations.push_back(out.Move(TAKT_NPU_KIND_PACK, at[2]));
  }
  plan.operations.push_back(product);
  plan.operations.push_back(out.Move(TAKT_NPU_KIND_UNPACK, at[2]));
  return plan;
}

}  // namespace takt::npu
