#include "tools/common/drivers.h"

#include <cinttypes>
#include <cstdio>
#include <string_view>

#include "tools/common/file.h"
#include "tools/common/session_instance.h"

namespace takt::tools {
namespace {

// The driver's name of "local-task" or "local-task://"; what stands behind that
// would choose among devices, of which a driver has one.
std::string DeviceName(const std::string& uri) {
  const std::string_view kSuffix = "://";
  return uri.ends_with(kSuffix) ? uri.substr(0, uri.size() - kSuffix.size())
                                : uri;
}

// What every driver of --device is.
struct DriverInfo {
  const char* name;
  const char* use;  // How --device= names it.
  const char* text;
};
constexpr DriverInfo kDrivers[] = {
    {"local-sync", "local-sync://", "CPU, on the caller's thread"},
    {"local-task", "local-task://", "CPU, on worker threads"},
    {"npu-host", "npu-host", "NPU made of this machine's own instructions"},
    {"npu-host-sync", "npu-host-sync", "npu-host without threads"},
    {"npu-sim", "npu-sim[=PROFILE.json]", "NPU that is simulated"},
    {"npu", "npu=DRIVER.so[,options]", "NPU with a driver of its vendor"},
};

std::string DriverNames() {
  std::string names;
  for (const DriverInfo& driver : kDrivers) {
    if (!names.empty()) names += ", ";
    names += driver.use;
  }
  return names;
}

bool IsNpu(const std::string& name) { return name.starts_with("npu"); }

// Prints the machine, and which of its CPUs each worker may use.
Status DumpTopology(const SessionFlags& flags) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Topology topology,
                              OpenTopology(flags.topology_path));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string machine,
                              DescribeTopology(topology.get()));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Instance instance, CreateInstance(flags));
  std::printf("%s", machine.c_str());
  for (uint32_t i = 0; i < instance.worker_count(); ++i) {
    takt_worker_statistics_t worker = {};
    worker.struct_size = sizeof(worker);
    takt_executor_query_worker_statistics(
        takt_instance_executor(instance.get()), i, &worker);
    std::printf("  worker %u: CPUs 0x%" PRIx64 "\n", i, worker.affinity_mask);
  }
  return Status();
}

}  // namespace

Result<Device> CreateDevice(const Instance& instance, const std::string& name,
                            const takt_device_options_t& options,
                            const takt_npu_options_t& npu) {
  Result<Device> device =
      IsNpu(name) ? CreateNpu(instance, name, npu)
                  : Device::Create(instance, DeviceName(name), options);
  if (device.ok()) return device;
  const bool is_unknown =
      device.status().code() == TAKT_STATUS_NOT_FOUND && !IsNpu(name);
  return Annotate(is_unknown
                      ? Status(TAKT_STATUS_NOT_FOUND,
                               "no such device; there are " + DriverNames())
                      : device.status(),
                  "--device=" + name);
}

Result<Device> CreateNpu(const Instance& instance, const std::string& name,
                         takt_npu_options_t options) {
  const size_t equals = name.find('=');
  const std::string kind = name.substr(0, equals);
  const std::string value =
      equals == std::string::npos ? "" : name.substr(equals + 1);
  takt_device_t* device = nullptr;
  takt_status_t status = nullptr;
  if (kind == "npu") {
    const size_t comma = value.find(',');
    const std::string path = value.substr(0, comma);
    const std::string text =
        comma == std::string::npos ? "" : value.substr(comma + 1);
    options.driver_options = text.c_str();
    status = takt_npu_device_load(instance.get(), LibraryPath(path).c_str(),
                                  &options, &device);
  } else if (kind == "npu-host" || kind == "npu-host-sync") {
    options.driver_options = value.c_str();
    if (kind == "npu-host-sync") options.worker_count = 0;
    status = takt_npu_device_create(instance.get(), takt_npu_host_driver(),
                                    &options, &device);
  } else if (kind == "npu-sim") {
    std::string profile;
    if (!value.empty()) {
      TAKT_TOOLS_ASSIGN_OR_RETURN(profile, ReadFile(value));
    }
    options.driver_options = profile.c_str();
    status = takt_npu_device_create(instance.get(), takt_npu_sim_driver(),
                                    &options, &device);
  } else {
    status = takt_status_create(TAKT_STATUS_NOT_FOUND,
                                "no such NPU; there are npu-host, "
                                "npu-host-sync, npu-sim[=PROFILE.json] and "
                                "npu=DRIVER.so[,options]");
  }
  return TakeResult<Device>(status, device);
}

Result<bool> ListDevices(const SessionFlags& flags) {
  if (flags.dump_task_topologies) {
    TAKT_TOOLS_RETURN_IF_ERROR(DumpTopology(flags));
    return true;
  }
  if (flags.list_drivers) {
    for (const DriverInfo& driver : kDrivers) {
      std::printf("%16s: %s\n", driver.name, driver.text);
    }
    return true;
  }
  if (!flags.list_devices && !flags.dump_devices) return false;
  bool is_found = false;
  for (const DriverInfo& driver : kDrivers) {
    if (!flags.list_filter.empty() && flags.list_filter != driver.name) {
      continue;
    }
    is_found = true;
    if (!flags.dump_devices) {
      std::printf("%s\n", driver.use);
      continue;
    }
    std::printf("--device=%s\n  %s\n", driver.use, driver.text);
    if (std::string_view(driver.name) == kDefaultDevice) {
      TAKT_TOOLS_ASSIGN_OR_RETURN(const Instance instance,
                                  CreateInstance(flags));
      std::printf("  %zu workers\n",
                  static_cast<size_t>(instance.worker_count()));
    }
  }
  if (is_found) return true;
  return Status(TAKT_STATUS_NOT_FOUND, "no driver \"" + flags.list_filter +
                                           "\"; --list_drivers has their "
                                           "names");
}

}  // namespace takt::tools
