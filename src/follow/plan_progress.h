// PlanProgress holds a plan and the state of its execution: which job of the
// scheduler is which job of the plan, which operations are over, and what each
// resource runs now and next. It decides nothing; policies do
// (follow_policy.h).
//
// A plan without a period runs once (cycle 0). A cyclic plan is repeated from
// Start() on. A slot is one planned operation in all cycles.
//
// Invariants:
//   (1) A slot is over in the cycles below its over_count, and in no other.
//   (2) A running slot is not ready; a slot that is over is neither ready nor
//       running.
//   (3) A lane's occupant is the slot that runs on the resource, or kNone.
//
// Thread-safety: none.
#ifndef TAKT_FOLLOW_PLAN_PROGRESS_H_
#define TAKT_FOLLOW_PLAN_PROGRESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/hash_map.h"
#include "base/spare_memory.h"
#include "plan/plan.h"
#include "sched/machine.h"
#include "sched/placement_advisor.h"

namespace takt::follow {

// One planned operation, in all cycles.
struct PlanSlot {
  sched::ResourceSet resources;
  sched::ResourceSet feeders;  // Those of them that feed an NPU.
  uint32_t shards = 0;         // 0: it runs on an NPU.
  int64_t start = 0;
  int64_t duration = 0;
  uint32_t job = 0;
  // Cycles in which it is over: done, given up, or no longer waited for.
  uint64_t over_count = 0;
  bool is_ready = false;
  bool is_running = false;
  bool is_late_reported = false;
  int64_t ready_ns = 0;  // When it became ready.
  int64_t running_since_ns = 0;
  int64_t began_ns = 0;  // As measured; 0: not measured.
  int64_t ended_ns = 0;
  // For every policy: the cycles in which it has stopped, where it runs now,
  // and since when.
  uint64_t stopped_count = 0;
  sched::ResourceSet runs_on;
  int64_t runs_since_ns = 0;

  // Whether `where` is its planned place. On this machine its NPU may need
  // feeders that the plan lacks, or may need none.
  bool IsPlace(const sched::ResourceSet& where) const;
  // Prescribes its planned place.
  void PrescribePlace(sched::Prescription* prescription) const;
};

class PlanProgress {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct JobSlots {
    sched::StreamId stream = 0;
    int64_t release = 0;
    int64_t deadline = plan::kNoDeadline;
    std::vector<uint32_t> slots;  // By ordinal; kNone: the plan has none.
  };
  // Binds a job of the scheduler to a job of the plan.
  struct Binding {
    uint32_t generation = 0;
    uint32_t job = kNone;  // kNone: the plan does not have it.
    uint64_t cycle = 0;
    bool is_free = false;  // The plan no longer places the rest of it.
  };
  // A slot in a cycle.
  struct Turn {
    uint32_t slot = kNone;
    uint64_t cycle = 0;
  };
  using OnSkipped = absl::FunctionRef<void(uint32_t slot, uint64_t cycle)>;

  PlanProgress(const plan::Plan& plan, const sched::Machine& machine)
      : plan_(plan),
        machine_(machine),
        period_(plan.period),
        cycle_count_(plan.period > 0 ? UINT64_MAX : 1) {}

  // Called once, before all other functions. The plan does not wait for
  // operations on cores that take at most `unseen_max_ns`; -1: it waits for
  // all. INVALID_ARGUMENT names a resource or stream of the plan that the
  // machine or `streams` lack.
  absl::Status LoadPlan(const HashMap<std::string, sched::StreamId>& streams,
                        int64_t unseen_max_ns);

  void Start(int64_t origin_ns) { origin_ns_ = origin_ns; }
  // Nothing that is released at or after `end_ns` is planned.
  void EndAt(int64_t end_ns);

  const plan::Plan& plan() const { return plan_; }
  const sched::Machine& machine() const { return machine_; }
  int64_t period() const { return period_; }
  int64_t origin_ns() const { return origin_ns_; }
  uint64_t cycle_count() const { return cycle_count_; }
  bool is_over() const { return left_count_ == 0; }
  uint32_t slot_count() const { return static_cast<uint32_t>(slots_.size()); }
  const PlanSlot& slot(uint32_t index) const { return slots_[index]; }
  PlanSlot& slot(uint32_t index) { return slots_[index]; }
  absl::Span<const JobSlots> jobs() const { return jobs_; }
  const JobSlots& job_of(uint32_t slot) const {
    return jobs_[slots_[slot].job];
  }
  absl::Span<const Binding> bindings() const { return bindings_; }
  uint32_t lane_count() const { return static_cast<uint32_t>(lanes_.size()); }
  uint32_t pool_of(uint32_t resource) const { return pool_of_[resource]; }
  uint32_t occupant(uint32_t resource) const {
    return lanes_[resource].occupant;
  }
  const sched::ResourceSet& cores() const { return cores_; }
  const sched::ResourceSet& lost() const { return lost_; }
  bool has_stream(sched::StreamId stream) const {
    return streams_.contains(stream);
  }
  bool IsPlanned(uint32_t resource) const {
    return !lanes_[resource].order.empty();
  }
  // Whether a resource that the plan uses is lost.
  bool HasLostPlace() const;

