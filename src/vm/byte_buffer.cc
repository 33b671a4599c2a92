#include "vm/byte_buffer.h"

#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "base/status.h"

namespace takt::vm {
namespace {

constexpr uint32_t kDefaultAlignment = 16;  // Of malloc and of a pool's block.
constexpr uint32_t kMaxAlignment = 4096;

}  // namespace

absl::StatusOr<Ref<ByteBuffer>> ByteBuffer::Allocate(uint64_t byte_length,
                                                     uint32_t alignment,
                                                     BlockPool* pool,
                                                     MemoryAccount* account) {
  if (alignment == 0) alignment = kDefaultAlignment;
  if (!IsPowerOfTwo(alignment) || alignment > kMaxAlignment) {
    return absl::InvalidArgumentError(
        absl::StrCat("buffer alignment ", alignment,
                     " is not a power of two of at most ", kMaxAlignment));
  }
  if (alignment < kDefaultAlignment) alignment = kDefaultAlignment;
  uint64_t charged_bytes = 0;
  if (!CheckedAdd(byte_length, sizeof(ByteBuffer), &charged_bytes)) {
    charged_bytes = byte_length;
  }
  TAKT_ASSIGN_OR_RETURN(MemoryCharge charge,
                        MemoryCharge::Take(account, charged_bytes));
  const bool pooled = pool != nullptr && alignment == kDefaultAlignment &&
                      byte_length <= BlockPool::kMaxBlockBytes;
  const uint64_t slack = alignment - kDefaultAlignment;
  uint64_t allocation_bytes = 0;
  void* allocation = nullptr;
  if (pooled) {
    allocation = pool->Allocate(byte_length);
    std::memset(allocation, 0, byte_length);
  } else if (CheckedAdd(byte_length, slack, &allocation_bytes) &&
             allocation_bytes <= PTRDIFF_MAX) {
    allocation = std::calloc(1, allocation_bytes + (allocation_bytes == 0));
  }
  if (allocation == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a buffer of ", byte_length, " bytes"));
  }
  const auto address = reinterpret_cast<uintptr_t>(allocation);
  auto* data = static_cast<uint8_t*>(allocation) +
               (AlignUp(address, alignment) - address);
  const Storage storage = pooled ? Storage::kPool : Storage::kSystem;
  auto* buffer = pool != nullptr
                     ? new (*pool) ByteBuffer(nullptr, data, byte_length, true,
                                              storage, allocation)
                     : new ByteBuffer(nullptr, data, byte_length, true, storage,
                                      allocation);
  buffer->charge_ = std::move(charge);
  return Ref<ByteBuffer>::Adopt(buffer);
}

Ref<ByteBuffer> ByteBuffer::Wrap(Ref<Object> owner, uint8_t* data,
                                 size_t byte_length, bool is_mutable,
                                 BlockPool* pool) {
  auto* buffer = pool != nullptr
                     ? new (*pool)
                           ByteBuffer(std::move(owner), data, byte_length,
                                      is_mutable, Storage::kBorrowed, nullptr)
                     : new ByteBuffer(std::move(owner), data, byte_length,
                                      is_mutable, Storage::kBorrowed, nullptr);
  return Ref<ByteBuffer>::Adopt(buffer);
}

Object* ByteBuffer::Clone(Object& object, CloneMap& clones) {
  auto& original = static_cast<ByteBuffer&>(object);
  if (!original.is_mutable()) return CloneIsSame(object, clones);
  // Other users of a buffer that wraps foreign bytes would see the
  // original's writes and not the copy's.
  if (original.storage_ == Storage::kBorrowed) return nullptr;
  if (Object* copy = clones.Find(&object)) return CloneIsSame(*copy, clones);
  absl::StatusOr<Ref<ByteBuffer>> copy =
      Allocate(original.byte_length(), kDefaultAlignment);
  if (!copy.ok()) return nullptr;
  if (original.byte_length() != 0) {
    std::memcpy((*copy)->data(), original.data(), original.byte_length());
  }
  clones.Add(&object, *copy);
  return copy->release();
}

ByteBuffer::~ByteBuffer() {
  if (storage_ == Storage::kPool) BlockPool::Free(allocation_);
  if (storage_ == Storage::kSystem) std::free(allocation_);
}

}  // namespace takt::vm
