// Ranks: which of the operations that wait goes first.
#include <algorithm>
#include <limits>

#include "sched/scheduler.h"

namespace takt::sched {

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
      const bool is_open = operation->waits() ||
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
  // An operation that can run nowhere takes no place.
  if (least_ns == kInfiniteFuture) now = 0;
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
  // Only the part that has not run counts.
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
  criticals_.Push(
      at_ns, operation->id(), live_operation_count(),
      [this](const DelayEntry& entry) { return IsToBecomeCritical(entry); });
}

bool Scheduler::IsToBecomeCritical(const DelayEntry& entry) const {
  return IsLive(entry.id) &&
         operations_[entry.id.index].critical_at_ns == entry.at_ns;
}

// Raises the operations whose jobs have little time to spare now.
void Scheduler::RaiseCritical() {
  while (const auto entry = criticals_.PopUntil(now_ns_)) {
    if (!IsToBecomeCritical(*entry)) continue;
    OperationRecord* operation = &operations_[entry->id.index];
    operation->critical_at_ns = kInfiniteFuture;
    if (!operation->waits()) continue;
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

}  // namespace takt::sched
