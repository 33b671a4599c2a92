// A PlanRun carries out a plan: it releases the jobs and has the scheduler
// follow the plan (follow/plan_switcher.h). Behind takt_plan_run_t.
//
//   kNew --Start()--> kRunning --Stop(), failed, last call done--> kEnding
//                                     no call in flight: kOver <------+
//
// Invariants:
//   (1) While it runs, and while a call of its own is in flight, the run holds
//       a reference to itself.
//   (2) The conductor is the shop's guide from Start() until kEnding; in that
//       time only calls of the scheduler, or ones within JobShop::Run(), touch
//       it.
//   (3) Nobody's code is called under mutex_, nor by who decides.
//
// Thread-safety: as takt/plan_run.h says. Lock order: control_mutex_, then
// mutex_ or event_mutex_; these are leaves, but for the timers' own.
#ifndef TAKT_API_PLAN_RUN_H_
#define TAKT_API_PLAN_RUN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "api/async_call.h"
#include "api/function.h"
#include "api/plan_file.h"
#include "api/stream.h"
#include "base/background_thread.h"
#include "base/mutex.h"
#include "base/object.h"
#include "base/timer_service.h"
#include "follow/plan_switcher.h"
#include "hal/fence.h"
#include "shop/job_shop.h"
#include "takt/plan_run.h"

namespace takt::api {

class PlanRun final : public Object {
 public:
  static constexpr ObjectType kType{"takt.plan_run"};

  static absl::StatusOr<Ref<PlanRun>> Create(
      Instance& instance, PlanFile& plan,
      absl::Span<const takt_plan_binding_t> bindings,
      const takt_plan_run_options_t& options);

