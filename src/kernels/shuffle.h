// The channels of groups in turns, as networks shuffle them: the first of each
// group, then the second of each, and so on.
#ifndef TAKT_KERNELS_SHUFFLE_H_
#define TAKT_KERNELS_SHUFFLE_H_

#include <cstdint>

namespace takt::kernels {

struct ShuffleShape {
  int64_t groups;  // At least 1.
  int64_t each;    // Channels of a group.
};

// Writes the rows from `begin` to `end` of the output: [rows][each][groups]
// from an input of [rows][groups][each]. The two do not overlap.
template <typename T>  // float or int8_t.
void Shuffle(const ShuffleShape& shape, const T* input, T* output,
             int64_t begin, int64_t end);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_SHUFFLE_H_
