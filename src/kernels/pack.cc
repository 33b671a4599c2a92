#include "kernels/pack.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/unaligned.h"

namespace takt::kernels {
namespace {

typedef uint8_t Bytes16 __attribute__((vector_size(16)));
typedef uint32_t Words4 __attribute__((vector_size(16)));

// Four rows of four words, from `rows` on, become four columns.
template <typename T>
void LoadTransposed(const T* rows, int64_t stride, Words4 (&columns)[4]) {
  const auto r0 = LoadUnaligned<Words4>(rows);
  const auto r1 = LoadUnaligned<Words4>(rows + stride);
  const auto r2 = LoadUnaligned<Words4>(rows + 2 * stride);
  const auto r3 = LoadUnaligned<Words4>(rows + 3 * stride);
  const Words4 low01 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
  const Words4 low23 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
  const Words4 high01 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  const Words4 high23 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  columns[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  columns[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  columns[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  columns[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

// The operands of one call and the strides of its tiles.
template <typename T>
struct Packing {
  const T* in;
  int64_t in_stride0;
  int64_t in_stride1;
  Shape2d in_shape;
  T* out;
  int64_t step0;  // From tile (a, b) to (a + 1, b).
  int64_t step1;
  TileGrid grid;
  T padding;

  // For a tile that lies within the matrix.
  const T* Source(int64_t a, int64_t b) const {
    return in + a * grid.tile0 * in_stride0 + b * grid.tile1 * in_stride1;
  }
  T* Target(int64_t a, int64_t b) const { return out + a * step0 + b * step1; }
};

// Packs any tile, also at the border, where only elements within the matrix
// have an address.
template <typename T>
void PackTile(const Packing<T>& p, int64_t a, int64_t b) {
  const TileGrid& grid = p.grid;
  T* const target = p.Target(a, b);
  const int64_t first_row = a * grid.tile0;
  const int64_t first_column = b * grid.tile1;
  const int64_t step_i = grid.transpose_inner ? 1 : grid.tile1;
  const int64_t step_j = grid.transpose_inner ? grid.tile0 : 1;
  for (int64_t i = 0; i < grid.tile0; ++i) {
    for (int64_t j = 0; j < grid.tile1; ++j) {
      const int64_t row = first_row + i;
      const int64_t column = first_column + j;
      const bool is_within =
          row < p.in_shape.size0 && column < p.in_shape.size1;
      target[i * step_i + j * step_j] =
          is_within ? p.in[row * p.in_stride0 + column * p.in_stride1]
                    : p.padding;
    }
  }
}

// Packs a run of whole tiles [b, b + count) of tile row a. A call uses one of
// these functions. Each returns the number of tiles it has packed; PackTile
// packs the rest.
template <typename T>
using PackRun = int64_t (*)(const Packing<T>& p, int64_t a, int64_t b,
                            int64_t count);

template <typename T>
int64_t PackNothing(const Packing<T>&, int64_t, int64_t, int64_t) {
  return 0;
}

// Rows of a tile are contiguous in both: kBytes a row.
template <typename T, size_t kBytes>
int64_t PackRows(const Packing<T>& p, int64_t a, int64_t b, int64_t count) {
  constexpr int64_t kColumns = kBytes / sizeof(T);
  for (int64_t i = 0; i < p.grid.tile0; ++i) {
    const T* source = p.Source(a, b) + i * p.in_stride0;
    T* target = p.Target(a, b) + i * kColumns;
    for (int64_t t = 0; t < count; ++t) {
      std::memcpy(target, source, kBytes);
      source += kColumns;
      target += p.step1;
    }
  }
  return count;
}

// The same for rows of a word each, of which a tile has a multiple of four:
// four tiles at a time.
template <typename T>
int64_t PackRowsOfWords(const Packing<T>& p, int64_t a, int64_t b,
                        int64_t count) {
  constexpr int64_t kColumns = sizeof(uint32_t) / sizeof(T);
  for (int64_t t = 0; t + 4 <= count; t += 4) {
    const T* source = p.Source(a, b + t);
    for (int64_t i = 0; i < p.grid.tile0; i += 4, source += 4 * p.in_stride0) {
      Words4 rows[4];  // Of four tiles, four each.
      LoadTransposed(source, p.in_stride0, rows);
      for (int64_t c = 0; c < 4; ++c) {
        std::memcpy(p.Target(a, b + t + c) + i * kColumns, &rows[c],
                    sizeof(rows[c]));
      }
    }
  }
  return count & ~int64_t{3};
}

// 4×8 bytes become [8][4]: two tiles at a time, from 16 columns.
int64_t PackTransposed4x8(const Packing<uint8_t>& p, int64_t a, int64_t b,
                          int64_t count) {
  const uint8_t* source = p.Source(a, b);
  for (int64_t t = 0; t + 2 <= count; t += 2, source += 16) {
    const auto r0 = LoadUnaligned<Bytes16>(source);
    const auto r1 = LoadUnaligned<Bytes16>(source + p.in_stride0);
    const auto r2 = LoadUnaligned<Bytes16>(source + 2 * p.in_stride0);
    const auto r3 = LoadUnaligned<Bytes16>(source + 3 * p.in_stride0);
    // Pairs of rows interleaved by bytes, then by pairs of bytes.
#define TAKT_LOW_BYTES 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define TAKT_HIGH_BYTES \
  8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define TAKT_LOW_PAIRS 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23
#define TAKT_HIGH_PAIRS \
  8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31
    const Bytes16 low01 = __builtin_shufflevector(r0, r1, TAKT_LOW_BYTES);
    const Bytes16 low23 = __builtin_shufflevector(r2, r3, TAKT_LOW_BYTES);
    const Bytes16 high01 = __builtin_shufflevector(r0, r1, TAKT_HIGH_BYTES);
    const Bytes16 high23 = __builtin_shufflevector(r2, r3, TAKT_HIGH_BYTES);
    const Bytes16 tiles[4] = {
        __builtin_shufflevector(low01, low23, TAKT_LOW_PAIRS),
        __builtin_shufflevector(low01, low23, TAKT_HIGH_PAIRS),
        __builtin_shufflevector(high01, high23, TAKT_LOW_PAIRS),
        __builtin_shufflevector(high01, high23, TAKT_HIGH_PAIRS)};
#undef TAKT_LOW_BYTES
#undef TAKT_HIGH_BYTES
#undef TAKT_LOW_PAIRS
#undef TAKT_HIGH_PAIRS
    std::memcpy(p.Target(a, b + t), &tiles[0], 32);
    std::memcpy(p.Target(a, b + t + 1), &tiles[2], 32);
  }
  return count & ~int64_t{1};
}

// 4×8 words become [8][4].
int64_t PackTransposed4x8(const Packing<uint32_t>& p, int64_t a, int64_t b,
                          int64_t count) {
  for (int64_t t = 0; t < count; ++t) {
    const uint32_t* const source = p.Source(a, b + t);
    uint32_t* const target = p.Target(a, b + t);
    for (int64_t half = 0; half < 2; ++half) {
      Words4 columns[4];
      LoadTransposed(source + 4 * half, p.in_stride0, columns);
      std::memcpy(target + 16 * half, columns, sizeof(columns));
    }
  }
  return count;
}

int64_t PackTransposed4x8(const Packing<uint16_t>&, int64_t, int64_t, int64_t) {
  return 0;
}

template <typename T>
PackRun<T> ChoosePackRun(const Packing<T>& p) {
  const TileGrid& grid = p.grid;
  if (p.in_stride1 != 1) return &PackNothing<T>;
  if (grid.transpose_inner) {
    if (grid.tile0 == 4 && grid.tile1 == 8) return &PackTransposed4x8;
    return &PackNothing<T>;
  }
  switch (grid.tile1 * static_cast<int64_t>(sizeof(T))) {
    case 4:
      return grid.tile0 % 4 == 0 ? &PackRowsOfWords<T> : &PackRows<T, 4>;
    case 8:
      return &PackRows<T, 8>;
    case 16:
      return &PackRows<T, 16>;
    case 32:
      return &PackRows<T, 32>;
    default:
      return &PackNothing<T>;
  }
}

template <typename T>
void PackElements(Operand2d<const uint8_t> in, Shape2d in_shape,
                  Operand2d<uint8_t> out, const TileGrid& grid,
                  uint64_t padding) {
  const Packing<T> p = {reinterpret_cast<const T*>(in.data),
                        in.stride0,
                        in.stride1,
                        in_shape,
                        reinterpret_cast<T*>(out.data),
                        grid.transpose_outer ? out.stride1 : out.stride0,
                        grid.transpose_outer ? out.stride0 : out.stride1,
                        grid,
                        static_cast<T>(padding)};
  const PackRun<T> run = ChoosePackRun(p);
  // Tiles that lie wholly within the matrix.
  const int64_t whole0 = std::min(grid.count0, in_shape.size0 / grid.tile0);
  const int64_t whole1 = std::min(grid.count1, in_shape.size1 / grid.tile1);
  // Tiles of a row may lie far from each other. Then a line of the cache is
  // written whole only if there are few of them between it and its next part.
  constexpr int64_t kLineBytes = 64;
  const int64_t tile_bytes = grid.tile1 * static_cast<int64_t>(sizeof(T));
  const int64_t group = p.step1 > p.step0
                            ? std::max<int64_t>(kLineBytes / tile_bytes, 1)
                            : grid.count1;
  for (int64_t first = 0; first < grid.count1; first += group) {
    const int64_t end = std::min(first + group, grid.count1);
    const int64_t whole_count = std::min(end, whole1) - first;
    for (int64_t a = 0; a < grid.count0; ++a) {
      int64_t b = first;
      if (a < whole0 && whole_count > 0) b += run(p, a, first, whole_count);
      for (; b < end; ++b) PackTile(p, a, b);
    }
  }
}

}  // namespace

TileGrid MakeTileGrid(const int64_t (&sizes)[4], bool transpose_inner,
                      bool transpose_outer) {
  TileGrid grid;
  grid.count0 = sizes[transpose_outer ? 1 : 0];
  grid.count1 = sizes[transpose_outer ? 0 : 1];
  grid.tile0 = sizes[transpose_inner ? 3 : 2];
  grid.tile1 = sizes[transpose_inner ? 2 : 3];
  grid.transpose_inner = transpose_inner;
  grid.transpose_outer = transpose_outer;
  return grid;
}

void Pack(size_t element_bytes, Operand2d<const uint8_t> in, Shape2d in_shape,
          Operand2d<uint8_t> out, const TileGrid& grid, uint64_t padding) {
  if (grid.tile0 == 0 || grid.tile1 == 0) return;
  switch (element_bytes) {
    case 1:
      return PackElements<uint8_t>(in, in_shape, out, grid, padding);
    case 2:
      return PackElements<uint16_t>(in, in_shape, out, grid, padding);
    case 4:
      return PackElements<uint32_t>(in, in_shape, out, grid, padding);
  }
  TAKT_CHECK(false);
}

void Unpack(Operand2d<const uint32_t> in, const TileGrid& grid,
            Operand2d<uint32_t> out, Shape2d out_shape) {
  if (grid.tile0 == 0 || grid.tile1 == 0) return;
  const int64_t step0 = grid.transpose_outer ? in.stride1 : in.stride0;
  const int64_t step1 = grid.transpose_outer ? in.stride0 : in.stride1;
  const int64_t step_i = grid.transpose_inner ? 1 : grid.tile1;
  const int64_t step_j = grid.transpose_inner ? grid.tile0 : 1;
  const bool rows_of_8 = grid.tile1 == 8 && step_j == 1 && out.stride1 == 1;
  // Row by row of the output, so that it is written in order.
  const int64_t rows = std::min(out_shape.size0, grid.count0 * grid.tile0);
  const int64_t columns = std::min(out_shape.size1, grid.count1 * grid.tile1);
  for (int64_t row = 0; row < rows; ++row) {
    const uint32_t* source =
        in.data + row / grid.tile0 * step0 + row % grid.tile0 * step_i;
    uint32_t* target = out.data + row * out.stride0;
    int64_t left = columns;
    for (; rows_of_8 && left >= 8; left -= 8) {
      std::memcpy(target, source, 8 * sizeof(uint32_t));
      source += step1;
      target += 8;
    }
    for (; left > 0; left -= grid.tile1) {
      const int64_t count = std::min(left, grid.tile1);
      for (int64_t j = 0; j < count; ++j) {
        target[j * out.stride1] = source[j * step_j];
      }
      source += step1;
      target += grid.tile1 * out.stride1;
    }
  }
}

}  // namespace takt::kernels
