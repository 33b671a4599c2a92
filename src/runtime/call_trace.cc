#include "runtime/call_trace.h"

namespace takt::runtime {

Event CallTrace::MakeEvent(EventKind kind) const {
  Event event;
  event.time_ns = NowNs();
  event.kind = kind;
  event.name = function_.trace_name();
  event.id = id_;
  return event;
}

void CallTrace::BeginTraced(const JobAttributes& job, uint64_t parent) {
  id_ = function_.tracer().NewId();
  Event event = MakeEvent(EventKind::kInvocationBegin);
  event.parent = parent;
  event.value = job.deadline_ns;
  event.detail = job.priority;
  function_.tracer().Record(event);
}

vm::Invocation::State CallTrace::RunTraced(vm::Invocation& program,
                                           bool is_resumed) const {
  // Once the program has parked, another thread may end it and destroy this.
  const auto tracer = Ref<Tracer>::Retain(&function_.tracer());
  Event event = MakeEvent(EventKind::kProgram);
  if (is_resumed) {
    Event resume = event;
    resume.kind = EventKind::kInvocationResume;
    tracer->Record(resume);
  }
  const vm::Invocation::State state = program.Run();
  const int64_t end_ns = NowNs();
  event.duration_ns = end_ns - event.time_ns;
  const bool is_parked = state == vm::Invocation::State::kParked;
  event.detail = is_parked ? 1 : 0;
  tracer->Record(event);
  if (is_parked) {
    event.kind = EventKind::kInvocationPark;
    event.time_ns = end_ns;
    event.duration_ns = 0;
    event.detail = 0;
    tracer->Record(event);
  }
  return state;
}

void CallTrace::EndTraced(const absl::Status& status) const {
  Event event = MakeEvent(EventKind::kInvocationEnd);
  event.value = status.raw_code();
  function_.tracer().Record(event);
}

}  // namespace takt::runtime
