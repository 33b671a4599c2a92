// An IntrusiveHeap keeps pointers in an order of their objects. It is a binary
// heap whose members know their positions, so that any member can be removed.
//
// `Traits` defines the order, and the place of an object's position: static
//   bool Before(const T& a, const T& b); static Position& PositionOf(T&
//   object); // kOutside while in no heap.
//
// Thread-safety: none.
#ifndef TAKT_BASE_INTRUSIVE_HEAP_H_
#define TAKT_BASE_INTRUSIVE_HEAP_H_

#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/spare_memory.h"

namespace takt {

template <typename T, typename Traits>
class IntrusiveHeap {
 public:
  using Position =
      std::remove_reference_t<decltype(Traits::PositionOf(std::declval<T&>()))>;
  static constexpr Position kOutside = std::numeric_limits<Position>::max();

  bool empty() const { return members_.empty(); }
  size_t size() const { return members_.size(); }
  T* top() const { return members_[0]; }
  // The members, in no particular order.
  const SpareVector<T*>& members() const { return members_; }

  // `object` is in no heap.
  void Push(T* object) {
    TAKT_CHECK(Traits::PositionOf(*object) == kOutside);
    members_.push_back(object);
    SiftUp(members_.size() - 1);
  }

  // `object` is in this heap.
  void Remove(T* object) {
    const size_t position = Traits::PositionOf(*object);
    TAKT_CHECK(position < members_.size() && members_[position] == object);
    Traits::PositionOf(*object) = kOutside;
    T* last = members_.back();
    members_.pop_back();
    if (last == object) return;
    Place(last, position);
    Update(last);
  }

  // Call it after a member's place in the order has changed.
  void Update(T* object) {
    SiftUp(Traits::PositionOf(*object));
    SiftDown(Traits::PositionOf(*object));
  }

  // Call it after the places of several members have changed.
  void Rebuild() {
    for (size_t i = members_.size() / 2; i-- > 0;) SiftDown(i);
  }

  void Reserve(size_t count) { members_.reserve(count); }

 private:
  void Place(T* object, size_t position) {
    members_[position] = object;
    Traits::PositionOf(*object) = static_cast<Position>(position);
  }
  void SiftUp(size_t position) {
    T* object = members_[position];
    while (position > 0) {
      const size_t parent = (position - 1) / 2;
      if (!Traits::Before(*object, *members_[parent])) break;
      Place(members_[parent], position);
      position = parent;
    }
    Place(object, position);
  }
  void SiftDown(size_t position) {
    T* object = members_[position];
    for (;;) {
      size_t child = 2 * position + 1;
      if (child >= members_.size()) break;
      if (child + 1 < members_.size() &&
          Traits::Before(*members_[child + 1], *members_[child])) {
        ++child;
      }
      if (!Traits::Before(*members_[child], *object)) break;
      Place(members_[child], position);
      position = child;
    }
    Place(object, position);
  }

  SpareVector<T*> members_;
};

}  // namespace takt

#endif  // TAKT_BASE_INTRUSIVE_HEAP_H_
