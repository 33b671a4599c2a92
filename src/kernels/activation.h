// The functions that a call may apply behind a convolution, before its clamp.
// The numbers are those of the functions that compiled kernels import.
#ifndef TAKT_KERNELS_ACTIVATION_H_
#define TAKT_KERNELS_ACTIVATION_H_

namespace takt::kernels {

enum class Activation {
  kNone = 0,
  kSilu = 1,         // x / (1 + e^-x)
  kSigmoid = 2,      // 1 / (1 + e^-x)
  kHardSwish = 3,    // x * HardSigmoid(x)
  kHardSigmoid = 4,  // x / 6 + 1 / 2 between 0 and 1
  kTanh = 5,
  kGelu = 6,       // x / 2 * (1 + erf(x / sqrt(2)))
  kLeakyRelu = 7,  // x, or x times a slope if x is negative
  kGeluTanh = 8,   // x / (1 + e^-2y), where y = sqrt(2 / pi) (x + 0.044715 x^3)
};
inline constexpr int kActivationCount = 9;

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_ACTIVATION_H_
