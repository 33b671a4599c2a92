// The driver "host". Its NPU consists of the inner-product instructions of the
// CPU that calls it. It works in host memory, before submit() returns; its
// products run on the kernels chosen for this processor.
#ifndef TAKT_NPU_HOST_DRIVER_H_
#define TAKT_NPU_HOST_DRIVER_H_

#include "takt/npu_driver.h"

namespace takt::npu {

const takt_npu_driver_t* HostDriver();

}  // namespace takt::npu

#endif  // TAKT_NPU_HOST_DRIVER_H_
