// Describes for people what a fence still waits for.
//
// Thread-safety: may run on any thread. The answer describes a moment of the
// past.
#ifndef TAKT_HAL_FENCE_DIAGNOSIS_H_
#define TAKT_HAL_FENCE_DIAGNOSIS_H_

#include <string>

#include "hal/fence.h"

namespace takt::hal {

// "reached"; "failed: DATA_LOSS: torn"; or a line for each point that is not
// reached.
std::string ExplainFence(const Fence& fence);

}  // namespace takt::hal

#endif  // TAKT_HAL_FENCE_DIAGNOSIS_H_
