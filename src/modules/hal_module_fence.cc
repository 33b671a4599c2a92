// fence.*
#include "absl/container/inlined_vector.h"
#include "base/clock.h"
#include "base/status.h"
#include "hal/result_memory.h"
#include "modules/hal_state.h"
#include "modules/invocation_memory.h"
#include "modules/pending_await.h"

namespace takt::modules {
namespace {

// The ABI's code for a pending fence, which absl lacks.
constexpr int32_t kPendingCode = 17;
constexpr int32_t kStatusCodeMask = 0x1f;
constexpr uint32_t kWaitForever = ~uint32_t{0};
constexpr int64_t kNsPerMs = 1'000'000;

using FenceList = absl::InlinedVector<hal::Fence*, 4>;

FenceList ListOf(const vm::VarArgs<hal::Fence*>& fences) {
  FenceList list(fences.size());
  for (size_t i = 0; i < list.size(); ++i) list[i] = fences[i];
  return list;
}

// The error of a fence that has failed, if there is one.
absl::StatusOr<bool> AllReached(const FenceList& fences) {
  bool all_reached = true;
  for (const hal::Fence* fence : fences) {
    if (fence == nullptr) continue;
    bool reached = false;
    TAKT_RETURN_IF_ERROR(fence->Query(&reached));
    all_reached &= reached;
  }
  return all_reached;
}

}  // namespace

absl::StatusOr<Ref<hal::Fence>> HalState::FenceCreate(hal::Device& device,
                                                      int64_t flags) {
  return hal::Fence::Create(device.blocks());
}

absl::StatusOr<Ref<hal::Fence>> HalState::FenceJoin(
    vm::NativeCall& call, int64_t flags, vm::VarArgs<hal::Fence*> fences) {
  const FenceList list = ListOf(fences);
  Ref<hal::Fence> joined = hal::Fence::Join(list, blocks());
  if (auto* results =
          hal::ResultMemory::From(call.invocation().job().results)) {
    results->NoteJoin(list, joined.get());
  }
  return joined;
}

absl::StatusOr<int32_t> HalState::FenceQuery(hal::Fence& fence) {
  bool reached = false;
  const absl::Status status = fence.Query(&reached);
  // raw_code(), because absl lacks the ABI's codes 17 and 18.
  if (!status.ok()) return status.raw_code();
  return reached ? 0 : kPendingCode;
}

absl::Status HalState::FenceSignal(hal::Fence& fence) { return fence.Signal(); }

absl::Status HalState::FenceFail(hal::Fence& fence, uint32_t code) {
  const auto masked = static_cast<int32_t>(code & kStatusCodeMask);
  // A failure with code OK is still a failure.
  const auto failure =
      masked == 0 ? absl::StatusCode::kUnknown : absl::StatusCode{masked};
  fence.Fail(absl::Status(failure, "the program failed the fence"));
  return absl::OkStatus();
}

absl::StatusOr<int32_t> HalState::FenceAwait(vm::NativeCall& call,
                                             uint32_t timeout_ms, int64_t flags,
                                             vm::VarArgs<hal::Fence*> fences) {
  if (call.resumed()) {
    InvocationMemory::SetParked(call.invocation(), false);
    return PendingAwait::Finish(call);
  }
  if (fences.size() > kMaxAwaitFences) {
    return absl::OutOfRangeError(absl::StrCat(
        "fences: expected at most ", kMaxAwaitFences, ", got ", fences.size()));
  }
  const FenceList list = ListOf(fences);
  TAKT_ASSIGN_OR_RETURN(const bool all_reached, AllReached(list));
  auto* results = hal::ResultMemory::From(call.invocation().job().results);
  if (results != nullptr && (all_reached || timeout_ms == kWaitForever)) {
    results->NoteAwait(list);
  }
  if (all_reached) return 0;
  if (timeout_ms == 0) return PendingAwait::kTimedOut;
  const int64_t deadline_ns =
      timeout_ms == kWaitForever
          ? kInfiniteFuture
          : DeadlineAfter(NowNs(), int64_t{timeout_ms} * kNsPerMs);
  InvocationMemory::SetParked(call.invocation(), true);
  auto outcome =
      PendingAwait::Begin(call, list, deadline_ns, *environment_->timers);
  if (!call.parked()) InvocationMemory::SetParked(call.invocation(), false);
  return outcome;
}

}  // namespace takt::modules
