// A CoreArbiter makes the executors of several processes share cores. An
// executor reports the jobs that it has, and asks how many threads may run.
//
// A process writes its claims when they rise, and looks at those of others at
// most every kLookNs, as its threads come by. So a process with less urgent
// work gives its cores away at the end of a range of tiles. Alone, it looks
// every kLonelyLookNs. No process ever waits for another one: claims of a
// process that died count no more once it is seen, those that are not renewed
// for kClaimLifeNs neither, and a process that got no core for kPatienceNs
// takes one for kPatienceTurnNs.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is a
// leaf. A thread that finds it locked leaves its work to the one that has it.
#ifndef TAKT_EXEC_CORE_ARBITER_H_
#define TAKT_EXEC_CORE_ARBITER_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/cpu_set.h"
#include "base/mutex.h"
#include "exec/core_file.h"
#include "exec/core_share.h"

namespace takt::exec {

class CoreArbiter {
 public:
  static constexpr int64_t kLookNs = 50'000;
  static constexpr int64_t kLonelyLookNs = 2'000'000;
  static constexpr int64_t kClaimLifeNs = 50'000'000;
  // Claims stay for this time after the last job, since the next one may come
  // soon; an executor whose threads sleep takes them back at once.
  static constexpr int64_t kHoldNs = 100'000;
  static constexpr int64_t kPatienceNs = 100'000'000;
  static constexpr int64_t kPatienceTurnNs = 2'000'000;
  // A thread that gave its core away asks again after this time, if no other
  // thread of its executor runs, or only this one may run a job that waits.
  static constexpr int64_t kYieldNs = 100'000;

  struct Statistics {
    uint32_t peer_count = 0;        // Other executors, at the last look.
    uint64_t yield_count = 0;       // Times that a thread gave its core away.
    int64_t yield_ns = 0;           // How long, of all threads together.
    uint64_t taken_back_count = 0;  // Claims of dead and hung peers.
  };

  // Joins the processes of a file; CoreFile::Join() has the errors.
  //
  //   cpus            what the executor's threads may run on.
  //   share_permille  the share of them (CoreQuota), at most 1000; 0: none.
  static absl::StatusOr<std::unique_ptr<CoreArbiter>> Join(
      const std::string& path, const CpuSet& cpus, uint32_t share_permille);

  // The executor has a job more, or less, that is worth `count` threads.
  void Add(uint32_t lane, uint32_t count, int64_t deadline_ns);
  void Remove(uint32_t lane, uint32_t count);

  // Looks at the file if it is time. `running`: the threads that run now; 0:
  // as many as before.
  void Poll(uint32_t running) {
    if (NowNs() >= next_look_ns_.load(std::memory_order_relaxed)) Look(running);
  }
  // No thread of the executor runs any more.
  void BecomeIdle() {
    if (HasOldClaims()) Look(0, /*is_idle=*/true);
  }

  // Threads that may run; CoreGrant::kNoLimit: any number.
  uint32_t limit() const { return limit_.load(std::memory_order_relaxed); }
  // Jobs above this lane go on whatever the limit is.
  uint32_t lane() const { return lane_.load(std::memory_order_relaxed); }

  // No job of the executor is above this lane.
  uint32_t lane_max() const {
    uint32_t lane = kLaneCount - 1;
    while (lane > 0 && counts_[lane].load(std::memory_order_relaxed) == 0) {
      --lane;
    }
    return lane;
  }

  void CountYield(int64_t duration_ns) {
    yield_count_.fetch_add(1, std::memory_order_relaxed);
    yield_ns_.fetch_add(duration_ns, std::memory_order_relaxed);
  }
  Statistics statistics() const;

 private:
  using Slot = CoreFile::Slot;
  // How often a process says that its claims still hold, and how often it
  // counts the others.
  static constexpr int64_t kRenewNs = kClaimLifeNs / 10;
  static constexpr int64_t kCountPeersNs = 20'000'000;

  CoreArbiter(CoreFile file, const CpuSet& cpus, uint32_t share_permille);

  void Look(uint32_t running, bool is_idle = false) ABSL_LOCKS_EXCLUDED(mutex_);
  bool TryLook(uint32_t running, bool is_idle) ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether claims are in the file that the executor has no more.
  bool HasOldClaims() const;
  // Writes the claims, if they differ from those written, or are old.
  void Publish(bool is_idle, int64_t now_ns)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountPeers(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether the claims of a slot count.
  bool Counts(uint32_t index, const Slot& slot, int64_t now_ns)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Decide(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  CoreClaims ClaimsOf(const Slot& slot) const;

  const CpuSet cpus_;
  const uint32_t core_count_;

  // What the executor has.
  std::array<std::atomic<uint32_t>, kLaneCount> counts_{};
  std::array<std::atomic<int64_t>, kLaneCount> deadlines_ns_{};
  // The counts that are in the file.
  std::array<std::atomic<uint32_t>, kLaneCount> told_counts_{};

  alignas(64) std::atomic<int64_t> next_look_ns_{0};
  std::atomic<uint32_t> limit_{CoreGrant::kNoLimit};
  std::atomic<uint32_t> lane_{0};
  std::atomic<uint32_t> peer_count_{0};

  alignas(64) std::atomic<bool> is_looking_{false};
  std::atomic<bool> looks_again_{false};
  Mutex mutex_;  // Held by the thread that looks.
  CoreFile file_ ABSL_GUARDED_BY(mutex_);
  CoreQuota quota_ ABSL_GUARDED_BY(mutex_);
  Slot own_ ABSL_GUARDED_BY(mutex_) = {};  // As written last.
  // When the claims of each lane were needed last.
  std::array<int64_t, kLaneCount> needed_ns_ ABSL_GUARDED_BY(mutex_) = {};
  CoreFile::Slots slots_ ABSL_GUARDED_BY(mutex_) = {};
  // For each slot: the claims that were seen to be dead or old.
  std::array<int64_t, CoreFile::kSlotCount> ended_ns_
      ABSL_GUARDED_BY(mutex_) = {};
  bool had_peers_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t peers_counted_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t running_ ABSL_GUARDED_BY(mutex_) = 0;         // At the last look.
  int64_t denied_since_ns_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: it has cores.

  std::atomic<uint64_t> yield_count_{0};
  std::atomic<int64_t> yield_ns_{0};
  std::atomic<uint64_t> taken_back_count_{0};
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_CORE_ARBITER_H_
