// A ByteBuffer (!vm.buffer) is a range of host bytes that bytecode can read,
// and write unless it is read-only. It owns its bytes, or keeps alive the
// object that does: a rodata segment, a mapped file, a device buffer's storage.
//
// Thread-safety: the object is immutable. The program orders accesses to its
// bytes.
#ifndef TAKT_VM_BYTE_BUFFER_H_
#define TAKT_VM_BYTE_BUFFER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/block_pool.h"
#include "base/memory_account.h"
#include "base/object.h"

namespace takt::vm {

class ByteBuffer final : public Object {
 public:
  // A second context gets a copy of a mutable buffer, and shares the others.
  static Object* Clone(Object& object, CloneMap& clones);
  static constexpr ObjectType kType{"vm.buffer", &Clone};

  // Zeroed and mutable. `alignment` 0 stands for 16; else a power of two of at
  // most 4096, or INVALID_ARGUMENT. RESOURCE_EXHAUSTED beyond what the system
  // gives. Small ones come from `pool` if there is one. The buffer is charged
  // to `account` if there is one; RESOURCE_EXHAUSTED beyond its limit.
  static absl::StatusOr<Ref<ByteBuffer>> Allocate(
      uint64_t byte_length, uint32_t alignment, BlockPool* pool = nullptr,
      MemoryAccount* account = nullptr);

  // A view of bytes that `owner` (may be null: static storage) keeps alive. The
  // object itself comes from `pool` if there is one.
  static Ref<ByteBuffer> Wrap(Ref<Object> owner, uint8_t* data,
                              size_t byte_length, bool is_mutable,
                              BlockPool* pool = nullptr);

  uint8_t* data() const { return data_; }
  size_t byte_length() const { return byte_length_; }
  bool is_mutable() const { return is_mutable_; }
  absl::Span<const uint8_t> bytes() const { return {data_, byte_length_}; }
  absl::string_view text() const {
    return {reinterpret_cast<const char*>(data_), byte_length_};
  }

 private:
  // How `allocation_` is freed.
  enum class Storage : uint8_t { kBorrowed, kPool, kSystem };

  ByteBuffer(Ref<Object> owner, uint8_t* data, size_t byte_length,
             bool is_mutable, Storage storage, void* allocation)
      : Object(&kType),
        owner_(std::move(owner)),
        data_(data),
        byte_length_(byte_length),
        allocation_(allocation),
        is_mutable_(is_mutable),
        storage_(storage) {}
  ~ByteBuffer() override;

  const Ref<Object> owner_;
  uint8_t* const data_;
  const size_t byte_length_;
  void* const allocation_;  // What data_ points into; NULL if borrowed.
  MemoryCharge charge_;     // Of the bytes, if it owns them.
  const bool is_mutable_;
  const Storage storage_;
};

}  // namespace takt::vm

#endif  // TAKT_VM_BYTE_BUFFER_H_
