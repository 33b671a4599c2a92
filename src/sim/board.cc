#include "sim/board.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/narrow.h"

namespace takt::sim {
namespace {

// At least a nanosecond, so that time advances.
int64_t Scaled(int64_t time_ns, double factor) {
  return std::max<int64_t>(std::llround(static_cast<double>(time_ns) * factor),
                           1);
}

// The sum of twelve uniform numbers less six: near enough to normal, and the
// same on every machine.
double Normal(Random* random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random->Unit();
  return sum;
}

}  // namespace

Board::Board(const Workload& workload, SimulationEventQueue* events,
             Random* random)
    : workload_(workload),
      events_(*events),
      budgets_(workload),
      random_(*random),
      on_resource_(workload.machine.resource_count(), kNone),
      busy_ns_(workload.machine.resource_count(), 0),
      permille_(workload.machine.pools.size(), 1000) {
  for (const WorkloadKernel& kernel : workload.kernels) {
    alternatives_.push_back(kernel.alternatives);
    std::sort(alternatives_.back().begin(), alternatives_.back().end(),
              [](const auto& a, const auto& b) {
                return a.pool != b.pool ? a.pool < b.pool : a.shards < b.shards;
              });
  }
}

double Board::DrawDurationFactor() {
  if (workload_.noise == 0) return 1;
  return std::max(1 + workload_.noise * Normal(&random_), 0.1);
}

void Board::SetDurationFactor(uint64_t tag, double duration_factor) {
  if (tag >= duration_factors_.size()) duration_factors_.resize(tag + 1, 0);
  duration_factors_[tag] = duration_factor;
}

void Board::Start(const sched::Decision& decision, int64_t now_ns) {
  const uint32_t index = decision.operation.index;
  if (index >= runs_.size()) runs_.resize(index + 1);
  Run& run = runs_[index];
  TAKT_CHECK(!run.is_live);
  if (run.generation != decision.operation.generation) {
    run.generation = decision.operation.generation;
    const double known = decision.tag < duration_factors_.size()
                             ? duration_factors_[decision.tag]
                             : 0;
    run.duration_factor = known > 0 ? known : DrawDurationFactor();
  }
  run.start = decision;
  run.is_live = true;
  run.stops_early = false;
  run.begin_ns = now_ns;
  run.since_ns = now_ns;
  run.done_ppm = decision.done_ppm;
  run.is_paused = false;
  run.charged_ns = now_ns;
  decision.resources.ForEach([&](uint32_t resource) {
    TAKT_CHECK(on_resource_[resource] == kNone);
    on_resource_[resource] = index;
    budgets_.Begin(resource, now_ns);
  });
  run.slowdown = 1;
  Schedule(index);
  if (workload_.memory_gbps > 0) {
    live_.push_back(index);
    ShareMemory(now_ns);
  }
}

// After what runs has changed.
void Board::ShareMemory(int64_t now_ns) {
  if (workload_.memory_gbps <= 0) return;
  double drawn_gbps = 0;
  for (const uint32_t index : live_) {
    const Run& run = runs_[index];
    drawn_gbps += run.is_paused
                      ? 0
                      : workload_.kernels[run.start.kernel].memory_gbps *
                            run.start.resources.count();
  }
  const double ratio = std::max(drawn_gbps / workload_.memory_gbps, 1.0);
  for (const uint32_t index : live_) {
    Run& run = runs_[index];
    const double slowdown =
        1 + workload_.kernels[run.start.kernel].memory_part * (ratio - 1);
    // A run that stops at the end of its tile does so when it would have.
    if (slowdown == run.slowdown || run.stops_early) continue;
    NoteProgress(&run, now_ns);
    run.slowdown = slowdown;
    Schedule(index);
  }
}

// Posts when the run stops at the present speed.
void Board::Schedule(uint32_t index) {
  Run& run = runs_[index];
  const sched::AlternativeOptions& alternative =
      alternatives_[run.start.kernel][run.start.alternative];
  const double slowness =
      run.duration_factor * run.slowdown * 1000 / permille_[run.start.pool];
  run.whole_ns = Scaled(alternative.guess_ns, slowness);
  run.tile_ns =
      alternative.tile_ns > 0 ? Scaled(alternative.tile_ns, slowness) : 0;
  if (workload_.is_within_q99) {
    run.whole_ns =
        std::min(run.whole_ns, std::max<int64_t>(alternative.sample_count > 0
                                                     ? alternative.q99_ns
                                                     : alternative.guess_ns,
                                                 1));
    run.tile_ns = std::min(run.tile_ns, alternative.tile_ns);
  }
  const int64_t rest_ns =
      Scaled(run.whole_ns, (1'000'000 - run.done_ppm) / 1e6);
  if (run.is_paused) {
    run.rest_ns = rest_ns;
    return;
  }
  run.stop_ns = run.since_ns + rest_ns;
  PostStop(index);
}

// Posts the stop of a run, and its pause if that comes before.
void Board::PostStop(uint32_t index) {
  Run& run = runs_[index];
  events_.Post(run.stop_ns, EventKind::kStop, index, ++run.epoch);
  if (run.is_paused) return;
  int64_t left_ns = kInfiniteFuture;
  run.start.resources.ForEach([&](uint32_t resource) {
    left_ns = std::min(left_ns, budgets_.left_ns(resource));
  });
  if (left_ns < run.stop_ns - run.charged_ns) {
    events_.Post(run.charged_ns + left_ns, EventKind::kPause, index, run.epoch);
  }
}

void Board::Charge(Run* run, int64_t now_ns) {
  if (run->is_paused) return;
  run->start.resources.ForEach([&](uint32_t resource) {
    budgets_.Charge(resource, now_ns - run->charged_ns);
  });
  run->charged_ns = now_ns;
}

const Board::Run* Board::Pause(uint32_t index, uint32_t epoch, int64_t now_ns) {
  Run& run = runs_[index];
  if (!run.is_live || run.epoch != epoch) return nullptr;
  if (run.is_paused) {
    run.start.resources.ForEach(
        [&](uint32_t resource) { budgets_.Begin(resource, now_ns); });
    run.is_paused = false;
    run.since_ns = now_ns;
    run.charged_ns = now_ns;
    run.stop_ns = now_ns + run.rest_ns;
    PostStop(index);
    ShareMemory(now_ns);
    return &run;
  }
  NoteProgress(&run, now_ns);
  Charge(&run, now_ns);
  run.is_paused = true;
  run.rest_ns = run.stop_ns - now_ns;
  int64_t next_ns = now_ns;
  run.start.resources.ForEach([&](uint32_t resource) {
    if (budgets_.left_ns(resource) == 0) {
      next_ns = std::max(next_ns, budgets_.next_ns(resource));
    }
  });
  events_.Post(next_ns, EventKind::kPause, index, ++run.epoch);
  ShareMemory(now_ns);
  return &run;
}

void Board::NoteProgress(Run* run, int64_t now_ns) {
  if (run->is_paused) return;
  const double gained = static_cast<double>(now_ns - run->since_ns) /
                        static_cast<double>(run->whole_ns) * 1e6;
  run->done_ppm = Narrow<uint32_t>(std::min(run->done_ppm + gained, 1e6));
  run->since_ns = now_ns;
}

void Board::StopEarly(uint32_t index, bool at_once, int64_t now_ns) {
  Run& run = runs_[index];
  if (!run.is_live) return;
  int64_t at_ns = now_ns;
  if (!at_once) {
    if (run.tile_ns == 0) return;
    if (run.is_paused) {
      run.stops_early = run.tile_ns < run.rest_ns;
      run.rest_ns = std::min(run.rest_ns, run.tile_ns);
      return;
    }
    const int64_t ran_ns = now_ns - run.since_ns;
    const int64_t tiles =
        std::max<int64_t>((ran_ns + run.tile_ns - 1) / run.tile_ns, 1);
    at_ns = run.since_ns + tiles * run.tile_ns;
  }
  if (!run.is_paused && at_ns >= run.stop_ns) return;
  run.stops_early = true;
  run.stop_ns = at_ns;
  PostStop(index);
}

const Board::Run* Board::Stop(uint32_t index, uint32_t epoch, int64_t now_ns) {
  Run& run = runs_[index];
  if (!run.is_live || run.epoch != epoch) return nullptr;
  NoteProgress(&run, now_ns);
  Charge(&run, now_ns);
  if (!run.stops_early) run.done_ppm = 1'000'000;
  run.is_live = false;
  run.start.resources.ForEach([&](uint32_t resource) {
    on_resource_[resource] = kNone;
    busy_ns_[resource] += now_ns - run.begin_ns;
  });
  live_.erase(std::remove(live_.begin(), live_.end(), index), live_.end());
  ShareMemory(now_ns);
  return &run;
}

void Board::SetSpeed(uint32_t pool, uint32_t permille, int64_t now_ns) {
  if (permille_[pool] == permille) return;
  permille_[pool] = permille;
  for (uint32_t index = 0; index < runs_.size(); ++index) {
    Run& run = runs_[index];
    if (!run.is_live || run.start.pool != pool) continue;
    // A run that stops at the end of its tile does so when it would have.
    if (run.stops_early) continue;
    NoteProgress(&run, now_ns);
    Schedule(index);
  }
}

int64_t Board::busy_ns(uint32_t resource, int64_t now_ns) const {
  const uint32_t index = on_resource_[resource];
  return busy_ns_[resource] +
         (index == kNone ? 0 : now_ns - runs_[index].begin_ns);
}

}  // namespace takt::sim
