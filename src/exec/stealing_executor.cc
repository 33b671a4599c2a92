#include "exec/stealing_executor.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/exceptions.h"
#include "base/stable_sort.h"
#include "base/status.h"

namespace takt::exec {

constinit thread_local ThreadState* StealingExecutor::innermost_ = nullptr;

Worker& StealingExecutor::ThisThreadsScratch() {
  // No thread_local Worker, whose destructor would have to be registered.
  alignas(Worker) thread_local std::byte storage[sizeof(Worker)];
  thread_local Worker* scratch = nullptr;
  if (scratch == nullptr) {
    scratch = new (storage) Worker(Worker::Lifetime::kThread);
  }
  return *scratch;
}

absl::StatusOr<Ref<Executor>> StealingExecutor::Create(const Options& options) {
  if (!options.placement.empty() &&
      options.placement.size() != options.worker_count) {
    return absl::InvalidArgumentError(
        absl::StrCat("a placement of ", options.placement.size(),
                     " workers, and there are ", options.worker_count));
  }
  auto executor = Ref<StealingExecutor>::Adopt(new StealingExecutor(options));
  TAKT_RETURN_IF_ERROR(executor->JoinCores(options));
  executor->MakeSlots(options);
  executor->SortVictims(options);
  TAKT_RETURN_IF_ERROR(executor->StartWorkers(options));
  return Ref<Executor>(std::move(executor));
}

StealingExecutor::StealingExecutor(const Options& options)
    : Executor(options.tracer),
      concurrency_(options.concurrency_max > 0 ? options.concurrency_max
                                               : AvailableConcurrency()),
      spin_ns_(options.spin_ns),
      linger_ns_(std::max(options.linger_ns, options.spin_ns)),
      patience_ns_(options.linger_ns),
      caller_spin_max_ns_(options.worker_count >= concurrency_
                              ? patience_ns_
                              : kInfiniteFuture),
      is_placed_(!options.placement.empty()),
      timers_(options.timers),
      watches_jobs_(options.fifo_priority > 0 ||
                    (options.backup_threads && options.worker_count > 0 &&
                     options.hooks.create == nullptr)),
      is_pinned_(!options.placement.empty()) {
  TAKT_CHECK(concurrency_ > 0);
}

void StealingExecutor::MakeSlots(const Options& options) {
  const CpuSet usable = options.topology != nullptr
                            ? options.topology->cpu_set()
                            : topology::AllowedCpus();
  fills_cpus_ = concurrency_ > 1 && concurrency_ >= usable.count();
  if (fills_cpus_) {
    cpu_count_ = usable.count();
    cpu_load_.Init(static_cast<uint32_t>(64 * usable.words().size()));
  }
  int32_t cpu = -1;
  if (concurrency_ > 1 && usable.count() > 1) {
    for (uint32_t i = 0; i <= usable.count() / 2; ++i) {
      back_cpu_ = usable.Next(static_cast<uint32_t>(back_cpu_ + 1));
    }
  }
  for (uint32_t i = 0; i < options.worker_count; ++i) {
    auto slot = std::make_unique<WorkerSlot>();
    slot->index = i;
    if (is_placed_) {
      slot->placement = options.placement[i];
    } else {  // One CPU each, from the first again after the last.
      cpu = usable.Next(static_cast<uint32_t>(cpu + 1));
      if (cpu < 0) cpu = usable.Next(0);
      if (cpu >= 0) slot->placement.Add(static_cast<uint32_t>(cpu));
    }
    const topology::CpuInfo* info =
        options.topology != nullptr && !slot->placement.empty()
            ? options.topology->FindCpu(
                  static_cast<uint32_t>(slot->placement.Next(0)))
            : nullptr;
    if (info != nullptr) slot->cluster = info->cluster;
    is_flat_ = is_flat_ && (i == 0 || workers_[0]->cluster == slot->cluster);
    InitState(slot->state, slot->worker, slot->counters, i);
    slot->state.shared.slot = slot.get();
    // A thread of a real-time priority waits for nothing but its like.
    slot->state.shared.may_be_late =
        options.fifo_priority <= 0 && !options.reservation.is_set();
    workers_.push_back(std::move(slot));
  }
}

void StealingExecutor::InitState(ThreadState& state, Worker& worker,
                                 ThreadCounters& counters, uint32_t index) {
  state.executor = this;
  state.worker_index = index;
  state.worker = &worker;
  state.counters = &counters;
  state.is_working = true;
  worker.index = index;
  worker.shared_hints_ = &shared_hints_;
  worker.own_hints_ = &state.shared.own_hints;
}

void StealingExecutor::SortVictims(const Options& options) {
  const auto count = static_cast<uint32_t>(workers_.size());
  const auto distance = [&](uint32_t a, uint32_t b) {
    const auto cpu_of = [&](uint32_t worker) -> const topology::CpuInfo* {
      const int32_t cpu = workers_[worker]->placement.Next(0);
      return cpu < 0 ? nullptr
                     : options.topology->FindCpu(static_cast<uint32_t>(cpu));
    };
    const topology::CpuInfo* x = cpu_of(a);
    const topology::CpuInfo* y = cpu_of(b);
    if (x == nullptr || y == nullptr) return 0;
    return x->package != y->package       ? 4
           : x->numa_node != y->numa_node ? 3
           : x->cluster != y->cluster     ? 2
           : x->core != y->core           ? 1
                                          : 0;
  };
  for (uint32_t i = 0; i < count; ++i) {
    std::vector<uint32_t>& victims = workers_[i]->victims;
    // Each begins with the worker after it, so that not all begin with the
    // first.
    for (uint32_t j = 1; j < count; ++j) victims.push_back((i + j) % count);
    if (options.topology == nullptr) continue;
    StableSort(victims, [&](uint32_t a, uint32_t b) {
      return distance(i, a) < distance(i, b);
    });
  }
}

absl::Status StealingExecutor::StartWorkers(const Options& options) {
  const auto count = static_cast<uint32_t>(workers_.size());
  uint32_t started = 0;
  absl::Status error;
  started_count_.store(count, std::memory_order_relaxed);
  active_.store(count, std::memory_order_relaxed);
  for (; started < count; ++started) {
    WorkerSlot& slot = *workers_[started];
    TAKT_TRY {
      const WorkerThread::Options thread = ThreadOptions(options, slot);
      slot.trace_name = thread.TraceName();
      error = slot.thread.Start(thread, &RunWorkerThread, &slot);
    }
    TAKT_CATCH(const std::bad_alloc&) { error = OutOfMemory(); }
    if (!error.ok()) break;
  }
  if (started < count) {
    // The workers that run may look at the slots of the others, so those stay.
    active_.fetch_sub(count - started, std::memory_order_seq_cst);
    started_count_.store(started, std::memory_order_seq_cst);
    if (started == 0) {
      Shutdown();
      return error;
    }
  }
  TAKT_TRY { StartBackups(options); }
  TAKT_CATCH(const std::bad_alloc&) {}  // Those that run are enough.
  return absl::OkStatus();
}

WorkerThread::Options StealingExecutor::ThreadOptions(
    const Options& options, const WorkerSlot& slot) const {
  WorkerThread::Options thread;
  thread.name = absl::StrCat(options.name, "-", slot.index);
  thread.worker = slot.index;
  thread.stack_bytes = options.stack_bytes;
  if (is_placed_) thread.cpus = slot.placement;
  thread.fifo_priority = options.fifo_priority;
  thread.reservation = options.reservation;
  thread.hooks = options.hooks;
  thread.reports_faults = options.reports_faults;
  thread.on_report = options.on_thread;
  return thread;
}

StealingExecutor::~StealingExecutor() {
  Shutdown();
  // A child of fork() does not have the threads that would have left.
  if (process_ != getpid()) return;
  TAKT_CHECK(shared_mailbox_.lanes().empty());
  TAKT_CHECK(!idle_.HasIdle());
  for (const auto& slot : workers_) {
    TAKT_CHECK(slot->mailbox.lanes().empty());
    TAKT_CHECK(slot->state.next == nullptr);
  }
}

void StealingExecutor::Shutdown() {
  {
    MutexLock lock(&mutex_);
    if (stopping_.load(std::memory_order_relaxed)) return;
    stopping_.store(true, std::memory_order_seq_cst);
  }
  if (ThreadState* const state = StateHere()) SpillNext(*state);
  WakeAll();
  for (uint32_t i = 0; i < worker_count(); ++i) {
    WorkerSlot& slot = *workers_[i];
    slot.holds_executor = JoinOrDetach(slot.thread);
    if (slot.backup == nullptr) continue;
    slot.backup->state.shared.sleeper.Raise(SharedState::kWork);
    slot.backup->holds_executor = JoinOrDetach(slot.backup->thread);
  }
  timers_.reset();  // A reference to the executor keeps no timer thread.
  if (WorkingStateHere() == nullptr) RunHere();
}

bool StealingExecutor::JoinOrDetach(WorkerThread& thread) {
  if (process_ != getpid()) return false;
  if (!thread.IsThisThread()) {
    thread.Join();
    return false;
  }
  // A thread that releases its own executor cannot wait for itself.
  Retain();
  thread.Detach();
  return true;
}

uint32_t StealingExecutor::max_concurrency() const {
  return std::min(concurrency_, worker_count() + 1);
}

Worker* StealingExecutor::current_worker() {
  ThreadState* const state = StateHere();
  return state != nullptr ? state->worker : nullptr;
}

bool StealingExecutor::MustInterrupt(const JobTraits& traits) {
  ThreadState* const state = StateHere();
  if (state == nullptr) return false;
  return (state->is_helping_caller() && MustLeave(*state)) ||
         !state->worker->MayRun(traits) || MustYield(traits.lane);
}

void StealingExecutor::Trim() {
  trim_count_.fetch_add(1, std::memory_order_seq_cst);
  WakeAll();
}

absl::Status StealingExecutor::NoWorkerIsOn(const CpuSet& cpus) const {
  std::vector<std::string> placements;
  for (uint32_t i = 0; i < worker_count(); ++i) {
    placements.push_back(workers_[i]->placement.ToString());
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "affinity ", cpus.ToString(), ": no worker is there; they are on ",
      absl::StrJoin(placements, ", ")));
}

