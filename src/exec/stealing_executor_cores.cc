// How threads of the work-stealing executor share cores with other processes.
//
// A thread looks at its limit where it looks for jobs, and between two ranges
// of tiles. If more threads are active than may be, and its job is not above
// the lanes that lack cores, it leaves the rest of its job to others and
// sleeps as an idle one. Jobs wake no more threads than may run, but one at
// least: it waits for a core, and asks again by itself. A thread that runs
// wakes those that were held back, once it sees that they may run.
#include <algorithm>

#include "base/check.h"
#include "base/clock.h"
#include "base/status.h"
#include "exec/stealing_executor.h"

namespace takt::exec {
namespace {

// A thread without a job to go on with is woken for the next one.
constexpr int64_t kIdleYieldNs = 5'000'000;

uint32_t PackClaim(uint32_t lane, uint32_t count) {
  TAKT_DCHECK(count > 0 && count <= UINT16_MAX);
  return lane << 16 | count;
}

}  // namespace

absl::Status StealingExecutor::JoinCores(const Options& options) {
  if (options.cores_path.empty()) return absl::OkStatus();
  CpuSet cpus;
  for (const CpuSet& place : options.placement) cpus = cpus | place;
  if (cpus.empty()) cpus = topology::AllowedCpus();
  TAKT_ASSIGN_OR_RETURN(cores_,
                        CoreArbiter::Join(options.cores_path, cpus,
                                          options.cores_share_permille));
  return absl::OkStatus();
}

bool StealingExecutor::MustYieldCore(uint32_t lane) {
  const uint32_t active = active_.load(std::memory_order_relaxed);
  cores_->Poll(active);
  const uint32_t limit = cores_->limit();
  if (active < limit && holds_back_.load(std::memory_order_relaxed) &&
      holds_back_.exchange(false, std::memory_order_seq_cst)) {
    Wake(std::min(limit, concurrency_), kLaneCount - 1, nullptr, nullptr, 0);
  }
  return active > limit && lane <= cores_->lane() &&
         !stopping_.load(std::memory_order_relaxed);
}

bool StealingExecutor::HoldsBack(uint32_t lane, uint32_t active) {
  // One thread is awake, and waits for a core.
  if (std::min(lane, cores_->lane_max()) > cores_->lane() ||
      active < std::max(cores_->limit(), 1u)) {
    return false;
  }
  holds_back_.store(true, std::memory_order_seq_cst);
  return true;
}

bool StealingExecutor::LeaveCore() {
  uint32_t active = active_.load(std::memory_order_relaxed);
  do {
    TAKT_CHECK(active > 0);
    if (active <= cores_->limit()) return false;  // Another thread has left.
  } while (!active_.compare_exchange_weak(active, active - 1,
                                          std::memory_order_seq_cst));
  holds_back_.store(true, std::memory_order_seq_cst);
  return true;
}

uint32_t StealingExecutor::LaneFor(const ThreadState& state) const {
  LaneMask lanes =
      HintedLanes(state, std::memory_order_relaxed) | MailLanes(state);
  if (const WorkerSlot* const slot = state.slot()) {
    lanes = lanes | slot->deque_lanes.Read(std::memory_order_relaxed);
  }
  lanes = lanes & LaneMask::All();
  uint32_t lane = lanes.empty() ? 0 : lanes.Highest();
  if (state.next != nullptr) lane = std::max(lane, state.next->lane_now());
  return std::min(lane, cores_->lane_max());
}

void StealingExecutor::YieldCore(ThreadState& state, int64_t deadline_ns) {
  SpillNext(state);
  SharedState& shared = state.shared;
  BecomeRealTime(state);
  if (!LeaveCore()) return;
  const int64_t start_ns = NowNs();
  RecordHere(EventKind::kWorkerPark, 0);
  Announce(state);
  int64_t now_ns = start_ns;
  while (shared.sleeper.raised() == 0 && now_ns < deadline_ns &&
         !stopping_.load(std::memory_order_seq_cst)) {
    const uint32_t others = active_.load(std::memory_order_seq_cst);
    cores_->Poll(others);
    if (others < std::min(concurrency_, cores_->limit())) break;
    // Threads that run look for this one, too, and run all but its own jobs.
    const bool relies_on_others =
        others > 0 &&
        state.shared.own_hints.Read(std::memory_order_relaxed).empty();
    const int64_t sleep_ns = !relies_on_others && HasWork(state, state.lanes())
                                 ? CoreArbiter::kYieldNs
                                 : kIdleYieldNs;
    shared.sleeper.Sleep(std::min(deadline_ns, now_ns + sleep_ns));
    now_ns = NowNs();
  }
  Return(state);
  state.counters->parks.Add(1);
  cores_->CountYield(now_ns - start_ns);
  RecordHere(EventKind::kWorkerWake, 0);
}

void StealingExecutor::ClaimCoresFor(Job& job) {
  uint32_t count = std::min<uint32_t>(HelpersWorth(job) + 1, concurrency_);
  count = std::min<uint32_t>(count, UINT16_MAX);
  const uint32_t lane = job.core_lane();
  // A caller that helps has its core already.
  const ThreadState* const state = innermost_;
  if (state != nullptr && state->executor == this && state->core_lane == lane &&
      --count == 0) {
    return;
  }
  job.core_claim_.store(PackClaim(lane, count), std::memory_order_relaxed);
  cores_->Add(lane, count, job.deadline_ns);
}

uint32_t StealingExecutor::EndTiles(Job& job) {
  const uint32_t claim = job.core_claim_.exchange(0, std::memory_order_relaxed);
  if (job.is_closure_) return claim;
  EndClaim(claim);
  return 0;
}

void StealingExecutor::MoveClaim(Job& job) {
  uint32_t claim = job.core_claim_.load(std::memory_order_relaxed);
  const uint32_t lane = job.core_lane();
  const uint32_t count = claim & UINT16_MAX;
  if (claim == 0 || claim >> 16 == lane) return;
  // The counts of both lanes are right before the job can drop its claim.
  cores_->Add(lane, count, job.deadline_ns);
  const uint32_t old_lane =
      job.core_claim_.compare_exchange_strong(claim, PackClaim(lane, count),
                                              std::memory_order_relaxed)
          ? claim >> 16
          : lane;  // It is done, or was moved meanwhile.
  cores_->Remove(old_lane, count);
}

}  // namespace takt::exec
