// Says for a person what a fence still waits for.
//
// Thread-safety: may run on any thread; what it says was so at some moment.
#ifndef TAKT_HAL_FENCE_DIAGNOSIS_H_
#define TAKT_HAL_FENCE_DIAGNOSIS_H_

#include <string>

#include "hal/fence.h"

namespace takt::hal {

// "reached"; "failed: DATA_LOSS: torn"; or what is left to come, a line for
// each point.
std::string ExplainFence(const Fence& fence);

}  // namespace takt::hal

#endif  // TAKT_HAL_FENCE_DIAGNOSIS_H_
