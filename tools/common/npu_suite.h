// The conformance suite of NPU drivers: checks on the table of functions. The
// suite uses only what the driver's capabilities claim.
#ifndef TAKT_TOOLS_COMMON_NPU_SUITE_H_
#define TAKT_TOOLS_COMMON_NPU_SUITE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "takt/npu_driver.h"

namespace takt::tools {

struct NpuCheck {
  std::string name;     // "products are right"
  std::string problem;  // Empty: the check succeeded.
};

// Opens units of the driver with `options` and checks them. The driver's clock
// skips idle times, so a simulated driver takes only the time that it computes.
// `seed` is the seed of the random operands.
std::vector<NpuCheck> CheckNpuDriver(const takt_npu_driver_t& driver,
                                     const std::string& options, uint64_t seed);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_NPU_SUITE_H_
