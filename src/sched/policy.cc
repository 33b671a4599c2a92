#include "sched/policy.h"

#include <algorithm>
#include <cstddef>
#include <new>

#include "base/clock.h"

namespace takt::sched {
namespace {

// LevelOf, with one more below the hard jobs: that of streams which have had
// less than their share.
uint32_t UrgencyLevel(const OperationFacts& operation) {
  constexpr uint32_t kBelowHard = LevelOf(Band::kHard, 0) + 1;
  const uint32_t level = operation.level();
  if (operation.band <= Band::kHard) return level;
  return operation.share_cores > 0 ? kBelowHard : level + 1;
}

bool IsBehind(const OperationFacts& operation) {
  return operation.share_cores > 0 && operation.band > Band::kHard;
}

// Whether operations of its level are ordered by weight.
bool IsWeighted(const OperationFacts& operation, const Situation& situation) {
  return situation.by_weight && operation.band == Band::kBestEffort;
}

// The earlier finish first; among equal ones an NPU, then the fewest shards.
bool EndsBefore(const Placement& a, const Placement& b) {
  if (a.finish_ns != b.finish_ns) return a.finish_ns < b.finish_ns;
  if (a.is_npu != b.is_npu) return a.is_npu;
  if (a.shards != b.shards) return a.shards < b.shards;
  return a.pool < b.pool;
}

int32_t EarliestFinish(absl::Span<const Placement> placements, bool only_free) {
  int32_t best = -1;
  for (size_t i = 0; i < placements.size(); ++i) {
    if (only_free && !placements[i].is_free) continue;
    if (best < 0 || EndsBefore(placements[i], placements[best])) {
      best = static_cast<int32_t>(i);
    }
  }
  return best;
}

// Policies that use free resources, and never wait for better ones.
class GreedyPolicy : public Policy {
 public:
  int32_t Choose(const OperationFacts&, const Situation&,
                 absl::Span<const Placement> placements) const override {
    return EarliestFinish(placements, /*only_free=*/true);
  }
};

class FifoPolicy final : public GreedyPolicy {
 public:
  const char* name() const override { return "fifo"; }
  Rank RankOf(const OperationFacts& operation,
              const Situation&) const override {
    return {0, 0, 0, operation.sequence};
  }
};

class PriorityPolicy final : public GreedyPolicy {
 public:
  const char* name() const override { return "priority"; }
  Rank RankOf(const OperationFacts& operation,
              const Situation&) const override {
    return {UrgencyLevel(operation),
            IsBehind(operation) ? operation.share_due_ns : 0, 0,
            operation.sequence};
  }
  bool KeepsPromises() const override { return true; }
};

class EdfPolicy final : public GreedyPolicy {
 public:
  const char* name() const override { return "edf"; }
  Rank RankOf(const OperationFacts& operation,
              const Situation&) const override {
    return {0, operation.deadline_ns, 0, operation.sequence};
  }
};

// Slack is deadline - now - tail; `now` is the same for all, so the order of
// waiting operations does not change as time goes by.
class LeastSlackPolicy final : public GreedyPolicy {
 public:
  const char* name() const override { return "least-slack"; }
  Rank RankOf(const OperationFacts& operation,
              const Situation&) const override {
    return {0, operation.deadline_ns - operation.tail_ns, 0,
            operation.sequence};
  }
};

class ShortestLatencyPolicy final : public Policy {
 public:
  const char* name() const override { return "shortest-latency"; }
  Rank RankOf(const OperationFacts& operation,
              const Situation&) const override {
    return {0, -operation.duration_ns, 0, operation.sequence};
  }
  int32_t Choose(const OperationFacts&, const Situation&,
                 absl::Span<const Placement> placements) const override {
    return EarliestFinish(placements, /*only_free=*/false);
  }
  bool Reconsiders() const override { return false; }
};

class HeftPolicy final : public Policy {
 public:
  const char* name() const override { return "heft"; }
  Rank RankOf(const OperationFacts& operation,
              const Situation&) const override {
    return {0, -operation.tail_ns, 0, operation.sequence};
  }
  int32_t Choose(const OperationFacts&, const Situation&,
                 absl::Span<const Placement> placements) const override {
    return EarliestFinish(placements, /*only_free=*/false);
  }
};

// Whether it goes before those of its level by its laxity. When there is more
// work than time, soft jobs of the least demand go first instead.
bool IsCritical(const OperationFacts& operation, const Situation& situation) {
  return operation.is_critical &&
         !(situation.densest_first && operation.band >= Band::kSoft);
}

class JobShopPolicy : public Policy {
 public:
  const char* name() const override { return "job-shop"; }

