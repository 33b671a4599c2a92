// The JobShop drives the scheduler in real time: it reports work that has
// become ready or has ended to the scheduler, and submits work to the executor
// by the scheduler's decisions.
//
// A caller that submits work releases a job first (ReleaseJob()), or uses a job
// of a stream that all such calls share (StreamOf()). Submitted work waits
// until the scheduler starts it on a number of threads. Work that yields to
// more urgent work counts as stopped for the scheduler at once, although some
// of its tiles still run: the lanes of the executor order the tiles of each
// thread by urgency, so the more urgent work does not wait for them. The
// scheduler starts the rest of the work later.
//
// No thread waits for a decision: events go into a queue, and one of the
// threads that post events decides for all (shop_event_queue.h). Submit() and
// the like only post events; Decide() has them applied.
//
// Memory: what deciders need when the system has no memory left comes from
// spare memory, which the shop has set aside before. While less than that is
// left, ReleaseJob() and Submit() throw std::bad_alloc, and so do the other
// methods with a result. A method that throws has had no effect. What has been
// submitted goes on.
//
// Ownership: users of a shop hold a reference, as devices do; streams and jobs
// do not. Shutdown() comes before that of the executor.
//
// Thread-safety: every method may run on any thread, but not within a
// PlacementAdvisor. "The decider" is the thread that decides now. Lock order:
// mutex_ is a leaf. A method that waits for the decider may run callbacks of
// the user on its thread, so no lock is held around it.
#ifndef TAKT_SHOP_JOB_SHOP_H_
#define TAKT_SHOP_JOB_SHOP_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/block_pool.h"
#include "base/histogram.h"
#include "base/mutex.h"
#include "base/object.h"
#include "base/spare_memory.h"
#include "base/timer_service.h"
#include "exec/executor.h"
#include "sched/profile.h"
#include "sched/scheduler.h"
#include "shop/decision_trace.h"
#include "shop/npu_registry.h"
#include "shop/resource_map.h"
#include "shop/scheduled_stream.h"
#include "shop/shop_event_queue.h"
#include "shop/task.h"
#include "shop/work.h"

namespace takt::shop {

inline constexpr uint32_t kCriticalityCount = 3;

struct ClassStatistics {
  uint64_t released_count = 0;
  uint64_t met_count = 0;
  uint64_t missed_count = 0;
  uint64_t dropped_count = 0;
  uint64_t failed_count = 0;
  Histogram response;       // Of jobs that met or missed their deadline.
  Histogram release_error;  // From the release time to the release.
};

struct ShopStatistics {
  ClassStatistics classes[kCriticalityCount];  // By sched::Criticality.
  uint64_t decide_count = 0;
  uint64_t start_count = 0;
  uint64_t yield_count = 0;
  uint64_t mode_change_count = 0;
  sched::PredictionErrors predictions;
};

struct ResourceState {
  std::string pool;
  sched::ResourceKind kind;
  CpuSet cpus;
  bool is_available;
  uint32_t speed_permille;
};

// A job that was late or was not done.
struct JobEnd {
  const ScheduledStream* stream;
  sched::JobOutcome outcome;
  int64_t release_ns;
  int64_t deadline_ns;
  int64_t response_ns;
};

struct JobShopOptions {
  sched::SchedulerOptions scheduler;  // Without advisor: see SwapAdvisor().
  const topology::Topology* topology = nullptr;  // Borrowed during Create().
  bool is_placed = false;  // Each worker is pinned to its processors.
  std::vector<NpuPlace> npus;
  // Wakes the scheduler at the times that it asks for.
  std::shared_ptr<TimerService> timers;
  int64_t (*now_ns)() = &NowNs;
};

class JobShop final : public Object {
 public:
  static constexpr ObjectType kType{"shop.job_shop"};

  // INVALID_ARGUMENT as Scheduler::Create().
  static absl::StatusOr<Ref<JobShop>> Create(Ref<exec::Executor> executor,
                                             const JobShopOptions& options);
  // No timer fires afterwards.
  void Shutdown();

  exec::Executor& executor() const { return *executor_; }
  BlockPool& blocks() const { return *blocks_; }
  int64_t now_ns() const { return now_(); }
  // If NPUs may be added, this may be called only within Run().
  const sched::Machine& machine() const { return resource_map_.machine(); }
  uint32_t core_pools() const { return resource_map_.core_pools(); }
  const char* policy_name() const { return policy_name_; }

  // INVALID_ARGUMENT naming the term, as Scheduler::AddStream().
  absl::StatusOr<Ref<ScheduledStream>> AddStream(
      StreamRequirements requirements);
  // The stream that all calls with this priority and these workers share.
  Ref<ScheduledStream> StreamOf(uint8_t priority,
                                const exec::WorkerSet* allowed)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Releases a job. The shop reports the job to the scheduler when the job has
  // work, or at once if `is_counted`: statistics and callbacks then include the
  // job in any case. `trace_id`: the number of the job in traces; 0: a new one.
  // A job that `may_miss` its deadline is less urgent: see sched::MetWindow.
  Ref<ScheduledJob> ReleaseJob(ScheduledStream& stream, int64_t release_ns,
                               int64_t deadline_ns, bool is_counted,
                               uint64_t trace_id = 0, bool may_miss = false);

