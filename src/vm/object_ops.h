// The instructions on buffers, lists, globals and refs, as functions. Each
// executes the instruction at `pc` on the frame at `base`. It returns false if
// it has failed; then it has changed nothing, and guard.error() is set.
#ifndef TAKT_VM_OBJECT_OPS_H_
#define TAKT_VM_OBJECT_OPS_H_

#include <cstdint>
#include <cstring>

#include "base/math.h"
#include "vm/byte_buffer.h"
#include "vm/frame.h"
#include "vm/list.h"
#include "vm/program.h"
#include "vm/run_guard.h"

namespace takt::vm {

// nullptr, with the guard's error set, for null, another type, or a read-only
// buffer.
inline ByteBuffer* BufferAt(uint32_t* base, int16_t address, RunGuard& guard);
inline ByteBuffer* MutableBufferAt(uint32_t* base, int16_t address,
                                   RunGuard& guard);
// [offset, offset + length) of elements.
inline bool CheckRange(const ByteBuffer& buffer, uint64_t offset,
                       uint64_t length, size_t element_bytes, RunGuard& guard);

// buffer.fill.*: a, from element b on, c elements, value.
template <typename Stored>
bool FillElements(uint32_t* base, const Unit* pc, RunGuard& guard);

bool AllocateBuffer(uint32_t* base, const Unit* pc, RunGuard& guard);
bool CloneBuffer(uint32_t* base, const Unit* pc, RunGuard& guard);
bool BufferLength(uint32_t* base, const Unit* pc, RunGuard& guard);
bool CopyBuffer(uint32_t* base, const Unit* pc, RunGuard& guard);
bool CompareBuffers(uint32_t* base, const Unit* pc, RunGuard& guard);
bool HashBuffer(uint32_t* base, const Unit* pc, RunGuard& guard);

bool AllocateList(uint32_t* base, const Unit* pc, RunGuard& guard);
bool ReserveList(uint32_t* base, const Unit* pc, RunGuard& guard);
bool ListSize(uint32_t* base, const Unit* pc, RunGuard& guard);
bool ResizeList(uint32_t* base, const Unit* pc, RunGuard& guard);
template <ValueKind kKind>
bool GetListValue(uint32_t* base, const Unit* pc, RunGuard& guard);
template <ValueKind kKind>
bool SetListValue(uint32_t* base, const Unit* pc, RunGuard& guard);
bool GetListRef(uint32_t* base, const Unit* pc, RunGuard& guard);
bool SetListRef(uint32_t* base, const Unit* pc, RunGuard& guard);

template <typename T>
bool LoadGlobalIndirect(uint32_t* base, const Unit* pc, RunGuard& guard);
template <typename T>
bool StoreGlobalIndirect(uint32_t* base, const Unit* pc, RunGuard& guard);
bool LoadGlobalRef(uint32_t* base, const Unit* pc, RunGuard& guard);
bool StoreGlobalRef(uint32_t* base, const Unit* pc, RunGuard& guard);
bool LoadGlobalRefIndirect(uint32_t* base, const Unit* pc, RunGuard& guard);
bool StoreGlobalRefIndirect(uint32_t* base, const Unit* pc, RunGuard& guard);

bool SelectRef(uint32_t* base, const Unit* pc, RunGuard& guard);
bool SwitchRef(uint32_t* base, const Unit* pc, RunGuard& guard);
bool CastRef(uint32_t* base, const Unit* pc, RunGuard& guard);

// switch.*: the entry b of `list` (which starts with its length), or c.
inline int16_t Choose(const uint32_t* base, const Unit* pc, const Unit* list) {
  const auto index = static_cast<uint64_t>(int64_t{Get<int32_t>(base, pc->b)});
  return index < list->payload<uint64_t>() ? list[1].list()[index] : pc->c;
}

// Sets the error that names the type of `object` and the expected one.
bool FailWrongType(const ObjectType& expected, const Object* object,
                   RunGuard& guard);
bool FailReadOnly(RunGuard& guard);
bool FailRange(const ByteBuffer& buffer, uint64_t offset, uint64_t length,
               size_t element_bytes, RunGuard& guard);

// ---- Inline, because kernels spend their time here ----

[[gnu::always_inline]] inline ByteBuffer* BufferAt(uint32_t* base,
                                                   int16_t address,
                                                   RunGuard& guard) {
  Object* const object = Peek(base, address);
  if (__builtin_expect(
          object != nullptr && object->type() == &ByteBuffer::kType, 1)) {
    return static_cast<ByteBuffer*>(object);
  }
  FailWrongType(ByteBuffer::kType, object, guard);
  return nullptr;
}

[[gnu::always_inline]] inline ByteBuffer* MutableBufferAt(uint32_t* base,
                                                          int16_t address,
                                                          RunGuard& guard) {
  ByteBuffer* const buffer = BufferAt(base, address, guard);
  if (buffer == nullptr || __builtin_expect(buffer->is_mutable(), 1)) {
    return buffer;
  }
  FailReadOnly(guard);
  return nullptr;
}

[[gnu::always_inline]] inline bool CheckRange(const ByteBuffer& buffer,
                                              uint64_t offset, uint64_t length,
                                              size_t element_bytes,
                                              RunGuard& guard) {
  if (__builtin_expect(
          RangeFits(offset, length, buffer.byte_length() / element_bytes), 1)) {
    return true;
  }
  FailRange(buffer, offset, length, element_bytes, guard);
  return false;
}

}  // namespace takt::vm

#endif  // TAKT_VM_OBJECT_OPS_H_
