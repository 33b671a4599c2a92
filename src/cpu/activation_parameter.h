// The activation and the clamp behind a convolution, as compiled kernels pass
// them.
#ifndef TAKT_CPU_ACTIVATION_PARAMETER_H_
#define TAKT_CPU_ACTIVATION_PARAMETER_H_

#include <cstdint>
#include <limits>

#include "kernels/activation.h"
#include "kernels/conv2d.h"

namespace takt::cpu {

// Sets them in `*operands`; false if no activation has the number. A leaky ReLU
// has its slope in place of the lower limit.
inline bool SetActivation(int64_t number, float low, float high,
                          kernels::ConvOperands* operands) {
  if (number < 0 || number >= kernels::kActivationCount) return false;
  operands->activation = static_cast<kernels::Activation>(number);
  const bool is_leaky = operands->activation == kernels::Activation::kLeakyRelu;
  operands->slope = is_leaky ? low : 0;
  operands->low = is_leaky ? -std::numeric_limits<float>::infinity() : low;
  operands->high = high;
  return true;
}

}  // namespace takt::cpu

#endif  // TAKT_CPU_ACTIVATION_PARAMETER_H_
