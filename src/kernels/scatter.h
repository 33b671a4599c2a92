// Numbers that are put into a tensor, or combined with what is there, at places
// that other numbers say, as the operators ScatterElements and ScatterND of
// ONNX define it.
#ifndef TAKT_KERNELS_SCATTER_H_
#define TAKT_KERNELS_SCATTER_H_

#include <cstdint>

namespace takt::kernels {

// What becomes of a number of the tensor and an update. A NaN stays.
enum class ScatterReduction { kNone, kSum, kProduct, kLeast, kGreatest };
inline constexpr int kScatterReductionCount = 5;

struct ScatterShape {
  int64_t outer, size, inner;  // Of the tensor; places are along `size`.
  int64_t count;               // Updates along it.
  ScatterReduction reduction;  // kNone: the update alone.
  bool is_wide;  // Each number has a place, and not each row of updates.
};

struct ScatterOperands {
  const float* data;      // [outer][size][inner]
  const int32_t* places;  // [count], or [outer][count][inner] if wide.
  const float* updates;   // [outer][count][inner]
  float* output;          // [outer][size][inner]
};

// Writes the rows of `inner` numbers from `begin` to `end` of the output, of
// outer * size. A place below zero counts from the end. An update that is
// neither there nor then within the tensor is left out. Updates of the same
// place come in their order.
void Scatter(const ScatterShape& shape, const ScatterOperands& operands,
             int64_t begin, int64_t end);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_SCATTER_H_
