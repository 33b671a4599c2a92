// SpareMemory is memory that was set aside while the system had some, for work
// that cannot stop halfway when the system has none: the decisions of a job
// shop. Its owner refuses new work with Provide() unless enough is left, and
// opens a Scope around the work that must end. Within the scope, containers
// with a SpareAllocator and block pools take from it what the system refuses.
//
//   spare.Provide(bytes);            // Throws std::bad_alloc.
//   ...
//   const SpareMemory::Scope scope(&spare);
//   decisions.push_back(decision);   // A SpareVector. Does not throw.
//
// What the system has, it gives first, so a scope costs two stores, and a block
// that is freed one load. A block of spare memory may outlive its owner.
//
// Thread-safety: every method may run on any thread. Lock order: the lock of
// all spare memory is a leaf.
#ifndef TAKT_BASE_SPARE_MEMORY_H_
#define TAKT_BASE_SPARE_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "base/exceptions.h"

namespace takt {

class SpareMemory {
 public:
  SpareMemory() = default;
  ~SpareMemory();
  SpareMemory(const SpareMemory&) = delete;
  SpareMemory& operator=(const SpareMemory&) = delete;

  // Sets memory aside until at least `bytes` are left. Throws std::bad_alloc if
  // the system has too little.
  void Provide(size_t bytes) {
    if (__builtin_expect(left() < bytes, 0)) Grow(bytes);
  }
  size_t left() const { return left_.load(std::memory_order_relaxed); }
  // The blocks that have been taken so far.
  uint64_t taken_count() const {
    return taken_count_.load(std::memory_order_relaxed);
  }

  // While it lives, its thread takes from `spare` what the system refuses.
  class Scope {
   public:
    explicit Scope(SpareMemory* spare) : outer_(Here()) { Here() = spare; }
    ~Scope() { Here() = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    SpareMemory* const outer_;
  };

  // Memory of the system; else of the scope, and if that has none left, of the
  // system again, for which a thread in a scope waits for a second. Throws
  // std::bad_alloc. Aligned to 16.
  static void* Allocate(size_t bytes);
  static void Free(void* block);

  // For memory that comes from another function of the system. Takes from the
  // scope; nullptr if there is none, or too little is left.
  static void* TakeHere(size_t bytes);
  // False if `block` is the system's.
  static bool GiveBack(void* block) {
    return __builtin_expect(out_count_.load(std::memory_order_relaxed) != 0,
                            0) &&
           GiveBackTaken(block);
  }

 private:
  struct Chunk;

  // The spare memory of this thread's innermost scope.
  static SpareMemory*& Here() {
    // This model spares a library the call of its loader at each access.
    [[gnu::tls_model("initial-exec")]] thread_local SpareMemory* here = nullptr;
    return here;
  }
  void Grow(size_t bytes);
  void* Take(size_t bytes);
  static bool GiveBackTaken(void* block);
  // The rest of `chunk` is not used any more. Returns it if it has no block in
  // use, and is to be freed.
  static Chunk* Retire(Chunk* chunk);
  static void Unlink(Chunk* chunk);

  // Of the process: the blocks in use, and all chunks.
  static std::atomic<size_t> out_count_;
  static Chunk* first_;

  std::atomic<size_t> left_{0};
  std::atomic<uint64_t> taken_count_{0};
  Chunk* chunk_ = nullptr;  // Under the lock of all spare memory.
};

template <typename T>
struct SpareAllocator {
  using value_type = T;
  static_assert(alignof(T) <= 16);

  SpareAllocator() = default;
  template <typename Other>
  SpareAllocator(const SpareAllocator<Other>&) {}  // NOLINT: a conversion.
  T* allocate(size_t count) {
    if (count > std::numeric_limits<size_t>::max() / sizeof(T)) ThrowBadAlloc();
    return static_cast<T*>(SpareMemory::Allocate(count * sizeof(T)));
  }
  void deallocate(T* block, size_t) { SpareMemory::Free(block); }
  template <typename Other>
  bool operator==(const SpareAllocator<Other>&) const {
    return true;
  }
};

template <typename T>
using SpareVector = std::vector<T, SpareAllocator<T>>;
template <typename T>
using SpareDeque = std::deque<T, SpareAllocator<T>>;

}  // namespace takt

#endif  // TAKT_BASE_SPARE_MEMORY_H_
