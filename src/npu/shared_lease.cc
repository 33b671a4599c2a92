#include "npu/shared_lease.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/status.h"

namespace takt::npu {

absl::StatusOr<std::unique_ptr<SharedLease>> SharedLease::Join(
    const std::string& path, int64_t turn_max_ns, int64_t (*now_ns)()) {
  TAKT_CHECK(turn_max_ns > 0);
  TAKT_ASSIGN_OR_RETURN(LeaseFile file, LeaseFile::Join(path));
  return std::unique_ptr<SharedLease>(new SharedLease(
      std::move(file), std::min(turn_max_ns, kTurnMaxNs), now_ns));
}

SharedLease::SharedLease(LeaseFile file, int64_t turn_max_ns,
                         int64_t (*now_ns)())
    : turn_max_ns_(turn_max_ns), now_(now_ns), file_(std::move(file)) {}

// The locks of the file go with it, and with them the slot.
SharedLease::~SharedLease() { TAKT_CHECK(!has_lease_ && !is_waiting_); }

NextTurn<uint32_t> SharedLease::FindNext(const Contents& contents,
                                         bool with_own) const {
  std::array<uint32_t, LeaseFile::kSlotCount> slots;
  std::iota(slots.begin(), slots.end(), 0);
  std::sort(slots.begin(), slots.end(), [&](uint32_t a, uint32_t b) {
    const uint64_t ticket_a = contents.slots[a].ticket;
    const uint64_t ticket_b = contents.slots[b].ticket;
    return ticket_a != ticket_b ? ticket_a < ticket_b : a < b;
  });
  NextTurn<uint32_t> next;
  for (const uint32_t slot : slots) {
    const LeaseFile::Slot& request = contents.slots[slot];
    if (request.ticket == 0) continue;
    if (slot == file_.slot() ? !with_own : !file_.IsAlive(slot)) continue;
    next.Show(slot,
              {static_cast<uint8_t>(request.priority), request.deadline_ns},
              request.passed_over);
  }
  return next;
}

void SharedLease::PassOn(Contents* contents, bool with_own) {
  const NextTurn<uint32_t> next = FindNext(*contents, with_own);
  ++contents->turn;
  contents->holder = LeaseFile::kNone;
  if (next.has_best()) {
    const uint64_t ticket = contents->slots[next.best()].ticket;
    for (uint32_t slot = 0; slot < LeaseFile::kSlotCount; ++slot) {
      LeaseFile::Slot& request = contents->slots[slot];
      if (request.ticket == 0 || request.ticket >= ticket) continue;
      if (request.passed_over < kPassedOverMax) ++request.passed_over;
      file_.WriteSlot(*contents, slot);
    }
    contents->holder = next.best();
    contents->slots[next.best()].ticket = 0;
    file_.WriteSlot(*contents, next.best());
  }
  file_.WriteRest(*contents);
}

bool SharedLease::IsHolderGone(const Contents& contents) {
  if (!file_.IsAlive(contents.holder)) return true;
  const int64_t now_ns = now_();
  if (contents.turn != watched_turn_ || contents.beat != watched_beat_ ||
      watched_since_ns_ == 0) {
    watched_turn_ = contents.turn;
    watched_beat_ = contents.beat;
    watched_since_ns_ = now_ns;
  }
  const int64_t limit_ns = std::clamp<int64_t>(
      contents.slots[contents.holder].turn_max_ns, kCheckNs, kTurnMaxNs);
  return now_ns - watched_since_ns_ > limit_ns;
}

void SharedLease::Ask(const Urgency& urgency, Contents* contents) {
  LeaseFile::Slot& own = contents->slots[file_.slot()];
  const bool is_new = own.ticket == 0;
  if (!is_new && own.priority == urgency.priority &&
      own.deadline_ns == urgency.deadline_ns) {
    return;
  }
  own.priority = urgency.priority;
  own.deadline_ns = urgency.deadline_ns;
  if (is_new) {
    own.ticket = ++contents->last_ticket;
    own.passed_over = 0;
    own.turn_max_ns = turn_max_ns_;
    file_.WriteRest(*contents);
  }
  file_.WriteSlot(*contents, file_.slot());
}

bool SharedLease::Look(const Urgency& urgency) {
  TAKT_CHECK(is_waiting_ && !has_lease_);
  Contents contents = file_.Read();
  const uint32_t slot = file_.slot();
  if (contents.holder == slot) {
    // Another process has passed it on.
    turn_ = contents.turn;
    return true;
  }
  Ask(urgency, &contents);
  const bool is_free = contents.holder == LeaseFile::kNone;
  if (!is_free && !IsHolderGone(contents)) return false;
  if (!is_free) ++statistics_.taken_back_count;
  PassOn(&contents, /*with_own=*/true);
  turn_ = contents.turn;
  return contents.holder == slot;
}

void SharedLease::Acquire(absl::FunctionRef<Urgency()> urgency) {
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(!has_lease_ && !is_waiting_);
    is_waiting_ = true;
    watched_since_ns_ = 0;
  }
  bool has_waited = false;
  // Outside of the lock: urgency() takes others.
  while (!TryAcquire(urgency(), has_waited)) {
    WaitForChange();
    has_waited = true;
  }
}

