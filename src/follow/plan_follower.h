// A PlanFollower has the scheduler carry out a plan: it is the guide (see
// sched/placement_advisor.h) that says of each operation where the plan has it,
// and when.
//
//   strict    each operation on its resources, not before its start, in the
//             order that the plan has for each of its resources. One that is
//             late, missing, too long, unknown to the plan or without its
//             resources is a violation, told once; it runs as soon as it can
//             and the order stays, or, with `falls_back`, what is left of its
//             job is the online policy's.
//   adaptive  places and order are preferences: an operation starts as soon as
//             it is ready, where the plan has it, unless that would be in the
//             way of one that the plan has there first; so slack is used up and
//             lateness moves to the right. Where its place is not free in time,
//             it goes where there is room (with a deadline, where the policy
//             likes), and one that runs on fewer cores than are free has them
//             as well. One without a deadline that is ready a sixth
//             of `divergence_ns` before its time, or after, goes where the
//             policy likes; the plan's order says how urgent it is. If one is
//             late by more than `divergence_ns`, all that is left of the period
//             is moved to the right by that, if every deadline is still met
//             then; if not, or if a resource is lost, all goes by the online
//             policy until the plan is in step again, in the next period.
//             Meanwhile what is left of the period is planned anew (`repair`),
//             and that plan is followed from when it is there, if no job is
//             late by it.
//
// What is not planned fills the holes: it starts only where it ends before the
// next planned start, by what it takes at its 99 % quantile.
//
// A plan without a period runs once; a cyclic one again and again, from the
// time of Start(). Jobs are told apart by when they are released.
//
// Thread-safety: none; used within the calls of the scheduler, and between
// them by who drives it.
#ifndef TAKT_FOLLOW_PLAN_FOLLOWER_H_
#define TAKT_FOLLOW_PLAN_FOLLOWER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "follow/divergence.h"
#include "follow/window.h"
#include "plan/plan.h"
#include "sched/machine.h"
#include "sched/placement_advisor.h"

namespace takt::follow {

enum class FollowMode : uint8_t { kStrict, kAdaptive };

// What was not as planned.
struct PlanEvent {
  enum class Kind : uint8_t {
    kLate,       // It started after its planned start and the tolerance.
    kOverrun,    // It took longer than it was given and the tolerance.
    kMissing,    // It did not become ready in time to be waited for.
    kUnplanned,  // Its job has no such operation in the plan.
    kLost,       // A resource of it is lost.
    kDiverged,   // It was so late that the plan gives way. Adaptive.
  };
  Kind kind = Kind::kLate;
  uint32_t operation = 0;  // Of the plan; kUnplanned: its size.
  uint64_t cycle = 0;      // Which repetition.
  int64_t by_ns = 0;       // Late or too long by so much.
};

const char* PlanEventName(PlanEvent::Kind kind);

struct FollowerOptions {
  FollowMode mode = FollowMode::kStrict;
  // Strict: what is left of a job with a violation is the online policy's.
  bool falls_back = false;
  // Starts and durations may differ from the plan by so much.
  int64_t tolerance_ns = 1'000;
  // Strict: how long after its planned end one is waited for that has not
  // become ready.
  int64_t patience_ns = 1'000'000;
  // Adaptive: what takes no longer on cores may run without the scheduler being
  // told, as soon as it can; so nothing waits for it, nor it for its place.
  int64_t small_ns = 0;
  // Adaptive: lateness that ends it.
  int64_t divergence_ns = 500'000;
  // Adaptive: how what is left is planned anew; without a budget, it is not.
  WindowPlanning repair;
  // Above 0: no more than is released within that time is planned anew at once.
  int64_t repair_horizon_ns = 0;
  // How long what is not planned may take there, to fill holes; null: it is
  // not kept from anywhere.
  std::function<int64_t(sched::KernelId kernel, uint32_t pool)> longest_ns;
  // Whether what is not planned is kept to the holes; null: all is.
  std::function<bool(sched::StreamId stream)> fills;
  // Strict: told of each violation. May be null.
  std::function<void(const PlanEvent& violation)> on_violation;
  // Adaptive: told when it gives way; the operation that was late by so much,
  // or the plan's size for a lost resource. May be null.
  std::function<void(const PlanEvent& violation)> on_divergence;
};

// What became of it, so far.
struct FollowReport {
  uint64_t started_count = 0;     // Planned operations.
  uint64_t in_place_count = 0;    // Of them, on their planned resources.
  uint64_t violation_count = 0;   // Strict.
  uint64_t divergence_count = 0;  // Adaptive: times that it was so late, and
  uint64_t repair_count = 0;      // of them, that it was moved to the right.
  uint64_t resolve_count = 0;     // What was left was planned anew; or was, but
  uint64_t refused_count = 0;     // too late, or jobs would have been.
  int64_t start_error_max_ns = 0;  // Actual less planned start; strict.
  int64_t lateness_max_ns = 0;     // The same, of both modes.

