// Goal: scheduler, fences, loans of urgency, memory admission and faults of
// NPUs keep their promises together. Method: random robots in virtual time, on
// the library's own scheduler, fences, borrowers and memory budget. After each
// event the state is compared with a model that shares no code with them.
//
// A call arrives, waits for the fences of earlier calls, then for memory, then
// its operations run as the scheduler decides. Its end signals its fence or, if
// it was dropped or has failed, fails it, and gives its memory back.
//
// TAKT_SIM_RUNS=1000000 makes the run long. A failure prints the seed and the
// version; TAKT_SIM_SEED=n TAKT_SIM_RUNS=1 plays it again.
#include <algorithm>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/borrower.h"
#include "base/random.h"
#include "cpu/memory_budget.h"
#include "gtest/gtest.h"
#include "hal/fence.h"
#include "sched/scheduler.h"
#include "tests/sim/random_workload.h"
#include "tests/sim/test_support.h"

#ifndef TAKT_SIM_VERSION
#define TAKT_SIM_VERSION "not known"
#endif

namespace takt::sim {
namespace {

using sched::Band;
using sched::Decision;
using sched::DecisionKind;
using sched::JobOutcome;

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kAgingNs = 2 * kMillisecond;
constexpr uint64_t kBudgetBytes = 1000;
constexpr int64_t kLengthNs = 40 * kMillisecond;  // Of the arrivals.

class Robot;

// A call, from its arrival to its end.
struct Call final : hal::FenceWaiter,
                    cpu::MemoryBudget::Request,
                    Borrower::Observer {
  enum class Phase { kFences, kMemory, kRuns, kEnded };

  explicit Call(Robot* its_robot);
  void OnUrgency(const JobUrgency& urgency, Borrower::Calls* after) override;

  Robot* const robot;
  uint64_t number = 0;
  uint32_t stream = 0;
  Phase phase = Phase::kFences;
  std::vector<Call*> waits_for;  // At its arrival.
  Ref<hal::Fence> fence;         // Signaled, or failed, at its end.
  Ref<Borrower> borrower;
  JobUrgency own;
  int64_t arrival_ns = 0;
  int64_t deadline_ns = kInfiniteFuture;
  sched::JobId job;
  bool was_told = false;  // The scheduler has said that the job is over.
  // Since when none of its operations runs; -1: one does. And when one has to.
  int64_t idle_since_ns = -1;
  int64_t starved_at_ns = kInfiniteFuture;
};

// An operation that runs, in virtual time.
struct Run {
  Decision start;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t whole_ns = 0;  // Of the whole operation.
  int64_t tile_ns = 0;
  bool fails = false;
  bool is_cancelled = false;
};

struct Event {
  enum class Kind { kArrival, kStop, kLose, kFind, kSpeed, kCancelCall };
  int64_t at_ns;
  uint64_t order;
  Kind kind;
  uint32_t index;
  uint64_t epoch;
  bool operator<(const Event& other) const {
    return at_ns != other.at_ns ? at_ns > other.at_ns : order > other.order;
  }
};

class Robot {
 public:
  explicit Robot(uint64_t seed) : random_(seed) { Build(); }
  ~Robot() {
    for (auto& call : calls_) {
      if (call->borrower != nullptr && call->phase != Call::Phase::kEnded) {
        call->borrower->Unobserve(call.get());
      }
    }
  }

