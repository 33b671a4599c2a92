// The tile sizes for which the matrix kernels are fastest. A module whose sizes
// are not known at compile time asks for them before it packs.
#ifndef TAKT_KERNELS_TILE_SIZES_H_
#define TAKT_KERNELS_TILE_SIZES_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace takt::kernels {

struct TileSizes {
  int64_t tile0 = 0;
  int64_t tile1 = 0;
};

// `flags`: the operand in the low byte (1 left, 2 right, 3 result), the
// operation in the next (1 f32; 2 i8·i8→i32). The answer depends on nothing
// else, so it is the same for all operands of one operation. Each size divides
// 16, to which modules pad. Errors: INVALID_ARGUMENT for another operand;
// UNIMPLEMENTED for an operation that mmt4d lacks.
absl::StatusOr<TileSizes> QueryTileSizes(uint32_t flags);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_TILE_SIZES_H_
