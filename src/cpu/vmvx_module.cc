#include "cpu/vmvx_module.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "base/status.h"
#include "cpu/vmvx_operand.h"
#include "kernels/copy.h"
#include "kernels/pack.h"
#include "kernels/tile_sizes.h"
#include "vm/bytecode_version.h"
#include "vm/invocation.h"

namespace takt::cpu {
namespace {

using kernels::BinaryOp;
using kernels::Operand2d;
using kernels::UnaryOp;
using vmvx::ResolveInput;
using vmvx::ResolveOutput;
using vmvx::Sizes;
using vmvx::View;

constexpr uint32_t kTypeMask = 0xff;
constexpr uint32_t kTransposeInner = 0x100;  // For pack and unpack.
constexpr uint32_t kTransposeOuter = 0x200;
constexpr uint32_t kAccumulate = 0x100;  // For mmt4d.
constexpr uint32_t kMmt4dHints = 0x600;  // Permissions that the kernels do not
                                         // need.

// Bytes of an element of pack, or 0.
size_t PackElementBytes(uint32_t type) {
  switch (type) {
    case 1:  // f32
    case 3:  // i32
      return 4;
    case 2:  // i8
      return 1;
    default:
      return 0;
  }
}

absl::Status CheckFlags(uint32_t flags, uint32_t known) {
  if ((flags & ~known) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("flags 0x", absl::Hex(flags),
                                                 ": unknown bits 0x",
                                                 absl::Hex(flags & ~known)));
}

// The elements of a tile. INVALID_ARGUMENT unless each size is below 2^31.
absl::Status TileElements(int64_t size0, int64_t size1, uint64_t* elements) {
  TAKT_RETURN_IF_ERROR(vmvx::CheckSize(size0));
  TAKT_RETURN_IF_ERROR(vmvx::CheckSize(size1));
  *elements = static_cast<uint64_t>(size0) * static_cast<uint64_t>(size1);
  return absl::OkStatus();
}

// `tiles` tiles one after the other. OUT_OF_RANGE where that overflows: no
// buffer holds as many.
absl::Status PanelElements(int64_t tiles, uint64_t tile_elements,
                           uint64_t* elements) {
  TAKT_RETURN_IF_ERROR(vmvx::CheckSize(tiles));
  if (CheckedMul(static_cast<uint64_t>(tiles), tile_elements, elements)) {
    return absl::OkStatus();
  }
  return absl::OutOfRangeError(
      absl::StrCat(tiles, " tiles of ", tile_elements, " elements"));
}

// The operand of pack and unpack that is in tiles.
struct TiledSide {
  kernels::TileGrid grid;
  uint64_t tile_elements = 0;
};

// `sizes`: tiles in each dimension, then elements of a tile in each.
absl::StatusOr<TiledSide> ResolveTiledSide(const int64_t (&sizes)[4],
                                           uint32_t flags) {
  TAKT_RETURN_IF_ERROR(
      CheckFlags(flags, kTypeMask | kTransposeInner | kTransposeOuter));
  TiledSide side;
  TAKT_RETURN_IF_ERROR(TileElements(sizes[2], sizes[3], &side.tile_elements));
  side.grid = kernels::MakeTileGrid(sizes, (flags & kTransposeInner) != 0,
                                    (flags & kTransposeOuter) != 0);
  return side;
}

// Charges the call for what it writes; fails if it must stop.
absl::Status Charge(vm::NativeCall& call, Sizes sizes, uint64_t element_bytes) {
  uint64_t bytes = 0;
  if (!CheckedMul(static_cast<uint64_t>(sizes.size0) *
                      static_cast<uint64_t>(sizes.size1),
                  element_bytes, &bytes)) {
    bytes = UINT64_MAX;
  }
  return call.invocation().Charge(bytes);
}

// Runs a product in slices of at most some 10 ms, each charged for its
// multiplications, so that the call can be stopped between them.
absl::Status RunInSlices(vm::NativeCall& call, kernels::Mmt4dKernel kernel,
                         size_t operand_bytes,
                         const kernels::Mmt4dArguments& all) {
  constexpr int64_t kSliceMacs = int64_t{1} << 26;
  const int64_t left_tile = all.m0 * all.k0;
  const int64_t right_tile = all.n0 * all.k0;
  int64_t tile_macs = 0;
  if (!CheckedMul(left_tile, all.n0, &tile_macs) || tile_macs > kSliceMacs) {
    return absl::UnimplementedError(
        absl::StrCat("tiles of ", all.m0, "x", all.n0, "x", all.k0,
                     ": at most ", kSliceMacs, " products in a tile"));
  }
  // As many tiles as fit, of a panel first, then panels of each side.
  const int64_t tiles = std::max<int64_t>(kSliceMacs / tile_macs, 1);
  const int64_t k_step = std::clamp<int64_t>(all.k, 1, tiles);
  const int64_t n_step = std::clamp<int64_t>(tiles / k_step, 1, all.n);
  const int64_t m_step = std::clamp<int64_t>(tiles / k_step / n_step, 1, all.m);
  const auto at = [](const void* data, int64_t elements, size_t bytes) {
    return static_cast<const uint8_t*>(data) +
           elements * static_cast<int64_t>(bytes);
  };
  for (int64_t m = 0; m < all.m; m += m_step) {
    for (int64_t n = 0; n < all.n; n += n_step) {
      int64_t k = 0;
      do {  // Once also without tiles, to store zeros.
        kernels::Mmt4dArguments slice = all;
        slice.m = std::min(m_step, all.m - m);
        slice.n = std::min(n_step, all.n - n);
        slice.k = std::min(k_step, all.k - k);
        slice.left =
            at(all.left, m * all.left_stride + k * left_tile, operand_bytes);
        slice.right =
            at(all.right, n * all.right_stride + k * right_tile, operand_bytes);
        slice.out = const_cast<uint8_t*>(
            at(all.out, m * all.out_stride + n * all.m0 * all.n0,
               sizeof(uint32_t)));
        slice.accumulate = all.accumulate || k > 0;
        TAKT_RETURN_IF_ERROR(call.invocation().Charge(
            static_cast<uint64_t>(slice.m * slice.n * slice.k * tile_macs)));
        kernel(slice);
        k += k_step;
      } while (k < all.k);
    }
  }
  return absl::OkStatus();
}

absl::Status UnknownElementType(uint32_t flags, const char* known) {
  return absl::UnimplementedError(absl::StrCat(
      "element type ", flags & kTypeMask, "; there are kernels for ", known));
}

class VmvxState final : public vm::ModuleState {
 public:
  VmvxState(const kernels::KernelTable& kernels,
            std::shared_ptr<VmvxOffload> offload)
      : kernels_(kernels), offload_(std::move(offload)) {}

