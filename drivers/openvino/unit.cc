#include "drivers/openvino/unit.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace takt::openvino {
namespace {

constexpr char kThermometer[] = "DEVICE_THERMAL";

// The names of the devices that are there.
std::string DevicesOf(const ov_core_t* core) {
  ov_available_devices_t devices = {};
  if (ov_core_get_available_devices(core, &devices) != OK) return "";
  std::string names;
  for (size_t i = 0; i < devices.size; ++i) {
    names += (i > 0 ? ", " : "") + std::string(devices.devices[i]);
  }
  ov_available_devices_free(&devices);
  return names;
}

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

takt_npu_result_t Unit::Open(const Calls& calls, Options options,
                             std::shared_ptr<Unit>* out, std::string* error) {
  ov_core_t* made = nullptr;
  if (ov_core_create(&made) != OK) {
    *error = "OpenVINO does not start: " + LastError(calls);
    return TAKT_NPU_RESULT_FAILED;
  }
  Core core(made);
  std::string name =
      PropertyOf(calls, made, options.device, "FULL_DEVICE_NAME");
  if (name.empty()) {
    *error = "OpenVINO has no device " + options.device + " here, but " +
             DevicesOf(made);
    return TAKT_NPU_RESULT_LOST;
  }
  for (const auto& [key, value] : options.properties) {
    if (ov_core_set_property(made, options.device.c_str(), key.c_str(),
                             value.c_str()) != OK) {
      *error = options.device;
      error->append(" refuses ").append(key).append("=").append(value);
      return TAKT_NPU_RESULT_INVALID;
    }
  }
  constexpr char kNpuFile[] = "/dev/accel/accel0";
  if (!options.has_path && options.device.starts_with("NPU") &&
      access(kNpuFile, R_OK) == 0) {
    options.path = kNpuFile;
  }
  std::shared_ptr<Unit> unit(
      new Unit(calls, std::move(options), std::move(core)));
  unit->full_name_ = std::move(name);
  const std::string properties =
      PropertyOf(calls, made, unit->options_.device, "SUPPORTED_PROPERTIES");
  unit->has_thermometer_ = properties.find(kThermometer) != std::string::npos;
  unit->window_start_ns_ = NowNs();
  unit->thread_ = std::thread([unit] { unit->RunThread(); });
  *out = std::move(unit);
  return TAKT_NPU_RESULT_OK;
}

void Unit::Close() {
  bool is_idle = false;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
    is_idle = WaitIdle(lock, options_.reset_ms);
  }
  if (is_idle) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

takt_npu_capabilities_t Unit::capabilities() const {
  takt_npu_capabilities_t capabilities = {};
  std::snprintf(capabilities.name, sizeof(capabilities.name), "%s",
                full_name_.c_str());
  std::snprintf(capabilities.path, sizeof(capabilities.path), "%s",
                options_.path.c_str());
  capabilities.flags = TAKT_NPU_HOST_MEMORY | TAKT_NPU_COHERENT;
  capabilities.kinds = 1u << TAKT_NPU_KIND_PROGRAM;
  return capabilities;
}

void Unit::NoteBatch(bool begins) {
  const std::lock_guard<std::mutex> lock(telemetry_mutex_);
  if (!begins) busy_ns_ += NowNs() - busy_since_ns_;
  busy_since_ns_ = begins ? NowNs() : 0;
}

takt_npu_telemetry_t Unit::telemetry() {
  constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();
  constexpr int64_t kWindowNs = 50'000'000;
  takt_npu_telemetry_t telemetry = {};
  telemetry.temperature_millicelsius = kUnknown;
  telemetry.frequency_hz = kUnknown;
  telemetry.throttled_ns = kUnknown;
  if (has_thermometer_) {
    const std::string text =
        PropertyOf(calls_, core_.get(), options_.device, kThermometer);
    char* end = nullptr;
    const double celsius = std::strtod(text.c_str(), &end);
    if (end != text.c_str() && std::abs(celsius) < 1000) {
      telemetry.temperature_millicelsius = std::llround(celsius * 1000);
    }
  }
  const std::lock_guard<std::mutex> lock(telemetry_mutex_);
  const int64_t now_ns = NowNs();
  const int64_t elapsed_ns = now_ns - window_start_ns_;
  if (elapsed_ns >= kWindowNs) {
    const int64_t busy_ns =
        busy_ns_ + (busy_since_ns_ != 0 ? now_ns - busy_since_ns_ : 0);
    utilization_ppm_ = (busy_ns - window_busy_ns_) * 1'000'000 / elapsed_ns;
    window_start_ns_ = now_ns;
    window_busy_ns_ = busy_ns;
  }
  telemetry.utilization_ppm = utilization_ppm_;
  return telemetry;
}

bool Unit::IsValid(const takt_npu_operation_t& operation) const {
  const takt_npu_program_t& run = operation.program;
  const Model* const model = Find(run.program);
  return model != nullptr && run.function == 0 && run.constant_count == 0 &&
         model->Takes(run.bindings, run.binding_count);
}

takt_npu_result_t Unit::Submit(const takt_npu_batch_t& batch) {
  for (size_t i = 0; i < batch.operation_count; ++i) {
    const takt_npu_operation_t& operation = batch.operations[i];
    if (operation.kind != TAKT_NPU_KIND_PROGRAM) {
      return TAKT_NPU_RESULT_UNSUPPORTED;
    }
    if (!IsValid(operation)) return TAKT_NPU_RESULT_INVALID;
  }
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return state_ != State::kCompleting; });
  if (state_ != State::kIdle || is_lost_) return TAKT_NPU_RESULT_LOST;
  state_ = State::kRunning;
  batch_ = &batch;
  batch_id_ = batch.id;
  changed_.notify_all();
  return TAKT_NPU_RESULT_OK;
}