  // Submits `work` of `job`, which waits until the scheduler starts it; the
  // caller holds the job until then. The caller must call Decide() soon.
  void Submit(ScheduledJob& job, Work* work);
  // Applies the events of the queue, unless another thread does so.
  void Decide();
  // Calls Decide() if the queue has events.
  void Flush() {
    if (!queue_.empty()) Decide();
  }
  // Reports that the loan of the job has changed.
  void ReviewLoan(ScheduledJob& job);
  // Gives the job up: its waiting work gets Work::GiveUp().
  void Drop(ScheduledJob& job);

  // See Scheduler::AssessStream() and Admit(). The program is the operations of
  // the last job of the stream; before the first job it is not known.
  sched::AdmissionReport Assess(ScheduledStream& stream);
  sched::AdmissionReport Admit(ScheduledStream& stream);

  // The stream's id for advisors, for as long as the stream is held.
  sched::StreamId IdOf(ScheduledStream& stream);
  // Replaces the advisor if `expected` is the one that is set (nullptr: none).
  // Returns false, without a change, if another one is set. `sees_all`:
  // dispatches that are too small for a decision go through the scheduler, too.
  // Borrowed until another one is set.
  bool SwapAdvisor(sched::PlacementAdvisor* expected,
                   sched::PlacementAdvisor* advisor, bool sees_all);
  // Sets the advisor that is used while no other one is set. Borrowed until it
  // is replaced.
  void SetStandingAdvisor(sched::PlacementAdvisor* advisor);
  bool schedules_all() const {
    return schedules_all_.load(std::memory_order_relaxed);
  }

  // Adds an NPU and returns its pool, which has the NPU's name and, if that is
  // taken, a number. After RemoveNpu() the next NPU of that name gets the pool.
  // INVALID_ARGUMENT if there are too many.
  absl::StatusOr<uint32_t> AddNpu(const NpuPlace& place);
  void RemoveNpu(uint32_t pool);
  // The NPUs that were removed and not replaced.
  sched::ResourceSet gone();

  // The index of a pool. NOT_FOUND names the pools that exist.
  absl::StatusOr<uint32_t> FindPool(absl::string_view name);
  // INVALID_ARGUMENT for an unknown pool or resource, or a speed of 0.
  absl::Status SetSpeed(uint32_t pool, uint32_t permille);
  absl::Status SetAvailable(uint32_t resource, bool is_available);
  // See Scheduler::SetHot(). A sensor and the application report heat; the
  // machine is hot if one of them says so.
  enum class HeatSource : uint8_t { kSensor, kApplication };
  void SetHot(HeatSource source, bool is_hot);
  // Reports whether an NPU is hot, by its sensor.
  void SetNpuHot(uint32_t pool, bool is_hot);
  // Whether an NPU works, and so is available. Work that only this NPU can run
  // goes to it in any case, without a decision: its device handles the fault.
  void SetNpuWorks(uint32_t pool, bool works);
  std::vector<ResourceState> resources();
  sched::Mode mode() const { return mode_.load(std::memory_order_relaxed); }
  ShopStatistics statistics();
  // What it has done without, for want of memory: the blocks that came from
  // spare memory, and the advisors that were given up.
  uint64_t spare_block_count() const { return spare_.taken_count(); }
  uint64_t lost_advisor_count() const;

  // The learned durations, as bytes (sched/profile.h).
  std::string WriteProfile();
  // Adopts learned durations, also for kernels that have not run yet.
  // DATA_LOSS, UNIMPLEMENTED as sched::ReadProfile().
  absl::StatusOr<sched::ProfileReport> ReadProfile(absl::string_view bytes);

  // Called after decisions, on the thread that decided; perhaps on several
  // threads at once. Null: no callback.
  void SetCallbacks(std::function<void(const JobEnd&)> on_miss,
                    std::function<void(sched::Mode)> on_mode);

  // Runs `call` on the decider and waits for it. For methods of the scheduler
  // that the shop does not wrap.
  void Run(absl::FunctionRef<void(sched::Scheduler&, int64_t now_ns)> call);

 private:
  friend class ScheduledJob;
  friend class ScheduledStream;
  friend class Task;
  class AdvisorSwitch;
  struct Call;
  // A callback to make once no thread decides.
  struct Notice {
    Work* given_up = nullptr;  // Else one of the callbacks.
    std::shared_ptr<const std::function<void(const JobEnd&)>> on_miss;
    Ref<ScheduledStream> stream;  // Keeps end.stream.
    JobEnd end{};
    std::shared_ptr<const std::function<void(sched::Mode)>> on_mode;
    sched::Mode mode = sched::Mode::kNominal;
  };
  struct Timer : TimerService::Timer {
    JobShop* shop = nullptr;
  };

  JobShop(Ref<exec::Executor> executor, ResourceMap resources,
          const JobShopOptions& options);
  ~JobShop() override;

