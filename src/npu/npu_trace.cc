#include "npu/npu_trace.h"

#include "absl/strings/str_cat.h"

namespace takt::npu {

void NpuTrace::Open(absl::string_view driver_name) {
  name_ = tracer_->Intern(driver_name);
  track_ =
      tracer_->AddNewTrack(TrackKind::kNpu, absl::StrCat("NPU ", driver_name));
}

Event NpuTrace::NewEvent(EventKind kind, int64_t begin_ns) const {
  Event event;
  event.kind = kind;
  event.track = track_;
  event.name = name_;
  event.time_ns = begin_ns;
  return event;
}

void NpuTrace::Lease(uint64_t last_batch, int64_t asked_ns,
                     int64_t granted_ns) const {
  Event event = NewEvent(EventKind::kNpuLease, granted_ns);
  event.duration_ns = NowNs() - granted_ns;
  event.id = last_batch;
  event.value = granted_ns - asked_ns;
  tracer_->Record(event);
}

void NpuTrace::Batch(uint64_t id, int64_t start_ns, takt_npu_result_t result,
                     size_t operation_count) const {
  Event event = NewEvent(EventKind::kNpuBatch, start_ns);
  event.duration_ns = NowNs() - start_ns;
  event.detail = static_cast<uint8_t>(result);
  event.id = id;
  event.value = static_cast<int64_t>(operation_count);
  tracer_->Record(event);
}

void NpuTrace::Fault(NpuFaultAction action, int64_t value) const {
  if (!tracer_->is_on()) return;
  Event event = NewEvent(EventKind::kNpuFault, NowNs());
  event.detail = static_cast<uint8_t>(action);
  event.value = value;
  tracer_->Record(event);
}

}  // namespace takt::npu
