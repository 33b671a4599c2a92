#include "cpu/memory_pool.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/lean_error.h"
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
constexpr uint64_t kPageBytes = 4096;
// More than any machine has, and far from overflow.
constexpr uint64_t kMaxLength = uint64_t{1} << 44;
// Under a budget, from here on lengths are rounded to pages.
constexpr uint64_t kWholePages = uint64_t{256} << 10;
// The number of blocks of a class that are searched for one of the exact
// capacity.
constexpr int kSearchDepth = 16;

std::unique_ptr<MemoryBudget> CreateBudget(const MemoryPool::Options& options) {
  if (options.budget_bytes == MemoryPool::kNoLimit) return nullptr;
  return std::make_unique<MemoryBudget>(
      std::min(options.budget_bytes, kMaxLength), options.stall_ns,
      options.timers);
}

}  // namespace

MemoryPool::MemoryPool(const Options& options)
    : Object(&kType),
      source_(options.source),
      idle_bytes_max_(options.idle_bytes_max),
      idle_ns_(options.idle_ns),
      timers_(options.timers),
      budget_(CreateBudget(options)) {
  if (budget_ != nullptr) budget_->SetOwner(this);
  timer_.pool = this;
  timer_.fire = [](TimerService::Timer* timer) {
    static_cast<IdleTimer*>(timer)->pool->OnTimer();
  };
}

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

uint64_t MemoryPool::CapacityOf(uint64_t byte_length,
                                size_t* size_class) const {
  uint64_t rounded = 0;
  *size_class = ClassOf(byte_length, &rounded);
  if (budget_ == nullptr) return rounded;
  return AlignUp(std::max<uint64_t>(byte_length, 1),
                 byte_length >= kWholePages ? kPageBytes : kUnit);
}

uint64_t MemoryPool::Charge(uint64_t byte_length) const {
  size_t size_class = 0;
  return CapacityOf(byte_length, &size_class);
}

absl::Status MemoryPool::CheckLength(uint64_t byte_length) const {
  if (byte_length > kMaxLength) {
    return absl::ResourceExhaustedError(absl::StrCat(
        byte_length, " bytes are more than any device has (at most ",
        kMaxLength, ")"));
  }
  if (budget_ == nullptr || Charge(byte_length) <= budget_->bytes()) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat(byte_length, " bytes are more than the device's budget of ",
                   budget_->bytes()));
}

MemoryPool::IdleBlock* MemoryPool::TakeIdle(size_t size_class,
                                            uint64_t capacity) {
  IdleClass& idle = idle_[size_class];
  IdleBlock** link = &idle.first;
  for (int depth = 0; *link != nullptr && depth < kSearchDepth; ++depth) {
    IdleBlock* const block = *link;
    if (block->capacity == capacity) {
      *link = block->next;
      --idle.count;
      idle.count_min = std::min(idle.count_min, idle.count);
      statistics_.bytes_idle -= capacity;
      return block;
    }
    link = &block->next;
  }
  return nullptr;
}

uint8_t* MemoryPool::Allocate(uint64_t byte_length) {
  if (byte_length > kMaxLength) return nullptr;
  size_t size_class = 0;
  const uint64_t capacity = CapacityOf(byte_length, &size_class);
  IdleBlock* in_the_way = nullptr;
  {
    MutexLock lock(&mutex_);
    if (IdleBlock* block = TakeIdle(size_class, capacity)) {
      TAKT_UNPOISON(block, capacity);
      statistics_.bytes_reserved += byte_length;
      ++statistics_.allocation_count;
      return reinterpret_cast<uint8_t*>(block);
    }
    // A granted allocation fits when no memory is idle.
    if (budget_ != nullptr && statistics_.bytes_idle > 0 &&
        statistics_.bytes_committed + capacity > budget_->bytes()) {
      in_the_way = TakeAllIdle();
    }
    statistics_.bytes_committed += capacity;
  }
  FreeBlocks(in_the_way);
  void* memory = source_.allocate(source_.user_data, capacity, kUnit);
  if (memory == nullptr) {
    Trim();
    memory = source_.allocate(source_.user_data, capacity, kUnit);
  }
  MutexLock lock(&mutex_);
  if (memory == nullptr) {
    statistics_.bytes_committed -= capacity;
    return nullptr;
  }
  statistics_.bytes_reserved += byte_length;
  statistics_.bytes_peak =
      std::max(statistics_.bytes_peak, statistics_.bytes_committed);
  ++statistics_.allocation_count;
  return static_cast<uint8_t*>(memory);
}

void MemoryPool::Free(uint8_t* memory, uint64_t byte_length) {
  size_t size_class = 0;
  const uint64_t capacity = CapacityOf(byte_length, &size_class);
  auto* block = reinterpret_cast<IdleBlock*>(memory);
  block->next = nullptr;
  block->capacity = capacity;
  bool is_kept = false;
  bool start_timer = false;
  {
    MutexLock lock(&mutex_);
    statistics_.bytes_reserved -= byte_length;
    is_kept = !is_retired_ && capacity <= idle_bytes_max_ &&
              statistics_.bytes_idle <= idle_bytes_max_ - capacity;
    if (is_kept) {
      IdleClass& idle = idle_[size_class];
      block->next = idle.first;
      idle.first = block;
      ++idle.count;
      statistics_.bytes_idle += capacity;
      TAKT_POISON(memory + sizeof(IdleBlock), capacity - sizeof(IdleBlock));
      start_timer = idle_ns_ != kInfiniteFuture && !is_timed_;
      if (start_timer) is_timed_ = true;
    } else {
      statistics_.bytes_committed -= capacity;
    }
  }
  if (!is_kept) source_.free(source_.user_data, memory, capacity, kUnit);
  if (start_timer) {
    Retain();
    timers_->Arm(&timer_, DeadlineAfter(NowNs(), idle_ns_));
  }
  if (budget_ != nullptr) budget_->GiveBack(capacity);
}

