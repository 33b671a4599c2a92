#include "base/borrower.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/exceptions.h"

namespace takt {
namespace {

Mutex& LoanMutex() {
  // Its destructor does nothing: calls may end while the process does.
  static_assert(std::is_trivially_destructible_v<Mutex>);
  static constinit Mutex mutex;
  return mutex;
}

template <typename Item>
void LinkFirst(Item* item, Item** first, Item* Item::*previous,
               Item* Item::*next) {
  item->*previous = nullptr;
  item->*next = *first;
  if (*first != nullptr) (*first)->*previous = item;
  *first = item;
}

template <typename Item>
void UnlinkFrom(Item* item, Item** first, Item* Item::*previous,
                Item* Item::*next) {
  Item* const before = item->*previous;
  Item* const after = item->*next;
  TAKT_DCHECK(before != nullptr || *first == item);
  (before != nullptr ? before->*next : *first) = after;
  if (after != nullptr) after->*previous = before;
  item->*previous = item->*next = nullptr;
}

}  // namespace

std::atomic<int64_t> Borrower::loan_count_{0};

JobUrgency Borrower::urgency() const {
  JobUrgency urgency;
  const uint16_t level = level_.load(std::memory_order_seq_cst);
  urgency.criticality = static_cast<JobUrgency::Criticality>(level >> 8);
  urgency.priority = static_cast<uint8_t>(level);
  urgency.deadline_ns = deadline_ns_.load(std::memory_order_seq_cst);
  return urgency;
}

void Borrower::Store(const JobUrgency& urgency) {
  deadline_ns_.store(urgency.deadline_ns, std::memory_order_seq_cst);
  const auto criticality = static_cast<uint32_t>(urgency.criticality);
  level_.store(static_cast<uint16_t>(criticality << 8 | urgency.priority),
               std::memory_order_seq_cst);
}

void Borrower::Begin(Wait* wait) {
  TAKT_DCHECK(wait->borrower == nullptr && wait->holder == nullptr);
  wait->borrower = this;
  MutexLock lock(&mutex_);
  LinkFirst(wait, &waits_, &Wait::previous, &Wait::next);
}

void Borrower::End(Wait* wait) {
  Borrower* const borrower = std::exchange(wait->borrower, nullptr);
  if (borrower == nullptr) return;
  {
    MutexLock lock(&borrower->mutex_);
    UnlinkFrom(wait, &borrower->waits_, &Wait::previous, &Wait::next);
  }
  // Lend() sets it under mutex_, and finds the wait no longer.
  const Ref<Borrower> holder = std::move(wait->holder);
  if (holder == nullptr) return;
  Borrowers changed;
  {
    MutexLock lock(&LoanMutex());
    holder->Replace(wait, nullptr, &changed);
    Spread(&changed);
  }
  Tell(changed);
}

void Borrower::Review() {
  Borrowers changed;
  {
    MutexLock lock(&LoanMutex());
    Lend(&changed);
    Spread(&changed);
  }
  Tell(changed);
}

void Borrower::Spread(Borrowers* changed) {
  // Lend() appends to the list.
  for (size_t i = 0; i < changed->size(); ++i) {
    const Ref<Borrower> borrower = (*changed)[i];
    borrower->Lend(changed);
  }
}

void Borrower::Lend(Borrowers* changed) {
  const JobUrgency lent = urgency();
  MutexLock lock(&mutex_);
  for (Wait* wait = waits_; wait != nullptr; wait = wait->next) {
    Ref<Borrower> holder = wait->find_holder(wait);
    if (holder.get() == this ||
        (holder != nullptr && !lent.IsAbove(holder->own()))) {
      holder = nullptr;
    }
    if (wait->holder != nullptr && wait->holder != holder) {
      wait->holder->Replace(wait, nullptr, changed);
    }
    wait->holder = std::move(holder);
    if (wait->holder != nullptr) wait->holder->Replace(wait, &lent, changed);
  }
}

void Borrower::Replace(const Wait* wait, const JobUrgency* loan,
                       Borrowers* changed) {
  const auto before = static_cast<int64_t>(loans_.size());
  std::erase_if(loans_, [wait](const Loan& each) { return each.wait == wait; });
  if (loan != nullptr && loan->IsAbove(own_)) {
    TAKT_TRY { loans_.push_back({wait, *loan}); }
    TAKT_CATCH(const std::bad_alloc&) {}
  }
  // Counted before it can be seen.
  loan_count_.fetch_add(static_cast<int64_t>(loans_.size()) - before,
                        std::memory_order_seq_cst);
  JobUrgency greatest = own_;
  for (const Loan& each : loans_) {
    if (each.urgency.IsAbove(greatest)) greatest = each.urgency;
  }
  if (greatest == urgency()) return;
  Store(greatest);
  TAKT_TRY { changed->push_back(Ref<Borrower>::Retain(this)); }
  TAKT_CATCH(const std::bad_alloc&) {}
}

void Borrower::Tell(const Borrowers& changed) {
  Calls after;
  for (const Ref<Borrower>& borrower : changed) borrower->TellObservers(&after);
  for (auto& call : after) std::move(call)();
}

void Borrower::TellObservers(Calls* after) {
  MutexLock lock(&mutex_);
  for (Observer* each = observers_; each != nullptr; each = each->next_) {
    TAKT_TRY { each->OnUrgency(urgency(), after); }
    TAKT_CATCH(const std::bad_alloc&) {}
  }
}

void Borrower::Observe(Observer* observer) {
  MutexLock lock(&mutex_);
  LinkFirst(observer, &observers_, &Observer::previous_, &Observer::next_);
}

void Borrower::Unobserve(Observer* observer) {
  MutexLock lock(&mutex_);
  UnlinkFrom(observer, &observers_, &Observer::previous_, &Observer::next_);
}

}  // namespace takt
