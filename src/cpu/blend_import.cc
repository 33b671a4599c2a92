#include "cpu/blend_import.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/blend.h"
#include "kernels/conv2d.h"

namespace takt::cpu {
namespace {

struct BlendParameters {
  BufferParameter<const float> input;    // [outer][size][inner]
  BufferParameter<const int32_t> first;  // [count]
  BufferParameter<const float> share;    // [count]
  BufferParameter<float> output;         // [outer][count][inner]
  int32_t outer, size, count, inner;
  RowTileParameters tile;  // Its rows are results, of outer * count.
};
static_assert(offsetof(BlendParameters, tile) == 112);

// Whether the first neighbours of these results are there.
bool AreInside(const BlendParameters& p, int64_t begin, int64_t end) {
  const int64_t different = std::min<int64_t>(end - begin, p.count);
  for (int64_t i = 0; i < different; ++i) {
    const int32_t first = p.first.data()[(begin + i) % p.count];
    if (first < 0 || first >= p.size) return false;
  }
  return true;
}

}  // namespace

int BlendImport(void* parameters, void* context, void*) {
  const auto& p = *static_cast<const BlendParameters*>(parameters);
  // In this order, no product overflows.
  if (p.outer < 0 || p.size < 1 || p.count < 1 || p.inner < 1 ||
      p.input.size / p.inner / p.size < p.outer ||
      p.output.size / p.inner / p.count < p.outer || p.first.size < p.count ||
      p.share.size < p.count) {
    return kImportInvalid;
  }
  int64_t begin, end;
  if (!FindRange(p.tile.first_row, p.tile.row_count, int64_t{p.outer} * p.count,
                 &begin, &end) ||
      !AreInside(p, begin, end)) {
    return kImportInvalid;
  }
  const kernels::BlendKernel blend =
      p.inner == 1 ? kernels::BlendNumbers
                   : static_cast<const kernels::F32Kernels*>(context)->blend;
  blend({p.size, p.count, p.inner},
        {p.input.data(), p.first.data(), p.share.data(), p.output.data()},
        begin, end);
  return 0;
}

}  // namespace takt::cpu
