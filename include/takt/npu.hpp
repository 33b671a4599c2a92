// takt/npu.hpp - the C++ face of takt/npu.h: header-only, no exceptions.
//
//   takt::NpuOptions options;
//   options->time_limit_ns = 5'000'000;
//   auto npu = takt::Npu::Create(instance, takt_npu_host_driver(), options);
//   if (!npu.ok()) return npu.status();
//   auto context = takt::Context::Create(instance, modules, {cpu, *npu});
#ifndef TAKT_NPU_HPP_
#define TAKT_NPU_HPP_

#include <optional>
#include <string>
#include <vector>

#include "takt/npu.h"
#include "takt/takt.hpp"

namespace takt {

// takt_npu_options_t with its defaults.
class NpuOptions {
 public:
  NpuOptions() { takt_npu_options_init(&options_); }
  takt_npu_options_t* operator->() { return &options_; }
  const takt_npu_options_t* get() const { return &options_; }

 private:
  takt_npu_options_t options_;
};

// What there is to do with the NPU behind a device. Where there is none, the
// answers are empty.
struct Npu {
  static Result<Device> Create(const Instance& instance,
                               const takt_npu_driver_t* driver,
                               const NpuOptions& options = NpuOptions()) {
    takt_device_t* device = nullptr;
    takt_status_t status =
        takt_npu_device_create(instance.get(), driver, options.get(), &device);
    return TakeResult<Device>(status, device);
  }
  static Result<Device> Load(const Instance& instance, const std::string& path,
                             const NpuOptions& options = NpuOptions()) {
    takt_device_t* device = nullptr;
    takt_status_t status = takt_npu_device_load(instance.get(), path.c_str(),
                                                options.get(), &device);
    return TakeResult<Device>(status, device);
  }

  static std::optional<takt_npu_capabilities_t> Capabilities(
      const Device& device) {
    return Get<takt_npu_capabilities_t>(device, takt_npu_device_capabilities);
  }
  static std::optional<takt_npu_telemetry_t> Telemetry(const Device& device) {
    return Get<takt_npu_telemetry_t>(device, takt_npu_device_telemetry);
  }
  static std::optional<takt_npu_statistics_t> Statistics(const Device& device) {
    return Get<takt_npu_statistics_t>(device, takt_npu_device_statistics);
  }
  // At most `capacity` of the batches that are remembered.
  static std::vector<takt_npu_event_t> Events(const Device& device,
                                              size_t capacity) {
    std::vector<takt_npu_event_t> events(capacity);
    events.resize(
        takt_npu_device_events(device.get(), capacity, events.data()));
    return events;
  }

 private:
  template <typename T, typename Query>
  static std::optional<T> Get(const Device& device, Query query) {
    T value = {};
    value.struct_size = sizeof(value);
    if (!query(device.get(), &value)) return std::nullopt;
    return value;
  }
};

}  // namespace takt

#endif  // TAKT_NPU_HPP_
