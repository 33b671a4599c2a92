// The plain executor: one list of jobs, which all threads serve first come,
// first served. A thread enters a job under the lock, then claims ranges of
// its tiles without; the last one to leave a job whose tiles are all claimed
// finishes it.
//
// Invariants:
//   (1) A job is in the list from Submit() until all its tiles are claimed,
//       and no thread enters it after that.
//   (2) active_ counts the threads that run or look for tiles: workers that
//       are not parked, and donors that wait and are not parked. Whoever
//       unparks a thread counts it; a thread that parks has discounted itself.
//   (3) If a job can be entered and fewer than concurrency_ threads are active,
//       then a thread has been woken for it, or it has been left to a donor
//       that has yet to come.
//
// Lock order: mutex_ is a leaf; no job's method is called under it.
#ifndef TAKT_EXEC_POOL_EXECUTOR_H_
#define TAKT_EXEC_POOL_EXECUTOR_H_

#include <pthread.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "base/sleeper.h"
#include "exec/executor.h"

namespace takt::exec {

class PoolExecutor final : public Executor {
 public:
  static absl::StatusOr<Ref<Executor>> Create(const Options& options);

  void Shutdown() override;
  uint32_t worker_count() const override {
    return static_cast<uint32_t>(threads_.size());
  }
  uint32_t max_concurrency() const override;
  void Submit(Job* job) override;
  void Flush() override;
  Worker* current_worker() override;

 private:
  friend class Executor::Donor;
  static constexpr uint32_t kWork = 1;  // Sleeper flags.
  static constexpr uint32_t kNotified = 2;

  // A thread that may park: linked into idle_ while it does.
  struct Parked {
    Sleeper sleeper;
    Parked* next = nullptr;
    Parked* previous = nullptr;
    bool is_idle = false;
    bool is_donor = false;
  };
  struct Thread {
    PoolExecutor* executor;
    std::string name;
    pthread_t handle;
    Parked parked;
    Worker worker;
    bool holds_executor = false;  // Detached: drops a reference at its end.
  };
  // What this thread is to executors.
  struct ThreadState;
  static ThreadState& ThisThread();
  static Worker& ThisThreadsScratch();

  explicit PoolExecutor(const Options& options);
  ~PoolExecutor() override;

  static void* ThreadMain(void* argument);
  void RunWorker(Thread& thread);
  // The two ends of Donor::WaitUntilNotified(), and what is between.
  bool RunDonor(Donor::Impl& donor, int64_t deadline_ns);
  // Runs jobs on this thread until none can be entered.
  void RunHere();
  // True if this thread is in one of the three above.
  bool IsWorking() const;

  // A job with tiles to claim, entered; nullptr if there is none.
  Job* Enter() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Append(Job* job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unlist(Job* job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Claims and runs tiles of an entered job, then leaves it. A donor leaves
  // when notified, a worker when it takes the place of a donor.
  void RunEntered(Job* job, Worker& worker, const Sleeper* donor)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The next range of `job`; false if there is none left.
  bool Claim(Job* job, uint32_t* begin, uint32_t* end) const;
  bool ShouldLeave(const Sleeper* donor) const;

  // Looks for work for a while, if tiles are running that may bring some.
  // True if there may be something.
  bool Spin(const Sleeper& sleeper) ABSL_LOCKS_EXCLUDED(mutex_);
  // Parks this thread, which is active, until it is woken; active again then.
  void Park(Parked& parked, int64_t deadline_ns)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Unlocks, having woken up to `count` threads, as far as that many more may
  // be active besides `others`.
  void WakeAndUnlock(uint64_t count, uint32_t others)
      ABSL_UNLOCK_FUNCTION(mutex_);
  void RemoveIdle(Parked& parked) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint32_t concurrency_;
  const int64_t spin_ns_;
  std::vector<std::unique_ptr<Thread>> threads_;  // Fixed once created.

  Mutex mutex_;
  Job* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Job* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
  // Workers before donors, the one that was active last first: it is warm.
  Parked* idle_ ABSL_GUARDED_BY(mutex_) = nullptr;
  // Written under mutex_; read without where a stale value does no harm.
  std::atomic<bool> stopping_{false};
  std::atomic<uint32_t> listed_count_{0};
  std::atomic<uint32_t> active_{0};
  // Threads between Enter() and the end of the job's Finish(), by them alone.
  std::atomic<uint32_t> entered_{0};
};

struct Executor::Donor::Impl {
  PoolExecutor* executor;
  Impl* outer;  // Of the same thread.
  Worker* worker;
  bool is_working = false;
  PoolExecutor::Parked parked;
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_POOL_EXECUTOR_H_
