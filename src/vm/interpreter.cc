#include "vm/interpreter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "base/status.h"
#include "vm/buffer.h"
#include "vm/invocation.h"
#include "vm/list.h"
#include "vm/scalar_math.h"

#if defined(__GNUC__)
#define TAKT_VM_COMPUTED_GOTO 1
#else
#define TAKT_VM_COMPUTED_GOTO 0
#endif

namespace takt::vm {
namespace {

using Outcome = Interpreter::Outcome;

// ---- Registers ----

template <typename T>
T Get(const uint32_t* base, int16_t address) {
  T value;
  std::memcpy(&value, base + address, sizeof(T));
  return value;
}
template <typename T>
void Set(uint32_t* base, int16_t address, T value) {
  std::memcpy(base + address, &value, sizeof(T));
}

bool IsMove(int16_t address) { return (address & 1) != 0; }

Object*& RefAt(uint32_t* base, int16_t address) {
  return *reinterpret_cast<Object**>(base + (address & ~1));
}
Object* Peek(const uint32_t* base, int16_t address) {
  return *reinterpret_cast<Object* const*>(base + (address & ~1));
}
FrameHeader& HeaderOf(uint32_t* base) {
  return *reinterpret_cast<FrameHeader*>(base - kHeaderWords);
}
const FrameHeader& HeaderOf(const uint32_t* base) {
  return *reinterpret_cast<const FrameHeader*>(base - kHeaderWords);
}

// A reference of the reader's own: the register's, if it is moved from.
Object* Take(uint32_t* base, int16_t address) {
  Object*& ref = RefAt(base, address);
  Object* const object = ref;
  if (IsMove(address)) {
    ref = nullptr;
  } else if (object != nullptr) {
    object->Retain();
  }
  return object;
}

// `owned` becomes the register's.
void Put(uint32_t* base, int16_t address, Object* owned) {
  Object*& ref = RefAt(base, address);
  Object* const old = ref;
  ref = owned;
  if (old != nullptr) old->Release();
}

void Discard(uint32_t* base, int16_t address) { Put(base, address, nullptr); }

void ReleaseRefs(uint32_t* base, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) Discard(base, RefAddress(i));
}

// ---- Errors ----

[[gnu::cold, gnu::noinline]] absl::Status DivisionByZero() {
  return absl::InvalidArgumentError("division by zero");
}

const char* TypeName(const Object* object) {
  return object != nullptr ? object->type()->name : "null";
}

[[gnu::cold, gnu::noinline]] absl::Status WrongType(const ObjectType& expected,
                                                    const Object* actual) {
  return absl::InvalidArgumentError(
      absl::StrCat("expected ", expected.name, ", got ", TypeName(actual)));
}

[[gnu::cold, gnu::noinline]] absl::Status OutOfBounds(const Buffer& buffer,
                                                      uint64_t offset,
                                                      uint64_t length,
                                                      size_t element_bytes) {
  return absl::OutOfRangeError(
      absl::StrCat("elements [", offset, ", +", length, ") of ", element_bytes,
                   " bytes, in a buffer of ", buffer.byte_length(), " bytes"));
}

[[gnu::cold, gnu::noinline]] absl::Status ReadOnly() {
  return absl::PermissionDeniedError("the buffer is read-only");
}

[[gnu::cold, gnu::noinline]] absl::Status NoGlobal(uint32_t index) {
  return absl::OutOfRangeError(absl::StrCat("no global at ", index));
}

[[gnu::cold, gnu::noinline]] absl::Status Unbound(const std::string& name) {
  return absl::NotFoundError(
      absl::StrCat("the optional import ", name, " is not there"));
}

[[gnu::cold, gnu::noinline]] absl::Status StackOverflow() {
  return absl::ResourceExhaustedError(
      absl::StrCat("calls are nested too deep: more than ",
                   Interpreter::kMaxStackBytes, " bytes of frames"));
}

// What a `fail` instruction ends with. 0 is no failure and 17 no status of an
// instruction; what absl does not know is UNKNOWN.
[[gnu::cold, gnu::noinline]] absl::Status FailStatus(int32_t operand,
                                                     const std::string& text) {
  const int32_t code = operand & 0x1f;
  const std::string message =
      text.empty() ? std::string("failed by the program") : text;
  if (code == 0 || code == 17) {
    return absl::InternalError(
        absl::StrCat(message, " (with code ", code, ")"));
  }
  if (code > 16) {
    return absl::UnknownError(absl::StrCat(message, " (with code ", code, ")"));
  }
  return absl::Status(static_cast<absl::StatusCode>(code), message);
}

bool TypeFits(const Object* object, const ObjectType* expected) {
  return object == nullptr || expected == nullptr || object->type() == expected;
}

bool CheckType(const Object* object, const ObjectType* expected,
               absl::Status* status) {
  if (TypeFits(object, expected)) return true;
  *status = WrongType(*expected, object);
  return false;
}

// ---- Buffers ----

Buffer* BufferAt(uint32_t* base, int16_t address, absl::Status* status) {
  Buffer* buffer = DynCast<Buffer>(Peek(base, address));
  if (buffer == nullptr) {
    *status = WrongType(Buffer::kType, Peek(base, address));
  }
  return buffer;
}

Buffer* MutableBufferAt(uint32_t* base, int16_t address, absl::Status* status) {
  Buffer* buffer = BufferAt(base, address, status);
  if (buffer == nullptr || buffer->is_mutable()) return buffer;
  *status = ReadOnly();
  return nullptr;
}

bool CheckRange(const Buffer& buffer, uint64_t offset, uint64_t length,
                size_t element_bytes, absl::Status* status) {
  if (RangeFits(offset, length, buffer.byte_length() / element_bytes)) {
    return true;
  }
  *status = OutOfBounds(buffer, offset, length, element_bytes);
  return false;
}

// buffer.load: a = b[c] as stored in memory, widened to a register.
template <typename Stored, typename Register>
bool Load(uint32_t* base, const Unit* pc, absl::Status* status) {
  const Buffer* buffer = BufferAt(base, pc->b, status);
  if (buffer == nullptr) return false;
  const auto index = Get<uint64_t>(base, pc->c);
  if (!CheckRange(*buffer, index, 1, sizeof(Stored), status)) return false;
  Stored value;
  std::memcpy(&value, buffer->data() + index * sizeof(Stored), sizeof(Stored));
  Set<Register>(base, pc->a, static_cast<Register>(value));
  return true;
}

// buffer.store: a[b] = c.
template <typename Stored>
bool Store(uint32_t* base, const Unit* pc, absl::Status* status) {
  Buffer* buffer = MutableBufferAt(base, pc->a, status);
  if (buffer == nullptr) return false;
  const auto index = Get<uint64_t>(base, pc->b);
  if (!CheckRange(*buffer, index, 1, sizeof(Stored), status)) return false;
  const auto value = Get<Stored>(base, pc->c);
  std::memcpy(buffer->data() + index * sizeof(Stored), &value, sizeof(Stored));
  return true;
}

// buffer.fill: a, offset b, length c, value.
template <typename Stored>
bool Fill(uint32_t* base, const Unit* pc, absl::Status* status) {
  Buffer* buffer = MutableBufferAt(base, pc->a, status);
  if (buffer == nullptr) return false;
  const auto offset = Get<uint64_t>(base, pc->b);
  const auto length = Get<uint64_t>(base, pc->c);
  if (!CheckRange(*buffer, offset, length, sizeof(Stored), status)) {
    return false;
  }
  const auto value = Get<Stored>(base, pc[1].list()[0]);
  uint8_t* to = buffer->data() + offset * sizeof(Stored);
  if constexpr (sizeof(Stored) == 1) {
    if (length != 0) std::memset(to, static_cast<uint8_t>(value), length);
  } else {
    for (uint64_t i = 0; i < length; ++i, to += sizeof(Stored)) {
      std::memcpy(to, &value, sizeof(Stored));
    }
  }
  return true;
}

// buffer.copy: source a, offset b, target c, offset, length.
bool Copy(uint32_t* base, const Unit* pc, absl::Status* status) {
  const Buffer* source = BufferAt(base, pc->a, status);
  if (source == nullptr) return false;
  Buffer* target = MutableBufferAt(base, pc->c, status);
  if (target == nullptr) return false;
  const auto from = Get<uint64_t>(base, pc->b);
  const auto to = Get<uint64_t>(base, pc[1].list()[0]);
  const auto length = Get<uint64_t>(base, pc[1].list()[1]);
  if (!CheckRange(*source, from, length, 1, status) ||
      !CheckRange(*target, to, length, 1, status)) {
    return false;
  }
  if (length != 0) {
    std::memmove(target->data() + to, source->data() + from, length);
  }
  return true;
}

// buffer.compare: a = (b, offset c) equals (buffer, offset) over length.
bool Compare(uint32_t* base, const Unit* pc, absl::Status* status) {
  const int16_t* rest = pc[1].list();
  const Buffer* x = BufferAt(base, pc->b, status);
  if (x == nullptr) return false;
  const Buffer* y = BufferAt(base, rest[0], status);
  if (y == nullptr) return false;
  const auto x_offset = Get<uint64_t>(base, pc->c);
  const auto y_offset = Get<uint64_t>(base, rest[1]);
  const auto length = Get<uint64_t>(base, rest[2]);
  if (!CheckRange(*x, x_offset, length, 1, status) ||
      !CheckRange(*y, y_offset, length, 1, status)) {
    return false;
  }
  const bool equal =
      length == 0 ||
      std::memcmp(x->data() + x_offset, y->data() + y_offset, length) == 0;
  Set<int32_t>(base, pc->a, equal);
  return true;
}

// buffer.hash: a = hash of (b, offset c, length).
bool Hash(uint32_t* base, const Unit* pc, absl::Status* status) {
  const Buffer* buffer = BufferAt(base, pc->b, status);
  if (buffer == nullptr) return false;
  const auto offset = Get<uint64_t>(base, pc->c);
  const auto length = Get<uint64_t>(base, pc[1].list()[0]);
  if (!CheckRange(*buffer, offset, length, 1, status)) return false;
  Set<uint64_t>(base, pc->a, SipHash24(buffer->data() + offset, length));
  return true;
}

// buffer.alloc: a = (length b, alignment c).
bool Alloc(uint32_t* base, const Unit* pc, BlockPool& pool,
           absl::Status* status) {
  absl::StatusOr<Ref<Buffer>> buffer = Buffer::Allocate(
      Get<uint64_t>(base, pc->b), Get<uint32_t>(base, pc->c), &pool);
  if (!buffer.ok()) {
    *status = buffer.status();
    return false;
  }
  Put(base, pc->a, buffer->release());
  return true;
}

// buffer.clone: a = (b, offset c, length, alignment).
bool Clone(uint32_t* base, const Unit* pc, BlockPool& pool,
           absl::Status* status) {
  const Buffer* source = BufferAt(base, pc->b, status);
  if (source == nullptr) return false;
  const auto offset = Get<uint64_t>(base, pc->c);
  const auto length = Get<uint64_t>(base, pc[1].list()[0]);
  if (!CheckRange(*source, offset, length, 1, status)) return false;
  absl::StatusOr<Ref<Buffer>> copy =
      Buffer::Allocate(length, Get<uint32_t>(base, pc[1].list()[1]), &pool);
  if (!copy.ok()) {
    *status = copy.status();
    return false;
  }
  if (length != 0) {
    std::memcpy((*copy)->data(), source->data() + offset, length);
  }
  Put(base, pc->a, copy->release());
  return true;
}

// ---- Lists ----

List* ListAt(uint32_t* base, int16_t address, absl::Status* status) {
  List* list = DynCast<List>(Peek(base, address));
  if (list == nullptr) *status = WrongType(List::kType, Peek(base, address));
  return list;
}

// list.get: *out = b[c].
bool ListGet(uint32_t* base, const Unit* pc, ValueKind kind, Slot* out,
             absl::Status* status) {
  const List* list = ListAt(base, pc->b, status);
  if (list == nullptr) return false;
  absl::StatusOr<Slot> slot = list->GetValue(Get<uint32_t>(base, pc->c), kind);
  if (slot.ok()) {
    *out = *slot;
    return true;
  }
  *status = slot.status();
  return false;
}

// list.set: a[b] = value.
bool ListSet(uint32_t* base, const Unit* pc, ValueKind kind, Slot value,
             absl::Status* status) {
  List* list = ListAt(base, pc->a, status);
  if (list == nullptr) return false;
  *status = list->SetValue(Get<uint32_t>(base, pc->b), kind, value);
  return status->ok();
}

bool ListGetRef(uint32_t* base, const Unit* pc, absl::Status* status) {
  const List* list = ListAt(base, pc->b, status);
  if (list == nullptr) return false;
  absl::StatusOr<Ref<Object>> ref = list->GetRef(
      Get<uint32_t>(base, pc->c), pc[1].payload<const ObjectType*>());
  if (!ref.ok()) {
    *status = ref.status();
    return false;
  }
  Put(base, pc->a, ref->release());
  return true;
}

// The register keeps a moved ref if the list refuses it.
bool ListSetRef(uint32_t* base, const Unit* pc, absl::Status* status) {
  List* list = ListAt(base, pc->a, status);
  if (list == nullptr) return false;
  *status = list->SetRef(Get<uint32_t>(base, pc->b),
                         Ref<Object>::Retain(Peek(base, pc->c)));
  if (!status->ok()) return false;
  if (IsMove(pc->c)) Discard(base, pc->c);
  return true;
}

bool ListResize(uint32_t* base, const Unit* pc, absl::Status* status) {
  List* list = ListAt(base, pc->a, status);
  if (list == nullptr) return false;
  *status = list->Resize(Get<uint32_t>(base, pc->b));
  return status->ok();
}

// ---- Globals ----

template <typename T>
bool LoadIndirect(uint32_t* base, const Unit* pc, absl::Status* status) {
  const FrameHeader& header = HeaderOf(base);
  const auto offset = Get<uint32_t>(base, pc->b);
  if (!RangeFits(offset, sizeof(T), header.function->program->global_bytes)) {
    *status = NoGlobal(offset);
    return false;
  }
  T value;
  std::memcpy(&value, header.instance->globals + offset, sizeof(T));
  Set<T>(base, pc->a, value);
  return true;
}

template <typename T>
bool StoreIndirect(uint32_t* base, const Unit* pc, absl::Status* status) {
  const FrameHeader& header = HeaderOf(base);
  const auto offset = Get<uint32_t>(base, pc->a);
  if (!RangeFits(offset, sizeof(T), header.function->program->global_bytes)) {
    *status = NoGlobal(offset);
    return false;
  }
  const auto value = Get<T>(base, pc->b);
  std::memcpy(header.instance->globals + offset, &value, sizeof(T));
  return true;
}

bool LoadGlobalRef(uint32_t* base, const Unit* pc, uint32_t global,
                   absl::Status* status) {
  const FrameHeader& header = HeaderOf(base);
  if (global >= header.function->program->global_ref_count) {
    *status = NoGlobal(global);
    return false;
  }
  Object* object = header.instance->global_refs[global];
  if (!CheckType(object, pc[1].payload<const ObjectType*>(), status)) {
    return false;
  }
  if (object != nullptr) object->Retain();
  Put(base, pc->a, object);
  return true;
}

bool StoreGlobalRef(uint32_t* base, const Unit* pc, uint32_t global,
                    int16_t source, absl::Status* status) {
  const FrameHeader& header = HeaderOf(base);
  if (global >= header.function->program->global_ref_count) {
    *status = NoGlobal(global);
    return false;
  }
  if (!CheckType(Peek(base, source), pc[1].payload<const ObjectType*>(),
                 status)) {
    return false;
  }
  Object* const owned = Take(base, source);
  Object* const old =
      std::exchange(header.instance->global_refs[global], owned);
  if (old != nullptr) old->Release();
  return true;
}

// ---- Refs ----

// select.ref: a = b ? c : rest[0].
bool SelectRef(uint32_t* base, const Unit* pc, absl::Status* status) {
  const bool first = Get<int32_t>(base, pc->b) != 0;
  const int16_t other = pc[1].list()[0];
  const int16_t chosen = first ? pc->c : other;
  const int16_t unchosen = first ? other : pc->c;
  if (!CheckType(Peek(base, chosen), pc[2].payload<const ObjectType*>(),
                 status)) {
    return false;
  }
  Object* const object = Take(base, chosen);
  if (IsMove(unchosen)) Discard(base, unchosen);
  Put(base, pc->a, object);
  return true;
}

bool CastRef(uint32_t* base, const Unit* pc, absl::Status* status) {
  if (!CheckType(Peek(base, pc->b), pc[1].payload<const ObjectType*>(),
                 status)) {
    return false;
  }
  Put(base, pc->a, Take(base, pc->b));
  return true;
}

// The register that a switch chooses; `list` starts with its length.
int16_t Choose(const uint32_t* base, const Unit* pc, const Unit* list) {
  const auto index =
      static_cast<uint64_t>(static_cast<int64_t>(Get<int32_t>(base, pc->b)));
  return index < list->payload<uint64_t>() ? list[1].list()[index] : pc->c;
}

bool SwitchRef(uint32_t* base, const Unit* pc, absl::Status* status) {
  const int16_t chosen = Choose(base, pc, pc + 2);
  if (!CheckType(Peek(base, chosen), pc[1].payload<const ObjectType*>(),
                 status)) {
    return false;
  }
  Put(base, pc->a, Take(base, chosen));
  return true;
}

// ---- Calls ----

void ZeroFrom(uint32_t* base, const Function& callee) {
  auto* at = reinterpret_cast<std::byte*>(base) + callee.zero_begin;
  auto* const end = reinterpret_cast<std::byte*>(base) + callee.value_bytes;
  if ((callee.zero_begin & 4) != 0) {
    std::memset(at, 0, 4);
    at += 4;
  }
  for (; at != end; at += 8) {
    std::memset(at, 0, 8);
    asm volatile("" : : : "memory");  // A few stores, not a call of memset.
  }
}

// Copies what `sources` lists in `from` to where `callee` wants it. Every value
// is copied with 8 bytes: what that spoils beyond a 32-bit one is a later
// argument, or zeroed.
void PassArguments(uint32_t* from, const int16_t* sources, uint32_t* to,
                   const Function& callee) {
  const size_t count = callee.arguments.size();
  const int16_t* const targets = callee.arguments.data();
  for (size_t i = 0; i < count; ++i) {
    if (targets[i] >= 0) {
      Set<uint64_t>(to, targets[i], Get<uint64_t>(from, sources[i]));
    } else {
      RefAt(to, targets[i]) = Take(from, sources[i]);
    }
  }
  ZeroFrom(to, callee);
}

struct ImportCounts {
  uint32_t entries;
  uint32_t results;
};
ImportCounts CountsOf(const Unit* pc) {
  const auto counts = pc[1].payload<std::array<uint32_t, 2>>();
  return {counts[0], counts[1]};
}
size_t UnitsOfImportCall(ImportCounts counts) {
  return 2 + UnitsOfList(counts.entries) + UnitsOfList(counts.results);
}

// Fills the slots of a native call from the registers and span counts that
// `entries` lists; returns how many.
void FillSlots(const uint32_t* base, const int16_t* entries, uint32_t count,
               Slot* slots) {
  for (uint32_t i = 0; i < count; ++i) {
    if (entries[i] == kSpanCount) {
      *slots = Slot{.i64 = static_cast<uint16_t>(entries[++i])};
    } else {
      const int16_t address = entries[i];
      // Odd refs are moved from, but only once the call is done.
      *slots = Get<Slot>(
          base, static_cast<int16_t>(address & ~((address >> 15) & 1)));
    }
    ++slots;
  }
}

void ReleaseMoved(uint32_t* base, const int16_t* entries, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (entries[i] == kSpanCount) {
      ++i;
    } else if (entries[i] < 0 && IsMove(entries[i])) {
      Discard(base, entries[i]);
    }
  }
}

