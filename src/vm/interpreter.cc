// How to read this file: vm/program.h explains units, operands and register
// addresses (a negative address is a ref, an odd one is a ref to move from).
// vm/inner_ops.inc lists the opcodes. Execute() has one short entry for each of
// them, written with the VM_ macros that are defined at its start; longer work
// is in object_ops.cc and in the functions before Execute().
#include "vm/interpreter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/lean_error.h"
#include "base/narrow.h"
#include "base/status.h"
#include "base/unaligned.h"
#include "vm/frame.h"
#include "vm/import_call.h"
#include "vm/invocation.h"
#include "vm/object_ops.h"
#include "vm/scalar_math.h"

// Threaded code (each instruction jumps to the next one by itself) needs GNU
// labels as values. Other compilers get a switch. The fuzzers' build asks for
// the switch too: clang's instrumentation is too slow where every instruction
// may jump to every other.
#if !defined(TAKT_VM_THREADED)
#if defined(__GNUC__)
#define TAKT_VM_THREADED 1
#else
#define TAKT_VM_THREADED 0
#endif
#endif

namespace takt::vm {
namespace {

using Outcome = Interpreter::Outcome;

// What pairs of instructions combine, by the names in inner_ops.inc.
template <typename T>
using Add = std::plus<T>;
template <typename T>
using Sub = std::minus<T>;
template <typename T>
using Mul = std::multiplies<T>;
template <typename T>
using And = std::bit_and<T>;
template <typename T>
using Or = std::bit_or<T>;
template <typename T>
using Xor = std::bit_xor<T>;

// The last result as it is kept: the bits of a value, zero-extended.
template <typename T>
uint64_t ToBits(T value) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<uint32_t>(value);
  } else {
    return std::bit_cast<uint64_t>(value);
  }
}
template <typename T>
T FromBits(uint64_t bits) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(static_cast<uint32_t>(bits));
  } else {
    return std::bit_cast<T>(bits);
  }
}

// The first unit of an instruction, loaded at once. The opcode and the operands
// b and c are shifted out of a register: with a load for each of them, the
// load ports limit the speed of short instructions. Operand a is needed last
// and is loaded, which spares two shifts.
class Fetched {
 public:
  explicit Fetched(const Unit* pc) { std::memcpy(&bits_, pc, sizeof(bits_)); }

  uint16_t op() const { return Truncate<uint16_t>(bits_); }
  int16_t b() const { return Truncate<int16_t>(bits_ >> 32); }
  int16_t c() const {
    return Truncate<int16_t>(static_cast<int64_t>(bits_) >> 48);
  }
  int32_t wide() const { return Truncate<int32_t>(bits_ >> 32); }

 private:
  uint64_t bits_;
};
static_assert(std::endian::native == std::endian::little);

// Returns `target`, which a backward branch jumps to. `loop` is where the last
// one jumped to. The target is known late, because its distance is loaded, and
// a short loop would spend most of its time on that. So the next round starts
// from `loop`: the processor predicts that it is the target, and checks this
// meanwhile. The empty asm keeps the compiler from using `target` if both are
// equal.
[[gnu::always_inline]] inline const Unit* Predicted(const Unit* target,
                                                    const Unit*& loop) {
#if defined(__GNUC__)
  const Unit* expected = loop;
  __asm__("" : "+r"(expected));
  if (__builtin_expect(target != expected, 0)) {
    __asm__ volatile("" : "+r"(target));  // No conditional move.
    loop = target;
  }
#else
  loop = target;
#endif
  return loop;
}

bool FailDivision(RunGuard& guard) {
  return guard.Fail(LeanError(absl::StatusCode::kInvalidArgument,
                              [] { return "division by zero"; }));
}

bool FailStack(RunGuard& guard) {
  return guard.Fail(LeanError(absl::StatusCode::kResourceExhausted, [] {
    return absl::StrCat("calls are nested too deep: more than ",
                        Interpreter::kMaxStackBytes, " bytes of frames");
  }));
}

bool FailUnbound(const uint32_t* base, const Unit* pc, RunGuard& guard) {
  const Program& program = *HeaderOf(base).function->program;
  return guard.Fail(absl::NotFoundError(
      absl::StrCat("the optional import ", program.import_names[pc->wide()],
                   " is not there")));
}

// The error of a `fail` instruction. Codes 0 (OK) and 17 name no failure, so
// they become INTERNAL. 18 is the compiler's INCOMPATIBLE; absl::Status keeps
// the number in raw_code() and reports it, like all above, as UNKNOWN.
bool FailWith(uint32_t* base, const Unit* pc, RunGuard& guard) {
  const std::string& text = HeaderOf(base).function->program->texts[pc->wide()];
  const int32_t code = Get<int32_t>(base, pc->a) & 0x1f;
  const bool has_name = code != 0 && (code <= 16 || code == 18);
  const std::string message =
      absl::StrCat(text.empty() ? "failed by the program" : text,
                   has_name ? "" : absl::StrCat(" (with code ", code, ")"));
  if (code == 0 || code == 17) return guard.Fail(absl::InternalError(message));
  return guard.Fail(absl::Status(static_cast<absl::StatusCode>(code), message));
}

// Zeroes the values of a new frame that are no arguments.
void ZeroFrom(uint32_t* base, const Function& callee) {
  auto* at = reinterpret_cast<std::byte*>(base) + callee.zero_begin;
  auto* const end = reinterpret_cast<std::byte*>(base) + callee.value_bytes;
  if ((callee.zero_begin & 4) != 0) {
    std::memset(at, 0, 4);
    at += 4;
  }
  for (; at != end; at += 8) {
    std::memset(at, 0, 8);
    // Keeps clang 14 from making the loop a call of memset: there are seldom
    // more than a few stores.
    asm volatile("" : : : "memory");
  }
}

// Eight bytes of a register of any kind. If the last store to it was of four
// bytes, a load of eight cannot be forwarded from the store buffer and stalls
// until the store is in the cache. Two loads of four do not stall. The empty
// asm keeps gcc 12 from joining them into one load.
Slot LoadSlot(const uint32_t* base, int16_t address) {
  const uint32_t* const words = base + address;
  const uint32_t low = words[0];
  uint32_t high = words[1];
#if defined(__GNUC__)
  __asm__("" : "+r"(high));
#endif
  return Slot{.i64 = static_cast<int64_t>(uint64_t{high} << 32 | low)};
}