  absl::Status Start(int64_t start_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the time at which it takes over.
  absl::StatusOr<int64_t> Replace(PlanFile& plan, int64_t at_ns)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void Stop() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Wait(int64_t deadline_ns) ABSL_LOCKS_EXCLUDED(mutex_);
  takt_plan_run_report_t Query() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status QueryOperation(size_t operation, takt_plan_errors_t* start,
                              takt_plan_errors_t* end);

 private:
  enum class Phase : uint8_t { kNew, kRunning, kEnding, kOver };

  // What a stream of plans is here.
  struct Binding {
    std::string name;
    Ref<Stream> to;
    std::vector<Ref<Function>> functions;
    std::vector<takt_value_t> arguments;  // Of its own.
    Ref<shop::Stream> shop_stream;
    sched::Criticality criticality = sched::Criticality::kSoft;
    takt_plan_done_callback_t on_done = nullptr;
    void* user_data = nullptr;
  };
  // A call that the run is to make, in each repetition.
  struct PlannedCall {
    int64_t offset_ns;
    uint32_t job;  // Of the plan.
    const Binding* binding;
  };
  // A plan, and what the run does for it.
  struct Part {
    Ref<PlanFile> plan;
    std::vector<PlannedCall> releases;  // By offset.
    std::vector<const Binding*> streams;
    int64_t origin_ns = 0;
    int64_t end_ns = kInfiniteFuture;  // Nothing is released from then on.
    uint64_t cycle = 0;                // Of the next release.
    size_t next = 0;
  };
  // A call in flight.
  struct Call {
    Ref<PlanRun> run;
    Ref<Function> function;
    const Binding* binding;
    takt_plan_job_end_t job;
    int64_t deadline_ns;
  };
  struct Timer : TimerService::Timer {
    PlanRun* run = nullptr;
  };

  PlanRun(Instance& instance, Ref<shop::JobShop> shop,
          const takt_plan_run_options_t& options);
  ~PlanRun() override;

  absl::Status Bind(const takt_plan_binding_t& binding);
  absl::Status BindStream(const takt_plan_binding_t& given, Binding* binding);
  absl::Status BindFunctions(const takt_plan_binding_t& given,
                             Binding* binding);
  const Binding* FindBinding(const std::string& stream) const;
  // What the run has to do for `plan`, and who follows it.
  absl::StatusOr<Part> MakePart(PlanFile& plan) const;
  absl::StatusOr<std::unique_ptr<follow::PlanFollower>> MakeFollower(
      const plan::Plan& plan);
  absl::Status CheckModules(const plan::Plan& plan) const;
  absl::Status CheckDevices(const plan::Plan& aligned) const;
  absl::Status CheckPeriods(const plan::Plan& plan,
                            const Binding& binding) const;
  absl::Status CheckTakeOver(const Part& part) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status StartStreams(const Part& part);
  void StopStreams();

  static void OnReleaseTime(TimerService::Timer* timer);
  void ReleaseDue() ABSL_LOCKS_EXCLUDED(mutex_);
  // The next call to make, and when its job is released; null: none.
  const PlannedCall* NextRelease(int64_t* release_ns)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the next call if it is due, or else has the timer fire when it is.
  // *is_last: there is none any more, and none in flight.
  Call* TakeDue(bool* is_last) ABSL_LOCKS_EXCLUDED(mutex_);
  void NoteLast() ABSL_LOCKS_EXCLUDED(event_mutex_);
  void Issue(Call* call);
  void EndCall(Call* call, AsyncCall* invocation, takt_status_t status)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // By who decides.
  void Note(const follow::PlanEvent& violation)
      ABSL_LOCKS_EXCLUDED(event_mutex_);
  static void OnNoticeTime(TimerService::Timer* timer);
  void Tell() ABSL_LOCKS_EXCLUDED(event_mutex_);
  void TellEvents() ABSL_LOCKS_EXCLUDED(event_mutex_);
  absl::Status ErrorOf(const follow::PlanEvent& event) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // The run does not go on; `status` is what it ended with.
  void End(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  // kOver, if nothing is in flight; then whoever waits is told.
  void EndIfIdle() ABSL_LOCKS_EXCLUDED(mutex_);
  // Has Tell() called soon, by a timer's thread.
  void ArmNotice() ABSL_EXCLUSIVE_LOCKS_REQUIRED(event_mutex_);

  const Ref<Instance> instance_;
  const Ref<shop::JobShop> shop_;
  const std::shared_ptr<TimerService> timers_;
  const takt_plan_run_options_t options_;
  // Plans anew what cannot be kept; its thread starts with the first.
  const std::shared_ptr<BackgroundThread> planner_;
  std::vector<std::unique_ptr<Binding>> bindings_;
  // Of who decides:
  const sched::Scheduler* scheduler_ = nullptr;
  follow::PlanSwitcher conductor_;

  Mutex control_mutex_;  // One call of Start(), Replace() or End() at a time.
  mutable Mutex mutex_;
  Phase phase_ ABSL_GUARDED_BY(mutex_) = Phase::kNew;
  bool is_replacing_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_issuing_ ABSL_GUARDED_BY(mutex_) = false;  // Some thread does.
  int64_t last_issued_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  Part part_ ABSL_GUARDED_BY(mutex_);
  Part next_part_ ABSL_GUARDED_BY(mutex_);  // Without a plan: none.
  Timer release_timer_ ABSL_GUARDED_BY(mutex_);
  bool is_release_armed_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t in_flight_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t call_count_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t failed_count_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  const Ref<hal::Fence> over_ = hal::Fence::Create();

  Mutex event_mutex_;
  std::vector<follow::PlanEvent> events_ ABSL_GUARDED_BY(event_mutex_);
  bool is_notice_armed_ ABSL_GUARDED_BY(event_mutex_) = false;
  bool ends_ ABSL_GUARDED_BY(event_mutex_) = false;  // Its calls are done.
  Timer notice_timer_ ABSL_GUARDED_BY(event_mutex_);
};

}  // namespace takt::api

#endif  // TAKT_API_PLAN_RUN_H_
