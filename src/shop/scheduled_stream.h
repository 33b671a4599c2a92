// A job shop's handles of streams and jobs.
#ifndef TAKT_SHOP_SCHEDULED_STREAM_H_
#define TAKT_SHOP_SCHEDULED_STREAM_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/block_pool.h"
#include "base/borrower.h"
#include "base/clock.h"
#include "base/job_attributes.h"
#include "base/ref.h"
#include "exec/worker_set.h"
#include "sched/job.h"
#include "sched/stream.h"
#include "shop/shop_event_queue.h"

namespace takt::shop {

class JobShop;
class Task;

// What a stream requires of the scheduler.
struct StreamRequirements {
  std::string name;
  int64_t period_ns = 0;                  // 0: jobs come at any time.
  int64_t deadline_ns = kInfiniteFuture;  // After the release.
  sched::Criticality criticality = sched::Criticality::kSoft;
  uint8_t priority = 128;
  sched::LatePolicy late = sched::LatePolicy::kRunOn;
  // See sched::StreamOptions.
  uint32_t share_permille = 0;
  uint32_t weight = 0;
  // Workers of the shop's executor that may run it. Null: all.
  const exec::WorkerSet* allowed = nullptr;
  uint32_t shards_preferred = 0;
};

// A stream of the shop. It is destroyed after its last reference and its last
// job are gone.
class ScheduledStream {
 public:
  const StreamRequirements& requirements() const { return requirements_; }
  bool has_share() const { return requirements_.share_permille > 0; }

  void Retain() const { references_.fetch_add(1, std::memory_order_relaxed); }
  void Release() const;

 private:
  friend class JobShop;
  // Any thread may create and release a stream; the decider destroys it.
  ScheduledStream(JobShop* shop, StreamRequirements requirements)
      : shop_(shop), requirements_(std::move(requirements)) {}

  JobShop* const shop_;
  const StreamRequirements requirements_;
  mutable std::atomic<int32_t> references_{1};
  mutable EventOf<ScheduledStream> end_event_{this};
  // Used by the decider only:
  sched::StreamId id_ = 0;
  bool is_known_ = false;                  // The scheduler knows it as id_.
  std::vector<sched::KernelId> expected_;  // The kernels of its jobs.
};

// A job of a stream, from its release to its last reference. As long as it
// lives, more of its work may be submitted.
class ScheduledJob final : public JobContext {
 public:
  // The job behind `context`, which a shop has made; null for null.
  static ScheduledJob* From(JobContext* context) {
    return static_cast<ScheduledJob*>(context);
  }

  void Retain() const { references_.fetch_add(1, std::memory_order_relaxed); }
  void Release() const;

  const ScheduledStream& stream() const { return *stream_; }
  int64_t release_ns() const { return release_ns_; }
  int64_t deadline_ns() const { return deadline_ns_; }
  // Whether the job may miss its deadline, by its stream's window.
  bool may_miss() const { return may_miss_; }
  // Sets the borrower of the job's call. Called once, before its first work.
  // The job may have been released before.
  void SetBorrower(Borrower* borrower) {
    borrower_owner_ = Ref<Borrower>::Retain(borrower);
    borrower_.store(borrower, std::memory_order_release);
  }
  // Counts dispatches that run without a decision before the next submitted
  // work.
  void CountUnseen(uint32_t count) {
    unseen_count_.fetch_add(count, std::memory_order_relaxed);
  }
  // Whether its late policy has given it up.
  bool is_dropped() const {
    return is_dropped_.load(std::memory_order_acquire);
  }

 private:
  friend class JobShop;
  friend class Task;
  ScheduledJob(JobShop* shop, ScheduledStream* stream, int64_t release_ns,
               int64_t deadline_ns, uint64_t trace_id, bool may_miss)
      : shop_(shop),
        stream_(Ref<ScheduledStream>::Retain(stream)),
        release_ns_(release_ns),
        deadline_ns_(deadline_ns),
        trace_id_(trace_id),
        may_miss_(may_miss) {}
  ~ScheduledJob() = default;
  Borrower* borrower() const {
    return borrower_.load(std::memory_order_acquire);
  }
  static void* operator new(size_t bytes, BlockPool& blocks) {
    return blocks.Allocate(bytes);
  }
  static void operator delete(void* block) { BlockPool::Free(block); }
  static void operator delete(void* block, BlockPool&) {
    BlockPool::Free(block);
  }

  JobShop* const shop_;
  const Ref<ScheduledStream> stream_;
  const int64_t release_ns_;
  const int64_t deadline_ns_;
  const uint64_t trace_id_;
  const bool may_miss_;
  mutable std::atomic<int32_t> references_{1};
  std::atomic<bool> is_posted_{false};  // It has or gets an event.
  std::atomic<bool> is_dropped_{false};
  std::atomic<uint32_t> unseen_count_{0};
  EventOf<ScheduledJob> release_event_{this};
  mutable EventOf<ScheduledJob> end_event_{this};
  EventOf<ScheduledJob> drop_event_{this};
  EventOf<ScheduledJob> loan_event_{this};
  std::atomic<bool> is_loan_posted_{false};
  Ref<Borrower> borrower_owner_;
  std::atomic<Borrower*> borrower_{nullptr};  // Null: none, or none yet.
  std::atomic<bool> is_drop_posted_{false};
  // Used by the decider only:
  sched::JobId id_;
  bool is_over_ = false;        // The scheduler has said so.
  bool is_let_go_ = false;      // end_event_ was applied.
  Task* first_task_ = nullptr;  // Those that wait.
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_SCHEDULED_STREAM_H_
