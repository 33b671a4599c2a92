// Decisions: which of the waiting operations start now, and where.
#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "sched/scheduler.h"

namespace takt::sched {
namespace {

// An operation that waits for a pool, or for less urgent work to end by itself,
// is decided anew when that is late by this part of the expected wait, and at
// least this much: more than the noise of durations, so that it does not move
// to and fro.
constexpr int64_t kHoldSlackDivisor = 4;
constexpr int64_t kHoldSlackNs = 20'000;

int64_t LatestAfter(int64_t wait_ns) {
  return wait_ns + std::max(wait_ns / kHoldSlackDivisor, kHoldSlackNs);
}

// What an operation adds to the queue of a pool at the most, of all its
// resources together: 18 minutes. So the sums of millions do not overflow.
constexpr int64_t kHeldMostNs = int64_t{1} << 40;

// The least gain that restarts an operation on more cores: a quarter of what is
// left, and more than a restart costs.
constexpr int64_t kWideningDivisor = 4;
constexpr int64_t kWideningLeastNs = 50'000;

}  // namespace

Decision Scheduler::About(const OperationRecord& operation,
                          DecisionKind kind) const {
  Decision decision;
  decision.kind = kind;
  decision.job = operation.job->id();
  decision.stream = operation.job->stream->id;
  decision.tag = operation.job->tag;
  decision.operation = operation.id();
  decision.kernel = operation.kernel;
  decision.program_index = operation.program_index;
  decision.alternative = operation.alternative;
  const auto& alternative =
      costs_.kernel(operation.kernel).alternatives[operation.alternative];
  decision.pool = alternative.pool;
  decision.shards = alternative.shards;
  decision.resources = operation.resources;
  decision.expected_end_ns = operation.expected_end_ns;
  decision.done_ppm = operation.done_ppm;
  decision.is_behind = operation.facts.share_cores > 0;
  decision.planned_start_ns = operation.facts.planned_start_ns;
  return decision;
}

int64_t Scheduler::AtSpeed(int64_t duration_ns, uint32_t pool) const {
  const uint32_t permille = pools_[pool].permille;
  if (permille != 1000) {
    duration_ns = std::min(duration_ns, DurationEstimate::kMaxNs / 1000) *
                  1000 / permille;
  }
  return std::min(duration_ns, DurationEstimate::kMaxNs);
}

// Notes what the whole run that begins now is expected to take.
void Scheduler::PredictRun(OperationRecord* operation,
                           const CostModel::Alternative& run) {
  operation->model_ns = 0;
  const bool is_known = run.duration.count() >= CostModel::kKnownCount &&
                        run.slowdown.alone.count() >= CostModel::kKnownCount;
  if (operation->done_ppm != 0 || !is_known) return;
  operation->model_ns = std::max<int64_t>(
      AtSpeed(CostModel::ModelNs(run, pressure_ppm_), run.pool), 1);
  operation->plain_ns = AtSpeed(run.duration.q50_ns(), run.pool);
}

// The remaining duration of the operation, at the median and the pool's speed,
// beside what runs now.
int64_t Scheduler::Duration(const OperationRecord& operation,
                            uint32_t index) const {
  const auto& alternative = costs_.kernel(operation.kernel).alternatives[index];
  int64_t duration_ns = CostModel::ExpectedNs(
      alternative, pressure_ppm_ - operation.pressure_ppm);
  if (operation.done_ppm != 0) {
    duration_ns =
        duration_ns / 1'000'000 * (1'000'000 - operation.done_ppm) +
        duration_ns % 1'000'000 * (1'000'000 - operation.done_ppm) / 1'000'000;
    // Each run takes a tile at least, however wrong the learned duration is.
    duration_ns = std::max(duration_ns, alternative.tile_ns);
  }
  return AtSpeed(duration_ns, alternative.pool);
}

// The resources of the pool that the operation may use, free or not, without
// NPUs that another job keeps.
ResourceSet Scheduler::PlacesOf(const OperationRecord& operation,
                                uint32_t pool) const {
  const ResourceSet places =
      pools_[pool].resources & available_ & operation.allowed;
  if (machine_.pools[pool].kind == ResourceKind::kCore) return places;
  ResourceSet unleased;
  places.ForEach([&](uint32_t npu) {
    const JobId holder = leased_to_[npu];
    if (holder == JobId() || holder == operation.job->id()) unleased.Add(npu);
  });
  return unleased;
}

ResourceSet Scheduler::FreeOf(const OperationRecord& operation,
                              uint32_t pool) const {
  return (free_ - claimed_) & PlacesOf(operation, pool);
}

// The cores that may feed an NPU of the pool, free or not.
ResourceSet Scheduler::FeederPlaces(uint32_t pool) const {
  const Pool& npu = machine_.pools[pool];
  if (npu.feeder_count == 0) return {};
  return pools_[static_cast<uint32_t>(npu.feeder_pool)].resources & available_;
}

// The cores that an NPU of the pool would take with it, if they are free.
ResourceSet Scheduler::FeedersOf(const OperationRecord& operation,
                                 uint32_t pool) const {
  ResourceSet places = FeederPlaces(pool);
  if (!operation.feeders.empty()) places = places & operation.feeders;
  return ((free_ - claimed_) & places)
      .Lowest(machine_.pools[pool].feeder_count);
}

// An overdue operation is expected to need its overrun once more.
int64_t Scheduler::ExpectedEnd(const OperationRecord& running) const {
  if (running.expected_end_ns >= now_ns_) return running.expected_end_ns;
  return now_ns_ + (now_ns_ - running.expected_end_ns);
}

// The time at which `count` of the resources are expected to be free.
int64_t Scheduler::ExpectedFree(const ResourceSet& resources,
                                uint32_t count) const {
  std::array<int64_t, ResourceSet::kMaxResources> ends_ns;
  uint32_t size = 0;
  resources.ForEach([&](uint32_t resource) {
    const OperationRecord* running = running_on_[resource];
    ends_ns[size++] = running == nullptr ? now_ns_ : ExpectedEnd(*running);
  });
  if (count == 0) return now_ns_;
  if (count > size) return kInfiniteFuture;
  std::nth_element(ends_ns.begin(), ends_ns.begin() + (count - 1),
                   ends_ns.begin() + size);
  return ends_ns[count - 1];
}

// Work in the pool's queue that goes before the operation.
int64_t Scheduler::QueueAhead(const OperationRecord& operation,
                              uint32_t pool) const {
  int64_t work_ns = 0;
  for (uint32_t i = 0; i <= static_cast<uint32_t>(operation.facts.band); ++i) {
    work_ns += pools_[pool].held_work_ns[i];
  }
  return work_ns / machine_.pools[pool].count;
}

// Whether operations in the pool also occupy cores.
bool Scheduler::TakesCores(uint32_t pool) const {
  return machine_.pools[pool].kind == ResourceKind::kCore ||
         machine_.pools[pool].feeder_count > 0;
}

// The number of operations beside which this one is placed. If less urgent work
// yields at once, only those of other jobs that are not less urgent: the less
// urgent ones get the cores as soon as it ends, and the operations of its own
// job gain more by all cores one after the other than by one each.
uint32_t Scheduler::CountOthers(const OperationRecord& operation) const {
  if (!options_.yields_at_once) {
    const bool is_counted = operation.state == OperationRecord::State::kReady ||
                            (operation.state == OperationRecord::State::kHeld &&
                             TakesCores(operation.held_pool));
    return for_cores_.count() - (is_counted ? 1 : 0);
  }
  const uint32_t count = for_cores_.CountUpTo(operation.facts.level());
  return count - std::min(count, operation.job->waiting_count);
}

void Scheduler::AddPlacement(const OperationRecord& operation, uint32_t index) {
  const auto& alternative = costs_.kernel(operation.kernel).alternatives[index];
  const Pool& pool = machine_.pools[alternative.pool];
  const ResourceSet places =
      pools_[alternative.pool].resources & available_ & operation.allowed;
  if (places.count() < alternative.shards) return;
  const ResourceSet free = FreeOf(operation, alternative.pool);
  Placement placement;
  placement.alternative = index;
  placement.pool = alternative.pool;
  placement.shards = alternative.shards;
  placement.is_npu = pool.kind == ResourceKind::kNpu;
  placement.busy_count = places.count() - (places & free_).count();
  placement.is_free = free.count() >= alternative.shards;
  placement.start_ns = now_ns_;
  if (placement.is_npu) {
    placement.is_free =
        !free.empty() &&
        FeedersOf(operation, alternative.pool).count() >= pool.feeder_count;
  }
  if (!placement.is_free) {
    placement.start_ns = ExpectedFree(places, alternative.shards);
    if (pool.feeder_count > 0) {
      const auto feeder = static_cast<uint32_t>(pool.feeder_pool);
      const ResourceSet cores = pools_[feeder].resources & available_;
      if (cores.count() < pool.feeder_count) return;
      placement.start_ns =
          std::max(placement.start_ns, ExpectedFree(cores, pool.feeder_count));
    }
    placement.start_ns += QueueAhead(operation, alternative.pool);
  }
  placement.finish_ns = placement.start_ns + Duration(operation, index);
  placements_.push_back(placement);
}

void Scheduler::BuildPlacements(const OperationRecord& operation,
                                bool is_held) {
  placements_.clear();
  const auto& alternatives = costs_.kernel(operation.kernel).alternatives;
  const uint32_t preferred = operation.shards_preferred;
  bool has_preferred = false;
  for (const auto& alternative : alternatives) {
    has_preferred |=
        alternative.shards == preferred &&
        (pools_[alternative.pool].resources & available_ & operation.allowed)
                .count() >= preferred;
  }
  for (uint32_t i = 0; i < alternatives.size(); ++i) {
    const uint32_t pool = alternatives[i].pool;
    if (is_held && pool != operation.held_pool) continue;
    if (!pools_[pool].resources.Intersects(operation.allowed)) {
      continue;
    }
    if (has_preferred && alternatives[i].shards != preferred &&
        machine_.pools[pool].kind == ResourceKind::kCore) {
      continue;
    }
    AddPlacement(operation, i);
  }
}

void Scheduler::Start(OperationRecord* operation, const Placement& placement) {
  JobRecord* job = operation->job;
  StopWaiting(operation);
  const ResourceSet free = FreeOf(*operation, placement.pool);
  ResourceSet resources;
  if (placement.is_npu) {
    resources = free.Lowest(1);
    if (job->stream->options.lease == LeaseScope::kJob) {
      const bool is_first = job->leased.empty();
      job->leased = job->leased | resources;
      if (is_first) RankAnew(job);
      resources.ForEach([&](uint32_t npu) { leased_to_[npu] = job->id(); });
    }
    resources = resources | FeedersOf(*operation, placement.pool);
  } else {
    // The caches of the resources where the job ran before may still hold its
    // data.
    resources = (free & job->last_resources).Lowest(placement.shards);
    resources = resources |
                (free - resources).Lowest(placement.shards - resources.count());
    job->last_resources = resources;
  }
  free_ = free_ - resources;
  resources.ForEach([&](uint32_t resource) {
    TAKT_DCHECK(running_on_[resource] == nullptr);
    running_on_[resource] = operation;
  });
  operation->state = OperationRecord::State::kRunning;
  operation->resources = resources;
  operation->alternative = placement.alternative;
  operation->has_shrunk = false;
  operation->start_ns = now_ns_;
  operation->expected_end_ns = placement.finish_ns;
  if (options_.learns_slowdown) {
    const auto& run =
        costs_.kernel(operation->kernel).alternatives[placement.alternative];
    PredictRun(operation, run);
    operation->pressure_ppm =
        int64_t{run.slowdown.pressure()} * resources.count();
    pressure_ppm_ += operation->pressure_ppm;
  }
  ++job->running_count;
  job->has_started = true;
  job->stream->used_count += resources.count();
  CountUsed(job->stream);
  if (operation->facts.share_cores > 0) RaiseOldest(job->stream);
  // What runs by its share is not part of what weights divide.
  if (operation->facts.band == Band::kBestEffort &&
      operation->facts.share_cores == 0) {
    pools_[placement.pool].fair.OnStart(operation->facts.fair_tag);
  }
  if (options_.advisor != nullptr) {
    options_.advisor->OnStarted(AdvisedOf(*operation), resources, now_ns_);
  }
  pending_.push_back(About(*operation, DecisionKind::kStart));
}

// A job that waits for an NPU which another job holds releases the NPUs that it
// holds: two such jobs could otherwise wait for each other for ever.
void Scheduler::YieldLeases(JobRecord* job) {
  if (job->leased.empty()) return;
  const ResourceSet needed = job->stream->allowed - job->leased;
  bool waits_for_lease = false;
  needed.ForEach(
      [&](uint32_t npu) { waits_for_lease |= leased_to_[npu] != JobId(); });
  if (!waits_for_lease) return;
  job->leased.ForEach([&](uint32_t npu) { leased_to_[npu] = {}; });
  job->leased = {};
  RankAnew(job);
}

void Scheduler::Hold(OperationRecord* operation, const Placement& placement) {
  Dequeue(operation);
  operation->state = OperationRecord::State::kHeld;
  operation->held_pool = placement.pool;
  operation->held_work_ns = std::min(
      OfAll(placement.finish_ns - placement.start_ns, placement.shards),
      kHeldMostNs);
  const int64_t wait_ns = placement.start_ns - now_ns_;
  operation->hold_until_ns =
      policy_.Reconsiders() ? now_ns_ + LatestAfter(wait_ns) : kInfiniteFuture;
  PoolState& pool = pools_[placement.pool];
  pool.held.Push(operation);
  pool.held_work_ns[static_cast<uint32_t>(operation->facts.band)] +=
      operation->held_work_ns;
  if (!TakesCores(placement.pool)) UncountForCores(operation);
}

// With a policy that gives up early: a job that cannot be in time and would be
// dropped when late is dropped now, so that others get its resources.
bool Scheduler::GivesUpNow(const OperationRecord& operation) const {
  if (!policy_.GivesUpEarly()) return false;
  const LatePolicy late = operation.job->stream->options.late;
  return (late == LatePolicy::kDrop || late == LatePolicy::kLatestOnly) &&
         operation.job->deadline_ns != kInfiniteFuture &&
         now_ns_ + operation.facts.tail_ns > operation.job->deadline_ns;
}

bool Scheduler::MayPreempt(const OperationRecord& urgent,
                           const OperationRecord& running) const {
  const auto& alternative =
      costs_.kernel(running.kernel).alternatives[running.alternative];
  return alternative.tile_ns > 0 && !running.job->is_ending &&
         policy_.Preempts(urgent.facts, running.facts, situation_);
}

// The number of places that the operation can have after less urgent work has
// yielded; `tile_ns` is the longest time that this takes.
uint32_t Scheduler::Obtainable(const OperationRecord& operation,
                               const ResourceSet& places,
                               int64_t* tile_ns) const {
  uint32_t count = 0;
  places.ForEach([&](uint32_t resource) {
    const OperationRecord* running = running_on_[resource];
    if (running == nullptr) {
      count += claimed_.Contains(resource) ? 0 : 1;
    } else if (running->yields || MayPreempt(operation, *running)) {
      const auto& alternative =
          costs_.kernel(running->kernel).alternatives[running->alternative];
      *tile_ns = std::max(*tile_ns, alternative.tile_ns);
      ++count;
    }
  });
  return count;
}

// The end of the operation if it preempts others; kInfiniteFuture if it cannot.
int64_t Scheduler::PreemptedFinish(const OperationRecord& operation,
                                   uint32_t index) {
  const auto& alternative = costs_.kernel(operation.kernel).alternatives[index];
  const Pool& pool = machine_.pools[alternative.pool];
  int64_t tile_ns = 0;
  if (Obtainable(operation, PlacesOf(operation, alternative.pool), &tile_ns) <
          alternative.shards ||
      Obtainable(operation, FeederPlaces(alternative.pool), &tile_ns) <
          pool.feeder_count) {
    return kInfiniteFuture;
  }
  if (options_.yields_at_once) tile_ns = 0;
  return now_ns_ + tile_ns + Duration(operation, index);
}

// Asks the least urgent of the places to yield until `count` resources will be
// free for the operation, and claims those that are free already.
void Scheduler::AskToYield(const OperationRecord& operation,
                           const ResourceSet& places, uint32_t count) {
  const ResourceSet free = ((free_ - claimed_) & places).Lowest(count);
  claimed_ = claimed_ | free;
  uint32_t expected = free.count();
  places.ForEach([&](uint32_t resource) {
    const OperationRecord* running = running_on_[resource];
    if (running != nullptr && running->yields) ++expected;
  });
  while (expected < count) {
    OperationRecord* victim = nullptr;
    places.ForEach([&](uint32_t resource) {
      OperationRecord* running = running_on_[resource];
      if (running == nullptr || running->yields ||
          !MayPreempt(operation, *running)) {
        return;
      }
      if (victim == nullptr || victim->rank < running->rank) victim = running;
    });
    if (victim == nullptr) return;
    victim->yields = true;
    expected += (victim->resources & places).count();
    pending_.push_back(About(*victim, DecisionKind::kYield));
  }
}

// Whether that many places are more than its stream may take while it is
// behind, and fewer will do.
bool Scheduler::IsTooWide(const OperationRecord& operation,
                          uint32_t shards) const {
  const uint32_t share = operation.facts.share_cores;
  return share > 0 && operation.facts.band > Band::kHard && shards > share &&
         shards > groups_[operation.group].shards_min;
}

// Preempts less urgent work if the operation then ends before `finish_ns`;
// otherwise it waits until about `start_ns`.
// Returns whether the operation now waits for that work to yield.
bool Scheduler::Preempt(OperationRecord* operation, bool is_held,
                        int64_t start_ns, int64_t finish_ns) {
  const auto& alternatives = costs_.kernel(operation->kernel).alternatives;
  int32_t best = -1;
  int64_t best_ns = finish_ns;
  bool may_gain = false;
  for (uint32_t i = 0; i < alternatives.size(); ++i) {
    const uint32_t pool = alternatives[i].pool;
    if (is_held && pool != operation->held_pool) continue;
    if (!pools_[pool].resources.Intersects(operation->allowed)) {
      continue;
    }
    if (IsTooWide(*operation, alternatives[i].shards)) continue;
    const int64_t done_ns = PreemptedFinish(*operation, i);
    may_gain |= done_ns < kInfiniteFuture;
    if (done_ns < best_ns) {
      best_ns = done_ns;
      best = static_cast<int32_t>(i);
    }
  }
  if (best < 0) {
    // That work may take longer than expected.
    if (may_gain) {
      next_late_ns_ =
          std::min(next_late_ns_, now_ns_ + LatestAfter(start_ns - now_ns_));
    }
    return false;
  }
  const auto& alternative = alternatives[static_cast<size_t>(best)];
  AskToYield(*operation, PlacesOf(*operation, alternative.pool),
             alternative.shards);
  AskToYield(*operation, FeederPlaces(alternative.pool),
             machine_.pools[alternative.pool].feeder_count);
  return true;
}

// Whether the operation waits for less urgent work to yield, because it ends
// much earlier on more cores than on those that are free. That work is asked to
// yield then. A driver whose work yields at the end of a tile would lose more
// by the cores that are idle until then.
bool Scheduler::PreemptToExpand(const OperationRecord& operation,
                                const Placement& free) {
  const bool is_alone = situation_.waiting_count == 0;
  if (!options_.yields_at_once || !policy_.Widens() || !is_alone ||
      free.is_npu || situation_.fewest_clusters ||
      operation.facts.planned_start_ns != kInfiniteFuture) {
    return false;
  }
  const int64_t left_ns = free.finish_ns - now_ns_;
  const Placement* best = nullptr;
  int64_t best_ns =
      free.finish_ns - std::max(left_ns / kWideningDivisor, kWideningLeastNs);
  for (const Placement& wider : placements_) {
    if (wider.pool != free.pool || wider.shards <= free.shards ||
        IsTooWide(operation, wider.shards)) {
      continue;
    }
    const int64_t done_ns = PreemptedFinish(operation, wider.alternative);
    if (done_ns > best_ns) continue;
    best_ns = done_ns;
    best = &wider;
  }
  if (best == nullptr) return false;
  AskToYield(operation, PlacesOf(operation, best->pool), best->shards);
  return true;
}

// The time that the operation gains by `free_count` more cores; 0: too little
// to restart it.
int64_t Scheduler::WideningGain(const OperationRecord& running,
                                uint32_t free_count) const {
  const auto& alternatives = costs_.kernel(running.kernel).alternatives;
  const auto& now = alternatives[running.alternative];
  if (now.tile_ns == 0 || running.yields || running.has_shrunk ||
      running.job->is_ending || running.start_ns == now_ns_) {
    return 0;
  }
  const int64_t left_ns = ExpectedEnd(running) - now_ns_;
  int64_t gain_ns = 0;
  for (const auto& wider : alternatives) {
    if (wider.pool != now.pool || wider.shards <= now.shards ||
        wider.shards > now.shards + free_count) {
      continue;
    }
    const double part =
        static_cast<double>(wider.expected_ns) /
        static_cast<double>(std::max<int64_t>(now.expected_ns, 1));
    const auto then_ns =
        static_cast<int64_t>(static_cast<double>(left_ns) * part);
    gain_ns = std::max(gain_ns, left_ns - then_ns);
  }
  const int64_t wait_ns = options_.yields_at_once ? 0 : now.tile_ns;
  return gain_ns >= std::max(left_ns / kWideningDivisor,
                             kWideningLeastNs + wait_ns)
             ? gain_ns
             : 0;
}

int32_t Scheduler::AskPolicy(const OperationRecord& operation, bool is_held,
                             uint32_t others_waiting) {
  BuildPlacements(operation, is_held);
  situation_.waiting_count = others_waiting;
  situation_.free_core_count = (free_ - claimed_).count();
  if (placements_.empty()) return -1;
  return policy_.Choose(operation.facts, situation_, placements_);
}

// Whether the policy would now give the operation more cores. Otherwise the
// operation would be restarted as before, and asked to yield again.
bool Scheduler::WouldBeWider(OperationRecord* running,
                             const ResourceSet& allowed) {
  const ResourceSet own = std::exchange(running->allowed, allowed);
  const uint32_t shards = std::exchange(running->shards_preferred, 0);
  const ResourceSet free = free_;
  free_ = free_ | running->resources;
  running->resources.ForEach(
      [&](uint32_t resource) { running_on_[resource] = nullptr; });
  const int32_t choice =
      AskPolicy(*running, /*is_held=*/false, CountOthers(*running));
  running->resources.ForEach(
      [&](uint32_t resource) { running_on_[resource] = running; });
  free_ = free;
  running->allowed = own;
  running->shards_preferred = shards;
  return choice >= 0 && placements_[choice].is_free &&
         placements_[choice].shards > running->resources.count();
}

// The resources that a running operation may have.
ResourceSet Scheduler::MayHave(const OperationRecord& running) {
  if (running.facts.planned_start_ns == kInfiniteFuture) {
    return running.shards_preferred != 0 ? running.resources : running.allowed;
  }
  const ResourceSet more =
      options_.advisor != nullptr
          ? options_.advisor->MayHave(AdvisedOf(running), now_ns_)
          : ResourceSet();
  return (more & running.job->stream->allowed) | running.resources;
}

// If cores of the pool are free and no operation waits for them, the running
// operation that gains most by them yields, and is restarted with them.
void Scheduler::Widen(uint32_t pool) {
  const ResourceSet free = (free_ - claimed_) & pools_[pool].resources;
  if (free.empty()) return;
  OperationRecord* best = nullptr;
  ResourceSet best_allowed;
  int64_t best_ns = 0;
  (pools_[pool].resources & available_).ForEach([&](uint32_t resource) {
    OperationRecord* running = running_on_[resource];
    if (running == nullptr || running == best) return;
    const ResourceSet allowed = MayHave(*running);
    const int64_t gain_ns = WideningGain(*running, (free & allowed).count());
    if (gain_ns > best_ns) {
      best = running;
      best_allowed = allowed;
      best_ns = gain_ns;
    }
  });
  if (best == nullptr || !WouldBeWider(best, best_allowed)) return;
  best->yields = true;
  pending_.push_back(About(*best, DecisionKind::kYield));
}

// Sets *is_done if nothing more of this heap can start in this round.
void Scheduler::PlaceTop(OperationRecord* operation, bool is_held,
                         bool* is_done) {
  if (GivesUpNow(*operation)) {
    GiveUp(operation->job, JobOutcome::kDropped, now_ns_);
    return;
  }
  if (operation->not_after_ns < now_ns_) {
    StopWaiting(operation);
    Enqueue(operation, now_ns_);
    return;
  }
  const int32_t choice =
      AskPolicy(*operation, is_held, CountOthers(*operation));
  const Placement* chosen = choice < 0 ? nullptr : &placements_[choice];
  if (chosen != nullptr && chosen->is_free) {
    if (PreemptToExpand(*operation, *chosen)) {
      *is_done = true;
      return;
    }
    Start(operation, *chosen);
    return;
  }
  YieldLeases(operation->job);
  if (chosen != nullptr && !is_held) {
    Hold(operation, *chosen);
    return;
  }
  int64_t start_ns = kInfiniteFuture;
  int64_t expected_ns = kInfiniteFuture;
  for (const Placement& placement : placements_) {
    start_ns = std::min(start_ns, placement.start_ns);
    expected_ns = std::min(expected_ns, placement.finish_ns);
  }
  // A promised operation does not wait for others to end by themselves, nor
  // does one whose stream has had less than its share.
  if (operation->facts.band == Band::kPromised ||
      operation->facts.share_cores > 0) {
    expected_ns = kInfiniteFuture;
  }
  *is_done = true;
  if (Preempt(operation, is_held, start_ns, expected_ns)) return;
  Collect(*operation);
}

// An operation that needs several resources at once collects them, from the
// places that it was offered: less urgent work could otherwise take one after
// the other for ever.
void Scheduler::Collect(const OperationRecord& operation) {
  for (const Placement& placement : placements_) {
    if (!placement.is_npu && placement.shards == 1) return;
  }
  for (const Placement& placement : placements_) {
    if (!placement.is_npu) {
      claimed_ = claimed_ | FreeOf(operation, placement.pool);
      continue;
    }
    const ResourceSet npus = FreeOf(operation, placement.pool);
    if (npus.empty()) continue;
    claimed_ = claimed_ | npus.Lowest(1) | FeedersOf(operation, placement.pool);
  }
}

// Finds the most urgent operation of those in groups and of those in the queues
// of pools. If both are equally urgent, the one in the group goes first.
Scheduler::HeapTop Scheduler::MostUrgentTop() {
  HeapTop best;
  const auto consider = [&best](OperationHeap& heap, bool is_held,
                                bool* is_done) {
    if (*is_done || heap.empty()) return;
    if (best.operation != nullptr &&
        !(heap.top()->rank < best.operation->rank)) {
      return;
    }
    best = {heap.top(), is_held, is_done};
  };
  for (Group& group : groups_) consider(group.heap, false, &group.is_done);
  for (PoolState& pool : pools_) consider(pool.held, true, &pool.is_done);
  return best;
}

// When no operation waits for cores, running operations may take the free ones.
void Scheduler::WidenIdlePools() {
  if (!policy_.Widens() || situation_.fewest_clusters) return;
  for (const Group& group : groups_) {
    if (!group.heap.empty()) return;
  }
  for (uint32_t i = 0; i < pools_.size(); ++i) {
    if (machine_.pools[i].kind == ResourceKind::kCore &&
        pools_[i].held.empty()) {
      Widen(i);
    }
  }
}

void Scheduler::Decide(int64_t now_ns) {
  Advance(now_ns);
  if (options_.advisor != nullptr &&
      options_.advisor->next_event_ns() <= now_ns &&
      options_.advisor->OnTime(now_ns)) {
    ReviewAdvised(now_ns);
  }
  ReviewDelayed(now_ns);
  for (StreamRecord* stream : sharing_) RaiseOldest(stream);
  claimed_ = {};
  next_late_ns_ = kInfiniteFuture;
  for (Group& group : groups_) group.is_done = false;
  for (PoolState& pool : pools_) {
    pool.is_done = false;
    while (!pool.held.empty() && pool.held.top()->hold_until_ns <= now_ns) {
      Reconsider(pool.held.top(), now_ns);
    }
  }
  for (HeapTop top = MostUrgentTop(); top.operation != nullptr;
       top = MostUrgentTop()) {
    PlaceTop(top.operation, top.is_held, top.is_done);
  }
  WidenIdlePools();
  next_hold_ns_ = kInfiniteFuture;
  for (const PoolState& pool : pools_) {
    if (pool.held.empty()) continue;
    next_hold_ns_ = std::min(next_hold_ns_, pool.held.top()->hold_until_ns);
  }
}

}  // namespace takt::sched
