// A PlanRun carries out a plan: it releases the plan's jobs and lets the
// scheduler follow the plan (follow/plan_switcher.h).
//
//   kNew --Start()--> kRunning --Stop(), an error, the last call--> kStopping
//                                                                      |
//   kOver <-- no call in flight -- kEnding <-- the scheduler is free --+
//
// Invariants:
//   (1) The run holds a reference to itself from Start() until kOver, for each
//       call in flight and for each armed timer.
//   (2) switcher_ is the shop's advisor from Start() until kEnding. In that
//       time only the scheduler, or a function within JobShop::Run(), uses it.
//   (3) No callback of the user runs under a lock or within the scheduler.
//   (4) While is_controlled_, one thread starts the run or replaces its plan.
//       It waits for the scheduler, and so may run any callback. An end that
//       comes meanwhile is left to this thread.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ and
// event_mutex_ are leaves, apart from the locks of the timers.
#ifndef TAKT_PLAN_RUN_PLAN_RUN_H_
#define TAKT_PLAN_RUN_PLAN_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "base/background_thread.h"
#include "base/mutex.h"
#include "base/object.h"
#include "base/timer_service.h"
#include "follow/plan_switcher.h"
#include "hal/fence.h"
#include "plan/plan.h"
#include "plan_run/plan_checks.h"
#include "plan_run/plan_run_options.h"
#include "plan_run/release_cursor.h"
#include "runtime/async_call.h"
#include "runtime/function.h"
#include "shop/job_shop.h"
#include "stream/stream.h"

namespace takt::plan_run {

class PlanRun final : public Object {
 public:
  static constexpr ObjectType kType{"takt.plan_run"};

  // INVALID_ARGUMENT names the option, the stream that is not bound or cannot
  // be, or the resource that this machine lacks. FAILED_PRECONDITION: the
  // instance has no scheduler of the policy "job-shop", or the plan cannot be
  // carried out with these functions.
  static absl::StatusOr<Ref<PlanRun>> Create(
      runtime::Instance& instance, const plan::Plan& plan,
      absl::Span<const PlanBinding> bindings, PlanRunOptions options);

