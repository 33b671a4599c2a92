// Reads the bytes as a plan file and as the JSON of a schedule. What is
// accepted can be checked, written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "plan/plan.h"
#include "plan/plan_file.h"
#include "plan/xpu_rt_schedule.h"

namespace takt::plan {
namespace {

void Check(const absl::StatusOr<Plan>& plan) {
  if (!plan.ok()) {
    if (plan.status().message().empty()) std::abort();
    return;
  }
  const std::string bytes = EncodePlan(*plan);
  const absl::StatusOr<Plan> again = DecodePlan(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  if (!again.ok() || again->operations.size() != plan->operations.size()) {
    std::abort();
  }
}

}  // namespace
}  // namespace takt::plan

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  takt::plan::Check(takt::plan::DecodePlan({data, size}));
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  takt::plan::Check(takt::plan::ImportLooseSchedule(text));
  return 0;
}
