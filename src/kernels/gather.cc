#include "kernels/gather.h"

#include <algorithm>
#include <cstdint>

namespace takt::kernels {

void Gather(const GatherShape& s, const GatherOperands& o, int64_t begin,
            int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const int64_t place = o.places[row % s.count];
    const int64_t from =
        std::clamp<int64_t>(place < 0 ? place + s.size : place, 0, s.size - 1);
    std::copy_n(o.data + (row / s.count * s.size + from) * s.inner, s.inner,
                o.output + row * s.inner);
  }
}

}  // namespace takt::kernels
