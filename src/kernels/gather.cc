#include "kernels/gather.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace takt::kernels {

void Gather(const GatherShape& s, const GatherOperands& o, int64_t begin,
            int64_t end) {
  const auto* const data = static_cast<const char*>(o.data);
  auto* const output = static_cast<char*>(o.output);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t place = o.places[row % s.count];
    const int64_t from =
        std::clamp<int64_t>(place < 0 ? place + s.size : place, 0, s.size - 1);
    std::memcpy(output + row * s.row_bytes,
                data + (row / s.count * s.size + from) * s.row_bytes,
                static_cast<size_t>(s.row_bytes));
  }
}

}  // namespace takt::kernels
