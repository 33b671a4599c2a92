// The Scheduler is an online job shop: a state machine that decides which
// operation runs when, where and on how many resources. It has no thread, no
// clock and no I/O: a driver reports what happened and when, and carries out
// what it decides. The runtime is one driver, the simulator (src/sim) another.
//
// How to drive it:
//   set up    AddKernel, AddProgram, AddStream: what can run, and how.
//   events    Release, OperationReady, Finished, Yielded, Failed, EndJob,
//             SetSpeed, SetAvailable: any number, in the order of their times.
//   decide    Decide(now, &decisions), once after the events of an instant and
//             at next_timer_ns(): appends the decisions.
// A driver carries a decision out:
//   kStart    runs the operation on these resources, then reports Finished,
//             Yielded or Failed.
//   kYield    stops it at the end of its tile, then reports Yielded, or
//             Finished if no work was left. It is started again later.
//             A driver whose threads are interrupted by more urgent work
//             reports that at once (SchedulerOptions::yields_at_once), while
//             tiles of it still run; if they turn out to be the last ones, it
//             reports Finished for an operation that waits.
//   kCancel   as kYield, at once if it can; what it had done is lost.
//   kJobDone  nothing; the job's handle is dead.
//   kMode     nothing; for the record. As is
//   kDemote   a late job continues as best effort.
// A job may end while its driver prepares the next event, so the handle of a
// job that has ended is accepted without effect. The handle of an operation
// that does not run fails a check: a driver that uses one has a bug.
//
// Order: policy.h. An operation waits in the group of those that may run on the
// same resources, or, if its policy found that waiting for a pool pays, in that
// pool's queue. A round of Decide() looks at the most urgent of each group, so
// what it costs depends on the groups and decisions, not on how many wait.
//
// Invariants:
//   (1) A resource runs one operation at a time, and only one that may run
//       there; an NPU with the cores that it is tied to.
//   (2) An operation starts after its predecessors have finished.
//   (3) A job ends exactly once, with kJobDone, and nothing of it runs then.
//   (4) With a policy that looks at bands, what has waited for
//       Options::aging_ns rises by a band, up to kHard: nothing starves.
//
// Memory: slots are kept for use again; after warm-up nothing is allocated.
// Events and Decide() take what they need from spare memory when the system has
// none (spare_memory.h). Only Create(), AddPool(), AddProgram(), SetExpected()
// and assessments throw std::bad_alloc in a scope of spare memory; they then
// change nothing.
// Thread-safety: none.
#ifndef TAKT_SCHED_SCHEDULER_H_
#define TAKT_SCHED_SCHEDULER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/spare_memory.h"
#include "sched/admission.h"
#include "sched/cost_model.h"
#include "sched/job.h"
#include "sched/job_program.h"
#include "sched/level_counts.h"
#include "sched/machine.h"
#include "sched/mode.h"
#include "sched/placement_advisor.h"
#include "sched/policy.h"
#include "sched/recent_runs.h"
#include "sched/stream.h"
#include "sched/timed_heap.h"

namespace takt::sched {

struct SchedulerOptions {
  const Policy* policy = nullptr;       // nullptr: job-shop.
  PlacementAdvisor* advisor = nullptr;  // Borrowed; nullptr: none.
  // An operation that has waited this long rises by a band; 0: never. A second
  // is longer than the period of control loops, and short for an operator.
  int64_t aging_ns = 1'000'000'000;
  // An operation that is to yield has stopped at once, not at the end of its
  // tile.
  bool yields_at_once = false;
  // How operations slow each other down is learned, and decisions expect it.
  bool learns_slowdown = true;
  // The settings of each mode (mode.h): by Mode.
  ModeSettings modes[kModeCount] = {
      {}, {true, false, 100}, {true, false, 200}, {true, false, 100}};

