// An Object can have more than one owner: a module, a buffer, a fence, a list.
// It has a reference count, and a type by which the VM checks ref registers;
// there is no RTTI.
//
// Storage: an object made with `new (pool) T` returns its block to that pool
// when the last reference goes; one made with plain `new` goes back to the
// system. Both die through `delete`, so owners need not know which.
//
// Thread-safety: retain and release may run on any thread.
#ifndef TAKT_BASE_OBJECT_H_
#define TAKT_BASE_OBJECT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/block_pool.h"
#include "base/check.h"
#include "base/ref.h"

namespace takt {

// Identity of an object type: compared by address, printed by name. Instances
// are constants with static storage, or owned by the module that registered
// them, which then outlives its objects.
struct ObjectType {
  const char* name;  // Such as "hal.buffer"; NUL-terminated.

  // Returns the object that a second context gets in place of `object`, which
  // the initializers left in the first one: `object` itself if it never
  // changes, else a copy. The caller gets one reference. If the function or its
  // result is nullptr, no such object is known, and the second context runs its
  // own initializers.
  class Object* (*clone)(class Object& object,
                         class CloneMap& clones) = nullptr;
};

class Object {
 public:
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  const ObjectType* type() const { return type_; }

  void Retain() const {
    // Relaxed: a new reference is only ever made from a live one.
    references_.fetch_add(1, std::memory_order_relaxed);
  }
  void Release() const {
    // Release pairs with the acquire of the thread that drops the last
    // reference, so that it sees every write made through the others.
    if (references_.load(std::memory_order_acquire) == 1 ||
        references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete this;
    }
  }
  // True if the caller holds the only reference. Then no other thread can make
  // another one, so the answer stays true.
  bool IsUnique() const {
    return references_.load(std::memory_order_acquire) == 1;
  }
  int32_t reference_count() const {
    return references_.load(std::memory_order_relaxed);
  }

  static void* operator new(size_t bytes) {
    return BlockPool::AllocateFromSystem(bytes);
  }
  static void* operator new(size_t bytes, BlockPool& pool) {
    return pool.Allocate(bytes);
  }
  static void operator delete(void* block) { BlockPool::Free(block); }
  static void operator delete(void* block, BlockPool&) {
    BlockPool::Free(block);
  }

 protected:
  explicit Object(const ObjectType* type) : type_(type) {}
  virtual ~Object() = default;

 private:
  mutable std::atomic<int32_t> references_{1};
  const ObjectType* const type_;
};

// The copies made so far while a set of objects is cloned, so that two objects
// that share mutable state share its copy. A key is the object that was copied,
// or its storage.
class CloneMap {
 public:
  // Borrowed; nullptr if `original` has no copy yet.
  Object* Find(const void* original) const {
    for (const Entry& entry : entries_) {
      if (entry.original == original) return entry.copy.get();
    }
    return nullptr;
  }
  void Add(const void* original, Ref<Object> copy) {
    entries_.push_back({original, std::move(copy)});
  }

 private:
  struct Entry {
    const void* original;
    Ref<Object> copy;
  };
  std::vector<Entry> entries_;
};

// A `clone` for types whose objects never change.
inline Object* CloneIsSame(Object& object, CloneMap&) {
  object.Retain();
  return &object;
}

// `object` as a T, or nullptr if it is null or of another type. T names its
// type as T::kType.
template <typename T>
T* DynCast(Object* object) {
  return object != nullptr && object->type() == &T::kType
             ? static_cast<T*>(object)
             : nullptr;
}

}  // namespace takt

#endif  // TAKT_BASE_OBJECT_H_