void StoreResults(uint32_t* base, const int16_t* targets,
                  const std::vector<Letter>& letters, const Slot* slots) {
  for (size_t i = 0; i < letters.size(); ++i) {
    switch (letters[i]) {
      case Letter::kI32:
      case Letter::kF32:
        Set<int32_t>(base, targets[i], slots[i].i32);
        break;
      case Letter::kI64:
      case Letter::kF64:
        Set<int64_t>(base, targets[i], slots[i].i64);
        break;
      case Letter::kRef:
        Put(base, targets[i], slots[i].ref);
        break;
    }
  }
}

// return of several: (register, width) pairs.
void PassResults(uint32_t* from, const Unit* pc, uint32_t* to,
                 const int16_t* targets) {
  const int32_t count = pc->wide();
  const int16_t* pairs = pc[1].list();
  for (int32_t i = 0; i < count; ++i, pairs += 2) {
    if (pairs[0] < 0) {
      Put(to, targets[i], Take(from, pairs[0]));
    } else if (pairs[1] == 8) {
      Set<uint64_t>(to, targets[i], Get<uint64_t>(from, pairs[0]));
    } else {
      Set<uint32_t>(to, targets[i], Get<uint32_t>(from, pairs[0]));
    }
  }
}

}  // namespace

int32_t Interpreter::TakeSlice(Invocation& invocation) {
  const uint64_t slice =
      std::min<uint64_t>(kSliceSteps, invocation.steps_left_);
  invocation.steps_left_ -= slice;
  return static_cast<int32_t>(slice);
}

