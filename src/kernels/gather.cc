#include "kernels/gather.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace takt::kernels {

void Gather(const GatherShape& s, const GatherOperands& o, int64_t begin,
            int64_t end) {
  const auto bytes = static_cast<size_t>(s.row_bytes);
  const char* line = static_cast<const char*>(o.data) +
                     begin / s.count * s.size * s.row_bytes;
  char* to = static_cast<char*>(o.output) + begin * s.row_bytes;
  int64_t i = begin % s.count;
  for (int64_t row = begin; row < end; ++row, to += bytes) {
    const int64_t place = o.places[i];
    const char* const from =
        line +
        std::clamp<int64_t>(place < 0 ? place + s.size : place, 0, s.size - 1) *
            s.row_bytes;
    if (bytes == 4) {  // A number takes no call.
      std::memcpy(to, from, 4);
    } else {
      std::memcpy(to, from, bytes);
    }
    if (++i < s.count) continue;
    i = 0;
    line += s.size * s.row_bytes;
  }
}

}  // namespace takt::kernels
