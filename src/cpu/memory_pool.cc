#include "cpu/memory_pool.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/math.h"
#include "base/status.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define TAKT_POISON(memory, bytes) ASAN_POISON_MEMORY_REGION(memory, bytes)
#define TAKT_UNPOISON(memory, bytes) ASAN_UNPOISON_MEMORY_REGION(memory, bytes)
#else
#define TAKT_POISON(memory, bytes) static_cast<void>(0)
#define TAKT_UNPOISON(memory, bytes) static_cast<void>(0)
#endif

namespace takt::cpu {
namespace {

constexpr uint64_t kUnit = hal::kBufferAlignment;
// More than any machine has, and far from overflow.
constexpr uint64_t kMaxLength = uint64_t{1} << 44;

}  // namespace

size_t MemoryPool::ClassOf(uint64_t byte_length, uint64_t* rounded) {
  const uint64_t units =
      std::max<uint64_t>((byte_length + kUnit - 1) / kUnit, 1);
  if (units <= 8) {
    *rounded = units * kUnit;
    return static_cast<size_t>(units - 1);
  }
  // 2^octave < units <= 2^(octave + 1), in four steps.
  const int octave = 63 - __builtin_clzll(units - 1);
  const int shift = octave - 2;
  const uint64_t steps = (units + (uint64_t{1} << shift) - 1) >> shift;  // 5..8
  *rounded = (steps << shift) * kUnit;
  return static_cast<size_t>(8 + (octave - 3) * 4 + static_cast<int>(steps) -
                             5);
}

uint64_t MemoryPool::RoundedLength(uint64_t byte_length) {
  if (byte_length > kMaxLength) return 0;
  uint64_t rounded = 0;
  TAKT_DCHECK(ClassOf(byte_length, &rounded) < kClassCount);
  ClassOf(byte_length, &rounded);
  return rounded;
}

uint8_t* MemoryPool::Allocate(uint64_t byte_length) {
  if (byte_length > kMaxLength) return nullptr;
  uint64_t rounded = 0;
  const size_t size_class = ClassOf(byte_length, &rounded);
  {
    MutexLock lock(&mutex_);
    if (IdleBlock* block = idle_[size_class]) {
      TAKT_UNPOISON(block, rounded);
      idle_[size_class] = block->next;
      statistics_.bytes_reserved += byte_length;
      ++statistics_.allocation_count;
      return reinterpret_cast<uint8_t*>(block);
    }
  }
  void* memory = source_.allocate(source_.user_data, rounded, kUnit);
  if (memory == nullptr) {
    Trim();
    memory = source_.allocate(source_.user_data, rounded, kUnit);
    if (memory == nullptr) return nullptr;
  }
  MutexLock lock(&mutex_);
  statistics_.bytes_reserved += byte_length;
  statistics_.bytes_committed += rounded;
  statistics_.bytes_peak =
      std::max(statistics_.bytes_peak, statistics_.bytes_committed);
  ++statistics_.allocation_count;
  return static_cast<uint8_t*>(memory);
}

void MemoryPool::Free(uint8_t* memory, uint64_t byte_length) {
  uint64_t rounded = 0;
  const size_t size_class = ClassOf(byte_length, &rounded);
  auto* block = reinterpret_cast<IdleBlock*>(memory);
  MutexLock lock(&mutex_);
  block->next = idle_[size_class];
  idle_[size_class] = block;
  TAKT_POISON(memory, rounded);
  statistics_.bytes_reserved -= byte_length;
}

uint64_t MemoryPool::ClassLength(size_t size_class) {
  const uint64_t steps =
      size_class < 8 ? size_class + 1 : (size_class - 8) % 4 + 5;
  const size_t shift = size_class < 8 ? 0 : (size_class - 8) / 4 + 1;
  return (steps << shift) * kUnit;
}

void MemoryPool::Trim() {
  std::array<IdleBlock*, kClassCount> idle{};
  {
    MutexLock lock(&mutex_);
    idle.swap(idle_);
    for (size_t i = 0; i < kClassCount; ++i) {
      for (IdleBlock* block = idle[i]; block != nullptr; block = block->next) {
        TAKT_UNPOISON(block, ClassLength(i));
        statistics_.bytes_committed -= ClassLength(i);
      }
    }
  }
  for (size_t i = 0; i < kClassCount; ++i) {
    while (idle[i] != nullptr) {
      source_.free(source_.user_data, std::exchange(idle[i], idle[i]->next),
                   ClassLength(i), kUnit);
    }
  }
}

hal::AllocationStatistics MemoryPool::statistics() const {
  MutexLock lock(&mutex_);
  return statistics_;
}

Ref<PooledStorage> MemoryPool::ReserveStorage(uint64_t byte_length,
                                              BlockPool& blocks) {
  return Ref<PooledStorage>::Adopt(
      new (blocks) PooledStorage(Ref<MemoryPool>::Retain(this), byte_length));
}

absl::Status MemoryPool::CommitStorage(PooledStorage& storage) {
  uint8_t* memory = Allocate(storage.byte_length());
  if (memory == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the system has no ", storage.byte_length(), " bytes left"));
  }
  storage.Commit(memory);
  return absl::OkStatus();
}

absl::StatusOr<Ref<hal::Storage>> MemoryPool::CreateStorage(
    uint64_t byte_length) {
  auto storage = Ref<PooledStorage>::Adopt(
      new PooledStorage(Ref<MemoryPool>::Retain(this), byte_length));
  TAKT_RETURN_IF_ERROR(CommitStorage(*storage));
  return Ref<hal::Storage>(std::move(storage));
}

}  // namespace takt::cpu
