// A policy as the ROS 2 shells use it: a stream of Takt that runs by the clock,
// and the slots through which a control loop exchanges observations and actions
// with it. No ROS here.
#ifndef TAKT_INTEGRATIONS_ROS2_POLICY_H_
#define TAKT_INTEGRATIONS_ROS2_POLICY_H_

#include <memory>
#include <string>
#include <takt/takt.hpp>
#include <utility>
#include <vector>

#include "action_slot.h"

namespace takt_ros2 {

struct PolicyOptions {
  std::string module;       // A .vmfb file.
  std::string function;     // One f32 tensor in, one f32 tensor out.
  int64_t period_ns = 0;    // Of the policy.
  int64_t deadline_ns = 0;  // 0: the period.
  ActionSlotOptions actions;
  int32_t real_time_priority = 0;  // SCHED_FIFO of the workers; 0: none.
};

// As in diagnostic_msgs/DiagnosticStatus.
enum class Level : unsigned char { kOk = 0, kWarn = 1, kError = 2 };

struct Report {
  Level level = Level::kOk;
  std::string message;
  std::vector<std::pair<std::string, std::string>> values;
};

class Policy {
 public:
  // Errors: INVALID_ARGUMENT  names the option, or the input or result that
  // does
  //                           not fit; else those of loading the module.
  static takt::Result<std::unique_ptr<Policy>> Create(
      const PolicyOptions& options);
  // Stops it, and waits for the job in flight.
  ~Policy();

  size_t observation_count() const { return observation_count_; }
  takt::Status Start(int64_t start_ns);
  void Stop();

  // In the control loop: neither waits nor allocates (the first three
  // observations do).
  //
  // Errors: INVALID_ARGUMENT  the number of values differs.
  takt::Status Observe(std::span<const float> observation);
  // Errors: INVALID_ARGUMENT  as above.
  takt::Result<ActionSource> Act(int64_t now_ns, std::span<float> action);

  // What was since the last report. Not for the control loop: it allocates.
  // Must not overlap with Act().
  Report MakeReport(int64_t now_ns);

 private:
  explicit Policy(const PolicyOptions& options);
  takt::Status Load();

  PolicyOptions options_;
  takt::Stream stream_;
  size_t observation_count_ = 0;
  ActionSlot slot_;
  std::vector<takt::Value> results_{1};
  takt_stream_statistics_t last_ = {};
  uint64_t last_safe_count_ = 0;
};

}  // namespace takt_ros2

#endif  // TAKT_INTEGRATIONS_ROS2_POLICY_H_
