// The members that each kind of object of a workload may have. An unknown
// member is an error, which is found even without a machine.
#ifndef TAKT_PLAN_WORKLOAD_KEYS_H_
#define TAKT_PLAN_WORKLOAD_KEYS_H_

#include "absl/status/status.h"
#include "base/json.h"

namespace takt::plan {

absl::Status CheckModuleKeys(const JsonPlace& place);
absl::Status CheckFunctionKeys(const JsonPlace& place);
absl::Status CheckKernelKeys(const JsonPlace& place);
absl::Status CheckAlternativeKeys(const JsonPlace& place);
absl::Status CheckProgramKeys(const JsonPlace& place);
absl::Status CheckOperationKeys(const JsonPlace& place);
absl::Status CheckStreamKeys(const JsonPlace& place);
absl::Status CheckFaultKeys(const JsonPlace& place);
absl::Status CheckSpeedKeys(const JsonPlace& place);
absl::Status CheckThermalKeys(const JsonPlace& place);
absl::Status CheckBudgetKeys(const JsonPlace& place);
// With their alternatives and their operations.
absl::Status CheckWholeKernelKeys(const JsonPlace& place);
absl::Status CheckWholeProgramKeys(const JsonPlace& place);

}  // namespace takt::plan

#endif  // TAKT_PLAN_WORKLOAD_KEYS_H_
