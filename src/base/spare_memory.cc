#include "base/spare_memory.h"

#include <time.h>

#include <new>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"

namespace takt {

struct alignas(16) SpareMemory::Chunk {
  Chunk* next = nullptr;         // Of all chunks.
  SpareMemory* owner = nullptr;  // Null: it gives no further blocks.
  size_t size = 0;               // In bytes, behind this header.
  size_t used = 0;
  size_t out_count = 0;  // Blocks in use.

  char* data() { return reinterpret_cast<char*>(this + 1); }
  bool Contains(const void* block) {
    const auto begin = reinterpret_cast<uintptr_t>(data());
    return reinterpret_cast<uintptr_t>(block) - begin < size;
  }
};

namespace {

constexpr size_t kAlignment = 16;

// How often a thread in a scope asks the system again, and the time between.
constexpr int kAskCount = 1000;
constexpr long kAskNs = 1'000'000;

constinit Mutex mutex;

constexpr size_t RoundUp(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

constinit std::atomic<size_t> SpareMemory::out_count_{0};
constinit SpareMemory::Chunk* SpareMemory::first_ = nullptr;

SpareMemory::~SpareMemory() {
  Chunk* unused = nullptr;
  {
    MutexLock lock(&mutex);
    unused = Retire(std::exchange(chunk_, nullptr));
  }
  ::operator delete(unused);
}

void SpareMemory::Unlink(Chunk* chunk) {
  Chunk** link = &first_;
  while (*link != chunk) link = &(*link)->next;
  *link = chunk->next;
}

SpareMemory::Chunk* SpareMemory::Retire(Chunk* chunk) {
  if (chunk == nullptr) return nullptr;
  chunk->owner = nullptr;
  if (chunk->out_count != 0) return nullptr;
  Unlink(chunk);
  return chunk;
}

void SpareMemory::Grow(size_t bytes) {
  const size_t size = RoundUp(bytes);
  void* const memory = size < bytes
                           ? nullptr
                           : ::operator new(sizeof(Chunk) + size, std::nothrow);
  if (memory == nullptr) ThrowBadAlloc();
  auto* unused = new (memory) Chunk;
  {
    MutexLock lock(&mutex);
    if (left() < bytes) {  // No other thread has been here meanwhile.
      Chunk* const fresh = unused;
      fresh->size = size;
      fresh->owner = this;
      fresh->next = std::exchange(first_, fresh);
      unused = Retire(std::exchange(chunk_, fresh));
      left_.store(size, std::memory_order_relaxed);
    }
  }
  ::operator delete(unused);
}

void* SpareMemory::Take(size_t bytes) {
  const size_t size = RoundUp(bytes == 0 ? 1 : bytes);
  MutexLock lock(&mutex);
  if (size < bytes || size > left()) return nullptr;
  TAKT_CHECK(chunk_->size - chunk_->used == left());
  void* const block = chunk_->data() + chunk_->used;
  chunk_->used += size;
  ++chunk_->out_count;
  left_.store(left() - size, std::memory_order_relaxed);
  out_count_.fetch_add(1, std::memory_order_relaxed);
  taken_count_.fetch_add(1, std::memory_order_relaxed);
  return block;
}

bool SpareMemory::GiveBackTaken(void* block) {
  Chunk* unused = nullptr;
  {
    MutexLock lock(&mutex);
    Chunk* chunk = first_;
    while (chunk != nullptr && !chunk->Contains(block)) chunk = chunk->next;
    if (chunk == nullptr) return false;
    TAKT_CHECK(chunk->out_count > 0);
    --chunk->out_count;
    out_count_.fetch_sub(1, std::memory_order_relaxed);
    if (chunk->owner == nullptr) {
      unused = Retire(chunk);
    } else if (chunk->out_count == 0) {
      chunk->used = 0;
      chunk->owner->left_.store(chunk->size, std::memory_order_relaxed);
    }
  }
  ::operator delete(unused);
  return true;
}

void* SpareMemory::TakeHere(size_t bytes) {
  return Here() != nullptr ? Here()->Take(bytes) : nullptr;
}

void* SpareMemory::Allocate(size_t bytes) {
  void* block = ::operator new(bytes, std::nothrow);
  if (block == nullptr) block = TakeHere(bytes);
  for (int i = 0; block == nullptr && Here() != nullptr && i < kAskCount; ++i) {
    const timespec time{0, kAskNs};
    nanosleep(&time, nullptr);
    block = ::operator new(bytes, std::nothrow);
  }
  if (block == nullptr) ThrowBadAlloc();
  return block;
}

void SpareMemory::Free(void* block) {
  if (!GiveBack(block)) ::operator delete(block);
}

}  // namespace takt
