#include "vm/interpreter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "vm/frame.h"
#include "vm/import_call.h"
#include "vm/invocation.h"
#include "vm/object_ops.h"
#include "vm/scalar_math.h"

// Threaded code needs labels as values; without them it is a switch. The
// fuzzers' build asks for the switch: clang takes forever to instrument every
// jump from every instruction to every other.
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

// The halves of a pair.
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

bool FailDivision(RunGuard& guard) {
  return guard.Fail(absl::InvalidArgumentError("division by zero"));
}

bool FailStack(RunGuard& guard) {
  return guard.Fail(absl::ResourceExhaustedError(
      absl::StrCat("calls are nested too deep: more than ",
                   Interpreter::kMaxStackBytes, " bytes of frames")));
}

bool FailUnbound(const uint32_t* base, const Unit* pc, RunGuard& guard) {
  const Program& program = *HeaderOf(base).function->program;
  return guard.Fail(absl::NotFoundError(
      absl::StrCat("the optional import ", program.import_names[pc->wide()],
                   " is not there")));
}

// What a `fail` instruction ends with. 0 is no failure and 17 no outcome of an
// instruction. 18 is the compiler's INCOMPATIBLE. Abseil calls it and all
// above UNKNOWN; raw_code() has the number.
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

// Eight bytes of a register of any kind. A processor that has just stored four
// of them would wait before it loads all eight; two loads of four do not wait,
// as long as the compiler does not make one of them.
Slot LoadSlot(const uint32_t* base, int16_t address) {
  const auto low = Get<uint32_t>(base, address);
  auto high = Get<uint32_t>(base, static_cast<int16_t>(address + 1));
#if defined(__GNUC__)
  __asm__("" : "+r"(high));
#endif
  return Slot{.i64 = static_cast<int64_t>(uint64_t{high} << 32 | low)};
}

