#include "kernels/gru.h"

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

}  // namespace takt::kernels
