#include "cpu/operation_trace.h"

#include <utility>

namespace takt::cpu {
namespace {

constexpr std::array<const char*, OperationTrace::kKindCount> kNames = {
    "alloca", "dealloca", "fill",    "update",  "copy",
    "read",   "write",    "execute", "barrier", "host call"};

uint64_t NumberOf(const void* object) {
  return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(object));
}

}  // namespace

OperationTrace::OperationTrace(Ref<Tracer> tracer)
    : tracer_(tracer != nullptr ? std::move(tracer) : MakeRef<Tracer>()) {
  for (size_t i = 0; i < names_.size(); ++i) {
    names_[i] = tracer_->Intern(kNames[i]);
  }
}

OperationTag OperationTrace::NewTracedTag(
    Kind kind, const hal::QueueTicket& ticket) const {
  OperationTag tag;
  tag.id = tracer_->NewId();
  tag.parent = ticket.job != nullptr ? ticket.job->trace_id : 0;
  tag.name = names_[kind];
  return tag;
}

void OperationTrace::DoneTraced(const OperationTag& tag,
                                const hal::Fence* signal,
                                const absl::Status& outcome) const {
  Record(tag, EventKind::kOperationDone, outcome.raw_code());
  if (signal == nullptr) return;
  Event event;
  event.time_ns = NowNs();
  event.kind =
      outcome.ok() ? EventKind::kFenceSignaled : EventKind::kFenceFailed;
  event.id = NumberOf(signal);
  event.parent = tag.id;
  event.value = outcome.raw_code();
  tracer_->Record(event);
}

void OperationTrace::MemoryTraced(const OperationTag& tag, EventKind kind,
                                  const hal::Storage& storage) const {
  Event event;
  event.time_ns = NowNs();
  event.kind = kind;
  event.id = NumberOf(&storage);
  event.parent = tag.id;
  event.value = static_cast<int64_t>(storage.byte_length());
  tracer_->Record(event);
}

void OperationTrace::Ran(const OperationTag& tag, EventKind span, uint32_t name,
                         int64_t start_ns, int64_t value,
                         RouteTarget target) const {
  Event event;
  event.time_ns = start_ns;
  event.duration_ns = NowNs() - start_ns;
  event.kind = span;
  event.name = name;
  event.id = tag.id;
  event.parent = tag.parent;
  event.value = value;
  event.detail = static_cast<uint8_t>(target);
  tracer_->Record(event);
}

void OperationTrace::Record(const OperationTag& tag, EventKind kind,
                            int64_t value) const {
  Event event;
  event.time_ns = NowNs();
  event.kind = kind;
  event.name = tag.name;
  event.id = tag.id;
  event.parent = tag.parent;
  event.value = value;
  tracer_->Record(event);
}

}  // namespace takt::cpu