  template <BinaryOp kOp>
  absl::Status Binary(vm::NativeCall& call, vm::ByteBuffer& lhs,
                      int64_t lhs_offset, int64_t lhs_stride0,
                      int64_t lhs_stride1, vm::ByteBuffer& rhs,
                      int64_t rhs_offset, int64_t rhs_stride0,
                      int64_t rhs_stride1, vm::ByteBuffer& out,
                      int64_t out_offset, int64_t out_stride0,
                      int64_t out_stride1, int64_t size0, int64_t size1) {
    return RunBinary(call, kernels_.binary(kOp),
                     {"lhs", lhs, lhs_offset, lhs_stride0, lhs_stride1},
                     {"rhs", rhs, rhs_offset, rhs_stride0, rhs_stride1},
                     {"out", out, out_offset, out_stride0, out_stride1},
                     {size0, size1});
  }

  template <UnaryOp kOp>
  absl::Status Unary(vm::NativeCall& call, vm::ByteBuffer& in,
                     int64_t in_offset, int64_t in_stride0, int64_t in_stride1,
                     vm::ByteBuffer& out, int64_t out_offset,
                     int64_t out_stride0, int64_t out_stride1, int64_t size0,
                     int64_t size1) {
    return RunUnary(call, kernels_.unary(kOp),
                    {"in", in, in_offset, in_stride0, in_stride1},
                    {"out", out, out_offset, out_stride0, out_stride1},
                    {size0, size1});
  }

