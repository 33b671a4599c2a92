#include "cpu/memory_budget.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/exceptions.h"

namespace takt::cpu {

MemoryBudget::MemoryBudget(uint64_t bytes, int64_t stall_ns,
                           std::shared_ptr<TimerService> timers)
    : bytes_(bytes), stall_ns_(stall_ns), timers_(std::move(timers)) {
  timer_.budget = this;
  timer_.fire = [](TimerService::Timer* timer) {
    static_cast<StallTimer*>(timer)->budget->OnTimer();
  };
}

void MemoryBudget::Group::SetParked(bool is_parked) {
  hal::Deferred* grants = nullptr;
  bool watch = false;
  {
    MutexLock lock(&budget_.mutex_);
    is_parked_ = is_parked;
    if (is_parked) grants = budget_.TakeGrantable();
    watch = budget_.ShouldWatch();
  }
  budget_.Settle(grants, watch);
}

void MemoryBudget::Group::Close() {
  const Ref<Group> self = Ref<Group>::Retain(this);
  hal::Deferred* grants = nullptr;
  bool watch = false;
  {
    MutexLock lock(&budget_.mutex_);
    is_open_ = false;
    budget_.DropIfDone(*this);
    grants = budget_.TakeGrantable();
    watch = budget_.ShouldWatch();
  }
  budget_.Settle(grants, watch);
}

bool MemoryBudget::TryTake(uint64_t bytes) {
  MutexLock lock(&mutex_);
  uint64_t pending = 0;
  for (Group* group = admitted_; group != nullptr;
       group = group->next_admitted_) {
    pending =
        std::min(bytes_, pending + std::min(bytes_, group->pending_bytes_));
  }
  if (!Fits(bytes, pending)) return false;
  in_use_ += bytes;
  return true;
}

void MemoryBudget::Announce(Request& request) {
  TAKT_DCHECK(request.bytes <= bytes_);
  if (request.group == nullptr) return;
  MutexLock lock(&mutex_);
  TAKT_DCHECK(request.group->is_open_);
  request.group->pending_bytes_ += request.bytes;
}

bool MemoryBudget::Await(Request& request) {
  hal::Deferred* grants = nullptr;
  bool watch = false;
  {
    MutexLock lock(&mutex_);
    const Group* const group = request.group.get();
    const bool goes_first = group != nullptr && group->is_admitted_;
    if ((goes_first || first_ == nullptr) &&
        IsAdmissible(request, Reserved())) {
      Grant(request);
      return true;
    }
    ++statistics_.wait_count;
    ++statistics_.waiting_count;
    statistics_.bytes_waiting += request.bytes;
    request.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &request;
    last_ = &request;
    // All requests that wait before it may belong to groups that are admitted.
    grants = TakeGrantable();
    watch = ShouldWatch();
  }
  Settle(grants, watch);
  return false;
}

void MemoryBudget::Withdraw(Request& request) {
  if (request.group == nullptr) return;
  hal::Deferred* grants = nullptr;
  bool watch = false;
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(request.group->pending_bytes_ >= request.bytes);
    request.group->pending_bytes_ -= request.bytes;
    DropIfDone(*request.group);
    grants = TakeGrantable();
    watch = ShouldWatch();
  }
  Settle(grants, watch);
}

void MemoryBudget::GiveBack(uint64_t bytes) {
  hal::Deferred* grants = nullptr;
  bool watch = false;
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(in_use_ >= bytes);
    in_use_ -= bytes;
    ++progress_;
    grants = TakeGrantable();
    watch = ShouldWatch();
  }
  Settle(grants, watch);
}

void MemoryBudget::BeginWork() {
  MutexLock lock(&mutex_);
  ++work_count_;
  ++progress_;
}

void MemoryBudget::EndWork() {
  hal::Deferred* grants = nullptr;
  bool watch = false;
  {
    MutexLock lock(&mutex_);
    TAKT_CHECK(work_count_ > 0);
    if (--work_count_ == 0) grants = TakeGrantable();
    watch = ShouldWatch();
  }
  Settle(grants, watch);
}

