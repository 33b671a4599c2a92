// takt-plan profile: what the functions of a workload do and how long it takes
// on this machine, in the form that docs/planning.md describes.
#ifndef TAKT_TOOLS_PLAN_PROFILE_H_
#define TAKT_TOOLS_PLAN_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/common/main.h"

namespace takt::tools {

// Measures and writes the profile to `output` ("": stdout); `samples` calls of
// each function for each alternative. Shows how far it is on a terminal.
// `npu_devices` say what the NPUs of the workload's topology are here,
// NAME=DEVICE (plan_machine.h). Modules' files are looked for where the
// workload lies. Returns the exit code.
Result<int> ProfileWorkload(const std::string& path, int64_t samples,
                            const std::vector<std::string>& npu_devices,
                            const std::string& output, bool is_json);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_PLAN_PROFILE_H_
