// Loops that only multiply and add registers: the peak of a core's multipliers.
#ifndef TAKT_BENCHMARKS_PEAK_MACS_H_
#define TAKT_BENCHMARKS_PEAK_MACS_H_

#include <cstdint>

namespace takt::benchmarks {

struct PeakLoop {
  const char* name;  // Of the instructions.
  int64_t (*run)();  // Returns the number of products in the sum.
};

// The loop of this processor's best instructions: for floats, or for bytes that
// are summed as 32-bit integers without loss. nullptr if there is none.
const PeakLoop* FindPeakLoop(bool of_floats);

}  // namespace takt::benchmarks

#endif  // TAKT_BENCHMARKS_PEAK_MACS_H_