bool MemoryBudget::ShouldWatch() {
  if (stall_ns_ == kInfiniteFuture || is_watching_ || first_ == nullptr ||
      !is_quiet()) {
    return false;
  }
  is_watching_ = true;
  progress_seen_ = progress_;
  return true;
}

void MemoryBudget::ArmTimer() {
  owner_->Retain();
  timers_->Arm(&timer_, DeadlineAfter(NowNs(), stall_ns_));
}

void MemoryBudget::Settle(hal::Deferred* grants, bool watch) {
  if (watch) ArmTimer();
  if (grants != nullptr) hal::RunOrDefer(grants);
}

void MemoryBudget::OnTimer() {
  Request* stalled = nullptr;
  bool watch = false;
  absl::Status status;
  hal::Deferred* grants = nullptr;
  {
    MutexLock lock(&mutex_);
    is_watching_ = false;
    if (first_ != nullptr && is_quiet() && progress_ == progress_seen_) {
      stalled = first_;
      first_ = stalled->next;
      if (first_ == nullptr) last_ = nullptr;
      NoteWaitEnd(*stalled);
      status = OutOfMemory();
      TAKT_TRY {
        status = absl::ResourceExhaustedError(
            absl::StrCat("stalled: no room for ", stalled->bytes,
                         " bytes: ", DescribeUse()));
      }
      TAKT_CATCH(const std::bad_alloc&) {}
      if (Group* group = stalled->group.get()) {
        TAKT_CHECK(group->pending_bytes_ >= stalled->bytes);
        group->pending_bytes_ -= stalled->bytes;
        DropIfDone(*group);
      }
      grants = TakeGrantable();
    }
    watch = ShouldWatch();
  }
  if (stalled != nullptr) stalled->settled(stalled, status);
  Settle(grants, watch);
  owner_->Release();  // Perhaps the last.
}

void MemoryBudget::Retire() {
  if (timers_ == nullptr || !timers_->Cancel(&timer_)) return;
  {
    MutexLock lock(&mutex_);
    is_watching_ = false;
  }
  owner_->Release();
}

uint64_t MemoryBudget::RemainingOf(const Group& group) const {
  ++statistics_.step_count;
  uint64_t remaining = group.pending_bytes_;
  const bool asks_for_more =
      group.is_open_ && !(group.is_parked_ && is_quiet());
  if (asks_for_more) {
    if (group.claim_ == kUnknownClaim) return bytes_;
    if (group.claim_ > group.granted_bytes_) {
      remaining = std::max(remaining, group.claim_ - group.granted_bytes_);
    }
  }
  return std::min(remaining, bytes_);
}

MemoryBudget::Sum MemoryBudget::Reserved() const {
  Sum reserved = 0;
  for (const Group* group = admitted_; group != nullptr;
       group = group->next_admitted_) {
    reserved += ReservedFor(group);
  }
  return reserved;
}

bool MemoryBudget::Fits(uint64_t bytes, uint64_t reserved) const {
  return in_use_ <= bytes_ && bytes <= bytes_ - in_use_ &&
         reserved <= bytes_ - in_use_ - bytes;
}

bool MemoryBudget::IsAdmissible(const Request& request, Sum reserved) const {
  const Group* const group = request.group.get();
  const uint64_t others = AtMostAll(reserved - ReservedFor(group));
  if (group == nullptr || group->is_admitted_) {
    return Fits(request.bytes, others);
  }
  const uint64_t need = std::max(request.bytes, RemainingOf(*group));
  if (Fits(need, others)) return true;
  // A group that may need more than the whole budget gets its requests one by
  // one while no other group is about to get memory.
  return need == bytes_ && others == 0 && Fits(request.bytes, 0);
}

void MemoryBudget::NoteWaitEnd(const Request& request) {
  TAKT_CHECK(statistics_.waiting_count > 0);
  TAKT_CHECK(statistics_.bytes_waiting >= request.bytes);
  --statistics_.waiting_count;
  statistics_.bytes_waiting -= request.bytes;
}

