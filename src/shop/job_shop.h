// The JobShop drives the scheduler in real time: it tells it of work that has
// become ready or has ended, and hands what it decides to the executor.
//
// Who submits work releases a job first (ReleaseJob()), or has one of a stream
// that all such calls share (StreamOf()). Work that was submitted waits until
// the scheduler starts it, on some number of threads. What is to give way to
// something more urgent has done so for the scheduler at once: the executor's
// lanes have the urgent tiles go first on a thread, also where the scheduler
// was not asked, and nobody waits for the tiles that still run. It is started
// again later.
//
// Nobody waits for a decision: events go into a queue, and one of the threads
// that put some there decides for all (shop_event_queue.h). Submit() and the
// like only put events there; Decide() sees to it that they are acted upon.
//
// Ownership: whoever uses a shop holds a reference, as devices do; streams and
// jobs do not. Shutdown() before the executor's.
//
// Thread-safety: every method may run on any thread, but not within a
// PlacementAdvisor. Lock order: mutex_ is a leaf.
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
#include "base/timer_service.h"
#include "exec/executor.h"
#include "sched/profile.h"
#include "sched/scheduler.h"
#include "shop/decision_trace.h"
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
  Histogram response;       // Of those that are met or missed.
  Histogram release_error;  // From when it should have been to when it was.
};

struct ShopStatistics {
  ClassStatistics classes[kCriticalityCount];  // By sched::Criticality.
  uint64_t decide_count = 0;
  uint64_t start_count = 0;
  uint64_t yield_count = 0;
  uint64_t mode_change_count = 0;
};

struct ResourceState {
  std::string pool;
  sched::ResourceKind kind;
  CpuSet cpus;
  bool is_available;
  uint32_t speed_permille;
};

// A job that was late, or not done.
struct JobEnd {
  const ScheduledStream* stream;
  sched::JobOutcome outcome;
  int64_t release_ns;
  int64_t deadline_ns;
  int64_t response_ns;
};

struct JobShopOptions {
  sched::SchedulerOptions scheduler;  // Its guide is not used; see SetGuide().
  const topology::Topology* topology = nullptr;  // Borrowed during Create().
  bool is_placed = false;  // The workers stay where they were put.
  std::vector<NpuPlace> npus;
  // What wakes the scheduler when time alone is the event.
  std::shared_ptr<TimerService> timers;
  int64_t (*now_ns)() = &NowNs;
};

class JobShop final : public Object {
 public:
  static constexpr ObjectType kType{"shop.job_shop"};

  // INVALID_ARGUMENT: what Scheduler::Create() says.
  static absl::StatusOr<Ref<JobShop>> Create(Ref<exec::Executor> executor,
                                             const JobShopOptions& options);
  // No timer fires any more.
  void Shutdown();

  exec::Executor& executor() const { return *executor_; }
  BlockPool& blocks() const { return *blocks_; }
  int64_t now_ns() const { return now_(); }
  // Where NPUs may come, by who decides: in Run().
  const sched::Machine& machine() const { return floor_.machine(); }
  uint32_t core_pools() const { return floor_.core_pools(); }
  const char* policy_name() const { return policy_name_; }

  // INVALID_ARGUMENT naming the term, as Scheduler::AddStream().
  absl::StatusOr<Ref<ScheduledStream>> AddStream(StreamRequirements terms);
  // Of all calls that stand so.
  Ref<ScheduledStream> StreamOf(uint8_t priority,
                                const exec::WorkerSet* allowed)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // A job. The scheduler is told when it has work, or at once if `is_counted`,
  // which statistics and callbacks see in any case. `trace_id`: its number in
  // traces; 0: it gets one.
  Ref<ScheduledJob> ReleaseJob(ScheduledStream& stream, int64_t release_ns,
                               int64_t deadline_ns, bool is_counted,
                               uint64_t trace_id = 0);

  // `work` waits for being started, of `job`, which somebody holds until then.
  // Decide() must be called soon.
  void Submit(ScheduledJob& job, Work* work);
  // Acts upon what was put in, unless somebody does.
  void Decide();
  // The same if anything was put in.
  void Flush() {
    if (!queue_.empty()) Decide();
  }
  // The job is given up; what waits of it is told (Work::GiveUp()).
  void Drop(ScheduledJob& job);

