// takt-plan profile: measures the operations of a workload's functions on this
// machine, and writes a profile in the form that docs/planning.md describes.
#ifndef TAKT_TOOLS_PLAN_PROFILE_H_
#define TAKT_TOOLS_PLAN_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/common/main.h"

namespace takt::tools {

// Measures `samples` calls of each function under each alternative, and writes
// the profile to `output` ("": stdout). Shows its progress on a terminal.
// `npu_devices` name the devices of the NPUs, as NAME=DEVICE (plan_machine.h).
// The files of modules are relative to the workload's folder. Returns the exit
// code.
Result<int> ProfileWorkload(const std::string& path, int64_t samples,
                            const std::vector<std::string>& npu_devices,
                            const std::string& output, bool is_json);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_PLAN_PROFILE_H_
