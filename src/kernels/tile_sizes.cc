#include "kernels/tile_sizes.h"

#include "absl/strings/str_cat.h"

namespace takt::kernels {

absl::StatusOr<TileSizes> QueryTileSizes(uint32_t flags) {
  // The shape that the compiler itself picks for static sizes, so that one set
  // of fast kernels serves both.
  constexpr int64_t kM0 = 8;
  constexpr int64_t kN0 = 8;
  constexpr int64_t kK0 = 4;
  constexpr uint32_t kF32 = 0x100;
  constexpr uint32_t kS8 = 0x200;
  const uint32_t operation = flags & 0xff00;
  if (operation != kF32 && operation != kS8) {
    return absl::UnimplementedError(
        absl::StrCat("tile sizes of matrix operation ", operation >> 8));
  }
  switch (flags & 0xff) {
    case 1:
      return TileSizes{kM0, kK0};
    case 2:
      return TileSizes{kN0, kK0};
    case 3:
      return TileSizes{kM0, kN0};
  }
  return absl::InvalidArgumentError(
      absl::StrCat("tile sizes of operand ", flags & 0xff,
                   "; expected 1 (left), 2 (right) or 3 (result)"));
}

}  // namespace takt::kernels