void MemoryBudget::Grant(Request& request) {
  TAKT_CHECK(Fits(request.bytes, 0));
  in_use_ += request.bytes;
  Group* const group = request.group.get();
  if (group == nullptr) return;
  TAKT_CHECK(group->pending_bytes_ >= request.bytes);
  group->granted_bytes_ += request.bytes;
  group->pending_bytes_ -= request.bytes;
  if (!group->is_admitted_) {
    group->is_admitted_ = true;
    group->Retain();
    if (admitted_ != nullptr) admitted_->previous_admitted_ = group;
    group->next_admitted_ = std::exchange(admitted_, group);
    ++admitted_count_;
  }
  DropIfDone(*group);
}

hal::Deferred* MemoryBudget::TakeGrantable() {
  hal::Deferred* first = nullptr;
  hal::Deferred** end = &first;
  if (first_ == nullptr) return first;
  Sum reserved = Reserved();  // Kept as requests are granted.
  // Admitted groups come first, then the next request in order.
  for (const bool in_turn : {false, true}) {
    bool is_blocked = false;
    Request* before = nullptr;
    for (Request* request = first_; request != nullptr;) {
      ++statistics_.step_count;
      Request* const next = request->next;
      Group* const group = request->group.get();
      bool grant = false;
      const bool goes_first = group != nullptr && group->is_admitted_;
      if (goes_first || (in_turn && !is_blocked)) {
        grant = IsAdmissible(*request, reserved);
        is_blocked |= !goes_first && !grant;
      }
      if (!grant) {
        before = request;
        request = next;
        continue;
      }
      (before != nullptr ? before->next : first_) = next;
      if (last_ == request) last_ = before;
      NoteWaitEnd(*request);
      reserved -= ReservedFor(group);
      Grant(*request);
      reserved += ReservedFor(group);
      request->grant.request = request;
      request->grant.next = nullptr;
      request->grant.run = [](hal::Deferred* deferred) {
        Request* granted = static_cast<Request::Grant*>(deferred)->request;
        granted->settled(granted, absl::OkStatus());
      };
      *end = &request->grant;
      end = &request->grant.next;
      request = next;
    }
  }
  return first;
}

void MemoryBudget::DropIfDone(Group& group) {
  if (group.is_open_ || group.pending_bytes_ != 0 || !group.is_admitted_) {
    return;
  }
  Group* const previous = std::exchange(group.previous_admitted_, nullptr);
  Group* const next = std::exchange(group.next_admitted_, nullptr);
  (previous != nullptr ? previous->next_admitted_ : admitted_) = next;
  if (next != nullptr) next->previous_admitted_ = previous;
  --admitted_count_;
  // A closed group's request that comes late (it was announced before) finds
  // pending bytes; without any, nothing comes.
  group.is_admitted_ = false;
  group.Release();  // The caller holds another one.
}

MemoryBudget::Statistics MemoryBudget::statistics() const {
  MutexLock lock(&mutex_);
  Statistics statistics = statistics_;
  statistics.bytes_in_use = in_use_;
  return statistics;
}

std::string MemoryBudget::Explain() const {
  MutexLock lock(&mutex_);
  if (first_ == nullptr) return std::string();
  return absl::StrCat(statistics_.waiting_count, " requests of ",
                      statistics_.bytes_waiting,
                      " bytes wait for memory, the first for ", first_->bytes,
                      " bytes: ", DescribeUse());
}

std::string MemoryBudget::DescribeUse() const {
  std::string text =
      absl::StrCat(in_use_, " of the budget of ", bytes_, " bytes are in use");
  const uint64_t reserved = AtMostAll(Reserved());
  if (reserved > 0) {
    absl::StrAppend(&text, ", ", reserved, " are kept for the ",
                    admitted_count_, " invocations that have begun");
  }
  if (is_quiet()) {
    absl::StrAppend(&text,
                    "; no work of the device runs that would give any back: "
                    "release buffers, or reach the fences that it waits for");
  }
  return text;
}

}  // namespace takt::cpu
