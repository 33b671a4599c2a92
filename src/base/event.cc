#include "base/event.h"

#include <cstring>

namespace takt {
namespace {

struct KindName {
  EventKind kind;
  const char* name;
};
constexpr KindName kKindNames[] = {
    {EventKind::kDispatch, "dispatch"},
    {EventKind::kTransfer, "transfer"},
    {EventKind::kProgram, "program"},
    {EventKind::kNpuBatch, "npu_batch"},
    {EventKind::kNpuLease, "npu_lease"},
    {EventKind::kSlot, "slot"},
    {EventKind::kPlannedSlot, "planned_slot"},
    {EventKind::kInvocationBegin, "invocation_begin"},
    {EventKind::kInvocationPark, "invocation_park"},
    {EventKind::kInvocationResume, "invocation_resume"},
    {EventKind::kInvocationEnd, "invocation_end"},
    {EventKind::kOperationIssued, "operation_issued"},
    {EventKind::kOperationReady, "operation_ready"},
    {EventKind::kOperationDone, "operation_done"},
    {EventKind::kFenceSignaled, "fence_signaled"},
    {EventKind::kFenceFailed, "fence_failed"},
    {EventKind::kAlloca, "alloca"},
    {EventKind::kDealloca, "dealloca"},
    {EventKind::kJobReleased, "job_released"},
    {EventKind::kJobMet, "job_met"},
    {EventKind::kJobMissed, "job_missed"},
    {EventKind::kJobDropped, "job_dropped"},
    {EventKind::kJobFailed, "job_failed"},
    {EventKind::kDecisionStart, "decision_start"},
    {EventKind::kDecisionYield, "decision_yield"},
    {EventKind::kDecisionCancel, "decision_cancel"},
    {EventKind::kDecisionMode, "decision_mode"},
    {EventKind::kResourceAvailable, "resource_available"},
    {EventKind::kResourceSpeed, "resource_speed"},
    {EventKind::kWorkerPark, "worker_park"},
    {EventKind::kWorkerWake, "worker_wake"},
    {EventKind::kPreemption, "preemption"},
    {EventKind::kCounter, "counter"},
    {EventKind::kNpuFault, "npu_fault"},
    {EventKind::kDecisionAdmission, "decision_admission"},
    {EventKind::kDecisionLate, "decision_late"},
};

}  // namespace

const char* EventKindName(EventKind kind) {
  for (const KindName& known : kKindNames) {
    if (known.kind == kind) return known.name;
  }
  return "";
}

EventKind FindEventKind(const char* name) {
  for (const KindName& known : kKindNames) {
    if (std::strcmp(known.name, name) == 0) return known.kind;
  }
  return EventKind::kNone;
}

const char* TrackKindName(TrackKind kind) {
  switch (kind) {
    case TrackKind::kThread:
      return "thread";
    case TrackKind::kWorker:
      return "worker";
    case TrackKind::kCore:
      return "core";
    case TrackKind::kNpu:
      return "npu";
    case TrackKind::kStream:
      return "stream";
    case TrackKind::kScheduler:
      return "scheduler";
    case TrackKind::kCounter:
      return "counter";
    case TrackKind::kPlan:
      return "plan";
  }
  return "";
}

}  // namespace takt
