#include "vm/invocation.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/exceptions.h"
#include "base/lean_error.h"
#include "base/sleeper.h"
#include "base/status.h"
#include "vm/interpreter.h"

namespace takt::vm {
namespace {

// The inline stack has this much beyond the first two frames: enough for a
// callee or two, so that most invocations are one block of memory.
constexpr size_t kSpareStackBytes = 512;

uint64_t FrameBytes(const Function& function) {
  return uint64_t{function.ref_bytes} + sizeof(FrameHeader) +
         function.value_bytes;
}

ValueKind KindOf(Letter letter) {
  switch (letter) {
    case Letter::kI32:
      return ValueKind::kI32;
    case Letter::kI64:
      return ValueKind::kI64;
    case Letter::kF32:
      return ValueKind::kF32;
    case Letter::kF64:
      return ValueKind::kF64;
    case Letter::kRef:
      return ValueKind::kRef;
  }
  return ValueKind::kNone;
}

bool IsFloat(ValueKind kind) {
  return kind == ValueKind::kF32 || kind == ValueKind::kF64;
}

bool Converts(const Value& value, Letter letter) {
  if (letter == Letter::kRef) {
    return value.is_ref() || value.kind() == ValueKind::kNone;
  }
  return !value.is_ref() && value.kind() != ValueKind::kNone &&
         IsFloat(value.kind()) == IsFloat(KindOf(letter));
}

void SetRegister(uint32_t* frame, int16_t address, Slot slot) {
  std::memcpy(frame + address, &slot, sizeof(slot));
}
Slot GetRegister(const uint32_t* frame, int16_t address) {
  Slot slot;
  std::memcpy(&slot, frame + address, sizeof(slot));
  return slot;
}

// Blocks a thread until an invocation is woken. It is used in a context without
// a Waiter, which would lend the thread to workers.
class ThreadWaiter {
 public:
  static void Woken(void* self, Invocation&) {
    static_cast<ThreadWaiter*>(self)->sleeper_.Raise(kWoken);
  }
  void Wait() {
    while ((sleeper_.Sleep(kInfiniteFuture) & kWoken) == 0) {
    }
    sleeper_.Take(kWoken);
  }

 private:
  static constexpr uint32_t kWoken = 1;
  Sleeper sleeper_;
};

}  // namespace

Invocation::Invocation(Context& context, const Linkage::Export& callee,
                       const std::vector<Unit>& code, size_t inline_stack_bytes)
    : Object(&kType),
      context_(context),
      callee_(callee),
      entry_(&callee.entry),
      guard_(context.pool()),
      code_(code),
      stack_(inline_stack()),
      stack_end_(inline_stack() + inline_stack_bytes) {
  entry_instance_.imports = &callee_.callee;
  entry_instance_.states = context_.state_pointers_.data();
  entry_instance_.instances = context_.instances_.data();
  guard_.SetMemoryLimit(context_.memory_limit());
  if (Waiter* waiter = context_.waiter()) {
    on_woken_ = [](void* argument, Invocation& invocation) {
      static_cast<Waiter*>(argument)->Woken(invocation);
    };
    on_woken_argument_ = waiter;
  }
}

Invocation::~Invocation() {
  parked_state_.reset();
  if (results_ != nullptr) {
    std::destroy_n(results_, entry_->results.size());
  }
  Interpreter::Unwind(*this);
  if (stack_ != inline_stack()) BlockPool::Free(stack_);
}

Ref<Invocation> Invocation::Make(Context& context, FunctionRef function,
                                 bool keep_arguments, bool hold) {
  static_assert(sizeof(Invocation) % 16 == 0);
  const Linkage::Export& callee =
      context.linkage().exports(function.module)[function.export_index];
  const HostEntry& entry = callee.entry;
  uint64_t beyond = entry.results.size() * sizeof(Value);
  if (callee.callee.function != nullptr) {
    beyond = std::max(beyond,
                      FrameBytes(*callee.callee.function) + kSpareStackBytes);
  }
  const uint64_t stack_bytes = FrameBytes(entry.frame) + beyond;
  auto* invocation = new (context.pool(), stack_bytes)
      Invocation(context, callee,
                 keep_arguments ? entry.keeping_code : entry.code, stack_bytes);
  if (hold) invocation->hold_ = Ref<Context>::Retain(&context);
  invocation->EnterFirstFrame();
  return Ref<Invocation>::Adopt(invocation);
}

uint32_t* Invocation::first_frame() const {
  return reinterpret_cast<uint32_t*>(stack_ + entry_->frame.ref_bytes +
                                     sizeof(FrameHeader));
}

void Invocation::EnterFirstFrame() {
  std::memset(stack_, 0, FrameBytes(entry_->frame));
  base_ = first_frame();
  auto* header = reinterpret_cast<FrameHeader*>(base_ - kHeaderWords);
  header->function = &entry_->frame;
  header->instance = &entry_instance_;
  pc_ = code_.data();
}

absl::StatusOr<Ref<Invocation>> Invocation::Create(Context& context,
                                                   FunctionRef function,
                                                   absl::Span<Value> arguments,
                                                   ArgumentRefs refs) {
  if (context.linkage()
          .exports(function.module)[function.export_index]
          .entry.has_spans) {
    return absl::UnimplementedError(
        absl::StrCat(*context.linkage()
                          .exports(function.module)[function.export_index]
                          .callee.name,
                     ": the host cannot call a function that takes tuples"));
  }
  Ref<Invocation> invocation = Make(context, function, false, true);
  TAKT_RETURN_IF_ERROR(invocation->SetArguments(arguments, refs));
  return invocation;
}

absl::Status Invocation::SetArguments(absl::Span<Value> arguments,
                                      ArgumentRefs refs) {
  const std::vector<Letter>& letters = entry_->letters;
  if (arguments.size() != letters.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(*callee_.callee.name, ": expected ", letters.size(),
                     " arguments, got ", arguments.size()));
  }
  for (size_t i = 0; i < letters.size(); ++i) {
    if (Converts(arguments[i], letters[i])) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(*callee_.callee.name, ": argument ", i, ": expected ",
                     ValueKindName(KindOf(letters[i])), ", got ",
                     ValueKindName(arguments[i].kind())));
  }
  for (size_t i = 0; i < letters.size(); ++i) {
    Slot slot{.i64 = 0};
    if (letters[i] != Letter::kRef) {
      slot = ConvertScalar(arguments[i].kind(), arguments[i].slot(),
                           KindOf(letters[i]));
    } else if (refs == ArgumentRefs::kTake) {
      slot.ref = arguments[i].TakeRef().release();
    } else {
      slot.ref = Ref<Object>::Retain(arguments[i].ref()).release();
    }
    SetRegister(base_, entry_->arguments[i], slot);
  }
  return absl::OkStatus();
}

