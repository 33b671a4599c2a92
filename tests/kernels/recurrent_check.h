// What the tests of recurrent kernels share: a check of tiles.
#ifndef TAKT_TESTS_KERNELS_RECURRENT_CHECK_H_
#define TAKT_TESTS_KERNELS_RECURRENT_CHECK_H_

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/gru.h"
#include "tests/kernels/test_support.h"

namespace takt::kernels {

// Checks every kernel that runs here against p.Expected(), in tiles of `rows`
// rows and `lanes` lanes. `run` computes one of them, with the table of
// kernels, the tile and the output.
template <typename Problem, typename Run>
void CheckTiles(const Problem& p, int64_t rows, int64_t lanes, const Run& run) {
  SCOPED_TRACE(testing::Message()
               << p.s.hidden << " in " << rows << " x " << lanes);
  const std::vector<double> expected = p.Expected();
  for (const KernelTable& kernels : RunnableKernels()) {
    std::vector<float> found(expected.size());
    for (int64_t row = 0; row < p.s.batch; row += rows) {
      for (int64_t part = 0; part * lanes < p.s.hidden; ++part) {
        RecurrentTile tile;
        ASSERT_TRUE(FindRecurrentTile(p.s, lanes, part, row, rows, &tile));
        run(*kernels.f32, tile, found.data());
      }
    }
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(found[i]), expected[i], 2e-5) << i;
    }
  }
}

}  // namespace takt::kernels

#endif  // TAKT_TESTS_KERNELS_RECURRENT_CHECK_H_