int32_t Interpreter::Poll(Invocation& invocation, int32_t fuel,
                          absl::Status* status) {
  if (invocation.cancel_requested_.load(std::memory_order_relaxed)) {
    *status = absl::CancelledError("cancelled");
    return -1;
  }
  if (fuel < 0) fuel += TakeSlice(invocation);
  if (fuel < 0) {
    *status = absl::ResourceExhaustedError("the step limit is reached");
  }
  return fuel;
}

bool Interpreter::Charge(Invocation& invocation, uint64_t bytes,
                         absl::Status* status) {
  if (!invocation.limited_) return true;
  const uint64_t steps = bytes / 64;
  if (steps <= invocation.steps_left_) {
    invocation.steps_left_ -= steps;
    return true;
  }
  *status = absl::ResourceExhaustedError("the step limit is reached");
  return false;
}

// Makes room for `frame_bytes` from *base on. Frames move: nothing but *base
// and the headers' distances refer to them.
bool Interpreter::GrowStack(Invocation& invocation, uint32_t** base,
                            uint64_t frame_bytes) {
  const auto used = static_cast<uint64_t>(reinterpret_cast<std::byte*>(*base) -
                                          invocation.stack_);
  const auto size =
      static_cast<uint64_t>(invocation.stack_end_ - invocation.stack_);
  const uint64_t wanted =
      std::max(std::min(size * 2, kMaxStackBytes), used + frame_bytes);
  if (wanted > kMaxStackBytes) return false;
  auto* stack = static_cast<std::byte*>(invocation.pool().Allocate(wanted));
  std::memcpy(stack, invocation.stack_,
              used + HeaderOf(*base).function->value_bytes);
  if (invocation.stack_ != invocation.inline_stack()) {
    BlockPool::Free(invocation.stack_);
  }
  invocation.stack_ = stack;
  invocation.stack_end_ = stack + wanted;
  *base = reinterpret_cast<uint32_t*>(stack + used);
  return true;
}

