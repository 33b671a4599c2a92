// What an invocation leaves in its instance's trace: that it began, where and
// how long its program ran, and how it ended.
//
// Thread-safety: as the invocation's.
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

  // If the tracer is on, the invocation is recorded from here on. `parent`: of
  // the stream's job that it is the call of, or 0. Once.
  void Begin(const JobAttributes& job, uint64_t parent) {
    if (__builtin_expect(function_.tracer().is_on(), 0)) {
      BeginTraced(job, parent);
    }
  }
  // 0: it is not recorded.
  uint64_t id() const { return id_; }

  // program.Run(), recorded. This may be gone by the time that it parks.
  vm::Invocation::State Run(vm::Invocation& program, bool is_resumed) const {
    return __builtin_expect(id_ == 0, 1) ? program.Run()
                                         : RunTraced(program, is_resumed);
  }
  // Also of the device work that it has queued.
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
