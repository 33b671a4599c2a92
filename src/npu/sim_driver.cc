#include "npu/sim_driver.h"

#include <bit>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/exceptions.h"
#include "base/math.h"
#include "base/mutex.h"
#include "base/random.h"
#include "npu/built_in_driver.h"
#include "npu/driver_table.h"
#include "npu/program_table.h"
#include "npu/reference.h"
#include "npu/sim_model.h"
#include "npu/sim_profile.h"

namespace takt::npu {
namespace {

// The fault of a batch.
enum class Fault {
  kNone,
  kError,
  kTimeOut,
  kLate,
  kTwice,
  kLost,
  kOverheat,
};

class SimUnit final : public AddressSpace {
 public:
  SimUnit(const takt_npu_host_t& host, SimProfile profile)
      : host_(host),
        profile_(std::move(profile)),
        model_(profile_),
        random_(profile_.faults.seed) {}

  takt_npu_result_t Query(takt_npu_capabilities_t* out) const;
  takt_npu_result_t Submit(const takt_npu_batch_t& batch);
  takt_npu_result_t TrySubmit(const takt_npu_batch_t& batch);
  takt_npu_result_t Cancel(uint64_t id);
  takt_npu_result_t Reset();
  takt_npu_result_t Telemetry(takt_npu_telemetry_t* out);
  takt_npu_result_t Allocate(uint64_t byte_length, uint64_t* out_buffer);
  void Free(uint64_t buffer);
  takt_npu_result_t Sync(const void* data) const;

  ProgramTable programs;

 private:
  // A completion to come. Frees itself.
  struct Completion {
    SimUnit* unit;
    uint64_t id;
    takt_npu_result_t result;
    void (*complete)(void* user_data, uint64_t id, takt_npu_result_t result);
    void* user_data;
    bool is_stray;  // Completes whatever has happened to the batch.
  };

  uint8_t* Find(const takt_npu_range_t& range) const override;
  int64_t Now() const { return host_.now_ns(host_.user_data); }
  void Schedule(const takt_npu_batch_t& batch, int64_t at_ns,
                takt_npu_result_t result, bool is_stray);
  static void OnCompletion(void* argument);
  Fault DrawFault();
  bool Draw(double probability) {
    return probability > 0 && random_.Unit() < probability;
  }
  takt_npu_result_t RunOperations(const takt_npu_batch_t& batch, size_t count,
                                  std::vector<SimModel::Cost>* costs);
  void FlipBit(const takt_npu_transfer_t& transfer);

  const takt_npu_host_t host_;
  const SimProfile profile_;
  const Reference reference_;

  // Telemetry comes from any thread, completions from the clock's.
  mutable Mutex mutex_;
  SimModel model_ ABSL_GUARDED_BY(mutex_);
  uint64_t running_id_ ABSL_GUARDED_BY(mutex_) = 0;

