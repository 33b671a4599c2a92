#include "hal/buffer.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "base/check.h"
#include "base/math.h"
#include "base/status.h"

namespace takt::hal {
namespace {

class HeapStorage final : public Storage {
 public:
  HeapStorage(uint8_t* data, uint64_t byte_length)
      : Storage(data, byte_length) {}

 private:
  ~HeapStorage() override {
    if (memory() != nullptr) FreeMemory(memory());
  }
  bool IsDiscardable() const override { return true; }
  void FreeMemory(uint8_t* memory) override { std::free(memory); }
};

// Memory of another owner, which `owner` keeps alive.
class WrappedStorage final : public Storage {
 public:
  WrappedStorage(Ref<Object> owner, uint8_t* data, uint64_t byte_length)
      : Storage(data, byte_length), owner_(std::move(owner)) {}

  Object* owner() const override { return owner_.get(); }

 private:
  const Ref<Object> owner_;
};

// The copy of `storage` within `clones`, made if there is none yet; nullptr if
// it has no memory, or there is none left.
Ref<Storage> CloneStorage(Storage& storage, CloneMap& clones) {
  if (Object* copy = clones.Find(&storage)) {
    return Ref<Storage>::Retain(static_cast<Storage*>(copy));
  }
  const uint8_t* bytes = storage.Pin();
  if (bytes == nullptr) return nullptr;
  absl::StatusOr<Ref<Storage>> copy = storage.CreateSibling();
  if (copy.ok()) {
    std::memcpy((*copy)->data(), bytes, storage.byte_length());
  }
  storage.Unpin();
  if (!copy.ok()) return nullptr;
  clones.Add(&storage, *copy);
  return *std::move(copy);
}

}  // namespace

absl::StatusOr<Ref<Storage>> CreateHeapStorage(uint64_t byte_length) {
  uint64_t rounded = 0;
  void* memory = nullptr;
  // At least one unit, because a storage without bytes has memory, too.
  if (CheckedAlignUp(byte_length > 0 ? byte_length : 1, kBufferAlignment,
                     &rounded)) {
    memory = std::aligned_alloc(kBufferAlignment, rounded);
  }
  if (memory == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the system has no ", byte_length, " bytes left"));
  }
  std::memset(memory, 0, rounded);
  return Ref<Storage>(
      MakeRef<HeapStorage>(static_cast<uint8_t*>(memory), byte_length));
}

namespace {

// What the count of pins becomes when the memory is freed. Pins that come later
// find no memory, and never take the count to zero again.
constexpr int32_t kFreed = std::numeric_limits<int32_t>::min() / 2;

}  // namespace

absl::StatusOr<Ref<Storage>> Storage::CreateSibling() const {
  return CreateHeapStorage(byte_length_);
}

void Storage::Commit(uint8_t* data) {
  TAKT_CHECK(data != nullptr && this->data() == nullptr);
  // In this order: a Pin() and Unpin() at the same time must not take the count
  // to zero once memory_ is set.
  pins_.fetch_add(1, std::memory_order_seq_cst);
  memory_.store(data, std::memory_order_seq_cst);
  data_.store(data, std::memory_order_seq_cst);
}

void Storage::CommitAlone(uint8_t* data) {
  TAKT_CHECK(data != nullptr && this->data() == nullptr && IsUnique());
  pins_.store(1, std::memory_order_relaxed);
  memory_.store(data, std::memory_order_relaxed);
  data_.store(data, std::memory_order_relaxed);
}

bool Storage::Discard() {
  if (!IsDiscardable()) return true;
  if (data_.exchange(nullptr, std::memory_order_seq_cst) == nullptr) {
    return false;
  }
  Unpin();
  return true;
}

void Storage::Free() {
  uint8_t* const memory = memory_.load(std::memory_order_seq_cst);
  if (memory == nullptr) return;
  // A Pin() that found no memory may come here late, after a Commit(): its
  // count of zero was of a time without memory. Now zero means discarded and
  // not used, and only one thread takes it.
  int32_t unused = 0;
  if (!pins_.compare_exchange_strong(unused, kFreed,
                                     std::memory_order_seq_cst)) {
    return;
  }
  memory_.store(nullptr, std::memory_order_release);
  FreeMemory(memory);
  charge_ = MemoryCharge();
}

Ref<Buffer> Buffer::Create(Ref<Storage> storage, MemoryType memory_type,
                           BufferUsage usage, MemoryAccess access) {
  const uint64_t length = storage->byte_length();
  return Ref<Buffer>::Adopt(
      new Buffer(std::move(storage), 0, length, memory_type, usage, access));
}

Ref<Buffer> Buffer::Create(Ref<Storage> storage, MemoryType memory_type,
                           BufferUsage usage, MemoryAccess access,
                           BlockPool& pool) {
  const uint64_t length = storage->byte_length();
  return Ref<Buffer>::Adopt(new (pool) Buffer(std::move(storage), 0, length,
                                              memory_type, usage, access));
}

Ref<Buffer> Buffer::WrapHost(Ref<Object> owner, uint8_t* data,
                             uint64_t byte_length, MemoryType memory_type,
                             BufferUsage usage, MemoryAccess access) {
  // A buffer of no bytes needs no address, but nullptr means "no memory yet".
  alignas(kBufferAlignment) static uint8_t no_bytes[kBufferAlignment];
  TAKT_CHECK(data != nullptr || byte_length == 0);
  if (data == nullptr) data = no_bytes;
  return Create(MakeRef<WrappedStorage>(std::move(owner), data, byte_length),
                memory_type, usage, access);
}

absl::Status Buffer::ResolveRange(uint64_t offset, uint64_t* length) const {
  if (*length == kWholeBuffer && offset <= byte_length_) {
    *length = byte_length_ - offset;
  }
  if (RangeFits(offset, *length, byte_length_)) return absl::OkStatus();
  const std::string wanted =
      *length == kWholeBuffer
          ? absl::StrCat("from ", offset, " on")
          : absl::StrCat("of ", *length, " bytes at ", offset);
  return absl::OutOfRangeError(absl::StrCat(
      "range ", wanted, " is not in a buffer of ", byte_length_, " bytes"));
}

absl::StatusOr<Ref<Buffer>> Buffer::Subspan(uint64_t offset, uint64_t length,
                                            BlockPool* pool) {
  TAKT_RETURN_IF_ERROR(ResolveRange(offset, &length));
  if (offset == 0 && length == byte_length_) return Ref<Buffer>::Retain(this);
  const uint64_t start = byte_offset_ + offset;
  return Ref<Buffer>::Adopt(
      pool != nullptr
          ? new (*pool)
                Buffer(storage_, start, length, memory_type_, usage_, access_)
          : new Buffer(storage_, start, length, memory_type_, usage_, access_));
}

absl::StatusOr<absl::Span<uint8_t>> Buffer::Map(uint64_t offset,
                                                uint64_t length,
                                                MemoryAccess access) const {
  TAKT_RETURN_IF_ERROR(ResolveRange(offset, &length));
  if ((access & ~access_ & kAccessAll) != 0) {
    return absl::PermissionDeniedError(absl::StrCat(
        "the buffer does not allow to be ",
        (access & ~access_ & kAccessWrite) != 0 ? "written" : "read"));
  }
  uint8_t* bytes = data();
  if (bytes == nullptr) {
    return absl::FailedPreconditionError(
        "the buffer has no memory: its allocation is pending or it has been "
        "deallocated");
  }
  return absl::MakeSpan(bytes + offset, length);
}

Object* Buffer::Clone(Object& object, CloneMap& clones) {
  auto& buffer = static_cast<Buffer&>(object);
  if ((buffer.usage_ & kUsageImmutable) != 0) {
    return CloneIsSame(object, clones);
  }
  Ref<Storage> storage = CloneStorage(*buffer.storage_, clones);
  if (storage == nullptr) return nullptr;
  return new Buffer(std::move(storage), buffer.byte_offset_,
                    buffer.byte_length_, buffer.memory_type_, buffer.usage_,
                    buffer.access_);
}

}  // namespace takt::hal
