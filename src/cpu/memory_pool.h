// A MemoryPool gives buffers their memory, and keeps what comes back for the
// next of its size: queue-ordered allocations of a program that runs again and
// again cost a list operation each.
//
// Sizes are rounded up to classes, four to an octave, so at most a quarter is
// lost. Memory is aligned to hal::kBufferAlignment.
//
// Lifetime: storages hold the pool.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is a
// leaf; the system is asked without it.
#ifndef TAKT_CPU_MEMORY_POOL_H_
#define TAKT_CPU_MEMORY_POOL_H_

#include <array>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/memory_source.h"
#include "base/mutex.h"
#include "base/object.h"
#include "hal/buffer.h"
#include "hal/device.h"

namespace takt::cpu {

// A storage of a MemoryPool.
class PooledStorage;

class MemoryPool final : public Object {
 public:
  static constexpr ObjectType kType{"cpu.memory_pool"};
  static Ref<MemoryPool> Create(const MemorySource& source = MemorySource()) {
    return Ref<MemoryPool>::Adopt(new MemoryPool(source));
  }

  // A storage that has no memory until CommitStorage(). The object itself
  // lives in `blocks`.
  Ref<PooledStorage> ReserveStorage(uint64_t byte_length, BlockPool& blocks);
  // RESOURCE_EXHAUSTED, also after idle memory has been given back.
  absl::Status CommitStorage(PooledStorage& storage);
  // Both in one. The object comes from the system.
  absl::StatusOr<Ref<hal::Storage>> CreateStorage(uint64_t byte_length);

  hal::AllocationStatistics statistics() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Gives idle memory back to the system.
  void Trim() ABSL_LOCKS_EXCLUDED(mutex_);

  // What an allocation of `byte_length` takes; 0 if it is absurd.
  static uint64_t RoundedLength(uint64_t byte_length);

 private:
  friend class PooledStorage;
  static constexpr size_t kClassCount = 160;
  struct IdleBlock {  // In the first bytes of idle memory.
    IdleBlock* next;
  };

  explicit MemoryPool(const MemorySource& source)
      : Object(&kType), source_(source) {}
  ~MemoryPool() override { Trim(); }

  // nullptr if there is no memory.
  uint8_t* Allocate(uint64_t byte_length) ABSL_LOCKS_EXCLUDED(mutex_);
  void Free(uint8_t* memory, uint64_t byte_length) ABSL_LOCKS_EXCLUDED(mutex_);
  static size_t ClassOf(uint64_t byte_length, uint64_t* rounded);

  // The length of the blocks of a class: the inverse of ClassOf().
  static uint64_t ClassLength(size_t size_class);

  const MemorySource source_;
  mutable Mutex mutex_;
  std::array<IdleBlock*, kClassCount> idle_ ABSL_GUARDED_BY(mutex_){};
  hal::AllocationStatistics statistics_ ABSL_GUARDED_BY(mutex_);
};

class PooledStorage final : public hal::Storage {
 public:
  absl::StatusOr<Ref<hal::Storage>> CreateSibling() const override {
    return pool_->CreateStorage(byte_length());
  }

 private:
  friend class MemoryPool;
  PooledStorage(Ref<MemoryPool> pool, uint64_t byte_length)
      : Storage(nullptr, byte_length), pool_(std::move(pool)) {}
  ~PooledStorage() override {
    if (memory() != nullptr) FreeMemory(memory());
  }
  bool IsDiscardable() const override { return true; }
  void FreeMemory(uint8_t* memory) override {
    pool_->Free(memory, byte_length());
  }

  const Ref<MemoryPool> pool_;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_MEMORY_POOL_H_
