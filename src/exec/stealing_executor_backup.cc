// Reliefs of the work-stealing executor.
//
// A tile can't be left before its end, and some last for milliseconds: longer
// than what a control loop has. So each worker may have a second thread. It
// sleeps until there is something that is more urgent than such a tile; then
// both threads are runnable, and the system lets the one that slept go first.
//
//   worker    |== tile of lane 2 ======= ... - - - - - ======|
//   backup_threads                                   |lane 4|
//             ------------------------------ ^ submitted
//
// Whoever makes such a job known reads what the workers are in after that; a
// worker says what it is in, then looks whether there is something. One of them
// sees the other, as in exec/idle_list.h.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exec/stealing_executor.h"

namespace takt::exec {
namespace {

constexpr int kFifoMax = 99;

}  // namespace

void StealingExecutor::StartBackups(const Options& options) {
  if (!options.backup_threads || options.hooks.create != nullptr) return;
  for (uint32_t i = 0; i < worker_count(); ++i) {
    Seat& seat = *workers_[i];
    auto backup_threads = std::make_unique<BackupThread>();
    backup_threads->seat = &seat;
    backup_threads->worker.index = i;
    Member& member = backup_threads->member;
    member.executor = this;
    member.place = i;
    member.worker = &backup_threads->worker;
    member.counters = &backup_threads->counters;
    member.is_working = true;
    backup_threads->worker.urgent_lanes_ = &urgent_lanes_;
    backup_threads->worker.wanted_lanes_ = &member.wanted_lanes;
    WorkerThread::Options thread = ThreadOptions(options, seat);
    thread.name = absl::StrCat(options.name, "-b", i);
    thread.is_prompt = true;
    if (thread.fifo_priority != 0) {
      thread.fifo_priority = std::min(thread.fifo_priority + 1, kFifoMax);
    }
    backup_threads->trace_name = thread.TraceName();
    seat.backup_threads = std::move(backup_threads);
    if (!seat.backup_threads->thread
             .Start(thread, &RunBackupThread, seat.backup_threads.get())
             .ok()) {
      seat.backup_threads = nullptr;  // Then the worker has none.
      return;
    }
    has_backups_ = true;
  }
}

void StealingExecutor::RunBackupThread(void* argument) {
  auto* backup_threads = static_cast<BackupThread*>(argument);
  StealingExecutor* executor = backup_threads->member.executor;
  ThisThread() = &backup_threads->member;
  Tracer::NameThisThread(TrackKind::kWorker, backup_threads->trace_name);
  if (backup_threads->thread.report().fifo_priority > 0) {
    backup_threads->real_time.thread = &backup_threads->thread;
    backup_threads->member.real_time = &backup_threads->real_time;
  }
  executor->RunBackup(*backup_threads);
  ThisThread() = nullptr;
  if (backup_threads->holds_executor) executor->Release();
}

void StealingExecutor::RunBackup(BackupThread& backup_threads) {
  Member& member = backup_threads.member;
  const auto look = [&] {
    // What is more urgent than what the worker is in; if it is in nothing, a
    // caller is in something that is less so than what this was called for.
    const uint32_t running = backup_threads.seat->member.running.load();
    member.lane_min =
        running != 0 ? LanesUpTo(running) : backup_threads.called_for.load();
    member.worker->lane_min_ = member.lane_min;
  };
  while (true) {
    BecomeRealTime(member);
    look();
    const Found found = Find(member, /*clear=*/true);
    if (found.job != nullptr) {
      RunJob(member, found);
      continue;
    }
    if (stopping_.load(std::memory_order_seq_cst)) return;
    backup_threads.is_asleep.store(true, std::memory_order_seq_cst);
    look();
    if (member.sleeper.raised() == 0 &&
        !HasWork(member, kAllLanes & ~0u << member.lane_min)) {
      member.counters->parks.Add(1);
      member.sleeper.Sleep(kInfiniteFuture);
    }
    backup_threads.is_asleep.store(false, std::memory_order_relaxed);
    member.sleeper.Take(kWork);
  }
}

void StealingExecutor::EnterLong(Member& member, const Job& job,
                                 uint32_t running) {
  if (member.is_donor) CountDonor(running, 1);
  member.running.store(running, std::memory_order_seq_cst);
  if (member.worker->IsPreempted()) GiveWay(member, job);
}

void StealingExecutor::CountDonor(uint32_t running, int change) {
  const uint64_t one = uint64_t{1} << (LanesUpTo(running) - 1) * 8;
  long_donors_.fetch_add(change > 0 ? one : -one, std::memory_order_seq_cst);
}

void StealingExecutor::WakeBackup(uint32_t lane, const WorkerSet* allowed) {
  if (allowed == nullptr && searching_.load(std::memory_order_seq_cst) != 0) {
    return;  // Who looks will find it.
  }
  const uint64_t below = (uint64_t{1} << lane * 8) - 1;
  bool has_victim = allowed == nullptr &&
                    (long_donors_.load(std::memory_order_seq_cst) & below) != 0;
  BackupThread* best = nullptr;
  uint32_t best_lanes = kLaneCount;
  for (uint32_t i = 0; i < worker_count(); ++i) {
    Seat& seat = *workers_[i];
    if (allowed != nullptr && !allowed->Contains(i)) continue;
    const uint32_t running =
        seat.member.running.load(std::memory_order_seq_cst);
    const uint32_t lanes = LanesUpTo(running);
    if (lanes > lane) continue;                    // As urgent.
    if (running != 0 && !IsLong(running)) return;  // It comes after this tile.
    if (running != 0) has_victim = true;
    if (lanes < best_lanes && seat.backup_threads != nullptr &&
        seat.backup_threads->is_asleep.load(std::memory_order_seq_cst)) {
      best = seat.backup_threads.get();
      best_lanes = lanes;
    }
  }
  if (!has_victim || best == nullptr ||
      !best->is_asleep.exchange(false, std::memory_order_seq_cst)) {
    return;
  }
  best->called_for.store(lane, std::memory_order_seq_cst);
  best->member.sleeper.Raise(kWork);
}

}  // namespace takt::exec
