// A Policy decides the order of ready operations and where each runs. It has no
// state: the scheduler passes it all facts with each question.
//
// The policies:
//   fifo              first ready, first run; where it ends first now
//   priority          by criticality and priority, then first ready
//   edf               earliest deadline first (Liu and Layland, JACM 1973)
//   least-slack       least time to spare first: deadline less remaining path
//   shortest-latency  the longest expected latency first, each committed to
//                     where it would end first, its queue counted in
//   heft              the longest remaining path first, where it would end
//                     first, waiting for it if that pays (Topcuoglu, Hariri
//                     and Wu, TPDS 2002), and decided again when a pool is late
//   job-shop          criticality, priority, deadline, remaining path; earliest
//                     finish; shards as the deadline needs and the load
//                     allows; less urgent work yields between two tiles
//   laxity            as job-shop; but among jobs of equal urgency one that has
//                     little time to spare is critical: it goes before those
//                     that are not, even with a later deadline
// priority and job-shop keep shares of streams, job-shop divides by weights;
// laxity does both.
// least-slack, shortest-latency and heft are Band's (Jeong et al., MobiSys
// 2022), with a model's operations in the place of its subgraphs.
#ifndef TAKT_SCHED_POLICY_H_
#define TAKT_SCHED_POLICY_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/clock.h"

namespace takt::sched {

// Classes of urgency. A job is in the first if admission has promised that it
// will fit.
enum class Band : uint8_t { kPromised, kHard, kSoft, kBestEffort };
inline constexpr uint32_t kBandCount = 4;

// A lower level is more urgent; below kLevelCount.
inline constexpr uint32_t kLevelCount = kBandCount * 256;
constexpr uint32_t LevelOf(Band band, uint8_t priority) {
  return static_cast<uint32_t>(band) * 256 + 255 - priority;
}

// The urgency that a job lends to another one, which it waits for.
struct Loan {
  Band band = Band::kBestEffort;
  uint8_t priority = 0;
  int64_t deadline_ns = kInfiniteFuture;

  uint32_t level() const { return LevelOf(band, priority); }
  bool operator==(const Loan&) const = default;
};

// The facts about an operation that is ready or runs.
struct OperationFacts {
  Band band = Band::kSoft;
  uint8_t priority = 128;
  int64_t release_ns = 0;   // Its job's.
  int64_t ready_ns = 0;     // When it could first run.
  int64_t deadline_ns = 0;  // Its job's; kInfiniteFuture: none.
  // The least time from its start to the end of the job, and its own part of
  // that.
  int64_t tail_ns = 0;
  int64_t duration_ns = 0;
  // The share of the machine that its stream needs, in millionths.
  int64_t demand_ppm = 0;
  int64_t planned_start_ns = 0;  // kInfiniteFuture: not planned.
  uint64_t sequence = 0;         // In the order of becoming ready.
  // Above 0: its stream has had less than its share, and may take that many
  // cores. Such operations go before all that are not hard, the earlier
  // `share_due_ns` first.
  uint32_t share_cores = 0;
  int64_t share_due_ns = 0;
  int64_t fair_tag = 0;  // With Situation::by_weight: the lower goes first.
  // It waited at Policy::CriticalAt(), and stays critical until its end.
  bool is_critical = false;

  uint32_t level() const { return LevelOf(band, priority); }
};

struct Situation {
  int64_t now_ns = 0;
  // Ready operations, without this one and those that wait for an NPU which
  // takes no core. If less urgent work yields at once, without less urgent
  // operations and those of its own job.
  uint32_t waiting_count = 0;
  uint32_t free_core_count = 0;
  // Whether the demand exceeds the machine. Then jobs of the least demand go
  // first, so that as many streams as possible get all their jobs done.
  bool densest_first = false;
  bool fewest_clusters = false;
  bool by_weight = false;  // A stream has a weight.
  // The part of a duration that is kept free before deadlines.
  uint32_t guard_permille = 100;
};

// Lower goes first.
struct Rank {
  uint32_t level = 0;
  int64_t key = 0;
  int64_t tie = 0;
  uint64_t sequence = 0;
  auto operator<=>(const Rank&) const = default;
};

// A possible placement of an operation.
struct Placement {
  uint32_t alternative = 0;
  uint32_t pool = 0;
  uint32_t shards = 1;
  int64_t start_ns = 0;   // Expected; now if the resources are free.
  int64_t finish_ns = 0;  // Expected.
  bool is_free = false;   // It can start now.
  bool is_npu = false;
  uint32_t busy_count = 0;  // Resources of the pool that work now.
};

class Policy {
 public:
  virtual ~Policy() = default;

  virtual const char* name() const = 0;
  virtual Rank RankOf(const OperationFacts& operation,
                      const Situation& situation) const = 0;
  // Chooses a placement and returns its index. The operation starts if the
  // placement is free; otherwise it waits in the queue of that pool. -1: it
  // stays where it waits.
  virtual int32_t Choose(const OperationFacts& operation,
                         const Situation& situation,
                         absl::Span<const Placement> placements) const = 0;
  // Whether `running` must yield its cores to `urgent`.
  virtual bool Preempts(const OperationFacts& urgent,
                        const OperationFacts& running,
                        const Situation& situation) const {
    (void)urgent, (void)running, (void)situation;
    return false;
  }
  // Whether running work yields to a promised operation.
  bool Yields() const {
    OperationFacts urgent;
    urgent.band = Band::kPromised;
    urgent.planned_start_ns = kInfiniteFuture;
    OperationFacts running = urgent;
    running.band = Band::kBestEffort;
    return Preempts(urgent, running, {});
  }
  // Whether promised operations go before all others (Band::kPromised).
  virtual bool KeepsPromises() const { return false; }
  // The time from which the operation, if it waits, is critical.
  // kInfiniteFuture: it never is.
  virtual int64_t CriticalAt(const OperationFacts& operation) const {
    (void)operation;
    return kInfiniteFuture;
  }
  // Whether an operation that waits for a pool is placed anew when it has
  // waited longer than expected.
  virtual bool Reconsiders() const { return true; }
  // Whether a running operation is restarted on more cores when cores are idle.
  virtual bool Widens() const { return false; }
  // Whether a job that cannot meet its deadline may be given up before the
  // deadline.
  virtual bool GivesUpEarly() const { return false; }
};

// A policy by its name, which lives forever; nullptr if there is none.
const Policy* FindPolicy(absl::string_view name);
// All names, in the order of the table above.
inline constexpr const char* kPolicyNames[] = {
    "fifo", "priority", "edf",   "least-slack", "shortest-latency",
    "heft", "job-shop", "laxity"};
inline absl::Span<const char* const> PolicyNames() { return kPolicyNames; }

}  // namespace takt::sched

#endif  // TAKT_SCHED_POLICY_H_
