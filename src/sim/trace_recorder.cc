#include "sim/trace_recorder.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/event.h"

namespace takt::sim {
namespace {

using sched::Decision;
using sched::DecisionKind;
using sched::JobOutcome;
using Kind = takt::EventKind;

Kind KindOf(JobOutcome outcome) {
  switch (outcome) {
    case JobOutcome::kMet:
      return Kind::kJobMet;
    case JobOutcome::kMissed:
      return Kind::kJobMissed;
    case JobOutcome::kDropped:
      return Kind::kJobDropped;
    case JobOutcome::kFailed:
      break;
  }
  return Kind::kJobFailed;
}

int64_t FirstOf(const sched::ResourceSet& resources) {
  int64_t first = -1;
  resources.ForEach([&first](uint32_t resource) {
    if (first < 0) first = resource;
  });
  return first;
}

template <typename T>
T& At(std::vector<T>& values, size_t index) {
  if (index >= values.size()) values.resize(index + 1);
  return values[index];
}

}  // namespace

TraceRecorder::TraceRecorder(const Workload& workload, uint64_t event_count_max)
    : workload_(workload), event_count_max_(event_count_max) {
  recording_.names.emplace_back();
  recording_.tracks.emplace_back();
  for (const sched::Pool& pool : workload.machine.pools) {
    const TrackKind kind = pool.kind == sched::ResourceKind::kNpu
                               ? TrackKind::kNpu
                               : TrackKind::kCore;
    for (uint32_t i = 0; i < pool.count; ++i) {
      resource_tracks_.push_back(
          AddTrack(kind, absl::StrCat(pool.name, " ", i)));
    }
  }
  for (const WorkloadStream& stream : workload.streams) {
    stream_tracks_.push_back(AddTrack(TrackKind::kStream, stream.name));
    stream_names_.push_back(AddName(stream.name));
  }
  scheduler_track_ = AddTrack(TrackKind::kScheduler, "scheduler");
  counter_track_ = AddTrack(TrackKind::kCounter, "jobs");
  for (const WorkloadKernel& kernel : workload.kernels) {
    kernel_names_.push_back(AddName(kernel.name));
  }
  for (uint32_t i = 0; i < sched::kModeCount; ++i) {
    mode_names_[i] = AddName(sched::ModeName(static_cast<sched::Mode>(i)));
  }
  demote_name_ = AddName("demote");
  sequences_.assign(workload.streams.size(), 0);
}

uint16_t TraceRecorder::AddTrack(TrackKind kind, std::string name) {
  recording_.tracks.push_back({kind, std::move(name)});
  return static_cast<uint16_t>(recording_.tracks.size() - 1);
}

uint32_t TraceRecorder::AddName(const std::string& name) {
  recording_.names.push_back(name);
  return static_cast<uint32_t>(recording_.names.size() - 1);
}

void TraceRecorder::Add(const takt::Event& event) {
  if (recording_.events.size() < event_count_max_) {
    recording_.events.push_back(event);
  } else {
    ++recording_.lost_count;
  }
}

void TraceRecorder::AddCounter(int64_t now_ns) {
  takt::Event event;
  event.time_ns = now_ns;
  event.kind = Kind::kCounter;
  event.track = counter_track_;
  event.value = live_count_;
  Add(event);
}

uint64_t TraceRecorder::JobOf(const Decision& decision) const {
  return decision.tag < job_ids_.size() ? job_ids_[decision.tag] : 0;
}

takt::Event TraceRecorder::AboutOperation(int64_t now_ns,
                                          const Decision& decision) const {
  takt::Event event;
  event.time_ns = now_ns;
  event.name = kernel_names_[decision.kernel];
  event.id = JobOf(decision);
  event.parent = decision.program_index;
  return event;
}

void TraceRecorder::OnRelease(int64_t now_ns, const Decision& decision,
                              int64_t deadline_ns) {
  takt::Event event;
  event.time_ns = now_ns;
  event.kind = Kind::kJobReleased;
  event.track = stream_tracks_[decision.stream];
  event.name = stream_names_[decision.stream];
  event.id = StreamJobId(event.track, sequences_[decision.stream]++);
  event.value = deadline_ns;
  At(job_ids_, decision.tag) = event.id;
  Add(event);
  ++live_count_;
  AddCounter(now_ns);
}

void TraceRecorder::OnDecision(int64_t now_ns, const Decision& decision) {
  takt::Event event;
  switch (decision.kind) {
    case DecisionKind::kStart:
      At(starts_ns_, decision.operation.index) = now_ns;
      event = AboutOperation(now_ns, decision);
      event.kind = Kind::kDecisionStart;
      event.value = FirstOf(decision.resources);
      event.detail = static_cast<uint8_t>(decision.shards);
      break;
    case DecisionKind::kYield:
    case DecisionKind::kCancel:
      event = AboutOperation(now_ns, decision);
      event.kind = decision.kind == DecisionKind::kYield
                       ? Kind::kDecisionYield
                       : Kind::kDecisionCancel;
      break;
    case DecisionKind::kMode:
      event.time_ns = now_ns;
      event.kind = Kind::kDecisionMode;
      event.name = mode_names_[static_cast<uint32_t>(decision.mode)];
      break;
    case DecisionKind::kDemote:
      event.time_ns = now_ns;
      event.kind = Kind::kDecisionLate;
      event.name = demote_name_;
      event.id = JobOf(decision);
      event.value = decision.deadline_ns;
      break;
    case DecisionKind::kJobDone:
      event.time_ns = now_ns;
      event.kind = KindOf(decision.outcome);
      event.track = stream_tracks_[decision.stream];
      event.name = stream_names_[decision.stream];
      event.id = JobOf(decision);
      event.value = decision.response_ns;
      Add(event);
      --live_count_;
      AddCounter(now_ns);
      return;
  }
  event.track = scheduler_track_;
  Add(event);
}

void TraceRecorder::OnStop(int64_t now_ns, const Decision& start,
                           uint32_t done_ppm) {
  const int64_t start_ns = At(starts_ns_, start.operation.index);
  takt::Event event = AboutOperation(start_ns, start);
  event.kind = Kind::kSlot;
  event.duration_ns = now_ns - start_ns;
  event.value = done_ppm;
  event.detail = static_cast<uint8_t>(start.shards);
  start.resources.ForEach([&](uint32_t resource) {
    event.track = resource_tracks_[resource];
    Add(event);
  });
}

void TraceRecorder::OnAvailable(int64_t now_ns, uint32_t resource,
                                bool is_found) {
  takt::Event event;
  event.time_ns = now_ns;
  event.kind = Kind::kResourceAvailable;
  event.track = resource_tracks_[resource];
  event.value = is_found ? 1 : 0;
  Add(event);
}

void TraceRecorder::OnSpeed(int64_t now_ns, uint32_t pool, uint32_t permille) {
  takt::Event event;
  event.time_ns = now_ns;
  event.kind = Kind::kResourceSpeed;
  event.track = resource_tracks_[workload_.machine.FirstOf(pool)];
  event.value = permille;
  Add(event);
}

}  // namespace takt::sim