  template <size_t kElementBytes>
  absl::Status Copy(vm::NativeCall& call, vm::ByteBuffer& in, int64_t in_offset,
                    int64_t in_stride0, int64_t in_stride1, vm::ByteBuffer& out,
                    int64_t out_offset, int64_t out_stride0,
                    int64_t out_stride1, int64_t size0, int64_t size1) {
    return RunCopy(
        call, kElementBytes, {"in", in, in_offset, in_stride0, in_stride1},
        {"out", out, out_offset, out_stride0, out_stride1}, {size0, size1});
  }

  absl::Status Fill(vm::NativeCall& call, uint32_t value, vm::ByteBuffer& out,
                    int64_t out_offset, int64_t out_stride0, int64_t size0,
                    int64_t size1);
  absl::Status Mmt4d(vm::NativeCall& call, vm::ByteBuffer& lhs,
                     int64_t lhs_offset, int64_t lhs_stride,
                     vm::ByteBuffer& rhs, int64_t rhs_offset,
                     int64_t rhs_stride, vm::ByteBuffer& out,
                     int64_t out_offset, int64_t out_stride, int64_t m,
                     int64_t n, int64_t k, int32_t m0, int32_t n0, int32_t k0,
                     uint32_t flags);
  absl::Status Pack(vm::NativeCall& call, vm::ByteBuffer& in, int64_t in_offset,
                    int64_t in_stride0, int64_t in_stride1, vm::ByteBuffer& out,
                    int64_t out_offset, int64_t out_stride0,
                    int64_t out_stride1, int64_t in_size0, int64_t in_size1,
                    int64_t out_size0, int64_t out_size1, int64_t out_size2,
                    int64_t out_size3, uint64_t padding, uint32_t flags);
  absl::Status Unpack(vm::NativeCall& call, vm::ByteBuffer& in,
                      int64_t in_offset, int64_t in_stride0, int64_t in_stride1,
                      vm::ByteBuffer& out, int64_t out_offset,
                      int64_t out_stride0, int64_t out_stride1,
                      int64_t in_size0, int64_t in_size1, int64_t in_size2,
                      int64_t in_size3, int64_t out_size0, int64_t out_size1,
                      uint32_t flags);
  absl::StatusOr<std::tuple<int64_t, int64_t>> QueryTileSizes(int64_t size0,
                                                              int64_t size1,
                                                              uint32_t flags);

 private:
  static absl::Status RunBinary(vm::NativeCall& call,
                                kernels::BinaryKernel kernel, const View& lhs,
                                const View& rhs, const View& out, Sizes sizes);
  static absl::Status RunUnary(vm::NativeCall& call,
                               kernels::UnaryKernel kernel, const View& in,
                               const View& out, Sizes sizes);
  absl::Status RunCopy(vm::NativeCall& call, size_t element_bytes,
                       const View& in, const View& out, Sizes sizes);
  struct Mmt4dSizes {
    int64_t m, n, k;
    int64_t m0, n0, k0;
  };
  absl::Status RunMmt4d(vm::NativeCall& call, const View& lhs, const View& rhs,
                        const View& out, const Mmt4dSizes& sizes,
                        uint32_t flags);
  // Checks operands and sizes; the data of all operands is known then.
  static absl::StatusOr<kernels::Mmt4dArguments> ResolveMmt4d(
      const View& lhs, const View& rhs, const View& out,
      const Mmt4dSizes& sizes, size_t operand_bytes);
  // False: the kernels are to run the operation.
  template <typename Offer>
  absl::StatusOr<bool> IsOffloaded(Offer offer) {
    if (offload_ == nullptr) return false;
    return offer(*offload_);
  }