absl::StatusOr<const WorkerSet*> StealingExecutor::FindAffinity(
    const CpuSet& cpus) {
  const uint32_t all = worker_count();
  const auto is_there = [&](uint32_t worker) {
    return workers_[worker]->placement.IsSubsetOf(cpus);
  };
  uint32_t count = 0;
  for (uint32_t i = 0; i < all; ++i) count += is_there(i);
  if (count == all) return nullptr;
  if (count == 0) return NoWorkerIsOn(cpus);
  MutexLock lock(&mutex_);
  for (const auto& known : worker_sets_) {
    bool is_same = known->count() == count;
    for (uint32_t i = 0; is_same && i < all; ++i) {
      is_same = !known->Contains(i) || is_there(i);
    }
    if (is_same) return known.get();
  }
  WorkerSet set;
  for (uint32_t i = 0; i < all; ++i) {
    if (is_there(i)) set.Add(i);
  }
  return FindWorkerSet(std::move(set));
}

const WorkerSet* StealingExecutor::FindWorkers(const WorkerSet& workers) {
  TAKT_CHECK(workers.count() > 0);
  MutexLock lock(&mutex_);
  if (workers.count() >= worker_count()) return nullptr;
  return FindWorkerSet(workers);
}

const WorkerSet* StealingExecutor::FindWorkerSet(WorkerSet set) {
  TAKT_CHECK(set.count() > 0 && set.count() < worker_count());
  if (!is_pinned_) {
    for (uint32_t i = 0; i < worker_count(); ++i) {
      WorkerSlot& slot = *workers_[i];
      slot.thread.SetAffinity(slot.placement);
      if (slot.backup != nullptr) {
        slot.backup->thread.SetAffinity(slot.placement);
      }
    }
    is_pinned_ = true;  // All of them: memory may have run out before.
  }
  for (const auto& known : worker_sets_) {
    if (*known == set) return known.get();
  }
  worker_sets_.push_back(std::make_unique<WorkerSet>(std::move(set)));
  return worker_sets_.back().get();
}

void StealingExecutor::AddCallerCounts(const ThreadCounters& counters) {
  MutexLock lock(&mutex_);
  caller_counts_ += counters.Read();
}

ExecutorStatistics StealingExecutor::statistics() const {
  ExecutorStatistics result;
  for (uint32_t i = 0; i < worker_count(); ++i) {
    const auto& slot = workers_[i];
    ExecutorStatistics::Worker worker;
    worker.placement = slot->placement;
    worker.thread = slot->thread.report();
    worker.local_bytes = slot->local_bytes.load(std::memory_order_relaxed);
    worker.counts = slot->counters.Read();
    result.workers.push_back(std::move(worker));
    if (slot->backup != nullptr) {
      result.backup_threads += slot->backup->counters.Read();
    }
  }
  {
    MutexLock lock(&mutex_);
    result.helping_callers = caller_counts_;
  }
  if (cores_ != nullptr) result.cores = cores_->statistics();
  result.backup_count = backup_count_;
  result.awake_count = active_.load(std::memory_order_relaxed);
  return result;
}

}  // namespace takt::exec