  // Sets the power setting of every mode.
  void set_fewest_clusters(bool fewest) {
    for (ModeSettings& mode : modes) mode.fewest_clusters = fewest;
  }
};

enum class DecisionKind : uint8_t {
  kStart,
  kYield,
  kCancel,
  kJobDone,
  kMode,
  kDemote,
};

struct Decision {
  DecisionKind kind = DecisionKind::kStart;
  JobId job;
  StreamId stream = 0;
  uint64_t tag = 0;  // As given to Release().
  // kStart, kYield, kCancel:
  OperationId operation;
  KernelId kernel = 0;
  uint32_t program_index = 0;  // Or the order in which it was found.
  uint32_t alternative = 0;
  uint32_t pool = 0;
  uint32_t shards = 0;
  ResourceSet resources;  // With the cores that feed an NPU.
  int64_t expected_end_ns = 0;
  uint32_t done_ppm = 0;  // kStart: what earlier runs have done of it.
  // kStart: it goes before all but hard jobs, since its stream is behind.
  bool is_behind = false;
  // When its advisor has planned it to start; kInfiniteFuture: it has not.
  int64_t planned_start_ns = kInfiniteFuture;
  // kJobDone, kDemote:
  int64_t deadline_ns = kInfiniteFuture;
  // kJobDone:
  JobOutcome outcome = JobOutcome::kMet;
  bool may_miss = false;    // By its caller, or its stream's window.
  int64_t response_ns = 0;  // Since its release.
  // kMode:
  Mode mode = Mode::kNominal;
};

class Scheduler {
 public:
  // INVALID_ARGUMENT: what Machine::Validate() says, or negative times.
  static absl::StatusOr<std::unique_ptr<Scheduler>> Create(
      Machine machine, const SchedulerOptions& options);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Adds a pool after the existing ones and returns its index. Streams whose
  // requirements allow it may use it from now on. Errors: as
  // Machine::Validate().
  absl::StatusOr<uint32_t> AddPool(Pool pool);
  // Errors: those of CostModel::Add() and JobProgram::Create().
  absl::StatusOr<KernelId> AddKernel(
      const KernelKey& key, absl::Span<const AlternativeOptions> alternatives);
  absl::StatusOr<ProgramId> AddProgram(
      absl::Span<const ProgramOperation> operations);
  // INVALID_ARGUMENT naming the term: no such program, a deadline or period
  // that is not positive, a hard stream or a late policy without a deadline,
  // an affinity without any resource of the machine, operations that can run
  // nowhere within it, a hard stream with a share. FAILED_PRECONDITION for one
  // that keeps an NPU between its operations while there are promises, which do
  // not allow for it, and for shares of more than all cores together.
  absl::StatusOr<StreamId> AddStream(const StreamOptions& options);
  // Assesses whether the stream's jobs will meet their deadlines beside all
  // promised streams (admission.h). For a hard stream the answer `will fit` is
  // a promise: its jobs go before jobs without a promise, until Withdraw().
  AdmissionReport Admit(StreamId stream);
  // Assesses the stream as Admit() does, without a promise.
  AdmissionReport AssessStream(StreamId stream) const;
  void Withdraw(StreamId stream);
  // Sets the operations that jobs of a stream without a program are expected to
  // have, for admission. They were learned from earlier jobs. Errors: those of
  // JobProgram::Create(); the stream then keeps its expectation.
  absl::Status SetExpected(StreamId stream,
                           absl::Span<const ProgramOperation> operations);
  // Removes a stream; its id may be used again. None of its jobs may live.
  void RemoveStream(StreamId stream);
  // Whether a job of the stream lives.
  bool HasJobs(StreamId stream) const;