  // The alternatives of a slot. If the plan has none: its planned place, in any
  // pool of the same kind.
  const std::vector<sched::AlternativeOptions>& WaysOf(uint32_t slot) const {
    return ways_[slot];
  }
  // The expected end of a running slot.
  int64_t ExpectedEnd(uint32_t slot) const;

  int64_t OriginOf(uint64_t cycle) const {
    return origin_ns_ + static_cast<int64_t>(cycle) * period_;
  }
  int64_t ReleaseOf(const JobSlots& job, uint64_t cycle) const {
    return OriginOf(cycle) + job.release;
  }
  // The start in the original plan, and the start after the shifts so far.
  int64_t MadeStartOf(uint32_t slot, uint64_t cycle) const {
    return OriginOf(cycle) + slots_[slot].start;
  }
  int64_t StartOf(uint32_t slot, uint64_t cycle) const {
    return MadeStartOf(slot, cycle) + (cycle == shift_cycle_ ? shift_ns_ : 0);
  }

  // Binds a job: of the plan's future jobs of its stream, the one with the
  // nearest release. `on_skipped` is called for each slot of the jobs before
  // it; they are over then.
  Binding& Bind(const sched::AdvisedOperation& operation, OnSkipped on_skipped);
  // nullptr: it was never bound.
  Binding* FindBinding(sched::JobId job);
  uint32_t SlotOf(const Binding& binding, uint32_t ordinal) const;
  // The slot that the resource runs next; nullopt: none.
  std::optional<Turn> Next(uint32_t resource);
  // A slot that comes before this slot on one of its resources; nullopt: none.
  std::optional<Turn> FindAhead(uint32_t slot, uint64_t cycle);

  // Transitions of a slot.
  void SetReady(uint32_t slot, int64_t now_ns);
  void Occupy(uint32_t slot, const sched::ResourceSet& resources,
              int64_t now_ns);
  void Vacate(uint32_t slot);
  void Begin(uint32_t slot, int64_t now_ns);
  void SetMeasured(uint32_t slot, int64_t begin_ns, int64_t end_ns);
  // Reports that the slot has stopped; unless `is_done`, its whole job has
  // stopped.
  void SetStopped(const Binding& binding, uint32_t slot, bool is_done);
  void Finish(uint32_t slot, uint64_t cycle);
  // Reports that among the first `count` dispatches of the job, those that were
  // not reported have run without the scheduler, or will not run.
  void FinishUnseen(const Binding& binding, size_t count);
  void SetAvailable(uint32_t resource, bool is_available);
  // Moves the rest of the cycle to a later time. Returns false, without a
  // change, if a deadline would be missed or the rest would overlap the next
  // cycle.
  bool Shift(uint64_t cycle, int64_t by_ns);

  // Calls `visit` with each other slot that runs on one of this slot's planned
  // resources, and with the resource.
  template <typename F>
  void ForEachOccupant(uint32_t slot, F&& visit) const {
    slots_[slot].resources.ForEach([&](uint32_t resource) {
      const uint32_t occupant = lanes_[resource].occupant;
      if (occupant != kNone && occupant != slot) visit(occupant, resource);
    });
  }

 private:
  struct StreamSlots {
    std::vector<uint32_t> jobs;  // By instance.
    uint64_t next = 0;           // The next job to come, over all cycles.
  };
  // A resource, in the plan's order.
  struct Lane {
    std::vector<uint32_t> order;  // Slots by start.
    uint64_t position = 0;        // Over all cycles.
    uint32_t occupant = kNone;
  };

  absl::Status Fault(absl::string_view reason) const;
  absl::Status LoadResources();
  absl::Status LoadJobs(const HashMap<std::string, sched::StreamId>& streams);
  absl::Status LoadOperation(uint32_t index, int64_t unseen_max_ns);
  std::vector<sched::AlternativeOptions> MakeWays(uint32_t slot) const;
  uint64_t CountLeft() const;

  const plan::Plan plan_;
  const sched::Machine machine_;
  const int64_t period_;              // 0: it runs once.
  uint64_t cycle_count_;              // How often it is repeated.
  uint64_t left_count_ = UINT64_MAX;  // Slots not over in the last cycle.
  int64_t origin_ns_ = 0;
  std::vector<PlanSlot> slots_;
  std::vector<std::vector<sched::AlternativeOptions>> ways_;  // By slot.
  std::vector<JobSlots> jobs_;
  HashMap<sched::StreamId, StreamSlots> streams_;
  std::vector<Lane> lanes_;        // By resource.
  SpareVector<Binding> bindings_;  // By index of the scheduler's job.
  std::vector<uint32_t> pool_of_;  // By resource.
  sched::ResourceSet cores_;
  sched::ResourceSet lost_;
  // The cycle that was moved, and by how much.
  uint64_t shift_cycle_ = 0;
  int64_t shift_ns_ = 0;
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_PLAN_PROGRESS_H_
