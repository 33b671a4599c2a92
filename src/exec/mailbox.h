// A Mailbox holds jobs in a list for each lane, the earliest deadline first; a
// job that was raised to the lane goes before them.
// Each worker has one, into which other threads put jobs for it; and an
// executor has one for all threads. A job of several tiles stays listed, and
// threads may enter it, until its tiles are claimed.
//
// Invariants:
//   (1) A job is in one mailbox at most, which then holds one of its tickets
//       (stealing_executor.h).
//   (2) lanes() are the lanes that have jobs.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is a
// leaf, held for a few instructions.
#ifndef TAKT_EXEC_MAILBOX_H_
#define TAKT_EXEC_MAILBOX_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "exec/job.h"

namespace takt::exec {

// A job with a ticket for the thread that found it.
struct FoundJob {
  Job* job = nullptr;      // Null: none was found.
  bool is_listed = false;  // It still is in a mailbox, where others find it.
};

class Mailbox {
 public:
  // Used instead of a worker's index: a thread that may take every job.
  static constexpr uint32_t kAnyWorker = ~0u;
  // A thread that may only take jobs without JobTraits::allowed.
  static constexpr uint32_t kNoWorker = ~0u - 1;

  Mailbox() {
    for (auto& earliest_ns : earliest_ns_) earliest_ns = kInfiniteFuture;
  }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Lists the job, and takes over one of its tickets. Returns the lane.
  uint32_t Post(Job* job) ABSL_LOCKS_EXCLUDED(mutex_);
  // Lists a job, wherever it is listed, in the lane in which it is now. False
  // if it is in no mailbox; else *traits is what the job has now.
  static bool Relist(Job* job, JobTraits* traits);
  // The first job of `lane` that `worker` may run, with a ticket for the
  // caller: a new one, or the mailbox's if the job leaves the list.
  FoundJob Enter(uint32_t lane, uint32_t worker) ABSL_LOCKS_EXCLUDED(mutex_);
  // Removes a job whose tiles are all claimed, wherever it is listed. True if
  // it was; the caller then has the mailbox's ticket.
  static bool Unlist(Job* job);
  // Whether Enter() has something for `worker` in one of `lanes`.
  bool HasFor(LaneMask lanes, uint32_t worker) ABSL_LOCKS_EXCLUDED(mutex_);

  LaneMask lanes() const { return lanes_.Read(std::memory_order_seq_cst); }
  // The deadline of the first job of `lane`; kInfiniteFuture if there is none.
  int64_t EarliestNs(uint32_t lane) const {
    return earliest_ns_[lane].load(std::memory_order_relaxed);
  }
  // The number of listed jobs.
  uint32_t size() const { return size_.load(std::memory_order_relaxed); }

  static bool MayRun(const Job& job, uint32_t worker) {
    return job.allowed == nullptr || worker == kAnyWorker ||
           (worker != kNoWorker && job.allowed->Contains(worker));
  }

 private:
  struct List {
    Job* first = nullptr;
    Job* last = nullptr;
  };
  void Insert(Job* job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unlink(Job* job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Remove(Job* job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether the job is listed here.
  bool Has(const Job* job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A raised job is due at once, because work of its lane waits for it.
  static int64_t DueNs(const Job& job);
  void NoteEarliest(uint32_t lane) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  List lists_[kLaneCount] ABSL_GUARDED_BY(mutex_);
  // Written under mutex_; read without it.
  AtomicLaneMask lanes_;
  std::atomic<uint32_t> size_{0};
  // Likewise. Readers use it as a hint.
  std::atomic<int64_t> earliest_ns_[kLaneCount];
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_MAILBOX_H_
