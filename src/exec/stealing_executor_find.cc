// Where threads of the work-stealing executor look for jobs.
#include <algorithm>
#include <utility>

#include "exec/stealing_executor.h"

namespace takt::exec {
namespace {

// A thread takes its own newest job first, but in one of so many turns the
// oldest of what others have put there: nothing starves.
constexpr uint32_t kTurnsOfOwn = 61;

// The number of the highest bit; `lanes` is not 0.
uint32_t HighestLane(uint32_t lanes) {
  return 31 - static_cast<uint32_t>(__builtin_clz(lanes));
}

}  // namespace

uint32_t StealingExecutor::MailWorker(const Member& member) const {
  // At the end everything must run, wherever.
  if (stopping_.load(std::memory_order_seq_cst)) return Mailbox::kAnyWorker;
  return member.place;
}

StealingExecutor::Found StealingExecutor::Find(Member& member, bool clear) {
  const uint32_t mask = kAllLanes & ~0u << member.lane_min;
  const bool mail_first = ++member.take_count % kTurnsOfOwn == 0;
  while (true) {
    const uint32_t mail = MailLanes(member) & mask;
    uint32_t own = mail;
    if (member.seat != nullptr) {
      own |= member.seat->deque_lanes.load(std::memory_order_relaxed) & mask;
    }
    const uint32_t hinted =
        (urgent_lanes_.load(std::memory_order_seq_cst) |
         member.wanted_lanes.load(std::memory_order_seq_cst)) &
        mask;
    if (Job* const job = member.next) {
      const uint32_t lane = job->lane;
      if ((own | hinted) >> lane >> 1 == 0 &&
          ((mail >> lane & 1) == 0 ||
           !(mail_first || EarliestMailNs(member, lane) < job->deadline_ns))) {
        member.next = nullptr;
        return {job, false};
      }
      SpillNext(member);
      continue;
    }
    const uint32_t above =
        own != 0 ? hinted & ~((2u << HighestLane(own)) - 1) : hinted;
    if (above != 0) {
      const Found found = FindHinted(member, above, clear || own != 0);
      if (found.job != nullptr) return found;
    }
    if (own == 0) {
      member.backlog_ns = 0;
      return {};
    }
    const Found found = FindOwn(member, HighestLane(own), mail_first);
    if (found.job != nullptr) return found;
  }
}

StealingExecutor::Found StealingExecutor::FindHinted(Member& member,
                                                     uint32_t lanes,
                                                     bool clear) {
  Found found = Steal(member, lanes);
  if (found.job != nullptr || !clear) return found;
  urgent_lanes_.fetch_and(~lanes, std::memory_order_seq_cst);
  member.wanted_lanes.fetch_and(~lanes, std::memory_order_seq_cst);
  found = Steal(member, lanes);
  // There may be more; and who posted to this thread's own mailbox while the
  // bits were still there has not set them.
  if (found.job != nullptr || (MailLanes(member) & lanes) != 0) {
    urgent_lanes_.fetch_or(lanes, std::memory_order_seq_cst);
    member.wanted_lanes.fetch_or(lanes, std::memory_order_seq_cst);
  }
  return found;
}

StealingExecutor::Found StealingExecutor::FindOwn(Member& member, uint32_t lane,
                                                  bool mail_first) {
  const uint32_t worker = MailWorker(member);
  Seat* const seat = member.seat;
  const auto from_deque = [&]() -> Job* {
    if (seat == nullptr) return nullptr;
    const uint32_t lanes = seat->deque_lanes.load(std::memory_order_relaxed);
    if ((lanes >> lane & 1) == 0) return nullptr;
    Job* const job = seat->deques[lane].Pop();
    if (job == nullptr) {
      seat->deque_lanes.store(lanes & ~(1u << lane), std::memory_order_seq_cst);
    }
    return job;
  };
  Mailbox* first = seat != nullptr ? &seat->mailbox : nullptr;
  Mailbox* second = &shared_mailbox_;
  if (EarliestMailNs(member, lane) != kInfiniteFuture) {
    mail_first = true;  // What is in deques has no deadline.
    if (first != nullptr &&
        second->EarliestNs(lane) < first->EarliestNs(lane)) {
      std::swap(first, second);
    }
  }
  if (!mail_first) {
    if (Job* const job = from_deque()) return {job, false};
  }
  for (Mailbox* mailbox : {first, second}) {
    if (mailbox == nullptr || (mailbox->lanes() >> lane & 1) == 0) continue;
    bool left = false;
    if (Job* const job = mailbox->Enter(lane, worker, &left)) {
      return {job, !left};
    }
  }
  return {mail_first ? from_deque() : nullptr, false};
}

int64_t StealingExecutor::EarliestMailNs(const Member& member,
                                         uint32_t lane) const {
  const int64_t commons_ns = shared_mailbox_.EarliestNs(lane);
  return member.seat == nullptr
             ? commons_ns
             : std::min(commons_ns, member.seat->mailbox.EarliestNs(lane));
}

template <typename Visit>
void StealingExecutor::ForEachVictim(const Member& member, Visit visit) const {
  if (member.seat != nullptr) {
    for (const uint32_t victim : member.seat->victims) {
      if (!visit(*workers_[victim])) return;
    }
    return;
  }
  const size_t count = workers_.size();
  for (size_t i = 0; i < count; ++i) {
    if (!visit(*workers_[(member.first_victim + i) % count])) return;
  }
}

StealingExecutor::Found StealingExecutor::Steal(Member& member,
                                                uint32_t lanes) {
  uint32_t present = 0;
  ForEachVictim(member, [&](Seat& victim) {
    present |= victim.lanes();
    return true;
  });
  const uint32_t worker = MailWorker(member);
  Found found;
  for (present &= lanes; present != 0 && found.job == nullptr;) {
    const uint32_t lane = HighestLane(present);
    present &= ~(1u << lane);
    ForEachVictim(member, [&](Seat& victim) {
      if ((victim.lanes() >> lane & 1) == 0) return true;
      found.job = victim.deques[lane].Steal();
      if (found.job == nullptr && (victim.mailbox.lanes() >> lane & 1) != 0) {
        bool left = false;
        found.job = victim.mailbox.Enter(lane, worker, &left);
        found.is_listed = !left;
      }
      if (found.job == nullptr) return true;
      const bool is_near =
          member.seat == nullptr || member.seat->cluster == victim.cluster;
      (is_near ? member.counters->near_steals : member.counters->far_steals)
          .Add(1);
      if (member.seat == nullptr) member.first_victim = victim.index;
      return false;
    });
  }
  return found;
}

bool StealingExecutor::HasWork(const Member& member, uint32_t lanes) {
  if (member.next != nullptr) return true;
  if ((shared_mailbox_.lanes() & lanes) != 0) return true;
  const uint32_t worker = MailWorker(member);
  const auto has = [&](Seat& seat) {
    uint32_t present = seat.deque_lanes.load(std::memory_order_seq_cst) & lanes;
    for (; present != 0; present &= present - 1) {
      if (!seat.deques[HighestLane(present & -present)].LooksEmpty()) {
        return true;
      }
    }
    return seat.mailbox.HasFor(lanes, worker);
  };
  if (member.seat != nullptr && has(*member.seat)) return true;
  bool found = false;
  ForEachVictim(member, [&](Seat& victim) {
    found = has(victim);
    return !found;
  });
  return found;
}

uint32_t StealingExecutor::MailLanes(const Member& member) const {
  return shared_mailbox_.lanes() |
         (member.seat != nullptr ? member.seat->mailbox.lanes() : 0);
}

bool StealingExecutor::HasMail(const Member& member) const {
  return MailLanes(member) >> member.lane_min != 0 ||
         member.sleeper.raised() != 0;
}

}  // namespace takt::exec
