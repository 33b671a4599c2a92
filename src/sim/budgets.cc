#include "sim/budgets.h"

#include "base/check.h"

namespace takt::sim {

Budgets::Budgets(const Workload& workload)
    : cores_(workload.machine.resource_count()) {
  for (const PoolBudget& budget : workload.budgets) {
    workload.machine.ResourcesOf(budget.pool).ForEach([&](uint32_t resource) {
      cores_[resource] = {budget.budget_ns, budget.period_ns, budget.budget_ns,
                          0};
    });
  }
}

void Budgets::Begin(uint32_t resource, int64_t now_ns) {
  Core& core = cores_[resource];
  if (core.budget_ns == kInfiniteFuture) return;
  TAKT_DCHECK(core.left_ns >= 0 && core.left_ns <= core.budget_ns);
  const auto rest_ns = static_cast<double>(core.next_ns - now_ns);
  const bool is_kept =
      core.next_ns > now_ns &&
      static_cast<double>(core.left_ns) * static_cast<double>(core.period_ns) <=
          rest_ns * static_cast<double>(core.budget_ns);
  if (is_kept) return;
  core.left_ns = core.budget_ns;
  core.next_ns = now_ns + core.period_ns;
}

void Budgets::Charge(uint32_t resource, int64_t ran_ns) {
  Core& core = cores_[resource];
  if (core.budget_ns == kInfiniteFuture) return;
  TAKT_CHECK(ran_ns >= 0 && ran_ns <= core.left_ns);
  core.left_ns -= ran_ns;
}

}  // namespace takt::sim
