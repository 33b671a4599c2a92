// Plan files: FlatBuffers of the schema plan_file.fbs.
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

// Reads a plan from `bytes`, which may be hostile. The result is well formed.
// INVALID_ARGUMENT if the bytes are not a plan file, are cut off, or have
// another version; the message names that version and the supported one.
absl::StatusOr<Plan> DecodePlan(absl::Span<const uint8_t> bytes);

}  // namespace takt::plan

#endif  // TAKT_PLAN_PLAN_FILE_H_