  // Used by the thread that has the unit.
  Random random_;
  bool is_lost_ = false;
  uint32_t reset_failures_left_ = 0;
  Fault fault_ = Fault::kNone;  // Of the last batch.
  takt_npu_batch_t last_batch_ = {};
  std::map<uint64_t, std::vector<uint8_t>> buffers_;
  uint64_t last_buffer_ = 0;
  uint64_t allocated_bytes_ = 0;
};

takt_npu_result_t SimUnit::Query(takt_npu_capabilities_t* out) const {
  takt_npu_capabilities_t given;
  std::memset(&given, 0, sizeof(given));
  std::snprintf(given.name, sizeof(given.name), "%s", profile_.name.c_str());
  std::snprintf(given.path, sizeof(given.path), "%s", profile_.path.c_str());
  given.flags = TAKT_NPU_COHERENT;
  if (profile_.in_host_memory) given.flags |= TAKT_NPU_HOST_MEMORY;
  given.kinds = 1u << TAKT_NPU_KIND_MMT4D | 1u << TAKT_NPU_KIND_TRANSFER;
  if (profile_.in_host_memory) given.kinds |= 1u << TAKT_NPU_KIND_PROGRAM;
  if (profile_.packs && profile_.in_host_memory) {
    given.kinds |= 1u << TAKT_NPU_KIND_PACK | 1u << TAKT_NPU_KIND_UNPACK |
                   1u << TAKT_NPU_KIND_FILL | 1u << TAKT_NPU_KIND_COPY;
  }
  for (const auto& [type, rate] : profile_.macs_per_cycle) {
    given.types |= 1u << type;
  }
  for (int d = 0; d < 3; ++d) {
    given.tile_max[d] = profile_.tile_max[d];
    given.tile_multiple[d] = profile_.tile_multiple[d];
  }
  given.alignment = profile_.alignment;
  given.batch_max = profile_.batch_max;
  given.program_format = 1;
  given.memory_bytes = profile_.in_host_memory ? 0 : profile_.memory_bytes;
  given.scratchpad_bytes = profile_.scratchpad_bytes;
  for (const uint32_t cpu : profile_.cpus) {
    given.cpus[cpu / 64] |= uint64_t{1} << (cpu % 64);
  }
  GiveStruct(given, out);
  return TAKT_NPU_RESULT_OK;
}

uint8_t* SimUnit::Find(const takt_npu_range_t& range) const {
  if (range.buffer == 0) return range.data;
  const auto found = buffers_.find(range.buffer);
  if (found == buffers_.end() ||
      !RangeFits(range.offset, range.byte_length, found->second.size())) {
    return nullptr;
  }
  return const_cast<uint8_t*>(found->second.data()) + range.offset;
}

Fault SimUnit::DrawFault() {
  const SimFaults& faults = profile_.faults;
  if (!faults.any()) return Fault::kNone;
  if (Draw(faults.error)) return Fault::kError;
  if (Draw(faults.time_out)) return Fault::kTimeOut;
  if (Draw(faults.late)) return Fault::kLate;
  if (Draw(faults.twice)) return Fault::kTwice;
  if (Draw(faults.lost)) return Fault::kLost;
  if (Draw(faults.overheat)) return Fault::kOverheat;
  return Fault::kNone;
}

void SimUnit::FlipBit(const takt_npu_transfer_t& transfer) {
  uint8_t* const target = Find(transfer.target);
  const uint64_t length = transfer.target.byte_length;
  if (target == nullptr || length == 0 || length > UINT32_MAX / 8) return;
  const uint32_t bit = random_.Below(static_cast<uint32_t>(length * 8));
  target[bit / 8] ^= static_cast<uint8_t>(1 << (bit % 8));
  if (transfer.checksum == nullptr) return;
  // The bytes on the unit's side.
  const takt_npu_range_t& own =
      transfer.target.buffer != 0 ? transfer.target : transfer.source;
  *transfer.checksum = takt_npu_checksum(Find(own), own.byte_length);
}

takt_npu_result_t SimUnit::RunOperations(const takt_npu_batch_t& batch,
                                         size_t count,
                                         std::vector<SimModel::Cost>* costs) {
  for (size_t i = 0; i < batch.operation_count; ++i) {
    const takt_npu_operation_t& operation = batch.operations[i];
    CommandProgram::Work work;
    takt_npu_result_t result = TAKT_NPU_RESULT_OK;
    if (operation.kind == TAKT_NPU_KIND_PROGRAM) {
      if (i < count) result = programs.Run(operation.program, &work);
    } else if (operation.kind == TAKT_NPU_KIND_MMT4D &&
               profile_.macs_per_cycle.count(operation.mmt4d.type) == 0) {
      result = TAKT_NPU_RESULT_UNSUPPORTED;
    } else if (i < count && profile_.computes) {
      result = reference_.Run(operation, *this);
    }
    if (result != TAKT_NPU_RESULT_OK) return result;
    if (operation.kind == TAKT_NPU_KIND_TRANSFER && i < count &&
        Draw(profile_.faults.bit_flip)) {
      FlipBit(operation.transfer);
    }
    MutexLock lock(&mutex_);
    costs->push_back(operation.kind == TAKT_NPU_KIND_PROGRAM
                         ? model_.CostOf(work)
                         : model_.CostOf(operation));
  }
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t SimUnit::Submit(const takt_npu_batch_t& batch) {
  TAKT_TRY { return TrySubmit(batch); }
  TAKT_CATCH(const std::bad_alloc&) {
    MutexLock lock(&mutex_);
    running_id_ = 0;
    // Operations may have run, so this is no refusal of the batch.
    return TAKT_NPU_RESULT_FAILED;
  }
}

takt_npu_result_t SimUnit::TrySubmit(const takt_npu_batch_t& batch) {
  const int64_t now_ns = Now();
  last_batch_ = batch;
  fault_ = DrawFault();
  if (fault_ == Fault::kLost) {
    is_lost_ = true;
    reset_failures_left_ = profile_.faults.reset_failures;
  }
  std::vector<SimModel::Cost> costs;
  takt_npu_result_t result = TAKT_NPU_RESULT_OK;
  if (is_lost_) {
    result = TAKT_NPU_RESULT_LOST;
  } else if (fault_ == Fault::kOverheat) {
    result = TAKT_NPU_RESULT_OVERHEATED;
  } else {
    // A batch that fails has done half of its work.
    const bool fails = fault_ == Fault::kError || fault_ == Fault::kTimeOut ||
                       fault_ == Fault::kLate;
    const size_t count =
        fails ? batch.operation_count / 2 : batch.operation_count;
    result = RunOperations(batch, count, &costs);
    if (result == TAKT_NPU_RESULT_OK && fault_ == Fault::kError) {
      result = TAKT_NPU_RESULT_FAILED;
    }
  }
  int64_t end_ns = 0;
  {
    MutexLock lock(&mutex_);
    const SimModel::Run run = model_.Start(costs, now_ns);
    if (run.is_critical && result == TAKT_NPU_RESULT_OK)
      result = TAKT_NPU_RESULT_OVERHEATED;
    end_ns = now_ns + run.duration_ns;
    running_id_ = batch.id;
  }
  if (fault_ == Fault::kTimeOut || fault_ == Fault::kLate)
    return TAKT_NPU_RESULT_OK;
  Schedule(batch, end_ns, result, /*is_stray=*/false);
  if (fault_ == Fault::kTwice) {
    Schedule(batch, end_ns + 1, result, /*is_stray=*/true);
  }
  return TAKT_NPU_RESULT_OK;
}

void SimUnit::Schedule(const takt_npu_batch_t& batch, int64_t at_ns,
                       takt_npu_result_t result, bool is_stray) {
  std::unique_ptr<Completion> completion(new Completion{
      this, batch.id, result, batch.complete, batch.user_data, is_stray});
  host_.schedule(host_.user_data, at_ns, &SimUnit::OnCompletion,
                 completion.get());
  completion.release();  // OnCompletion() deletes it.
}

void SimUnit::OnCompletion(void* argument) {
  auto* completion = static_cast<Completion*>(argument);
  bool completes = completion->is_stray;
  if (!completes) {
    MutexLock lock(&completion->unit->mutex_);
    completes = completion->unit->running_id_ == completion->id;
    if (completes) completion->unit->running_id_ = 0;
  }
  if (completes)
    completion->complete(completion->user_data, completion->id,
                         completion->result);
  delete completion;
}

takt_npu_result_t SimUnit::Cancel(uint64_t id) {
  if (Draw(profile_.faults.stuck)) return TAKT_NPU_RESULT_FAILED;
  bool was_running = false;
  {
    MutexLock lock(&mutex_);
    was_running = running_id_ == id;
    if (was_running) running_id_ = 0;
  }
  if (was_running && fault_ == Fault::kLate) {
    Schedule(last_batch_, Now() + 1, TAKT_NPU_RESULT_OK, /*is_stray=*/true);
  }
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t SimUnit::Reset() {
  {
    MutexLock lock(&mutex_);
    running_id_ = 0;
  }
  if (is_lost_ && reset_failures_left_ > 0) {
    --reset_failures_left_;
    return TAKT_NPU_RESULT_LOST;
  }
  is_lost_ = false;
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t SimUnit::Telemetry(takt_npu_telemetry_t* out) {
  const int64_t now_ns = Now();
  takt_npu_telemetry_t given;
  given.utilization_ppm = INT64_MIN;
  MutexLock lock(&mutex_);
  given.temperature_millicelsius =
      static_cast<int64_t>(model_.temperature_celsius(now_ns) * 1000);
  given.frequency_hz = static_cast<int64_t>(model_.frequency_hz());
  given.throttled_ns = model_.throttled_ns();
  GiveStruct(given, out);
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t SimUnit::Allocate(uint64_t byte_length,
                                    uint64_t* out_buffer) {
  if (!RangeFits(allocated_bytes_, byte_length, profile_.memory_bytes)) {
    return TAKT_NPU_RESULT_NO_MEMORY;
  }
  TAKT_TRY {
    std::vector<uint8_t> memory(byte_length);
    buffers_.emplace(last_buffer_ + 1, std::move(memory));
  }
  TAKT_CATCH(const std::bad_alloc&) { return TAKT_NPU_RESULT_NO_MEMORY; }
  allocated_bytes_ += byte_length;
  *out_buffer = ++last_buffer_;
  return TAKT_NPU_RESULT_OK;
}

void SimUnit::Free(uint64_t buffer) {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) return;
  allocated_bytes_ -= found->second.size();
  buffers_.erase(found);
}

// The unit's caches are coherent, so only the arguments are checked.
takt_npu_result_t SimUnit::Sync(const void* data) const {
  if (is_lost_) return TAKT_NPU_RESULT_LOST;
  MutexLock lock(&mutex_);
  return data == nullptr || running_id_ != 0 ? TAKT_NPU_RESULT_INVALID
                                             : TAKT_NPU_RESULT_OK;
}

SimUnit& Of(void* unit) { return *static_cast<SimUnit*>(unit); }

takt_npu_result_t Open(const takt_npu_host_t* host, const char* options,
                       void** out_unit, char* error, size_t error_bytes) {
  auto profile = SimProfile::Parse(options);
  if (!profile.ok()) {
    std::snprintf(error, error_bytes, "%s",
                  std::string(profile.status().message()).c_str());
    return TAKT_NPU_RESULT_INVALID;
  }
  if (!std::has_single_bit(profile->alignment)) {
    std::snprintf(error, error_bytes, "alignment is no power of two");
    return TAKT_NPU_RESULT_INVALID;
  }
  *out_unit = new SimUnit(*host, *std::move(profile));
  return TAKT_NPU_RESULT_OK;
}

}  // namespace

const takt_npu_driver_t* SimDriver() {
  static const takt_npu_driver_t driver = [] {
    takt_npu_driver_t table = BuiltInDriver<SimUnit>("sim");
    table.open = &Open;
    table.query = [](void* unit, takt_npu_capabilities_t* out) {
      return Of(unit).Query(out);
    };
    table.submit = [](void* unit, const takt_npu_batch_t* batch) {
      return Of(unit).Submit(*batch);
    };
    table.cancel = [](void* unit, uint64_t id) { return Of(unit).Cancel(id); };
    table.reset = [](void* unit) { return Of(unit).Reset(); };
    table.telemetry = [](void* unit, takt_npu_telemetry_t* out) {
      return Of(unit).Telemetry(out);
    };
    table.allocate = [](void* unit, uint64_t byte_length,
                        uint64_t* out_buffer) {
      return Of(unit).Allocate(byte_length, out_buffer);
    };
    table.free_buffer = [](void* unit, uint64_t buffer) {
      Of(unit).Free(buffer);
    };
    table.flush_memory = [](void* unit, void* data, uint64_t) {
      return Of(unit).Sync(data);
    };
    table.invalidate_memory = [](void* unit, void* data, uint64_t) {
      return Of(unit).Sync(data);
    };
    return table;
  }();
  return &driver;
}

}  // namespace takt::npu
