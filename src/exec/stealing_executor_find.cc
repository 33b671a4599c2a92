// Where threads of the work-stealing executor look for jobs.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "exec/stealing_executor.h"

namespace takt::exec {
namespace {

// A thread takes its own newest job first. In one of 61 turns it takes the
// oldest job that other threads gave it, so that none of those starves. A
// prime, so that the turn does not coincide with a period of the program's.
constexpr uint32_t kOwnTurns = 61;

}  // namespace

uint32_t StealingExecutor::MailboxIndex(const ThreadState& state) const {
  // At the end every job must run, on whatever thread.
  if (stopping_.load(std::memory_order_seq_cst)) return Mailbox::kAnyWorker;
  return state.worker_index;
}

FoundJob StealingExecutor::Find(ThreadState& state, bool clear) {
  const LaneMask lanes = state.lanes();
  const bool mail_first = ++state.find_count % kOwnTurns == 0;
  while (true) {
    const LaneMask mail = MailLanes(state) & lanes;
    LaneMask own = mail;
    if (const WorkerSlot* const slot = state.slot()) {
      own = own | (slot->deque_lanes.Read(std::memory_order_relaxed) & lanes);
    }
    const LaneMask hinted =
        HintedLanes(state, std::memory_order_seq_cst) & lanes;
    if (Job* const job = state.next) {
      const uint32_t lane = job->lane_now();
      if (!(own | hinted).HasAbove(lane) &&
          (!mail.Contains(lane) ||
           !(mail_first || EarliestMailNs(state, lane) < job->deadline_ns))) {
        state.next = nullptr;
        return {job, false};
      }
      SpillNext(state);
      continue;
    }
    // Other threads may have more urgent jobs than this one has.
    const LaneMask above =
        own.empty() ? hinted : hinted & LaneMask::Above(own.Highest());
    if (!above.empty()) {
      const FoundJob found = FindHinted(state, above, clear || !own.empty());
      if (found.job != nullptr) return found;
    }
    if (own.empty()) {
      state.backlog_ns = 0;
      return {};
    }
    const FoundJob found = FindOwn(state, own.Highest(), mail_first);
    if (found.job != nullptr) return found;
  }
}

FoundJob StealingExecutor::FindHinted(ThreadState& state, LaneMask lanes,
                                      bool clear) {
  FoundJob found = Steal(state, lanes);
  if (found.job != nullptr || !clear) return found;
  shared_hints_.RemoveAll(lanes);
  state.shared.own_hints.RemoveAll(lanes);
  found = Steal(state, lanes);
  // There may be more jobs. And a thread that posted to this one's mailbox
  // while the hints were still there has not added any.
  if (found.job != nullptr || MailLanes(state).Intersects(lanes)) {
    shared_hints_.AddAll(lanes);
    state.shared.own_hints.AddAll(lanes);
  }
  return found;
}

FoundJob StealingExecutor::FindOwn(ThreadState& state, uint32_t lane,
                                   bool mail_first) {
  const uint32_t worker = MailboxIndex(state);
  WorkerSlot* const slot = state.slot();
  Mailbox* first = slot != nullptr ? &slot->mailbox : nullptr;
  Mailbox* second = &shared_mailbox_;
  if (EarliestMailNs(state, lane) != kInfiniteFuture) {
    mail_first = true;  // No job in a deque has a deadline.
    if (first != nullptr &&
        second->EarliestNs(lane) < first->EarliestNs(lane)) {
      std::swap(first, second);
    }
  }
  if (!mail_first && slot != nullptr) {
    if (Job* const job = slot->PopDeque(lane)) return {job, false};
  }
  for (Mailbox* mailbox : {first, second}) {
    if (mailbox == nullptr || !mailbox->lanes().Contains(lane)) continue;
    const FoundJob found = mailbox->Enter(lane, worker);
    if (found.job != nullptr) return found;
  }
  if (!mail_first || slot == nullptr) return {};
  return {slot->PopDeque(lane), false};
}

int64_t StealingExecutor::EarliestMailNs(const ThreadState& state,
                                         uint32_t lane) const {
  const int64_t shared_ns = shared_mailbox_.EarliestNs(lane);
  return state.slot() == nullptr
             ? shared_ns
             : std::min(shared_ns, state.slot()->mailbox.EarliestNs(lane));
}

template <typename Visit>
void StealingExecutor::ForEachVictim(const ThreadState& state,
                                     Visit visit) const {
  if (state.slot() != nullptr) {
    for (const uint32_t victim : state.slot()->victims) {
      if (!visit(*workers_[victim])) return;
    }
    return;
  }
  const size_t count = workers_.size();
  for (size_t i = 0; i < count; ++i) {
    if (!visit(*workers_[(state.first_victim + i) % count])) return;
  }
}

FoundJob StealingExecutor::Steal(ThreadState& state, LaneMask lanes) {
  LaneMask present;
  ForEachVictim(state, [&](WorkerSlot& victim) {
    present = present | victim.lanes();
    return true;
  });
  const uint32_t worker = MailboxIndex(state);
  FoundJob found;
  for (present = present & lanes; !present.empty() && found.job == nullptr;) {
    const uint32_t lane = present.Highest();
    present = present.Without(lane);
    ForEachVictim(state, [&](WorkerSlot& victim) {
      if (!victim.lanes().Contains(lane)) return true;
      found = {victim.deques[lane].Steal(), false};
      if (found.job == nullptr && victim.mailbox.lanes().Contains(lane)) {
        found = victim.mailbox.Enter(lane, worker);
      }
      if (found.job == nullptr) return true;
      const bool is_near =
          state.slot() == nullptr || state.slot()->cluster == victim.cluster;
      (is_near ? state.counters->near_steals : state.counters->far_steals)
          .Add(1);
      if (state.slot() == nullptr) state.first_victim = victim.index;
      return false;
    });
  }
  return found;
}

bool StealingExecutor::HasWork(const ThreadState& state, LaneMask lanes) {
  if (state.next != nullptr) return true;
  if (shared_mailbox_.lanes().Intersects(lanes)) return true;
  const uint32_t worker = MailboxIndex(state);
  const auto has = [&](WorkerSlot& slot) {
    LaneMask present = slot.deque_lanes.Read(std::memory_order_seq_cst) & lanes;
    while (!present.empty()) {
      const uint32_t lane = present.Highest();
      if (!slot.deques[lane].LooksEmpty()) return true;
      present = present.Without(lane);
    }
    return slot.mailbox.HasFor(lanes, worker);
  };
  if (state.slot() != nullptr && has(*state.slot())) return true;
  bool found = false;
  ForEachVictim(state, [&](WorkerSlot& victim) {
    found = has(victim);
    return !found;
  });
  return found;
}

}  // namespace takt::exec
