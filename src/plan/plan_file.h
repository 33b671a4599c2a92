// Plans as files: a FlatBuffer of our own schema (plan_file.fbs).
#ifndef TAKT_PLAN_PLAN_FILE_H_
#define TAKT_PLAN_PLAN_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plan/plan.h"

namespace takt::plan {

constexpr uint32_t kPlanFileVersion = 1;

// The bytes of a well-formed plan.
std::string EncodePlan(const Plan& plan);

// The plan that `bytes` hold, which may be hostile: what comes back is well
// formed. INVALID_ARGUMENT for what is no plan file, is cut off, or of another
// version, which is named beside the one that is read here.
absl::StatusOr<Plan> DecodePlan(absl::Span<const uint8_t> bytes);

}  // namespace takt::plan

#endif  // TAKT_PLAN_PLAN_FILE_H_