  // See Scheduler::AssessStream() and Admit(). The program is what jobs of the
  // stream have been made of lately; before the first one nobody can tell.
  sched::AdmissionReport Assess(ScheduledStream& stream);
  sched::AdmissionReport Admit(ScheduledStream& stream);
  void Withdraw(ScheduledStream& stream);

  // What guides know the stream by, as long as it is held.
  sched::StreamId IdOf(ScheduledStream& stream);
  // In place of the one that is followed now; nullptr: none. `sees_all`: also
  // dispatches that are too small to be worth a decision go through the
  // scheduler. Borrowed until another one is set.
  void SetGuide(sched::PlacementAdvisor* guide, bool sees_all);
  // The same in place of `expected` only (nullptr: of none); false, and nothing
  // is done, if that is not the one that is set.
  bool SwapGuide(sched::PlacementAdvisor* expected,
                 sched::PlacementAdvisor* guide, bool sees_all);
  // What is followed while no guide is set. Borrowed until another one is.
  void SetStandingGuide(sched::PlacementAdvisor* guide);
  bool schedules_all() const {
    return schedules_all_.load(std::memory_order_relaxed);
  }

  // An NPU that has come, which gets its name and perhaps a number; its work is
  // scheduled with the others' from now on. The pool that it is; RemoveNpu()
  // leaves it to the next of that name. INVALID_ARGUMENT if there are too many.
  absl::StatusOr<uint32_t> AddNpu(const NpuPlace& place)
      ABSL_LOCKS_EXCLUDED(npu_mutex_);
  void RemoveNpu(uint32_t pool) ABSL_LOCKS_EXCLUDED(npu_mutex_);
  // The NPUs that were removed, and whose places nobody has taken.
  sched::ResourceSet gone() ABSL_LOCKS_EXCLUDED(npu_mutex_);

  // The index of a pool; NOT_FOUND naming those that there are.
  absl::StatusOr<uint32_t> FindPool(absl::string_view name);
  // INVALID_ARGUMENT for one that there is not, or a speed that is none.
  absl::Status SetSpeed(uint32_t pool, uint32_t permille);
  absl::Status SetAvailable(uint32_t resource, bool is_available);
  // See Scheduler::SetHot(): by a thermometer, and by the application; it is
  // hot if either says so.
  enum class HeatSource : uint8_t { kSensor, kApplication };
  void SetHot(HeatSource source, bool is_hot);
  // The same by an NPU's own thermometer.
  void SetNpuHot(uint32_t pool, bool is_hot);
  // An NPU works, or does not, so that it is not available. What only it can do
  // goes to it all the same, without a decision: its device knows what to do.
  void SetNpuWorks(uint32_t pool, bool works);
  std::vector<ResourceState> resources();
  sched::Mode mode() const { return mode_.load(std::memory_order_relaxed); }
  ShopStatistics statistics();

  // What was learned, as bytes (sched/profile.h).
  std::string WriteProfile();
  // Takes over durations, also of kernels that have not run yet. DATA_LOSS,
  // UNIMPLEMENTED as sched::ReadProfile().
  absl::StatusOr<sched::ProfileReport> ReadProfile(absl::string_view bytes);

  // Called after decisions, on the thread that decided, perhaps on several at
  // once. Null: nobody is told.
  void SetCallbacks(std::function<void(const JobEnd&)> on_miss,
                    std::function<void(sched::Mode)> on_mode);

  // Calls `call` as the one who decides, and waits for it. For what belongs to
  // the scheduler and has no method here.
  void Run(absl::FunctionRef<void(sched::Scheduler&, int64_t now_ns)> call);

 private:
  friend class ScheduledJob;
  friend class ScheduledStream;
  friend class Task;
  class AdvisorSwitch;
  struct Call;
  // What is told once nobody decides.
  struct Notice {
    Work* given_up = nullptr;
    std::shared_ptr<const std::function<void(const JobEnd&)>> on_miss;
    Ref<ScheduledStream> stream;  // Of `end`.
    JobEnd end{};
    std::shared_ptr<const std::function<void(sched::Mode)>> on_mode;
    sched::Mode mode = sched::Mode::kNominal;
  };
  struct Timer : TimerService::Timer {
    JobShop* shop = nullptr;
  };

  JobShop(Ref<exec::Executor> executor, ResourceMap floor,
          const JobShopOptions& options);
  ~JobShop() override;

