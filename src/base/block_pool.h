// A BlockPool recycles small blocks of memory, so that objects that live as
// long as one invocation need no system allocation once warm.
//
// It never waits: if another thread holds a shard of the pool, the next shard
// is tried, and at last the system. So a preempted thread cannot delay an
// urgent one.
//
// Lifetime: blocks may outlive the pool's owner. After Close() the pool deletes
// itself with its last block.
//
// Thread-safety: every method may run on any thread; Close() once, last.
#ifndef TAKT_BASE_BLOCK_POOL_H_
#define TAKT_BASE_BLOCK_POOL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#if defined(__has_feature)
#define TAKT_HAS_FEATURE_(feature) __has_feature(feature)
#else
#define TAKT_HAS_FEATURE_(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    TAKT_HAS_FEATURE_(address_sanitizer) ||                          \
    TAKT_HAS_FEATURE_(thread_sanitizer)
#define TAKT_IS_SANITIZED_ 1
#else
#define TAKT_IS_SANITIZED_ 0
#endif

namespace takt {

class BlockPool {
 public:
  static BlockPool* Create() { return new BlockPool; }
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // At least `bytes`, aligned to 16. Blocks of more than kMaxBlockBytes come
  // from the system. When the system has no memory left, the block is one of
  // the thread's SpareMemory; without that this throws std::bad_alloc, as `new`
  // does.
  void* Allocate(size_t bytes);
  static void* AllocateFromSystem(size_t bytes);

  // Returns `block` to its pool or to the system. NULL is a no-op.
  static void Free(void* block);

  // Gives every idle block back to the system.
  void Trim();

  // Drops the owner's hold: idle blocks are freed now, the others as they
  // come back, and the pool with the last of them.
  void Close();

  static constexpr size_t kMaxBlockBytes = 2048;
  // False under a sanitizer, which detects the misuse of a block only if the
  // block is really freed.
  static constexpr bool kRecycles = TAKT_IS_SANITIZED_ == 0;

 private:
  struct Header {         // Stands before every block.
    BlockPool* pool;      // NULL: from the system.
    uint32_t size_class;  // Index into Shard::free.
    uint32_t unused;
  };
  static_assert(sizeof(Header) == 16);
  struct FreeBlock {
    FreeBlock* next;
  };
  static constexpr size_t kClassBytes = 64;
  static constexpr size_t kClassCount = kMaxBlockBytes / kClassBytes;
  static constexpr size_t kShardCount = 8;
  static constexpr size_t kSpareCount = 3;
  struct alignas(64) Shard {
    std::atomic<bool> held{false};  // Taken by exchange; never waited for.
    int64_t outstanding = 0;  // Blocks given minus blocks taken back here.
    std::array<FreeBlock*, kClassCount> free{};
  };

  BlockPool() = default;
  ~BlockPool() = default;
  // A shard now held by this thread, or nullptr if all are busy.
  Shard* TryAcquire();
  // Moves the idle blocks of one class from another shard to `shard`, which
  // this thread holds and which has none. Else they would pile up in the shard
  // of a thread that only frees what other threads allocate.
  void TakeIdle(size_t size_class, Shard& shard);
  static size_t BytesOf(uint32_t size_class) {
    return sizeof(Header) + (size_class + 1) * kClassBytes;
  }
  // Makes a block of BytesOf() bytes. NULL: there is no memory for it.
  FreeBlock* MakeBlock(void* memory, uint32_t size_class);
  static void FreeMemory(Header* header);
  // Makes some more blocks than are needed now. If one thread allocates and
  // another frees, the idle blocks cannot be reached while the second one is
  // preempted in its shard.
  void AddSpares(uint32_t size_class);
  static void FreeIdleBlocks(Shard& shard);
  void Return(Header* header);
  // The rare parts of Return() and Allocate(), out of their way.
  [[gnu::noinline]] Shard& WaitForShard();
  [[gnu::noinline]] void ReturnAfterClose(Header* header, Shard& shard);
  // A block that was counted and could not be made.
  [[noreturn, gnu::noinline]] void FailAllocation();

  std::array<Shard, kShardCount> shards_;
  // Written by Close() while it holds every shard, read by a thread that holds
  // one.
  bool closed_ = false;
  // Once closed: the blocks still out, and Close() itself until it is done.
  // The thread that takes it to zero deletes the pool.
  std::atomic<int64_t> remaining_{0};
};

// Owns a pool: closes it when it goes out of scope.
struct BlockPoolCloser {
  void operator()(BlockPool* pool) const { pool->Close(); }
};
using UniqueBlockPool = std::unique_ptr<BlockPool, BlockPoolCloser>;

}  // namespace takt

#undef TAKT_HAS_FEATURE_
#undef TAKT_IS_SANITIZED_

#endif  // TAKT_BASE_BLOCK_POOL_H_