  // Empty, or the first invariant that was broken.
  std::string Play() {
    while (!events_.empty() && fault_.empty()) {
      now_ns_ = events_.top().at_ns;
      if (++event_count_ > 20'000) return "events without end";
      while (!events_.empty() && events_.top().at_ns == now_ns_) {
        const Event event = events_.top();
        events_.pop();
        Apply(event);
      }
      Decide();
      CheckState();
      PostTimer();
    }
    if (fault_.empty()) CheckEnd();
    return fault_.empty() ? fault_
                          : absl::StrCat(fault_, " at ", now_ns_, " ns, event ",
                                         event_count_);
  }

  BlockPool& blocks() { return *blocks_; }
  sched::Scheduler& scheduler() { return *scheduler_; }
  int64_t now_ns() const { return now_ns_; }
  uint64_t loan_count() const { return loan_count_; }
  uint64_t promised_count() const { return promised_count_; }
  uint64_t aged_count() const { return aged_count_; }

  void OnFences(Call& call, const absl::Status& status) {
    if (call.phase != Call::Phase::kFences) {
      Fault("a call was told twice of its fences");
      return;
    }
    call.phase = Call::Phase::kMemory;
    if (!status.ok()) {
      budget_.Withdraw(call);
      End(call, status);
      return;
    }
    for (const Call* each : call.waits_for) {
      bool reached = false;
      if (!each->fence->Query(&reached).ok() || !reached) {
        Fault("a call was told before its fences were reached");
      }
    }
    if (budget_.Await(call)) Begin(call);
  }
  void OnMemory(Call& call, const absl::Status& status) {
    if (call.phase != Call::Phase::kMemory || !status.ok()) {
      Fault("a call got memory out of turn");
      return;
    }
    Begin(call);
  }
  void NoteLoan(Call& call) {
    if (call.phase == Call::Phase::kRuns) SetLoan(call);
  }

 private:
  void Fault(std::string text) {
    if (fault_.empty()) fault_ = std::move(text);
  }
  void Post(int64_t at_ns, Event::Kind kind, uint32_t index,
            uint64_t epoch = 0) {
    events_.push({at_ns, next_order_++, kind, index, epoch});
  }

  void Build() {
    RandomWorkloadOptions made;
    made.with_faults = false;
    workload_ = MakeRandomWorkload(made, random_);
    // Without noise and faults, promises have to be kept.
    is_steady_ = random_.Below(3) == 0;
    sched::SchedulerOptions options;
    options.aging_ns = kAgingNs;
    options.yields_at_once = false;
    scheduler_ = *sched::Scheduler::Create(workload_.machine, options);
    uint32_t number = 0;
    for (const WorkloadKernel& kernel : workload_.kernels) {
      kernels_.push_back(*scheduler_->AddKernel({1, number++, {1, 1, 1}},
                                                kernel.alternatives));
    }
    for (const WorkloadProgram& program : workload_.programs) {
      programs_.push_back(*scheduler_->AddProgram(program.operations));
    }
    for (WorkloadStream& stream : workload_.streams) {
      stream.terms.lease = sched::LeaseScope::kOperation;
      // In one stream of four its calls stand alone and ask for a promise.
      const bool asks = is_steady_ && random_.Below(4) == 0;
      if (asks) {
        stream.terms.criticality = sched::Criticality::kHard;
        stream.terms.share_permille = 0;
        stream.terms.period_ns *= 2 + random_.Below(6);
        stream.terms.deadline_ns = stream.terms.period_ns;
      }
      const sched::StreamId id = *scheduler_->AddStream(stream.terms);
      is_promised_.push_back(asks && scheduler_->Admit(id).verdict ==
                                         sched::Verdict::kWillFit);
      stands_alone_.push_back(asks);
      Post(random_.Below(2 * kMillisecond), Event::Kind::kArrival, id);
    }
    user_.assign(workload_.machine.resource_count(), nullptr);
    is_lost_.assign(workload_.machine.resource_count(), false);
    if (is_steady_) return;
    for (uint32_t i = 0; i < random_.Below(4); ++i) {
      Post(random_.Below(kLengthNs), Event::Kind::kLose,
           random_.Below(workload_.machine.resource_count()));
    }
    for (uint32_t i = 0; i < random_.Below(3); ++i) {
      Post(
          random_.Below(kLengthNs), Event::Kind::kSpeed,
          random_.Below(static_cast<uint32_t>(workload_.machine.pools.size())));
    }
  }

  void Apply(const Event& event) {
    switch (event.kind) {
      case Event::Kind::kArrival:
        Arrive(event.index);
        break;
      case Event::Kind::kStop:
        Stop(event.index, event.epoch);
        break;
      case Event::Kind::kLose:
        if (is_lost_[event.index]) break;
        is_lost_[event.index] = true;
        scheduler_->SetAvailable(event.index, false, now_ns_);
        Post(now_ns_ + 1 + random_.Below(5 * kMillisecond), Event::Kind::kFind,
             event.index);
        break;
      case Event::Kind::kFind:
        is_lost_[event.index] = false;
        scheduler_->SetAvailable(event.index, true, now_ns_);
        break;
      case Event::Kind::kSpeed:
        scheduler_->SetSpeed(event.index, 300 + random_.Below(1000), now_ns_);
        break;
      case Event::Kind::kCancelCall:
        CancelCall(*calls_[event.index]);
        break;
    }
  }

  void Arrive(uint32_t stream) {
    const sched::StreamOptions& terms = workload_.streams[stream].terms;
    const int64_t next_ns = now_ns_ + terms.period_ns;
    if (next_ns < kLengthNs) {
      Post(next_ns, Event::Kind::kArrival, stream);
    }
    calls_.push_back(std::make_unique<Call>(this));
    Call& call = *calls_.back();
    call.number = calls_.size() - 1;
    call.stream = stream;
    call.arrival_ns = now_ns_;
    call.deadline_ns = DeadlineAfter(now_ns_, terms.deadline_ns);
    call.own = {static_cast<JobUrgency::Criticality>(
                    2 - static_cast<int>(terms.criticality)),
                terms.priority, call.deadline_ns};
    call.borrower = Borrower::Create(*blocks_, call.own);
    call.borrower->Observe(&call);
    call.fence = hal::Fence::Create();
    call.bytes = stands_alone_[stream] ? 0 : 1 + random_.Below(400);
    if (is_promised_[stream]) ++promised_count_;
    // A fence has its signaller before the call waits, or later.
    const bool is_early = random_.Below(2) == 0;
    if (is_early) WillSignal(call);
    std::vector<const hal::Fence*> fences;
    if (!stands_alone_[stream]) {
      for (uint32_t i = random_.Below(3); i > 0 && call.number > 0; --i) {
        const uint64_t back = 1 + random_.Below(static_cast<uint32_t>(
                                      std::min<uint64_t>(call.number, 12)));
        Call* const other = calls_[call.number - back].get();
        if (other->phase == Call::Phase::kEnded) continue;
        call.waits_for.push_back(other);
        fences.push_back(other->fence.get());
      }
      if (random_.Below(16) == 0) {
        Post(now_ns_ + random_.Below(4 * kMillisecond),
             Event::Kind::kCancelCall, static_cast<uint32_t>(call.number));
      }
    }
    if (call.bytes > 0) budget_.Announce(call);
    absl::Status status;
    if (!call.Start(fences, &status, call.borrower.get())) {
      call.bytes > 0 ? OnFences(call, status) : Begin(call);
    }
    if (!is_early && call.phase != Call::Phase::kEnded) WillSignal(call);
  }

  void WillSignal(Call& call) {
    call.fence->SetSignaller(hal::Signaller::Create("a call"),
                             call.borrower.get());
  }

  void Begin(Call& call) {
    call.phase = Call::Phase::kRuns;
    used_bytes_ += call.bytes;
    ++begun_count_;
    call.job =
        scheduler_->Release(call.stream, call.arrival_ns, call.number, now_ns_);
    if (scheduler_->IsOpen(call.job)) SetLoan(call);
  }

  static Band BandOf(const JobUrgency& urgency) {
    return static_cast<Band>(3 - static_cast<int>(urgency.criticality));
  }

  void SetLoan(Call& call) {
    sched::Loan loan;
    if (call.borrower->has_loan()) {
      ++loan_count_;
      const JobUrgency urgency = call.borrower->urgency();
      loan = {BandOf(urgency), urgency.priority, urgency.deadline_ns};
    }
    scheduler_->SetLoan(call.job, loan, now_ns_);
    ForgetWait(call);  // It ages anew.
  }

  static void ForgetWait(Call& call) {
    call.idle_since_ns = -1;
    call.starved_at_ns = kInfiniteFuture;
  }

  void CancelCall(Call& call) {
    if (call.phase == Call::Phase::kRuns && !call.was_told) {
      scheduler_->Drop(call.job, now_ns_);
    } else if (call.phase == Call::Phase::kFences &&
               call.Cancel(absl::CancelledError("cancelled"))) {
      OnFences(call, absl::CancelledError("cancelled"));
    }
  }

  void End(Call& call, const absl::Status& status) {
    if (call.phase == Call::Phase::kEnded) {
      Fault("a call ended twice");
      return;
    }
    const bool had_memory = call.phase == Call::Phase::kRuns;
    call.phase = Call::Phase::kEnded;
    call.borrower->Unobserve(&call);
    if (had_memory) --begun_count_;
    if (had_memory && call.bytes > 0) {
      used_bytes_ -= call.bytes;
      budget_.GiveBack(call.bytes);
    }
    if (status.ok()) {
      call.fence->Signal().IgnoreError();
    } else {
      call.fence->Fail(status);
    }
  }

  void Decide() {
    // The end of a call lets others begin, which are events of this instant.
    std::vector<Decision> decisions;
    do {
      decisions.clear();
      scheduler_->Decide(now_ns_, &decisions);
      for (const Decision& decision : decisions) Carry(decision);
    } while (!decisions.empty());
  }

  void Carry(const Decision& decision) {
    switch (decision.kind) {
      case DecisionKind::kStart:
        StartRun(decision);
        break;
      case DecisionKind::kYield:
        StopEarly(decision, /*is_cancel=*/false);
        break;
      case DecisionKind::kCancel:
        StopEarly(decision, /*is_cancel=*/true);
        break;
      case DecisionKind::kJobDone:
        OnJobDone(decision);
        break;
      case DecisionKind::kMode:
      case DecisionKind::kDemote:
        break;
    }
  }

  void StartRun(const Decision& decision) {
    const Call& call = *calls_[decision.tag];
    if (call.phase != Call::Phase::kRuns) {
      Fault("an operation of a call that does not run");
      return;
    }
    auto run = std::make_unique<Run>();
    run->start = decision;
    run->begin_ns = now_ns_;
    const auto& alternative = FindAlternative(decision);
    run->whole_ns = std::max<int64_t>(alternative.guess_ns, 1);
    run->tile_ns = alternative.tile_ns;
    const sched::Pool& pool = workload_.machine.pools[decision.pool];
    if (!is_steady_) {
      run->whole_ns = std::max<int64_t>(
          1, run->whole_ns * (700 + random_.Below(900)) / 1000);
      const bool is_npu = pool.kind == sched::ResourceKind::kNpu;
      // The driver of an NPU has tried again, or gives up.
      if (is_npu && random_.Below(16) == 0) run->whole_ns *= 3;
      run->fails = is_npu && random_.Below(32) == 0;
    }
    const int64_t done =
        run->whole_ns / 1'000'000 * decision.done_ppm +
        run->whole_ns % 1'000'000 * decision.done_ppm / 1'000'000;
    run->end_ns = now_ns_ + std::max<int64_t>(run->whole_ns - done, 1);
    decision.resources.ForEach([&](uint32_t resource) {
      if (user_[resource] != nullptr) Fault("a resource that is in use");
      if (is_lost_[resource]) Fault("a resource that is lost");
      user_[resource] = run.get();
    });
    const uint32_t index = decision.operation.index;
    if (runs_.size() <= index) runs_.resize(index + 1);
    if (runs_[index] != nullptr) Fault("an operation that runs already");
    runs_[index] = std::move(run);
    ++running_count_;
    Post(runs_[index]->end_ns, Event::Kind::kStop, index, ++epoch_);
    epochs_.resize(std::max<size_t>(epochs_.size(), index + 1));
    epochs_[index] = epoch_;
  }

  const sched::AlternativeOptions& FindAlternative(const Decision& decision) {
    for (const auto& each : workload_.kernels[decision.kernel].alternatives) {
      if (each.pool == decision.pool && each.shards == decision.shards) {
        return each;
      }
    }
    Fault("an alternative that does not exist");
    return workload_.kernels[decision.kernel].alternatives[0];
  }

  // It stops at the end of its tile, or at its end if it has no tiles; what
  // runs on a lost resource stops at once.
  void StopEarly(const Decision& decision, bool is_cancel) {
    const uint32_t index = decision.operation.index;
    // It may have ended, or stopped, by an event that came after the decision.
    if (!scheduler_->IsLive(decision.operation) || index >= runs_.size() ||
        runs_[index] == nullptr ||
        !(runs_[index]->start.operation == decision.operation)) {
      return;
    }
    Run& run = *runs_[index];
    const bool is_lost =
        !decision.resources.IsSubsetOf(scheduler_->available());
    int64_t at_ns = run.end_ns;
    if (is_cancel && is_lost) {
      at_ns = now_ns_;
    } else if (run.tile_ns > 0) {
      const int64_t tiles = (now_ns_ - run.begin_ns) / run.tile_ns + 1;
      at_ns = std::min(at_ns, run.begin_ns + tiles * run.tile_ns);
    }
    run.is_cancelled |= is_cancel;
    Post(at_ns, Event::Kind::kStop, index, ++epoch_);
    epochs_[index] = epoch_;
  }

  void Stop(uint32_t index, uint64_t epoch) {
    if (epochs_[index] != epoch || runs_[index] == nullptr) return;
    const std::unique_ptr<Run> run = std::move(runs_[index]);
    --running_count_;
    for (Run*& user : user_) {
      if (user == run.get()) user = nullptr;
    }
    const bool is_done = now_ns_ >= run->end_ns;
    if (run->is_cancelled) {
      scheduler_->Yielded(run->start.operation, 0, now_ns_);
    } else if (!is_done) {
      const int64_t ran_ppm =
          (now_ns_ - run->begin_ns) * 1'000'000 / run->whole_ns;
      scheduler_->Yielded(run->start.operation,
                          static_cast<uint32_t>(std::min<int64_t>(
                              run->start.done_ppm + ran_ppm, 999'999)),
                          now_ns_);
    } else if (run->fails) {
      scheduler_->Failed(run->start.operation, now_ns_);
    } else {
      scheduler_->Finished(run->start.operation, now_ns_);
    }
  }

  void OnJobDone(const Decision& decision) {
    Call& call = *calls_[decision.tag];
    if (call.was_told) Fault("a job ended twice");
    call.was_told = true;
    for (const auto& run : runs_) {
      if (run != nullptr && run->start.tag == decision.tag) {
        Fault("a job ended while an operation of it runs");
      }
    }
    switch (decision.outcome) {
      case JobOutcome::kMet:
      case JobOutcome::kMissed: {
        const bool is_late = now_ns_ > call.deadline_ns;
        if (is_late != (decision.outcome == JobOutcome::kMissed)) {
          Fault("a wrong outcome");
        }
        if (is_late && is_promised_[call.stream]) Fault("a broken promise");
        End(call, absl::OkStatus());
        break;
      }
      case JobOutcome::kDropped:
      case JobOutcome::kFailed:
        if (is_promised_[call.stream]) Fault("a promised job was dropped");
        End(call, absl::AbortedError("given up"));
        break;
    }
  }

  void CheckState() {
    CheckMemory();
    CheckLoans();
    CheckStarvation();
    if (scheduler_->live_job_count() != begun_count_) {
      Fault(absl::StrCat("the scheduler counts ", scheduler_->live_job_count(),
                         " jobs, and there are ", begun_count_));
    }
    // A lost wake-up: work waits, and nothing will ever happen.
    const bool something_comes =
        running_count_ > 0 || scheduler_->next_timer_ns() != kInfiniteFuture ||
        std::any_of(is_lost_.begin(), is_lost_.end(), [](bool l) { return l; });
    if (scheduler_->waiting_count() > 0 && !something_comes) {
      Fault("work waits, and no event will come");
    }
  }

  // What waits rises by a band twice at the most, and is then before all that
  // comes later: it runs when all that was there is done, even one after the
  // other. Promised jobs go before it, and lost resources may be what it needs.
  // Hard jobs do not rise, nor do those that a hard job lends its urgency: they
  // are in the highest band.
  void CheckStarvation() {
    const bool is_excused =
        promised_count_ > 0 ||
        std::any_of(is_lost_.begin(), is_lost_.end(), [](bool l) { return l; });
    std::vector<bool> is_running(calls_.size(), false);
    for (const auto& run : runs_) {
      if (run != nullptr) is_running[run->start.tag] = true;
    }
    int64_t work_ns = 0;
    for (const auto& call : calls_) {
      // One that has not begun may already be late, and then goes before.
      if (call->phase != Call::Phase::kEnded) work_ns += WorkOf(*call);
    }
    for (const auto& call : calls_) {
      if (call->phase != Call::Phase::kRuns || call->was_told || is_excused ||
          is_running[call->number] || IsHard(*call)) {
        ForgetWait(*call);
        continue;
      }
      if (call->idle_since_ns < 0) call->idle_since_ns = now_ns_;
      if (now_ns_ > call->starved_at_ns) {
        Fault(absl::StrCat("call ", call->number, " has waited since ",
                           call->idle_since_ns));
      }
      if (call->starved_at_ns == kInfiniteFuture &&
          now_ns_ - call->idle_since_ns >= 2 * kAgingNs) {
        // What is preempted may begin again.
        call->starved_at_ns = now_ns_ + 2 * work_ns;
        ++aged_count_;
      }
    }
  }

  bool IsHard(const Call& call) const {
    if (call.borrower->has_loan() &&
        BandOf(call.borrower->urgency()) <= Band::kHard) {
      return true;
    }
    return workload_.streams[call.stream].terms.criticality ==
           sched::Criticality::kHard;
  }

  // One after the other, each at its slowest, at the worst noise and the lowest
  // speed.
  int64_t WorkOf(const Call& call) const {
    int64_t sum_ns = 0;
    const uint32_t program = workload_.streams[call.stream].terms.program;
    for (const auto& operation : workload_.programs[program].operations) {
      int64_t slowest_ns = 0;
      for (const auto& each :
           workload_.kernels[operation.kernel].alternatives) {
        slowest_ns = std::max(slowest_ns, each.guess_ns);
      }
      sum_ns += slowest_ns * (is_steady_ ? 1 : 5);
    }
    return sum_ns;
  }

  void CheckMemory() {
    const auto statistics = budget_.statistics();
    if (statistics.bytes_in_use != used_bytes_) {
      Fault(absl::StrCat("the budget counts ", statistics.bytes_in_use,
                         " bytes, and calls have ", used_bytes_));
    }
    if (used_bytes_ > kBudgetBytes) Fault("more memory than the budget");
    uint64_t waiting = 0;
    uint64_t first_bytes = 0;
    for (const auto& call : calls_) {
      if (call->phase != Call::Phase::kMemory) continue;
      if (waiting++ == 0) first_bytes = call->bytes;
    }
    if (statistics.waiting_count != waiting) Fault("a wrong count of waiters");
    if (waiting > 0 && begun_count_ == 0) {
      Fault(absl::StrCat("a request for ", first_bytes,
                         " bytes waits, and no call has memory"));
    }
  }

  // The urgency of a call is the greatest of what waits for it.
  void CheckLoans() {
    std::map<const Call*, JobUrgency> expected;
    // Calls wait for earlier ones only.
    for (size_t i = calls_.size(); i-- > 0;) {
      const Call& call = *calls_[i];
      if (call.phase == Call::Phase::kEnded) continue;
      JobUrgency& urgency = expected.try_emplace(&call, call.own).first->second;
      if (call.own.IsAbove(urgency)) urgency = call.own;
      if (call.borrower->urgency() != urgency) {
        Fault(absl::StrCat("call ", call.number, " has priority ",
                           call.borrower->urgency().priority, " and not ",
                           urgency.priority));
      }
      if (call.phase != Call::Phase::kFences) continue;
      for (const Call* holder : call.waits_for) {
        if (holder->phase == Call::Phase::kEnded) continue;
        JobUrgency& lent =
            expected.try_emplace(holder, holder->own).first->second;
        if (urgency.IsAbove(lent)) lent = urgency;
      }
    }
  }

  // When everything has happened, every call has ended.
  void CheckEnd() {
    for (const auto& call : calls_) {
      if (call->phase == Call::Phase::kEnded) continue;
      Fault(absl::StrCat("call ", call->number, " never ended; it is in phase ",
                         static_cast<int>(call->phase)));
    }
    if (Borrower::AnyHasLoan()) Fault("a loan was never taken back");
    if (scheduler_->waiting_count() != 0) Fault("operations still wait");
  }

  void PostTimer() {
    const int64_t timer_ns = scheduler_->next_timer_ns();
    if (timer_ns == kInfiniteFuture || timer_ns == timer_ns_) return;
    timer_ns_ = timer_ns;
    // An event of no effect: Decide() follows.
    Post(std::max(timer_ns, now_ns_ + 1), Event::Kind::kStop, 0, 0);
    if (epochs_.empty()) epochs_.resize(1);
    if (runs_.empty()) runs_.resize(1);
  }

  Random random_;
  UniqueBlockPool blocks_{BlockPool::Create()};
  Workload workload_;
  bool is_steady_ = false;
  std::unique_ptr<sched::Scheduler> scheduler_;
  std::vector<sched::KernelId> kernels_;
  std::vector<sched::ProgramId> programs_;
  std::vector<bool> is_promised_;
  std::vector<bool> stands_alone_;
  cpu::MemoryBudget budget_{kBudgetBytes};

  std::priority_queue<Event> events_;
  uint64_t next_order_ = 0;
  uint64_t event_count_ = 0;
  int64_t now_ns_ = 0;
  int64_t timer_ns_ = kInfiniteFuture;
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<std::unique_ptr<Run>> runs_;  // By the index of the operation.
  std::vector<uint64_t> epochs_;            // Likewise, of its last stop event.
  uint64_t epoch_ = 0;
  uint32_t running_count_ = 0;
  std::vector<Run*> user_;  // By resource.
  std::vector<bool> is_lost_;
  uint64_t used_bytes_ = 0;
  uint32_t begun_count_ = 0;
  uint64_t loan_count_ = 0;
  uint64_t promised_count_ = 0;
  uint64_t aged_count_ = 0;
  std::string fault_;
};

Call::Call(Robot* its_robot)
    : FenceWaiter([](FenceWaiter* waiter, const absl::Status& status) {
        auto* const call = static_cast<Call*>(waiter);
        call->robot->OnFences(*call, status);
      }),
      robot(its_robot) {
  settled = [](Request* request, const absl::Status& status) {
    auto* const call = static_cast<Call*>(request);
    call->robot->OnMemory(*call, status);
  };
}

void Call::OnUrgency(const JobUrgency&, Borrower::Calls* after) {
  after->push_back([this] { robot->NoteLoan(*this); });
}

// Two operations that take longer than learned were restarted for each tile,
// and work that needs all cores waited for 200 ms.
TEST(RandomRunsTest, WorkThatIsExpectedToEndNowTakesATile) {
  EXPECT_EQ(Robot(13751).Play(), "");
}

TEST(RandomRunsTest, KeepTheirPromises) {
  const uint64_t first = FromEnvironment("TAKT_SIM_SEED", 1);
  const uint64_t runs = FromEnvironment("TAKT_SIM_RUNS", 2000);
  uint64_t loans = 0;
  uint64_t promised = 0;
  uint64_t aged = 0;
  for (uint64_t seed = first; seed < first + runs; ++seed) {
    Robot robot(seed);
    const std::string fault = robot.Play();
    ASSERT_EQ(fault, "") << "TAKT_SIM_RUNS=1 TAKT_SIM_SEED=" << seed
                         << " with version " << TAKT_SIM_VERSION;
    loans += robot.loan_count();
    promised += robot.promised_count();
    aged += robot.aged_count();
  }
  // The runs have what they are about.
  if (runs >= 100) {
    EXPECT_GT(loans, runs / 4);
    EXPECT_GT(promised, runs / 10);
    EXPECT_GT(aged, runs / 20);
  }
  RecordProperty("loans", std::to_string(loans));
  RecordProperty("promised", std::to_string(promised));
  RecordProperty("aged", std::to_string(aged));
}

}  // namespace
}  // namespace takt::sim
