// A CallTrace records a call in the trace of its instance: its begin, the parts
// that its program ran in, and its end.
//
// Thread-safety: as the call's.
#ifndef TAKT_RUNTIME_CALL_TRACE_H_
#define TAKT_RUNTIME_CALL_TRACE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "base/clock.h"
#include "base/job_attributes.h"
#include "base/tracer.h"
#include "runtime/function.h"
#include "vm/invocation.h"

namespace takt::runtime {

class CallTrace {
 public:
  // `function` outlives it.
  explicit CallTrace(const Function& function) : function_(function) {}

  // Records the call from here on, if the tracer is on. `parent`: the event of
  // the stream's job that makes the call, or 0. Called once.
  void Begin(const JobAttributes& job, uint64_t parent) {
    if (__builtin_expect(function_.tracer().is_on(), 0)) {
      BeginTraced(job, parent);
    }
  }
  // 0: the call is not recorded.
  uint64_t id() const { return id_; }

  // Runs the program and records it. If it parks, this may be destroyed.
  vm::Invocation::State Run(vm::Invocation& program, bool is_resumed) const {
    return __builtin_expect(id_ == 0, 1) ? program.Run()
                                         : RunTraced(program, is_resumed);
  }
  // The end of the call and of its device work.
  void End(const absl::Status& status) const {
    if (__builtin_expect(id_ != 0, 0)) EndTraced(status);
  }

 private:
  void BeginTraced(const JobAttributes& job, uint64_t parent);
  vm::Invocation::State RunTraced(vm::Invocation& program,
                                  bool is_resumed) const;
  void EndTraced(const absl::Status& status) const;
  Event MakeEvent(EventKind kind) const;

  const Function& function_;
  uint64_t id_ = 0;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_CALL_TRACE_H_