  Rank RankOf(const OperationFacts& operation,
              const Situation& situation) const override {
    if (operation.planned_start_ns != kInfiniteFuture) {
      return {0, operation.planned_start_ns, 0, operation.sequence};
    }
    return {1 + UrgencyLevel(operation), KeyOf(operation, situation),
            -operation.tail_ns, operation.sequence};
  }

  int32_t Choose(const OperationFacts& operation, const Situation& situation,
                 absl::Span<const Placement> placements) const override {
    const int32_t best = EarliestFinish(placements, /*only_free=*/false);
    if (best < 0) return -1;
    // An NPU whose queue is worth the wait; otherwise free resources.
    if (placements[best].is_npu) return best;
    const int32_t fastest = EarliestFinish(placements, /*only_free=*/true);
    if (fastest < 0) return -1;
    return ChooseShards(operation, situation, placements, fastest);
  }

  bool Preempts(const OperationFacts& urgent, const OperationFacts& running,
                const Situation& situation) const override {
    const bool is_planned = running.planned_start_ns != kInfiniteFuture;
    if (is_planned || urgent.planned_start_ns != kInfiniteFuture) {
      return !is_planned;
    }
    if (UrgencyLevel(urgent) != UrgencyLevel(running)) {
      return UrgencyLevel(urgent) < UrgencyLevel(running);
    }
    if (IsBehind(urgent)) return false;
    if (IsWeighted(urgent, situation)) {
      return urgent.fair_tag < running.fair_tag;
    }
    // One critical job does not preempt another: each would become critical
    // while the other runs.
    if (IsCritical(running, situation)) return false;
    if (IsCritical(urgent, situation)) return true;
    return urgent.deadline_ns < running.deadline_ns;
  }

  bool KeepsPromises() const override { return true; }
  bool Widens() const override { return true; }
  bool GivesUpEarly() const override { return true; }

 private:
  // The order within a level.
  static int64_t KeyOf(const OperationFacts& operation,
                       const Situation& situation) {
    if (IsBehind(operation)) return operation.share_due_ns;
    if (IsWeighted(operation, situation)) return operation.fair_tag;
    if (IsCritical(operation, situation)) return CriticalKeyOf(operation);
    return situation.densest_first && operation.band >= Band::kSoft
               ? operation.demand_ppm
               : operation.deadline_ns;
  }

  // The least time to spare first, and all before any deadline.
  static int64_t CriticalKeyOf(const OperationFacts& operation) {
    return operation.deadline_ns - operation.tail_ns - kInfiniteFuture / 2;
  }