  // Posts an event, for which the decider calls `kApply` with its subject.
  template <auto kApply, typename Subject>
  void Post(EventOf<Subject>* event) {
    event->apply = [](ShopEvent* posted) {
      Subject& subject = *static_cast<EventOf<Subject>*>(posted)->subject;
      (subject.shop_->*kApply)(subject);
    };
    queue_.Post(event);
  }
  // A shard has left the task. On the threads of the executor.
  void EndShard(Task& task, Task::Outcome outcome, exec::Worker& worker);
  // The job has or gets an event, so it ends by one, too.
  static void NotePosted(ScheduledJob& job);
  void EndStream(const ScheduledStream& stream);
  void EndJob(const ScheduledJob& job);

  using Notices = SpareVector<Notice>;

  // Called by the decider:
  void Drain(Notices* notices) noexcept;
  void SetSpareBytes();
  // Releases the job with the first of its events: several threads may submit
  // its first work at a time.
  void EnsureReleased(ScheduledJob& job);
  void ApplyStreamEnd(ScheduledStream& stream);
  void ApplyEnd(ScheduledJob& job);
  void ApplyDrop(ScheduledJob& job);
  void ApplyLoan(ScheduledJob& job);
  void TakeLoan(ScheduledJob& job);
  void ApplyReady(Task& task);
  void ApplyDone(Task& task);
  void ApplyStopped(Task& task);
  void ApplyShrunk(Task& task);
  // Counts and records the yield; returns the task of the operation.
  Task& CountYield(const sched::Decision& decision);
  void Yield(const sched::Decision& decision);
  void Cancel(const sched::Decision& decision);
  void CarryOut(const sched::Decision& decision);
  void Conclude(const sched::Decision& decision);
  void GiveUp(Task& task);
  void RecordStart(Task& task, const sched::Decision& decision);
  void RecordStop(Task& task, uint32_t done_ppm);
  sched::AdmissionReport AskAdmission(
      ScheduledStream& stream,
      absl::FunctionRef<sched::AdmissionReport(sched::Scheduler&)> ask);
  void RecordAdmission(const ScheduledStream& stream,
                       const sched::AdmissionReport& report);
  void ApplyAvailable(uint32_t resource, bool is_available);
  void ApplyHeat();
  // Keeps a task that waits. A stranded task starts without a decision.
  void Hold(Task& task);
  // Whether only NPUs that do not work can run it.
  bool IsStranded(const Task& task) const;
  void StartUndecided(Task& task);
  void Link(Task& task);
  void Unlink(Task& task);
  void ReportRun(const Task& task);
  void EnsureKnown(ScheduledStream& stream);
  absl::Status TryAddStream(ScheduledStream& stream);
  static int64_t GuessNs(const Work& work, uint32_t shards);
  static int64_t TileNs(const Work& work);
  void UpdateGuesses(sched::KernelId id, const Work& work);
  sched::KernelId KernelOf(const Work& work);
  void ExpectLast(ScheduledStream& stream);
  void ArmTimer();
  static void OnTimer(TimerService::Timer* timer);
  static void Notify(Notices notices);

  const Ref<exec::Executor> executor_;
  const std::shared_ptr<TimerService> timers_;
  int64_t (*const now_)();
  // The spare memory without which no work is accepted.
  std::atomic<size_t> spare_bytes_{0};
  SpareMemory spare_;
  const UniqueBlockPool blocks_;
  std::atomic<bool> schedules_all_{false};
  std::atomic<sched::Mode> mode_{sched::Mode::kNominal};
  const char* policy_name_ = nullptr;

  ShopEventQueue queue_;
  // Used by the decider only:
  ResourceMap resource_map_;
  const std::unique_ptr<AdvisorSwitch> advisor_;
  std::unique_ptr<sched::Scheduler> scheduler_;
  int64_t at_ns_ = 0;                // The time of this round.
  bool is_hot_[2] = {false, false};  // By HeatSource.
  uint32_t hot_npus_ = 0;            // Bit i: the NPU of pool i.
  uint32_t broken_npus_ = 0;         // Likewise.
  SpareVector<Task*> npu_tasks_;     // Waiting tasks that only NPUs can run.
  SpareVector<sched::Decision> decisions_;
  SpareVector<Task*> yielded_;  // Stopped by these decisions.
  SpareVector<Task*> tasks_;    // By the index of the operation.
  Notices notices_;
  sched::ProfileData profile_;  // For kernels that have not run yet.

  std::shared_ptr<const std::function<void(const JobEnd&)>> on_miss_;
  std::shared_ptr<const std::function<void(sched::Mode)>> on_mode_;
  ShopStatistics statistics_;
  DecisionTrace trace_;

  Mutex timer_mutex_;
  Timer timer_ ABSL_GUARDED_BY(timer_mutex_);
  // The time at which the timer fires; kInfiniteFuture: it is not armed.
  int64_t armed_ns_ ABSL_GUARDED_BY(timer_mutex_) = kInfiniteFuture;
  bool is_shut_down_ ABSL_GUARDED_BY(timer_mutex_) = false;

  NpuRegistry npus_;  // Of AddNpu().

  Mutex mutex_;
  std::vector<Ref<ScheduledStream>> shared_streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_JOB_SHOP_H_
