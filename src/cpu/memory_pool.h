// A MemoryPool provides the memory of buffers, and keeps freed memory for the
// next allocation of its size: a queue-ordered allocation of a program that
// runs repeatedly costs a list operation.
//
// Sizes are rounded up to classes, four to an octave, so at most a quarter is
// lost; under a budget only to units, and large ones to pages, so that what
// fits by its numbers fits. Memory is aligned to hal::kBufferAlignment.
//
// Idle memory is returned to the system by Trim(); at once if it exceeds
// `idle_bytes_max`; when a budget needs it for other sizes; and when it has not
// been used for `idle_ns`.
//
// Lifetime: storages hold the pool, and so does its timer while there is idle
// memory to look after.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is a
// leaf; the system is asked without it.
#ifndef TAKT_CPU_MEMORY_POOL_H_
#define TAKT_CPU_MEMORY_POOL_H_

#include <array>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "base/memory_source.h"
#include "base/mutex.h"
#include "base/object.h"
#include "base/timer_service.h"
#include "cpu/memory_budget.h"
#include "hal/buffer.h"
#include "hal/device.h"

namespace takt::cpu {

// A storage of a MemoryPool.
class PooledStorage;

class MemoryPool final : public Object {
 public:
  static constexpr ObjectType kType{"cpu.memory_pool"};
  static constexpr uint64_t kNoLimit = ~uint64_t{0};
  struct Options {
    MemorySource source;
    // The largest amount of memory, in use and idle together. Not 0.
    uint64_t budget_bytes = kNoLimit;
    // The largest amount of idle memory, and the time for which it is kept. The
    // pool checks once in that time, so memory stays for up to twice as long.
    uint64_t idle_bytes_max = kNoLimit;
    int64_t idle_ns = kInfiniteFuture;
    // The budget's limit of the time without progress while requests wait.
    int64_t stall_ns = kInfiniteFuture;
    // Needed if idle_ns or stall_ns is not kInfiniteFuture.
    std::shared_ptr<TimerService> timers;
  };
  static Ref<MemoryPool> Create(const Options& options) {
    return Ref<MemoryPool>::Adopt(new MemoryPool(options));
  }
  static Ref<MemoryPool> Create() { return Create(Options()); }

  // nullptr: there is no limit.
  MemoryBudget* budget() const { return budget_.get(); }

  // A storage that has no memory until it is committed. The object itself
  // lives in `blocks`.
  Ref<PooledStorage> ReserveStorage(uint64_t byte_length, BlockPool& blocks);
  // RESOURCE_EXHAUSTED, also after idle memory has been given back: the budget
  // has no room now, or the system has no memory.
  absl::Status CommitStorage(PooledStorage& storage);
  // The same with Charge() bytes that the budget has granted; on error they
  // are given back.
  absl::Status CommitGranted(PooledStorage& storage);
  // Reserves and commits a storage. The object comes from the system.
  absl::StatusOr<Ref<hal::Storage>> CreateStorage(uint64_t byte_length);

  // OK if an allocation of this length can ever succeed. RESOURCE_EXHAUSTED
  // names the length and the limit.
  absl::Status CheckLength(uint64_t byte_length) const;
  // The bytes that an allocation of a checked length takes from the budget.
  uint64_t Charge(uint64_t byte_length) const;

  // hal::Device::PrepareMemory().
  absl::Status Prepare(absl::Span<const uint64_t> byte_lengths);

  hal::AllocationStatistics statistics() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Gives idle memory back to the system.
  void Trim() ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns idle memory to the system; no allocation will follow. Memory that
  // becomes idle later is returned at once.
  void Retire() ABSL_LOCKS_EXCLUDED(mutex_);

  // An allocation of `byte_length` in its class; 0 if it is absurd.
  static uint64_t RoundedLength(uint64_t byte_length);

 private:
  friend class PooledStorage;
  static constexpr size_t kClassCount = 160;
  struct IdleBlock {  // In the first bytes of idle memory.
    IdleBlock* next;
    uint64_t capacity;
  };
  struct IdleClass {
    IdleBlock* first = nullptr;  // The last one to come back.
    uint64_t count = 0;
    uint64_t count_min = 0;  // Since the timer was here.
  };
  struct IdleTimer : TimerService::Timer {
    MemoryPool* pool = nullptr;
  };

  explicit MemoryPool(const Options& options);
  ~MemoryPool() override { Trim(); }

  // nullptr if there is no memory. The caller has asked the budget.
  uint8_t* Allocate(uint64_t byte_length) ABSL_LOCKS_EXCLUDED(mutex_);
  void Free(uint8_t* memory, uint64_t byte_length) ABSL_LOCKS_EXCLUDED(mutex_);
  // The length of the memory that an allocation gets.
  uint64_t CapacityOf(uint64_t byte_length, size_t* size_class) const;
  IdleBlock* TakeIdle(size_t size_class, uint64_t capacity)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // All idle blocks, or those that no allocation took since the timer last
  // fired.
  IdleBlock* TakeAllIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  IdleBlock* TakeUnneeded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes the blocks after the first `kept` of a class, in front of `taken`.
  IdleBlock* TakeAfter(IdleClass& idle, uint64_t kept, IdleBlock* taken)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FreeBlocks(IdleBlock* first);
  void OnTimer() ABSL_LOCKS_EXCLUDED(mutex_);
  static size_t ClassOf(uint64_t byte_length, uint64_t* rounded);

  const MemorySource source_;
  const uint64_t idle_bytes_max_;
  const int64_t idle_ns_;
  const std::shared_ptr<TimerService> timers_;
  const std::unique_ptr<MemoryBudget> budget_;  // May be null.

  mutable Mutex mutex_;
  std::array<IdleClass, kClassCount> idle_ ABSL_GUARDED_BY(mutex_);
  hal::AllocationStatistics statistics_ ABSL_GUARDED_BY(mutex_);
  bool is_retired_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_timed_ ABSL_GUARDED_BY(mutex_) = false;  // timer_ holds a reference.
  IdleTimer timer_;
};

class PooledStorage final : public hal::Storage {
 public:
  absl::StatusOr<Ref<hal::Storage>> CreateSibling() const override {
    return pool_->CreateStorage(byte_length());
  }
  const Object* home() const override { return pool_.get(); }

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