  void Add(const FollowReport& other);
};

class PlanFollower final : public sched::PlacementAdvisor {
 public:
  // `plan` is well formed and its resources are the machine's, in order;
  // `streams` are the scheduler's ids of the plan's streams, by name.
  //
  // INVALID_ARGUMENT naming what the plan has and the machine or `streams` do
  // not; FAILED_PRECONDITION for a plan that cannot be carried out.
  static absl::StatusOr<std::unique_ptr<PlanFollower>> Create(
      const plan::Plan& plan, const sched::Machine& machine,
      const absl::flat_hash_map<std::string, sched::StreamId>& streams,
      FollowerOptions options);

  // The plan's time 0. Before it, nothing is planned.
  void Start(int64_t origin_ns) { origin_ns_ = origin_ns; }
  // Nothing is planned for what is released from that time on, which is the
  // end of a period of a plan that has one.
  void EndAt(int64_t end_ns);

  bool has_stream(sched::StreamId stream) const {
    return streams_.contains(stream);
  }
  // What should have ended long ago, and is not even ready, does not come any
  // more: others do not wait for it.
  void VoidMissing(int64_t now_ns);

  FollowReport report() const;
  // When operations started and ended, against the plan.
  const Divergence& divergence() const { return divergence_; }
  // Whether all that is planned is done or given up. Never of a plan with a
  // period, before EndAt().
  bool is_over() const { return left_count_ == 0; }
  // Whether it gives way to the online policy now.
  bool is_diverged() const { return resume_ns_ > 0; }
  // Whether it does not, as what is left has been planned anew.
  bool is_repaired() const { return repair_.follower != nullptr; }

  // sched::PlacementAdvisor.
  sched::ResourceSet MayHave(const sched::GuidedOperation& operation,
                             int64_t now_ns) override;
  sched::Prescription Prescribe(const sched::GuidedOperation& operation,
                                int64_t now_ns) override;
  void OnStarted(const sched::GuidedOperation& operation,
                 const sched::ResourceSet& resources, int64_t now_ns) override;
  void OnStopped(const sched::GuidedOperation& operation, bool is_done,
                 int64_t now_ns) override;
  void OnRan(const sched::GuidedOperation& operation, int64_t begin_ns,
             int64_t end_ns) override;
  void OnAvailable(uint32_t resource, bool is_available,
                   int64_t now_ns) override;
  int64_t next_event_ns() const override;
  bool OnTime(int64_t now_ns) override;
  // What PlacementAdvisor calls so, of its streams' jobs.
  void OnReleased(const sched::AdvisedJob& job);
  void OnOver(sched::JobId job);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // One planned operation, in all repetitions.
  struct Slot {
    sched::ResourceSet resources;
    sched::ResourceSet feeders;  // Of them, what feeds an NPU.
    uint32_t shards = 0;         // 0: an NPU.
    int64_t start = 0;
    int64_t duration = 0;
    uint32_t job = 0;
    // Repetitions that are over with it, in order: done, given up or voided.
    uint64_t over_count = 0;
    bool is_ready = false;  // And not over, nor running.
    bool is_running = false;
    bool is_late_told = false;
    int64_t ready_ns = 0;  // Since when.
    int64_t running_since_ns = 0;
    int64_t began_ns = 0;  // As it was measured; 0: it was not.
    int64_t ended_ns = 0;
    // Whoever decided it: repetitions in which it has stopped, and where it
    // runs now, and since when.
    uint64_t stopped_count = 0;
    sched::ResourceSet runs_on;
    int64_t runs_since_ns = 0;

