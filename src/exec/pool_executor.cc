#include "exec/pool_executor.h"

#include <limits.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/status.h"

namespace takt::exec {
namespace {

// Claiming a range costs some 50 ns and a cache line that travels: ranges
// should last much longer than that.
constexpr int64_t kRangeNs = 4'000;
// What is done before a thread that is woken for it has come.
constexpr int64_t kSmallJobNs = 30'000;

void Relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

uint32_t GrainOf(const Job& job) {
  if (job.sequential) return job.tile_count;
  if (job.expected_tile_ns <= 0) return 1;
  const int64_t grain = kRangeNs / job.expected_tile_ns;
  return static_cast<uint32_t>(std::clamp<int64_t>(grain, 1, job.tile_count));
}

// Small enough to be left to the donor that submits it.
bool IsSmall(const Job& job) {
  if (job.expected_tile_ns <= 0) return job.tile_count == 1;
  return job.expected_tile_ns < kSmallJobNs / job.tile_count;
}

}  // namespace

struct PoolExecutor::ThreadState {
  PoolExecutor* worker_of = nullptr;
  Worker* worker = nullptr;
  Executor::Donor::Impl* donor = nullptr;  // The innermost.
  PoolExecutor* running_here = nullptr;    // Whose RunHere() this thread is in.
};

PoolExecutor::ThreadState& PoolExecutor::ThisThread() {
  thread_local ThreadState state;
  return state;
}

Worker& PoolExecutor::ThisThreadsScratch() {
  thread_local Worker scratch;
  return scratch;
}

absl::StatusOr<Ref<Executor>> PoolExecutor::Create(const Options& options) {
  auto executor = Ref<PoolExecutor>::Adopt(new PoolExecutor(options));
  pthread_attr_t attributes;
  TAKT_CHECK(pthread_attr_init(&attributes) == 0);
  pthread_attr_setstacksize(
      &attributes, std::max<size_t>(options.stack_bytes, PTHREAD_STACK_MIN));
  for (uint32_t i = 0; i < options.worker_count; ++i) {
    auto thread = std::make_unique<Thread>();
    thread->executor = executor.get();
    // The kernel keeps 15 characters.
    thread->name = absl::StrCat(options.name, "-", i).substr(0, 15);
    thread->worker.index = i;
    executor->active_.fetch_add(1, std::memory_order_relaxed);
    if (pthread_create(&thread->handle, &attributes, &ThreadMain,
                       thread.get()) != 0) {
      executor->active_.fetch_sub(1, std::memory_order_relaxed);
      break;
    }
    executor->threads_.push_back(std::move(thread));
  }
  pthread_attr_destroy(&attributes);
  if (options.worker_count > 0 && executor->threads_.empty()) {
    executor->Shutdown();
    return absl::ResourceExhaustedError(absl::StrCat(
        "not one of ", options.worker_count, " worker threads could start"));
  }
  return Ref<Executor>(std::move(executor));
}

PoolExecutor::PoolExecutor(const Options& options)
    : concurrency_(options.concurrency_max > 0 ? options.concurrency_max
                                               : AvailableConcurrency()),
      spin_ns_(options.spin_ns) {
  // Started threads hold pointers to what is in here.
  threads_.reserve(options.worker_count);
}

PoolExecutor::~PoolExecutor() {
  if (!stopping_.load(std::memory_order_acquire)) Shutdown();
  TAKT_CHECK(first_ == nullptr);
}

void PoolExecutor::Shutdown() {
  {
    MutexLock lock(&mutex_);
    if (stopping_.load(std::memory_order_relaxed)) return;
    stopping_.store(true, std::memory_order_release);
    for (auto& thread : threads_) {
      if (thread->parked.is_idle) {
        RemoveIdle(thread->parked);
        active_.fetch_add(1, std::memory_order_relaxed);
        thread->parked.sleeper.Raise(kWork);
      }
    }
  }
  for (auto& thread : threads_) {
    if (pthread_equal(thread->handle, pthread_self())) {
      // A worker lets its own executor go: it can't wait for itself.
      Retain();
      thread->holds_executor = true;
      pthread_detach(thread->handle);
    } else {
      pthread_join(thread->handle, nullptr);
    }
  }
  if (!IsWorking()) RunHere();
}

uint32_t PoolExecutor::max_concurrency() const {
  return std::min(concurrency_, worker_count() + 1);
}

Worker* PoolExecutor::current_worker() {
  const ThreadState& state = ThisThread();
  for (Donor::Impl* donor = state.donor; donor != nullptr;
       donor = donor->outer) {
    if (donor->executor == this) return donor->worker;
  }
  return state.worker_of == this ? state.worker : nullptr;
}

bool PoolExecutor::IsWorking() const {
  const ThreadState& state = ThisThread();
  if (state.worker_of == this || state.running_here == this) return true;
  for (Donor::Impl* donor = state.donor; donor != nullptr;
       donor = donor->outer) {
    if (donor->executor == this && donor->is_working) return true;
  }
  return false;
}

void PoolExecutor::Submit(Job* job) {
  TAKT_DCHECK(job->tile_count > 0);
  job->claimed_.store(0, std::memory_order_relaxed);
  job->grain_ = GrainOf(*job);
  uint64_t threads =
      (job->tile_count + uint64_t{job->grain_} - 1) / job->grain_;
  const bool is_working = IsWorking();
  const bool is_donor = !is_working && current_worker() != nullptr;
  if (is_working) {
    threads -= 1;  // This one comes to it by itself.
  } else if (is_donor) {
    threads = IsSmall(*job) ? 0 : std::max<uint64_t>(threads - 1, 1);
  }
  const bool run_here =
      !is_working && stopping_.load(std::memory_order_acquire);
  mutex_.Lock();
  Append(job);
  WakeAndUnlock(threads, is_donor ? 1 : 0);
  // The job may be gone.
  if (run_here) RunHere();
}

void PoolExecutor::Flush() {
  if (listed_count_.load(std::memory_order_relaxed) == 0) return;
  if (threads_.empty() || stopping_.load(std::memory_order_acquire)) {
    if (!IsWorking()) RunHere();
    return;
  }
  mutex_.Lock();
  WakeAndUnlock(HasWork() ? threads_.size() : 0, 0);
}

void* PoolExecutor::ThreadMain(void* argument) {
  auto* thread = static_cast<Thread*>(argument);
  PoolExecutor* executor = thread->executor;
  pthread_setname_np(pthread_self(), thread->name.c_str());
  ThisThread().worker_of = executor;
  ThisThread().worker = &thread->worker;
  executor->RunWorker(*thread);
  ThisThread().worker_of = nullptr;
  // Only set on this thread, by Shutdown() from within a job.
  if (thread->holds_executor) executor->Release();
  return nullptr;
}

void PoolExecutor::RunWorker(Thread& thread) {
  mutex_.Lock();
  while (true) {
    const bool stopping = stopping_.load(std::memory_order_relaxed);
    const bool surplus =
        !stopping && active_.load(std::memory_order_relaxed) > concurrency_;
    Job* job = surplus ? nullptr : Enter();
    if (job != nullptr) {
      mutex_.Unlock();
      RunEntered(job, thread.worker, nullptr);
      mutex_.Lock();
      continue;
    }
    if (stopping) break;
    if (!surplus && spin_ns_ > 0 &&
        entered_.load(std::memory_order_relaxed) > 0) {
      mutex_.Unlock();
      Spin(thread.parked.sleeper);
      mutex_.Lock();
      if (HasWork() || stopping_.load(std::memory_order_relaxed)) continue;
    }
    Park(thread.parked, kInfiniteFuture);
    thread.parked.sleeper.Take(kWork);
  }
  active_.fetch_sub(1, std::memory_order_relaxed);
  mutex_.Unlock();
}

bool PoolExecutor::RunDonor(Donor::Impl& donor, int64_t deadline_ns) {
  Sleeper& sleeper = donor.parked.sleeper;
  if ((sleeper.raised() & kNotified) != 0) {
    sleeper.Take(kNotified);
    return true;
  }
  bool notified = false;
  donor.is_working = true;
  mutex_.Lock();
  active_.fetch_add(1, std::memory_order_relaxed);
  while (true) {
    notified = (sleeper.raised() & kNotified) != 0;
    if (notified) break;
    if (deadline_ns != kInfiniteFuture && NowNs() >= deadline_ns) break;
    if (Job* job = Enter()) {
      mutex_.Unlock();
      RunEntered(job, *donor.worker, &sleeper);
      mutex_.Lock();
      continue;
    }
    if (spin_ns_ > 0 && entered_.load(std::memory_order_relaxed) > 0) {
      mutex_.Unlock();
      Spin(sleeper);
      mutex_.Lock();
      if (sleeper.raised() != 0 || HasWork()) continue;
    }
    Park(donor.parked, deadline_ns);
    sleeper.Take(kWork);
  }
  active_.fetch_sub(1, std::memory_order_relaxed);
  donor.is_working = false;
  // A worker that made place may come back.
  WakeAndUnlock(HasWork() ? threads_.size() : 0, 1);
  if (notified) sleeper.Take(kNotified);
  return notified;
}

void PoolExecutor::RunHere() {
  ThreadState& state = ThisThread();
  PoolExecutor* const outer = std::exchange(state.running_here, this);
  Worker& worker = ThisThreadsScratch();
  mutex_.Lock();
  active_.fetch_add(1, std::memory_order_relaxed);
  while (Job* job = Enter()) {
    mutex_.Unlock();
    RunEntered(job, worker, nullptr);
    mutex_.Lock();
  }
  active_.fetch_sub(1, std::memory_order_relaxed);
  mutex_.Unlock();
  state.running_here = outer;
}

Job* PoolExecutor::Enter() {
  while (Job* job = first_) {
    if (job->claimed_.load(std::memory_order_relaxed) >= job->tile_count) {
      // All claimed; the last one that is in it finishes it.
      Unlist(job);
      continue;
    }
    ++job->entrants_;
    entered_.fetch_add(1, std::memory_order_relaxed);
    if (job->sequential) Unlist(job);
    return job;
  }
  return nullptr;
}

bool PoolExecutor::HasWork() {
  for (Job* job = first_; job != nullptr; job = job->next_) {
    if (job->claimed_.load(std::memory_order_relaxed) < job->tile_count) {
      return true;
    }
  }
  return false;
}

void PoolExecutor::Append(Job* job) {
  job->previous_ = last_;
  job->next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = job;
  last_ = job;
  job->listed_ = true;
  job->entrants_ = 0;
  listed_count_.fetch_add(1, std::memory_order_relaxed);
}

void PoolExecutor::Unlist(Job* job) {
  (job->previous_ != nullptr ? job->previous_->next_ : first_) = job->next_;
  (job->next_ != nullptr ? job->next_->previous_ : last_) = job->previous_;
  job->listed_ = false;
  listed_count_.fetch_sub(1, std::memory_order_relaxed);
}

bool PoolExecutor::Claim(Job* job, uint32_t* begin, uint32_t* end) const {
  const uint64_t count = job->tile_count;
  const uint64_t claimed = job->claimed_.load(std::memory_order_relaxed);
  if (claimed >= count) return false;
  // Large ranges first, small ones towards the end: few claims, and all end at
  // about the same time.
  const uint64_t share = (count - claimed) / (2 * max_concurrency());
  const uint64_t size = std::max<uint64_t>(share, job->grain_);
  const uint64_t first =
      job->claimed_.fetch_add(size, std::memory_order_relaxed);
  if (first >= count) return false;
  *begin = static_cast<uint32_t>(first);
  *end = static_cast<uint32_t>(std::min(first + size, count));
  return true;
}

bool PoolExecutor::ShouldLeave(const Sleeper* donor) const {
  if (donor != nullptr) return (donor->raised() & kNotified) != 0;
  return active_.load(std::memory_order_relaxed) > concurrency_ &&
         !stopping_.load(std::memory_order_relaxed);
}

void PoolExecutor::RunEntered(Job* job, Worker& worker, const Sleeper* donor) {
  // Where there is none, the job sees that it has too little.
  (void)worker.ReserveLocalMemory(job->local_bytes);
  uint32_t begin = 0;
  uint32_t end = 0;
  while (Claim(job, &begin, &end)) {
    job->RunTiles(begin, end, worker);
    if (ShouldLeave(donor)) break;
  }
  bool is_finished = false;
  {
    MutexLock lock(&mutex_);
    const bool all_claimed =
        job->claimed_.load(std::memory_order_relaxed) >= job->tile_count;
    if (all_claimed && job->listed_) Unlist(job);
    is_finished = --job->entrants_ == 0 && all_claimed;
  }
  if (is_finished) job->Finish(worker);
  entered_.fetch_sub(1, std::memory_order_relaxed);
}

bool PoolExecutor::Spin(const Sleeper& sleeper) {
  const int64_t deadline_ns = DeadlineAfter(NowNs(), spin_ns_);
  do {
    for (int i = 0; i < 32; ++i) {
      if (listed_count_.load(std::memory_order_relaxed) > 0) return true;
      if (sleeper.raised() != 0) return true;
      Relax();
    }
    if (active_.load(std::memory_order_relaxed) > concurrency_) return false;
  } while (entered_.load(std::memory_order_relaxed) > 0 &&
           NowNs() < deadline_ns);
  return false;
}

void PoolExecutor::Park(Parked& parked, int64_t deadline_ns) {
  Parked** place = &idle_;
  Parked* before = nullptr;
  if (parked.is_donor) {
    while (*place != nullptr && !(*place)->is_donor) {
      before = *place;
      place = &before->next;
    }
  }
  parked.previous = before;
  parked.next = *place;
  if (parked.next != nullptr) parked.next->previous = &parked;
  *place = &parked;
  parked.is_idle = true;
  active_.fetch_sub(1, std::memory_order_relaxed);
  mutex_.Unlock();
  parked.sleeper.Sleep(deadline_ns);
  mutex_.Lock();
  if (parked.is_idle) {  // Notified or late, not woken for work.
    RemoveIdle(parked);
    active_.fetch_add(1, std::memory_order_relaxed);
  }
}

void PoolExecutor::RemoveIdle(Parked& parked) {
  (parked.previous != nullptr ? parked.previous->next : idle_) = parked.next;
  if (parked.next != nullptr) parked.next->previous = parked.previous;
  parked.is_idle = false;
}

void PoolExecutor::WakeAndUnlock(uint64_t count, uint32_t others) {
  constexpr size_t kBatch = 64;
  Parked* woken[kBatch];
  size_t woken_count = 0;
  uint32_t active = active_.load(std::memory_order_relaxed) + others;
  while (count > 0 && idle_ != nullptr && active < concurrency_ &&
         woken_count < kBatch) {
    Parked* parked = idle_;
    RemoveIdle(*parked);
    active_.fetch_add(1, std::memory_order_relaxed);
    ++active;
    --count;
    if (parked->is_donor) {
      // It takes mutex_ before it goes on, and may be gone after that.
      parked->sleeper.Raise(kWork);
    } else {
      woken[woken_count++] = parked;
    }
  }
  mutex_.Unlock();
  // Outside the lock, which they all take first.
  for (size_t i = 0; i < woken_count; ++i) woken[i]->sleeper.Raise(kWork);
}

Executor::Donor::Donor(Executor& executor) {
  static_assert(sizeof(Impl) <= sizeof(storage_));
  auto& state = PoolExecutor::ThisThread();
  auto* pool = static_cast<PoolExecutor*>(&executor);
  Worker& worker = PoolExecutor::ThisThreadsScratch();
  worker.index = pool->worker_count();
  new (storage_) Impl{pool, state.donor, &worker, false, {}};
  impl()->parked.is_donor = true;
  state.donor = impl();
}

Executor::Donor::~Donor() {
  PoolExecutor* pool = impl()->executor;
  PoolExecutor::ThisThread().donor = impl()->outer;
  impl()->~Impl();
  pool->Flush();
}

bool Executor::Donor::WaitUntilNotified(int64_t deadline_ns) {
  return impl()->executor->RunDonor(*impl(), deadline_ns);
}

void Executor::Donor::Notify() {
  impl()->parked.sleeper.Raise(PoolExecutor::kNotified);
}

}  // namespace takt::exec
