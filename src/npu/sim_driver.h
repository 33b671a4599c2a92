// The driver "sim": an NPU that a profile describes. It computes what the
// driver "host" computes, bit for bit, and takes as long as a model says, on
// the clock that it is given: the machine's, or a simulated one. Faults come by
// seed. Its options are a profile (sim_profile.h).
#ifndef TAKT_NPU_SIM_DRIVER_H_
#define TAKT_NPU_SIM_DRIVER_H_

#include "takt/npu_driver.h"

namespace takt::npu {

const takt_npu_driver_t* SimDriver();

}  // namespace takt::npu

#endif  // TAKT_NPU_SIM_DRIVER_H_
