#include "route/route.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "cpu/cpu_command_buffer.h"

namespace takt::route {
namespace {

using cpu::DispatchCommand;
using cpu::RouteTarget;

// At least 1 if anything is known.
int64_t DurationNs(const DispatchCommand& command, uint32_t core_count) {
  const absl::StatusOr<uint32_t> total =
      cpu::WorkgroupTotal(command.workgroup_count);
  if (!total.ok()) return 0;
  const uint32_t threads = std::clamp(core_count, 1u, std::max(*total, 1u));
  const int64_t each_ns =
      threads > 1 ? command.cost().SharedNs() : command.cost().AloneNs();
  if (each_ns == 0) return 0;
  // A second for a workgroup, times 2^32 workgroups, does not overflow.
  constexpr int64_t kEachMaxNs = int64_t{1} << 30;
  const int64_t rounds = (int64_t{*total} + threads - 1) / threads;
  return std::max<int64_t>(std::min(each_ns, kEachMaxNs) * rounds, 1);
}

ExclusiveResource& ResourceFor(const DispatchCommand& recorded) {
  ExclusiveResource* const resource =
      ExclusiveCode::ResourceOf(*recorded.executable);
  TAKT_CHECK(resource != nullptr);
  return *resource;
}

}  // namespace

Route::Route(const DispatchCommand& recorded,
             const DispatchCommand& counterpart, exec::Executor* cpu_executor)
    : recorded_(recorded),
      cpu_executor_(cpu_executor),
      resource_(ResourceFor(recorded)) {
  TAKT_CHECK(!recorded.is_indirect && !counterpart.is_indirect);
  TAKT_CHECK(recorded.binding_count == counterpart.binding_count);
  TAKT_CHECK(ExclusiveCode::ResourceOf(*counterpart.executable) == nullptr);
  on_cpu_.kind = cpu::Command::Kind::kDispatch;
  on_cpu_.executable = counterpart.executable;
  on_cpu_.function = counterpart.function;
  on_cpu_.constant_count = counterpart.constant_count;
  on_cpu_.binding_count = counterpart.binding_count;
  on_cpu_.workgroup_count = counterpart.workgroup_count;
  on_cpu_.constants = counterpart.constants;
  on_cpu_.bindings = recorded.bindings;
}

Route::Estimates Route::Estimate(uint32_t core_count) const {
  return {DurationNs(recorded_, 1), DurationNs(on_cpu_, core_count)};
}

const DispatchCommand& Route::CommandFor(RouteTarget target) const {
  TAKT_DCHECK(target != RouteTarget::kOnly);
  return target == RouteTarget::kCpu ? on_cpu_ : recorded_;
}

bool Route::IsMeasured() const {
  const Estimates estimates = Estimate(1);
  return estimates.exclusive_ns != 0 && estimates.cpu_ns != 0;
}

bool Route::IsExclusiveFirst(const Estimates& estimates,
                             const exec::JobTraits& traits) const {
  if (estimates.exclusive_ns == 0) return true;
  if (estimates.cpu_ns == 0) return false;
  // So that the sum does not overflow.
  constexpr int64_t kWaitMaxNs = int64_t{1} << 60;
  const int64_t wait_ns = resource_.ExpectedWaitNs(traits);
  const bool is_in_order = wait_ns != kInfiniteFuture;
  const bool is_first =
      is_in_order && estimates.exclusive_ns + std::min(wait_ns, kWaitMaxNs) <=
                         estimates.cpu_ns;
  int64_t better_ns = estimates.exclusive_ns, worse_ns = estimates.cpu_ns;
  if (!is_first) std::swap(better_ns, worse_ns);
  const bool is_retrial =
      recorded_.cost().CountChoice() % kRetrialPeriod == kRetrialPeriod - 1;
  if (is_retrial && is_in_order && worse_ns / kRetrialFactor <= better_ns) {
    return !is_first;
  }
  return is_first;
}

RouteTarget Route::Choose(const exec::JobTraits& traits,
                          uint32_t core_count) const {
  const RouteTarget target = IsExclusiveFirst(Estimate(core_count), traits)
                                 ? RouteTarget::kExclusive
                                 : RouteTarget::kCpu;
  CountChoice(target);
  return target;
}

void Route::Offer(uint32_t exclusive_pools, uint32_t core_pools,
                  shop::Work* work) const {
  TAKT_CHECK(exclusive_pools != 0 && (exclusive_pools & core_pools) == 0);
  // The kernel of a choice is neither that of the code for the CPU alone nor
  // that of the exclusive code alone: the shop learns its durations apart.
  work->kernel = work->kernel.OrElse(recorded_.executable->content_hash(),
                                     exclusive_pools);
  work->pools = exclusive_pools | core_pools;
  work->npu_ns = ExclusiveNs();
}

void Route::CountChoice(RouteTarget target) const {
  TAKT_DCHECK(target != RouteTarget::kOnly);
  resource_.CountChoice(target == RouteTarget::kExclusive);
}

}  // namespace takt::route