  // Releases a job of the stream; its deadline counts from `release_ns`.
  JobId Release(StreamId stream, int64_t release_ns, uint64_t tag,
                int64_t now_ns);
  // Releases a job with a deadline of its own; kInfiniteFuture: none. With
  // `may_miss` the caller says that the job may miss it; see MetWindow.
  JobId Release(StreamId stream, int64_t release_ns, int64_t deadline_ns,
                uint64_t tag, int64_t now_ns, bool may_miss = false);
  // Reports that an operation of a job without a program has become ready. The
  // id is empty if the job has ended or was given up. `unseen_count`: see
  // AdvisedOperation.
  OperationId OperationReady(JobId job, KernelId kernel, int64_t now_ns,
                             uint32_t unseen_count = 0);
  // Reports that a job without a program will have no further operations. All
  // of its operations have ended.
  void EndJob(JobId job, int64_t now_ns);

  // Reports that an operation is done. Its duration is learned if it never
  // yielded. `ran_ns`: the duration, if the driver has measured it; -1: the
  // time since its start counts. Also for an operation that has yielded and
  // waits.
  void Finished(OperationId operation, int64_t now_ns, int64_t ran_ns = -1);
  // Reports the measured begin and end of a run; called before Finished() or
  // Yielded(). Only the advisor uses them.
  void Ran(OperationId operation, int64_t begin_ns, int64_t end_ns);
  // Reports that a waiting operation runs without a decision of the scheduler.
  // Nothing is learned, and the job continues as if the operation were done.
  void DoneElsewhere(OperationId operation, int64_t now_ns);
  // Reports that an operation stopped at the end of a tile; `done_ppm` of its
  // whole work is done.
  void Yielded(OperationId operation, uint32_t done_ppm, int64_t now_ns);
  // Reports that a running operation, which is not on an NPU, has no more work
  // for `count` of its resources: they are free, and it ends on the others, at
  // least one. Only for an operation that no advisor placed. Returns those that
  // are free now.
  ResourceSet Shrunk(OperationId operation, uint32_t count, int64_t now_ns);
  // Reports that an operation failed; its job fails.
  void Failed(OperationId operation, int64_t now_ns);
  // Gives a job up, as its late policy would.
  void Drop(JobId job, int64_t now_ns);

  // Lends an urgency to a job, because more urgent jobs wait for it. The job is
  // ordered by the greater of its own urgency and the loan. Replaces an earlier
  // loan; Loan() takes it back. A loan never puts a job before promised ones.
  // No effect on a job that has ended.
  void SetLoan(JobId job, const Loan& loan, int64_t now_ns);
  // The urgency that the job can lend: the greater of its own and its loan's.
  // Loan() for a job that has ended.
  Loan UrgencyOf(JobId job);

  // Sets the speed of a pool, in thousandths of its nominal speed: 1 to
  // 1000000.
  void SetSpeed(uint32_t pool, uint32_t permille, int64_t now_ns);
  // Reports whether the machine is about to slow down because of heat.
  void SetHot(bool is_hot, int64_t now_ns);
  // Reports that a resource is lost or available again. Operations on a lost
  // resource are cancelled.
  void SetAvailable(uint32_t resource, bool available, int64_t now_ns);

  // Appends the decisions for this moment to a vector.
  template <typename Decisions>
  void Decide(int64_t now_ns, Decisions* decisions) {
    Decide(now_ns);
    decisions->insert(decisions->end(), pending_.begin(), pending_.end());
    pending_.clear();
  }
  // The time at which Decide() must be called even if no event occurs;
  // kInfiniteFuture: never.
  int64_t next_timer_ns() const;

  // Asks the advisor again about all waiting operations, because its plan has
  // changed.
  void ReviewAdvised(int64_t now_ns);