// A frame for `callee` behind the one at *base, which has `caller_bytes` of
// values. nullptr if there is no room. *base may move.
inline uint32_t* Interpreter::PushFrame(Invocation& invocation, uint32_t** base,
                                        uint32_t caller_bytes,
                                        const Function& callee) {
  const uint64_t distance =
      uint64_t{caller_bytes} + callee.ref_bytes + sizeof(FrameHeader);
  const auto room = static_cast<uint64_t>(invocation.stack_end_ -
                                          reinterpret_cast<std::byte*>(*base));
  if (__builtin_expect(room < distance + callee.value_bytes, 0) &&
      !GrowStack(invocation, base, distance + callee.value_bytes)) {
    return nullptr;
  }
  auto* frame = reinterpret_cast<uint32_t*>(
      reinterpret_cast<std::byte*>(*base) + distance);
  FrameHeader& header = HeaderOf(frame);
  header.function = &callee;
  header.caller_distance = distance;
  for (uint32_t i = 0; i < callee.ref_count; ++i) {
    RefAt(frame, RefAddress(i)) = nullptr;
  }
  return frame;
}

Outcome Interpreter::CallNative(Invocation& invocation, const Callee& callee,
                                const Unit* pc, uint32_t* base,
                                absl::Status* status) {
  constexpr uint32_t kInlineSlots = 48;
  const ImportCounts counts = CountsOf(pc);
  const int16_t* const entries = pc[2].list();
  Slot inline_slots[kInlineSlots];
  std::unique_ptr<Slot[]> heap_slots;
  Slot* slots = inline_slots;
  if (counts.entries + counts.results > kInlineSlots) {
    heap_slots.reset(new Slot[counts.entries + counts.results]);
    slots = heap_slots.get();
  }
  FillSlots(base, entries, counts.entries, slots);
  Slot* const results = slots + counts.entries;
  for (uint32_t i = 0; i < counts.results; ++i) results[i].i64 = 0;

  // Where to go on, should the call park; and room for nothing else to change.
  invocation.pc_ = pc;
  invocation.base_ = base;
  const bool resumed = std::exchange(invocation.resumed_, false);
  NativeCall call(invocation, HeaderOf(base).instance->states[callee.module],
                  slots, results, resumed);
  *status = callee.native(callee.self, call);
  if (!status->ok()) {
    *status = Annotate(*status, *callee.name);
    return Outcome::kFailed;
  }
  if (call.parked()) {
    const bool may_park = pc->a != 0;
    if (may_park) return Outcome::kParked;
    *status = absl::InternalError(absl::StrCat(
        *callee.name, " must wait, but was not called as yieldable"));
    return Outcome::kFailed;
  }
  invocation.parked_state_.reset();
  ReleaseMoved(base, entries, counts.entries);
  StoreResults(base, pc[2 + UnitsOfList(counts.entries)].list(),
               *callee.results, results);
  if (invocation.cancel_requested_.load(std::memory_order_relaxed)) {
    *status = absl::CancelledError("cancelled");
    return Outcome::kFailed;
  }
  return Outcome::kDone;
}

absl::Status Interpreter::Describe(const absl::Status& status, const Unit* pc,
                                   const uint32_t* base) {
  const Function& function = *HeaderOf(base).function;
  if (function.program == nullptr) return status;  // The host's frame.
  return Annotate(status, DescribePlace(function, pc));
}

void Interpreter::UnwindToFirst(Invocation& invocation) {
  uint32_t*& base = invocation.base_;
  while (HeaderOf(base).caller_distance != 0) {
    const FrameHeader& header = HeaderOf(base);
    ReleaseRefs(base, header.function->ref_count);
    base = reinterpret_cast<uint32_t*>(reinterpret_cast<std::byte*>(base) -
                                       header.caller_distance);
  }
}

void Interpreter::Unwind(Invocation& invocation) {
  if (invocation.base_ == nullptr) return;
  UnwindToFirst(invocation);
  ReleaseRefs(invocation.base_, HeaderOf(invocation.base_).function->ref_count);
  invocation.base_ = nullptr;
}