    // Whether that is where the plan has it. Here its NPU may need cores to
    // feed it that the plan knows nothing of, or none where the plan has some.
    bool IsPlace(const sched::ResourceSet& where) const;
  };
  struct JobSlot {
    sched::StreamId stream = 0;
    int64_t release = 0;
    int64_t deadline = plan::kNoDeadline;
    std::vector<uint32_t> slots;  // By ordinal; kNone: the plan has none.
  };
  struct StreamSlots {
    std::vector<uint32_t> jobs;  // By instance.
    uint64_t next = 0;           // Of the jobs to come, over all repetitions.
  };
  // A job of the scheduler's, and which of the plan's it is.
  struct Binding {
    uint32_t generation = 0;
    uint32_t job = kNone;  // Of the plan.
    uint64_t cycle = 0;
    bool is_free = false;  // What is left of it is not planned any more.
  };
  // What a resource does next, by the plan.
  struct Lane {
    std::vector<uint32_t> order;  // Slots by start.
    uint64_t position = 0;        // Over all repetitions.
    uint32_t occupant = kNone;    // The slot that runs there now.
  };

  using JobKey = std::pair<uint32_t, uint64_t>;  // Of the plan; repetition.
  // Of what is left of the plan that is not kept.
  struct Repair {
    int64_t begin_ns = kInfiniteFuture;  // When it is looked at.
    // What is being planned; null: nothing.
    std::shared_ptr<Window> window;
    std::vector<JobKey> window_jobs;
    int64_t force_ns = 0;                     // When that comes into force,
    int64_t window_end_ns = kInfiniteFuture;  // and until when.
    // What is followed; null: nothing.
    std::unique_ptr<PlanFollower> follower;
    absl::flat_hash_set<JobKey> jobs;
    // By operation of its plan: the slot and the repetition.
    std::vector<std::pair<uint32_t, uint64_t>> places;
    int64_t end_ns = kInfiniteFuture;
    bool has_changed = false;  // Those that wait have to be asked again.
  };

  PlanFollower(const plan::Plan& plan, const sched::Machine& machine,
               FollowerOptions options)
      : options_(std::move(options)),
        plan_(plan),
        machine_(machine),
        period_(plan.period),
        cycle_count_(plan.period > 0 ? UINT64_MAX : 1) {}

  absl::Status Take(
      const absl::flat_hash_map<std::string, sched::StreamId>& streams);
  uint64_t CountLeft() const;

  Binding& Bind(const sched::GuidedOperation& operation);
  uint32_t SlotOf(const Binding& binding, uint32_t ordinal) const;
  int64_t StartOf(uint32_t slot, uint64_t cycle) const {
    return MadeStartOf(slot, cycle) + (cycle == shift_cycle_ ? shift_ns_ : 0);
  }
  // By the plan as it was made, whatever has been moved since.
  int64_t MadeStartOf(uint32_t slot, uint64_t cycle) const {
    return OriginOf(cycle) + slots_[slot].start;
  }
  int64_t OriginOf(uint64_t cycle) const {
    return origin_ns_ + static_cast<int64_t>(cycle) * period_;
  }
  int64_t ReleaseOf(const JobSlot& job, uint64_t cycle) const {
    return OriginOf(cycle) + job.release;
  }
  // The slot and repetition that the resource has next; false: none.
  bool Next(uint32_t resource, uint32_t* slot, uint64_t* cycle);
  bool IsTurn(uint32_t slot, uint64_t cycle, uint32_t* ahead,
              uint64_t* ahead_cycle);
  void Finish(uint32_t slot, uint64_t cycle);
  // Of the first `count` dispatches of the job, those that nobody has told of
  // have run unseen, or do not come any more.
  void VoidUnseen(const Binding& binding, size_t count);
  void Vacate(uint32_t slot);
  void Report(PlanEvent violation, Binding* binding);
  void Measure(uint32_t slot, uint64_t cycle, int64_t now_ns);
  bool IsPlanned(uint32_t resource) const {
    return !lanes_[resource].order.empty();
  }
  bool HasLostPlace() const;
  void Diverge(const PlanEvent& cause, int64_t now_ns);
  bool Shift(uint64_t cycle, int64_t by_ns);
  sched::Prescription PrescribePlanned(const sched::GuidedOperation& operation,
                                       int64_t now_ns);
  sched::Prescription Fill(const sched::GuidedOperation& operation,
                           int64_t now_ns);
  // Where the plan has it.
  static void Place(const Slot& slot, sched::Prescription* prescription);
  sched::Prescription Strict(Binding* binding, uint32_t slot, int64_t now_ns);

