#include "runtime/device.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/status.h"
#include "cpu/device.h"

namespace takt::runtime {
namespace {

constexpr absl::string_view kLocalTask = "local-task";

}  // namespace

absl::StatusOr<Ref<hal::Device>> CreateDevice(Instance& instance,
                                              absl::string_view name,
                                              DeviceOptions options) {
  if (std::find(std::begin(kDeviceNames), std::end(kDeviceNames), name) ==
      std::end(kDeviceNames)) {
    return absl::NotFoundError(absl::StrCat("no device \"", name,
                                            "\"; there are ",
                                            absl::StrJoin(kDeviceNames, ", ")));
  }
  cpu::Device::Options cpu_options;
  Ref<exec::Executor> executor;
  if (name == kLocalTask) {
    if (options.executor == nullptr) {
      TAKT_ASSIGN_OR_RETURN(executor, instance.GetExecutor());
      TAKT_ASSIGN_OR_RETURN(cpu_options.shop, instance.GetShop());
    } else if (instance.Owns(options.executor)) {
      executor = Ref<exec::Executor>::Retain(options.executor);
    } else {
      return absl::InvalidArgumentError(
          "options: executor: of another instance");
    }
    TAKT_CHECK(executor != nullptr);
  } else if (options.executor != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: executor: device ", name, " has no workers"));
  }
  cpu_options.memory = std::move(options.memory);
  cpu_options.queues = std::move(options.queues);
  cpu_options.learn_costs = options.learn_costs;
  cpu_options.allows_system_libraries = options.allow_system_libraries;
  cpu_options.tracer = instance.tracer();
  cpu_options.observer = std::move(options.observer);
  TAKT_ASSIGN_OR_RETURN(
      Ref<cpu::Device> device,
      cpu::Device::Create(name, std::move(executor), cpu_options));
  return Ref<hal::Device>(std::move(device));
}

}  // namespace takt::runtime