Invocation::State Invocation::state() const {
  switch (phase_.load(std::memory_order_acquire)) {
    case kReady:
      return State::kReady;
    case kRunning:
    case kWoken:
      return State::kRunning;
    case kParked:
      return State::kParked;
    default:
      return State::kDone;
  }
}

Invocation::State Invocation::Run() {
  uint8_t ready = kReady;
  if (!phase_.compare_exchange_strong(ready, kRunning,
                                      std::memory_order_acq_rel)) {
    TAKT_CHECK(ready == kDone || ready == kParked);  // One thread runs it.
    return state();
  }
  while (true) {
    if (guard_.is_cancelled()) {
      return Finish(LeanError(absl::StatusCode::kCancelled, [this] {
        return absl::StrCat(*callee_.callee.name, ": cancelled");
      }));
    }
    Interpreter::Outcome outcome{};
    TAKT_TRY { outcome = Interpreter::Execute(*this); }
    TAKT_CATCH(const std::bad_alloc&) { return Finish(OutOfMemory()); }
    if (outcome == Interpreter::Outcome::kInterrupted) {
      phase_.store(kReady, std::memory_order_release);
      return State::kReady;
    }
    if (outcome != Interpreter::Outcome::kParked) {
      return Finish(outcome == Interpreter::Outcome::kDone
                        ? absl::OkStatus()
                        : std::move(guard_.error()));
    }
    resumed_ = true;
    uint8_t running = kRunning;
    if (phase_.compare_exchange_strong(running, kParked,
                                       std::memory_order_seq_cst)) {
      // A RequestCancel() before this found no parked invocation to wake.
      // Either it sees kParked or this thread sees the request: both are
      // seq_cst.
      if (guard_.is_cancelled()) Wake();
      return State::kParked;  // By now another thread may be running it.
    }
    TAKT_CHECK(running == kWoken);  // Before it could park.
    phase_.store(kRunning, std::memory_order_release);
  }
}

Invocation::State Invocation::Finish(absl::Status status) {
  const uint8_t phase = phase_.load(std::memory_order_relaxed);
  TAKT_CHECK(phase == kRunning || phase == kWoken);
  parked_state_.reset();
  attachment_.reset();
  status_ = std::move(status);
  if (status_.ok()) {
    CollectResults();
  } else {
    Interpreter::Unwind(*this);
  }
  phase_.store(kDone, std::memory_order_release);
  return State::kDone;
}

void Invocation::CollectResults() {
  uint32_t* const frame = first_frame();
  std::byte* const behind =
      reinterpret_cast<std::byte*>(frame) + entry_->frame.value_bytes;
  results_ = reinterpret_cast<Value*>(behind);
  for (size_t i = 0; i < entry_->results.size(); ++i) {
    const ValueKind kind = KindOf(entry_->result_letters[i]);
    Slot slot = GetRegister(frame, entry_->results[i]);
    if (kind == ValueKind::kRef) {
      SetRegister(frame, entry_->results[i], Slot{.i64 = 0});
    } else {
      slot = ConvertScalar(kind, slot, kind);  // Clears the unused bytes.
    }
    new (results_ + i) Value(Value::Scalar(kind, slot));
  }
}

