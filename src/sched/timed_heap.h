// A TimedHeap says which records are to be looked at next, and when. A record
// that ends leaves its entries here; those whose time is far away are removed
// once they are more than the others.
//
// Thread-safety: none. Used by Scheduler only.
#ifndef TAKT_SCHED_TIMED_HEAP_H_
#define TAKT_SCHED_TIMED_HEAP_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/spare_memory.h"

namespace takt::sched {

// `Id`: JobId or OperationId.
template <typename Id>
class TimedHeap {
 public:
  struct Entry {
    int64_t at_ns;
    Id id;
  };

  // The earliest time; kInfiniteFuture if there is no entry.
  int64_t next_ns() const {
    return entries_.empty() ? kInfiniteFuture : entries_.front().at_ns;
  }
  size_t size() const { return entries_.size(); }

  // Adds an entry. At most about `live_count` entries are needed, for which
  // is_needed(entry) is true.
  template <typename IsNeeded>
  void Push(int64_t at_ns, Id id, size_t live_count, IsNeeded is_needed) {
    if (entries_.size() >= 2 * live_count + kUnneededMax) {
      RemoveIf([&](const Entry& entry) { return !is_needed(entry); });
    }
    entries_.push_back({at_ns, id});
    std::push_heap(entries_.begin(), entries_.end(), &IsLater);
  }
  // Removes and returns the earliest entry, if it is not after `until_ns`.
  std::optional<Entry> PopUntil(int64_t until_ns) {
    if (entries_.empty() || entries_.front().at_ns > until_ns) return {};
    std::pop_heap(entries_.begin(), entries_.end(), &IsLater);
    const Entry entry = entries_.back();
    entries_.pop_back();
    return entry;
  }
  template <typename Predicate>
  void RemoveIf(Predicate predicate) {
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(), predicate),
                   entries_.end());
    std::make_heap(entries_.begin(), entries_.end(), &IsLater);
  }
  void clear() { entries_.clear(); }

 private:
  // So few are not worth a look at all of them.
  static constexpr size_t kUnneededMax = 64;

  static bool IsLater(const Entry& a, const Entry& b) {
    return a.at_ns > b.at_ns;
  }

  SpareVector<Entry> entries_;  // A heap with the earliest on top.
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_TIMED_HEAP_H_
