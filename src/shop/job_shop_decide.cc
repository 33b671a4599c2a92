// The part of the decider: events in, decisions out.
#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "sched/priority.h"
#include "shop/advisor_switch.h"
#include "shop/job_shop.h"

namespace takt::shop {
namespace {

using sched::Decision;
using sched::DecisionKind;
using sched::JobOutcome;

// The guess for a tile before one has run: between a small kernel and one that
// is worth its own thread.
constexpr int64_t kTileGuessNs = 50'000;
// The longest guess of a duration: 18 minutes.
constexpr int64_t kGuessMaxNs = int64_t{1} << 40;

// The spare memory for operations and jobs that are submitted while the system
// has no memory left: some hundred records. And for each operation that there
// has been at a time: its places in containers, whose capacity doubles.
constexpr size_t kSpareRecordBytes = size_t{128} << 10;
constexpr size_t kSparePlaceBytes = 512;
constexpr size_t kSparePlaceCount = 64;  // The least.

}  // namespace

void JobShop::SetSpareBytes() {
  const size_t places =
      std::bit_ceil(std::max(tasks_.size(), kSparePlaceCount));
  spare_bytes_.store(kSpareRecordBytes + places * kSparePlaceBytes,
                     std::memory_order_relaxed);
}

void JobShop::Drain(Notices* notices) noexcept {
  const SpareMemory::Scope scope(&spare_);
  at_ns_ = std::max(at_ns_, now_ns());
  for (ShopEvent* event = queue_.Take(); event != nullptr;) {
    ShopEvent* const next = event->next;
    event->apply(event);  // The event may be gone now.
    event = next;
  }
  do {
    yielded_.clear();
    decisions_.clear();
    scheduler_->Decide(at_ns_, &decisions_);
    for (const Decision& decision : decisions_) CarryOut(decision);
    for (Task* task : yielded_) ApplyStopped(*task);
  } while (!yielded_.empty());
  ArmTimer();
  ++statistics_.decide_count;
  if (notices->empty()) {
    notices->swap(notices_);
  } else if (!notices_.empty()) {
    std::move(notices_.begin(), notices_.end(), std::back_inserter(*notices));
    notices_.clear();
  }
}

void JobShop::EnsureKnown(ScheduledStream& stream) {
  if (stream.is_known_) return;
  const absl::Status status = TryAddStream(stream);
  // AddStream() has checked the streams of callers; the streams that calls
  // share have no term that the scheduler could refuse.
  TAKT_CHECK(status.ok());
}

absl::Status JobShop::TryAddStream(ScheduledStream& stream) {
  const StreamRequirements& requirements = stream.requirements();
  sched::StreamOptions options;
  options.period_ns = requirements.period_ns;
  options.deadline_ns = requirements.deadline_ns;
  options.criticality = requirements.criticality;
  options.priority = requirements.priority;
  options.late = requirements.late;
  options.share_permille = requirements.share_permille;
  options.weight = requirements.weight;
  options.affinity = resource_map_.ResourcesOf(requirements.allowed);
  options.shards_preferred = requirements.shards_preferred;
  TAKT_CHECK(!stream.is_known_);
  TAKT_ASSIGN_OR_RETURN(stream.id_, scheduler_->AddStream(options));
  stream.is_known_ = true;
  return absl::OkStatus();
}

void JobShop::ApplyStreamEnd(ScheduledStream& stream) {
  if (stream.is_known_) scheduler_->RemoveStream(stream.id_);
  delete &stream;
}

// Expects the jobs of the stream to have the operations of the last one, one
// after the other.
void JobShop::ExpectLast(ScheduledStream& stream) {
  const auto sequence = scheduler_->last_sequence(stream.id_);
  if (sequence.empty() ||
      std::equal(sequence.begin(), sequence.end(), stream.expected_.begin(),
                 stream.expected_.end())) {
    return;
  }
  std::vector<sched::ProgramOperation> operations;
  for (const sched::KernelId kernel : sequence) {
    operations.push_back({kernel, {}});
    const size_t count = operations.size();
    if (count > 1) {
      operations.back().after = {static_cast<uint32_t>(count - 2)};
    }
  }
  if (!scheduler_->SetExpected(stream.id_, operations).ok()) {
    return;  // They are too many.
  }
  stream.expected_.assign(sequence.begin(), sequence.end());
}

void JobShop::EnsureReleased(ScheduledJob& job) {
  if (job.id_ != sched::JobId()) return;
  TAKT_CHECK(!job.is_over_);
  ScheduledStream& stream = *job.stream_;
  EnsureKnown(stream);
  job.id_ = scheduler_->Release(stream.id_, job.release_ns_, job.deadline_ns_,
                                reinterpret_cast<uintptr_t>(&job), at_ns_,
                                job.may_miss());
  if (job.borrower() != nullptr && job.borrower()->has_loan()) TakeLoan(job);
  ClassStatistics& statistics =
      statistics_
          .classes[static_cast<uint32_t>(stream.requirements().criticality)];
  ++statistics.released_count;
  statistics.release_error.Add(at_ns_ - job.release_ns_);
}

void JobShop::ApplyDrop(ScheduledJob& job) {
  EnsureReleased(job);
  scheduler_->Drop(job.id_, at_ns_);
  job.Release();  // Drop()'s.
}

void JobShop::ApplyLoan(ScheduledJob& job) {
  // Before the loan is read: a later change posts the event again.
  job.is_loan_posted_.store(false, std::memory_order_seq_cst);
  TakeLoan(job);
  job.Release();  // ReviewLoan()'s.
}

void JobShop::TakeLoan(ScheduledJob& job) {
  sched::Loan loan;
  if (job.borrower()->has_loan()) {
    const JobUrgency urgency = job.borrower()->urgency();
    loan = {sched::Band::kBestEffort, urgency.priority, urgency.deadline_ns};
    switch (urgency.criticality) {
      case JobUrgency::Criticality::kHard:
        loan.band = sched::Band::kHard;
        break;
      case JobUrgency::Criticality::kSoft:
        loan.band = sched::Band::kSoft;
        break;
      case JobUrgency::Criticality::kBestEffort:
        break;
    }
  }
  scheduler_->SetLoan(job.id_, loan, at_ns_);
}

void JobShop::ApplyEnd(ScheduledJob& job) {
  TAKT_CHECK(!job.is_let_go_);
  job.is_let_go_ = true;
  scheduler_->EndJob(job.id_, at_ns_);
  if (job.is_over_) delete &job;
}

int64_t JobShop::GuessNs(const Work& work, uint32_t shards) {
  const int64_t tiles = (work.tile_count - 1) / shards + 1;
  // A tile of the longest guess does not overflow by that.
  const int64_t tile_ns = std::min(TileNs(work), kGuessMaxNs / tiles + 1);
  return std::min(tile_ns * tiles, kGuessMaxNs);
}

int64_t JobShop::TileNs(const Work& work) {
  return work.expected_tile_ns > 0 ? work.expected_tile_ns : kTileGuessNs;
}

// Adopts a better estimate of the duration of a tile.
void JobShop::UpdateGuesses(sched::KernelId id, const Work& work) {
  const auto& alternatives = scheduler_->costs().kernel(id).alternatives;
  const int64_t known_ns = alternatives[0].tile_ns;
  const int64_t change_ns = std::abs(work.expected_tile_ns - known_ns);
  if (known_ns == 0 || work.expected_tile_ns <= 0 ||
      change_ns <= known_ns / 4) {
    return;
  }
  sched::CostModel& costs = *scheduler_->mutable_costs();
  costs.SetTile(id, work.expected_tile_ns);
  for (uint32_t i = 0; i < alternatives.size(); ++i) {
    if (alternatives[i].tile_ns > 0) {
      costs.SetGuess(id, i, GuessNs(work, alternatives[i].shards));
    }
  }
}

sched::KernelId JobShop::KernelOf(const Work& work) {
  if (const auto known = scheduler_->costs().FindId(work.kernel)) {
    UpdateGuesses(*known, work);
    return *known;
  }
  const int64_t tile_ns = TileNs(work);
  const uint32_t pools =
      work.pools != 0 ? work.pools : resource_map_.core_pools();
  const uint32_t width_max = work.sequential ? 1 : work.tile_count;
  const bool may_yield =
      !work.sequential && (pools & ~resource_map_.core_pools()) == 0;
  absl::InlinedVector<sched::AlternativeOptions,
                      sched::CostModel::kMaxAlternatives>
      alternatives;
  for (uint32_t pool = 0; pool < machine().pools.size(); ++pool) {
    if ((pools >> pool & 1) == 0) continue;
    const bool is_npu = machine().pools[pool].kind == sched::ResourceKind::kNpu;
    const uint32_t most =
        is_npu ? 1 : std::min(width_max, machine().pools[pool].count);
    for (uint32_t shards = 1; shards <= most;) {
      if (alternatives.size() == sched::CostModel::kMaxAlternatives) break;
      const int64_t guess_ns = is_npu && work.npu_ns > 0
                                   ? std::min(work.npu_ns, kGuessMaxNs)
                                   : GuessNs(work, shards);
      alternatives.push_back({pool, shards, guess_ns, may_yield ? tile_ns : 0});
      // 1, 2, 4, ..., all.
      if (shards == most) break;
      shards = std::min(shards * 2, most);
    }
  }
  const absl::StatusOr<sched::KernelId> added =
      scheduler_->AddKernel(work.kernel, alternatives);
  TAKT_CHECK(added.ok());
  profile_.ApplyTo(*added, scheduler_->mutable_costs());
  return *added;
}

void JobShop::ApplyAvailable(uint32_t resource, bool is_available) {
  scheduler_->SetAvailable(resource, is_available, at_ns_);
  if (trace_.is_on()) trace_.OnAvailable(at_ns_, resource, is_available);
}

void JobShop::ApplyHeat() {
  const bool is_any = is_hot_[0] || is_hot_[1] || hot_npus_ != 0;
  if (scheduler_->is_hot() != is_any) scheduler_->SetHot(is_any, at_ns_);
}

bool JobShop::IsStranded(const Task& task) const {
  const uint32_t pools = task.pools_;
  return pools != 0 && (pools & ~broken_npus_) == 0;
}

// For the scheduler the task is done; from here on only the lease of the NPU
// orders it.
void JobShop::StartUndecided(Task& task) {
  Unlink(task);
  scheduler_->DoneElsewhere(task.id_, at_ns_);
  task.Start(1, nullptr, /*is_npu=*/true);
}

void JobShop::Link(Task& task) {
  const uint32_t pools = task.pools_;
  if (pools != 0 && (pools & resource_map_.core_pools()) == 0) {
    npu_tasks_.push_back(&task);
  }
  TAKT_CHECK(!task.is_linked_);
  ScheduledJob& job = *task.job_;
  task.previous_ = nullptr;
  task.next_ = job.first_task_;
  if (task.next_ != nullptr) task.next_->previous_ = &task;
  job.first_task_ = &task;
  task.is_linked_ = true;
}

void JobShop::Unlink(Task& task) {
  TAKT_CHECK(task.is_linked_);
  if (!npu_tasks_.empty()) {
    npu_tasks_.erase(std::remove(npu_tasks_.begin(), npu_tasks_.end(), &task),
                     npu_tasks_.end());
  }
  (task.previous_ != nullptr ? task.previous_->next_ : task.job_->first_task_) =
      task.next_;
  if (task.next_ != nullptr) task.next_->previous_ = task.previous_;
  task.is_linked_ = false;
}

void JobShop::ApplyReady(Task& task) {
  EnsureReleased(*task.job_);
  task.kernel_ = KernelOf(*task.work_);
  task.trace_name_ = task.work_->trace_name;
  task.id_ = scheduler_->OperationReady(task.job_->id_, task.kernel_, at_ns_,
                                        task.unseen_count_);
  if (task.id_ == sched::OperationId()) {  // The job was given up.
    GiveUp(task);
    return;
  }
  if (task.id_.index >= tasks_.size()) {
    tasks_.resize(task.id_.index + 1);
    SetSpareBytes();
  }
  TAKT_CHECK(scheduler_->IsLive(task.id_));
  tasks_[task.id_.index] = &task;
  Hold(task);
}

void JobShop::Hold(Task& task) {
  Link(task);
  if (IsStranded(task)) StartUndecided(task);
}

void JobShop::GiveUp(Task& task) {
  if (!task.GiveUp()) return;
  Notice notice;
  notice.given_up = task.work_;
  notices_.push_back(std::move(notice));
  task.Release();
}

// Reports to the advisor, if there is one, when the task ran.
void JobShop::ReportRun(const Task& task) {
  if (!advisor_->is_set()) return;
  const int64_t begin_ns = task.begin_ns();
  if (begin_ns == 0) return;
  scheduler_->Ran(task.id_, begin_ns, begin_ns + task.ran_ns());
}

void JobShop::RecordStart(Task& task, const Decision& decision) {
  task.is_recorded_ = trace_.is_on();
  if (!task.is_recorded_) return;
  task.start_ = decision;
  task.start_ns_ = at_ns_;
  trace_.OnStart(at_ns_, decision, {task.trace_name_, task.job_->trace_id_});
}

void JobShop::RecordStop(Task& task, uint32_t done_ppm) {
  if (!task.is_recorded_) return;
  task.is_recorded_ = false;
  trace_.OnStop(at_ns_, task.start_, {task.trace_name_, task.job_->trace_id_},
                task.start_ns_, done_ppm);
}

void JobShop::RecordAdmission(const ScheduledStream& stream,
                              const sched::AdmissionReport& report) {
  if (trace_.is_on())
    trace_.OnAdmission(at_ns_, stream.requirements().name, report);
}

void JobShop::ApplyDone(Task& task) {
  // The operation is not live if its job was given up while it waited.
  if (scheduler_->IsLive(task.id_)) {
    RecordStop(task, 1'000'000);
    if (task.is_linked_) {
      Unlink(task);
    } else {
      ReportRun(task);
    }
    scheduler_->Finished(task.id_, at_ns_, task.ran_ns());
  }
  task.Release();
}

// Some of the task's cores have no more work of it.
void JobShop::ApplyShrunk(Task& task) {
  const Ref<Task> hold = Ref<Task>::Adopt(&task);  // EndShard()'s.
  // The run is over, or was stopped, if the count is 0.
  const uint32_t count = task.TakeShrunkCount();
  // An advisor knows the cores by the operation that it placed there.
  if (count == 0 || advisor_->is_set() || !scheduler_->IsLive(task.id_)) return;
  TAKT_CHECK(!task.is_linked_);
  const sched::ResourceSet freed = scheduler_->Shrunk(task.id_, count, at_ns_);
  if (!task.is_recorded_) return;
  Decision part = task.start_;
  part.resources = freed;
  trace_.OnStop(at_ns_, part, {task.trace_name_, task.job_->trace_id_},
                task.start_ns_, 1'000'000);
  task.start_.resources = task.start_.resources - freed;
}

void JobShop::ApplyStopped(Task& task) {
  ReportRun(task);
  const uint32_t done_ppm = task.done_ppm();
  RecordStop(task, done_ppm);
  scheduler_->Yielded(task.id_, done_ppm, at_ns_);
  if (!scheduler_->IsLive(task.id_)) {
    GiveUp(task);
    return;
  }
  Hold(task);
}

Task& JobShop::CountYield(const Decision& decision) {
  Task& task = *tasks_[decision.operation.index];
  TAKT_CHECK(task.id_ == decision.operation && !task.is_linked_);
  ++statistics_.yield_count;
  if (trace_.is_on()) {
    trace_.OnYield(at_ns_, decision, {task.trace_name_, task.job_->trace_id_});
  }
  return task;
}

void JobShop::Yield(const Decision& decision) {
  // It may have ended by an event that came after the decision.
  if (!scheduler_->IsLive(decision.operation)) return;
  Task& task = CountYield(decision);
  if (task.Yield()) yielded_.push_back(&task);
}

void JobShop::Cancel(const Decision& decision) {
  if (!scheduler_->IsLive(decision.operation)) return;
  const bool may_yield = scheduler_->costs()
                             .kernel(decision.kernel)
                             .alternatives[decision.alternative]
                             .tile_ns > 0;
  // The operation has lost its core, and continues on another one.
  if (may_yield && scheduler_->IsOpen(decision.job)) {
    Yield(decision);
    return;
  }
  Task& task = CountYield(decision);
  if (task.Cancel()) yielded_.push_back(&task);
}

void JobShop::CarryOut(const Decision& decision) {
  switch (decision.kind) {
    case DecisionKind::kStart: {
      Task& task = *tasks_[decision.operation.index];
      TAKT_CHECK(task.id_ == decision.operation);
      Unlink(task);
      ++statistics_.start_count;
      RecordStart(task, decision);
      task.Start(
          decision.shards, resource_map_.WorkersOf(decision.resources),
          machine().pools[decision.pool].kind == sched::ResourceKind::kNpu,
          decision.is_behind ? exec::LaneOf(sched::kBelowHardPriority) : 0);
      break;
    }
    case DecisionKind::kYield:
      Yield(decision);
      break;
    case DecisionKind::kCancel:
      Cancel(decision);
      break;
    case DecisionKind::kJobDone:
      Conclude(decision);
      break;
    case DecisionKind::kDemote:
      if (trace_.is_on()) {
        const auto* job = reinterpret_cast<const ScheduledJob*>(decision.tag);
        trace_.OnLate(at_ns_, "demote", job->trace_id_, decision.deadline_ns);
      }
      break;
    case DecisionKind::kMode: {
      ++statistics_.mode_change_count;
      if (trace_.is_on()) trace_.OnMode(at_ns_, decision.mode);
      mode_.store(decision.mode, std::memory_order_relaxed);
      Notice notice;
      notice.on_mode = on_mode_;
      notice.mode = decision.mode;
      notices_.push_back(std::move(notice));
      break;
    }
  }
}

void JobShop::Conclude(const Decision& decision) {
  ScheduledJob& job = *reinterpret_cast<ScheduledJob*>(decision.tag);
  TAKT_CHECK(!job.is_over_);
  job.is_over_ = true;
  const bool is_done = decision.outcome == JobOutcome::kMet ||
                       decision.outcome == JobOutcome::kMissed;
  if (!is_done) {
    job.is_dropped_.store(true, std::memory_order_release);
    if (trace_.is_on()) {
      trace_.OnLate(at_ns_, "drop", job.trace_id_, decision.deadline_ns);
    }
  }
  while (job.first_task_ != nullptr) {
    Task& task = *job.first_task_;
    Unlink(task);
    GiveUp(task);
  }
  if (decision.outcome != JobOutcome::kMet && on_miss_ != nullptr) {
    Notice notice;
    notice.on_miss = on_miss_;
    notice.stream = job.stream_;
    notice.end = {job.stream_.get(), decision.outcome, job.release_ns_,
                  job.deadline_ns_, decision.response_ns};
    notices_.push_back(std::move(notice));
  }
  ClassStatistics& statistics = statistics_.classes[static_cast<uint32_t>(
      job.stream_->requirements().criticality)];
  switch (decision.outcome) {
    case JobOutcome::kMet:
      ++statistics.met_count;
      break;
    case JobOutcome::kMissed:
      ++statistics.missed_count;
      break;
    case JobOutcome::kDropped:
      ++statistics.dropped_count;
      break;
    case JobOutcome::kFailed:
      ++statistics.failed_count;
      break;
  }
  if (is_done) statistics.response.Add(decision.response_ns);
  if (job.is_let_go_) delete &job;
}

}  // namespace takt::shop
