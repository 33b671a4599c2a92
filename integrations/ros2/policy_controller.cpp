// A controller of ros2_control that runs a policy: state interfaces in, command
// interfaces out. update() neither waits nor allocates. A shell over policy.h.
#include <controller_interface/controller_interface.hpp>
#include <pluginlib/class_list_macros.hpp>

#include "shell_options.h"

namespace takt_ros2 {

class PolicyController : public controller_interface::ControllerInterface {
 public:
  using Return = controller_interface::CallbackReturn;

  Return on_init() override {
    options_ = DeclareOptions(*get_node());
    commands_ = get_node()->declare_parameter<std::vector<std::string>>(
        "command_interfaces", std::vector<std::string>());
    states_ = get_node()->declare_parameter<std::vector<std::string>>(
        "state_interfaces", std::vector<std::string>());
    return Return::SUCCESS;
  }

  controller_interface::InterfaceConfiguration command_interface_configuration()
      const override {
    return {controller_interface::interface_configuration_type::INDIVIDUAL,
            commands_};
  }
  controller_interface::InterfaceConfiguration state_interface_configuration()
      const override {
    return {controller_interface::interface_configuration_type::INDIVIDUAL,
            states_};
  }

  Return on_configure(const rclcpp_lifecycle::State&) override {
    options_.actions.action_count = commands_.size();
    auto policy = Policy::Create(options_);
    if (!policy.ok()) return Fail(policy.status().ToString());
    policy_ = *std::move(policy);
    if (policy_->observation_count() != states_.size()) {
      return Fail("state_interfaces: expected " +
                  std::to_string(policy_->observation_count()) + ", got " +
                  std::to_string(states_.size()));
    }
    observation_.resize(states_.size());
    action_.resize(commands_.size());
    return Return::SUCCESS;
  }

  Return on_activate(const rclcpp_lifecycle::State&) override {
    const takt::Status status = policy_->Start(takt_clock_now_ns());
    return status.ok() ? Return::SUCCESS : Fail(status.ToString());
  }

  Return on_deactivate(const rclcpp_lifecycle::State&) override {
    policy_->Stop();
    return Return::SUCCESS;
  }

  controller_interface::return_type update(const rclcpp::Time&,
                                           const rclcpp::Duration&) override {
    for (size_t i = 0; i < observation_.size(); ++i) {
      observation_[i] = static_cast<float>(state_interfaces_[i].get_value());
    }
    const takt::Status status = policy_->Observe(observation_);
    const auto source = policy_->Act(takt_clock_now_ns(), action_);
    if (!status.ok() || !source.ok()) {
      return controller_interface::return_type::ERROR;
    }
    for (size_t i = 0; i < action_.size(); ++i) {
      command_interfaces_[i].set_value(static_cast<double>(action_[i]));
    }
    return controller_interface::return_type::OK;
  }

 private:
  Return Fail(const std::string& message) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", message.c_str());
    return Return::ERROR;
  }

  PolicyOptions options_;
  std::vector<std::string> commands_, states_;
  std::unique_ptr<Policy> policy_;
  std::vector<float> observation_, action_;
};

}  // namespace takt_ros2

PLUGINLIB_EXPORT_CLASS(takt_ros2::PolicyController,
                       controller_interface::ControllerInterface)