bool SharedLease::TryAcquire(const Urgency& urgency, bool has_waited) {
  MutexLock lock(&mutex_);
  const bool is_locked = file_.Lock().ok();
  const bool is_granted = is_locked && Look(urgency);
  if (is_locked) file_.Unlock();
  if (!is_granted && is_locked) return false;
  TAKT_CHECK(is_waiting_ && !has_lease_);
  is_waiting_ = false;
  has_lease_ = true;
  if (!is_locked) {
    turn_ = 0;
    ++statistics_.unarbitrated_count;
    return true;
  }
  ++statistics_.grant_count;
  statistics_.wait_count += has_waited;
  return true;
}

void SharedLease::WaitForChange() { file_.WaitForChange(NowNs() + kCheckNs); }

void SharedLease::Raise(const Urgency& urgency) {
  MutexLock lock(&mutex_);
  if (!is_waiting_) return;
  if (!file_.Lock().ok()) return;
  Contents contents = file_.Read();
  LeaseFile::Slot& own = contents.slots[file_.slot()];
  const Urgency present = {static_cast<uint8_t>(own.priority), own.deadline_ns};
  if (own.ticket != 0 && IsMoreUrgent(urgency, present)) {
    own.priority = urgency.priority;
    own.deadline_ns = urgency.deadline_ns;
    file_.WriteSlot(contents, file_.slot());
  }
  file_.Unlock();
}

bool SharedLease::ShouldYieldTo(const Urgency& own) {
  MutexLock lock(&mutex_);
  TAKT_CHECK(has_lease_);
  const Contents contents = file_.Read();
  if (contents.holder != file_.slot() || contents.turn != turn_) return true;
  const NextTurn<uint32_t> next = FindNext(contents, /*with_own=*/false);
  // Among equals the processes take turns.
  return next.has_best() &&
         (next.is_aged() || !IsMoreUrgent(own, next.urgency()));
}

void SharedLease::Beat() {
  MutexLock lock(&mutex_);
  TAKT_CHECK(has_lease_);
  if (!file_.Lock().ok()) return;
  Contents contents = file_.Read();
  if (contents.holder == file_.slot() && contents.turn == turn_) {
    ++contents.beat;
    file_.WriteRest(contents);
  }
  file_.Unlock();
}

void SharedLease::Release(const Urgency* next) {
  MutexLock lock(&mutex_);
  TAKT_CHECK(has_lease_ && !is_waiting_);
  has_lease_ = false;
  if (!file_.Lock().ok()) return;
  Contents contents = file_.Read();
  if (contents.holder == file_.slot() && contents.turn == turn_) {
    if (next != nullptr) Ask(*next, &contents);
    PassOn(&contents, /*with_own=*/next != nullptr);
  } else if (turn_ != 0) {
    ++statistics_.lost_count;
  }
  file_.Unlock();
}

SharedLease::Statistics SharedLease::statistics() const {
  MutexLock lock(&mutex_);
  return statistics_;
}

}  // namespace takt::npu
