// Packing and unpacking against the definition, element by element, over
// random shapes; and the worked example of the specification.
#include "kernels/pack.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {
namespace {

// Position of element (row, column) in tiles, as the specification has it.
int64_t TileIndex(const TileGrid& grid, int64_t stride0, int64_t stride1,
                  int64_t row, int64_t column) {
  const int64_t a = row / grid.tile0;
  const int64_t b = column / grid.tile1;
  const int64_t i = row % grid.tile0;
  const int64_t j = column % grid.tile1;
  return (grid.transpose_outer ? b * stride0 + a * stride1
                               : a * stride0 + b * stride1) +
         (grid.transpose_inner ? j * grid.tile0 + i : i * grid.tile1 + j);
}

struct Case {
  int64_t sizes[4];
  Shape2d matrix;
  bool transpose_inner;
  bool transpose_outer;
};

// Grids that cover a matrix exactly, or with padding, or with tiles to spare.
Case RandomCase(TestRandom& random) {
  static constexpr int64_t kTiles[] = {1, 2, 4, 8, 16, 3};
  Case c{};
  for (int64_t& size : c.sizes) size = random.Between(1, 4);
  c.sizes[2] = kTiles[random.Between(0, 5)];
  c.sizes[3] = kTiles[random.Between(0, 5)];
  c.transpose_inner = random.Between(0, 1) != 0;
  c.transpose_outer = random.Between(0, 1) != 0;
  if (random.Between(0, 1) != 0) {  // The shapes with fast paths.
    c.sizes[0] = random.Between(1, 9);
    c.sizes[1] = random.Between(1, 9);
    c.sizes[2] = 8;
    c.sizes[3] = 4;
  }
  const TileGrid grid =
      MakeTileGrid(c.sizes, c.transpose_inner, c.transpose_outer);
  const int64_t rows = grid.count0 * grid.tile0;
  const int64_t columns = grid.count1 * grid.tile1;
  c.matrix = {random.Between(0, rows), random.Between(0, columns)};
  if (random.Between(0, 1) != 0) c.matrix = {rows, columns};
  return c;
}

template <typename T>
void CheckPack(TestRandom& random) {
  const Case c = RandomCase(random);
  const TileGrid grid =
      MakeTileGrid(c.sizes, c.transpose_inner, c.transpose_outer);
  const bool is_transposed = random.Between(0, 3) == 0;
  const int64_t in_stride0 = is_transposed ? 1 : c.matrix.size1 + 2;
  const int64_t in_stride1 = is_transposed ? c.matrix.size0 + 1 : 1;
  const int64_t tile = grid.tile0 * grid.tile1;
  const int64_t out_stride1 = tile;
  const int64_t out_stride0 = tile * c.sizes[1] + random.Between(0, 5);
  const auto source = random.Elements<T>(8192);
  const uint64_t padding = random.Word();
  std::vector<T> actual(8192, T{0x5a});
  std::vector<T> expected = actual;
  for (int64_t i = 0; i < grid.count0 * grid.tile0; ++i) {
    for (int64_t j = 0; j < grid.count1 * grid.tile1; ++j) {
      expected[TileIndex(grid, out_stride0, out_stride1, i, j)] =
          i < c.matrix.size0 && j < c.matrix.size1
              ? source[i * in_stride0 + j * in_stride1]
              : static_cast<T>(padding);
    }
  }
  Pack(
      sizeof(T),
      {reinterpret_cast<const uint8_t*>(source.data()), in_stride0, in_stride1},
      c.matrix,
      {reinterpret_cast<uint8_t*>(actual.data()), out_stride0, out_stride1},
      grid, padding);
  ASSERT_EQ(actual, expected)
      << c.sizes[0] << "x" << c.sizes[1] << "x" << c.sizes[2] << "x"
      << c.sizes[3] << " inner " << c.transpose_inner << " outer "
      << c.transpose_outer;
}

TEST(PackTest, PacksBytesByTheDefinition) {
  TestRandom random(4);
  for (int i = 0; i < 2000; ++i) CheckPack<uint8_t>(random);
}

TEST(PackTest, PacksWordsByTheDefinition) {
  TestRandom random(5);
  for (int i = 0; i < 2000; ++i) CheckPack<uint32_t>(random);
}

TEST(PackTest, UnpacksByTheDefinition) {
  TestRandom random(6);
  for (int round = 0; round < 2000; ++round) {
    Case c = RandomCase(random);
    if (random.Between(0, 1) != 0) c.sizes[3] = 8;
    const TileGrid grid =
        MakeTileGrid(c.sizes, c.transpose_inner, c.transpose_outer);
    // The output may reach beyond the tiles.
    c.matrix.size0 += random.Between(0, 1);
    const int64_t tile = grid.tile0 * grid.tile1;
    const int64_t in_stride0 = tile * c.sizes[1] + random.Between(0, 5);
    const int64_t out_stride0 = c.matrix.size1 + 3;
    const auto source = random.Elements<uint32_t>(8192);
    std::vector<uint32_t> actual(8192, 0x5a);
    std::vector<uint32_t> expected = actual;
    for (int64_t i = 0; i < c.matrix.size0; ++i) {
      for (int64_t j = 0; j < c.matrix.size1; ++j) {
        if (i < grid.count0 * grid.tile0 && j < grid.count1 * grid.tile1) {
          expected[i * out_stride0 + j] =
              source[TileIndex(grid, in_stride0, tile, i, j)];
        }
      }
    }
    Unpack({source.data(), in_stride0, tile}, grid,
           {actual.data(), out_stride0, 1}, c.matrix);
    ASSERT_EQ(actual, expected);
  }
}

TEST(PackTest, GridFollowsTheFlags) {
  const int64_t sizes[4] = {6, 16, 8, 4};
  const TileGrid plain = MakeTileGrid(sizes, false, false);
  EXPECT_EQ(plain.count0, 6);
  EXPECT_EQ(plain.count1, 16);
  EXPECT_EQ(plain.tile0, 8);
  EXPECT_EQ(plain.tile1, 4);
  const TileGrid both = MakeTileGrid(sizes, true, true);
  EXPECT_EQ(both.count0, 16);
  EXPECT_EQ(both.count1, 6);
  EXPECT_EQ(both.tile0, 4);
  EXPECT_EQ(both.tile1, 8);
}

TEST(PackTest, TilesWithoutElementsAreSkipped) {
  const int64_t sizes[4] = {3, 3, 0, 4};
  const TileGrid grid = MakeTileGrid(sizes, false, false);
  Pack(4, {nullptr, 0, 1}, {0, 0}, {nullptr, 0, 0}, grid, 0);
  std::vector<uint32_t> out(25, 1);
  Unpack({nullptr, 0, 0}, grid, {out.data(), 5, 1}, {5, 5});
  EXPECT_EQ(out, std::vector<uint32_t>(25, 1));
}

}  // namespace
}  // namespace takt::kernels