  const kernels::KernelTable kernels_;
  const std::shared_ptr<VmvxOffload> offload_;  // May be null.
};

absl::Status VmvxState::RunBinary(vm::NativeCall& call,
                                  kernels::BinaryKernel kernel, const View& lhs,
                                  const View& rhs, const View& out,
                                  Sizes sizes) {
  Operand2d<const uint32_t> a;
  Operand2d<const uint32_t> b;
  Operand2d<uint32_t> target;
  TAKT_RETURN_IF_ERROR(ResolveInput(lhs, sizes, 1, 4, &a));
  TAKT_RETURN_IF_ERROR(ResolveInput(rhs, sizes, 1, 4, &b));
  TAKT_RETURN_IF_ERROR(ResolveOutput(out, sizes, 1, 4, &target));
  if (vmvx::IsEmpty(sizes)) return absl::OkStatus();
  TAKT_RETURN_IF_ERROR(Charge(call, sizes, sizeof(uint32_t)));
  kernel(a, b, target, {sizes.size0, sizes.size1});
  return absl::OkStatus();
}

absl::Status VmvxState::RunUnary(vm::NativeCall& call,
                                 kernels::UnaryKernel kernel, const View& in,
                                 const View& out, Sizes sizes) {
  Operand2d<const uint32_t> source;
  Operand2d<uint32_t> target;
  TAKT_RETURN_IF_ERROR(ResolveInput(in, sizes, 1, 4, &source));
  TAKT_RETURN_IF_ERROR(ResolveOutput(out, sizes, 1, 4, &target));
  if (vmvx::IsEmpty(sizes)) return absl::OkStatus();
  TAKT_RETURN_IF_ERROR(Charge(call, sizes, sizeof(uint32_t)));
  kernel(source, target, {sizes.size0, sizes.size1});
  return absl::OkStatus();
}

absl::Status VmvxState::RunCopy(vm::NativeCall& call, size_t element_bytes,
                                const View& in, const View& out, Sizes sizes) {
  Operand2d<const uint8_t> source;
  Operand2d<uint8_t> target;
  TAKT_RETURN_IF_ERROR(ResolveInput(in, sizes, 1, element_bytes, &source));
  TAKT_RETURN_IF_ERROR(ResolveOutput(out, sizes, 1, element_bytes, &target));
  if (vmvx::IsEmpty(sizes)) return absl::OkStatus();
  TAKT_RETURN_IF_ERROR(Charge(call, sizes, element_bytes));
  TAKT_ASSIGN_OR_RETURN(const bool is_done, IsOffloaded([&](VmvxOffload& to) {
                          return to.Copy(element_bytes, source, target,
                                         {sizes.size0, sizes.size1});
                        }));
  if (is_done) return absl::OkStatus();
  kernels::Copy2d(element_bytes, source, target, {sizes.size0, sizes.size1});
  return absl::OkStatus();
}

absl::Status VmvxState::Fill(vm::NativeCall& call, uint32_t value,
                             vm::ByteBuffer& out, int64_t out_offset,
                             int64_t out_stride0, int64_t size0,
                             int64_t size1) {
  Operand2d<uint32_t> target;
  TAKT_RETURN_IF_ERROR(ResolveOutput({"out", out, out_offset, out_stride0, 1},
                                     {size0, size1}, 1, sizeof(uint32_t),
                                     &target));
  if (vmvx::IsEmpty({size0, size1})) return absl::OkStatus();
  TAKT_RETURN_IF_ERROR(Charge(call, {size0, size1}, sizeof(uint32_t)));
  TAKT_ASSIGN_OR_RETURN(const bool is_done, IsOffloaded([&](VmvxOffload& to) {
                          return to.Fill(value, target, {size0, size1});
                        }));
  if (is_done) return absl::OkStatus();
  kernels::Fill2d(value, target, {size0, size1});
  return absl::OkStatus();
}

absl::Status VmvxState::Mmt4d(vm::NativeCall& call, vm::ByteBuffer& lhs,
                              int64_t lhs_offset, int64_t lhs_stride,
                              vm::ByteBuffer& rhs, int64_t rhs_offset,
                              int64_t rhs_stride, vm::ByteBuffer& out,
                              int64_t out_offset, int64_t out_stride, int64_t m,
                              int64_t n, int64_t k, int32_t m0, int32_t n0,
                              int32_t k0, uint32_t flags) {
  return RunMmt4d(call, {"lhs", lhs, lhs_offset, lhs_stride, 0},
                  {"rhs", rhs, rhs_offset, rhs_stride, 0},
                  {"out", out, out_offset, out_stride, 0},
                  {m, n, k, m0, n0, k0}, flags);
}

absl::Status VmvxState::RunMmt4d(vm::NativeCall& call, const View& lhs,
                                 const View& rhs, const View& out,
                                 const Mmt4dSizes& sizes, uint32_t flags) {
  kernels::Mmt4dType type;
  size_t operand_bytes = 0;
  switch (flags & kTypeMask) {
    case 1:
      type = kernels::Mmt4dType::kF32;
      operand_bytes = sizeof(float);
      break;
    case 2:
      type = kernels::Mmt4dType::kS8S8S32;
      operand_bytes = sizeof(int8_t);
      break;
    default:
      return absl::UnimplementedError(
          absl::StrCat("operand types ", flags & kTypeMask,
                       "; there are kernels for 1 (f32) and 2 (s8 s8 s32)"));
  }
  TAKT_RETURN_IF_ERROR(
      CheckFlags(flags, kTypeMask | kAccumulate | kMmt4dHints));
  TAKT_ASSIGN_OR_RETURN(kernels::Mmt4dArguments arguments,
                        ResolveMmt4d(lhs, rhs, out, sizes, operand_bytes));
  if (vmvx::IsEmpty({sizes.m, sizes.n})) return absl::OkStatus();
  arguments.accumulate = (flags & kAccumulate) != 0;
  TAKT_ASSIGN_OR_RETURN(const bool is_done, IsOffloaded([&](VmvxOffload& to) {
                          return to.Mmt4d(type, arguments);
                        }));
  if (is_done) return absl::OkStatus();
  return RunInSlices(call, kernels_.Mmt4d(type), operand_bytes, arguments);
}

absl::StatusOr<kernels::Mmt4dArguments> VmvxState::ResolveMmt4d(
    const View& lhs, const View& rhs, const View& out, const Mmt4dSizes& sizes,
    size_t operand_bytes) {
  if (sizes.m0 <= 0 || sizes.n0 <= 0 || sizes.k0 <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("tiles of ", sizes.m0, "x", sizes.n0, "x", sizes.k0));
  }
  uint64_t lhs_tile = 0;
  uint64_t rhs_tile = 0;
  uint64_t out_tile = 0;
  TAKT_RETURN_IF_ERROR(TileElements(sizes.m0, sizes.k0, &lhs_tile));
  TAKT_RETURN_IF_ERROR(TileElements(sizes.n0, sizes.k0, &rhs_tile));
  TAKT_RETURN_IF_ERROR(TileElements(sizes.m0, sizes.n0, &out_tile));
  uint64_t lhs_panel = 0;
  uint64_t rhs_panel = 0;
  uint64_t out_panel = 0;
  TAKT_RETURN_IF_ERROR(PanelElements(sizes.k, lhs_tile, &lhs_panel));
  TAKT_RETURN_IF_ERROR(PanelElements(sizes.k, rhs_tile, &rhs_panel));
  TAKT_RETURN_IF_ERROR(PanelElements(sizes.n, out_tile, &out_panel));

