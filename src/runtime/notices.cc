#include "runtime/notices.h"

#include <errno.h>

#include <cstring>

#include "base/text_file.h"

namespace takt::runtime {
namespace {

constexpr char kPriorityAdvice[] =
    "; raise the limit of real-time priorities (ulimit -r, rtprio in "
    "limits.conf, LimitRTPRIO= of systemd) or grant CAP_SYS_NICE";

// What may have caused the refusal of a reservation.
const char* ReservationAdvice(int error) {
  switch (error) {
    case EPERM:
      return "grant CAP_SYS_NICE, and leave worker_cpus out or let the process "
             "have a cpuset of its own (cpuset.cpus.partition)";
    case EBUSY:
      return "all reservations together exceed sched_rt_runtime_us; ask for "
             "less, or for fewer workers";
    default:
      return "the period has to be within sched_deadline_period_min_us and "
             "sched_deadline_period_max_us";
  }
}

}  // namespace

Notices::Throttle Notices::ReadThrottle(const std::string& folder) {
  return {ReadNumberFile<int64_t>(folder + "/sched_rt_runtime_us").value_or(-1),
          ReadNumberFile<int64_t>(folder + "/sched_rt_period_us").value_or(0)};
}

void Notices::AbsentCpus(const CpuSet& absent, uint32_t worker_count) {
  {
    MutexLock lock(&mutex_);
    counts_.absent_cpu_count = absent.count();
  }
  Warn("worker_cpus: this process has no CPUs ", absent.ToString(), ", only ",
       allowed_.ToString(), "; ", worker_count,
       " workers run; leave the others out, or give the process "
       "more (taskset, cpuset)");
}

void Notices::FewerWorkers(uint32_t count, uint32_t wanted,
                           absl::string_view reason) {
  Warn("started ", count, " of ", wanted, " workers: ", reason);
}

void Notices::FewerBackups(uint32_t count, uint32_t worker_count) {
  {
    MutexLock lock(&mutex_);
    counts_.missing_backup_count += worker_count - count;
  }
  Warn("started ", count, " of ", worker_count,
       " backup threads; urgent work may wait for the end of a "
       "workgroup on the other workers (ulimit -u, pids.max of "
       "the cgroup, worker_stack_bytes, worker_backup_threads)");
}

void Notices::RefusedThread() {
  bool is_first = false;
  {
    MutexLock lock(&mutex_);
    is_first = counts_.refused_thread_count++ == 0;
  }
  if (!is_first) return;
  Warn(
      "a thread for timers or background work did not start; its work waits "
      "until a later one starts, or for a turn of a loop of the program's own "
      "(ulimit -u, pids.max of the cgroup)");
}

void Notices::Thread(const exec::WorkerThread::Report& report,
                     int fifo_priority) {
  const auto is_first = [](int error, int32_t* first) {
    if (error == 0 || *first != 0) return false;
    *first = error;
    return true;
  };
  bool is_first_priority = false;
  bool is_first_affinity = false;
  bool is_first_reservation = false;
  bool is_throttled = false;
  {
    MutexLock lock(&mutex_);
    is_first_priority =
        is_first(report.priority_error, &counts_.worker_priority_error);
    is_first_affinity =
        is_first(report.affinity_error, &counts_.worker_affinity_error);
    is_first_reservation =
        is_first(report.reservation_error, &counts_.worker_reservation_error);
    if (report.fifo_priority > 0) {
      ++real_time_count_;
      real_time_cpus_ = real_time_cpus_ | report.cpus;
      is_throttled = throttle_.is_on() && !counts_.may_be_throttled &&
                     real_time_count_ >= allowed_.count() &&
                     allowed_.IsSubsetOf(real_time_cpus_);
      counts_.may_be_throttled = counts_.may_be_throttled || is_throttled;
    }
  }
  if (is_first_priority) {
    Warn("workers: SCHED_FIFO ", fifo_priority,
         " was refused: ", std::strerror(report.priority_error),
         "; they run as ordinary threads", kPriorityAdvice);
  }
  if (is_first_affinity) {
    Warn("workers: a CPU of their own was refused: ",
         std::strerror(report.affinity_error), "; they run on ",
         report.cpus.ToString(),
         "; name CPUs that are online and in the cpuset of the "
         "process");
  }
  if (is_first_reservation) {
    Warn(absl::StrCat("worker_budget_ns: SCHED_DEADLINE was refused: ",
                      std::strerror(report.reservation_error),
                      "; the workers run as ordinary threads; ",
                      ReservationAdvice(report.reservation_error)));
  }
  if (is_throttled) {
    Warn("worker_fifo_priority: the workers may keep all CPUs ",
         allowed_.ToString(), " busy at real-time priority, and then the ",
         "kernel stops all such threads for ",
         throttle_.period_us - throttle_.runtime_us, " us of each ",
         throttle_.period_us, " us (sched_rt_runtime_us); leave a CPU out of ",
         "worker_cpus, and give a priority below 128 to what may wait");
  }
}

void Notices::TimerPriority(int wanted, int error) {
  if (error == 0) return;
  {
    MutexLock lock(&mutex_);
    counts_.timer_priority_error = error;
  }
  Warn("timer_fifo_priority: SCHED_FIFO ", wanted,
       " was refused: ", std::strerror(error),
       "; streams are released by an ordinary thread", kPriorityAdvice);
}

void Notices::CallersStream(absl::string_view function) {
  bool is_first = false;
  {
    MutexLock lock(&mutex_);
    is_first = counts_.callers_stream_count++ == 0;
  }
  if (!is_first) return;
  Warn("stream of ", function,
       ": there are no workers (worker_count is 0), so its jobs "
       "run only while a caller waits, or in "
       "turns of a loop of the program's own");
}

void Notices::CaptureFailed(absl::string_view function,
                            absl::string_view reason) {
  {
    MutexLock lock(&mutex_);
    ++counts_.failed_capture_count;
  }
  Warn("stream of ", function, ": the capture is not written: ", reason);
}

void Notices::UnusedNpu(absl::string_view device, absl::string_view modules) {
  bool is_first = false;
  {
    MutexLock lock(&mutex_);
    is_first = counts_.unused_npu_count++ == 0;
  }
  if (!is_first) return;
  Warn("device ", device, ": no code in ", modules,
       " is for the NPU, so the CPU does all of it; docs/npu.md "
       "says how to compile for an NPU");
}

Notices::Counts Notices::counts() const {
  MutexLock lock(&mutex_);
  return counts_;
}

}  // namespace takt::runtime
