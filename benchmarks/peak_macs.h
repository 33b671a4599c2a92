// Loops that multiply and add registers and nothing else: what a core's
// multipliers could do at best.
#ifndef TAKT_BENCHMARKS_PEAK_MACS_H_
#define TAKT_BENCHMARKS_PEAK_MACS_H_

#include <cstdint>

namespace takt::benchmarks {

struct PeakLoop {
  const char* name;  // Of the instructions.
  int64_t (*run)();  // Returns how many products it has added up.
};

// Of floats, or of bytes summed as 32-bit integers without loss: the loop of
// this processor's best instructions. nullptr: there is none for it.
const PeakLoop* FindPeakLoop(bool of_floats);

}  // namespace takt::benchmarks

#endif  // TAKT_BENCHMARKS_PEAK_MACS_H_