// Fills the slots of a native call.
void FillSlots(const uint32_t* base, const ImportCall& lists, Slot* slots) {
  const int16_t* const addresses = lists.arguments();
  for (uint32_t i = 0; i < lists.argument_count(); ++i) {
    const int16_t address = addresses[i];
    // Odd refs are moved from, but only once the call is done.
    slots[i] = LoadSlot(
        base, static_cast<int16_t>(address & ~((address >> 15) & 1)));
  }
  for (uint32_t i = 0; i < lists.span_count(); ++i) {
    const ImportCall::Span span = lists.span(i);
    slots[span.slot] = Slot{.i64 = span.count};
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
                                const Unit* pc, uint32_t* base) {
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
    asm volatile("" : : : "memory");  // A store or two, not a call of memset.
  }

  // Where to go on, should the call park; and room for nothing else to change.
  invocation.pc_ = pc;
  invocation.base_ = base;
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
  const int16_t* const moves = lists.moves();
  for (uint32_t i = 0; i < lists.move_count(); ++i) Discard(base, moves[i]);
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

// The loop. `base` and `pc` are the machine's registers. Nothing with a
// destructor may live where the next instruction is jumped to, so whatever
// makes one is in a function of its own.
Outcome Interpreter::Execute(Invocation& invocation) {
  RunGuard& guard = invocation.guard_;
  uint32_t* base = invocation.base_;
  const Unit* pc = invocation.pc_;

  // clang-format off
#define NEXT(units) { pc += (units); DISPATCH(); }
// Goes on at pc, unless there is something to look at first.
#define POLL() { if (guard.wants_attention()) goto poll; DISPATCH(); }

// a = an expression of x = b, y = c, z.
#define UNARY(name, From, To, expression) \
  OP(name) { \
    const auto x = Get<From>(base, pc->b); \
    Set<To>(base, pc->a, (expression)); \
    NEXT(1) \
  }
#define BINARY(name, From, To, expression) \
  OP(name) { \
    const auto x = Get<From>(base, pc->b); \
    const auto y = Get<From>(base, pc->c); \
    Set<To>(base, pc->a, (expression)); \
    NEXT(1) \
  }
#define INTEGER_POWER(name, F) \
  OP(name) { \
    const auto x = Get<F>(base, pc->b); \
    const auto y = Get<int64_t>(base, pc->c); \
    Set<F>(base, pc->a, IntegerPower(x, y)); \
    NEXT(1) \
  }
#define TERNARY(name, First, Rest, expression) \
  OP(name) { \
    const auto x = Get<First>(base, pc->b); \
    const auto y = Get<Rest>(base, pc->c); \
    const auto z = Get<Rest>(base, pc[1].list()[0]); \
    Set<Rest>(base, pc->a, (expression)); \
    NEXT(2) \
  }
#define DIVISION(name, T, function) \
  OP(name) { \
    const auto x = Get<T>(base, pc->b); \
    const auto y = Get<T>(base, pc->c); \
    if (y == 0) { FailDivision(guard); goto failed; } \
    Set<T>(base, pc->a, function<T>(x, y)); \
    NEXT(1) \
  }
#define SHIFT(name, T, expression) \
  OP(name) { \
    const auto x = Get<T>(base, pc->b); \
    const auto y = Get<uint32_t>(base, pc->c) & (sizeof(T) * 8 - 1); \
    Set<T>(base, pc->a, static_cast<T>(expression)); \
    NEXT(1) \
  }
// A function of object_ops.h, and how many units the instruction has.
#define OBJECT(name, function, units) \
  OP(name) { \
    if (!function(base, pc, guard)) goto failed; \
    NEXT(units) \
  }
// To `wide` if the expression of x = a holds, else on; and the same backward.
#define BRANCH1(name, T, expression) \
  OP(name) { \
    const auto x = Get<T>(base, pc->a); \
    NEXT((expression) ? pc->wide() : 1) \
  } \
  OP(name##Back) { \
    const auto x = Get<T>(base, pc->a); \
    if (!(expression)) NEXT(1) \
    pc += pc->wide(); \
    POLL() \
  }
// To c if the expression of x = a and y = b holds.
#define BRANCH2(name, T, expression) \
  OP(name) { \
    const auto x = Get<T>(base, pc->a); \
    const auto y = Get<T>(base, pc->b); \
    if (expression) NEXT(pc->c) \
    NEXT(1) \
  } \
  OP(name##Back) { \
    const auto x = Get<T>(base, pc->a); \
    const auto y = Get<T>(base, pc->b); \
    if (!(expression)) NEXT(1) \
    pc += pc->c; \
    POLL() \
  }
// x = a = b + c, then a branch on x and y.
#define ADD_BRANCH(name, T, expression) \
  OP(name) { \
    const auto x = static_cast<T>(Get<std::make_unsigned_t<T>>(base, pc->b) + \
                                  Get<std::make_unsigned_t<T>>(base, pc->c)); \
    const auto y = Get<T>(base, pc[1].list()[0]); \
    Set<T>(base, pc->a, x); \
    if (expression) NEXT(pc[1].a) \
    NEXT(2) \
  } \
  OP(name##Back) { \
    const auto x = static_cast<T>(Get<std::make_unsigned_t<T>>(base, pc->b) + \
                                  Get<std::make_unsigned_t<T>>(base, pc->c)); \
    const auto y = Get<T>(base, pc[1].list()[0]); \
    Set<T>(base, pc->a, x); \
    if (!(expression)) NEXT(2) \
    pc += pc[1].a; \
    POLL() \
  }
// a = b first c, then d = a second other.
#define PAIR(name, T, First, Second) \
  OP(name) { \
    const T x = First<T>()(Get<T>(base, pc->b), Get<T>(base, pc->c)); \
    Set(base, pc->a, x); \
    Set(base, pc[1].list()[0], Second<T>()(x, Get<T>(base, pc[1].a))); \
    NEXT(2) \
  }
// Pops the frame; pc is then at the caller's list of results.
#define LEAVE() \
  { \
    ReleaseRefs(base, HeaderOf(base).function->ref_count); \
    pc = HeaderOf(base).return_pc; \
    base = CallerOf(base); \
  }

#if TAKT_VM_THREADED
  static const void* const kLabels[] = {
#define TAKT_VM_PLAIN_OP(name) &&L_##name,
#define TAKT_VM_INNER_OP(name) &&L_##name,
#define TAKT_VM_BRANCH_OP(name) &&L_##name, &&L_##name##Back,
#define TAKT_VM_PAIR_OP(first, second) &&L_k##first##second##I32, &&L_k##first##second##I64,
#include "vm/inner_ops.inc"
#undef TAKT_VM_PLAIN_OP
#undef TAKT_VM_INNER_OP
#undef TAKT_VM_BRANCH_OP
#undef TAKT_VM_PAIR_OP
  };
#define OP(name) L_##name:
#define DISPATCH() goto *kLabels[pc->op]
  DISPATCH();
#else
#define OP(name) case InnerOp::name:
#define DISPATCH() goto dispatch
dispatch:
  switch (static_cast<InnerOp>(pc->op)) {
    case InnerOp::kCount: return Outcome::kFailed;  // Never translated to.
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
  INTEGER_POWER(kFpowiF32, float)
  INTEGER_POWER(kFpowiF64, double)
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

  // Constants, moves, globals.
  OP(kLoadConstant32) { Set<int32_t>(base, pc->a, pc->wide()); NEXT(1) }
  OP(kLoadConstant64) { Set<int64_t>(base, pc->a, pc->wide()); NEXT(1) }
  OP(kLoadConstantBig64) { Set(base, pc->a, pc[1].payload<uint64_t>()); NEXT(2) }
  OP(kLoadRodata) {
    Object* const buffer = pc[1].payload<Object*>();
    buffer->Retain();
    Put(base, pc->a, buffer);
    NEXT(2)
  }
  UNARY(kMove32, uint32_t, uint32_t, x)
  UNARY(kMove64, uint64_t, uint64_t, x)
  UNARY(kAddConstantI32, uint32_t, uint32_t, x + static_cast<uint32_t>(pc->c))
  UNARY(kAddConstantI64, uint64_t, uint64_t, x + static_cast<uint64_t>(pc->c))
  OP(kSwitch32) {
    Set(base, pc->a, Get<uint32_t>(base, Choose(base, pc, pc + 1)));
    NEXT(2 + UnitsOfList(pc[1].payload<uint64_t>()))
  }
  OP(kSwitch64) {
    Set(base, pc->a, Get<uint64_t>(base, Choose(base, pc, pc + 1)));
    NEXT(2 + UnitsOfList(pc[1].payload<uint64_t>()))
  }
  OP(kGlobalLoad32) {
    std::memcpy(base + pc->a, HeaderOf(base).instance->globals + pc->wide(), 4);
    NEXT(1)
  }
  OP(kGlobalLoad64) {
    std::memcpy(base + pc->a, HeaderOf(base).instance->globals + pc->wide(), 8);
    NEXT(1)
  }
  OP(kGlobalStore32) {
    std::memcpy(HeaderOf(base).instance->globals + pc->wide(), base + pc->a, 4);
    NEXT(1)
  }
  OP(kGlobalStore64) {
    std::memcpy(HeaderOf(base).instance->globals + pc->wide(), base + pc->a, 8);
    NEXT(1)
  }
  OBJECT(kGlobalLoadIndirectI32, LoadGlobalIndirect<uint32_t>, 1)
  OBJECT(kGlobalLoadIndirectI64, LoadGlobalIndirect<uint64_t>, 1)
  OBJECT(kGlobalStoreIndirectI32, StoreGlobalIndirect<uint32_t>, 1)
  OBJECT(kGlobalStoreIndirectI64, StoreGlobalIndirect<uint64_t>, 1)
  OBJECT(kGlobalLoadRef, LoadGlobalRef, 2)
  OBJECT(kGlobalStoreRef, StoreGlobalRef, 2)
  OBJECT(kGlobalLoadIndirectRef, LoadGlobalRefIndirect, 2)
  OBJECT(kGlobalStoreIndirectRef, StoreGlobalRefIndirect, 2)

  // Refs.
  OP(kConstRefZero) { Discard(base, pc->a); NEXT(1) }
  OP(kAssignRef) { Put(base, pc->a, Take(base, pc->b)); NEXT(1) }
  OP(kCmpEqRef) { Set<int32_t>(base, pc->a, Peek(base, pc->b) == Peek(base, pc->c)); NEXT(1) }
  OP(kCmpNeRef) { Set<int32_t>(base, pc->a, Peek(base, pc->b) != Peek(base, pc->c)); NEXT(1) }
  OP(kCmpNzRef) { Set<int32_t>(base, pc->a, Peek(base, pc->b) != nullptr); NEXT(1) }
  OBJECT(kSelectRef, SelectRef, 3)
  OBJECT(kSwitchRef, SwitchRef, 3 + UnitsOfList(pc[2].payload<uint64_t>()))
  OBJECT(kCastAnyRef, CastRef, 2)
  OP(kDiscardRefs) {
    const auto count = static_cast<uint32_t>(pc->wide());
    for (uint32_t i = 0; i < count; ++i) Discard(base, pc[1].list()[i]);
    NEXT(1 + UnitsOfList(count))
  }

  // Buffers.
  OBJECT(kBufferLoadI8U, (LoadElement<uint8_t, uint32_t>), 1)
  OBJECT(kBufferLoadI8S, (LoadElement<int8_t, int32_t>), 1)
  OBJECT(kBufferLoadI16U, (LoadElement<uint16_t, uint32_t>), 1)
  OBJECT(kBufferLoadI16S, (LoadElement<int16_t, int32_t>), 1)
  OBJECT(kBufferLoadI32, (LoadElement<uint32_t, uint32_t>), 1)
  OBJECT(kBufferLoadI64, (LoadElement<uint64_t, uint64_t>), 1)
  OBJECT(kBufferStoreI8, StoreElement<uint8_t>, 1)
  OBJECT(kBufferStoreI16, StoreElement<uint16_t>, 1)
  OBJECT(kBufferStoreI32, StoreElement<uint32_t>, 1)
  OBJECT(kBufferStoreI64, StoreElement<uint64_t>, 1)
  OBJECT(kBufferFillI8, FillElements<uint8_t>, 2)
  OBJECT(kBufferFillI16, FillElements<uint16_t>, 2)
  OBJECT(kBufferFillI32, FillElements<uint32_t>, 2)
  OBJECT(kBufferFillI64, FillElements<uint64_t>, 2)
  OBJECT(kBufferAlloc, AllocateBuffer, 1)
  OBJECT(kBufferClone, CloneBuffer, 2)
  OBJECT(kBufferLength, BufferLength, 1)
  OBJECT(kBufferCopy, CopyBuffer, 2)
  OBJECT(kBufferCompare, CompareBuffers, 2)
  OBJECT(kBufferHash, HashBuffer, 2)

  // Lists.
  OBJECT(kListAlloc, AllocateList, 2)
  OBJECT(kListReserve, ReserveList, 1)
  OBJECT(kListSize, ListSize, 1)
  OBJECT(kListResize, ResizeList, 1)
  OBJECT(kListGetI32, GetListValue<ValueKind::kI32>, 1)
  OBJECT(kListGetI64, GetListValue<ValueKind::kI64>, 1)
  OBJECT(kListGetF32, GetListValue<ValueKind::kF32>, 1)
  OBJECT(kListGetF64, GetListValue<ValueKind::kF64>, 1)
  OBJECT(kListSetI32, SetListValue<ValueKind::kI32>, 1)
  OBJECT(kListSetI64, SetListValue<ValueKind::kI64>, 1)
  OBJECT(kListSetF32, SetListValue<ValueKind::kF32>, 1)
  OBJECT(kListSetF64, SetListValue<ValueKind::kF64>, 1)
  OBJECT(kListGetRef, GetListRef, 2)
  OBJECT(kListSetRef, SetListRef, 1)

  // Branches.
  OP(kJump) NEXT(pc->wide())
  OP(kJumpBack) { pc += pc->wide(); POLL() }
  OP(kMove32JumpBack) {
    Set(base, pc->a, Get<uint32_t>(base, pc->b));
    pc += pc->c;
    POLL()
  }
  OP(kMove64JumpBack) {
    Set(base, pc->a, Get<uint64_t>(base, pc->b));
    pc += pc->c;
    POLL()
  }
  OP(kJumpTable) {
    // An index out of range goes to the last entry.
    const auto index = Get<uint32_t>(base, pc->a);
    NEXT(1 + std::min(index, static_cast<uint32_t>(pc->wide())))
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
  ADD_BRANCH(kAddBranchEqI32, int32_t, x == y)
  ADD_BRANCH(kAddBranchNeI32, int32_t, x != y)
  ADD_BRANCH(kAddBranchLtI32S, int32_t, x < y)
  ADD_BRANCH(kAddBranchGeI32S, int32_t, x >= y)
  ADD_BRANCH(kAddBranchLtI32U, uint32_t, x < y)
  ADD_BRANCH(kAddBranchGeI32U, uint32_t, x >= y)
  ADD_BRANCH(kAddBranchEqI64, int64_t, x == y)
  ADD_BRANCH(kAddBranchNeI64, int64_t, x != y)
  ADD_BRANCH(kAddBranchLtI64S, int64_t, x < y)
  ADD_BRANCH(kAddBranchGeI64S, int64_t, x >= y)
  ADD_BRANCH(kAddBranchLtI64U, uint64_t, x < y)
  ADD_BRANCH(kAddBranchGeI64U, uint64_t, x >= y)

  // Pairs.
#define TAKT_VM_PLAIN_OP(name)
#define TAKT_VM_INNER_OP(name)
#define TAKT_VM_BRANCH_OP(name)
#define TAKT_VM_PAIR_OP(first, second) \
  PAIR(k##first##second##I32, uint32_t, first, second) \
  PAIR(k##first##second##I64, uint64_t, first, second)
#include "vm/inner_ops.inc"
#undef TAKT_VM_PLAIN_OP
#undef TAKT_VM_INNER_OP
#undef TAKT_VM_BRANCH_OP
#undef TAKT_VM_PAIR_OP

  // Calls.
  OP(kCall) {
    const Function& callee = *pc[1].payload<const Function*>();
    uint32_t* caller = base;  // May move; `base` itself stays in a register.
    base = PushFrame(invocation, &caller, static_cast<uint32_t>(pc->wide()), callee);
    if (base == nullptr) { base = caller; FailStack(guard); goto failed; }
    HeaderOf(base).instance = HeaderOf(caller).instance;
    HeaderOf(base).return_pc = pc + 2 + UnitsOfList(static_cast<uint16_t>(pc->a));
    PassArguments(caller, pc[2].list(), base, callee);
    pc = callee.code;
    POLL()
  }
  OP(kCallImport) {
    const Callee& callee = HeaderOf(base).instance->imports[pc->wide()];
    if (callee.native != nullptr) {
      const Outcome outcome = CallNative(invocation, callee, pc, base);
      if (outcome == Outcome::kFailed) goto failed;
      if (outcome == Outcome::kParked) return Outcome::kParked;
      pc = ImportCall(pc).End();
      DISPATCH();
    }
    if (callee.function == nullptr) { FailUnbound(base, pc, guard); goto failed; }
    uint32_t* caller = base;
    base = PushFrame(invocation, &caller, HeaderOf(base).function->value_bytes, *callee.function);
    if (base == nullptr) { base = caller; FailStack(guard); goto failed; }
    HeaderOf(base).instance = HeaderOf(caller).instance->instances[callee.module];
    const ImportCall lists(pc);
    HeaderOf(base).return_pc = lists.ResultUnits();
    PassArguments(caller, lists.arguments(), base, *callee.function);
    pc = callee.function->code;
    POLL()
  }
  OP(kImportResolved) {
    const Callee& callee = HeaderOf(base).instance->imports[pc->wide()];
    Set<int32_t>(base, pc->a, callee.native != nullptr || callee.function != nullptr);
    NEXT(1)
  }
  OP(kReturn) { LEAVE() DISPATCH(); }
  OP(kReturn32) {
    const auto result = Get<uint32_t>(base, pc->a);
    LEAVE()
    Set(base, pc->list()[0], result);
    NEXT(1)
  }
  OP(kReturn64) {
    const auto result = Get<uint64_t>(base, pc->a);
    LEAVE()
    Set(base, pc->list()[0], result);
    NEXT(1)
  }
  OP(kReturnRef) {
    Object* const result = Take(base, pc->a);
    LEAVE()
    Put(base, pc->list()[0], result);
    NEXT(1)
  }
  OP(kReturnMany) {
    const auto count = static_cast<uint32_t>(pc->wide());
    PassResults(base, pc, CallerOf(base), HeaderOf(base).return_pc->list());
    LEAVE()
    NEXT(UnitsOfList(count))
  }
  OP(kYield) { ++pc; goto poll; }
  OP(kFail) { FailWith(base, pc, guard); goto failed; }
  OP(kExit) { invocation.base_ = base; return Outcome::kDone; }

#if !TAKT_VM_THREADED
  }
#endif

poll:
  if (guard.Poll()) DISPATCH();

failed:
  Describe(pc, base, guard);
  invocation.base_ = base;
  return Outcome::kFailed;

#undef NEXT
#undef POLL
#undef UNARY
#undef BINARY
#undef TERNARY
#undef DIVISION
#undef SHIFT
#undef OBJECT
#undef BRANCH1
#undef BRANCH2
#undef LEAVE
#undef ADD_BRANCH
#undef PAIR
#undef OP
#undef DISPATCH
// clang-format on
}

}  // namespace takt::vm