bool Unit::WaitIdle(std::unique_lock<std::mutex>& lock, int64_t limit_ms) {
  return changed_.wait_for(lock, std::chrono::milliseconds(limit_ms),
                           [this] { return state_ == State::kIdle; });
}

takt_npu_result_t Unit::Cancel(uint64_t id) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return state_ != State::kCompleting; });
  if (state_ == State::kIdle || batch_id_ != id) return TAKT_NPU_RESULT_OK;
  batch_ = nullptr;  // Invariant (1); and it does not complete.
  if (const std::shared_ptr<Model> model = model_; model != nullptr) {
    lock.unlock();
    (void)calls_.cancel(model->request());
    lock.lock();
  }
  return WaitIdle(lock, options_.cancel_ms) ? TAKT_NPU_RESULT_OK
                                            : TAKT_NPU_RESULT_FAILED;
}

takt_npu_result_t Unit::Reset() {
  uint64_t running = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (state_ == State::kRunning && batch_ != nullptr) running = batch_id_;
  }
  if (running != 0) (void)Cancel(running);
  std::unique_lock<std::mutex> lock(mutex_);
  if (!WaitIdle(lock, options_.reset_ms)) return TAKT_NPU_RESULT_LOST;
  if (!is_lost_) return TAKT_NPU_RESULT_OK;
  for (const auto& [id, model] : programs_) {
    if (model->Compile(calls_, core_.get(), options_.device) !=
        TAKT_NPU_RESULT_OK) {
      return TAKT_NPU_RESULT_LOST;
    }
  }
  is_lost_ = false;
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t Unit::Load(std::span<const uint8_t> data,
                             uint64_t* out_program) {
  const std::optional<Program> program = ReadProgram(data);
  if (!program) return TAKT_NPU_RESULT_INVALID;
  std::unique_ptr<Model> model;
  const takt_npu_result_t result =
      Model::Create(calls_, core_.get(), options_.device, *program, &model);
  if (result != TAKT_NPU_RESULT_OK) return result;
  programs_[++last_program_] = std::move(model);
  *out_program = last_program_;
  return TAKT_NPU_RESULT_OK;
}

void Unit::Unload(uint64_t program) { programs_.erase(program); }

const Model* Unit::Find(uint64_t program) const {
  const auto found = programs_.find(program);
  return found != programs_.end() ? found->second.get() : nullptr;
}

void Unit::RunThread() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock,
                  [this] { return state_ == State::kRunning || is_closed_; });
    if (state_ != State::kRunning) break;
    lock.unlock();
    NoteBatch(/*begins=*/true);
    const takt_npu_result_t result = RunBatch();
    NoteBatch(/*begins=*/false);
    lock.lock();
    model_.reset();
    is_lost_ = is_lost_ || result == TAKT_NPU_RESULT_LOST;
    if (batch_ != nullptr) {
      state_ = State::kCompleting;
      const auto complete = batch_->complete;
      void* const user_data = batch_->user_data;
      const uint64_t id = batch_id_;
      lock.unlock();
      complete(user_data, id, result);
      lock.lock();
    }
    batch_ = nullptr;
    state_ = State::kIdle;
    changed_.notify_all();
  }
}

takt_npu_result_t Unit::RunBatch() {
  for (size_t i = 0;; ++i) {
    const takt_npu_program_t* operation = nullptr;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (batch_ == nullptr) return TAKT_NPU_RESULT_CANCELLED;
      if (i == batch_->operation_count) return TAKT_NPU_RESULT_OK;
      operation = &batch_->operations[i].program;
    }
    const takt_npu_result_t result = RunOperation(*operation);
    if (result != TAKT_NPU_RESULT_OK) return result;
  }
}

takt_npu_result_t Unit::RunOperation(const takt_npu_program_t& operation) {
  std::shared_ptr<Model> model;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (batch_ == nullptr) return TAKT_NPU_RESULT_CANCELLED;
    model = model_ = programs_.at(operation.program);
    if (!model->CopyIn(operation.bindings)) return TAKT_NPU_RESULT_FAILED;
    const ov_status_e status = calls_.start(model->request());
    if (status != OK) return ResultOf(status, LastError(calls_));
  }
  const ov_status_e status = calls_.wait(model->request());
  if (status != OK) return ResultOf(status, LastError(calls_));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (batch_ == nullptr) return TAKT_NPU_RESULT_CANCELLED;
  return model->CopyOut(operation.bindings) ? TAKT_NPU_RESULT_OK
                                            : TAKT_NPU_RESULT_FAILED;
}

}  // namespace takt::openvino
