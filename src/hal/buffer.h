// A Buffer is a byte range of one Storage. Ranges of ranges point at the same
// storage, so aliasing is a matter of comparing storages.
//
// Queue-ordered memory: a storage may be without memory until its allocation's
// signal fence is reached, and after its deallocation. Buffers over it can be
// made, recorded and passed on before that; addresses are resolved when work
// executes, never when it is recorded.
//
// Thread-safety: every method may run on any thread; the bytes are ordered by
// fences.
#ifndef TAKT_HAL_BUFFER_H_
#define TAKT_HAL_BUFFER_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/memory_account.h"
#include "base/object.h"

namespace takt::hal {

class Device;

// Bit sets of the compiler's HAL ABI (spec: enums 2.2, 2.3, 2.4).
using MemoryType = uint32_t;
inline constexpr MemoryType kMemoryTypeOptimal = 0x01;
inline constexpr MemoryType kMemoryTypeHostVisible = 0x02;
inline constexpr MemoryType kMemoryTypeHostCoherent = 0x04;
inline constexpr MemoryType kMemoryTypeHostCached = 0x08;
inline constexpr MemoryType kMemoryTypeDeviceVisible = 0x10;
inline constexpr MemoryType kMemoryTypeDeviceLocal = 0x30;
inline constexpr MemoryType kMemoryTypeHostLocal = 0x46;
inline constexpr MemoryType kMemoryTypeAll = 0x7f;

using BufferUsage = uint32_t;
inline constexpr BufferUsage kUsageTransferSource = 1u << 0;
inline constexpr BufferUsage kUsageTransferTarget = 1u << 1;
inline constexpr BufferUsage kUsageIndirectParameters = 1u << 8;
inline constexpr BufferUsage kUsageUniformRead = 1u << 9;
inline constexpr BufferUsage kUsageStorageRead = 1u << 10;
inline constexpr BufferUsage kUsageStorageWrite = 1u << 11;
inline constexpr BufferUsage kUsageImmutable = 1u << 19;
inline constexpr BufferUsage kUsageMappingScoped = 1u << 24;
inline constexpr BufferUsage kUsageMappingPersistent = 1u << 25;
inline constexpr BufferUsage kUsageMappingRandom = 1u << 27;
inline constexpr BufferUsage kUsageTransferAndStorage = 0xc03;

using MemoryAccess = uint16_t;
inline constexpr MemoryAccess kAccessRead = 1;
inline constexpr MemoryAccess kAccessWrite = 2;
inline constexpr MemoryAccess kAccessAll = 3;

// Buffers start at multiples of this, because compiled kernels rely on it.
inline constexpr uint64_t kBufferAlignment = 64;
// A length that stands for the rest of the buffer.
inline constexpr uint64_t kWholeBuffer = ~uint64_t{0};

// The memory of buffers: made by a device's allocator, or memory with another
// owner.
//
// Running work pins the storages that it uses. Memory that is discarded
// meanwhile is freed with the last pin. So a program that frees memory too
// early gets an error or old bytes, and never the bytes of another program.
class Storage : public Object {
 public:
  // The first byte; nullptr while there is no memory. Not nullptr for a
  // storage of no bytes that has been allocated.
  uint8_t* data() const { return data_.load(std::memory_order_acquire); }
  uint64_t byte_length() const { return byte_length_; }

  // data() that stays valid until Unpin(); nullptr, and nothing to unpin,
  // while there is no memory.
  uint8_t* Pin() {
    pins_.fetch_add(1, std::memory_order_seq_cst);
    uint8_t* data = data_.load(std::memory_order_seq_cst);
    if (__builtin_expect(data == nullptr, 0)) Unpin();
    return data;
  }
  void Unpin() {
    if (pins_.fetch_sub(1, std::memory_order_acq_rel) == 1) Free();
  }

