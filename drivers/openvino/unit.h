// A unit: a device of OpenVINO with the programs that were loaded for it. One
// thread runs its batches.
//
// A cancel ends the accesses to operands at once, but the device may go on: not
// every plugin can stop an inference. cancel() and reset() wait for its end for
// a bounded time; until then the unit counts as lost, and it is found again by
// a reset after that end.
//
// Invariants:
//   (1) Operands are only touched under mutex_, while the batch is not
//       cancelled.
//   (2) A model outlives the inference that uses it, also one that was unloaded
//       or whose unit was closed.
//
// Thread-safety: as takt/npu_driver.h has it.
#ifndef TAKT_DRIVERS_OPENVINO_UNIT_H_
#define TAKT_DRIVERS_OPENVINO_UNIT_H_

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "drivers/openvino/model.h"
#include "drivers/openvino/openvino_api.h"
#include "drivers/openvino/options.h"

namespace takt::openvino {

class Unit : public std::enable_shared_from_this<Unit> {
 public:
  // Finds the device and starts the thread. On errors the unit is nullptr, and
  // `error` has the reason.
  static takt_npu_result_t Open(const Calls& calls, Options options,
                                std::shared_ptr<Unit>* out, std::string* error);
  // Ends the thread. If an inference does not end, its thread stays until it
  // does, and then frees the unit.
  void Close();

  takt_npu_capabilities_t capabilities() const;
  takt_npu_telemetry_t telemetry();

  takt_npu_result_t Submit(const takt_npu_batch_t& batch);
  takt_npu_result_t Cancel(uint64_t id);
  takt_npu_result_t Reset();

  takt_npu_result_t Load(std::span<const uint8_t> data, uint64_t* out_program);
  void Unload(uint64_t program);
  // nullptr if there is none.
  const Model* Find(uint64_t program) const;

 private:
  enum class State { kIdle, kRunning, kCompleting };

  Unit(const Calls& calls, Options options, Core core)
      : calls_(calls), options_(std::move(options)), core_(std::move(core)) {}

  bool IsValid(const takt_npu_operation_t& operation) const;
  bool WaitIdle(std::unique_lock<std::mutex>& lock, int64_t limit_ms);
  void RunThread();
  takt_npu_result_t RunBatch();
  takt_npu_result_t RunOperation(const takt_npu_program_t& operation);
  void NoteBatch(bool begins);

  const Calls calls_;
  const Options options_;
  const Core core_;
  std::string full_name_;
  bool has_thermometer_ = false;
  // Used by the thread that calls the driver.
  std::map<uint64_t, std::shared_ptr<Model>> programs_;
  uint64_t last_program_ = 0;

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Under mutex_.
  State state_ = State::kIdle;
  const takt_npu_batch_t* batch_ = nullptr;  // Of kRunning; not if cancelled.
  uint64_t batch_id_ = 0;
  std::shared_ptr<Model> model_;  // What runs, or ran last.
  bool is_lost_ = false;
  bool is_closed_ = false;

  std::mutex telemetry_mutex_;
  // Under telemetry_mutex_: the time in batches, the start of the one that runs
  // (0: none does), and the window of the utilization.
  int64_t busy_ns_ = 0;
  int64_t busy_since_ns_ = 0;
  int64_t window_start_ns_ = 0;
  int64_t window_busy_ns_ = 0;
  int64_t utilization_ppm_ = 0;
};

}  // namespace takt::openvino

#endif  // TAKT_DRIVERS_OPENVINO_UNIT_H_
