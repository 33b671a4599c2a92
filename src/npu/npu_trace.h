// An NpuTrace records what happens on one NPU as events of a trace, on a track
// of its own. Times are those of the machine, whatever the NPU's timebase is.
//
// Thread-safety: every method may run on any thread, after Open().
#ifndef TAKT_NPU_NPU_TRACE_H_
#define TAKT_NPU_NPU_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "base/ref.h"
#include "base/tracer.h"
#include "takt/npu_driver.h"

namespace takt::npu {

class NpuTrace {
 public:
  // Null: a tracer of its own, which is off.
  explicit NpuTrace(Ref<Tracer> tracer)
      : tracer_(tracer != nullptr ? std::move(tracer) : MakeRef<Tracer>()) {}

  // Names the track. Before all else.
  void Open(absl::string_view driver_name);

  // The time at which something that is recorded begins; 0: nothing is.
  int64_t BeginNs() const { return tracer_->is_on() ? NowNs() : 0; }
  // The lease was asked for and granted at these times, and ends now.
  // `last_batch`: the last batch that ran under it.
  void Lease(uint64_t last_batch, int64_t asked_ns, int64_t granted_ns) const;
  // A batch ends now.
  void Batch(uint64_t id, int64_t start_ns, takt_npu_result_t result,
             size_t operation_count) const;
  // An action that follows a fault; nothing while the tracer is off.
  void Fault(NpuFaultAction action, int64_t value) const;

 private:
  Event NewEvent(EventKind kind, int64_t begin_ns) const;

  const Ref<Tracer> tracer_;
  uint16_t track_ = 0;
  uint32_t name_ = 0;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_NPU_TRACE_H_