  // An operation alone takes as many shards as make it faster. Beside others it
  // takes the fewest shards with which its job can still be in time, and beyond
  // that no more than its part of the free cores: one more shard would cost the
  // others more than it gains. A stream that is behind may take the cores of
  // its share.
  static int32_t ChooseShards(const OperationFacts& operation,
                              const Situation& situation,
                              absl::Span<const Placement> placements,
                              int32_t fastest) {
    const uint32_t share =
        std::max(situation.free_core_count / (situation.waiting_count + 1),
                 IsBehind(operation) ? operation.share_cores : 0);
    if (situation.waiting_count == 0 && !situation.fewest_clusters) {
      return fastest;
    }
    const int64_t latest_ns = LatestFinish(operation, situation);
    int32_t chosen = fastest;
    bool is_late = placements[fastest].finish_ns > latest_ns;
    for (size_t i = 0; i < placements.size() && !is_late; ++i) {
      const Placement& candidate = placements[i];
      if (!candidate.is_free || candidate.finish_ns > latest_ns) continue;
      if (IsCheaper(candidate, placements[chosen], situation)) {
        chosen = static_cast<int32_t>(i);
      }
    }
    for (size_t i = 0; i < placements.size(); ++i) {
      const Placement& candidate = placements[i];
      if (!candidate.is_free || candidate.shards > share ||
          situation.fewest_clusters) {
        continue;
      }
      if (EndsBefore(candidate, placements[chosen])) {
        chosen = static_cast<int32_t>(i);
      }
    }
    return chosen;
  }

  static bool IsCheaper(const Placement& a, const Placement& b,
                        const Situation& situation) {
    if (a.is_npu != b.is_npu) return a.is_npu;
    // A busy cluster is preferred, so that no other cluster must wake up.
    if (situation.fewest_clusters && (a.busy_count > 0) != (b.busy_count > 0)) {
      return a.busy_count > 0;
    }
    if (a.shards != b.shards) return a.shards < b.shards;
    if (a.finish_ns != b.finish_ns) return a.finish_ns < b.finish_ns;
    return a.busy_count < b.busy_count;
  }

  static int64_t LatestFinish(const OperationFacts& operation,
                              const Situation& situation) {
    if (operation.deadline_ns == kInfiniteFuture) return kInfiniteFuture;
    const int64_t guard_ns =
        operation.tail_ns / 1000 * situation.guard_permille;
    return operation.deadline_ns - (operation.tail_ns - operation.duration_ns) -
           guard_ns;
  }
};

// Two levels instead of an order by laxity, in which two jobs would preempt
// each other at each tile: while the one runs, the other loses time to spare.
// An operation becomes critical once, so that it causes one preemption more at
// the most (compare EDZL: Cho, Lee, Ahn and Lin, "Efficient Real-Time
// Scheduling Algorithms for Multiprocessor Systems", IEICE Trans. 2002, with a
// threshold of zero).
class LaxityPolicy final : public JobShopPolicy {
 public:
  const char* name() const override { return "laxity"; }

  int64_t CriticalAt(const OperationFacts& operation) const override {
    if (operation.deadline_ns == kInfiniteFuture) return kInfiniteFuture;
    return operation.deadline_ns - operation.tail_ns -
           std::max(operation.tail_ns / kDivisor, kLeastNs);
  }

 private:
  // The laxity below which a job is critical: a quarter of its remaining path,
  // for what durations differ from the learned ones, and the time of some
  // wake-ups.
  static constexpr int64_t kDivisor = 4;
  static constexpr int64_t kLeastNs = 100'000;
};

// Never destroyed: a thread of the library may decide while the process ends.
template <typename Kind>
const Policy* PolicyOf() {
  alignas(Kind) static std::byte storage[sizeof(Kind)];
  static const Policy* const policy = new (storage) Kind;
  return policy;
}

}  // namespace

const Policy* FindPolicy(absl::string_view name) {
  const Policy* const policies[] = {PolicyOf<FifoPolicy>(),
                                    PolicyOf<PriorityPolicy>(),
                                    PolicyOf<EdfPolicy>(),
                                    PolicyOf<LeastSlackPolicy>(),
                                    PolicyOf<ShortestLatencyPolicy>(),
                                    PolicyOf<HeftPolicy>(),
                                    PolicyOf<JobShopPolicy>(),
                                    PolicyOf<LaxityPolicy>()};
  for (const Policy* const policy : policies) {
    if (name == policy->name()) return policy;
  }
  return nullptr;
}

}  // namespace takt::sched
