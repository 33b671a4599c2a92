#include "kernels/blend.h"

#include <algorithm>
#include <cstdint>

namespace takt::kernels {
namespace {

// Blends kLines lines, whose neighbours are the same.
template <int kLines>
void BlendLines(const BlendShape& s, const BlendOperands& o, int64_t line,
                int64_t begin, int64_t end) {
  const float* const from = o.input + line * s.size;
  float* const to = o.output + line * s.count;
  for (int64_t i = begin; i < end; ++i) {
    const float* const a = from + o.first[i];
    const int64_t next = o.first[i] + int64_t{1} < s.size;
    const float after = o.share[i], before = 1.f - after;
    for (int64_t k = 0; k < kLines; ++k) {
      to[k * s.count + i] =
          a[k * s.size] * before + a[k * s.size + next] * after;
    }
  }
}

}  // namespace

void BlendNumbers(const BlendShape& s, const BlendOperands& o, int64_t begin,
                  int64_t end) {
  constexpr int kLines = 4;
  while (begin < end) {
    const int64_t line = begin / s.count, i = begin % s.count;
    if (i == 0 && end - begin >= kLines * s.count) {
      BlendLines<kLines>(s, o, line, 0, s.count);
      begin += kLines * s.count;
      continue;
    }
    const int64_t stop = std::min(s.count, i + end - begin);
    BlendLines<1>(s, o, line, i, stop);
    begin += stop - i;
  }
}

}  // namespace takt::kernels
