// What every driver of an NPU must do: a suite of checks on its table of
// functions. What the driver's capabilities do not claim is not asked of it.
#ifndef TAKT_TOOLS_COMMON_NPU_SUITE_H_
#define TAKT_TOOLS_COMMON_NPU_SUITE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "takt/npu_driver.h"

namespace takt::tools {

struct NpuCheck {
  std::string name;     // "products are right"
  std::string problem;  // Empty: it holds.
};

// Opens units of the driver with `options` and checks them. The driver's clock
// is one that skips what nobody would wait for, so that simulated ones take no
// longer than they compute. `seed` makes the random operands.
std::vector<NpuCheck> CheckNpuDriver(const takt_npu_driver_t& driver,
                                     const std::string& options, uint64_t seed);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_NPU_SUITE_H_
