#include "vm/object_ops.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/lean_error.h"
#include "vm/instance.h"
#include "vm/scalar_math.h"

namespace takt::vm {
namespace {

List* ListAt(uint32_t* base, int16_t address, RunGuard& guard) {
  List* const list = DynCast<List>(Peek(base, address));
  if (list == nullptr) FailWrongType(List::kType, Peek(base, address), guard);
  return list;
}

// nullptr as `expected` stands for any type.
bool CheckType(const Object* object, const ObjectType* expected,
               RunGuard& guard) {
  return object == nullptr || expected == nullptr ||
         object->type() == expected || FailWrongType(*expected, object, guard);
}

bool FailNoGlobal(uint32_t index, RunGuard& guard) {
  return guard.Fail(LeanError(absl::StatusCode::kOutOfRange, [&] {
    return absl::StrCat("there is no global ", index);
  }));
}

bool LoadGlobal(uint32_t* base, const Unit* pc, uint32_t global,
                RunGuard& guard) {
  const FrameHeader& header = HeaderOf(base);
  if (global >= header.function->program->global_ref_count) {
    return FailNoGlobal(global, guard);
  }
  Object* const object = header.instance->global_refs[global];
  if (!CheckType(object, pc[1].payload<const ObjectType*>(), guard)) {
    return false;
  }
  if (object != nullptr) object->Retain();
  Put(base, pc->a, object);
  return true;
}

bool StoreGlobal(uint32_t* base, const Unit* pc, uint32_t global,
                 int16_t source, RunGuard& guard) {
  const FrameHeader& header = HeaderOf(base);
  if (global >= header.function->program->global_ref_count) {
    return FailNoGlobal(global, guard);
  }
  if (!CheckType(Peek(base, source), pc[1].payload<const ObjectType*>(),
                 guard)) {
    return false;
  }
  Object* const owned = Take(base, source);
  Object* const old =
      std::exchange(header.instance->global_refs[global], owned);
  if (old != nullptr) old->Release();
  return true;
}

// The member of a slot that holds a kind.
template <ValueKind kKind>
constexpr auto SlotMember() {
  if constexpr (kKind == ValueKind::kI32) {
    return &Slot::i32;
  } else if constexpr (kKind == ValueKind::kI64) {
    return &Slot::i64;
  } else if constexpr (kKind == ValueKind::kF32) {
    return &Slot::f32;
  } else {
    return &Slot::f64;
  }
}

}  // namespace

bool FailWrongType(const ObjectType& expected, const Object* object,
                   RunGuard& guard) {
  return guard.Fail(LeanError(absl::StatusCode::kInvalidArgument, [&] {
    return absl::StrCat("expected ", expected.name, ", got ",
                        object != nullptr ? object->type()->name : "null");
  }));
}

bool FailReadOnly(RunGuard& guard) {
  return guard.Fail(LeanError(absl::StatusCode::kPermissionDenied,
                              [] { return "the buffer is read-only"; }));
}

bool FailRange(const ByteBuffer& buffer, uint64_t offset, uint64_t length,
               size_t element_bytes, RunGuard& guard) {
  return guard.Fail(LeanError(absl::StatusCode::kOutOfRange, [&] {
    return absl::StrCat(length, " elements of ", element_bytes, " bytes from ",
                        offset, " on, in a buffer of ", buffer.byte_length(),
                        " bytes");
  }));
}

// ---- Buffers ----

template <typename Stored>
bool FillElements(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const ByteBuffer* buffer = MutableBufferAt(base, pc->a, guard);
  if (buffer == nullptr) return false;
  const auto offset = Get<uint64_t>(base, pc->b);
  const auto length = Get<uint64_t>(base, pc->c);
  if (!CheckRange(*buffer, offset, length, sizeof(Stored), guard) ||
      !guard.Charge(length * sizeof(Stored))) {
    return false;
  }
  const auto value = Get<Stored>(base, pc[1].list()[0]);
  uint8_t* to = buffer->data() + offset * sizeof(Stored);
  for (uint64_t i = 0; i < length; ++i, to += sizeof(Stored)) {
    std::memcpy(to, &value, sizeof(Stored));
  }
  return true;
}
template bool FillElements<uint8_t>(uint32_t*, const Unit*, RunGuard&);
template bool FillElements<uint16_t>(uint32_t*, const Unit*, RunGuard&);
template bool FillElements<uint32_t>(uint32_t*, const Unit*, RunGuard&);
template bool FillElements<uint64_t>(uint32_t*, const Unit*, RunGuard&);

// a = zeroed buffer of length b, alignment c.
bool AllocateBuffer(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const auto length = Get<uint64_t>(base, pc->b);
  if (!guard.Charge(length)) return false;
  absl::StatusOr<Ref<ByteBuffer>> buffer = ByteBuffer::Allocate(
      length, Get<uint32_t>(base, pc->c), &guard.pool(), guard.memory());
  if (!buffer.ok()) return guard.Fail(buffer.status());
  Put(base, pc->a, buffer->release());
  return true;
}

// a = copy of b from byte c on; length, alignment.
bool CloneBuffer(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const ByteBuffer* source = BufferAt(base, pc->b, guard);
  if (source == nullptr) return false;
  const auto offset = Get<uint64_t>(base, pc->c);
  const auto length = Get<uint64_t>(base, pc[1].list()[0]);
  const auto alignment = Get<uint32_t>(base, pc[1].list()[1]);
  if (!CheckRange(*source, offset, length, 1, guard) || !guard.Charge(length)) {
    return false;
  }
  absl::StatusOr<Ref<ByteBuffer>> copy =
      ByteBuffer::Allocate(length, alignment, &guard.pool(), guard.memory());
  if (!copy.ok()) return guard.Fail(copy.status());
  if (length != 0) {
    std::memcpy((*copy)->data(), source->data() + offset, length);
  }
  Put(base, pc->a, copy->release());
  return true;
}

bool BufferLength(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const ByteBuffer* buffer = BufferAt(base, pc->b, guard);
  if (buffer == nullptr) return false;
  Set<uint64_t>(base, pc->a, buffer->byte_length());
  return true;
}

// From a at byte b, to c; at byte, length.
bool CopyBuffer(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const ByteBuffer* source = BufferAt(base, pc->a, guard);
  if (source == nullptr) return false;
  const ByteBuffer* target = MutableBufferAt(base, pc->c, guard);
  if (target == nullptr) return false;
  const auto from = Get<uint64_t>(base, pc->b);
  const auto to = Get<uint64_t>(base, pc[1].list()[0]);
  const auto length = Get<uint64_t>(base, pc[1].list()[1]);
  if (!CheckRange(*source, from, length, 1, guard) ||
      !CheckRange(*target, to, length, 1, guard) || !guard.Charge(length)) {
    return false;
  }
  if (length != 0) {
    std::memmove(target->data() + to, source->data() + from, length);
  }
  return true;
}

// a = b from byte c on equals; buffer, at byte, length.
bool CompareBuffers(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const int16_t* const rest = pc[1].list();
  const ByteBuffer* x = BufferAt(base, pc->b, guard);
  if (x == nullptr) return false;
  const ByteBuffer* y = BufferAt(base, rest[0], guard);
  if (y == nullptr) return false;
  const auto x_offset = Get<uint64_t>(base, pc->c);
  const auto y_offset = Get<uint64_t>(base, rest[1]);
  const auto length = Get<uint64_t>(base, rest[2]);
  if (!CheckRange(*x, x_offset, length, 1, guard) ||
      !CheckRange(*y, y_offset, length, 1, guard) || !guard.Charge(length)) {
    return false;
  }
  const bool equal =
      length == 0 ||
      std::memcmp(x->data() + x_offset, y->data() + y_offset, length) == 0;
  Set<int32_t>(base, pc->a, equal);
  return true;
}

// a = hash of b from byte c on; length.
bool HashBuffer(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const ByteBuffer* buffer = BufferAt(base, pc->b, guard);
  if (buffer == nullptr) return false;
  const auto offset = Get<uint64_t>(base, pc->c);
  const auto length = Get<uint64_t>(base, pc[1].list()[0]);
  if (!CheckRange(*buffer, offset, length, 1, guard) || !guard.Charge(length)) {
    return false;
  }
  Set<uint64_t>(base, pc->a, SipHash24(buffer->data() + offset, length));
  return true;
}

// ---- Lists ----

// a = list of `type` with room for b.
bool AllocateList(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const auto* type = pc[1].payload<const ElementType*>();
  const auto capacity = Get<uint32_t>(base, pc->b);
  Ref<List> list = List::Create(*type, capacity, &guard.pool());
  absl::Status status = list->ChargeTo(guard.memory());
  if (!status.ok()) return guard.Fail(std::move(status));
  Put(base, pc->a, list.release());
  return true;
}

bool ReserveList(uint32_t* base, const Unit* pc, RunGuard& guard) {
  List* const list = ListAt(base, pc->a, guard);
  if (list == nullptr) return false;
  absl::Status status = list->Reserve(Get<uint32_t>(base, pc->b));
  return status.ok() || guard.Fail(std::move(status));
}

bool ListSize(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const List* const list = ListAt(base, pc->b, guard);
  if (list == nullptr) return false;
  Set<uint32_t>(base, pc->a, static_cast<uint32_t>(list->size()));
  return true;
}

bool ResizeList(uint32_t* base, const Unit* pc, RunGuard& guard) {
  List* const list = ListAt(base, pc->a, guard);
  if (list == nullptr) return false;
  const auto size = Get<uint32_t>(base, pc->b);
  if (!guard.Charge(uint64_t{size} * sizeof(Value))) return false;
  absl::Status status = list->Resize(size);
  return status.ok() || guard.Fail(std::move(status));
}

// a = b[c].
template <ValueKind kKind>
bool GetListValue(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const List* const list = ListAt(base, pc->b, guard);
  if (list == nullptr) return false;
  absl::StatusOr<Slot> slot = list->GetValue(Get<uint32_t>(base, pc->c), kKind);
  if (!slot.ok()) return guard.Fail(slot.status());
  Set(base, pc->a, *slot.*SlotMember<kKind>());
  return true;
}
template bool GetListValue<ValueKind::kI32>(uint32_t*, const Unit*, RunGuard&);
template bool GetListValue<ValueKind::kI64>(uint32_t*, const Unit*, RunGuard&);
template bool GetListValue<ValueKind::kF32>(uint32_t*, const Unit*, RunGuard&);
template bool GetListValue<ValueKind::kF64>(uint32_t*, const Unit*, RunGuard&);

// a[b] = c.
template <ValueKind kKind>
bool SetListValue(uint32_t* base, const Unit* pc, RunGuard& guard) {
  List* const list = ListAt(base, pc->a, guard);
  if (list == nullptr) return false;
  Slot slot{.i64 = 0};
  using T = std::remove_reference_t<decltype(slot.*SlotMember<kKind>())>;
  slot.*SlotMember<kKind>() = Get<T>(base, pc->c);
  absl::Status status = list->SetValue(Get<uint32_t>(base, pc->b), kKind, slot);
  return status.ok() || guard.Fail(std::move(status));
}
template bool SetListValue<ValueKind::kI32>(uint32_t*, const Unit*, RunGuard&);
template bool SetListValue<ValueKind::kI64>(uint32_t*, const Unit*, RunGuard&);
template bool SetListValue<ValueKind::kF32>(uint32_t*, const Unit*, RunGuard&);
template bool SetListValue<ValueKind::kF64>(uint32_t*, const Unit*, RunGuard&);

// a = b[c], if it is of `type`.
bool GetListRef(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const List* const list = ListAt(base, pc->b, guard);
  if (list == nullptr) return false;
  absl::StatusOr<Ref<Object>> ref = list->GetRef(
      Get<uint32_t>(base, pc->c), pc[1].payload<const ObjectType*>());
  if (!ref.ok()) return guard.Fail(ref.status());
  Put(base, pc->a, ref->release());
  return true;
}

// a[b] = c.
bool SetListRef(uint32_t* base, const Unit* pc, RunGuard& guard) {
  List* const list = ListAt(base, pc->a, guard);
  if (list == nullptr) return false;
  absl::Status status = list->SetRef(Get<uint32_t>(base, pc->b),
                                     Ref<Object>::Retain(Peek(base, pc->c)));
  if (!status.ok()) return guard.Fail(std::move(status));
  if (IsMove(pc->c)) Discard(base, pc->c);
  return true;
}

// ---- Globals ----

// a = global at byte b.
template <typename T>
bool LoadGlobalIndirect(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const FrameHeader& header = HeaderOf(base);
  const auto offset = Get<uint32_t>(base, pc->b);
  if (!RangeFits(offset, sizeof(T), header.function->program->global_bytes)) {
    return FailNoGlobal(offset, guard);
  }
  T value;
  std::memcpy(&value, header.instance->globals + offset, sizeof(T));
  Set<T>(base, pc->a, value);
  return true;
}
template bool LoadGlobalIndirect<uint32_t>(uint32_t*, const Unit*, RunGuard&);
template bool LoadGlobalIndirect<uint64_t>(uint32_t*, const Unit*, RunGuard&);

// Global at byte a = b.
template <typename T>
bool StoreGlobalIndirect(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const FrameHeader& header = HeaderOf(base);
  const auto offset = Get<uint32_t>(base, pc->a);
  if (!RangeFits(offset, sizeof(T), header.function->program->global_bytes)) {
    return FailNoGlobal(offset, guard);
  }
  const auto value = Get<T>(base, pc->b);
  std::memcpy(header.instance->globals + offset, &value, sizeof(T));
  return true;
}
template bool StoreGlobalIndirect<uint32_t>(uint32_t*, const Unit*, RunGuard&);
template bool StoreGlobalIndirect<uint64_t>(uint32_t*, const Unit*, RunGuard&);

bool LoadGlobalRef(uint32_t* base, const Unit* pc, RunGuard& guard) {
  return LoadGlobal(base, pc, static_cast<uint32_t>(pc->wide()), guard);
}
bool LoadGlobalRefIndirect(uint32_t* base, const Unit* pc, RunGuard& guard) {
  return LoadGlobal(base, pc, Get<uint32_t>(base, pc->b), guard);
}
bool StoreGlobalRef(uint32_t* base, const Unit* pc, RunGuard& guard) {
  return StoreGlobal(base, pc, static_cast<uint32_t>(pc->wide()), pc->a, guard);
}
bool StoreGlobalRefIndirect(uint32_t* base, const Unit* pc, RunGuard& guard) {
  return StoreGlobal(base, pc, Get<uint32_t>(base, pc->a), pc->b, guard);
}

// ---- Refs ----

// a = b ? c : other; type. If the other ref was to be moved, it is released.
bool SelectRef(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const bool first = Get<int32_t>(base, pc->b) != 0;
  const int16_t other = pc[1].list()[0];
  const int16_t chosen = first ? pc->c : other;
  const int16_t unchosen = first ? other : pc->c;
  if (!CheckType(Peek(base, chosen), pc[2].payload<const ObjectType*>(),
                 guard)) {
    return false;
  }
  Object* const object = Take(base, chosen);
  if (IsMove(unchosen)) Discard(base, unchosen);
  Put(base, pc->a, object);
  return true;
}

// a = list[b] or c; type, list.
bool SwitchRef(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const int16_t chosen = Choose(base, pc, pc + 2);
  if (!CheckType(Peek(base, chosen), pc[1].payload<const ObjectType*>(),
                 guard)) {
    return false;
  }
  Put(base, pc->a, Take(base, chosen));
  return true;
}

// a = b; type.
bool CastRef(uint32_t* base, const Unit* pc, RunGuard& guard) {
  if (!CheckType(Peek(base, pc->b), pc[1].payload<const ObjectType*>(),
                 guard)) {
    return false;
  }
  Put(base, pc->a, Take(base, pc->b));
  return true;
}

}  // namespace takt::vm
