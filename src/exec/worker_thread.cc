#include "exec/worker_thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "absl/strings/str_cat.h"
#include "base/exceptions.h"
#include "base/thread_latency.h"

namespace takt::exec {

CpuSet KernelCpuSet::ToCpuSet() const {
  CpuSet result;
  for (uint32_t cpu = 0; cpu < CpuSet::kMaxCpus; ++cpu) {
    if (CPU_ISSET_S(cpu, sizeof(sets_), sets_)) result.Add(cpu);
  }
  return result;
}

std::string WorkerThread::Options::TraceName() const {
  return cpus.empty() ? name
                      : absl::StrCat(name, " (CPU ", cpus.ToString(), ")");
}

absl::Status WorkerThread::Start(const Options& options, void (*run)(void*),
                                 void* argument) {
  run_ = run;
  argument_ = argument;
  TAKT_TRY {
    options_ = options;
    {
      MutexLock lock(&mutex_);
      wanted_cpus_ = options.cpus;
    }
    return thread_.Start({.name = options.name,
                          .worker = options.worker,
                          .stack_bytes = options.stack_bytes,
                          .reports_faults = options.reports_faults,
                          .hooks = options.hooks},
                         &Main, this);
  }
  TAKT_CATCH(const std::bad_alloc&) { return OutOfMemory(); }
}

bool WorkerThread::IsThisThread() const {
  MutexLock lock(&mutex_);
  return report_.thread_id == static_cast<uint64_t>(syscall(SYS_gettid));
}

void WorkerThread::Join() { thread_.Join(); }

void WorkerThread::Detach() { thread_.Detach(); }

void WorkerThread::MoveOff(int cpu) {
  MutexLock lock(&mutex_);
  if (cpu < 0 || !report_.is_running || !wanted_cpus_.empty()) return;
  const auto id = static_cast<pid_t>(report_.thread_id);
  KernelCpuSet cpus;
  if (sched_getaffinity(id, cpus.bytes(), cpus.get()) != 0) return;
  moved_from_ = cpus;
  cpus.Remove(static_cast<uint32_t>(cpu));
  if (cpus.empty()) return;
  is_moved_ = sched_setaffinity(id, cpus.bytes(), cpus.get()) == 0;
}

void WorkerThread::ComeBack() {
  MutexLock lock(&mutex_);
  if (!is_moved_) return;
  is_moved_ = false;
  // Should it fail, the thread stays where it may run now.
  (void)sched_setaffinity(0, moved_from_.bytes(), moved_from_.get());
}

void WorkerThread::SetAffinity(const CpuSet& cpus) {
  MutexLock lock(&mutex_);
  wanted_cpus_ = cpus;
  is_moved_ = false;
  // A thread that has not begun does it itself.
  if (report_.is_running) ApplyAffinity(cpus);
}

WorkerThread::Report WorkerThread::report() const {
  MutexLock lock(&mutex_);
  return report_;
}

void WorkerThread::SetRealTime(bool is_real_time) {
  sched_param parameters{};
  parameters.sched_priority = is_real_time ? options_.fifo_priority : 0;
  const int error = pthread_setschedparam(
      pthread_self(), is_real_time ? SCHED_FIFO : SCHED_OTHER, &parameters);
  if (error == 0) return;
  MutexLock lock(&mutex_);
  report_.priority_error = error;
}

void WorkerThread::Main(void* argument) {
  auto* thread = static_cast<WorkerThread*>(argument);
  thread->Prepare();
  if (thread->options_.on_report != nullptr) {
    TAKT_TRY { thread->options_.on_report(thread->report()); }
    TAKT_CATCH(const std::bad_alloc&) {}  // The thread works without it.
  }
  thread->run_(thread->argument_);  // The object may be gone.
}

void WorkerThread::Prepare() {
  MutexLock lock(&mutex_);
  report_.thread_id = static_cast<uint64_t>(syscall(SYS_gettid));
  ApplyAffinity(wanted_cpus_);
  if (options_.fifo_priority > 0) {
    sched_param parameters{};
    parameters.sched_priority = options_.fifo_priority;
    report_.priority_error =
        pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);
  }
  if (options_.reservation.is_set()) {
    report_.reservation_error = Reserve(options_.reservation);
    report_.reservation = ReadReservation();
  }
  if (options_.wants_low_latency) (void)RequestLowLatency();
  int policy = 0;
  sched_param actual{};
  if (pthread_getschedparam(pthread_self(), &policy, &actual) == 0 &&
      policy == SCHED_FIFO) {
    report_.fifo_priority = actual.sched_priority;
  }
  report_.is_running = true;
}

void WorkerThread::ApplyAffinity(const CpuSet& cpus) {
  const auto id = static_cast<pid_t>(report_.thread_id);
  report_.affinity_error = 0;
  if (!cpus.empty()) {
    KernelCpuSet wanted;
    cpus.ForEach([&wanted](uint32_t cpu) { wanted.Add(cpu); });
    if (sched_setaffinity(id, wanted.bytes(), wanted.get()) != 0) {
      report_.affinity_error = errno;
    }
  }
  KernelCpuSet actual;
  if (sched_getaffinity(id, actual.bytes(), actual.get()) != 0) return;
  TAKT_TRY {
    report_.cpus = actual.ToCpuSet();
    // The kernel accepts a mask of which only a part exists.
    if (!cpus.empty() && report_.affinity_error == 0 &&
        !report_.cpus.IsSubsetOf(cpus)) {
      report_.affinity_error = EINVAL;
    }
  }
  TAKT_CATCH(const std::bad_alloc&) { report_.affinity_error = ENOMEM; }
}

}  // namespace takt::exec
