// A DecisionTrace records the decisions of a job shop's scheduler in the form
// in which the simulator records its own: a track of decisions, for each
// resource a track with the operations that had it, and a track with what an
// advisor planned. Times are those of the scheduler: tiles of work that has
// yielded may end a moment later, on the tracks of workers.
//
// Thread-safety: used by the decider of the shop. Call is_on() first.
#ifndef TAKT_SHOP_DECISION_TRACE_H_
#define TAKT_SHOP_DECISION_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/tracer.h"
#include "sched/scheduler.h"

namespace takt::shop {

class DecisionTrace {
 public:
  // The operation of an event.
  struct Subject {
    uint32_t name;  // Its kernel's.
    uint64_t job;
  };

  // Both are borrowed.
  DecisionTrace(Tracer& tracer, const sched::Machine& machine)
      : tracer_(tracer), machine_(machine) {}

  // Whether the tracer is on, and there was memory for the tracks. The other
  // methods are called only if this is true.
  bool is_on() {
    return __builtin_expect(tracer_.is_on(), 0) && EnsureTracks();
  }
  void OnStart(int64_t now_ns, const sched::Decision& decision,
               Subject subject);
  // kYield or kCancel.
  void OnYield(int64_t now_ns, const sched::Decision& decision,
               Subject subject);
  // The operation that began at `start_ns` by the decision `start` has ended or
  // yielded.
  void OnStop(int64_t now_ns, const sched::Decision& start, Subject subject,
              int64_t start_ns, uint32_t done_ppm);
  void OnMode(int64_t now_ns, sched::Mode mode);
  // `what`: "demote" or "drop".
  void OnLate(int64_t now_ns, const char* what, uint64_t job,
              int64_t deadline_ns);
  void OnAdmission(int64_t now_ns, const std::string& stream,
                   const sched::AdmissionReport& report);
  void OnAvailable(int64_t now_ns, uint32_t resource, bool is_available);
  void OnSpeed(int64_t now_ns, uint32_t pool, uint32_t permille);

 private:
  bool EnsureTracks();
  void AddTracks();
  takt::Event AboutScheduler(int64_t now_ns, EventKind kind);
  takt::Event AboutOperation(int64_t now_ns, EventKind kind,
                             const sched::Decision& decision, Subject subject);

  Tracer& tracer_;
  const sched::Machine& machine_;
  // From the first event on; pools may be added.
  size_t pool_count_ = 0;
  uint16_t scheduler_track_ = 0;
  std::vector<uint16_t> resource_tracks_;
  std::vector<uint16_t> plan_tracks_;
};

}  // namespace takt::shop

#endif  // TAKT_SHOP_DECISION_TRACE_H_