// Copies the registers `sources` of frame `from` into the argument registers of
// `callee` in frame `to`. Every value is copied as 8 bytes, without a test of
// its width: the 4 bytes after a 32-bit argument belong to a later argument,
// which is written later, or are zeroed at the end.
void PassArguments(uint32_t* from, const int16_t* sources, uint32_t* to,
                   const Function& callee) {
  const size_t count = callee.arguments.size();
  const int16_t* const targets = callee.arguments.data();
  for (size_t i = 0; i < count; ++i) {
    if (targets[i] >= 0) {
      Set<Slot>(to, targets[i], LoadSlot(from, sources[i]));
    } else {
      RefAt(to, targets[i]) = Take(from, sources[i]);
    }
  }
  ZeroFrom(to, callee);
}

// Copies the arguments of a kCall, as the translator lists them, from registers
// of frame `from` to those of frame `to`: those that are not of 32 bits.
[[gnu::noinline]] void PassWideAndRefs(uint32_t* from, const int16_t* counts,
                                       const int16_t* move, uint32_t* to) {
  const int16_t* end = move + 2 * counts[1];
  for (; move != end; move += 2) Set(to, move[1], Get<uint64_t>(from, move[0]));
  end += 2 * counts[2];
  for (; move != end; move += 2) RefAt(to, move[1]) = Take(from, move[0]);
}
inline void PassListed(uint32_t* from, const Unit* arguments, uint32_t* to) {
  const int16_t* const counts = arguments->list();
  const int16_t* move = arguments[1].list();
  const int16_t* const end = move + 2 * counts[0];
  for (; move != end; move += 2) Set(to, move[1], Get<uint32_t>(from, move[0]));
  if ((counts[1] | counts[2]) != 0) PassWideAndRefs(from, counts, move, to);
}

// Copies the arguments of a native call from registers into its slots.
void FillSlots(const uint32_t* base, const ImportCall& lists, Slot* slots) {
  const int16_t* const addresses = lists.arguments();
  const uint32_t count = lists.argument_count();
  // A ref that is moved from stays in its register until the call is done, so
  // that a call that parks finds it again.
  for (uint32_t i = 0; i < count; ++i) slots[i] = LoadSlot(base, addresses[i]);
  for (uint32_t i = 0; i < lists.span_count(); ++i) {
    const ImportCall::Span span = lists.span(i);
    slots[span.slot] = Slot{.i64 = span.count};
  }
}

// The loops over refs call Object::Release(). Within Execute() they would take
// the machine registers that should hold its variables.
[[gnu::noinline]] void ReleaseRefs(uint32_t* base, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) Discard(base, RefAddress(i));
}
[[gnu::noinline]] void DiscardListed(uint32_t* base, const int16_t* addresses,
                                     uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) Discard(base, addresses[i]);
}

