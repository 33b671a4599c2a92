// Records a simulated run as the runtime records a real one: a track for each
// resource and stream, and one for the scheduler's decisions.
#ifndef TAKT_SIM_TRACE_RECORDER_H_
#define TAKT_SIM_TRACE_RECORDER_H_

#include <cstdint>
#include <vector>

#include "base/tracer.h"
#include "sim/simulation.h"

namespace takt::sim {

class TraceRecorder final : public Observer {
 public:
  // Keeps the first `event_count_max` events; the rest are counted as lost.
  TraceRecorder(const Workload& workload, uint64_t event_count_max);

  void OnRelease(int64_t now_ns, const sched::Decision& decision,
                 int64_t deadline_ns) override;
  void OnDecision(int64_t now_ns, const sched::Decision& decision) override;
  void OnStop(int64_t now_ns, const sched::Decision& start,
              uint32_t done_ppm) override;
  void OnAvailable(int64_t now_ns, uint32_t resource, bool is_found) override;
  void OnSpeed(int64_t now_ns, uint32_t pool, uint32_t permille) override;

  // For trace::Trace::Create(). Once, after the run.
  Recording Take() { return std::move(recording_); }

 private:
  uint16_t AddTrack(TrackKind kind, std::string name);
  uint32_t AddName(const std::string& name);
  void Add(const takt::Event& event);
  void AddCounter(int64_t now_ns);
  uint64_t JobOf(const sched::Decision& decision) const;
  takt::Event AboutOperation(int64_t now_ns,
                             const sched::Decision& decision) const;

  const Workload& workload_;
  const uint64_t event_count_max_;
  Recording recording_;
  // The tracks and names of the workload's resources, streams and kernels.
  std::vector<uint16_t> resource_tracks_;
  std::vector<uint16_t> stream_tracks_;
  uint16_t scheduler_track_ = 0;
  uint16_t counter_track_ = 0;
  std::vector<uint32_t> kernel_names_;
  std::vector<uint32_t> stream_names_;
  uint32_t demote_name_ = 0;
  uint32_t mode_names_[sched::kModeCount] = {};

  std::vector<uint64_t> sequences_;  // By stream: of its next job.
  std::vector<uint64_t> job_ids_;    // By the scheduler's tag.
  std::vector<int64_t> starts_ns_;   // By index of the operation that runs.
  int64_t live_count_ = 0;
};

}  // namespace takt::sim

#endif  // TAKT_SIM_TRACE_RECORDER_H_