MemoryPool::IdleBlock* MemoryPool::TakeAfter(IdleClass& idle, uint64_t kept,
                                             IdleBlock* taken) {
  IdleBlock** link = &idle.first;
  for (uint64_t i = 0; i < kept; ++i) link = &(*link)->next;
  IdleBlock* block = std::exchange(*link, nullptr);
  while (block != nullptr) {
    IdleBlock* const next = block->next;
    statistics_.bytes_committed -= block->capacity;
    statistics_.bytes_idle -= block->capacity;
    block->next = taken;
    taken = block;
    block = next;
  }
  idle.count = kept;
  idle.count_min = kept;
  return taken;
}

MemoryPool::IdleBlock* MemoryPool::TakeAllIdle() {
  IdleBlock* taken = nullptr;
  for (IdleClass& idle : idle_) taken = TakeAfter(idle, 0, taken);
  return taken;
}

MemoryPool::IdleBlock* MemoryPool::TakeUnneeded() {
  IdleBlock* taken = nullptr;
  for (IdleClass& idle : idle_) {
    taken = TakeAfter(idle, idle.count - idle.count_min, taken);
  }
  return taken;
}

void MemoryPool::FreeBlocks(IdleBlock* first) {
  while (first != nullptr) {
    IdleBlock* const block = std::exchange(first, first->next);
    const uint64_t capacity = block->capacity;
    TAKT_UNPOISON(block, capacity);
    source_.free(source_.user_data, block, capacity, kUnit);
  }
}

void MemoryPool::OnTimer() {
  IdleBlock* unneeded = nullptr;
  bool goes_on = false;
  {
    MutexLock lock(&mutex_);
    unneeded = TakeUnneeded();
    goes_on = statistics_.bytes_idle > 0;
    is_timed_ = goes_on;
  }
  FreeBlocks(unneeded);
  if (goes_on) {
    timers_->Arm(&timer_, DeadlineAfter(NowNs(), idle_ns_));
  } else {
    Release();  // Perhaps the last.
  }
}

void MemoryPool::Trim() {
  IdleBlock* idle = nullptr;
  {
    MutexLock lock(&mutex_);
    idle = TakeAllIdle();
  }
  FreeBlocks(idle);
}

void MemoryPool::Retire() {
  {
    MutexLock lock(&mutex_);
    is_retired_ = true;
  }
  Trim();
  if (budget_ != nullptr) budget_->Retire();
  if (timers_ == nullptr || !timers_->Cancel(&timer_)) return;
  {
    MutexLock lock(&mutex_);
    is_timed_ = false;
  }
  Release();
}

absl::Status MemoryPool::Prepare(absl::Span<const uint64_t> byte_lengths) {
  // All are allocated before the first is freed, so that each has memory of its
  // own.
  std::vector<Ref<hal::Storage>> storages;
  for (const uint64_t byte_length : byte_lengths) {
    TAKT_ASSIGN_OR_RETURN(Ref<hal::Storage> storage,
                          CreateStorage(byte_length));
    volatile uint8_t* const data = storage->data();
    for (uint64_t i = 0; i < byte_length; i += kPageBytes) data[i] = 0;
    storages.push_back(std::move(storage));
  }
  return absl::OkStatus();
}

hal::AllocationStatistics MemoryPool::statistics() const {
  hal::AllocationStatistics statistics;
  {
    MutexLock lock(&mutex_);
    statistics = statistics_;
  }
  if (budget_ == nullptr) return statistics;
  const MemoryBudget::Statistics waits = budget_->statistics();
  statistics.bytes_budget = budget_->bytes();
  statistics.bytes_waiting = waits.bytes_waiting;
  statistics.waiting_count = waits.waiting_count;
  statistics.wait_count = waits.wait_count;
  return statistics;
}

Ref<PooledStorage> MemoryPool::ReserveStorage(uint64_t byte_length,
                                              BlockPool& blocks) {
  return Ref<PooledStorage>::Adopt(
      new (blocks) PooledStorage(Ref<MemoryPool>::Retain(this), byte_length));
}

absl::Status MemoryPool::CommitStorage(PooledStorage& storage) {
  const uint64_t byte_length = storage.byte_length();
  TAKT_RETURN_IF_ERROR(CheckLength(byte_length));
  if (budget_ != nullptr && !budget_->TryTake(Charge(byte_length))) {
    const MemoryBudget::Statistics statistics = budget_->statistics();
    return absl::ResourceExhaustedError(absl::StrCat(
        "no room for ", byte_length, " bytes now: ", statistics.bytes_in_use,
        " of the device's budget of ", budget_->bytes(), " are in use"));
  }
  return CommitGranted(storage);
}

absl::Status MemoryPool::CommitGranted(PooledStorage& storage) {
  uint8_t* memory = Allocate(storage.byte_length());
  if (memory == nullptr) {
    if (budget_ != nullptr) budget_->GiveBack(Charge(storage.byte_length()));
    return LeanError(absl::StatusCode::kResourceExhausted, [&] {
      return absl::StrCat("the system has no ", storage.byte_length(),
                          " bytes left");
    });
  }
  // Threads that may pin a storage of the pool have a reference of their own.
  if (storage.IsUnique()) {
    storage.CommitAlone(memory);
  } else {
    storage.Commit(memory);
  }
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
