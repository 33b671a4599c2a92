// An OperationHeap keeps operations by rank: a binary heap whose members know
// their positions, so that any of them can leave.
//
// Operation has `Rank rank` and `uint32_t heap_position`, kNotInHeap outside.
#ifndef TAKT_SCHED_OPERATION_HEAP_H_
#define TAKT_SCHED_OPERATION_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/check.h"

namespace takt::sched {

inline constexpr uint32_t kNotInHeap = std::numeric_limits<uint32_t>::max();

template <typename Operation>
class OperationHeap {
 public:
  bool empty() const { return members_.empty(); }
  size_t size() const { return members_.size(); }
  Operation* top() const { return members_[0]; }
  // In no order.
  const std::vector<Operation*>& members() const { return members_; }

  void Push(Operation* operation) {
    TAKT_DCHECK(operation->heap_position == kNotInHeap);
    members_.push_back(operation);
    operation->heap_position = static_cast<uint32_t>(members_.size() - 1);
    SiftUp(members_.size() - 1);
  }

  void Remove(Operation* operation) {
    const size_t position = operation->heap_position;
    TAKT_CHECK(position < members_.size() && members_[position] == operation);
    operation->heap_position = kNotInHeap;
    Operation* last = members_.back();
    members_.pop_back();
    if (last == operation) return;
    Place(last, position);
    Update(last);
  }

  // After the rank of a member has changed.
  void Update(Operation* operation) {
    SiftUp(operation->heap_position);
    SiftDown(operation->heap_position);
  }

  // After the ranks of any members have changed.
  void Rebuild() {
    for (size_t i = members_.size() / 2; i-- > 0;) SiftDown(i);
  }

  void Reserve(size_t count) { members_.reserve(count); }

 private:
  void Place(Operation* operation, size_t position) {
    members_[position] = operation;
    operation->heap_position = static_cast<uint32_t>(position);
  }
  void SiftUp(size_t position) {
    Operation* operation = members_[position];
    while (position > 0) {
      const size_t parent = (position - 1) / 2;
      if (!(operation->rank < members_[parent]->rank)) break;
      Place(members_[parent], position);
      position = parent;
    }
    Place(operation, position);
  }
  void SiftDown(size_t position) {
    Operation* operation = members_[position];
    for (;;) {
      size_t child = 2 * position + 1;
      if (child >= members_.size()) break;
      if (child + 1 < members_.size() &&
          members_[child + 1]->rank < members_[child]->rank) {
        ++child;
      }
      if (!(members_[child]->rank < operation->rank)) break;
      Place(members_[child], position);
      position = child;
    }
    Place(operation, position);
  }

  std::vector<Operation*> members_;
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_OPERATION_HEAP_H_
