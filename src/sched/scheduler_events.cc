// Events: what the driver says has happened.
#include <algorithm>
#include <cstdlib>
#include <limits>
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

// Longer runs do not count among the errors of predictions, whose sums could
// not hold many of them.
constexpr int64_t kPredictedMostNs = 1'000'000'000'000;

// The part of a duration that `rest_ppm` of `whole_ppm` is.
int64_t PartOf(int64_t duration_ns, int64_t rest_ppm, int64_t whole_ppm) {
  if (whole_ppm == 0) return 0;
  return duration_ns / whole_ppm * rest_ppm +
         duration_ns % whole_ppm * rest_ppm / whole_ppm;
}

// The time of `count` resources together.
int64_t OfAll(int64_t duration_ns, uint32_t count) {
  constexpr int64_t kMost =
      DurationEstimate::kMaxNs / ResourceSet::kMaxResources;
  return std::min(duration_ns, kMost) * count;
}

}  // namespace

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
    deadlines_.push_back({job->deadline_ns, job->id()});
    std::push_heap(deadlines_.begin(), deadlines_.end());
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

// A job without a program is expected to have the operations of the job before
// it.
void Scheduler::Predict(OperationRecord* operation) {
  JobRecord* job = operation->job;
  const StreamRecord& stream = *job->stream;
  const uint32_t index = operation->program_index;
  job->follows_prediction = job->follows_prediction &&
                            index < stream.sequence.size() &&
                            stream.sequence[index] == operation->kernel;
  operation->facts.tail_ns =
      job->follows_prediction ? stream.sequence_tails_ns[index] : 0;
}

void Scheduler::MakeReady(JobRecord* job, uint32_t program_index,
                          int64_t now_ns) {
  const JobProgram& program = programs_[job->stream->options.program];
  OperationRecord* operation =
      NewOperation(job, program.kernel(program_index), program_index);
  operation->facts.tail_ns = program.tail_ns(program_index);
  Enqueue(operation, now_ns);
}

uint32_t Scheduler::GroupOf(const ResourceSet& eligible, uint32_t shards_min) {
  for (uint32_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].eligible == eligible &&
        groups_[i].shards_min == shards_min) {
      return i;
    }
  }
  groups_.emplace_back();
  groups_.back().eligible = eligible;
  groups_.back().shards_min = shards_min;
  return static_cast<uint32_t>(groups_.size() - 1);
}

Loan Scheduler::UrgencyOf(const JobRecord& job) {
  const Loan own = {job.band, job.stream->options.priority, job.deadline_ns};
  if (job.loan.level() != own.level()) {
    return job.loan.level() < own.level() ? job.loan : own;
  }
  return job.loan.deadline_ns < own.deadline_ns ? job.loan : own;
}

Loan Scheduler::UrgencyOf(JobId id) {
  const JobRecord* job = FindOpenJob(id);
  return job != nullptr ? UrgencyOf(*job) : Loan();
}

void Scheduler::TakeUrgency(OperationRecord* operation) {
  const Loan urgency = UrgencyOf(*operation->job);
  operation->facts.band = urgency.band;
  operation->facts.priority = urgency.priority;
  operation->facts.deadline_ns = urgency.deadline_ns;
}

// Finds which streams have had less than their shares.
void Scheduler::ReviewShares() {
  share_next_ns_ = kInfiniteFuture;
  for (StreamRecord* stream : sharing_) {
    if (stream->oldest == nullptr) continue;
    stream->share.Update(now_ns_);
    share_next_ns_ = std::min(share_next_ns_, stream->share.next_change_ns());
  }
}

