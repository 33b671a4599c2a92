// The scheduler's records of jobs and operations: slots that are reused, named
// by handles that become invalid when their slot is.
//
// Thread-safety: none. Used by Scheduler only.
#ifndef TAKT_SCHED_JOB_H_
#define TAKT_SCHED_JOB_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "base/intrusive_heap.h"
#include "base/spare_memory.h"
#include "sched/cost_model.h"
#include "sched/fair_clock.h"
#include "sched/job_program.h"
#include "sched/met_window.h"
#include "sched/policy.h"
#include "sched/share_account.h"
#include "sched/stream.h"

namespace takt::sched {

// The band of a job without a promise.
inline constexpr Band BandOf(Criticality criticality) {
  switch (criticality) {
    case Criticality::kHard:
      return Band::kHard;
    case Criticality::kSoft:
      return Band::kSoft;
    case Criticality::kBestEffort:
      break;
  }
  return Band::kBestEffort;
}

// The generation of a slot that is used again. It is never 0, which stands for
// no handle.
inline constexpr uint32_t NextGeneration(uint32_t generation) {
  return generation == std::numeric_limits<uint32_t>::max() ? 1
                                                            : generation + 1;
}

// A handle; {0, 0} is none.
struct JobId {
  uint32_t index = 0;
  uint32_t generation = 0;
  bool operator==(const JobId&) const = default;
};
struct OperationId {
  uint32_t index = 0;
  uint32_t generation = 0;
  bool operator==(const OperationId&) const = default;
};

// The heap_position of an operation that is in none.
inline constexpr uint32_t kNotInHeap = std::numeric_limits<uint32_t>::max();

enum class JobOutcome : uint8_t {
  kMet,      // In time, or without a deadline.
  kMissed,   // Done, after its deadline.
  kDropped,  // By its late policy; not done.
  kFailed,
};

struct JobRecord;

struct OperationRecord {
  enum class State : uint8_t { kFree, kReady, kHeld, kRunning, kDelayed };

  uint32_t index = 0;
  uint32_t generation = 0;
  State state = State::kFree;
  bool yields = false;        // It was asked to yield its resources.
  bool is_cancelled = false;  // It was asked to yield them at once.
  JobRecord* job = nullptr;
  KernelId kernel = 0;
  uint32_t unseen_count = 0;  // See AdvisedOperation.
  uint32_t program_index = 0;
  OperationFacts facts;
  Rank rank;
  uint32_t heap_position = kNotInHeap;
  ResourceSet allowed;            // As its stream and its advisor allow.
  ResourceSet feeders;            // By its advisor, of an NPU; empty: any.
  uint32_t shards_preferred = 0;  // The same; 0: none.
  int64_t not_before_ns = 0;      // kDelayed: until then.
  int64_t not_after_ns = kInfiniteFuture;  // Its advisor is asked again then.
  uint32_t group = 0;                      // kReady: whose heap it is in.
  uint32_t held_pool = 0;                  // kHeld: whose queue it is in.
  int64_t held_work_ns = 0;                // kHeld: what it adds to that queue.
  int64_t hold_until_ns = 0;
  uint32_t done_ppm = 0;     // The part done before this run.
  bool has_yielded = false;  // So no run of it was a whole one.
  // Of its resources together, for its stream's weight: what it was expected to
  // take when it got its tag, and what it took. -1: it has no tag.
  int64_t fair_expected_ns = -1;
  int64_t used_ns = 0;
  // kRunning:
  ResourceSet resources;  // Fewer than its alternative's once it has shrunk.
  bool has_shrunk = false;
  uint32_t alternative = 0;
  int64_t start_ns = 0;
  int64_t expected_end_ns = 0;
  int64_t pressure_ppm = 0;  // On what runs beside it (slowdown.h).
  // A whole run that was predicted: its duration by the model of slowdown, and
  // by the median of all runs. 0: it was not.
  int64_t model_ns = 0;
  int64_t plain_ns = 0;
  // Among the operations of its job, and among the waiting ones of its band,
  // the one that waits longest first.
  OperationRecord* job_previous = nullptr;
  OperationRecord* job_next = nullptr;
  OperationRecord* band_previous = nullptr;
  OperationRecord* band_next = nullptr;
  int64_t band_since_ns = 0;
  int64_t critical_at_ns = kInfiniteFuture;  // Its entry in the timers; none.

  OperationId id() const { return {index, generation}; }
  // In a group or a pool's queue; not if its advisor delays it.
  bool waits() const { return state == State::kReady || state == State::kHeld; }
};

// Operations that wait, the most urgent on top.
struct OperationOrder {
  static bool Before(const OperationRecord& a, const OperationRecord& b) {
    return a.rank < b.rank;
  }
  static uint32_t& PositionOf(OperationRecord& operation) {
    return operation.heap_position;
  }
};
using OperationHeap = IntrusiveHeap<OperationRecord, OperationOrder>;
static_assert(OperationHeap::kOutside == kNotInHeap);

struct StreamRecord;

struct JobRecord {
  uint32_t index = 0;
  uint32_t generation = 0;
  bool is_live = false;
  bool is_ending = false;  // Dropped or failed; running operations stop first.
  JobOutcome outcome = JobOutcome::kMet;
  StreamRecord* stream = nullptr;
  Band band = Band::kSoft;
  Loan loan;  // The loan from more urgent jobs.
  uint64_t tag = 0;
  int64_t release_ns = 0;
  int64_t deadline_ns = kInfiniteFuture;
  bool has_started = false;
  bool is_late = false;
  bool may_miss = false;          // By its caller, or its stream's window.
  uint64_t window_number = 0;     // In its stream's window.
  uint32_t unfinished_count = 0;  // Operations of its program.
  uint32_t running_count = 0;
  uint32_t waiting_count = 0;      // Operations that wait for cores.
  uint32_t found_count = 0;        // Operations that have become ready.
  bool follows_prediction = true;  // They equal those of the previous job.
  SpareVector<uint32_t> pending;   // By operation: predecessors to wait for.
  OperationRecord* operations = nullptr;  // Ready, held or running.
  ResourceSet last_resources;
  ResourceSet leased;  // NPUs that it keeps to its end.
  // Among the jobs of its stream, oldest first.
  JobRecord* stream_previous = nullptr;
  JobRecord* stream_next = nullptr;

  JobId id() const { return {index, generation}; }
};

struct StreamRecord {
  static void* operator new(size_t bytes) {
    return SpareMemory::Allocate(bytes);
  }
  static void operator delete(void* block) { SpareMemory::Free(block); }

  StreamId id = 0;
  StreamOptions options;
  Band band = Band::kSoft;
  ResourceSet allowed;  // By affinity and pools.
  int64_t demand_ppm = 0;
  // Without a program: the expected program of its jobs, for admission.
  std::unique_ptr<JobProgram> expected;
  bool is_removed = false;
  JobRecord* oldest = nullptr;
  JobRecord* newest = nullptr;
  // Without a program: the operations that the last whole job was made of, and
  // the time from each to the end.
  SpareVector<KernelId> sequence;
  SpareVector<int64_t> sequence_tails_ns;
  SpareVector<KernelId> recording;
  uint32_t releases = 0;
  MetWindow window;
  uint32_t used_count = 0;  // Resources on which it runs.
  ShareAccount share;
  SpareVector<OperationRecord*> raised;  // As it is behind.
  FairQueue fair;
  // When its last operation stopped, and what the pool's FairClock said then.
  int64_t fair_until_ns = 0;
  int64_t fair_until = 0;
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_JOB_H_
