#include "shared_instance.h"

#include <map>
#include <mutex>

takt::Result<std::shared_ptr<SharedInstance>> ShareInstance(
    const std::string& name, const std::string& policy) {
  static std::mutex& mutex = *new std::mutex;
  static auto& table =
      *new std::map<std::string, std::weak_ptr<SharedInstance>>;
  std::lock_guard lock(mutex);
  if (auto shared = table[name].lock()) {
    if (shared->policy == policy) return shared;
    return takt::Status(TAKT_STATUS_INVALID_ARGUMENT,
                        "instance \"" + name + "\": expected the policy \"" +
                            shared->policy + "\" that it has, got \"" + policy +
                            "\"");
  }
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = policy.c_str();
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.scheduler = &scheduler;
  auto instance = takt::Instance::Create(&options);
  if (!instance.ok()) return instance.status();
  auto device = takt::Device::Create(*instance, "local-task");
  if (!device.ok()) return device.status();
  auto shared = std::make_shared<SharedInstance>(
      SharedInstance{policy, *instance, *device});
  table[name] = shared;
  return shared;
}
