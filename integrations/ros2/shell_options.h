// The parameters that the node and the controller have in common. For sources
// that are compiled with ROS 2 only.
#ifndef TAKT_INTEGRATIONS_ROS2_SHELL_OPTIONS_H_
#define TAKT_INTEGRATIONS_ROS2_SHELL_OPTIONS_H_

#include <string>
#include <vector>

#include "policy.h"

namespace takt_ros2 {

// `node` is an rclcpp::Node or a lifecycle node.
template <typename Node>
PolicyOptions DeclareOptions(Node& node) {
  const auto ns = [&](const char* name, double seconds) {
    return static_cast<int64_t>(
        1e9 * node.template declare_parameter<double>(name, seconds));
  };
  const auto count = [&](const char* name) {
    return static_cast<size_t>(
        node.template declare_parameter<int64_t>(name, 1));
  };
  PolicyOptions options;
  options.module = node.template declare_parameter<std::string>("module", "");
  options.function =
      node.template declare_parameter<std::string>("function", "act");
  options.period_ns = ns("period", 0.02);
  options.deadline_ns = ns("deadline", 0);
  options.actions.step_ns = ns("step", 0.005);
  options.actions.heartbeat_ns = ns("heartbeat", 0.1);
  options.actions.action_count = count("action_count");
  options.actions.chunk_length = count("chunk_length");
  for (const double value :
       node.template declare_parameter<std::vector<double>>(
           "safe_action", std::vector<double>())) {
    options.actions.safe_action.push_back(static_cast<float>(value));
  }
  options.real_time_priority = static_cast<int32_t>(
      node.template declare_parameter<int64_t>("real_time_priority", 0));
  return options;
}

}  // namespace takt_ros2

#endif  // TAKT_INTEGRATIONS_ROS2_SHELL_OPTIONS_H_
