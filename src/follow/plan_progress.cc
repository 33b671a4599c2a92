#include "follow/plan_progress.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash_map.h"
#include "base/stable_sort.h"
#include "base/status.h"

namespace takt::follow {

using sched::AdvisedOperation;
using sched::ResourceSet;

namespace {

using Kind = plan::PlannedResource::Kind;

}  // namespace

bool PlanSlot::IsPlace(const ResourceSet& where) const {
  if (where == resources) return true;
  const ResourceSet npus = resources - feeders;
  if (shards != 0 || !((where & npus) == npus)) return false;
  return feeders.empty() || where == npus;
}

void PlanSlot::PrescribePlace(sched::Prescription* prescription) const {
  prescription->resources = resources - feeders;
  prescription->feeders = feeders;
  prescription->shards = shards;
}

absl::Status PlanProgress::Fault(absl::string_view reason) const {
  return absl::InvalidArgumentError(
      absl::StrCat("plan \"", plan_.name, "\": ", reason));
}

absl::Status PlanProgress::LoadResources() {
  if (plan_.resources.size() != machine_.resource_count()) {
    return Fault(absl::StrCat("it is of ", plan_.resources.size(),
                              " resources, and there are ",
                              machine_.resource_count()));
  }
  for (uint32_t r = 0; r < plan_.resources.size(); ++r) {
    const bool is_npu = plan_.resources[r].kind == Kind::kNpu;
    const uint32_t pool = machine_.PoolOf(r);
    if (is_npu != (machine_.pools[pool].kind == sched::ResourceKind::kNpu)) {
      return Fault(absl::StrCat("resource \"", plan_.resources[r].name,
                                "\" is ", is_npu ? "an NPU" : "a core",
                                ", here it is not"));
    }
    pool_of_.push_back(pool);
    if (!is_npu) cores_.Add(r);
  }
  lanes_.resize(plan_.resources.size());
  return absl::OkStatus();
}

absl::Status PlanProgress::LoadJobs(
    const HashMap<std::string, sched::StreamId>& streams) {
  for (uint32_t j = 0; j < plan_.jobs.size(); ++j) {
    const plan::PlannedJob& job = plan_.jobs[j];
    const auto found = streams.find(job.stream);
    if (found == streams.end()) {
      return Fault(absl::StrCat("there is no stream \"", job.stream, "\""));
    }
    std::vector<uint32_t>& jobs = streams_[found->second].jobs;
    if (job.instance != jobs.size()) {
      return Fault(absl::StrCat("job \"", job.name, "\" is number ",
                                job.instance, " of its stream, not ",
                                jobs.size()));
    }
    jobs.push_back(j);
    jobs_.push_back({found->second, job.release, job.deadline, {}});
  }
  return absl::OkStatus();
}

absl::Status PlanProgress::LoadOperation(uint32_t index,
                                         int64_t unseen_max_ns) {
  const plan::PlannedOperation& operation = plan_.operations[index];
  PlanSlot slot;
  slot.start = operation.start;
  slot.duration = operation.duration;
  slot.job = operation.job;
  bool has_npu = false;
  for (const uint32_t resource : operation.resources) {
    slot.resources.Add(resource);
    has_npu |= plan_.resources[resource].kind == Kind::kNpu;
  }
  if (!has_npu && operation.duration <= unseen_max_ns) {
    slot.over_count = UINT64_MAX;
  } else {
    for (const uint32_t resource : operation.resources) {
      lanes_[resource].order.push_back(index);
    }
  }
  if (has_npu) slot.feeders = slot.resources & cores_;
  slot.shards = has_npu ? 0 : static_cast<uint32_t>(operation.resources.size());
  std::vector<uint32_t>& slots = jobs_[operation.job].slots;
  if (slots.size() <= operation.ordinal) {
    // A job has no more dispatches than its plan has operations.
    if (operation.ordinal >= plan_.operations.size()) {
      return Fault(absl::StrCat("operation \"", operation.name,
                                "\" is dispatch ", operation.ordinal));
    }
    slots.resize(operation.ordinal + 1, kNone);
  }
  slots[operation.ordinal] = index;
  slots_.push_back(slot);
  return absl::OkStatus();
}

absl::Status PlanProgress::LoadPlan(
    const HashMap<std::string, sched::StreamId>& streams,
    int64_t unseen_max_ns) {
  TAKT_CHECK(slots_.empty() && lanes_.empty());
  TAKT_RETURN_IF_ERROR(LoadResources());
  TAKT_RETURN_IF_ERROR(LoadJobs(streams));
  for (uint32_t i = 0; i < plan_.operations.size(); ++i) {
    TAKT_RETURN_IF_ERROR(LoadOperation(i, unseen_max_ns));
  }
  for (uint32_t i = 0; i < slots_.size(); ++i) ways_.push_back(MakeWays(i));
  if (period_ == 0) left_count_ = CountLeft();
  for (Lane& lane : lanes_) {
    StableSort(lane.order, [&](uint32_t a, uint32_t b) {
      return slots_[a].start < slots_[b].start;
    });
  }
  TAKT_CHECK(slots_.size() == plan_.operations.size());
  return absl::OkStatus();
}

std::vector<sched::AlternativeOptions> PlanProgress::MakeWays(
    uint32_t slot) const {
  const plan::PlannedOperation& operation = plan_.operations[slot];
  std::vector<sched::AlternativeOptions> ways;
  const auto add = [&](uint32_t pool, uint32_t shards, int64_t duration) {
    if (shards > machine_.pools[pool].count) return;
    sched::AlternativeOptions way;
    way.pool = pool;
    way.shards = shards;
    way.guess_ns = duration;
    ways.push_back(way);
  };
  for (const plan::PlannedAlternative& way : operation.alternatives) {
    const auto resource = std::find_if(
        plan_.resources.begin(), plan_.resources.end(),
        [&](const plan::PlannedResource& other) {
          return other.kind == way.kind && other.cluster == way.cluster;
        });
    if (resource == plan_.resources.end()) continue;
    const auto index = resource - plan_.resources.begin();
    add(pool_of_[static_cast<size_t>(index)], way.width, way.duration);
  }
  if (!ways.empty()) return ways;
  // Its planned place: an NPU rather than the cores that feed it.
  uint32_t taken = operation.resources[0];
  for (const uint32_t r : operation.resources) {
    if (plan_.resources[r].kind == Kind::kNpu) taken = r;
  }
  const bool is_npu = plan_.resources[taken].kind == Kind::kNpu;
  const auto width =
      is_npu ? 1 : static_cast<uint32_t>(operation.resources.size());
  for (uint32_t pool = 0; pool < machine_.pools.size(); ++pool) {
    if (machine_.pools[pool].kind == machine_.pools[pool_of_[taken]].kind) {
      add(pool, width, operation.duration);
    }
  }
  return ways;
}

int64_t PlanProgress::ExpectedEnd(uint32_t index) const {
  const PlanSlot& running = slots_[index];
  int64_t duration = running.duration;
  for (const auto& way : ways_[index]) {
    const ResourceSet there = running.runs_on & machine_.ResourcesOf(way.pool);
    if (there.count() == way.shards) duration = way.guess_ns;
  }
  return running.runs_since_ns + duration;
}

void PlanProgress::EndAt(int64_t end_ns) {
  const int64_t length = end_ns - origin_ns_;
  if (period_ == 0) {
    for (uint32_t i = 0; i < slots_.size(); ++i) {
      if (job_of(i).release >= length) Finish(i, 0);
    }
    return;
  }
  cycle_count_ = static_cast<uint64_t>(std::max<int64_t>(length, 0) / period_);
  left_count_ = CountLeft();
}

uint64_t PlanProgress::CountLeft() const {
  return static_cast<uint64_t>(std::count_if(
      slots_.begin(), slots_.end(),
      [&](const PlanSlot& slot) { return slot.over_count < cycle_count_; }));
}

bool PlanProgress::HasLostPlace() const {
  bool has_lost = false;
  lost_.ForEach([&](uint32_t resource) { has_lost |= IsPlanned(resource); });
  return has_lost;
}

PlanProgress::Binding* PlanProgress::FindBinding(sched::JobId job) {
  if (job.index >= bindings_.size() ||
      bindings_[job.index].generation != job.generation) {
    return nullptr;
  }
  return &bindings_[job.index];
}

PlanProgress::Binding& PlanProgress::Bind(const AdvisedOperation& operation,
                                          OnSkipped on_skipped) {
  if (bindings_.size() <= operation.job.index) {
    bindings_.resize(operation.job.index + 1);
  }
  Binding& binding = bindings_[operation.job.index];
  if (binding.generation == operation.job.generation) return binding;
  binding = {operation.job.generation, kNone, 0, false};
  const auto found = streams_.find(operation.stream);
  if (found == streams_.end() || operation.release_ns < origin_ns_) {
    return binding;
  }
  StreamSlots& stream = found->second;
  TAKT_DCHECK(!stream.jobs.empty());
  const auto distance = [&](uint64_t n) -> int64_t {
    const uint64_t cycle = n / stream.jobs.size();
    if (cycle >= cycle_count_) return kInfiniteFuture;
    const JobSlots& job = jobs_[stream.jobs[n % stream.jobs.size()]];
    return std::abs(ReleaseOf(job, cycle) - operation.release_ns);
  };
  while (distance(stream.next + 1) < distance(stream.next)) {
    const uint64_t cycle = stream.next / stream.jobs.size();
    const JobSlots& skipped =
        jobs_[stream.jobs[stream.next % stream.jobs.size()]];
    for (const uint32_t slot : skipped.slots) {
      if (slot == kNone) continue;
      on_skipped(slot, cycle);
      Finish(slot, cycle);
    }
    ++stream.next;
  }
  if (distance(stream.next) == kInfiniteFuture) return binding;
  binding.job = stream.jobs[stream.next % stream.jobs.size()];
  binding.cycle = stream.next / stream.jobs.size();
  ++stream.next;
  TAKT_DCHECK(jobs_[binding.job].stream == operation.stream);
  return binding;
}

uint32_t PlanProgress::SlotOf(const Binding& binding, uint32_t ordinal) const {
  if (binding.job == kNone) return kNone;
  const std::vector<uint32_t>& slots = jobs_[binding.job].slots;
  return ordinal < slots.size() ? slots[ordinal] : kNone;
}

std::optional<PlanProgress::Turn> PlanProgress::Next(uint32_t resource) {
  Lane& lane = lanes_[resource];
  if (lane.order.empty()) return std::nullopt;
  for (;; ++lane.position) {
    const uint64_t cycle = lane.position / lane.order.size();
    if (cycle >= cycle_count_) return std::nullopt;
    const uint32_t slot = lane.order[lane.position % lane.order.size()];
    if (slots_[slot].over_count <= cycle) return Turn{slot, cycle};
  }
}

std::optional<PlanProgress::Turn> PlanProgress::FindAhead(uint32_t slot,
                                                          uint64_t cycle) {
  std::optional<Turn> ahead;
  slots_[slot].resources.ForEach([&](uint32_t resource) {
    if (ahead.has_value()) return;
    const std::optional<Turn> next = Next(resource);
    if (!next.has_value()) return;
    if (next->slot == slot && next->cycle == cycle) return;
    if (StartOf(next->slot, next->cycle) <= StartOf(slot, cycle)) ahead = next;
  });
  return ahead;
}

void PlanProgress::SetReady(uint32_t index, int64_t now_ns) {
  PlanSlot& slot = slots_[index];
  if (!slot.is_ready) slot.ready_ns = now_ns;
  slot.is_ready = !slot.is_running;
  TAKT_DCHECK(slot.is_ready != slot.is_running);
}

void PlanProgress::Occupy(uint32_t index, const ResourceSet& resources,
                          int64_t now_ns) {
  TAKT_DCHECK(!resources.empty());
  slots_[index].runs_on = resources;
  slots_[index].runs_since_ns = now_ns;
  resources.ForEach([&](uint32_t r) { lanes_[r].occupant = index; });
}

void PlanProgress::Vacate(uint32_t index) {
  PlanSlot& slot = slots_[index];
  slot.runs_on.ForEach([&](uint32_t resource) {
    if (lanes_[resource].occupant == index) lanes_[resource].occupant = kNone;
  });
  slot.runs_on = {};
}

void PlanProgress::Begin(uint32_t index, int64_t now_ns) {
  PlanSlot& slot = slots_[index];
  TAKT_CHECK(!slot.is_running);
  slot.is_running = true;
  slot.is_ready = false;
  slot.is_late_reported = false;
  slot.running_since_ns = now_ns;
  slot.began_ns = slot.ended_ns = 0;
}

void PlanProgress::SetMeasured(uint32_t index, int64_t begin_ns,
                               int64_t end_ns) {
  PlanSlot& slot = slots_[index];
  TAKT_CHECK(slot.is_running);
  // It may run several times; the first run began it.
  if (slot.began_ns == 0) slot.began_ns = begin_ns;
  slot.ended_ns = end_ns;
}

void PlanProgress::SetStopped(const Binding& binding, uint32_t index,
                              bool is_done) {
  TAKT_CHECK(binding.job != kNone && slots_[index].job == binding.job);
  for (const uint32_t slot : jobs_[binding.job].slots) {
    if (slot == kNone) continue;
    if (slot == index || !is_done) {
      slots_[slot].stopped_count = binding.cycle + 1;
    }
  }
}

void PlanProgress::Finish(uint32_t index, uint64_t cycle) {
  PlanSlot& slot = slots_[index];
  if (slot.over_count < cycle_count_ && cycle + 1 >= cycle_count_) {
    TAKT_CHECK(left_count_ > 0);
    --left_count_;
  }
  slot.over_count = std::max(slot.over_count, cycle + 1);
  slot.is_running = false;
  slot.is_ready = false;
  TAKT_DCHECK(slot.over_count > cycle);
}

void PlanProgress::FinishUnseen(const Binding& binding, size_t count) {
  if (binding.job == kNone) return;
  const std::vector<uint32_t>& slots = jobs_[binding.job].slots;
  for (size_t i = 0; i < std::min(count, slots.size()); ++i) {
    const uint32_t slot = slots[i];
    if (slot != kNone && slots_[slot].over_count <= binding.cycle &&
        !slots_[slot].is_ready && !slots_[slot].is_running) {
      Finish(slot, binding.cycle);
    }
  }
}

void PlanProgress::SetAvailable(uint32_t resource, bool is_available) {
  TAKT_CHECK(resource < lanes_.size());
  if (is_available) {
    lost_.Remove(resource);
  } else {
    lost_.Add(resource);
  }
}

bool PlanProgress::Shift(uint64_t cycle, int64_t by_ns) {
  TAKT_CHECK(by_ns > 0);
  const int64_t shift_ns = by_ns + (cycle == shift_cycle_ ? shift_ns_ : 0);
  for (const PlanSlot& slot : slots_) {
    if (slot.over_count > cycle) continue;
    const int64_t end = slot.start + slot.duration + shift_ns;
    if (period_ > 0 && end > period_) return false;
    const int64_t deadline = jobs_[slot.job].deadline;
    if (deadline != plan::kNoDeadline && end > deadline) return false;
  }
  shift_cycle_ = cycle;
  shift_ns_ = shift_ns;
  TAKT_DCHECK(shift_ns_ > 0);
  return true;
}

}  // namespace takt::follow