// The loop. `base` and `pc` are the machine's registers; `fuel` counts down to
// the next look at whether to stop. Values with destructors must not live
// where the next instruction is jumped to, so whatever may make one is in a
// function of its own.
Outcome Interpreter::Execute(Invocation& invocation, absl::Status* status) {
  uint32_t* base = invocation.base_;
  const Unit* pc = invocation.pc_;
  int32_t fuel = TakeSlice(invocation);

#define FAIL(error)    \
  do {                 \
    *status = (error); \
    goto failed;       \
  } while (false)
// Goes on at pc, unless it is time to look.
#define POLL()                 \
  do {                         \
    if (--fuel < 0) goto poll; \
    DISPATCH();                \
  } while (false)
#define NEXT(units) \
  do {              \
    pc += (units);  \
    DISPATCH();     \
  } while (false)
#define NEXT_IF(condition, units)  \
  do {                             \
    if (!(condition)) goto failed; \
    NEXT(units);                   \
  } while (false)

// a = expression of x = b, y = c, z.
#define UNARY(name, From, To, expression)  \
  OP(name) {                               \
    const auto x = Get<From>(base, pc->b); \
    Set<To>(base, pc->a, (expression));    \
    NEXT(1);                               \
  }
#define BINARY(name, From, To, expression) \
  OP(name) {                               \
    const auto x = Get<From>(base, pc->b); \
    const auto y = Get<From>(base, pc->c); \
    Set<To>(base, pc->a, (expression));    \
    NEXT(1);                               \
  }
#define TERNARY(name, First, Rest, expression)       \
  OP(name) {                                         \
    const auto x = Get<First>(base, pc->b);          \
    const auto y = Get<Rest>(base, pc->c);           \
    const auto z = Get<Rest>(base, pc[1].list()[0]); \
    Set<Rest>(base, pc->a, (expression));            \
    NEXT(2);                                         \
  }
#define DIVISION(name, T, function)         \
  OP(name) {                                \
    const auto x = Get<T>(base, pc->b);     \
    const auto y = Get<T>(base, pc->c);     \
    if (y == 0) FAIL(DivisionByZero());     \
    Set<T>(base, pc->a, function<T>(x, y)); \
    NEXT(1);                                \
  }
#define SHIFT(name, T, expression)                                   \
  OP(name) {                                                         \
    const auto x = Get<T>(base, pc->b);                              \
    const auto y = Get<uint32_t>(base, pc->c) & (sizeof(T) * 8 - 1); \
    Set<T>(base, pc->a, static_cast<T>(expression));                 \
    NEXT(1);                                                         \
  }
#define LIST_GET(name, kind, T, member)                                  \
  OP(name) {                                                             \
    Slot slot;                                                           \
    if (!ListGet(base, pc, ValueKind::kind, &slot, status)) goto failed; \
    Set<T>(base, pc->a, slot.member);                                    \
    NEXT(1);                                                             \
  }
#define LIST_SET(name, kind, T, member)                           \
  OP(name) {                                                      \
    Slot slot{.i64 = 0};                                          \
    slot.member = Get<T>(base, pc->c);                            \
    NEXT_IF(ListSet(base, pc, ValueKind::kind, slot, status), 1); \
  }
// To `wide` if the expression of x = a holds, else on; then the same backward.
#define BRANCH1(name, T, expression)     \
  OP(name) {                             \
    const auto x = Get<T>(base, pc->a);  \
    NEXT((expression) ? pc->wide() : 1); \
  }                                      \
  OP(name##Back) {                       \
    const auto x = Get<T>(base, pc->a);  \
    if (!(expression)) NEXT(1);          \
    pc += pc->wide();                    \
    POLL();                              \
  }
// To c if the expression of x = a and y = b holds.
#define BRANCH2(name, T, expression)    \
  OP(name) {                            \
    const auto x = Get<T>(base, pc->a); \
    const auto y = Get<T>(base, pc->b); \
    NEXT((expression) ? pc->c : 1);     \
  }                                     \
  OP(name##Back) {                      \
    const auto x = Get<T>(base, pc->a); \
    const auto y = Get<T>(base, pc->b); \
    if (!(expression)) NEXT(1);         \
    pc += pc->c;                        \
    POLL();                             \
  }
// Pops the frame: `pc` is where the caller's list of results is.
#define LEAVE()                                                             \
  do {                                                                      \
    const FrameHeader& leave_header = HeaderOf(base);                       \
    ReleaseRefs(base, leave_header.function->ref_count);                    \
    pc = leave_header.return_pc;                                            \
    base = reinterpret_cast<uint32_t*>(reinterpret_cast<std::byte*>(base) - \
                                       leave_header.caller_distance);       \
  } while (false)

#if TAKT_VM_COMPUTED_GOTO
  static const void* const kLabels[] = {
#define TAKT_VM_PLAIN_OP(name) &&L_##name,
#define TAKT_VM_INNER_OP(name) &&L_##name,
#define TAKT_VM_BRANCH_OP(name) &&L_##name, &&L_##name##Back,
#include "vm/inner_ops.inc"
#undef TAKT_VM_PLAIN_OP
#undef TAKT_VM_INNER_OP
#undef TAKT_VM_BRANCH_OP
  };
#define OP(name) L_##name:
#define DISPATCH() goto* kLabels[pc->op]
  DISPATCH();
#else
#define OP(name) case InnerOp::name:
#define DISPATCH() goto dispatch
dispatch:
  switch (static_cast<InnerOp>(pc->op)) {
    case InnerOp::kCount:
      break;
#endif

  // Integers.
  TERNARY(kSelectI32, int32_t, uint32_t, x != 0 ? y : z)
  TERNARY(kSelectI64, int32_t, uint64_t, x != 0 ? y : z)
  BINARY(kAddI32, uint32_t, uint32_t, x + y)
  BINARY(kAddI64, uint64_t, uint64_t, x + y)
  BINARY(kSubI32, uint32_t, uint32_t, x - y)
  BINARY(kSubI64, uint64_t, uint64_t, x - y)
  BINARY(kMulI32, uint32_t, uint32_t, x * y)
  BINARY(kMulI64, uint64_t, uint64_t, x * y)
  DIVISION(kDivI32S, int32_t, Divide)
  DIVISION(kDivI64S, int64_t, Divide)
  DIVISION(kDivI32U, uint32_t, Divide)
  DIVISION(kDivI64U, uint64_t, Divide)
  DIVISION(kRemI32S, int32_t, Remainder)
  DIVISION(kRemI64S, int64_t, Remainder)
  DIVISION(kRemI32U, uint32_t, Remainder)
  DIVISION(kRemI64U, uint64_t, Remainder)
  TERNARY(kFmaI32, uint32_t, uint32_t, x * y + z)
  TERNARY(kFmaI64, uint64_t, uint64_t, x * y + z)
  UNARY(kAbsI32, int32_t, int32_t, WrappingAbs(x))
  UNARY(kAbsI64, int64_t, int64_t, WrappingAbs(x))
  BINARY(kMinI32S, int32_t, int32_t, y < x ? y : x)
  BINARY(kMinI64S, int64_t, int64_t, y < x ? y : x)
  BINARY(kMinI32U, uint32_t, uint32_t, y < x ? y : x)
  BINARY(kMinI64U, uint64_t, uint64_t, y < x ? y : x)
  BINARY(kMaxI32S, int32_t, int32_t, x < y ? y : x)
  BINARY(kMaxI64S, int64_t, int64_t, x < y ? y : x)
  BINARY(kMaxI32U, uint32_t, uint32_t, x < y ? y : x)
  BINARY(kMaxI64U, uint64_t, uint64_t, x < y ? y : x)
  UNARY(kNotI32, uint32_t, uint32_t, ~x)
  UNARY(kNotI64, uint64_t, uint64_t, ~x)
  BINARY(kAndI32, uint32_t, uint32_t, (x & y))
  BINARY(kAndI64, uint64_t, uint64_t, (x & y))
  BINARY(kOrI32, uint32_t, uint32_t, x | y)
  BINARY(kOrI64, uint64_t, uint64_t, x | y)
  BINARY(kXorI32, uint32_t, uint32_t, x ^ y)
  BINARY(kXorI64, uint64_t, uint64_t, x ^ y)
  UNARY(kCtlzI32, uint32_t, int32_t, CountLeadingZeros(x))
  UNARY(kCtlzI64, uint64_t, int64_t, CountLeadingZeros(x))
  SHIFT(kShlI32, uint32_t, x << y)
  SHIFT(kShlI64, uint64_t, x << y)
  SHIFT(kShrI32S, int32_t, x >> y)
  SHIFT(kShrI64S, int64_t, x >> y)
  SHIFT(kShrI32U, uint32_t, x >> y)
  SHIFT(kShrI64U, uint64_t, x >> y)
  UNARY(kTruncI32I8, uint32_t, uint32_t, x & 0xff)
  UNARY(kTruncI32I16, uint32_t, uint32_t, x & 0xffff)
  UNARY(kExtI8I32S, uint32_t, int32_t, static_cast<int8_t>(x))
  UNARY(kExtI16I32S, uint32_t, int32_t, static_cast<int16_t>(x))
  UNARY(kExtI32I64S, int32_t, int64_t, x)
  UNARY(kExtI32I64U, uint32_t, uint64_t, x)
  BINARY(kCmpEqI32, uint32_t, int32_t, x == y)
  BINARY(kCmpEqI64, uint64_t, int32_t, x == y)
  BINARY(kCmpNeI32, uint32_t, int32_t, x != y)
  BINARY(kCmpNeI64, uint64_t, int32_t, x != y)
  BINARY(kCmpLtI32S, int32_t, int32_t, x < y)
  BINARY(kCmpLtI64S, int64_t, int32_t, x < y)
  BINARY(kCmpLtI32U, uint32_t, int32_t, x < y)
  BINARY(kCmpLtI64U, uint64_t, int32_t, x < y)
  UNARY(kCmpNzI32, uint32_t, int32_t, x != 0)
  UNARY(kCmpNzI64, uint64_t, int32_t, x != 0)

  // Floats.
  BINARY(kAddF32, float, float, x + y)
  BINARY(kAddF64, double, double, x + y)
  BINARY(kSubF32, float, float, x - y)
  BINARY(kSubF64, double, double, x - y)
  BINARY(kMulF32, float, float, (x * y))
  BINARY(kMulF64, double, double, (x * y))
  BINARY(kDivF32, float, float, x / y)
  BINARY(kDivF64, double, double, x / y)
  BINARY(kRemF32, float, float, std::remainder(x, y))
  BINARY(kRemF64, double, double, std::remainder(x, y))
  TERNARY(kFmaF32, float, float, (x * y) + z)
  TERNARY(kFmaF64, double, double, (x * y) + z)
  UNARY(kAbsF32, float, float, std::fabs(x))
  UNARY(kAbsF64, double, double, std::fabs(x))
  UNARY(kNegF32, float, float, -x)
  UNARY(kNegF64, double, double, -x)
  UNARY(kCeilF32, float, float, std::ceil(x))
  UNARY(kCeilF64, double, double, std::ceil(x))
  UNARY(kFloorF32, float, float, std::floor(x))
  UNARY(kFloorF64, double, double, std::floor(x))
  UNARY(kRoundF32, float, float, std::round(x))
  UNARY(kRoundF64, double, double, std::round(x))
  UNARY(kRoundF32Even, float, float, std::nearbyint(x))
  UNARY(kRoundF64Even, double, double, std::nearbyint(x))
  BINARY(kMinF32, float, float, y < x ? y : x)
  BINARY(kMinF64, double, double, y < x ? y : x)
  BINARY(kMaxF32, float, float, x < y ? y : x)
  BINARY(kMaxF64, double, double, x < y ? y : x)
  UNARY(kAtanF32, float, float, std::atan(x))
  UNARY(kAtanF64, double, double, std::atan(x))
  BINARY(kAtan2F32, float, float, std::atan2(x, y))
  BINARY(kAtan2F64, double, double, std::atan2(x, y))
  UNARY(kCosF32, float, float, std::cos(x))
  UNARY(kCosF64, double, double, std::cos(x))
  UNARY(kSinF32, float, float, std::sin(x))
  UNARY(kSinF64, double, double, std::sin(x))
  UNARY(kExpF32, float, float, std::exp(x))
  UNARY(kExpF64, double, double, std::exp(x))
  UNARY(kExp2F32, float, float, std::exp2(x))
  UNARY(kExp2F64, double, double, std::exp2(x))
  UNARY(kExpm1F32, float, float, std::expm1(x))
  UNARY(kExpm1F64, double, double, std::expm1(x))
  UNARY(kLogF32, float, float, std::log(x))
  UNARY(kLogF64, double, double, std::log(x))
  UNARY(kLog10F32, float, float, std::log10(x))
  UNARY(kLog10F64, double, double, std::log10(x))
  UNARY(kLog1pF32, float, float, std::log1p(x))
  UNARY(kLog1pF64, double, double, std::log1p(x))
  UNARY(kLog2F32, float, float, std::log2(x))
  UNARY(kLog2F64, double, double, std::log2(x))
  BINARY(kPowF32, float, float, std::pow(x, y))
  BINARY(kPowF64, double, double, std::pow(x, y))
  UNARY(kRsqrtF32, float, float, 1.0f / std::sqrt(x))
  UNARY(kRsqrtF64, double, double, 1.0 / std::sqrt(x))
  UNARY(kSqrtF32, float, float, std::sqrt(x))
  UNARY(kSqrtF64, double, double, std::sqrt(x))
  UNARY(kTanhF32, float, float, std::tanh(x))
  UNARY(kTanhF64, double, double, std::tanh(x))
  UNARY(kErfF32, float, float, std::erf(x))
  UNARY(kErfF64, double, double, std::erf(x))
  UNARY(kCastSi32F32, int32_t, float, static_cast<float>(x))
  UNARY(kCastSi32F64, int32_t, double, static_cast<double>(x))
  UNARY(kCastUi32F32, uint32_t, float, static_cast<float>(x))
  UNARY(kCastUi32F64, uint32_t, double, static_cast<double>(x))
  UNARY(kCastSi64F32, int64_t, float, static_cast<float>(x))
  UNARY(kCastSi64F64, int64_t, double, static_cast<double>(x))
  UNARY(kCastUi64F32, uint64_t, float, static_cast<float>(x))
  UNARY(kCastUi64F64, uint64_t, double, static_cast<double>(x))
  UNARY(kCastF32Si32, float, int32_t, RoundToI32(x))
  UNARY(kCastF64Si32, double, int32_t, RoundToI32(static_cast<float>(x)))
  UNARY(kCastF32Si64, float, int64_t, RoundToI64(x))
  UNARY(kCastF64Si64, double, int64_t, RoundToI64(x))
  UNARY(kCastF32Ui64, float, uint64_t, RoundToU64(x))
  UNARY(kTruncF64F32, double, float, static_cast<float>(x))
  UNARY(kExtF32F64, float, double, x)
  BINARY(kCmpEqF32O, float, int32_t, x == y)
  BINARY(kCmpEqF64O, double, int32_t, x == y)
  BINARY(kCmpEqF32U, float, int32_t, !(x < y) && !(x > y))
  BINARY(kCmpEqF64U, double, int32_t, !(x < y) && !(x > y))
  BINARY(kCmpNeF32U, float, int32_t, x != y)
  BINARY(kCmpNeF64U, double, int32_t, x != y)
  BINARY(kCmpLtF32O, float, int32_t, x < y)
  BINARY(kCmpLtF64O, double, int32_t, x < y)
  BINARY(kCmpLtF32U, float, int32_t, !(x >= y))
  BINARY(kCmpLtF64U, double, int32_t, !(x >= y))
  BINARY(kCmpLteF32O, float, int32_t, x <= y)
  BINARY(kCmpLteF64O, double, int32_t, x <= y)
  BINARY(kCmpLteF32U, float, int32_t, !(x > y))
  BINARY(kCmpLteF64U, double, int32_t, !(x > y))
  UNARY(kCmpNanF32, float, int32_t, std::isnan(x))
  UNARY(kCmpNanF64, double, int32_t, std::isnan(x))

  // Constants and moves.
  OP(kLoadConstant32) {
    Set<int32_t>(base, pc->a, pc->wide());
    NEXT(1);
  }
  OP(kLoadConstant64) {
    Set<int64_t>(base, pc->a, pc->wide());
    NEXT(1);
  }
  OP(kLoadConstantBig64) {
    Set<uint64_t>(base, pc->a, pc[1].payload<uint64_t>());
    NEXT(2);
  }
  OP(kLoadRodata) {
    Object* const buffer = pc[1].payload<Object*>();
    buffer->Retain();
    Put(base, pc->a, buffer);
    NEXT(2);
  }
  UNARY(kMove32, uint32_t, uint32_t, x)
  UNARY(kMove64, uint64_t, uint64_t, x)
  UNARY(kAddConstantI32, uint32_t, uint32_t, x + static_cast<uint32_t>(pc->c))
  UNARY(kAddConstantI64, uint64_t, uint64_t, x + static_cast<uint64_t>(pc->c))
  OP(kSwitch32) {
    const int16_t chosen = Choose(base, pc, pc + 1);
    Set<uint32_t>(base, pc->a, Get<uint32_t>(base, chosen));
    NEXT(2 + UnitsOfList(pc[1].payload<uint64_t>()));
  }
  OP(kSwitch64) {
    const int16_t chosen = Choose(base, pc, pc + 1);
    Set<uint64_t>(base, pc->a, Get<uint64_t>(base, chosen));
    NEXT(2 + UnitsOfList(pc[1].payload<uint64_t>()));
  }

  // Globals.
  OP(kGlobalLoad32) {
    std::memcpy(base + pc->a, HeaderOf(base).instance->globals + pc->wide(), 4);
    NEXT(1);
  }
  OP(kGlobalLoad64) {
    std::memcpy(base + pc->a, HeaderOf(base).instance->globals + pc->wide(), 8);
    NEXT(1);
  }
  OP(kGlobalStore32) {
    std::memcpy(HeaderOf(base).instance->globals + pc->wide(), base + pc->a, 4);
    NEXT(1);
  }
  OP(kGlobalStore64) {
    std::memcpy(HeaderOf(base).instance->globals + pc->wide(), base + pc->a, 8);
    NEXT(1);
  }
  OP(kGlobalLoadRef) {
    const auto global = static_cast<uint32_t>(pc->wide());
    NEXT_IF(LoadGlobalRef(base, pc, global, status), 2);
  }
  OP(kGlobalStoreRef) {
    const auto global = static_cast<uint32_t>(pc->wide());
    NEXT_IF(StoreGlobalRef(base, pc, global, pc->a, status), 2);
  }
  OP(kGlobalLoadIndirectI32)
  NEXT_IF(LoadIndirect<uint32_t>(base, pc, status), 1);
  OP(kGlobalLoadIndirectI64)
  NEXT_IF(LoadIndirect<uint64_t>(base, pc, status), 1);
  OP(kGlobalStoreIndirectI32)
  NEXT_IF(StoreIndirect<uint32_t>(base, pc, status), 1);
  OP(kGlobalStoreIndirectI64)
  NEXT_IF(StoreIndirect<uint64_t>(base, pc, status), 1);
  OP(kGlobalLoadIndirectRef) {
    const auto global = Get<uint32_t>(base, pc->b);
    NEXT_IF(LoadGlobalRef(base, pc, global, status), 2);
  }
  OP(kGlobalStoreIndirectRef) {
    const auto global = Get<uint32_t>(base, pc->a);
    NEXT_IF(StoreGlobalRef(base, pc, global, pc->b, status), 2);
  }

  // Refs.
  OP(kConstRefZero) {
    Discard(base, pc->a);
    NEXT(1);
  }
  OP(kAssignRef) {
    Put(base, pc->a, Take(base, pc->b));
    NEXT(1);
  }
  OP(kCmpEqRef) {
    Set<int32_t>(base, pc->a, Peek(base, pc->b) == Peek(base, pc->c));
    NEXT(1);
  }
  OP(kCmpNeRef) {
    Set<int32_t>(base, pc->a, Peek(base, pc->b) != Peek(base, pc->c));
    NEXT(1);
  }
  OP(kCmpNzRef) {
    Set<int32_t>(base, pc->a, Peek(base, pc->b) != nullptr);
    NEXT(1);
  }
  OP(kSelectRef) NEXT_IF(SelectRef(base, pc, status), 3);
  OP(kCastAnyRef) NEXT_IF(CastRef(base, pc, status), 2);
  OP(kSwitchRef) {
    if (!SwitchRef(base, pc, status)) goto failed;
    NEXT(3 + UnitsOfList(pc[2].payload<uint64_t>()));
  }
  OP(kDiscardRefs) {
    const auto count = static_cast<uint32_t>(pc->wide());
    const int16_t* const list = pc[1].list();
    for (uint32_t i = 0; i < count; ++i) Discard(base, list[i]);
    NEXT(1 + UnitsOfList(count));
  }

  // Buffers.
  OP(kBufferLoadI8U) NEXT_IF((Load<uint8_t, uint32_t>(base, pc, status)), 1);
  OP(kBufferLoadI8S) NEXT_IF((Load<int8_t, int32_t>(base, pc, status)), 1);
  OP(kBufferLoadI16U) NEXT_IF((Load<uint16_t, uint32_t>(base, pc, status)), 1);
  OP(kBufferLoadI16S) NEXT_IF((Load<int16_t, int32_t>(base, pc, status)), 1);
  OP(kBufferLoadI32) NEXT_IF((Load<uint32_t, uint32_t>(base, pc, status)), 1);
  OP(kBufferLoadI64) NEXT_IF((Load<uint64_t, uint64_t>(base, pc, status)), 1);
  OP(kBufferStoreI8) NEXT_IF(Store<uint8_t>(base, pc, status), 1);
  OP(kBufferStoreI16) NEXT_IF(Store<uint16_t>(base, pc, status), 1);
  OP(kBufferStoreI32) NEXT_IF(Store<uint32_t>(base, pc, status), 1);
  OP(kBufferStoreI64) NEXT_IF(Store<uint64_t>(base, pc, status), 1);
  OP(kBufferFillI8) {
    if (!Charge(invocation, Get<uint64_t>(base, pc->c), status)) goto failed;
    NEXT_IF(Fill<uint8_t>(base, pc, status), 2);
  }
  OP(kBufferFillI16) {
    if (!Charge(invocation, Get<uint64_t>(base, pc->c), status)) goto failed;
    NEXT_IF(Fill<uint16_t>(base, pc, status), 2);
  }
  OP(kBufferFillI32) {
    if (!Charge(invocation, Get<uint64_t>(base, pc->c), status)) goto failed;
    NEXT_IF(Fill<uint32_t>(base, pc, status), 2);
  }
  OP(kBufferFillI64) {
    if (!Charge(invocation, Get<uint64_t>(base, pc->c), status)) goto failed;
    NEXT_IF(Fill<uint64_t>(base, pc, status), 2);
  }
  OP(kBufferAlloc) {
    if (!Charge(invocation, Get<uint64_t>(base, pc->b), status)) goto failed;
    NEXT_IF(Alloc(base, pc, invocation.pool(), status), 1);
  }
  OP(kBufferClone) {
    const auto length = Get<uint64_t>(base, pc[1].list()[0]);
    if (!Charge(invocation, length, status)) goto failed;
    NEXT_IF(Clone(base, pc, invocation.pool(), status), 2);
  }
  OP(kBufferLength) {
    const Buffer* const buffer = BufferAt(base, pc->b, status);
    if (buffer == nullptr) goto failed;
    Set<uint64_t>(base, pc->a, buffer->byte_length());
    NEXT(1);
  }
  OP(kBufferCopy) {
    const auto length = Get<uint64_t>(base, pc[1].list()[1]);
    if (!Charge(invocation, length, status)) goto failed;
    NEXT_IF(Copy(base, pc, status), 2);
  }
  OP(kBufferCompare) {
    const auto length = Get<uint64_t>(base, pc[1].list()[2]);
    if (!Charge(invocation, length, status)) goto failed;
    NEXT_IF(Compare(base, pc, status), 2);
  }
  OP(kBufferHash) {
    const auto length = Get<uint64_t>(base, pc[1].list()[0]);
    if (!Charge(invocation, length, status)) goto failed;
    NEXT_IF(Hash(base, pc, status), 2);
  }

  // Lists.
  OP(kListAlloc) {
    const auto& type = *pc[1].payload<const ElementType*>();
    const auto capacity = Get<uint32_t>(base, pc->b);
    Put(base, pc->a,
        List::Create(type, capacity, &invocation.pool()).release());
    NEXT(2);
  }
  OP(kListReserve) {
    List* const list = ListAt(base, pc->a, status);
    if (list == nullptr) goto failed;
    list->Reserve(Get<uint32_t>(base, pc->b));
    NEXT(1);
  }
  OP(kListSize) {
    const List* const list = ListAt(base, pc->b, status);
    if (list == nullptr) goto failed;
    Set<uint32_t>(base, pc->a, static_cast<uint32_t>(list->size()));
    NEXT(1);
  }
  OP(kListResize) {
    const auto size = Get<uint32_t>(base, pc->b);
    if (!Charge(invocation, size * sizeof(Value), status)) goto failed;
    NEXT_IF(ListResize(base, pc, status), 1);
  }
  LIST_GET(kListGetI32, kI32, int32_t, i32)
  LIST_GET(kListGetI64, kI64, int64_t, i64)
  LIST_GET(kListGetF32, kF32, float, f32)
  LIST_GET(kListGetF64, kF64, double, f64)
  LIST_SET(kListSetI32, kI32, int32_t, i32)
  LIST_SET(kListSetI64, kI64, int64_t, i64)
  LIST_SET(kListSetF32, kF32, float, f32)
  LIST_SET(kListSetF64, kF64, double, f64)
  OP(kListGetRef) NEXT_IF(ListGetRef(base, pc, status), 2);
  OP(kListSetRef) NEXT_IF(ListSetRef(base, pc, status), 1);

  // Branches.
  OP(kJump) NEXT(pc->wide());
  OP(kJumpBack) {
    pc += pc->wide();
    POLL();
  }
  OP(kJumpTable) {
    const auto index = static_cast<uint32_t>(Get<int32_t>(base, pc->a));
    NEXT(1 + std::min(index, static_cast<uint32_t>(pc->wide())));
  }
  BRANCH1(kBranchNzI32, uint32_t, x != 0)
  BRANCH1(kBranchZI32, uint32_t, x == 0)
  BRANCH1(kBranchNzI64, uint64_t, x != 0)
  BRANCH1(kBranchZI64, uint64_t, x == 0)
  BRANCH1(kBranchNzRef, Object*, x != nullptr)
  BRANCH1(kBranchZRef, Object*, x == nullptr)
  BRANCH2(kBranchEqI32, uint32_t, x == y)
  BRANCH2(kBranchNeI32, uint32_t, x != y)
  BRANCH2(kBranchLtI32S, int32_t, x < y)
  BRANCH2(kBranchGeI32S, int32_t, x >= y)
  BRANCH2(kBranchLtI32U, uint32_t, x < y)
  BRANCH2(kBranchGeI32U, uint32_t, x >= y)
  BRANCH2(kBranchEqI64, uint64_t, x == y)
  BRANCH2(kBranchNeI64, uint64_t, x != y)
  BRANCH2(kBranchLtI64S, int64_t, x < y)
  BRANCH2(kBranchGeI64S, int64_t, x >= y)
  BRANCH2(kBranchLtI64U, uint64_t, x < y)
  BRANCH2(kBranchGeI64U, uint64_t, x >= y)

  // Calls.
  OP(kCall) {
    const Function& callee = *pc[1].payload<const Function*>();
    uint32_t* caller = base;  // `base` itself stays in a register.
    uint32_t* const frame = PushFrame(
        invocation, &caller, static_cast<uint32_t>(pc->wide()), callee);
    if (frame == nullptr) FAIL(StackOverflow());
    FrameHeader& header = HeaderOf(frame);
    header.instance = HeaderOf(caller).instance;
    header.return_pc = pc + 2 + UnitsOfList(static_cast<uint16_t>(pc->a));
    PassArguments(caller, pc[2].list(), frame, callee);
    base = frame;
    pc = callee.code;
    POLL();
  }
  OP(kCallImport) {
    const Instance& instance = *HeaderOf(base).instance;
    const Callee& callee = instance.imports[pc->wide()];
    const ImportCounts counts = CountsOf(pc);
    if (callee.native != nullptr) {
      const Outcome outcome = CallNative(invocation, callee, pc, base, status);
      if (outcome == Outcome::kDone) NEXT(UnitsOfImportCall(counts));
      if (outcome == Outcome::kFailed) goto failed;
      invocation.steps_left_ += static_cast<uint64_t>(fuel);
      return Outcome::kParked;
    }
    if (callee.function == nullptr) {
      const Program& program = *HeaderOf(base).function->program;
      FAIL(Unbound(program.import_names[pc->wide()]));
    }
    uint32_t* caller = base;
    uint32_t* const frame =
        PushFrame(invocation, &caller, HeaderOf(base).function->value_bytes,
                  *callee.function);
    if (frame == nullptr) FAIL(StackOverflow());
    FrameHeader& header = HeaderOf(frame);
    header.instance = instance.instances[callee.module];
    header.return_pc = pc + 2 + UnitsOfList(counts.entries);
    PassArguments(caller, pc[2].list(), frame, *callee.function);
    base = frame;
    pc = callee.function->code;
    POLL();
  }
  OP(kImportResolved) {
    const Callee& callee = HeaderOf(base).instance->imports[pc->wide()];
    Set<int32_t>(base, pc->a,
                 callee.native != nullptr || callee.function != nullptr);
    NEXT(1);
  }
  OP(kReturn) {
    LEAVE();
    DISPATCH();
  }
  OP(kReturn32) {
    const auto result = Get<uint32_t>(base, pc->a);
    LEAVE();
    Set<uint32_t>(base, pc->list()[0], result);
    NEXT(1);
  }
  OP(kReturn64) {
    const auto result = Get<uint64_t>(base, pc->a);
    LEAVE();
    Set<uint64_t>(base, pc->list()[0], result);
    NEXT(1);
  }
  OP(kReturnRef) {
    Object* const result = Take(base, pc->a);
    LEAVE();
    Put(base, pc->list()[0], result);
    NEXT(1);
  }
  OP(kReturnMany) {
    const FrameHeader& header = HeaderOf(base);
    auto* const caller = reinterpret_cast<uint32_t*>(
        reinterpret_cast<std::byte*>(base) - header.caller_distance);
    PassResults(base, pc, caller, header.return_pc->list());
    const auto count = static_cast<uint32_t>(pc->wide());
    LEAVE();
    NEXT(UnitsOfList(count));
  }
  OP(kYield) {
    ++pc;
    --fuel;
    goto poll;
  }
  OP(kFail) {
    const auto& texts = HeaderOf(base).function->program->texts;
    FAIL(FailStatus(Get<int32_t>(base, pc->a), texts[pc->wide()]));
  }
  OP(kExit) {
    invocation.base_ = base;
    invocation.steps_left_ += static_cast<uint64_t>(fuel);
    return Outcome::kDone;
  }

#if !TAKT_VM_COMPUTED_GOTO
}
#endif

poll : fuel = Poll(invocation, fuel, status);
if (fuel >= 0) DISPATCH();

failed : * status = Describe(*status, pc, base);
invocation.base_ = base;
return Outcome::kFailed;

#undef FAIL
#undef POLL
#undef NEXT
#undef NEXT_IF
#undef UNARY
#undef BINARY
#undef TERNARY
#undef DIVISION
#undef SHIFT
#undef LIST_GET
#undef LIST_SET
#undef BRANCH1
#undef BRANCH2
#undef LEAVE
#undef OP
#undef DISPATCH
}

}  // namespace takt::vm
