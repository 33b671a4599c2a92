// takt-plan's commands on plan files: check, show, import, export.
#ifndef TAKT_TOOLS_PLAN_FILE_H_
#define TAKT_TOOLS_PLAN_FILE_H_

#include <string>
#include <vector>

#include "takt/plan.hpp"
#include "tools/common/main.h"

namespace takt::tools {

// Each prints, or writes to `output`, and returns the exit code.
Result<int> CheckPlan(const std::string& path, bool is_json);
Result<int> ShowPlan(const std::string& path, bool is_json);
// If `modules` are given, each kernel must be in one of them.
Result<int> ImportPlan(const std::string& path,
                       const std::vector<std::string>& modules,
                       const std::string& output, bool is_json);
Result<int> ExportPlan(const std::string& path, const std::string& output);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_PLAN_FILE_H_