// Raises operations of a stream that is behind, those of its oldest jobs first:
// as many as its share has cores, so that the others keep the rest.
void Scheduler::RaiseOldest(StreamRecord* stream) {
  const uint32_t cores =
      stream->share.is_behind() ? stream->share.core_count() : 0;
  if (cores == 0 && stream->raised.empty()) return;
  uint32_t taken = 0;
  for (const OperationRecord* operation : stream->raised) {
    taken += operation->resources.count();
  }
  size_t kept = 0;
  for (OperationRecord* operation : stream->raised) {
    const bool runs = !operation->resources.empty();
    if (cores > 0 && (runs || taken < cores)) {
      taken += runs ? 0 : 1;
      stream->raised[kept++] = operation;
    } else {
      SetRaised(operation, 0);
    }
  }
  stream->raised.resize(kept);
  for (JobRecord* job = stream->oldest; job != nullptr && taken < cores;
       job = job->stream_next) {
    if (job->is_ending) continue;
    for (OperationRecord* operation = job->operations;
         operation != nullptr && taken < cores;
         operation = operation->job_next) {
      const bool is_open = operation->state == OperationRecord::State::kReady ||
                           operation->state == OperationRecord::State::kHeld ||
                           operation->state == OperationRecord::State::kRunning;
      if (!is_open || operation->facts.share_cores > 0) continue;
      taken += std::max(operation->resources.count(), 1u);
      stream->raised.push_back(operation);
      SetRaised(operation, cores);
    }
  }
}

void Scheduler::SetRaised(OperationRecord* operation, uint32_t cores) {
  operation->facts.share_cores = cores;
  operation->facts.share_due_ns = operation->job->stream->share.due_ns();
  RankAnew(operation);
}

