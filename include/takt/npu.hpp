// takt/npu.hpp - NPUs from C++; contracts are in takt/npu.h and
// takt/npu_queue.h.
//
//   takt::NpuOptions options;
//   options->time_limit_ns = 5'000'000;
//   auto npu = takt::Npu::Create(instance, takt_npu_host_driver(), options);
//   if (!npu.ok()) return npu.status();
//   auto context = takt::Context::Create(instance, modules, {cpu, *npu});
#ifndef TAKT_NPU_HPP_
#define TAKT_NPU_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "takt/npu.h"
#include "takt/npu_queue.h"
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

// Functions for the NPU of a device. If the device has no NPU, the results are
// empty.
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
  // The last batches, oldest first, at most `capacity`.
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

// takt_npu_batch_options_t with its defaults.
class NpuBatchOptions {
 public:
  NpuBatchOptions() { takt_npu_batch_options_init(&options_); }
  takt_npu_batch_options_t* operator->() { return &options_; }
  const takt_npu_batch_options_t* get() const { return &options_; }

 private:
  takt_npu_batch_options_t options_;
};

// Operations on the queue of an NPU's device; see takt/npu_queue.h. It holds a
// reference to the device.
class NpuQueue {
 public:
  using Range = takt_buffer_range_t;
  using Options = NpuBatchOptions;

  explicit NpuQueue(Device device) : device_(std::move(device)) {}

  Status Matmul(const Order& order, const takt_npu_matmul_t& matmul,
                const Options& options = Options()) const {
    return Status(takt_npu_queue_matmul(device_.get(), order.wait.get(),
                                        order.signal.get(), &matmul,
                                        options.get()));
  }
  Status Batch(const Order& order, const takt_npu_batch_description_t& batch,
               std::span<const Range> bindings,
               const Options& options = Options()) const {
    return Status(takt_npu_queue_batch(
        device_.get(), order.wait.get(), order.signal.get(), &batch,
        bindings.size(), bindings.data(), options.get()));
  }
  // Makes an executable of a batch, for CommandBuffer::Dispatch().
  Result<Executable> CreateBatch(const takt_npu_batch_description_t& batch,
                                 size_t binding_count,
                                 const Options& options = Options()) const {
    takt_executable_t* executable = nullptr;
    takt_status_t status = takt_npu_batch_create(
        device_.get(), &batch, binding_count, options.get(), &executable);
    return TakeResult<Executable>(status, executable);
  }

 private:
  Device device_;
};

}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_NPU_HPP_