  const Machine& machine() const { return machine_; }
  const CostModel& costs() const { return costs_; }
  CostModel* mutable_costs() { return &costs_; }
  const JobProgram& program(ProgramId id) const { return programs_[id]; }
  const StreamOptions& stream_options(StreamId id) const {
    return streams_[id]->options;
  }
  // Counts removed streams, too, until their ids are used again.
  uint32_t stream_count() const {
    return static_cast<uint32_t>(streams_.size());
  }
  const Policy& policy() const { return policy_; }
  const SchedulerOptions& options() const { return options_; }
  ResourceSet available() const { return available_; }
  uint32_t speed_permille(uint32_t pool) const { return pools_[pool].permille; }
  bool IsLive(OperationId id) const;
  // Whether the job has neither ended nor been given up.
  bool IsOpen(JobId id) const;
  uint32_t waiting_count() const { return waiting_count_; }
  Mode mode() const { return controller_.mode(); }
  bool is_hot() const { return is_hot_; }
  // It counts the whole runs of operations whose durations were known.
  const PredictionErrors& prediction_errors() const { return errors_; }
  uint32_t live_job_count() const { return live_job_count_; }
  // The kernels of the last whole job of a stream without a program.
  absl::Span<const KernelId> last_sequence(StreamId id) const {
    return streams_[id]->sequence;
  }

 private:
  // Operations that may run on the same resources wait in one heap.
  struct Group {
    ResourceSet eligible;
    uint32_t shards_min = 1;
    OperationHeap heap;
    bool is_done = false;  // In this round.
  };
  struct PoolState {
    ResourceSet resources;
    uint32_t permille = 1000;
    OperationHeap held;
    bool is_done = false;
    int64_t held_work_ns[kBandCount] = {};
    FairClock fair;
  };
  struct BandList {
    OperationRecord* first = nullptr;
    OperationRecord* last = nullptr;
  };
  using DelayEntry = TimedHeap<OperationId>::Entry;

  Scheduler(Machine machine, const SchedulerOptions& options);

  // scheduler.cc: set-up and slots.
  absl::Status CheckTerms(const StreamOptions& options) const;
  absl::Status CheckLeases(const StreamOptions& options) const;
  absl::Status CheckPlaces(const StreamOptions& options) const;
  StreamId NewStreamId();
  ResourceSet ResourcesFor(KernelId kernel) const;
  AdmissionTask TaskOf(const StreamRecord& stream) const;
  uint32_t SharedCores(const ResourceSet& allowed) const;
  absl::Status CheckShares(const StreamRecord& stream) const;
  void CountWeight(const StreamRecord& stream, int change);
  void UpdateDemand(StreamRecord* stream);
  JobRecord* FindOpenJob(JobId id);
  OperationRecord* FindOperation(OperationId id);
  JobRecord* NewJob();
  OperationRecord* NewOperation(JobRecord* job, KernelId kernel,
                                uint32_t program_index);
  void FreeOperation(OperationRecord* operation);
  size_t live_operation_count() const {
    return operations_.size() - free_operations_.size();
  }
  void FreeJob(JobRecord* job);

  // scheduler_events.cc
  // The part of a duration that `rest_ppm` of `whole_ppm` is.
  static int64_t PartOf(int64_t duration_ns, int64_t rest_ppm,
                        int64_t whole_ppm);
  // The time of `count` resources together.
  static int64_t OfAll(int64_t duration_ns, uint32_t count);
  void Advance(int64_t now_ns);
  void MakeReady(JobRecord* job, uint32_t program_index, int64_t now_ns);
  void Enqueue(OperationRecord* operation, int64_t now_ns);
  void Dequeue(OperationRecord* operation);
  void Wait(OperationRecord* operation, int64_t now_ns);
  void Reconsider(OperationRecord* operation, int64_t now_ns);
  int64_t TakeAdvice(OperationRecord* operation, int64_t now_ns);
  void StopWaiting(OperationRecord* operation);
  void LeaveBand(OperationRecord* operation);
  void CountForCores(OperationRecord* operation);
  void UncountForCores(OperationRecord* operation);
  void End(OperationRecord* operation, int64_t now_ns);
  void StopRunning(OperationRecord* operation);
  void CancelRun(OperationRecord* operation);
  // Frees some or all of the resources on which it runs.
  void FreeResources(OperationRecord* operation, const ResourceSet& freed);
  void ReleaseSuccessors(JobRecord* job, uint32_t program_index,
                         int64_t now_ns);
  void PassDeadline(JobRecord* job, int64_t now_ns);
  void Demote(JobRecord* job, int64_t now_ns);
  void GiveUp(JobRecord* job, JobOutcome outcome, int64_t now_ns);
  void CompleteJob(JobRecord* job, int64_t now_ns);
  void LookAtMode(int64_t now_ns);
  void ApplyMode();
  void RequeueHeld(uint32_t pool, int64_t now_ns);

