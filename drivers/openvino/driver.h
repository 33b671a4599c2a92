// The table of functions of the driver, for the tests and for those who link
// it.
#ifndef TAKT_DRIVERS_OPENVINO_DRIVER_H_
#define TAKT_DRIVERS_OPENVINO_DRIVER_H_

#include "takt/npu_driver.h"

extern "C" __attribute__((visibility("default"))) const takt_npu_driver_t*
takt_npu_driver_query(uint32_t version);

#endif  // TAKT_DRIVERS_OPENVINO_DRIVER_H_
