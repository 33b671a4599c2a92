// Backup threads of the work-stealing executor.
//
// A tile cannot be left before its end, and some last for milliseconds: longer
// than a control loop can wait. So each worker may have a second thread. It
// sleeps until a job waits that is more urgent than such a tile. Then both
// threads are runnable, and the system lets the one that slept go first.
//
//   worker    |== tile of lane 2 ======= ... - - - - - ======|
//   backup                                   |lane 4|
//             ------------------------------ ^ submitted
//
// A thread that makes such a job known reads afterwards what the workers run. A
// worker says what it runs, and looks afterwards whether such a job waits. One
// of them sees the other, as in exec/idle_list.h.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "exec/expected_time.h"
#include "exec/stealing_executor.h"

namespace takt::exec {
namespace {

// The highest priority of SCHED_FIFO.
constexpr int kFifoMax = 99;

// The rest of a job that runs has to be so long before a backup thread joins
// in. That thread may take the processor of another low-latency thread, which
// then waits for the kernel's next tick: up to 4 ms.
constexpr int64_t kBackupWorthNs = 100'000;

}  // namespace

void StealingExecutor::StartBackups(const Options& options) {
  if (!options.StartsBackups()) return;
  for (uint32_t i = 0; i < worker_count(); ++i) {
    WorkerSlot& slot = *workers_[i];
    auto backup = std::make_unique<BackupThread>();
    backup->slot = &slot;
    InitState(backup->state, backup->worker, backup->counters, i);
    WorkerThread::Options thread = ThreadOptions(options, slot);
    thread.name = absl::StrCat(options.name, "-b", i);
    thread.wants_low_latency = true;
    if (thread.fifo_priority != 0) {
      thread.fifo_priority = std::min(thread.fifo_priority + 1, kFifoMax);
    }
    backup->trace_name = thread.TraceName();
    slot.backup = std::move(backup);
    if (!slot.backup->thread.Start(thread, &RunBackupThread, slot.backup.get())
             .ok()) {
      slot.backup = nullptr;  // The worker and those after it have none.
      return;
    }
    ++backup_count_;
  }
}

void StealingExecutor::RunBackupThread(void* argument) {
  auto* backup = static_cast<BackupThread*>(argument);
  StealingExecutor* executor = backup->state.executor;
  innermost_ = &backup->state;
  Tracer::NameThisThread(TrackKind::kWorker, backup->trace_name);
  if (backup->thread.fifo_priority() > 0) {
    backup->real_time.Init(backup->thread);
    backup->state.real_time = &backup->real_time;
  }
  executor->RunBackup(*backup);
  innermost_ = nullptr;
  if (backup->holds_executor) executor->Release();
}

void StealingExecutor::RunBackup(BackupThread& backup) {
  ThreadState& state = backup.state;
  SharedState& shared = state.shared;
  const auto choose_lanes = [&] {
    // The lanes above the job that the worker runs. If it runs none, a caller
    // runs something less urgent than the job for which this thread was woken.
    const RunningWork running = backup.slot->state.shared.running.load();
    state.lane_min =
        running.is_nothing() ? backup.woken_for.load() : running.lane_above();
    state.worker->lane_min_ = state.lane_min;
  };
  while (true) {
    BecomeRealTime(state);
    choose_lanes();
    const FoundJob found = Find(state, /*clear=*/true);
    if (found.job != nullptr) {
      RunJob(state, found);
      continue;
    }
    cpu_load_.Leave(&state.seen_on);
    if (stopping_.load(std::memory_order_seq_cst)) return;
    backup.is_asleep.store(true, std::memory_order_seq_cst);
    choose_lanes();
    if (shared.sleeper.raised() == 0 && !HasWork(state, state.lanes())) {
      state.counters->parks.Add(1);
      shared.sleeper.Sleep(kInfiniteFuture);
    }
    backup.is_asleep.store(false, std::memory_order_relaxed);
    shared.sleeper.Take(SharedState::kWork);
  }
}

void StealingExecutor::BecomeRealTimeIfNeeded(ThreadState& state) {
  const LaneMask waiting =
      HintedLanes(state, std::memory_order_relaxed) | MailLanes(state);
  if (waiting.Intersects(LaneMask::AtLeast(kNormalLane))) BecomeRealTime(state);
}

void StealingExecutor::EnterLong(ThreadState& state, const Job& job,
                                 RunningWork running) {
  TAKT_DCHECK(running.is_long());
  if (state.is_helping_caller()) long_callers_.Add(running.lane());
  state.shared.running.store(running, std::memory_order_seq_cst);
  if (state.worker->IsPreempted()) RunMoreUrgent(state, job);
}

bool StealingExecutor::IsWorthBackup(const Job& job) {
  const uint32_t unclaimed = job.unclaimed_count(std::memory_order_relaxed);
  return unclaimed > 0 && (job.expected_tile_ns <= 0 ||
                           ExpectedNs(job, unclaimed) >= kBackupWorthNs);
}

void StealingExecutor::WakeBackup(uint32_t lane, const WorkerSet* allowed) {
  if (allowed == nullptr && searching_.load(std::memory_order_seq_cst) != 0) {
    return;  // A thread that searches will find the job.
  }
  bool has_victim = allowed == nullptr && long_callers_.HasBelow(lane);
  BackupThread* best = nullptr;
  uint32_t best_lane = kLaneCount;
  for (uint32_t i = 0; i < worker_count(); ++i) {
    WorkerSlot& slot = *workers_[i];
    if (allowed != nullptr && !allowed->Contains(i)) continue;
    const RunningWork running =
        slot.state.shared.running.load(std::memory_order_seq_cst);
    if (running.lane_above() > lane) continue;  // At least as urgent.
    if (!running.is_nothing()) {
      if (!running.is_long()) return;  // The worker comes after this tile.
      has_victim = true;
    }
    if (running.lane_above() < best_lane && slot.backup != nullptr &&
        slot.backup->is_asleep.load(std::memory_order_seq_cst)) {
      best = slot.backup.get();
      best_lane = running.lane_above();
    }
  }
  if (!has_victim || best == nullptr ||
      !best->is_asleep.exchange(false, std::memory_order_seq_cst)) {
    return;
  }
  best->woken_for.store(lane, std::memory_order_seq_cst);
  best->state.shared.sleeper.Raise(SharedState::kWork);
}

}  // namespace takt::exec
