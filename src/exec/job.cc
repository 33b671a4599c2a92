#include "exec/job.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>

#include "base/check.h"
#include "base/math.h"
#include "base/mutex.h"

namespace takt::exec {
namespace {

// The workers of threads that call, which have local memory. A thread_local
// with a destructor would do for each, but the C library ends the process if it
// has no memory to register the destructor.
struct Callers {
  Mutex mutex;
  uint64_t owner_count ABSL_GUARDED_BY(mutex) = 0;
  pthread_key_t key ABSL_GUARDED_BY(mutex) = 0;
  bool has_key ABSL_GUARDED_BY(mutex) = false;
  Worker* first ABSL_GUARDED_BY(mutex) = nullptr;
  uint64_t epoch ABSL_GUARDED_BY(mutex) = 1;
  pid_t process ABSL_GUARDED_BY(mutex) = 0;

  // A child of fork() does not have the threads of the others in the list.
  void ForgetParent() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    const pid_t here = getpid();
    if (process == here) return;
    process = here;
    first = nullptr;
    ++epoch;
  }
};
constinit Callers g_callers;

}  // namespace

CallerMemory::CallerMemory() {
  MutexLock lock(&g_callers.mutex);
  if (++g_callers.owner_count > 1) return;
  g_callers.has_key = pthread_key_create(&g_callers.key, &EndThread) == 0;
}

CallerMemory::~CallerMemory() {
  MutexLock lock(&g_callers.mutex);
  if (--g_callers.owner_count > 0) return;
  g_callers.ForgetParent();
  while (Worker* const worker = g_callers.first) {
    g_callers.first = worker->next_;
    std::free(worker->local_memory);
    worker->local_memory = nullptr;
    worker->local_bytes = 0;
    worker->epoch_ = 0;
  }
  if (g_callers.has_key) pthread_key_delete(g_callers.key);
  g_callers.has_key = false;
}

bool CallerMemory::Keep(Worker& worker) {
  MutexLock lock(&g_callers.mutex);
  TAKT_DCHECK(g_callers.owner_count > 0);
  g_callers.ForgetParent();
  if (worker.epoch_ == g_callers.epoch) return true;
  if (!g_callers.has_key || pthread_setspecific(g_callers.key, &worker) != 0) {
    return false;
  }
  worker.epoch_ = g_callers.epoch;
  worker.previous_ = nullptr;
  worker.next_ = g_callers.first;
  if (worker.next_ != nullptr) worker.next_->previous_ = &worker;
  g_callers.first = &worker;
  return true;
}

void CallerMemory::EndThread(void* argument) {
  auto* const worker = static_cast<Worker*>(argument);
  MutexLock lock(&g_callers.mutex);
  g_callers.ForgetParent();
  if (worker->epoch_ == g_callers.epoch) {
    Worker* const next = worker->next_;
    Worker* const previous = worker->previous_;
    (previous != nullptr ? previous->next_ : g_callers.first) = next;
    if (next != nullptr) next->previous_ = previous;
    worker->epoch_ = 0;
  }
  std::free(worker->local_memory);
  worker->local_memory = nullptr;
  worker->local_bytes = 0;
}

Worker::~Worker() { std::free(local_memory); }

void Worker::ReleaseLocalMemory() {
  std::free(local_memory);
  local_memory = nullptr;
  local_bytes = 0;
}

bool Worker::GrowLocalMemory(size_t bytes) {
  constexpr size_t kAlignment = 64;  // A cache line, and the widest vector.
  TAKT_DCHECK(bytes > local_bytes);
  uint64_t rounded = 0;
  if (!CheckedAlignUp(bytes, kAlignment, &rounded)) return false;
  void* memory = std::aligned_alloc(kAlignment, rounded);
  if (memory == nullptr) return false;
  if (lifetime_ == Lifetime::kThread && !CallerMemory::Keep(*this)) {
    std::free(memory);
    return false;
  }
  std::free(local_memory);
  local_memory = static_cast<uint8_t*>(memory);
  local_bytes = rounded;
  return true;
}

}  // namespace takt::exec