  // scheduler_rank.cc
  static Loan UrgencyOf(const JobRecord& job);
  static void TakeUrgency(OperationRecord* operation);
  void ReviewShares();
  void RaiseOldest(StreamRecord* stream);
  void SetRaised(OperationRecord* operation, uint32_t cores);
  void CountUsed(StreamRecord* stream);
  void TakeTag(OperationRecord* operation);
  void FindPlaces(OperationRecord* operation);
  Rank RankFor(const OperationRecord& operation) const;
  bool IsToBecomeCritical(const DelayEntry& entry) const;
  void FindCritical(OperationRecord* operation);
  void RaiseCritical();
  void RankAnew(OperationRecord* operation);
  void RankAnew(JobRecord* job);
  void RankAll();
  uint32_t GroupOf(const ResourceSet& eligible, uint32_t shards_min);
  void Age(int64_t now_ns);

  // scheduler_learn.cc
  void Learn(const OperationRecord& operation, int64_t ran_ns, int64_t now_ns);
  void LearnBeside(const OperationRecord& operation, int64_t begin_ns,
                   int64_t end_ns, int64_t nominal_ns);
  void Predict(OperationRecord* operation);

  // scheduler_advised.cc
  bool HasPlace(const OperationRecord& operation,
                const ResourceSet& there) const;
  Prescription Ask(const OperationRecord& operation, int64_t now_ns);
  void TakePlaces(OperationRecord* operation, const Prescription& prescription);
  AdvisedOperation AdvisedOf(const OperationRecord& operation) const;
  void ReportStopped(const OperationRecord& operation, bool is_done,
                     int64_t now_ns);
  void Delay(OperationRecord* operation, int64_t not_before_ns);
  bool IsDelayed(const DelayEntry& entry) const;
  void EndDelays(int64_t now_ns);
  void ReviewDelayed(int64_t now_ns);