  // On the threads of the executor: a shard has left the task.
  void EndShard(Task& task, Task::Outcome outcome, exec::Worker& worker);
  void PostRelease(ScheduledJob& job);
  void EndStream(const ScheduledStream& stream);
  void EndJob(const ScheduledJob& job);

  // By who decides:
  void Drain();
  void ApplyRelease(ScheduledJob& job);
  void ApplyEnd(ScheduledJob& job);
  void ApplyReady(Task& task);
  void ApplyDone(Task& task);
  void ApplyStopped(Task& task);
  // Of the operation that gives way.
  Task& CountYield(const sched::Decision& decision);
  void Yield(const sched::Decision& decision);
  void Cancel(const sched::Decision& decision);
  void Carry(const sched::Decision& decision);
  void Conclude(const sched::Decision& decision);
  void GiveUp(Task& task);
  void RecordStart(Task& task, const sched::Decision& decision);
  void RecordStop(Task& task, uint32_t done_ppm);
  sched::AdmissionReport AskAdmission(
      ScheduledStream& stream,
      absl::FunctionRef<sched::AdmissionReport(sched::Scheduler&)> ask);
  void RecordAdmission(const ScheduledStream& stream,
                       const sched::AdmissionReport& report);
  void ApplyHeat();
  // Whether NPUs that do not work are all that can do it.
  // Keeps what waits; it goes its own way at once if it is stranded.
  void Hold(Task& task);
  bool IsStranded(const Task& task) const;
  void LetGo(Task& task);
  void Link(Task& task);
  void Unlink(Task& task);
  void TellRan(const Task& task);
  void EnsureKnown(ScheduledStream& stream);
  absl::Status TryAddStream(ScheduledStream& stream);
  void RemoveIfDone(ScheduledStream* stream);
  static int64_t GuessNs(const Work& work, uint32_t shards);
  void GuessAnew(sched::KernelId id, const Work& work);
  sched::KernelId KernelOf(const Work& work);
  void ExpectLast(ScheduledStream& stream);
  void ArmTimer();
  static void OnTimer(TimerService::Timer* timer);
  void Tell(std::vector<Notice> notices);

  const Ref<exec::Executor> executor_;
  const std::shared_ptr<TimerService> timers_;
  int64_t (*const now_)();
  const UniqueBlockPool blocks_;
  std::atomic<bool> schedules_all_{false};
  std::atomic<sched::Mode> mode_{sched::Mode::kNominal};
  const char* policy_name_ = nullptr;

  ShopEventQueue queue_;
  // Of who decides:
  ResourceMap floor_;
  const std::unique_ptr<AdvisorSwitch> guide_;
  std::unique_ptr<sched::Scheduler> scheduler_;
  int64_t at_ns_ = 0;                // Now, for this round.
  bool is_hot_[2] = {false, false};  // By HeatSource.
  uint32_t hot_npus_ = 0;            // Bit i: of pool i.
  uint32_t broken_npus_ = 0;         // The same.
  std::vector<Task*> npu_tasks_;     // That wait, and only NPUs can do.
  std::vector<sched::Decision> decisions_;
  std::vector<Task*> yielded_;  // By those decisions.
  std::vector<Task*> tasks_;    // By the index of the operation.
  std::vector<Notice> notices_;
  sched::ProfileData profile_;  // Read, of kernels not seen yet.

  std::shared_ptr<const std::function<void(const JobEnd&)>> on_miss_;
  std::shared_ptr<const std::function<void(sched::Mode)>> on_mode_;
  ShopStatistics statistics_;
  DecisionTrace trace_;

  Mutex timer_mutex_;
  Timer timer_ ABSL_GUARDED_BY(timer_mutex_);
  // When it fires; kInfiniteFuture: it is not armed.
  int64_t armed_ns_ ABSL_GUARDED_BY(timer_mutex_) = kInfiniteFuture;
  bool is_shut_down_ ABSL_GUARDED_BY(timer_mutex_) = false;

  // NPUs that came by AddNpu(). Locked before anybody decides.
  struct KnownNpu {
    NpuPlace place;
    uint32_t pool;
    bool is_there;
  };
  Mutex npu_mutex_;
  std::vector<KnownNpu> npus_ ABSL_GUARDED_BY(npu_mutex_);

  Mutex mutex_;
  std::vector<Ref<ScheduledStream>> shared_streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_JOB_SHOP_H_