  // plan_follower_adaptive.cc
  sched::Prescription Adaptive(Binding* binding, uint32_t slot, int64_t now_ns);
  void Widen(uint32_t slot, uint64_t cycle, int64_t now_ns,
             sched::Prescription* prescription);
  void WaitOrGo(uint32_t slot, uint64_t cycle, int64_t now_ns, int64_t free_ns,
                sched::Prescription* prescription);
  bool MayGoFirst(uint32_t slot, uint64_t cycle, int64_t now_ns, bool is_due,
                  int64_t* not_before_ns);
  bool IsDisplaced(uint32_t slot) const;
  int64_t FreeAt(uint32_t slot, int64_t now_ns) const;
  int64_t Elsewhere(uint32_t slot, uint64_t cycle, int64_t now_ns,
                    sched::ResourceSet* where);
  sched::ResourceSet everywhere() const {
    return sched::ResourceSet::Range(0, machine_.resource_count());
  }
  sched::ResourceSet RoomFor(uint32_t slot, uint64_t cycle,
                             const sched::ResourceSet& among, int64_t until_ns);
  bool HasRoom(uint32_t resource, uint32_t slot, uint64_t cycle,
               int64_t until_ns);

  // plan_follower_repair.cc
  bool IsRepaired(const Binding& binding) const;
  void Resume();
  void DropRepair();
  void EndRepair();
  void PlanRest(int64_t now_ns);
  void LookAtRest(int64_t now_ns);
  void AddRest(const JobKey& key,
               absl::flat_hash_map<uint32_t, uint32_t>* kernels,
               Window* window);
  plan::Kernel KernelOf(const plan::PlannedOperation& operation) const;
  int64_t ExpectedEnd(uint32_t slot) const;
  bool Install(int64_t now_ns);
  PlanEvent OwnViolation(PlanEvent violation) const;
  void TellPast(int64_t now_ns);
  sched::Prescription PrescribeRepaired(const sched::GuidedOperation& operation,
                                        int64_t now_ns);

  const FollowerOptions options_;
  const plan::Plan plan_;
  const sched::Machine machine_;
  const int64_t period_;              // 0: it runs once.
  uint64_t cycle_count_;              // How often it is repeated.
  uint64_t left_count_ = UINT64_MAX;  // Slots that are not over in the last.
  int64_t origin_ns_ = 0;
  std::vector<Slot> slots_;
  std::vector<JobSlot> jobs_;
  absl::flat_hash_map<sched::StreamId, StreamSlots> streams_;
  std::vector<Lane> lanes_;        // By resource.
  std::vector<Binding> bindings_;  // By index of the scheduler's job.
  std::vector<uint32_t> pool_of_;  // By resource.
  sched::ResourceSet cores_;
  sched::ResourceSet lost_;
  // Adaptive: until then the online policy decides; 0: the plan does.
  int64_t resume_ns_ = 0;
  // Adaptive: by so much that repetition is late.
  uint64_t shift_cycle_ = 0;
  int64_t shift_ns_ = 0;
  Repair repair_;
  FollowReport report_;
  Divergence divergence_;
};

}  // namespace takt::follow

#endif  // TAKT_FOLLOW_PLAN_FOLLOWER_H_
