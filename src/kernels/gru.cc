#include "kernels/gru.h"

#include <algorithm>

#include "kernels/conv2d.h"

namespace takt::kernels {

const char* CheckRecurrentShape(const RecurrentShape& s) {
  constexpr int64_t kSizeMax = 1 << 16;
  constexpr int64_t kHiddenMax = 1 << 13;
  if (s.steps < 1 || s.steps > kSizeMax || s.batch < 1 || s.batch > kSizeMax) {
    return "a size is not from 1 to 65536";
  }
  if (s.hidden < 1 || s.hidden > kHiddenMax || s.hidden % kConvBlock != 0) {
    return "the size of the state is no multiple of 16 up to 8192";
  }
  return nullptr;
}

bool FindRecurrentTile(const RecurrentShape& s, int64_t lanes, int64_t part,
                       int64_t first_row, int64_t row_count,
                       RecurrentTile* tile) {
  if (CheckRecurrentShape(s) != nullptr || lanes < 1 || lanes > s.hidden ||
      lanes % kConvBlock != 0 || part < 0 || part > (s.hidden - 1) / lanes ||
      (s.steps > 1 && lanes != s.hidden) || first_row < 0 ||
      first_row >= s.batch || row_count < 1) {
    return false;
  }
  const int64_t first_lane = part * lanes;
  *tile = {first_row, first_row + std::min(row_count, s.batch - first_row),
           first_lane, std::min(first_lane + lanes, s.hidden)};
  return true;
}

}  // namespace takt::kernels
