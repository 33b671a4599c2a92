// A ROS 2 node that runs a policy: joint states in, commands out, diagnostics.
// A shell over policy.h.
#include <chrono>
#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <rclcpp/rclcpp.hpp>
#include <sensor_msgs/msg/joint_state.hpp>
#include <std_msgs/msg/float64_multi_array.hpp>

#include "shell_options.h"

namespace takt_ros2 {

class PolicyNode : public rclcpp::Node {
 public:
  PolicyNode() : Node("takt_policy") {
    options_ = DeclareOptions(*this);
    auto policy = Policy::Create(options_);
    if (!policy.ok()) throw std::runtime_error(policy.status().ToString());
    policy_ = *std::move(policy);
    observation_.resize(policy_->observation_count());
    action_.resize(options_.actions.action_count);
    command_.data.resize(action_.size());
    commands_ = create_publisher<std_msgs::msg::Float64MultiArray>(
        "commands", rclcpp::SensorDataQoS());
    diagnostics_ = create_publisher<diagnostic_msgs::msg::DiagnosticArray>(
        "/diagnostics", 1);
    states_ = create_subscription<sensor_msgs::msg::JointState>(
        "joint_states", rclcpp::SensorDataQoS(),
        [this](const sensor_msgs::msg::JointState& state) { Observe(state); });
    control_ = create_wall_timer(
        std::chrono::nanoseconds(options_.actions.step_ns), [this] { Act(); });
    reports_ = create_wall_timer(std::chrono::seconds(1), [this] { Tell(); });
    const takt::Status status = policy_->Start(takt_clock_now_ns());
    if (!status.ok()) throw std::runtime_error(status.ToString());
  }

 private:
  // Positions, then velocities; the rest of the observation stays 0.
  void Observe(const sensor_msgs::msg::JointState& state) {
    size_t i = 0;
    for (const auto* values : {&state.position, &state.velocity}) {
      for (const double value : *values) {
        if (i < observation_.size()) observation_[i++] = float(value);
      }
    }
    Warn(policy_->Observe(observation_));
  }

  void Act() {
    const auto source = policy_->Act(takt_clock_now_ns(), action_);
    if (!source.ok()) return Warn(source.status());
    std::copy(action_.begin(), action_.end(), command_.data.begin());
    commands_->publish(command_);
  }

  void Tell() {
    const Report report = policy_->MakeReport(takt_clock_now_ns());
    diagnostic_msgs::msg::DiagnosticStatus status;
    status.level = static_cast<unsigned char>(report.level);
    status.name = get_fully_qualified_name();
    status.hardware_id = "takt";
    status.message = report.message;
    for (const auto& [key, value] : report.values) {
      diagnostic_msgs::msg::KeyValue pair;
      pair.key = key;
      pair.value = value;
      status.values.push_back(pair);
    }
    diagnostic_msgs::msg::DiagnosticArray array;
    array.header.stamp = now();
    array.status.push_back(status);
    diagnostics_->publish(array);
  }

  void Warn(const takt::Status& status) {
    if (status.ok()) return;
    RCLCPP_WARN_THROTTLE(get_logger(), *get_clock(), 1000, "%s",
                         status.ToString().c_str());
  }

  PolicyOptions options_;
  std::unique_ptr<Policy> policy_;
  std::vector<float> observation_, action_;
  std_msgs::msg::Float64MultiArray command_;
  rclcpp::Publisher<std_msgs::msg::Float64MultiArray>::SharedPtr commands_;
  rclcpp::Publisher<diagnostic_msgs::msg::DiagnosticArray>::SharedPtr
      diagnostics_;
  rclcpp::Subscription<sensor_msgs::msg::JointState>::SharedPtr states_;
  rclcpp::TimerBase::SharedPtr control_, reports_;
};

}  // namespace takt_ros2

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  rclcpp::spin(std::make_shared<takt_ros2::PolicyNode>());
  rclcpp::shutdown();
  return 0;
}
