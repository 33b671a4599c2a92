// Events: what the driver says has happened.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "sched/scheduler.h"

namespace takt::sched {
namespace {

// Programs and demands follow the learned durations once in this many releases:
// their update costs more than a release.
constexpr uint32_t kUpdateInterval = 64;

Band Below(Band band) {
  return static_cast<Band>(static_cast<uint8_t>(band) + 1);
}

}  // namespace

int64_t Scheduler::PartOf(int64_t duration_ns, int64_t rest_ppm,
                          int64_t whole_ppm) {
  if (whole_ppm == 0) return 0;
  return duration_ns / whole_ppm * rest_ppm +
         duration_ns % whole_ppm * rest_ppm / whole_ppm;
}

int64_t Scheduler::OfAll(int64_t duration_ns, uint32_t count) {
  constexpr int64_t kMost =
      DurationEstimate::kMaxNs / ResourceSet::kMaxResources;
  return std::min(duration_ns, kMost) * count;
}

JobId Scheduler::Release(StreamId id, int64_t release_ns, uint64_t tag,
                         int64_t now_ns) {
  TAKT_CHECK(id < streams_.size());
  return Release(id, release_ns,
                 DeadlineAfter(release_ns, streams_[id]->options.deadline_ns),
                 tag, now_ns);
}

JobId Scheduler::Release(StreamId id, int64_t release_ns, int64_t deadline_ns,
                         uint64_t tag, int64_t now_ns, bool may_miss) {
  TAKT_CHECK(id < streams_.size() && !streams_[id]->is_removed);
  Advance(now_ns);
  StreamRecord* stream = streams_[id].get();
  if (stream->releases++ % kUpdateInterval == 0) UpdateDemand(stream);
  if (stream->options.late == LatePolicy::kLatestOnly) {
    for (JobRecord* old = stream->oldest; old != nullptr;) {
      JobRecord* next = old->stream_next;
      if (!old->has_started && !old->is_ending) {
        GiveUp(old, JobOutcome::kDropped, now_ns);
      }
      old = next;
    }
  }
  JobRecord* job = NewJob();
  job->stream = stream;
  job->band = stream->band;
  job->may_miss = may_miss || stream->window.NextMayMiss();
  job->window_number = stream->window.Add();
  if (job->may_miss && job->band != Band::kPromised &&
      job->band != Band::kBestEffort) {
    job->band = Below(job->band);
  }
  job->tag = tag;
  job->release_ns = release_ns;
  job->deadline_ns = deadline_ns;
  job->stream_previous = stream->newest;
  if (stream->oldest == nullptr) stream->share.SetAsking(true, now_ns);
  (stream->newest ? stream->newest->stream_next : stream->oldest) = job;
  stream->newest = job;
  if (stream->share.is_set()) ReviewShares();
  if (job->deadline_ns != kInfiniteFuture &&
      stream->options.late != LatePolicy::kRunOn) {
    deadlines_.Push(job->deadline_ns, job->id(), live_job_count_,
                    [this](const auto& entry) { return IsOpen(entry.id); });
  }
  if (options_.advisor != nullptr) {
    options_.advisor->OnReleased({job->id(), id, release_ns, deadline_ns},
                                 now_ns);
  }
  if (stream->options.program != kNoProgram) {
    const JobProgram& program = programs_[stream->options.program];
    job->unfinished_count = program.size();
    job->pending.assign(program.predecessor_counts().begin(),
                        program.predecessor_counts().end());
    for (uint32_t i = 0; i < program.size(); ++i) {
      if (job->pending[i] == 0) MakeReady(job, i, now_ns);
    }
  }
  return job->id();
}

OperationId Scheduler::OperationReady(JobId id, KernelId kernel, int64_t now_ns,
                                      uint32_t unseen_count) {
  Advance(now_ns);
  JobRecord* job = FindOpenJob(id);
  if (job == nullptr) return {};
  TAKT_CHECK(job->stream->options.program == kNoProgram);
  TAKT_CHECK(kernel < costs_.kernel_count());
  OperationRecord* operation = NewOperation(job, kernel, job->found_count++);
  operation->unseen_count = unseen_count;
  job->stream->recording.push_back(kernel);
  Predict(operation);
  Enqueue(operation, now_ns);
  return operation->id();
}

void Scheduler::EndJob(JobId id, int64_t now_ns) {
  Advance(now_ns);
  JobRecord* job = FindOpenJob(id);
  if (job == nullptr) return;
  TAKT_CHECK(job->stream->options.program == kNoProgram);
  TAKT_CHECK(job->operations == nullptr);
  CompleteJob(job, now_ns);
}

void Scheduler::MakeReady(JobRecord* job, uint32_t program_index,
                          int64_t now_ns) {
  const JobProgram& program = programs_[job->stream->options.program];
  OperationRecord* operation =
      NewOperation(job, program.kernel(program_index), program_index);
  operation->facts.tail_ns = program.tail_ns(program_index);
  Enqueue(operation, now_ns);
}

void Scheduler::SetLoan(JobId id, const Loan& loan, int64_t now_ns) {
  Advance(now_ns);
  JobRecord* job = FindOpenJob(id);
  if (job == nullptr) return;
  Loan given = loan;
  given.band = std::max(given.band, Band::kHard);
  if (job->loan == given) return;
  job->loan = given;
  for (OperationRecord* operation = job->operations; operation != nullptr;
       operation = operation->job_next) {
    const bool waits = operation->waits();
    if (waits) StopWaiting(operation);
    TakeUrgency(operation);
    operation->facts.is_critical = false;
    if (waits) FindCritical(operation);
    operation->rank = RankFor(*operation);
    if (waits) Wait(operation, now_ns);
  }
}

// Makes the operation wait for the first time, or again after it ran.
void Scheduler::Enqueue(OperationRecord* operation, int64_t now_ns) {
  TakeUrgency(operation);
  operation->facts.ready_ns = now_ns;
  operation->facts.sequence = next_sequence_++;
  const int64_t not_before_ns = TakeAdvice(operation, now_ns);
  if (not_before_ns > now_ns) return Delay(operation, not_before_ns);
  FindPlaces(operation);
  Wait(operation, now_ns);
}

// Decides again about an operation that is held for a pool. It keeps its
// urgency and its age: otherwise work that is decided often would never rise.
void Scheduler::Reconsider(OperationRecord* operation, int64_t now_ns) {
  TAKT_DCHECK(operation->state == OperationRecord::State::kHeld);
  Dequeue(operation);
  const int64_t not_before_ns = TakeAdvice(operation, now_ns);
  if (not_before_ns > now_ns) {
    LeaveBand(operation);
    return Delay(operation, not_before_ns);
  }
  FindPlaces(operation);
  operation->state = OperationRecord::State::kReady;
  groups_[operation->group].heap.Push(operation);
}

// Returns the time before which the advisor does not want the operation.
int64_t Scheduler::TakeAdvice(OperationRecord* operation, int64_t now_ns) {
  operation->facts.release_ns = operation->job->release_ns;
  operation->facts.demand_ppm = operation->job->stream->demand_ppm;
  const Prescription prescription = Ask(*operation, now_ns);
  operation->facts.planned_start_ns = prescription.start_ns;
  TakePlaces(operation, prescription);
  operation->not_after_ns = std::max(prescription.not_after_ns, now_ns);
  operation->shards_preferred =
      prescription.shards != 0
          ? prescription.shards
          : operation->job->stream->options.shards_preferred;
  return prescription.not_before_ns;
}

void Scheduler::Wait(OperationRecord* operation, int64_t now_ns) {
  operation->state = OperationRecord::State::kReady;
  groups_[operation->group].heap.Push(operation);
  ++waiting_count_;
  BandList& list = bands_[static_cast<uint32_t>(operation->facts.band)];
  operation->band_since_ns = now_ns;
  operation->band_next = nullptr;
  operation->band_previous = list.last;
  (list.last ? list.last->band_next : list.first) = operation;
  list.last = operation;
  CountForCores(operation);
}

// Each operation that waits is counted, unless a pool holds it whose operations
// take no core.
void Scheduler::CountForCores(OperationRecord* operation) {
  for_cores_.Add(operation->facts.level());
  ++operation->job->waiting_count;
}

void Scheduler::UncountForCores(OperationRecord* operation) {
  for_cores_.Remove(operation->facts.level());
  TAKT_CHECK(operation->job->waiting_count > 0);
  --operation->job->waiting_count;
}

// Removes the operation from the heap in which it waits.
void Scheduler::Dequeue(OperationRecord* operation) {
  if (operation->state == OperationRecord::State::kReady) {
    groups_[operation->group].heap.Remove(operation);
    return;
  }
  TAKT_DCHECK(operation->state == OperationRecord::State::kHeld);
  PoolState& pool = pools_[operation->held_pool];
  pool.held.Remove(operation);
  pool.held_work_ns[static_cast<uint32_t>(operation->facts.band)] -=
      operation->held_work_ns;
  if (!TakesCores(operation->held_pool)) CountForCores(operation);
}

void Scheduler::StopWaiting(OperationRecord* operation) {
  if (operation->state == OperationRecord::State::kDelayed) return;
  Dequeue(operation);
  LeaveBand(operation);
}

void Scheduler::LeaveBand(OperationRecord* operation) {
  TAKT_CHECK(waiting_count_ > 0);
  --waiting_count_;
  BandList& list = bands_[static_cast<uint32_t>(operation->facts.band)];
  UncountForCores(operation);
  (operation->band_previous ? operation->band_previous->band_next
                            : list.first) = operation->band_next;
  (operation->band_next ? operation->band_next->band_previous : list.last) =
      operation->band_previous;
  operation->band_previous = nullptr;
  operation->band_next = nullptr;
}

void Scheduler::FreeResources(OperationRecord* operation,
                              const ResourceSet& freed) {
  freed.ForEach([&](uint32_t resource) {
    TAKT_DCHECK(running_on_[resource] == operation);
    running_on_[resource] = nullptr;
  });
  free_ = free_ | (freed & available_);
  const uint32_t count = freed.count();
  if (operation->pressure_ppm > 0) {
    const int64_t pressure_ppm =
        operation->pressure_ppm / operation->resources.count() * count;
    operation->pressure_ppm -= pressure_ppm;
    pressure_ppm_ -= pressure_ppm;
    TAKT_DCHECK(pressure_ppm_ >= 0);
  }
  recent_runs_.Add({operation->index, operation->kernel, operation->alternative,
                    count, operation->start_ns, now_ns_});
  if (operation->facts.share_cores == 0) {
    operation->used_ns += OfAll(now_ns_ - operation->start_ns, count);
  }
  StreamRecord* stream = operation->job->stream;
  TAKT_CHECK(stream->used_count >= count);
  stream->used_count -= count;
  CountUsed(stream);
  operation->resources = operation->resources - freed;
}

void Scheduler::StopRunning(OperationRecord* operation) {
  FreeResources(operation, operation->resources);
  StreamRecord* stream = operation->job->stream;
  const auto& alternative =
      costs_.kernel(operation->kernel).alternatives[operation->alternative];
  stream->fair_until_ns = now_ns_;
  stream->fair_until = pools_[alternative.pool].fair.now();
  TAKT_CHECK(operation->job->running_count > 0);
  --operation->job->running_count;
  operation->yields = false;
  operation->is_cancelled = false;
}

// Asks a running operation to stop at once; a driver is asked once in a run.
void Scheduler::CancelRun(OperationRecord* operation) {
  TAKT_DCHECK(operation->state == OperationRecord::State::kRunning);
  if (operation->is_cancelled) return;
  operation->yields = true;
  operation->is_cancelled = true;
  pending_.push_back(About(*operation, DecisionKind::kCancel));
}

void Scheduler::ReleaseSuccessors(JobRecord* job, uint32_t program_index,
                                  int64_t now_ns) {
  const JobProgram& program = programs_[job->stream->options.program];
  for (const uint32_t next : program.successors(program_index)) {
    TAKT_CHECK(job->pending[next] > 0);
    if (--job->pending[next] == 0) MakeReady(job, next, now_ns);
  }
}

// Ends an operation that neither runs nor waits.
void Scheduler::End(OperationRecord* operation, int64_t now_ns) {
  ReportStopped(*operation, /*is_done=*/true, now_ns);
  JobRecord* job = operation->job;
  const uint32_t index = operation->program_index;
  FreeOperation(operation);
  if (job->is_ending) {
    if (job->running_count == 0) CompleteJob(job, now_ns);
    return;
  }
  if (job->stream->options.program == kNoProgram) return;
  ReleaseSuccessors(job, index, now_ns);
  TAKT_CHECK(job->unfinished_count > 0);
  if (--job->unfinished_count == 0) CompleteJob(job, now_ns);
}

void Scheduler::DoneElsewhere(OperationId id, int64_t now_ns) {
  OperationRecord* operation = FindOperation(id);
  TAKT_CHECK(operation->state != OperationRecord::State::kRunning);
  Advance(now_ns);
  if (!IsLive(id)) return;
  StopWaiting(operation);
  End(operation, now_ns);
}

void Scheduler::Finished(OperationId id, int64_t now_ns, int64_t ran_ns) {
  OperationRecord* operation = FindOperation(id);
  TAKT_CHECK(operation->state == OperationRecord::State::kRunning ||
             operation->has_yielded);
  Learn(*operation, ran_ns >= 0 ? ran_ns : now_ns - operation->start_ns,
        now_ns);
  Advance(now_ns);
  // The job may have been given up, because its deadline has just passed.
  if (!IsLive(id)) return;
  if (operation->state == OperationRecord::State::kRunning) {
    StopRunning(operation);
  } else {
    StopWaiting(operation);
  }
  End(operation, now_ns);
}

void Scheduler::Yielded(OperationId id, uint32_t done_ppm, int64_t now_ns) {
  TAKT_CHECK(done_ppm <= 1'000'000);
  OperationRecord* operation = FindOperation(id);
  TAKT_CHECK(operation->state == OperationRecord::State::kRunning);
  Advance(now_ns);
  StopRunning(operation);
  JobRecord* job = operation->job;
  if (job->is_ending) {
    ReportStopped(*operation, /*is_done=*/false, now_ns);
    FreeOperation(operation);
    if (job->running_count == 0) CompleteJob(job, now_ns);
    return;
  }
  const int64_t own_ns = operation->facts.duration_ns;
  const int64_t rest_ns =
      PartOf(own_ns, 1'000'000 - std::max(done_ppm, operation->done_ppm),
             1'000'000 - operation->done_ppm);
  operation->done_ppm = done_ppm;
  operation->has_yielded = true;
  operation->facts.tail_ns -= own_ns - rest_ns;
  Enqueue(operation, now_ns);
}

ResourceSet Scheduler::Shrunk(OperationId id, uint32_t count, int64_t now_ns) {
  OperationRecord* operation = FindOperation(id);
  TAKT_CHECK(operation->state == OperationRecord::State::kRunning);
  TAKT_CHECK(count > 0 && count < operation->resources.count());
  Advance(now_ns);
  operation->has_shrunk = true;
  ResourceSet kept;
  operation->resources.ForEach([&](uint32_t resource) {
    if (kept.count() + count < operation->resources.count()) kept.Add(resource);
  });
  const ResourceSet freed = operation->resources - kept;
  FreeResources(operation, freed);
  return freed;
}

void Scheduler::Failed(OperationId id, int64_t now_ns) {
  OperationRecord* operation = FindOperation(id);
  TAKT_CHECK(operation->state == OperationRecord::State::kRunning);
  Advance(now_ns);
  StopRunning(operation);
  ReportStopped(*operation, /*is_done=*/false, now_ns);
  JobRecord* job = operation->job;
  FreeOperation(operation);
  if (!job->is_ending) {
    GiveUp(job, JobOutcome::kFailed, now_ns);
  } else if (job->running_count == 0) {
    CompleteJob(job, now_ns);
  }
}

void Scheduler::Drop(JobId id, int64_t now_ns) {
  Advance(now_ns);
  JobRecord* job = FindOpenJob(id);
  if (job != nullptr) GiveUp(job, JobOutcome::kDropped, now_ns);
}

// Gives the job up. Its running operations are cancelled, and the job lives
// until they have stopped. A job without a program lives until EndJob().
void Scheduler::GiveUp(JobRecord* job, JobOutcome outcome, int64_t now_ns) {
  TAKT_CHECK(job->is_live && !job->is_ending);
  job->is_ending = true;
  job->outcome = outcome;
  for (OperationRecord* operation = job->operations; operation != nullptr;) {
    OperationRecord* next = operation->job_next;
    if (operation->state == OperationRecord::State::kRunning) {
      CancelRun(operation);
    } else {
      StopWaiting(operation);
      ReportStopped(*operation, /*is_done=*/false, now_ns);
      FreeOperation(operation);
    }
    operation = next;
  }
  if (job->running_count == 0) CompleteJob(job, now_ns);
}

void Scheduler::CompleteJob(JobRecord* job, int64_t now_ns) {
  TAKT_CHECK(job->running_count == 0 && job->waiting_count == 0);
  StreamRecord* stream = job->stream;
  if (!job->is_ending) {
    job->outcome =
        now_ns <= job->deadline_ns ? JobOutcome::kMet : JobOutcome::kMissed;
  }
  if (job->deadline_ns != kInfiniteFuture &&
      stream->options.criticality != Criticality::kBestEffort) {
    ++indicators_.ended_count;
    if (job->outcome != JobOutcome::kMet) ++indicators_.missed_count;
  }
  if (job->outcome == JobOutcome::kMet) {
    stream->window.SetMet(job->window_number);
  }
  if (stream->options.program == kNoProgram) {
    // Overlapping jobs make a mixed record, so only the record of a lone job is
    // used.
    if (!job->is_ending && stream->recording.size() == job->found_count) {
      stream->sequence = stream->recording;
      stream->sequence_tails_ns.assign(stream->sequence.size(), 0);
      int64_t tail_ns = 0;
      for (size_t i = stream->sequence.size(); i-- > 0;) {
        int64_t fastest_ns = DurationEstimate::kMaxNs;
        for (const auto& a : costs_.kernel(stream->sequence[i]).alternatives) {
          fastest_ns = std::min(fastest_ns, a.expected_ns);
        }
        tail_ns = std::min(tail_ns + fastest_ns, DurationEstimate::kMaxNs);
        stream->sequence_tails_ns[i] = tail_ns;
      }
    }
    stream->recording.clear();
  }
  Decision decision;
  decision.kind = DecisionKind::kJobDone;
  decision.job = job->id();
  decision.stream = stream->id;
  decision.tag = job->tag;
  decision.deadline_ns = job->deadline_ns;
  decision.outcome = job->outcome;
  decision.may_miss = job->may_miss;
  decision.response_ns = now_ns - job->release_ns;
  pending_.push_back(decision);
  if (options_.advisor != nullptr) options_.advisor->OnOver(job->id(), now_ns);
  FreeJob(job);
}

void Scheduler::Demote(JobRecord* job, int64_t now_ns) {
  job->band = Band::kBestEffort;
  Decision decision;
  decision.kind = DecisionKind::kDemote;
  decision.job = job->id();
  decision.stream = job->stream->id;
  decision.tag = job->tag;
  decision.deadline_ns = job->deadline_ns;
  pending_.push_back(decision);
  for (OperationRecord* operation = job->operations; operation != nullptr;
       operation = operation->job_next) {
    if (operation->state == OperationRecord::State::kRunning) {
      TakeUrgency(operation);
      operation->rank = RankFor(*operation);
    } else {
      StopWaiting(operation);
      Enqueue(operation, now_ns);
    }
  }
}

void Scheduler::PassDeadline(JobRecord* job, int64_t now_ns) {
  job->is_late = true;
  switch (job->stream->options.late) {
    case LatePolicy::kRunOn:
      break;
    case LatePolicy::kDemote:
      Demote(job, now_ns);
      break;
    case LatePolicy::kDrop:
    case LatePolicy::kLatestOnly:
      GiveUp(job, JobOutcome::kDropped, now_ns);
      break;
  }
}

void Scheduler::LookAtMode(int64_t now_ns) {
  if (now_ns < controller_.next_look_ns()) return;
  for (const PoolState& pool : pools_) {
    indicators_.speed_permille_min =
        std::min(indicators_.speed_permille_min, pool.permille);
  }
  indicators_.is_hot = is_hot_;
  indicators_.lost_count = machine_.resource_count() - available_.count();
  if (controller_.Look(now_ns, indicators_)) {
    ApplyMode();
    Decision decision;
    decision.kind = DecisionKind::kMode;
    decision.mode = controller_.mode();
    pending_.push_back(decision);
  }
  indicators_ = {};
}

// Orders the waiting operations by the mode's rules.
void Scheduler::ApplyMode() {
  const ModeSettings& settings =
      options_.modes[static_cast<uint32_t>(controller_.mode())];
  situation_.densest_first = settings.densest_first;
  situation_.fewest_clusters = settings.fewest_clusters;
  situation_.guard_permille = settings.guard_permille;
  RankAll();
}

void Scheduler::Advance(int64_t now_ns) {
  TAKT_CHECK(now_ns >= now_ns_);
  now_ns_ = now_ns;
  situation_.now_ns = now_ns;
  while (const auto entry = deadlines_.PopUntil(now_ns - 1)) {
    JobRecord* job = FindOpenJob(entry->id);
    if (job != nullptr) PassDeadline(job, now_ns);
  }
  if (now_ns >= share_next_ns_) ReviewShares();
  EndDelays(now_ns);
  RaiseCritical();
  Age(now_ns);
  LookAtMode(now_ns);
}

int64_t Scheduler::next_timer_ns() const {
  // A deadline has passed one nanosecond after it.
  int64_t next_ns = DeadlineAfter(deadlines_.next_ns(), 1);
  if (options_.aging_ns > 0) {
    for (uint32_t i = static_cast<uint32_t>(Below(Band::kHard)); i < kBandCount;
         ++i) {
      if (bands_[i].first == nullptr) continue;
      next_ns = std::min(next_ns, DeadlineAfter(bands_[i].first->band_since_ns,
                                                options_.aging_ns));
    }
  }
  next_ns = std::min({next_ns, delayed_.next_ns(), criticals_.next_ns()});
  if (options_.advisor != nullptr) {
    next_ns = std::min(next_ns, options_.advisor->next_event_ns());
  }
  next_ns = std::min(next_ns, share_next_ns_);
  return std::min({next_ns, next_hold_ns_, next_late_ns_});
}

// Places all operations anew that wait for the pool.
void Scheduler::RequeueHeld(uint32_t pool, int64_t now_ns) {
  while (!pools_[pool].held.empty()) {
    Reconsider(pools_[pool].held.top(), now_ns);
  }
}

void Scheduler::SetSpeed(uint32_t pool, uint32_t permille, int64_t now_ns) {
  TAKT_CHECK(pool < pools_.size() && permille > 0 && permille <= 1'000'000);
  Advance(now_ns);
  pools_[pool].permille = permille;
  RequeueHeld(pool, now_ns);
}

void Scheduler::SetHot(bool is_hot, int64_t now_ns) {
  Advance(now_ns);
  is_hot_ = is_hot;
}

void Scheduler::SetAvailable(uint32_t resource, bool available,
                             int64_t now_ns) {
  TAKT_CHECK(resource < running_on_.size());
  Advance(now_ns);
  if (available_.Contains(resource) == available) return;
  if (options_.advisor != nullptr) {
    options_.advisor->OnAvailable(resource, available, now_ns);
  }
  OperationRecord* operation = running_on_[resource];
  if (available) {
    available_.Add(resource);
    if (operation == nullptr) free_.Add(resource);
    return;
  }
  available_.Remove(resource);
  free_.Remove(resource);
  if (operation != nullptr && !operation->job->is_ending) CancelRun(operation);
  RequeueHeld(machine_.PoolOf(resource), now_ns);
}

}  // namespace takt::sched
