#include "sim/simulation.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/status.h"
#include "follow/window_advisor.h"
#include "sim/arrivals.h"
#include "sim/board.h"
#include "sim/event_queue.h"
#include "sim/thermal.h"

namespace takt::sim {
namespace {

// Steps of the search for a window's plan: about a millisecond's.
constexpr uint64_t kWindowSteps = 500;

using sched::Decision;
using sched::DecisionKind;
using sched::JobOutcome;

class Simulator {
 public:
  Simulator(const Workload& workload, const SimulationOptions& options)
      : workload_(workload),
        options_(options),
        random_(options.seed),
        arrivals_(workload, &random_),
        board_(workload, &events_, &random_),
        thermal_(workload) {}

  absl::StatusOr<Report> Run();

 private:
  // A job; the scheduler identifies it by its tag.
  struct LiveJob {
    bool is_live = false;
    int64_t release_ns = 0;
    int64_t deadline_ns = kInfiniteFuture;
    uint32_t stream = 0;
    sched::JobId id;
    // If its operations are found as they come:
    std::vector<uint32_t> pending;
    std::vector<uint32_t> found;  // Indexes of its program.
    uint32_t unfinished_count = 0;
  };

  absl::Status SetUpScheduler();
  void SetUpEvents();
  void Apply(const SimulationEvent& event);
  void Carry(const Decision& decision);
  void StopRun(const SimulationEvent& event);
  void ReleaseJob(uint32_t stream, int64_t release_ns);
  void ReleaseNext(uint32_t stream);
  void ReleaseChained(uint32_t stream, int64_t release_ns, bool was_done);
  void FindOperation(LiveJob* job, uint32_t program_index);
  void FeedJob(uint64_t tag, uint32_t found_index);
  void EndJob(const Decision& decision);
  void SetSpeed(uint32_t pool);
  void SetTimer();
  Report Finish();