  absl::Status Start(int64_t start_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the time at which `plan` takes over.
  absl::StatusOr<int64_t> Replace(const plan::Plan& plan, int64_t at_ns)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Wait(int64_t deadline_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  PlanRunReport Query() ABSL_LOCKS_EXCLUDED(mutex_);
  // OUT_OF_RANGE if the plan has no such operation.
  absl::StatusOr<PlanOperationReport> QueryOperation(size_t operation);

 private:
  enum class Phase : uint8_t { kNew, kRunning, kStopping, kEnding, kOver };

  // A stream of the plan, bound to what this machine has.
  struct Binding {
    std::string name;
    Ref<stream::Stream> to;  // Null: the run calls the functions.
    std::vector<Ref<runtime::Function>> functions;
    std::vector<vm::Value> arguments;
    Ref<shop::ScheduledStream> shop_stream;
    sched::Criticality criticality = sched::Criticality::kSoft;
    PlanDoneCallback on_done;
  };
  // One plan of the run, and the releases that the run makes for it.
  struct Part {
    std::shared_ptr<const plan::Plan> plan;  // Null: none.
    ReleaseCursor cursor;
    // Bindings to streams, which the run starts and stops.
    std::vector<const Binding*> streams;
  };
  struct CallInFlight {
    Ref<PlanRun> run;
    Ref<runtime::Function> function;
    const Binding* binding;
    PlanJobEnd job;
    int64_t deadline_ns;
    // Made for all results before the call, since its end must find memory.
    absl::InlinedVector<vm::Value, 4> results;
  };
  struct Timer : TimerService::Timer {
    PlanRun* run = nullptr;
  };

  PlanRun(runtime::Instance& instance, Ref<shop::JobShop> shop,
          PlanRunOptions options);
  ~PlanRun() override = default;

  // Bindings; while the run is made.
  absl::Status Bind(const PlanBinding& binding);
  absl::Status BindStream(const PlanBinding& given, Binding* binding);
  absl::Status BindFunctions(const PlanBinding& given, Binding* binding);
  const Binding& BindingOf(const plan::PlannedJob& job) const;
  absl::StatusOr<Part> MakePart(const plan::Plan& plan) const;
  // `plan` is a Part's.
  absl::StatusOr<std::unique_ptr<follow::PlanFollower>> MakeFollower(
      const plan::Plan& plan);
  follow::FollowerOptions MakeFollowerOptions();

  // Beginning and end.
  absl::Status TryStart(int64_t start_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<int64_t> TryReplace(const plan::Plan& plan, int64_t at_ns)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends what Start() or Replace() does, and then the run if it is to end.
  void EndControl() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status StartStreams(const Part& part);
  void StopStreams();
  absl::StatusOr<int64_t> BeginTakeOver(Part* part, int64_t at_ns)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void EnterPhase(Phase from, Phase to) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends a running run; it is over once no call is in flight. If another thread
  // is just ending it, or has to do so, this returns before that is done.
  void End(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  void EndIfIdle() ABSL_LOCKS_EXCLUDED(mutex_);

  // Calls.
  static void OnReleaseTime(TimerService::Timer* timer);
  // Makes the calls that are due. One thread at a time does so.
  void ReleaseDue() ABSL_LOCKS_EXCLUDED(mutex_);
  // The next release that the run makes; moves on to next_part_ if the current
  // part has none left.
  absl::optional<plan_run::NextRelease> NextRelease()
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the next call if it is due. Otherwise arms the timer for it and
  // returns null. *is_last: no call is left, and the run has made some.
  std::unique_ptr<CallInFlight> TakeDue(bool* is_last)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Issue(std::unique_ptr<CallInFlight> call);
  // `invocation` is null if the call could not be started.
  void EndCall(std::unique_ptr<CallInFlight> call,
               runtime::AsyncCall* invocation, absl::Status status)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether a call is in flight, or is still to be made.
  bool HasCallsLeft() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Events.
  bool ends_on_violation() const {
    return options_.mode == follow::FollowMode::kStrict &&
           options_.violations == ViolationPolicy::kFail;
  }
  // Called by the scheduler.
  void AddEvent(const follow::PlanEvent& event)
      ABSL_LOCKS_EXCLUDED(event_mutex_);
  // Ends the run soon, because its last call has ended.
  void EndSoon() ABSL_LOCKS_EXCLUDED(event_mutex_);
  void ArmEventTimer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(event_mutex_);
  static void OnEventTime(TimerService::Timer* timer);
  void HandleEvents() ABSL_LOCKS_EXCLUDED(event_mutex_);
  void ReportEvents() ABSL_LOCKS_EXCLUDED(event_mutex_);
  absl::Status ErrorOf(const follow::PlanEvent& event) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  const Ref<runtime::Instance> instance_;
  const Ref<shop::JobShop> shop_;
  const std::shared_ptr<TimerService> timers_;
  const PlanRunOptions options_;
  // Plans the rest of a plan anew if the plan cannot be followed. Its thread
  // starts with the first such job.
  const std::shared_ptr<BackgroundThread> planner_;
  // Set while the run is made.
  std::vector<std::unique_ptr<Binding>> bindings_;
  BoundStreams bound_;  // The same, for checks.
  // Used within the scheduler only.
  const sched::Scheduler* scheduler_ = nullptr;
  follow::PlanSwitcher switcher_;

  mutable Mutex mutex_;
  Phase phase_ ABSL_GUARDED_BY(mutex_) = Phase::kNew;
  bool is_controlled_ ABSL_GUARDED_BY(mutex_) = false;
  // The run is to end with status_ as soon as it is not controlled.
  bool is_end_left_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_issuing_ ABSL_GUARDED_BY(mutex_) = false;  // A thread makes calls.
  int64_t last_issued_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  Part part_ ABSL_GUARDED_BY(mutex_);
  Part next_part_ ABSL_GUARDED_BY(mutex_);
  Timer release_timer_ ABSL_GUARDED_BY(mutex_);
  bool is_release_armed_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t in_flight_count_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t call_count_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t failed_count_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  const Ref<hal::Fence> over_ = hal::Fence::Create();

  Mutex event_mutex_;
  std::vector<follow::PlanEvent> events_ ABSL_GUARDED_BY(event_mutex_);
  bool is_event_timer_armed_ ABSL_GUARDED_BY(event_mutex_) = false;
  bool ends_soon_ ABSL_GUARDED_BY(event_mutex_) = false;
  Timer event_timer_ ABSL_GUARDED_BY(event_mutex_);
};

}  // namespace takt::plan_run

#endif  // TAKT_PLAN_RUN_PLAN_RUN_H_