absl::Span<Value> Invocation::results() {
  TAKT_CHECK(results_ != nullptr);  // Done, and OK.
  return {results_, entry_->results.size()};
}

std::vector<Value> Invocation::TakeResults() {
  std::vector<Value> taken;
  taken.reserve(results().size());
  for (Value& value : results()) taken.push_back(std::move(value));
  return taken;
}

absl::Status Invocation::RunToEnd() {
  Waiter* const waiter = context_.waiter();
  if (waiter != nullptr || on_woken_ != nullptr) {
    TAKT_CHECK(waiter != nullptr);  // Else no wake reaches this thread.
    while (Run() == State::kParked) waiter->WaitUntilWoken(*this);
    return status_;
  }
  ThreadWaiter thread_waiter;
  SetOnWoken(&ThreadWaiter::Woken, &thread_waiter);
  while (Run() == State::kParked) thread_waiter.Wait();
  SetOnWoken(nullptr, nullptr);
  return status_;
}

void Invocation::Wake() {
  uint8_t phase = phase_.load(std::memory_order_acquire);
  while (true) {
    if (phase != kRunning && phase != kParked) return;  // It was cancelled.
    const uint8_t next = phase == kRunning ? kWoken : kReady;
    if (phase_.compare_exchange_weak(phase, next, std::memory_order_acq_rel)) {
      break;
    }
  }
  if (phase == kParked && on_woken_ != nullptr) {
    on_woken_(on_woken_argument_, *this);
  }
}

void Invocation::SetOnWoken(OnWoken on_woken, void* argument) {
  on_woken_ = on_woken;
  on_woken_argument_ = argument;
}

void Invocation::RequestCancel() {
  guard_.Cancel();
  uint8_t parked = kParked;
  if (phase_.compare_exchange_strong(parked, kReady,
                                     std::memory_order_seq_cst) &&
      on_woken_ != nullptr) {
    on_woken_(on_woken_argument_, *this);
  }
}

void Invocation::SetStepLimit(uint64_t steps) { guard_.SetStepLimit(steps); }

void Invocation::SetParkedState(std::unique_ptr<ParkedState> parked_state) {
  parked_state_ = std::move(parked_state);
}

size_t Invocation::memory_bytes() const {
  return sizeof(*this) + static_cast<size_t>(stack_end_ - stack_);
}

absl::StatusOr<std::vector<Value>> Invoke(Context& context,
                                          FunctionRef function,
                                          absl::Span<Value> arguments) {
  TAKT_ASSIGN_OR_RETURN(Ref<Invocation> invocation,
                        Invocation::Create(context, function, arguments));
  TAKT_RETURN_IF_ERROR(invocation->RunToEnd());
  return invocation->TakeResults();
}

absl::Status Invocation::Charge(uint64_t bytes) {
  if (guard_.Charge(bytes) && (!guard_.wants_attention() || guard_.Poll())) {
    return absl::OkStatus();
  }
  return std::move(guard_.error());
}

DirectCaller::DirectCaller(Context& context, FunctionRef function,
                           Cancellation* cancellation)
    : invocation_(Invocation::Make(context, function, true, false)) {
  TAKT_CHECK(!invocation_->entry_->has_spans);
  if (cancellation != nullptr) {
    invocation_->guard_.SetCancellation(*cancellation);
  }
}

DirectCaller::~DirectCaller() { invocation_->guard_.ReleaseCancellation(); }

void DirectCaller::SetArgument(size_t index, Slot value) {
  const HostEntry& entry = *invocation_->entry_;
  uint32_t* const frame = invocation_->first_frame();
  if (entry.letters[index] == Letter::kRef) {
    if (value.ref != nullptr) value.ref->Retain();
    Object* old = GetRegister(frame, entry.arguments[index]).ref;
    if (old != nullptr) old->Release();
  }
  SetRegister(frame, entry.arguments[index], value);
}

absl::Status DirectCaller::Call() {
  Invocation& invocation = *invocation_;
  invocation.base_ = invocation.first_frame();
  invocation.pc_ = invocation.code_.data();
  const Interpreter::Outcome outcome = Interpreter::Execute(invocation);
  if (outcome == Interpreter::Outcome::kDone) return absl::OkStatus();
  absl::Status status = std::move(invocation.guard_.error());
  if (outcome == Interpreter::Outcome::kParked) {
    status = absl::InternalError(absl::StrCat(*invocation.callee_.callee.name,
                                              ": must wait, but may not"));
  }
  invocation.parked_state_.reset();
  Interpreter::UnwindToFirst(invocation);
  return status;
}

Slot DirectCaller::TakeResult(size_t index) {
  const HostEntry& entry = *invocation_->entry_;
  uint32_t* const frame = invocation_->first_frame();
  const Slot slot = GetRegister(frame, entry.results[index]);
  SetRegister(frame, entry.results[index], Slot{.i64 = 0});
  return slot;
}

}  // namespace takt::vm