  // The owners of the allocation, as the program counts them; 1 at first.
  void AddOwner() { owners_.fetch_add(1, std::memory_order_relaxed); }
  bool DropOwner() {  // True if this was the last.
    return owners_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  bool HasOneOwner() const {
    return owners_.load(std::memory_order_acquire) == 1;
  }
  bool HasSeveralOwners() const {
    return owners_.load(std::memory_order_acquire) > 1;
  }

  // Keeps `charge` until the memory is freed. Called before other threads see
  // the storage.
  void SetCharge(MemoryCharge charge) { charge_ = std::move(charge); }

  // Frees the memory after a queue-ordered deallocation, although buffers may
  // still refer to the storage. No effect on memory of the host. False if the
  // storage has no memory: not yet, or it was freed before.
  bool Discard();

  // The identity of the device's pool that allocated it. nullptr: no device.
  virtual const Object* home() const { return nullptr; }
  // The object that keeps wrapped memory alive. nullptr: there is none, or the
  // memory is not wrapped.
  virtual Object* owner() const { return nullptr; }

  // A storage of the same length, with memory, from the same source if
  // possible. RESOURCE_EXHAUSTED.
  virtual absl::StatusOr<Ref<Storage>> CreateSibling() const;

 protected:
  static constexpr ObjectType kType{"hal.storage"};
  // `data` nullptr: memory comes with Commit().
  Storage(uint8_t* data, uint64_t byte_length)
      : Object(&kType),
        byte_length_(byte_length),
        pins_(data != nullptr ? 1 : 0),
        memory_(data),
        data_(data) {}
  ~Storage() override = default;

  // Gives a storage without memory its memory: once, before the signal fence
  // of its allocation is signaled.
  void Commit(uint8_t* data);
  // The same for a thread that alone knows the storage, in less time.
  void CommitAlone(uint8_t* data);
  // True if Discard() gives the memory back. By default the destructor of the
  // subclass does.
  virtual bool IsDiscardable() const { return false; }
  // Returns `memory` to its origin. Called only if IsDiscardable().
  virtual void FreeMemory(uint8_t* memory) {}
  // For the subclass's destructor: memory that has not been freed, or nullptr.
  uint8_t* memory() const { return memory_.load(std::memory_order_acquire); }

 private:
  // Frees the memory if it has not been freed yet.
  void Free();

  const uint64_t byte_length_;
  std::atomic<int32_t> owners_{1};
  // Users of the memory, with the storage itself as one until Discard(). Pin()
  // adds itself before it reads data_, and Discard() clears data_ before it
  // drops its own. So memory is not freed under a user that has read data_.
  std::atomic<int32_t> pins_;
  std::atomic<uint8_t*> memory_;  // nullptr once freed.
  std::atomic<uint8_t*> data_;    // nullptr once discarded.
  MemoryCharge charge_;           // Until the memory is freed.
};

// Memory of the system's heap, of kBufferAlignment and zeroed.
// RESOURCE_EXHAUSTED.
absl::StatusOr<Ref<Storage>> CreateHeapStorage(uint64_t byte_length);

class Buffer final : public Object {
 public:
  // The same buffer if it is immutable, else one over a copy of its storage;
  // none while it has no memory.
  static Object* Clone(Object& object, CloneMap& clones);
  static constexpr ObjectType kType{"hal.buffer", &Buffer::Clone};

  // All of `storage`.
  static Ref<Buffer> Create(Ref<Storage> storage, MemoryType memory_type,
                            BufferUsage usage, MemoryAccess access);
  static Ref<Buffer> Create(Ref<Storage> storage, MemoryType memory_type,
                            BufferUsage usage, MemoryAccess access,
                            BlockPool& pool);
  // Host memory that `owner` (may be null) keeps alive, as a buffer. The
  // caller has checked the alignment.
  static Ref<Buffer> WrapHost(Ref<Object> owner, uint8_t* data,
                              uint64_t byte_length, MemoryType memory_type,
                              BufferUsage usage, MemoryAccess access);
  // A range of this buffer; kWholeBuffer as length is the rest. The buffer
  // itself if the range is all of it. OUT_OF_RANGE if it does not fit.
  absl::StatusOr<Ref<Buffer>> Subspan(uint64_t offset, uint64_t length,
                                      BlockPool* pool = nullptr);

  // OK, with kWholeBuffer in *length replaced by the rest, if the range lies
  // in this buffer; else OUT_OF_RANGE.
  absl::Status ResolveRange(uint64_t offset, uint64_t* length) const;

  Storage* storage() const { return storage_.get(); }
  uint64_t byte_offset() const { return byte_offset_; }
  uint64_t byte_length() const { return byte_length_; }
  MemoryType memory_type() const { return memory_type_; }
  BufferUsage usage() const { return usage_; }
  MemoryAccess access() const { return access_; }

  // The first byte; nullptr while the storage has no memory.
  uint8_t* data() const {
    uint8_t* base = storage_->data();
    return base == nullptr ? nullptr : base + byte_offset_;
  }

  // The bytes of [offset, offset + length), kWholeBuffer for the rest, for the
  // host to read (or write). OUT_OF_RANGE; PERMISSION_DENIED if the access is
  // not allowed; FAILED_PRECONDITION while there is no memory.
  absl::StatusOr<absl::Span<uint8_t>> Map(uint64_t offset, uint64_t length,
                                          MemoryAccess access) const;

 private:
  Buffer(Ref<Storage> storage, uint64_t byte_offset, uint64_t byte_length,
         MemoryType memory_type, BufferUsage usage, MemoryAccess access)
      : Object(&kType),
        storage_(std::move(storage)),
        byte_offset_(byte_offset),
        byte_length_(byte_length),
        memory_type_(memory_type),
        usage_(usage),
        access_(access) {}

  const Ref<Storage> storage_;
  const uint64_t byte_offset_;
  const uint64_t byte_length_;
  const MemoryType memory_type_;
  const BufferUsage usage_;
  const MemoryAccess access_;
};

}  // namespace takt::hal

#endif  // TAKT_HAL_BUFFER_H_
