#include "shop/decision_trace.h"

#include <algorithm>
#include <new>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/exceptions.h"

namespace takt::shop {

bool DecisionTrace::EnsureTracks() {
  if (pool_count_ == machine_.pools.size()) return true;
  TAKT_TRY {
    AddTracks();
    return true;
  }
  TAKT_CATCH(const std::bad_alloc&) {}
  const uint32_t known_count =
      machine_.FirstOf(static_cast<uint32_t>(pool_count_));
  resource_tracks_.resize(known_count);
  plan_tracks_.resize(known_count);
  return false;
}

void DecisionTrace::AddTracks() {
  if (scheduler_track_ == 0) {
    scheduler_track_ = tracer_.AddNewTrack(TrackKind::kScheduler, "scheduler");
  }
  for (; pool_count_ < machine_.pools.size(); ++pool_count_) {
    const sched::Pool& pool = machine_.pools[pool_count_];
    const TrackKind kind = pool.kind == sched::ResourceKind::kNpu
                               ? TrackKind::kNpu
                               : TrackKind::kCore;
    for (uint32_t i = 0; i < pool.count; ++i) {
      const std::string name = absl::StrCat(pool.name, " ", i);
      resource_tracks_.push_back(tracer_.AddNewTrack(kind, name));
      plan_tracks_.push_back(tracer_.AddNewTrack(TrackKind::kPlan, name));
    }
  }
}

takt::Event DecisionTrace::AboutScheduler(int64_t now_ns, EventKind kind) {
  takt::Event event;
  event.time_ns = now_ns;
  event.kind = kind;
  event.track = scheduler_track_;
  return event;
}

takt::Event DecisionTrace::AboutOperation(int64_t now_ns, EventKind kind,
                                          const sched::Decision& decision,
                                          Subject subject) {
  takt::Event event = AboutScheduler(now_ns, kind);
  event.name = subject.name;
  event.id = subject.job;
  event.parent = decision.program_index;
  event.detail = static_cast<uint8_t>(std::min(decision.shards, 255u));
  return event;
}

void DecisionTrace::OnStart(int64_t now_ns, const sched::Decision& decision,
                            Subject subject) {
  takt::Event event =
      AboutOperation(now_ns, EventKind::kDecisionStart, decision, subject);
  event.value = -1;
  decision.resources.ForEach([&](uint32_t resource) {
    if (event.value < 0) event.value = resource;
  });
  tracer_.Record(event);
  if (decision.planned_start_ns == kInfiniteFuture) return;
  event.kind = EventKind::kPlannedSlot;
  event.time_ns = decision.planned_start_ns;
  event.duration_ns = std::max<int64_t>(decision.expected_end_ns - now_ns, 0);
  event.value = 0;
  decision.resources.ForEach([&](uint32_t resource) {
    event.track = plan_tracks_[resource];
    tracer_.Record(event);
  });
}

void DecisionTrace::OnYield(int64_t now_ns, const sched::Decision& decision,
                            Subject subject) {
  tracer_.Record(AboutOperation(now_ns,
                                decision.kind == sched::DecisionKind::kYield
                                    ? EventKind::kDecisionYield
                                    : EventKind::kDecisionCancel,
                                decision, subject));
}

void DecisionTrace::OnStop(int64_t now_ns, const sched::Decision& start,
                           Subject subject, int64_t start_ns,
                           uint32_t done_ppm) {
  takt::Event event =
      AboutOperation(start_ns, EventKind::kSlot, start, subject);
  event.duration_ns = now_ns - start_ns;
  event.value = done_ppm;
  start.resources.ForEach([&](uint32_t resource) {
    event.track = resource_tracks_[resource];
    tracer_.Record(event);
  });
}

void DecisionTrace::OnMode(int64_t now_ns, sched::Mode mode) {
  takt::Event event = AboutScheduler(now_ns, EventKind::kDecisionMode);
  event.name = tracer_.Intern(sched::ModeName(mode));
  tracer_.Record(event);
}

void DecisionTrace::OnLate(int64_t now_ns, const char* what, uint64_t job,
                           int64_t deadline_ns) {
  takt::Event event = AboutScheduler(now_ns, EventKind::kDecisionLate);
  event.name = tracer_.Intern(what);
  event.id = job;
  event.value = deadline_ns;
  tracer_.Record(event);
}

void DecisionTrace::OnAdmission(int64_t now_ns, const std::string& stream,
                                const sched::AdmissionReport& report) {
  takt::Event event = AboutScheduler(now_ns, EventKind::kDecisionAdmission);
  event.name = tracer_.Intern(stream);
  event.value = report.response_bound_ns;
  event.detail = static_cast<uint8_t>(report.verdict);
  tracer_.Record(event);
}

void DecisionTrace::OnAvailable(int64_t now_ns, uint32_t resource,
                                bool is_available) {
  takt::Event event = AboutScheduler(now_ns, EventKind::kResourceAvailable);
  event.track = resource_tracks_[resource];
  event.value = is_available ? 1 : 0;
  tracer_.Record(event);
}

void DecisionTrace::OnSpeed(int64_t now_ns, uint32_t pool, uint32_t permille) {
  takt::Event event = AboutScheduler(now_ns, EventKind::kResourceSpeed);
  event.track = resource_tracks_[machine_.FirstOf(pool)];
  event.value = permille;
  tracer_.Record(event);
}

}  // namespace takt::shop
