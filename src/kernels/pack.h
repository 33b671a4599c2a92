// Packs a matrix into the tiles that mmt4d works on, and unpacks it.
//
// A matrix I×J is cut into tiles T0×T1; `out` (of pack; `in` of unpack) is
// [O0][O1][O2][O3], tiles contiguous. Tile (a, b), a counting along the first
// dimension of the matrix, starts at
//   a * stride0 + b * stride1, or b * stride0 + a * stride1 (transpose_outer)
// and holds element (i, j) at
//   i * T1 + j,                or j * T0 + i                (transpose_inner).
// Elements beyond the matrix are padding when packed, and dropped when
// unpacked.
#ifndef TAKT_KERNELS_PACK_H_
#define TAKT_KERNELS_PACK_H_

#include <cstddef>
#include <cstdint>

#include "kernels/operand.h"

namespace takt::kernels {

struct TileGrid {
  int64_t count0 = 0;  // Tiles along the matrix's first dimension.
  int64_t count1 = 0;
  int64_t tile0 = 1;  // T0, T1.
  int64_t tile1 = 1;
  bool transpose_inner = false;
  bool transpose_outer = false;
};

// TileGrid of the four sizes as they stand in memory.
TileGrid MakeTileGrid(const int64_t (&sizes)[4], bool transpose_inner,
                      bool transpose_outer);

// Packs elements of 1, 2 or 4 bytes. `out` gives the strides of tiles; all
// tiles of the grid are written. `padding` is the element in the low bytes.
void Pack(size_t element_bytes, Operand2d<const uint8_t> in, Shape2d in_shape,
          Operand2d<uint8_t> out, const TileGrid& grid, uint64_t padding);

// Unpacks 4-byte elements. The output may be larger than the grid; what no
// tile covers is left alone.
void Unpack(Operand2d<const uint32_t> in, const TileGrid& grid,
            Operand2d<uint32_t> out, Shape2d out_shape);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_PACK_H_