  const Workload& workload_;
  const SimulationOptions& options_;
  Random random_;  // Shared, in the order of events.
  Arrivals arrivals_;
  SimulationEventQueue events_;
  Board board_;
  Thermal thermal_;
  std::unique_ptr<sched::Scheduler> scheduler_;
  int64_t now_ns_ = 0;
  int64_t timer_ns_ = kInfiniteFuture;  // The next kDecide that was posted.
  std::vector<Decision> decisions_;
  std::vector<uint32_t> step_permille_;  // By pool.
  std::vector<LiveJob> jobs_;
  std::vector<uint64_t> free_tags_;
  Report report_;
};

absl::Status Simulator::SetUpScheduler() {
  TAKT_RETURN_IF_ERROR(workload_.RequirePrograms());
  TAKT_ASSIGN_OR_RETURN(scheduler_, sched::Scheduler::Create(
                                        workload_.machine, options_.scheduler));
  for (uint32_t i = 0; i < workload_.kernels.size(); ++i) {
    const WorkloadKernel& kernel = workload_.kernels[i];
    const absl::Status status =
        scheduler_->AddKernel(workload_.KeyOf(i), kernel.alternatives).status();
    if (!status.ok()) return Annotate(status, kernel.name);
  }
  for (const WorkloadProgram& program : workload_.programs) {
    const absl::Status status =
        scheduler_->AddProgram(program.operations).status();
    if (!status.ok()) return Annotate(status, program.name);
  }
  for (const WorkloadStream& stream : workload_.streams) {
    sched::StreamOptions terms = stream.terms;
    if (stream.is_dynamic) terms.program = sched::kNoProgram;
    const auto id = scheduler_->AddStream(terms);
    if (!id.ok()) return Annotate(id.status(), stream.name);
    StreamReport report;
    report.name = stream.name;
    report.asked = stream.asks_admission;
    if (stream.asks_admission) report.admission = scheduler_->Admit(*id);
    report.criticality = terms.criticality;
    report_.streams.push_back(std::move(report));
  }
  // The promises that came later are part of what it runs beside.
  for (uint32_t i = 0; i < report_.streams.size(); ++i) {
    StreamReport& report = report_.streams[i];
    if (report.admission.verdict != sched::Verdict::kWillFit) continue;
    report.admission = scheduler_->AssessStream(i);
  }
  return absl::OkStatus();
}

void Simulator::SetUpEvents() {
  step_permille_.assign(workload_.machine.pools.size(), 1000);
  for (uint32_t i = 0; i < workload_.streams.size(); ++i) {
    const int64_t first_ns = arrivals_.FirstNs(i);
    if (first_ns >= options_.length_ns) continue;
    const WorkloadStream& stream = workload_.streams[i];
    const uint32_t count = stream.arrival == Arrival::kOnce ? stream.count : 1;
    for (uint32_t job = 0; job < count; ++job) {
      events_.Post(first_ns, EventKind::kRelease, i);
    }
  }
  for (const ResourceFault& fault : workload_.faults) {
    events_.Post(fault.at_ns, EventKind::kLost, fault.resource);
    if (fault.length_ns == kInfiniteFuture) continue;
    events_.Post(fault.at_ns + fault.length_ns, EventKind::kFound,
                 fault.resource);
  }
  for (uint32_t i = 0; i < workload_.speed_steps.size(); ++i) {
    events_.Post(workload_.speed_steps[i].at_ns, EventKind::kSpeed, i);
  }
  for (uint32_t i = 0; i < workload_.thermal_models.size(); ++i) {
    events_.Post(Thermal::kStepNs, EventKind::kThermal, i);
  }
}

void Simulator::ReleaseJob(uint32_t stream, int64_t release_ns) {
  if (free_tags_.empty()) {
    free_tags_.push_back(jobs_.size());
    jobs_.emplace_back();
  }
  const uint64_t tag = free_tags_.back();
  free_tags_.pop_back();
  LiveJob& job = jobs_[tag];
  TAKT_CHECK(!job.is_live);
  job.is_live = true;
  job.release_ns = release_ns;
  job.stream = stream;
  job.deadline_ns =
      DeadlineAfter(release_ns, workload_.streams[stream].terms.deadline_ns);
  const std::vector<RecordedJob>& recorded = workload_.streams[stream].recorded;
  if (!recorded.empty()) {
    const uint64_t number = report_.streams[stream].released;
    board_.SetDurationFactor(
        tag, recorded[number % recorded.size()].duration_factor);
  } else {
    board_.SetDurationFactor(tag, 0);
  }
  ++report_.streams[stream].released;
  ++report_.release_count;
  job.id = scheduler_->Release(stream, release_ns, tag, now_ns_);
  if (options_.observer != nullptr) {
    Decision decision;
    decision.job = job.id;
    decision.stream = stream;
    decision.tag = tag;
    options_.observer->OnRelease(now_ns_, decision, job.deadline_ns);
  }
  if (!workload_.streams[stream].is_dynamic) return;
  const sched::JobProgram& program =
      scheduler_->program(workload_.streams[stream].terms.program);
  job.pending.assign(program.predecessor_counts().begin(),
                     program.predecessor_counts().end());
  job.found.clear();
  job.unfinished_count = program.size();
  for (uint32_t i = 0; i < program.size(); ++i) {
    if (job.pending[i] == 0) FindOperation(&job, i);
  }
}

void Simulator::FindOperation(LiveJob* job, uint32_t program_index) {
  const sched::JobProgram& program =
      scheduler_->program(workload_.streams[job->stream].terms.program);
  job->found.push_back(program_index);
  scheduler_->OperationReady(job->id, program.kernel(program_index), now_ns_);
}

// The operation with that index among those found is done.
void Simulator::FeedJob(uint64_t tag, uint32_t found_index) {
  LiveJob& job = jobs_[tag];
  if (!scheduler_->IsOpen(job.id)) return;
  const sched::JobProgram& program =
      scheduler_->program(workload_.streams[job.stream].terms.program);
  TAKT_CHECK(found_index < job.found.size() && job.unfinished_count > 0);
  const uint32_t index = job.found[found_index];
  for (const uint32_t next : program.successors(index)) {
    TAKT_DCHECK(job.pending[next] > 0);
    if (--job.pending[next] == 0) FindOperation(&job, next);
  }
  if (--job.unfinished_count == 0) scheduler_->EndJob(job.id, now_ns_);
}

void Simulator::ReleaseNext(uint32_t stream) {
  const int64_t at_ns =
      arrivals_.NextNs(stream, report_.streams[stream].released, now_ns_);
  if (at_ns < options_.length_ns) {
    events_.Post(at_ns, EventKind::kRelease, stream);
  }
}

void Simulator::ReleaseChained(uint32_t index, int64_t release_ns,
                               bool was_done) {
  for (uint32_t i = 0; i < workload_.streams.size(); ++i) {
    const WorkloadStream& stream = workload_.streams[i];
    if (stream.arrival != Arrival::kAfter || stream.after != index) continue;
    if (!arrivals_.IsDrawn(i)) continue;
    if (was_done) {
      ReleaseJob(i, release_ns);
      continue;
    }
    // The job's input does not exist.
    ++report_.streams[i].released;
    ++report_.streams[i].dropped;
    ReleaseChained(i, release_ns, false);
  }
}

void Simulator::EndJob(const Decision& decision) {
  LiveJob& job = jobs_[decision.tag];
  TAKT_CHECK(job.is_live && job.stream == decision.stream);
  const int64_t release_ns = job.release_ns;
  job.is_live = false;
  free_tags_.push_back(decision.tag);
  const WorkloadStream& stream = workload_.streams[decision.stream];
  const bool was_done = decision.outcome == JobOutcome::kMet ||
                        decision.outcome == JobOutcome::kMissed;
  report_.streams[decision.stream].Add(decision, stream.terms.deadline_ns);
  ReleaseChained(decision.stream, release_ns, was_done);
  if (stream.arrival != Arrival::kClosed) return;
  // The job after one that was given up is released when that one was due;
  // otherwise jobs would be released and given up without end.
  const int64_t at_ns =
      was_done ? now_ns_
               : std::max(now_ns_ + 1,
                          DeadlineAfter(release_ns, stream.terms.deadline_ns));
  if (at_ns < options_.length_ns) {
    events_.Post(at_ns, EventKind::kRelease, decision.stream);
  }
}

void Simulator::Carry(const Decision& decision) {
  if (options_.observer != nullptr) {
    options_.observer->OnDecision(now_ns_, decision);
  }
  const uint32_t index = decision.operation.index;
  switch (decision.kind) {
    case DecisionKind::kStart:
      ++report_.start_count;
      board_.Start(decision, now_ns_);
      break;
    case DecisionKind::kYield:
      ++report_.yield_count;
      board_.StopEarly(index, /*at_once=*/false, now_ns_);
      break;
    case DecisionKind::kCancel:
      board_.StopEarly(index,
                       !decision.resources.IsSubsetOf(scheduler_->available()),
                       now_ns_);
      break;
    case DecisionKind::kJobDone:
      EndJob(decision);
      break;
    case DecisionKind::kMode:
      ++report_.mode_changes;
      break;
    case DecisionKind::kDemote:
      break;
  }
}

void Simulator::StopRun(const SimulationEvent& event) {
  const Board::Run* run = board_.Stop(event.index, event.epoch, now_ns_);
  if (run == nullptr) return;
  report_.makespan_ns = now_ns_;
  const Decision start = run->start;
  const uint32_t done_ppm = run->done_ppm;
  report_.streams[start.stream].used_ns +=
      (now_ns_ - run->begin_ns) * start.resources.count();
  if (options_.observer != nullptr) {
    options_.observer->OnStop(now_ns_, start, done_ppm);
  }
  if (run->stops_early) {
    scheduler_->Yielded(start.operation, done_ppm, now_ns_);
    return;
  }
  scheduler_->Finished(start.operation, now_ns_);
  if (workload_.streams[start.stream].is_dynamic) {
    FeedJob(start.tag, start.program_index);
  }
}

void Simulator::SetSpeed(uint32_t pool) {
  const uint32_t permille = std::max<uint32_t>(
      step_permille_[pool] * thermal_.permille(pool) / 1000, 1);
  if (permille == board_.permille(pool)) return;
  scheduler_->SetSpeed(pool, permille, now_ns_);
  board_.SetSpeed(pool, permille, now_ns_);
  if (options_.observer != nullptr) {
    options_.observer->OnSpeed(now_ns_, pool, permille);
  }
}

void Simulator::Apply(const SimulationEvent& event) {
  switch (event.kind) {
    case EventKind::kRelease:
      ReleaseJob(event.index, now_ns_);
      ReleaseNext(event.index);
      break;
    case EventKind::kStop:
      StopRun(event);
      break;
    case EventKind::kPause: {
      const Board::Run* run = board_.Pause(event.index, event.epoch, now_ns_);
      if (run != nullptr && options_.observer != nullptr) {
        options_.observer->OnPause(now_ns_, run->start, run->is_paused);
      }
      break;
    }
    case EventKind::kLost:
    case EventKind::kFound: {
      const bool is_found = event.kind == EventKind::kFound;
      scheduler_->SetAvailable(event.index, is_found, now_ns_);
      if (options_.observer != nullptr) {
        options_.observer->OnAvailable(now_ns_, event.index, is_found);
      }
      break;
    }
    case EventKind::kSpeed: {
      const SpeedStep& step = workload_.speed_steps[event.index];
      step_permille_[step.pool] = step.permille;
      SetSpeed(step.pool);
      break;
    }
    case EventKind::kThermal:
      thermal_.Step(event.index, board_, now_ns_);
      SetSpeed(workload_.thermal_models[event.index].pool);
      if (now_ns_ < options_.length_ns) {
        events_.Post(now_ns_ + Thermal::kStepNs, EventKind::kThermal,
                     event.index);
      }
      break;
    case EventKind::kDecide:
      break;
  }
}

void Simulator::SetTimer() {
  const int64_t next_ns = std::max(scheduler_->next_timer_ns(), now_ns_ + 1);
  if (timer_ns_ > now_ns_ && timer_ns_ <= next_ns) return;
  timer_ns_ = next_ns;
  if (next_ns != kInfiniteFuture) events_.Post(next_ns, EventKind::kDecide);
}

absl::StatusOr<Report> Simulator::Run() {
  TAKT_RETURN_IF_ERROR(SetUpScheduler());
  SetUpEvents();
  while (!events_.empty()) {
    if (!options_.drains && events_.top().at_ns >= options_.length_ns) break;
    if (events_.posted_count() > options_.event_limit) {
      return absl::ResourceExhaustedError(
          absl::StrCat("simulation: more than ", options_.event_limit,
                       " events in ", now_ns_ / 1'000'000, " ms"));
    }
    TAKT_CHECK(now_ns_ <= events_.top().at_ns);
    now_ns_ = events_.top().at_ns;
    while (!events_.empty() && events_.top().at_ns == now_ns_) {
      Apply(events_.Pop());
    }
    // Decisions may lead to events at the same time: a chained release.
    do {
      decisions_.clear();
      scheduler_->Decide(now_ns_, &decisions_);
      for (const Decision& decision : decisions_) Carry(decision);
    } while (!decisions_.empty());
    SetTimer();
    if (options_.drains && now_ns_ >= options_.length_ns &&
        scheduler_->live_job_count() == 0) {
      break;
    }
  }
  return Finish();
}

Report Simulator::Finish() {
  const int64_t end_ns =
      options_.drains ? std::max(now_ns_, int64_t{1}) : options_.length_ns;
  for (const LiveJob& job : jobs_) {
    if (!job.is_live) continue;
    StreamReport& report = report_.streams[job.stream];
    ++(job.deadline_ns < end_ns ? report.missed : report.unfinished);
  }
  for (StreamReport& stream : report_.streams) {
    std::sort(stream.responses_ns.begin(), stream.responses_ns.end());
  }
  for (uint32_t i = 0; i < workload_.machine.resource_count(); ++i) {
    report_.utilization.push_back(
        static_cast<double>(board_.busy_ns(i, now_ns_)) /
        static_cast<double>(end_ns));
  }
  report_.event_count = events_.posted_count();
  report_.predictions = scheduler_->prediction_errors();
  return std::move(report_);
}

}  // namespace

absl::StatusOr<Report> Simulate(const Workload& workload,
                                const SimulationOptions& options) {
  if (options.window_ns <= 0 || options.scheduler.advisor != nullptr) {
    return Simulator(workload, options).Run();
  }
  follow::WindowOptions window;
  window.length_ns = options.window_ns;
  window.planning.step_limit = kWindowSteps;
  follow::WindowAdvisor advisor(std::move(window));
  SimulationOptions advised = options;
  advised.scheduler.advisor = &advisor;
  return Simulator(workload, advised).Run();
}

}  // namespace takt::sim