// Ends the registers' hold of the refs that a call moved from.
void DiscardMoves(uint32_t* base, const ImportCall& lists) {
  DiscardListed(base, lists.moves(), lists.move_count());
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

// Passes the results of kReturnMany, whose list has (register, width) pairs.
[[gnu::noinline]] void PassResults(uint32_t* from, const Unit* pc, uint32_t* to,
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

// Makes room for `frame_bytes` from *base on. False if that exceeds
// kMaxStackBytes. Frames move: they are addressed only by *base and by the
// distances in their headers.
bool Interpreter::GrowStack(Invocation& invocation, uint32_t** base,
                            uint64_t frame_bytes) {
  invocation.base_ = *base;  // Allocate() may throw.
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
  invocation.base_ = *base;  // No frame is looked for in the old stack.
  return true;
}

// Pushes a frame for `callee`, with its base `distance` bytes after *base.
// Returns nullptr if there is no room. *base may move.
inline uint32_t* Interpreter::PushFrame(Invocation& invocation, uint32_t** base,
                                        uint64_t distance,
                                        const Function& callee) {
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
                                const Unit* pc, uint32_t* base) {
  // Where the invocation resumes if the call parks, and what is unwound if it
  // throws.
  invocation.pc_ = pc;
  invocation.base_ = base;
  constexpr uint32_t kInlineSlots = 48;
  const ImportCall lists(pc);
  Slot inline_slots[kInlineSlots];
  std::unique_ptr<Slot[]> heap_slots;
  Slot* slots = inline_slots;
  const size_t slot_count =
      size_t{lists.argument_count()} + lists.result_count();
  if (slot_count > kInlineSlots) {
    heap_slots.reset(new Slot[slot_count]);
    slots = heap_slots.get();
  }
  FillSlots(base, lists, slots);
  Slot* const results = slots + lists.argument_count();
  for (uint32_t i = 0; i < lists.result_count(); ++i) {
    results[i].i64 = 0;
    // Keeps gcc 12 and clang 14 from making the loop a call of memset: there
    // are seldom more than two stores.
    asm volatile("" : : : "memory");
  }

  const bool resumed = std::exchange(invocation.resumed_, false);
  NativeCall call(invocation, HeaderOf(base).instance->states[callee.module],
                  slots, results, resumed);
  RunGuard& guard = invocation.guard_;
  absl::Status status = callee.native(callee.self, call);
  if (!status.ok()) {
    guard.Fail(Annotate(status, *callee.name));
    return Outcome::kFailed;
  }
  if (call.parked()) {
    const bool may_park = pc->a != 0;
    if (may_park) return Outcome::kParked;
    guard.Fail(absl::InternalError(absl::StrCat(
        *callee.name, " must wait, but was not called as yieldable")));
    return Outcome::kFailed;
  }
  invocation.parked_state_.reset();
  DiscardMoves(base, lists);
  StoreResults(base, lists.results(), *callee.results, results);
  // Calls are counted as steps, and end an invocation that was cancelled.
  return !guard.wants_attention() || guard.Poll() ? Outcome::kDone
                                                  : Outcome::kFailed;
}

bool Interpreter::Describe(const Unit* pc, const uint32_t* base,
                           RunGuard& guard) {
  const Function& function = *HeaderOf(base).function;
  if (function.program == nullptr) return false;  // The host's frame.
  return guard.Fail(Annotate(guard.error(), DescribePlace(function, pc)));
}

void Interpreter::UnwindToFirst(Invocation& invocation) {
  uint32_t*& base = invocation.base_;
  while (HeaderOf(base).caller_distance != 0) {
    ReleaseRefs(base, HeaderOf(base).function->ref_count);
    base = CallerOf(base);
  }
}

void Interpreter::Unwind(Invocation& invocation) {
  if (invocation.base_ == nullptr) return;
  UnwindToFirst(invocation);
  ReleaseRefs(invocation.base_, HeaderOf(invocation.base_).function->ref_count);
  invocation.base_ = nullptr;
}

// The loop. `base` and `pc` are the machine's registers. A computed goto must
// not leave the scope of an object with a destructor, so code that needs one
// is in a function of its own.
Outcome Interpreter::Execute(Invocation& invocation) {
  RunGuard& guard = invocation.guard_;
  uint32_t* base = invocation.base_;
  const Unit* pc = invocation.pc_;
  uint64_t last = 0;  // The last result: see inner_ops.inc.
  Fetched unit(pc);
  const Unit* loop = nullptr;  // Where the last backward branch went.

  // clang-format off
// Runs the instruction that is `units` further on.
#define VM_NEXT(units) { pc += (units); VM_DISPATCH(); }
// Runs the instruction at pc, after the poll if one is due. Every backward
// branch and every call polls, so no program runs endlessly without a poll.
#define VM_POLL() { if (__builtin_expect(guard.wants_attention(), 0)) goto poll; VM_DISPATCH(); }
// Branches back by `units`.
#define VM_BACK(units) { pc = Predicted(pc + (units), loop); VM_POLL() }

// Sets register a, and the last result, to the expression.
#define VM_SET(To, expression) \
  { \
    const auto result = static_cast<To>(expression); \
    Set<To>(base, pc->a, result); \
    last = ToBits(result); \
  }
// Sets register a to the expression. x is register b, y register c, and z the
// first operand of the list that follows. In the forms B, C and D one of them
// is the last result.
#define VM_UNARY(name, From, To, expression) \
  VM_OP(name) { \
    const auto x = Get<From>(base, unit.b()); \
    VM_SET(To, expression) \
    VM_NEXT(1) \
  }
#define VM_BINARY_FORM(name, x_value, y_value, To, expression) \
  VM_OP(name) { \
    const auto x = x_value; \
    const auto y = y_value; \
    VM_SET(To, expression) \
    VM_NEXT(1) \
  }
#define VM_MIXED(name, X, Y, To, expression) \
  VM_BINARY_FORM(name, Get<X>(base, unit.b()), Get<Y>(base, unit.c()), To, expression) \
  VM_BINARY_FORM(name##B, FromBits<X>(last), Get<Y>(base, unit.c()), To, expression) \
  VM_BINARY_FORM(name##C, Get<X>(base, unit.b()), FromBits<Y>(last), To, expression)
#define VM_BINARY(name, From, To, expression) VM_MIXED(name, From, From, To, expression)
#define VM_SHIFT(name, T, expression) VM_MIXED(name, T, uint32_t, T, expression)
#define VM_INTEGER_POWER(name, F) \
  VM_OP(name) { \
    const auto x = Get<F>(base, unit.b()); \
    const auto y = Get<int64_t>(base, unit.c()); \
    VM_SET(F, IntegerPower(x, y)) \
    VM_NEXT(1) \
  }
#define VM_TERNARY_FORM(name, x_value, y_value, z_value, To, expression) \
  VM_OP(name) { \
    const auto x = x_value; \
    const auto y = y_value; \
    const auto z = z_value; \
    VM_SET(To, expression) \
    VM_NEXT(2) \
  }
#define VM_TERNARY(name, X, T, expression) \
  VM_TERNARY_FORM(name, Get<X>(base, unit.b()), Get<T>(base, unit.c()), Get<T>(base, pc[1].list()[0]), T, expression) \
  VM_TERNARY_FORM(name##B, FromBits<X>(last), Get<T>(base, unit.c()), Get<T>(base, pc[1].list()[0]), T, expression) \
  VM_TERNARY_FORM(name##C, Get<X>(base, unit.b()), FromBits<T>(last), Get<T>(base, pc[1].list()[0]), T, expression) \
  VM_TERNARY_FORM(name##D, Get<X>(base, unit.b()), Get<T>(base, unit.c()), FromBits<T>(last), T, expression)
#define VM_PAIR(name, First, Second, T) \
  VM_TERNARY_FORM(name, Get<T>(base, unit.b()), Get<T>(base, unit.c()), Get<T>(base, pc[1].list()[0]), T, Second<T>()(First<T>()(x, y), z)) \
  VM_TERNARY_FORM(name##B, FromBits<T>(last), Get<T>(base, unit.c()), Get<T>(base, pc[1].list()[0]), T, Second<T>()(First<T>()(x, y), z))
#define VM_DIVISION(name, T, function) \
  VM_OP(name) { \
    const auto x = Get<T>(base, unit.b()); \
    const auto y = Get<T>(base, unit.c()); \
    if (y == 0) { FailDivision(guard); goto failed; } \
    VM_SET(T, function<T>(x, y)) \
    VM_NEXT(1) \
  }
// a = b[c], widened as a Register.
#define VM_LOAD_FORM(name, index, Stored, Register) \
  VM_OP(name) { \
    const ByteBuffer* const buffer = BufferAt(base, unit.b(), guard); \
    const uint64_t i = index; \
    if (buffer == nullptr || !CheckRange(*buffer, i, 1, sizeof(Stored), guard)) goto failed; \
    VM_SET(Register, LoadUnaligned<Stored>(buffer->data() + i * sizeof(Stored))) \
    VM_NEXT(1) \
  }
#define VM_LOAD(name, Stored, Register) \
  VM_LOAD_FORM(name, Get<uint64_t>(base, unit.c()), Stored, Register) \
  VM_LOAD_FORM(name##C, last, Stored, Register)
// a[b] = c.
#define VM_STORE_FORM(name, value, Stored) \
  VM_OP(name) { \
    const ByteBuffer* const buffer = MutableBufferAt(base, pc->a, guard); \
    const auto i = Get<uint64_t>(base, unit.b()); \
    if (buffer == nullptr || !CheckRange(*buffer, i, 1, sizeof(Stored), guard)) goto failed; \
    const auto stored = static_cast<Stored>(value); \
    std::memcpy(buffer->data() + i * sizeof(Stored), &stored, sizeof(Stored)); \
    VM_NEXT(1) \
  }
#define VM_STORE(name, Stored) \
  VM_STORE_FORM(name, Get<Stored>(base, unit.c()), Stored) \
  VM_STORE_FORM(name##C, last, Stored)
// Calls a function of object_ops.h, which may throw; the instruction takes
// `units` units.
#define VM_OBJECT(name, function, units) \
  VM_OP(name) { \
    invocation.base_ = base; \
    if (!function(base, pc, guard)) goto failed; \
    VM_NEXT(units) \
  }
// Jumps by `wide` if the expression holds; x is register a. The second opcode
// is the same branch backward, which polls.
#define VM_BRANCH1(name, T, expression) \
  VM_OP(name) { \
    const auto x = Get<T>(base, pc->a); \
    VM_NEXT((expression) ? unit.wide() : 1) \
  } \
  VM_OP(name##Back) { \
    const auto x = Get<T>(base, pc->a); \
    if (__builtin_expect(!(expression), 0)) VM_NEXT(1) \
    VM_BACK(unit.wide()) \
  }
// Jumps by c if the expression holds; x is register a, y register b.
#define VM_BRANCH2(name, T, expression) \
  VM_OP(name) { \
    const auto x = Get<T>(base, pc->a); \
    const auto y = Get<T>(base, unit.b()); \
    if (expression) VM_NEXT(unit.c()) \
    VM_NEXT(1) \
  } \
  VM_OP(name##Back) { \
    const auto x = Get<T>(base, pc->a); \
    const auto y = Get<T>(base, unit.b()); \
    if (__builtin_expect(!(expression), 0)) VM_NEXT(1) \
    VM_BACK(unit.c()) \
  }
// Sets register a to x = b + c, then branches on x and y.
#define VM_ADD_BRANCH(name, T, expression) \
  VM_OP(name) { \
    const auto x = static_cast<T>(Get<std::make_unsigned_t<T>>(base, unit.b()) + \
                                  Get<std::make_unsigned_t<T>>(base, unit.c())); \
    const auto y = Get<T>(base, pc[1].list()[0]); \
    Set<T>(base, pc->a, x); \
    if (expression) VM_NEXT(pc[1].a) \
    VM_NEXT(2) \
  } \
  VM_OP(name##Back) { \
    const auto x = static_cast<T>(Get<std::make_unsigned_t<T>>(base, unit.b()) + \
                                  Get<std::make_unsigned_t<T>>(base, unit.c())); \
    const auto y = Get<T>(base, pc[1].list()[0]); \
    Set<T>(base, pc->a, x); \
    if (__builtin_expect(!(expression), 0)) VM_NEXT(2) \
    VM_BACK(pc[1].a) \
  }
// Pops the frame. Then pc is at the caller's list of result registers.
#define VM_POP_FRAME() \
  { \
    const uint32_t ref_count = HeaderOf(base).function->ref_count; \
    if (ref_count != 0) ReleaseRefs(base, ref_count); \
    pc = HeaderOf(base).return_pc; \
    base = CallerOf(base); \
  }
// Passes one value to the caller.
#define VM_RETURN(name, T, value) \
  VM_OP(name) { \
    const T result = value; \
    VM_POP_FRAME() \
    Set(base, pc->list()[0], result); \
    VM_NEXT(1) \
  }

#if TAKT_VM_THREADED
  static const void* const kLabels[] = {
#define TAKT_VM_PLAIN_OP(name) &&L_##name,
#define TAKT_VM_INNER_OP(name) &&L_##name,
#define TAKT_VM_BRANCH_OP(name) &&L_##name, &&L_##name##Back,
#include "vm/inner_ops.inc"
  };
#define VM_OP(name) L_##name:
#define VM_DISPATCH() { unit = Fetched(pc); goto *kLabels[unit.op()]; }
  VM_DISPATCH();
#else
#define VM_OP(name) case InnerOp::name:
#define VM_DISPATCH() goto dispatch
dispatch:
  unit = Fetched(pc);
  switch (static_cast<InnerOp>(unit.op())) {
    case InnerOp::kCount: return Outcome::kFailed;  // Never emitted.
#endif

  // Integers.
  VM_TERNARY(kSelectI32, int32_t, uint32_t, x != 0 ? y : z)
  VM_TERNARY(kSelectI64, int32_t, uint64_t, x != 0 ? y : z)
  VM_BINARY(kAddI32, uint32_t, uint32_t, x + y)
  VM_BINARY(kAddI64, uint64_t, uint64_t, x + y)
  VM_BINARY(kSubI32, uint32_t, uint32_t, x - y)
  VM_BINARY(kSubI64, uint64_t, uint64_t, x - y)
  VM_BINARY(kMulI32, uint32_t, uint32_t, x * y)
  VM_BINARY(kMulI64, uint64_t, uint64_t, x * y)
  VM_DIVISION(kDivI32S, int32_t, Divide)
  VM_DIVISION(kDivI64S, int64_t, Divide)
  VM_DIVISION(kDivI32U, uint32_t, Divide)
  VM_DIVISION(kDivI64U, uint64_t, Divide)
  VM_DIVISION(kRemI32S, int32_t, Remainder)
  VM_DIVISION(kRemI64S, int64_t, Remainder)
  VM_DIVISION(kRemI32U, uint32_t, Remainder)
  VM_DIVISION(kRemI64U, uint64_t, Remainder)
  VM_TERNARY(kFmaI32, uint32_t, uint32_t, x * y + z)
  VM_TERNARY(kFmaI64, uint64_t, uint64_t, x * y + z)
  VM_UNARY(kAbsI32, int32_t, int32_t, WrappingAbs(x))
  VM_UNARY(kAbsI64, int64_t, int64_t, WrappingAbs(x))
  VM_BINARY(kMinI32S, int32_t, int32_t, y < x ? y : x)
  VM_BINARY(kMinI64S, int64_t, int64_t, y < x ? y : x)
  VM_BINARY(kMinI32U, uint32_t, uint32_t, y < x ? y : x)
  VM_BINARY(kMinI64U, uint64_t, uint64_t, y < x ? y : x)
  VM_BINARY(kMaxI32S, int32_t, int32_t, x < y ? y : x)
  VM_BINARY(kMaxI64S, int64_t, int64_t, x < y ? y : x)
  VM_BINARY(kMaxI32U, uint32_t, uint32_t, x < y ? y : x)
  VM_BINARY(kMaxI64U, uint64_t, uint64_t, x < y ? y : x)
  VM_UNARY(kNotI32, uint32_t, uint32_t, ~x)
  VM_UNARY(kNotI64, uint64_t, uint64_t, ~x)
  VM_BINARY(kAndI32, uint32_t, uint32_t, (x & y))
  VM_BINARY(kAndI64, uint64_t, uint64_t, (x & y))
  VM_BINARY(kOrI32, uint32_t, uint32_t, x | y)
  VM_BINARY(kOrI64, uint64_t, uint64_t, x | y)
  VM_BINARY(kXorI32, uint32_t, uint32_t, x ^ y)
  VM_BINARY(kXorI64, uint64_t, uint64_t, x ^ y)
  VM_UNARY(kCtlzI32, uint32_t, int32_t, CountLeadingZeros(x))
  VM_UNARY(kCtlzI64, uint64_t, int64_t, CountLeadingZeros(x))
  VM_SHIFT(kShlI32, uint32_t, x << (y & 31))
  VM_SHIFT(kShlI64, uint64_t, x << (y & 63))
  VM_SHIFT(kShrI32S, int32_t, x >> (y & 31))
  VM_SHIFT(kShrI64S, int64_t, x >> (y & 63))
  VM_SHIFT(kShrI32U, uint32_t, x >> (y & 31))
  VM_SHIFT(kShrI64U, uint64_t, x >> (y & 63))
  VM_UNARY(kTruncI32I8, uint32_t, uint32_t, x & 0xff)
  VM_UNARY(kTruncI32I16, uint32_t, uint32_t, x & 0xffff)
  VM_UNARY(kExtI8I32S, uint32_t, int32_t, static_cast<int8_t>(x))
  VM_UNARY(kExtI16I32S, uint32_t, int32_t, static_cast<int16_t>(x))
  VM_UNARY(kExtI32I64S, int32_t, int64_t, x)
  VM_UNARY(kExtI32I64U, uint32_t, uint64_t, x)
  VM_BINARY(kCmpEqI32, uint32_t, int32_t, x == y)
  VM_BINARY(kCmpEqI64, uint64_t, int32_t, x == y)
  VM_BINARY(kCmpNeI32, uint32_t, int32_t, x != y)
  VM_BINARY(kCmpNeI64, uint64_t, int32_t, x != y)
  VM_BINARY(kCmpLtI32S, int32_t, int32_t, x < y)
  VM_BINARY(kCmpLtI64S, int64_t, int32_t, x < y)
  VM_BINARY(kCmpLtI32U, uint32_t, int32_t, x < y)
  VM_BINARY(kCmpLtI64U, uint64_t, int32_t, x < y)
  VM_UNARY(kCmpNzI32, uint32_t, int32_t, x != 0)
  VM_UNARY(kCmpNzI64, uint64_t, int32_t, x != 0)

  // Floats.
  VM_BINARY(kAddF32, float, float, x + y)
  VM_BINARY(kAddF64, double, double, x + y)
  VM_BINARY(kSubF32, float, float, x - y)
  VM_BINARY(kSubF64, double, double, x - y)
  VM_BINARY(kMulF32, float, float, (x * y))
  VM_BINARY(kMulF64, double, double, (x * y))
  VM_BINARY(kDivF32, float, float, x / y)
  VM_BINARY(kDivF64, double, double, x / y)
  VM_BINARY(kRemF32, float, float, std::remainder(x, y))
  VM_BINARY(kRemF64, double, double, std::remainder(x, y))
  VM_TERNARY(kFmaF32, float, float, (x * y) + z)
  VM_TERNARY(kFmaF64, double, double, (x * y) + z)
  VM_UNARY(kAbsF32, float, float, std::fabs(x))
  VM_UNARY(kAbsF64, double, double, std::fabs(x))
  VM_UNARY(kNegF32, float, float, -x)
  VM_UNARY(kNegF64, double, double, -x)
  VM_UNARY(kCeilF32, float, float, std::ceil(x))
  VM_UNARY(kCeilF64, double, double, std::ceil(x))
  VM_UNARY(kFloorF32, float, float, std::floor(x))
  VM_UNARY(kFloorF64, double, double, std::floor(x))
  VM_UNARY(kRoundF32, float, float, std::round(x))
  VM_UNARY(kRoundF64, double, double, std::round(x))
  VM_UNARY(kRoundF32Even, float, float, std::nearbyint(x))
  VM_UNARY(kRoundF64Even, double, double, std::nearbyint(x))
  VM_BINARY(kMinF32, float, float, y < x ? y : x)
  VM_BINARY(kMinF64, double, double, y < x ? y : x)
  VM_BINARY(kMaxF32, float, float, x < y ? y : x)
  VM_BINARY(kMaxF64, double, double, x < y ? y : x)
  VM_UNARY(kAtanF32, float, float, std::atan(x))
  VM_UNARY(kAtanF64, double, double, std::atan(x))
  VM_BINARY(kAtan2F32, float, float, std::atan2(x, y))
  VM_BINARY(kAtan2F64, double, double, std::atan2(x, y))
  VM_UNARY(kCosF32, float, float, std::cos(x))
  VM_UNARY(kCosF64, double, double, std::cos(x))
  VM_UNARY(kSinF32, float, float, std::sin(x))
  VM_UNARY(kSinF64, double, double, std::sin(x))
  VM_UNARY(kExpF32, float, float, std::exp(x))
  VM_UNARY(kExpF64, double, double, std::exp(x))
  VM_UNARY(kExp2F32, float, float, std::exp2(x))
  VM_UNARY(kExp2F64, double, double, std::exp2(x))
  VM_UNARY(kExpm1F32, float, float, std::expm1(x))
  VM_UNARY(kExpm1F64, double, double, std::expm1(x))
  VM_UNARY(kLogF32, float, float, std::log(x))
  VM_UNARY(kLogF64, double, double, std::log(x))
  VM_UNARY(kLog10F32, float, float, std::log10(x))
  VM_UNARY(kLog10F64, double, double, std::log10(x))
  VM_UNARY(kLog1pF32, float, float, std::log1p(x))
  VM_UNARY(kLog1pF64, double, double, std::log1p(x))
  VM_UNARY(kLog2F32, float, float, std::log2(x))
  VM_UNARY(kLog2F64, double, double, std::log2(x))
  VM_BINARY(kPowF32, float, float, std::pow(x, y))
  VM_BINARY(kPowF64, double, double, std::pow(x, y))
  VM_INTEGER_POWER(kFpowiF32, float)
  VM_INTEGER_POWER(kFpowiF64, double)
  VM_UNARY(kRsqrtF32, float, float, 1.0f / std::sqrt(x))
  VM_UNARY(kRsqrtF64, double, double, 1.0 / std::sqrt(x))
  VM_UNARY(kSqrtF32, float, float, std::sqrt(x))
  VM_UNARY(kSqrtF64, double, double, std::sqrt(x))
  VM_UNARY(kTanhF32, float, float, std::tanh(x))
  VM_UNARY(kTanhF64, double, double, std::tanh(x))
  VM_UNARY(kErfF32, float, float, std::erf(x))
  VM_UNARY(kErfF64, double, double, std::erf(x))
  VM_UNARY(kCastSi32F32, int32_t, float, static_cast<float>(x))
  VM_UNARY(kCastSi32F64, int32_t, double, static_cast<double>(x))
  VM_UNARY(kCastUi32F32, uint32_t, float, static_cast<float>(x))
  VM_UNARY(kCastUi32F64, uint32_t, double, static_cast<double>(x))
  VM_UNARY(kCastSi64F32, int64_t, float, static_cast<float>(x))
  VM_UNARY(kCastSi64F64, int64_t, double, static_cast<double>(x))
  VM_UNARY(kCastUi64F32, uint64_t, float, static_cast<float>(x))
  VM_UNARY(kCastUi64F64, uint64_t, double, static_cast<double>(x))
  VM_UNARY(kCastF32Si32, float, int32_t, RoundToI32(x))
  VM_UNARY(kCastF64Si32, double, int32_t, RoundToI32(static_cast<float>(x)))
  VM_UNARY(kCastF32Si64, float, int64_t, RoundToI64(x))
  VM_UNARY(kCastF64Si64, double, int64_t, RoundToI64(x))
  VM_UNARY(kCastF32Ui64, float, uint64_t, RoundToU64(x))
  VM_UNARY(kTruncF64F32, double, float, static_cast<float>(x))
  VM_UNARY(kExtF32F64, float, double, x)
  VM_BINARY(kCmpEqF32O, float, int32_t, x == y)
  VM_BINARY(kCmpEqF64O, double, int32_t, x == y)
  VM_BINARY(kCmpEqF32U, float, int32_t, !(x < y) && !(x > y))
  VM_BINARY(kCmpEqF64U, double, int32_t, !(x < y) && !(x > y))
  VM_BINARY(kCmpNeF32U, float, int32_t, x != y)
  VM_BINARY(kCmpNeF64U, double, int32_t, x != y)
  VM_BINARY(kCmpLtF32O, float, int32_t, x < y)
  VM_BINARY(kCmpLtF64O, double, int32_t, x < y)
  VM_BINARY(kCmpLtF32U, float, int32_t, !(x >= y))
  VM_BINARY(kCmpLtF64U, double, int32_t, !(x >= y))
  VM_BINARY(kCmpLteF32O, float, int32_t, x <= y)
  VM_BINARY(kCmpLteF64O, double, int32_t, x <= y)
  VM_BINARY(kCmpLteF32U, float, int32_t, !(x > y))
  VM_BINARY(kCmpLteF64U, double, int32_t, !(x > y))
  VM_UNARY(kCmpNanF32, float, int32_t, std::isnan(x))
  VM_UNARY(kCmpNanF64, double, int32_t, std::isnan(x))

  // Constants, moves, globals.
  VM_OP(kLoadConstant32) { Set<int32_t>(base, pc->a, unit.wide()); VM_NEXT(1) }
  VM_OP(kLoadConstant64) { Set<int64_t>(base, pc->a, unit.wide()); VM_NEXT(1) }
  VM_OP(kLoadConstantBig64) { Set(base, pc->a, pc[1].payload<uint64_t>()); VM_NEXT(2) }
  VM_OP(kLoadRodata) {
    Object* const buffer = pc[1].payload<Object*>();
    buffer->Retain();
    Put(base, pc->a, buffer);
    VM_NEXT(2)
  }
  VM_UNARY(kMove32, uint32_t, uint32_t, x)
  VM_UNARY(kMove64, uint64_t, uint64_t, x)
  VM_UNARY(kAddConstantI32, uint32_t, uint32_t, x + static_cast<uint32_t>(unit.c()))
  VM_UNARY(kAddConstantI64, uint64_t, uint64_t, x + static_cast<uint64_t>(unit.c()))
  VM_OP(kSwitch32) {
    Set(base, pc->a, Get<uint32_t>(base, Choose(base, pc, pc + 1)));
    VM_NEXT(2 + UnitsOfList(pc[1].payload<uint64_t>()))
  }
  VM_OP(kSwitch64) {
    Set(base, pc->a, Get<uint64_t>(base, Choose(base, pc, pc + 1)));
    VM_NEXT(2 + UnitsOfList(pc[1].payload<uint64_t>()))
  }
  VM_OP(kGlobalLoad32) {
    std::memcpy(base + pc->a, HeaderOf(base).instance->globals + unit.wide(), 4);
    VM_NEXT(1)
  }
  VM_OP(kGlobalLoad64) {
    std::memcpy(base + pc->a, HeaderOf(base).instance->globals + unit.wide(), 8);
    VM_NEXT(1)
  }
  VM_OP(kGlobalStore32) {
    std::memcpy(HeaderOf(base).instance->globals + unit.wide(), base + pc->a, 4);
    VM_NEXT(1)
  }
  VM_OP(kGlobalStore64) {
    std::memcpy(HeaderOf(base).instance->globals + unit.wide(), base + pc->a, 8);
    VM_NEXT(1)
  }
  VM_OBJECT(kGlobalLoadIndirectI32, LoadGlobalIndirect<uint32_t>, 1)
  VM_OBJECT(kGlobalLoadIndirectI64, LoadGlobalIndirect<uint64_t>, 1)
  VM_OBJECT(kGlobalStoreIndirectI32, StoreGlobalIndirect<uint32_t>, 1)
  VM_OBJECT(kGlobalStoreIndirectI64, StoreGlobalIndirect<uint64_t>, 1)
  VM_OBJECT(kGlobalLoadRef, LoadGlobalRef, 2)
  VM_OBJECT(kGlobalStoreRef, StoreGlobalRef, 2)
  VM_OBJECT(kGlobalLoadIndirectRef, LoadGlobalRefIndirect, 2)
  VM_OBJECT(kGlobalStoreIndirectRef, StoreGlobalRefIndirect, 2)

  // Refs.
  VM_OP(kConstRefZero) { Discard(base, pc->a); VM_NEXT(1) }
  VM_OP(kAssignRef) { Put(base, pc->a, Take(base, unit.b())); VM_NEXT(1) }
  VM_OP(kCmpEqRef) { Set<int32_t>(base, pc->a, Peek(base, unit.b()) == Peek(base, unit.c())); VM_NEXT(1) }
  VM_OP(kCmpNeRef) { Set<int32_t>(base, pc->a, Peek(base, unit.b()) != Peek(base, unit.c())); VM_NEXT(1) }
  VM_OP(kCmpNzRef) { Set<int32_t>(base, pc->a, Peek(base, unit.b()) != nullptr); VM_NEXT(1) }
  VM_OBJECT(kSelectRef, SelectRef, 3)
  VM_OBJECT(kSwitchRef, SwitchRef, 3 + UnitsOfList(pc[2].payload<uint64_t>()))
  VM_OBJECT(kCastAnyRef, CastRef, 2)
  VM_OP(kDiscardRefs) {
    DiscardListed(base, pc[1].list(), static_cast<uint32_t>(unit.wide()));
    VM_NEXT(1 + UnitsOfList(static_cast<uint32_t>(pc->wide())))
  }

  // Buffers.
  VM_LOAD(kBufferLoadI8U, uint8_t, uint32_t)
  VM_LOAD(kBufferLoadI8S, int8_t, int32_t)
  VM_LOAD(kBufferLoadI16U, uint16_t, uint32_t)
  VM_LOAD(kBufferLoadI16S, int16_t, int32_t)
  VM_LOAD(kBufferLoadI32, uint32_t, uint32_t)
  VM_LOAD(kBufferLoadI64, uint64_t, uint64_t)
  VM_STORE(kBufferStoreI8, uint8_t)
  VM_STORE(kBufferStoreI16, uint16_t)
  VM_STORE(kBufferStoreI32, uint32_t)
  VM_STORE(kBufferStoreI64, uint64_t)
  VM_OBJECT(kBufferFillI8, FillElements<uint8_t>, 2)
  VM_OBJECT(kBufferFillI16, FillElements<uint16_t>, 2)
  VM_OBJECT(kBufferFillI32, FillElements<uint32_t>, 2)
  VM_OBJECT(kBufferFillI64, FillElements<uint64_t>, 2)
  VM_OBJECT(kBufferAlloc, AllocateBuffer, 1)
  VM_OBJECT(kBufferClone, CloneBuffer, 2)
  VM_OBJECT(kBufferLength, BufferLength, 1)
  VM_OBJECT(kBufferCopy, CopyBuffer, 2)
  VM_OBJECT(kBufferCompare, CompareBuffers, 2)
  VM_OBJECT(kBufferHash, HashBuffer, 2)

  // Lists.
  VM_OBJECT(kListAlloc, AllocateList, 2)
  VM_OBJECT(kListReserve, ReserveList, 1)
  VM_OBJECT(kListSize, ListSize, 1)
  VM_OBJECT(kListResize, ResizeList, 1)
  VM_OBJECT(kListGetI32, GetListValue<ValueKind::kI32>, 1)
  VM_OBJECT(kListGetI64, GetListValue<ValueKind::kI64>, 1)
  VM_OBJECT(kListGetF32, GetListValue<ValueKind::kF32>, 1)
  VM_OBJECT(kListGetF64, GetListValue<ValueKind::kF64>, 1)
  VM_OBJECT(kListSetI32, SetListValue<ValueKind::kI32>, 1)
  VM_OBJECT(kListSetI64, SetListValue<ValueKind::kI64>, 1)
  VM_OBJECT(kListSetF32, SetListValue<ValueKind::kF32>, 1)
  VM_OBJECT(kListSetF64, SetListValue<ValueKind::kF64>, 1)
  VM_OBJECT(kListGetRef, GetListRef, 2)
  VM_OBJECT(kListSetRef, SetListRef, 1)

  // Branches.
  VM_OP(kJump) VM_NEXT(unit.wide())
  VM_OP(kJumpBack) VM_BACK(unit.wide())
  VM_OP(kMove32JumpBack) {
    Set(base, pc->a, Get<uint32_t>(base, unit.b()));
    VM_BACK(unit.c())
  }
  VM_OP(kMove64JumpBack) {
    Set(base, pc->a, Get<uint64_t>(base, unit.b()));
    VM_BACK(unit.c())
  }
  VM_OP(kJumpTable) {
    // An index out of range takes the last entry.
    const auto index = Get<uint32_t>(base, pc->a);
    VM_NEXT(1 + std::min(index, static_cast<uint32_t>(unit.wide())))
  }
  VM_BRANCH1(kBranchNzI32, uint32_t, x != 0)
  VM_BRANCH1(kBranchZI32, uint32_t, x == 0)
  VM_BRANCH1(kBranchNzI64, uint64_t, x != 0)
  VM_BRANCH1(kBranchZI64, uint64_t, x == 0)
  VM_BRANCH1(kBranchNzRef, Object*, x != nullptr)
  VM_BRANCH1(kBranchZRef, Object*, x == nullptr)
  VM_BRANCH2(kBranchEqI32, uint32_t, x == y)
  VM_BRANCH2(kBranchNeI32, uint32_t, x != y)
  VM_BRANCH2(kBranchLtI32S, int32_t, x < y)
  VM_BRANCH2(kBranchGeI32S, int32_t, x >= y)
  VM_BRANCH2(kBranchLtI32U, uint32_t, x < y)
  VM_BRANCH2(kBranchGeI32U, uint32_t, x >= y)
  VM_BRANCH2(kBranchEqI64, uint64_t, x == y)
  VM_BRANCH2(kBranchNeI64, uint64_t, x != y)
  VM_BRANCH2(kBranchLtI64S, int64_t, x < y)
  VM_BRANCH2(kBranchGeI64S, int64_t, x >= y)
  VM_BRANCH2(kBranchLtI64U, uint64_t, x < y)
  VM_BRANCH2(kBranchGeI64U, uint64_t, x >= y)
  VM_ADD_BRANCH(kAddBranchEqI32, int32_t, x == y)
  VM_ADD_BRANCH(kAddBranchNeI32, int32_t, x != y)
  VM_ADD_BRANCH(kAddBranchLtI32S, int32_t, x < y)
  VM_ADD_BRANCH(kAddBranchGeI32S, int32_t, x >= y)
  VM_ADD_BRANCH(kAddBranchLtI32U, uint32_t, x < y)
  VM_ADD_BRANCH(kAddBranchGeI32U, uint32_t, x >= y)
  VM_ADD_BRANCH(kAddBranchEqI64, int64_t, x == y)
  VM_ADD_BRANCH(kAddBranchNeI64, int64_t, x != y)
  VM_ADD_BRANCH(kAddBranchLtI64S, int64_t, x < y)
  VM_ADD_BRANCH(kAddBranchGeI64S, int64_t, x >= y)
  VM_ADD_BRANCH(kAddBranchLtI64U, uint64_t, x < y)
  VM_ADD_BRANCH(kAddBranchGeI64U, uint64_t, x >= y)

  // Pairs.
#define TAKT_VM_PLAIN_OP(name)
#define TAKT_VM_FORM_B(name)
#define TAKT_VM_FORM_C(name)
#define TAKT_VM_FORM_D(name)
#define TAKT_VM_INNER_OP(name)
#define TAKT_VM_PAIR_OP(name, first, second, T) VM_PAIR(name, first, second, T)
#define TAKT_VM_BRANCH_OP(name)
#include "vm/inner_ops.inc"

  // Calls.
  VM_OP(kCall) {
    const Function& callee = *pc[1].payload<const Function*>();
    uint32_t* caller = base;  // May move; `base` itself stays in a register.
    base = PushFrame(invocation, &caller, static_cast<uint32_t>(unit.wide()), callee);
    if (base == nullptr) { base = caller; FailStack(guard); goto failed; }
    HeaderOf(base).instance = HeaderOf(caller).instance;
    HeaderOf(base).return_pc = pc + static_cast<uint16_t>(pc->a);
    PassListed(caller, pc + 2, base);
    if (callee.zero_begin != callee.value_bytes) ZeroFrom(base, callee);
    pc = callee.code;
    VM_POLL()
  }
  VM_OP(kCallImport) {
    const Callee& callee = HeaderOf(base).instance->imports[unit.wide()];
    if (callee.native != nullptr) {
      const Outcome outcome = CallNative(invocation, callee, pc, base);
      if (outcome == Outcome::kFailed) goto failed;
      if (outcome == Outcome::kParked) return Outcome::kParked;
      pc = ImportCall(pc).End();
      VM_DISPATCH();
    }
    if (callee.function == nullptr) { invocation.base_ = base; FailUnbound(base, pc, guard); goto failed; }
    uint32_t* caller = base;
    base = PushFrame(invocation, &caller, DistanceOf(*HeaderOf(base).function, *callee.function), *callee.function);
    if (base == nullptr) { base = caller; FailStack(guard); goto failed; }
    HeaderOf(base).instance = HeaderOf(caller).instance->instances[callee.module];
    const ImportCall lists(pc);
    HeaderOf(base).return_pc = lists.ResultUnits();
    PassArguments(caller, lists.arguments(), base, *callee.function);
    DiscardMoves(caller, lists);
    pc = callee.function->code;
    VM_POLL()
  }
  VM_OP(kImportResolved) {
    const Callee& callee = HeaderOf(base).instance->imports[unit.wide()];
    Set<int32_t>(base, pc->a, callee.native != nullptr || callee.function != nullptr);
    VM_NEXT(1)
  }
  VM_OP(kReturn) { VM_POP_FRAME() VM_DISPATCH(); }
  VM_RETURN(kReturn32, uint32_t, Get<uint32_t>(base, pc->a))
  VM_RETURN(kReturn64, uint64_t, Get<uint64_t>(base, pc->a))
  VM_RETURN(kReturnLast32, uint32_t, static_cast<uint32_t>(last))
  VM_RETURN(kReturnLast64, uint64_t, last)
  VM_OP(kReturnRef) {
    Object* const result = Take(base, pc->a);
    VM_POP_FRAME()
    Put(base, pc->list()[0], result);
    VM_NEXT(1)
  }
  VM_OP(kReturnMany) {
    const auto count = static_cast<uint32_t>(unit.wide());
    PassResults(base, pc, CallerOf(base), HeaderOf(base).return_pc->list());
    VM_POP_FRAME()
    VM_NEXT(UnitsOfList(count))
  }
  VM_OP(kYield) { ++pc; goto poll; }
  VM_OP(kFail) { invocation.base_ = base; FailWith(base, pc, guard); goto failed; }
  VM_OP(kExit) { invocation.base_ = base; return Outcome::kDone; }

#if !TAKT_VM_THREADED
  }
#endif

poll:
  if (guard.OnlyCounts()) VM_DISPATCH();
  invocation.base_ = base;
  if (!guard.Poll()) goto failed;
  if (guard.IsInterrupted()) { invocation.pc_ = pc; return Outcome::kInterrupted; }
  VM_DISPATCH();

failed:
  invocation.base_ = base;
  Describe(pc, base, guard);
  return Outcome::kFailed;

#undef VM_NEXT
#undef VM_POLL
#undef VM_BACK
#undef VM_SET
#undef VM_UNARY
#undef VM_BINARY_FORM
#undef VM_MIXED
#undef VM_BINARY
#undef VM_INTEGER_POWER
#undef VM_TERNARY_FORM
#undef VM_TERNARY
#undef VM_PAIR
#undef VM_DIVISION
#undef VM_SHIFT
#undef VM_LOAD_FORM
#undef VM_LOAD
#undef VM_STORE_FORM
#undef VM_STORE
#undef VM_OBJECT
#undef VM_BRANCH1
#undef VM_BRANCH2
#undef VM_POP_FRAME
#undef VM_RETURN
#undef VM_ADD_BRANCH
#undef VM_OP
#undef VM_DISPATCH
// clang-format on
}

}  // namespace takt::vm
