#include "api/scheduler_windows.h"

#include <memory>
#include <utility>

#include "api/handle.h"
#include "api/quantiles.h"
#include "follow/window_advisor.h"

namespace takt::api {

absl::StatusOr<runtime::AdvisorFactory> ReadWindows(
    const takt_scheduler_options_t& given) {
  if (given.window_ns == 0) return runtime::AdvisorFactory();
  return runtime::AdvisorFactory(
      [length_ns = given.window_ns, budget_ns = given.window_budget_ns](
          runtime::BackgroundRunner background) {
        follow::WindowOptions options;
        options.length_ns = length_ns;
        options.planning.budget_ns = budget_ns;
        options.planning.background = std::move(background);
        return std::make_shared<follow::WindowAdvisor>(std::move(options));
      });
}

absl::Status QueryWindows(runtime::Instance& instance, shop::JobShop& shop,
                          takt_window_statistics_t* out) {
  // ReadWindows() makes all advisors of this class.
  const auto windows =
      std::static_pointer_cast<follow::WindowAdvisor>(instance.FindAdvisor());
  if (windows == nullptr) {
    return absl::FailedPreconditionError(
        "the scheduler plans no windows: its window_ns is 0");
  }
  follow::WindowReport report;
  shop.Run([&](sched::Scheduler&, int64_t) { report = windows->report(); });
  takt_window_statistics_t result = {};
  result.planned_count = report.planned_count;
  result.failed_count = report.failed_count;
  result.broken_count = report.broken_count;
  result.started_count = report.started_count;
  result.in_place_count = report.in_place_count;
  result.planning = ToQuantiles(report.planning.quantiles());
  WriteSized(result, out);
  return absl::OkStatus();
}

}  // namespace takt::api