// After the number of resources on which the stream runs has changed.
void Scheduler::CountUsed(StreamRecord* stream) {
  if (!stream->share.is_set()) return;
  stream->share.SetUsed(stream->used_count, now_ns_);
  share_next_ns_ = std::min(share_next_ns_, stream->share.next_change_ns());
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
    const bool waits = operation->state == OperationRecord::State::kReady ||
                       operation->state == OperationRecord::State::kHeld;
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

// Its place among the best-effort operations, if weights order them. It keeps
// it to its end. A stream that has one job at a time stands as if it had waited
// since the last one.
void Scheduler::TakeTag(OperationRecord* operation) {
  if (operation->fair_expected_ns >= 0) return;
  int64_t now = std::numeric_limits<int64_t>::max();
  int64_t least_ns = kInfiniteFuture;
  for (const auto& alternative :
       costs_.kernel(operation->kernel).alternatives) {
    const PoolState& pool = pools_[alternative.pool];
    if (!pool.resources.Intersects(operation->allowed)) continue;
    now = std::min(now, pool.fair.now());
    least_ns =
        std::min(least_ns, OfAll(alternative.expected_ns, alternative.shards));
  }
  StreamRecord* stream = operation->job->stream;
  if (now_ns_ - stream->fair_until_ns <= ShareAccount::kLeewayNs) {
    now = std::min(now, stream->fair_until);
  }
  const bool is_counted =
      operation->facts.band == Band::kBestEffort && least_ns < kInfiniteFuture;
  operation->fair_expected_ns = is_counted ? least_ns : 0;
  operation->facts.fair_tag =
      stream->fair.Add(now, operation->fair_expected_ns);
}

// Sets the operation's group and rank.
void Scheduler::FindPlaces(OperationRecord* operation) {
  OperationFacts& facts = operation->facts;
  facts.duration_ns = kInfiniteFuture;
  ResourceSet eligible;
  uint32_t shards_min = ResourceSet::kMaxResources;
  for (const auto& alternative :
       costs_.kernel(operation->kernel).alternatives) {
    const ResourceSet places =
        pools_[alternative.pool].resources & operation->allowed;
    if (places.empty()) continue;
    eligible = eligible | places;
    shards_min = std::min(shards_min, alternative.shards);
    facts.duration_ns = std::min(facts.duration_ns, alternative.expected_ns);
  }
  // What is left of it.
  facts.duration_ns = eligible.empty()
                          ? 0
                          : PartOf(facts.duration_ns,
                                   1'000'000 - operation->done_ppm, 1'000'000);
  facts.tail_ns = std::max(facts.tail_ns, facts.duration_ns);
  operation->group = GroupOf(eligible, shards_min);
  TakeTag(operation);
  FindCritical(operation);
  operation->rank = RankFor(*operation);
}

// Whether the operation, which waits, is critical; if it is not yet, notes when
// it will be. A job that is late has nothing to spare, and nothing to lose.
void Scheduler::FindCritical(OperationRecord* operation) {
  const int64_t at_ns = policy_.CriticalAt(operation->facts);
  if (at_ns == kInfiniteFuture || operation->facts.deadline_ns < now_ns_) {
    operation->facts.is_critical = false;
    return;
  }
  if (operation->facts.is_critical || at_ns <= now_ns_) {
    operation->facts.is_critical = true;
    return;
  }
  if (operation->critical_at_ns == at_ns) return;
  operation->critical_at_ns = at_ns;
  criticals_.push_back({at_ns, operation->id()});
  std::push_heap(criticals_.begin(), criticals_.end());
}

// Raises the operations whose jobs have little time to spare now.
void Scheduler::RaiseCritical() {
  while (!criticals_.empty() && criticals_.front().not_before_ns <= now_ns_) {
    const Delayed entry = criticals_.front();
    std::pop_heap(criticals_.begin(), criticals_.end());
    criticals_.pop_back();
    if (!IsLive(entry.operation)) continue;
    OperationRecord* operation = &operations_[entry.operation.index];
    const bool waits = operation->state == OperationRecord::State::kReady ||
                       operation->state == OperationRecord::State::kHeld;
    if (operation->critical_at_ns != entry.not_before_ns) continue;
    operation->critical_at_ns = kInfiniteFuture;
    if (!waits) continue;
    FindCritical(operation);
    RankAnew(operation);
  }
}

// The rank by the policy. Operations of a job that holds an NPU go before all
// others; otherwise operations that wait for that NPU could keep the job from
// its end.
Rank Scheduler::RankFor(const OperationRecord& operation) const {
  Rank rank = policy_.RankOf(operation.facts, situation_);
  rank.level = operation.job->leased.empty() ? rank.level + 1 : 0;
  return rank;
}

void Scheduler::RankAnew(OperationRecord* operation) {
  operation->rank = RankFor(*operation);
  // It runs, or is about to.
  if (operation->heap_position == kNotInHeap) return;
  if (operation->state == OperationRecord::State::kReady) {
    groups_[operation->group].heap.Update(operation);
  } else if (operation->state == OperationRecord::State::kHeld) {
    pools_[operation->held_pool].held.Update(operation);
  }
}

// Ranks the job's operations again, after the job got or released an NPU.
void Scheduler::RankAnew(JobRecord* job) {
  for (OperationRecord* operation = job->operations; operation != nullptr;
       operation = operation->job_next) {
    RankAnew(operation);
  }
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
  for_cores_.Add(LevelCounts::LevelOf(operation->facts));
  ++operation->job->waiting_count;
}

void Scheduler::UncountForCores(OperationRecord* operation) {
  for_cores_.Remove(LevelCounts::LevelOf(operation->facts));
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
}

// Learns how much the neighbours of a whole run slowed it down.
void Scheduler::LearnBeside(const OperationRecord& operation, int64_t begin_ns,
                            int64_t end_ns, int64_t nominal_ns) {
  neighbours_.clear();
  const auto add = [&](KernelId kernel, uint32_t alternative, uint32_t count,
                       int64_t from_ns, int64_t to_ns) {
    const int64_t beside_ns =
        std::min(to_ns, end_ns) - std::max(from_ns, begin_ns);
    if (beside_ns <= 0) return;
    neighbours_.push_back({costs_.slowdown(kernel, alternative),
                           static_cast<double>(beside_ns) * count /
                               static_cast<double>(end_ns - begin_ns)});
  };
  for (uint32_t i = 0; i < running_on_.size(); ++i) {
    const OperationRecord* other = running_on_[i];
    const bool is_first =
        other != nullptr && other->resources.Lowest(1).Contains(i);
    if (!is_first || other == &operation) continue;
    add(other->kernel, other->alternative, other->resources.count(),
        other->start_ns, end_ns);
  }
  const bool is_complete =
      recent_runs_.VisitSince(begin_ns, [&](const KernelRun& run) {
        // What it gave back itself was not beside it.
        if (run.operation == operation.index) return;
        add(run.kernel, run.alternative, run.count, run.begin_ns, run.end_ns);
      });
  if (!is_complete) return;
  LearnSlowdown(nominal_ns, neighbours_, CostModel::kKnownCount,
                costs_.slowdown(operation.kernel, operation.alternative));
}

void Scheduler::Learn(const OperationRecord& operation, int64_t ran_ns,
                      int64_t now_ns) {
  if (operation.has_yielded) return;  // Only a part of it ran.
  const auto& alternative =
      costs_.kernel(operation.kernel).alternatives[operation.alternative];
  const int64_t took_ns = std::min(ran_ns, DurationEstimate::kMaxNs);
  const uint32_t permille = pools_[alternative.pool].permille;
  const int64_t nominal_ns =
      permille == 1000 ? took_ns : took_ns / 1000 * permille;
  costs_.Observe(operation.kernel, operation.alternative, nominal_ns);
  if (!options_.learns_slowdown || took_ns <= 0) return;
  if (operation.model_ns > 0 && took_ns <= kPredictedMostNs) {
    Slowdown* slowdown =
        costs_.slowdown(operation.kernel, operation.alternative);
    const int64_t expected_ns =
        slowdown->is_trusted() ? operation.model_ns : operation.plain_ns;
    ++errors_.run_count;
    errors_.ran_ns += took_ns;
    errors_.error_ns += std::abs(expected_ns - took_ns);
    errors_.plain_error_ns += std::abs(operation.plain_ns - took_ns);
    slowdown->Compare(operation.model_ns, operation.plain_ns, took_ns);
  }
  LearnBeside(operation, now_ns - took_ns, now_ns, nominal_ns);
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
      operation->yields = true;
      pending_.push_back(About(*operation, DecisionKind::kCancel));
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

// Raises operations that have waited too long by a band.
void Scheduler::Age(int64_t now_ns) {
  if (options_.aging_ns == 0) return;
  for (uint32_t i = kBandCount - 1; i > static_cast<uint32_t>(Band::kHard);
       --i) {
    while (bands_[i].first != nullptr &&
           now_ns - bands_[i].first->band_since_ns >= options_.aging_ns) {
      OperationRecord* operation = bands_[i].first;
      StopWaiting(operation);
      operation->facts.band = static_cast<Band>(i - 1);
      // In the highest band it is due at once and has the highest priority;
      // otherwise other operations would always go before it.
      if (operation->facts.band == Band::kHard) {
        operation->facts.priority = 255;
        operation->facts.deadline_ns =
            std::min(operation->facts.deadline_ns, now_ns);
      }
      operation->rank = RankFor(*operation);
      Wait(operation, now_ns);
    }
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

void Scheduler::RankAll() {
  const auto rank_anew = [&](OperationHeap* heap) {
    for (OperationRecord* operation : heap->members()) {
      operation->rank = RankFor(*operation);
    }
    heap->Rebuild();
  };
  for (Group& group : groups_) rank_anew(&group.heap);
  for (PoolState& pool : pools_) rank_anew(&pool.held);
}

void Scheduler::Advance(int64_t now_ns) {
  TAKT_CHECK(now_ns >= now_ns_);
  now_ns_ = now_ns;
  situation_.now_ns = now_ns;
  while (!deadlines_.empty() && deadlines_.front().deadline_ns < now_ns) {
    const JobId id = deadlines_.front().job;
    std::pop_heap(deadlines_.begin(), deadlines_.end());
    deadlines_.pop_back();
    JobRecord* job = FindOpenJob(id);
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
  int64_t next_ns =
      deadlines_.empty() ? kInfiniteFuture : deadlines_.front().deadline_ns + 1;
  if (options_.aging_ns > 0) {
    for (uint32_t i = static_cast<uint32_t>(Below(Band::kHard)); i < kBandCount;
         ++i) {
      if (bands_[i].first == nullptr) continue;
      next_ns = std::min(next_ns, DeadlineAfter(bands_[i].first->band_since_ns,
                                                options_.aging_ns));
    }
  }
  if (!delayed_.empty()) {
    next_ns = std::min(next_ns, delayed_.front().not_before_ns);
  }
  if (!criticals_.empty()) {
    next_ns = std::min(next_ns, criticals_.front().not_before_ns);
  }
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
  if (operation != nullptr && !operation->job->is_ending) {
    operation->yields = true;
    pending_.push_back(About(*operation, DecisionKind::kCancel));
  }
  RequeueHeld(machine_.PoolOf(resource), now_ns);
}

}  // namespace takt::sched