  Operand2d<const uint8_t> left;
  Operand2d<const uint8_t> right;
  Operand2d<uint8_t> target;
  TAKT_RETURN_IF_ERROR(
      ResolveInput(lhs, {sizes.m, 1}, lhs_panel, operand_bytes, &left));
  TAKT_RETURN_IF_ERROR(
      ResolveInput(rhs, {sizes.n, 1}, rhs_panel, operand_bytes, &right));
  TAKT_RETURN_IF_ERROR(
      ResolveOutput(out, {sizes.m, 1}, out_panel, sizeof(uint32_t), &target));
  kernels::Mmt4dArguments arguments;
  arguments.left = left.data;
  arguments.left_stride = lhs.stride0;
  arguments.right = right.data;
  arguments.right_stride = rhs.stride0;
  arguments.out = target.data;
  arguments.out_stride = out.stride0;
  arguments.m = sizes.m;
  arguments.n = sizes.n;
  arguments.k = sizes.k;
  arguments.m0 = sizes.m0;
  arguments.n0 = sizes.n0;
  arguments.k0 = sizes.k0;
  return arguments;
}

absl::Status VmvxState::Pack(
    vm::NativeCall& call, vm::ByteBuffer& in, int64_t in_offset,
    int64_t in_stride0, int64_t in_stride1, vm::ByteBuffer& out,
    int64_t out_offset, int64_t out_stride0, int64_t out_stride1,
    int64_t in_size0, int64_t in_size1, int64_t out_size0, int64_t out_size1,
    int64_t out_size2, int64_t out_size3, uint64_t padding, uint32_t flags) {
  const size_t element_bytes = PackElementBytes(flags & kTypeMask);
  if (element_bytes == 0) {
    return UnknownElementType(flags, "1 (f32), 2 (i8) and 3 (i32)");
  }
  const int64_t sizes[4] = {out_size0, out_size1, out_size2, out_size3};
  TAKT_ASSIGN_OR_RETURN(const TiledSide tiled, ResolveTiledSide(sizes, flags));
  Operand2d<const uint8_t> source;
  Operand2d<uint8_t> target;
  TAKT_RETURN_IF_ERROR(
      ResolveInput({"in", in, in_offset, in_stride0, in_stride1},
                   {in_size0, in_size1}, 1, element_bytes, &source));
  TAKT_RETURN_IF_ERROR(ResolveOutput(
      {"out", out, out_offset, out_stride0, out_stride1},
      {out_size0, out_size1}, tiled.tile_elements, element_bytes, &target));
  if (vmvx::IsEmpty({out_size0, out_size1})) return absl::OkStatus();
  TAKT_RETURN_IF_ERROR(Charge(call, {out_size0, out_size1},
                              tiled.tile_elements * element_bytes));
  TAKT_ASSIGN_OR_RETURN(const bool is_done, IsOffloaded([&](VmvxOffload& to) {
                          return to.Pack(element_bytes, source,
                                         {in_size0, in_size1}, target,
                                         tiled.grid, padding);
                        }));
  if (is_done) return absl::OkStatus();
  kernels::Pack(element_bytes, source, {in_size0, in_size1}, target, tiled.grid,
                padding);
  return absl::OkStatus();
}

absl::Status VmvxState::Unpack(vm::NativeCall& call, vm::ByteBuffer& in,
                               int64_t in_offset, int64_t in_stride0,
                               int64_t in_stride1, vm::ByteBuffer& out,
                               int64_t out_offset, int64_t out_stride0,
                               int64_t out_stride1, int64_t in_size0,
                               int64_t in_size1, int64_t in_size2,
                               int64_t in_size3, int64_t out_size0,
                               int64_t out_size1, uint32_t flags) {
  if (PackElementBytes(flags & kTypeMask) != sizeof(uint32_t)) {
    return UnknownElementType(flags, "1 (f32) and 3 (i32)");
  }
  const int64_t sizes[4] = {in_size0, in_size1, in_size2, in_size3};
  TAKT_ASSIGN_OR_RETURN(const TiledSide tiled, ResolveTiledSide(sizes, flags));
  Operand2d<const uint32_t> source;
  Operand2d<uint32_t> target;
  TAKT_RETURN_IF_ERROR(ResolveInput(
      {"in", in, in_offset, in_stride0, in_stride1}, {in_size0, in_size1},
      tiled.tile_elements, sizeof(uint32_t), &source));
  TAKT_RETURN_IF_ERROR(
      ResolveOutput({"out", out, out_offset, out_stride0, out_stride1},
                    {out_size0, out_size1}, 1, sizeof(uint32_t), &target));
  if (vmvx::IsEmpty({out_size0, out_size1})) return absl::OkStatus();
  TAKT_RETURN_IF_ERROR(Charge(call, {out_size0, out_size1}, sizeof(uint32_t)));
  TAKT_ASSIGN_OR_RETURN(
      const bool is_done, IsOffloaded([&](VmvxOffload& to) {
        return to.Unpack(source, tiled.grid, target, {out_size0, out_size1});
      }));
  if (is_done) return absl::OkStatus();
  kernels::Unpack(source, tiled.grid, target, {out_size0, out_size1});
  return absl::OkStatus();
}

absl::StatusOr<std::tuple<int64_t, int64_t>> VmvxState::QueryTileSizes(
    int64_t size0, int64_t size1, uint32_t flags) {
  TAKT_ASSIGN_OR_RETURN(const kernels::TileSizes sizes,
                        kernels::QueryTileSizes(flags));
  return std::make_tuple(sizes.tile0, sizes.tile1);
}

void ExportElementwise(vm::NativeModule::Builder& builder) {
  using S = VmvxState;
  using B = BinaryOp;
  using U = UnaryOp;
  builder.Export<&S::Binary<B::kAddF32>>("add.2d.f32");
  builder.Export<&S::Binary<B::kSubF32>>("sub.2d.f32");
  builder.Export<&S::Binary<B::kMulF32>>("mul.2d.f32");
  builder.Export<&S::Binary<B::kDivF32>>("div.2d.f32");
  builder.Export<&S::Binary<B::kAddI32>>("add.2d.i32");
  builder.Export<&S::Binary<B::kSubI32>>("sub.2d.i32");
  builder.Export<&S::Binary<B::kMulI32>>("mul.2d.i32");
  builder.Export<&S::Binary<B::kDivSignedI32>>("divs.2d.i32");
  builder.Export<&S::Binary<B::kDivUnsignedI32>>("divu.2d.i32");
  builder.Export<&S::Binary<B::kAndI32>>("and.2d.i32");
  builder.Export<&S::Binary<B::kOrI32>>("or.2d.i32");
  builder.Export<&S::Binary<B::kXorI32>>("xor.2d.i32");
  builder.Export<&S::Binary<B::kShiftLeftI32>>("shl.2d.i32");
  builder.Export<&S::Binary<B::kShiftRightSignedI32>>("shrs.2d.i32");
  builder.Export<&S::Binary<B::kShiftRightUnsignedI32>>("shru.2d.i32");
  builder.Export<&S::Unary<U::kAbsF32>>("abs.2d.f32");
  builder.Export<&S::Unary<U::kCeilF32>>("ceil.2d.f32");
  builder.Export<&S::Unary<U::kExpF32>>("exp.2d.f32");
  builder.Export<&S::Unary<U::kFloorF32>>("floor.2d.f32");
  builder.Export<&S::Unary<U::kLogF32>>("log.2d.f32");
  builder.Export<&S::Unary<U::kNegF32>>("neg.2d.f32");
  builder.Export<&S::Unary<U::kRsqrtF32>>("rsqrt.2d.f32");
  builder.Export<&S::Unary<U::kCountLeadingZerosI32>>("ctlz.2d.i32");
}

}  // namespace

absl::StatusOr<Ref<vm::NativeModule>> CreateVmvxModule(
    const kernels::KernelTable& kernels, std::shared_ptr<VmvxOffload> offload) {
  using S = VmvxState;
  vm::NativeModule::Builder builder("vmvx", /*version=*/0);
  builder.SetCompilers(vm::kSupportedCompilers);
  builder.SetStateFactory(
      [kernels, offload = std::move(offload)]()
          -> absl::StatusOr<std::unique_ptr<vm::ModuleState>> {
        return std::make_unique<VmvxState>(kernels, offload);
      });
  ExportElementwise(builder);
  builder.Export<&S::Copy<1>>("copy.2d.x8");
  builder.Export<&S::Copy<2>>("copy.2d.x16");
  builder.Export<&S::Copy<4>>("copy.2d.x32");
  builder.Export<&S::Copy<8>>("copy.2d.x64");
  builder.Export<&S::Fill>("fill.2d.x32");
  builder.Export<&S::Mmt4d>("mmt4d");
  builder.Export<&S::Pack>("pack");
  builder.Export<&S::Unpack>("unpack");
  builder.Export<&S::QueryTileSizes>("query_tile_sizes.2d");
  return std::move(builder).Build();
}

}  // namespace takt::cpu
