#include "cpu/dispatch_choice.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "cpu/command_buffer.h"

namespace takt::cpu {
namespace {

// At least 1 if anything is known.
int64_t DurationNs(const DispatchCommand& command, uint32_t core_count) {
  const absl::StatusOr<uint32_t> total =
      WorkgroupTotal(command.workgroup_count);
  if (!total.ok()) return 0;
  const uint32_t threads = std::clamp(core_count, 1u, std::max(*total, 1u));
  const int64_t each_ns =
      threads > 1 ? command.cost().SharedNs() : command.cost().AloneNs();
  if (each_ns == 0) return 0;
  constexpr int64_t kMostNs = int64_t{1} << 30;
  const int64_t rounds = (int64_t{*total} + threads - 1) / threads;
  return std::max<int64_t>(std::min(each_ns, kMostNs) * rounds, 1);
}

}  // namespace

WayEstimates EstimateWays(const DispatchCommand& command, uint32_t core_count) {
  TAKT_DCHECK(command.other() != nullptr);
  return {DurationNs(command, 1), DurationNs(*command.other(), core_count)};
}

DispatchWay ChooseWay(const DispatchCommand& command,
                      const exec::JobTraits& traits, uint32_t core_count) {
  ExclusiveUnit& unit = *command.executable->exclusive_unit();
  const WayEstimates ways = EstimateWays(command, core_count);
  bool is_taken = true;
  if (ways.unit_ns != 0 && ways.cpu_ns == 0) {
    is_taken = false;
  } else if (ways.unit_ns != 0) {
    const int64_t wait_ns = unit.ExpectedWaitNs(traits);
    is_taken =
        wait_ns != kInfiniteFuture &&
        ways.unit_ns + std::min(wait_ns, int64_t{1} << 60) <= ways.cpu_ns;
    int64_t better_ns = ways.unit_ns, worse_ns = ways.cpu_ns;
    if (!is_taken) std::swap(better_ns, worse_ns);
    const bool is_retrial =
        command.cost().CountChoice() % kRetrialPeriod == kRetrialPeriod - 1;
    if (is_retrial && wait_ns != kInfiniteFuture &&
        worse_ns / kRetrialFactor <= better_ns) {
      is_taken = !is_taken;
    }
  }
  unit.CountChoice(is_taken);
  return is_taken ? DispatchWay::kUnit : DispatchWay::kCpu;
}

}  // namespace takt::cpu