  // scheduler_decide.cc
  void Decide(int64_t now_ns);
  void PlaceTop(OperationRecord* operation, bool is_held, bool* is_done);
  // The top of a heap of waiting operations.
  struct HeapTop {
    OperationRecord* operation = nullptr;  // Null: nothing is left to place.
    bool is_held = false;                  // By a pool, not in a group.
    bool* is_done = nullptr;               // Of the heap, for this round.
  };
  HeapTop MostUrgentTop();
  void BuildPlacements(const OperationRecord& operation, bool is_held);
  void AddPlacement(const OperationRecord& operation, uint32_t alternative);
  int64_t Duration(const OperationRecord& operation,
                   uint32_t alternative) const;
  int64_t AtSpeed(int64_t duration_ns, uint32_t pool) const;
  void PredictRun(OperationRecord* operation,
                  const CostModel::Alternative& run);
  int64_t ExpectedEnd(const OperationRecord& running) const;
  int64_t ExpectedFree(const ResourceSet& resources, uint32_t count) const;
  int64_t QueueAhead(const OperationRecord& operation, uint32_t pool) const;
  ResourceSet PlacesOf(const OperationRecord& operation, uint32_t pool) const;
  ResourceSet FreeOf(const OperationRecord& operation, uint32_t pool) const;
  ResourceSet FeederPlaces(uint32_t pool) const;
  ResourceSet FeedersOf(const OperationRecord& operation, uint32_t pool) const;
  void Start(OperationRecord* operation, const Placement& placement);
  void YieldLeases(JobRecord* job);
  void Hold(OperationRecord* operation, const Placement& placement);
  bool GivesUpNow(const OperationRecord& operation) const;
  bool Preempt(OperationRecord* operation, bool is_held, int64_t start_ns,
               int64_t finish_ns);
  bool PreemptToExpand(const OperationRecord& operation, const Placement& free);
  bool IsTooWide(const OperationRecord& operation, uint32_t shards) const;
  int64_t PreemptedFinish(const OperationRecord& operation,
                          uint32_t alternative);
  uint32_t Obtainable(const OperationRecord& operation,
                      const ResourceSet& places, int64_t* tile_ns) const;
  bool MayPreempt(const OperationRecord& urgent,
                  const OperationRecord& running) const;
  void AskToYield(const OperationRecord& operation, const ResourceSet& places,
                  uint32_t count);
  void Collect(const OperationRecord& operation);
  bool TakesCores(uint32_t pool) const;
  uint32_t CountOthers(const OperationRecord& operation) const;
  // The index of one of placements_; -1: none.
  int32_t AskPolicy(const OperationRecord& operation, bool is_held,
                    uint32_t others_waiting);
  void Widen(uint32_t pool);
  void WidenIdlePools();
  ResourceSet MayHave(const OperationRecord& running);
  bool WouldBeWider(OperationRecord* running, const ResourceSet& allowed);
  int64_t WideningGain(const OperationRecord& running,
                       uint32_t free_count) const;
  Decision About(const OperationRecord& operation, DecisionKind kind) const;

  Machine machine_;  // Grows.
  const SchedulerOptions options_;
  const Policy& policy_;
  CostModel costs_;
  SpareDeque<JobProgram> programs_;
  SpareDeque<std::unique_ptr<StreamRecord>> streams_;
  SpareVector<PoolState> pools_;
  SpareVector<Group> groups_;

  SpareDeque<JobRecord> jobs_;
  SpareVector<JobRecord*> free_jobs_;
  SpareDeque<OperationRecord> operations_;
  SpareVector<OperationRecord*> free_operations_;

  ResourceSet available_;
  ResourceSet free_;
  ResourceSet claimed_;  // In this round: kept for something more urgent.
  SpareVector<OperationRecord*> running_on_;  // By resource.
  SpareVector<JobId> leased_to_;              // By resource.
  int64_t pressure_ppm_ = 0;                  // Of all that runs.
  RecentRuns recent_runs_;
  SpareVector<Neighbour> neighbours_;  // Of the run that is learned from.
  PredictionErrors errors_;

  BandList bands_[kBandCount];
  LevelCounts for_cores_;  // Of operations that wait for cores.
  TimedHeap<JobId> deadlines_;
  TimedHeap<OperationId> delayed_;  // By the advisor.
  // Operations that will be critical if they still wait.
  TimedHeap<OperationId> criticals_;
  SpareVector<OperationId> reviewed_;
  SpareVector<StreamId> free_streams_;
  SpareVector<StreamRecord*> sharing_;       // Streams that have a share.
  int64_t share_next_ns_ = kInfiniteFuture;  // One may fall behind, or not be.
  uint32_t weight_count_ = 0;                // Streams that have a weight.
  SpareVector<Decision> pending_;            // Decisions that events made.
  SpareVector<Placement> placements_;
  Situation situation_;
  ModeController controller_;
  bool is_hot_ = false;
  Indicators indicators_;  // Since the last look.
  int64_t now_ns_ = 0;
  int64_t next_hold_ns_ = kInfiniteFuture;
  int64_t next_late_ns_ = kInfiniteFuture;  // What is waited for is late then.
  bool has_stopped_ = false;  // An operation stopped since the last review.
  uint64_t next_sequence_ = 0;
  uint32_t waiting_count_ = 0;
  uint32_t live_job_count_ = 0;
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_SCHEDULER_H_
