// An NpuUnit is one NPU that a driver has opened: it serializes the use of the
// NPU, limits how long each use takes, and acts on failures.
//
// Run() takes the lease, submits a batch, waits for it and gives the lease
// back. A batch that takes longer than its limit is cancelled, and the unit is
// reset if that fails. Failed batches are tried again as often as the policy
// says. A unit that keeps failing goes into quarantine (npu/quarantine.h), and
// is then probed by a small operation whose result is known.
//
// Invariants:
//   (1) The driver runs at most one batch, submitted by the holder of the
//       lease.
//   (2) Every batch ends exactly once: by its completion, by a cancel or by a
//       reset. A later or repeated completion is counted and has no effect.
//   (3) When Run() returns, nothing of its batch touches memory any longer.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is a
// leaf; no driver function is called under it.
#ifndef TAKT_NPU_NPU_UNIT_H_
#define TAKT_NPU_NPU_UNIT_H_

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/job_attributes.h"
#include "base/mutex.h"
#include "base/object.h"
#include "base/sleeper.h"
#include "base/tracer.h"
#include "base/unique_fd.h"
#include "npu/driver_table.h"
#include "npu/fault_policy.h"
#include "npu/import_watchdog.h"
#include "npu/lease.h"
#include "npu/npu_statistics.h"
#include "npu/npu_trace.h"
#include "npu/quarantine.h"
#include "npu/timebase.h"
#include "takt/npu_driver.h"

namespace takt::npu {

class Reference;
class Staging;

// One Run().
struct NpuRequest {
  Urgency urgency;
  const NpuFaultPolicy* policy = nullptr;  // Null: the unit's.
  // Whether the operations may run again: they do not read what they write.
  bool is_repeatable = true;
  // Restores the memory that a failed batch may have destroyed; called before
  // the batch runs again, and before a failure is returned. Null: there is
  // none.
  absl::FunctionRef<void()>* restore = nullptr;
  // Checks the memory that a batch has written; its result counts as that of
  // the batch. Null: nothing is checked.
  absl::FunctionRef<takt_npu_result_t()>* check = nullptr;
};

class NpuUnit final : public Object {
 public:
  static constexpr ObjectType kType{"npu.unit"};

  struct Options {
    std::string driver_options;
    // The file by which processes share the unit; "": only this one uses it.
    std::string lease_path;
    NpuFaultPolicy policy;
    std::shared_ptr<Timebase> time;  // Required.
    size_t event_count_max = 0;      // Records of batches kept; 0: none.
    // A dispatch that has code for the CPU as well may run there.
    bool may_route_to_cpu = true;
    Ref<Tracer> tracer;  // Where batches are recorded. Null: nowhere.
  };

  // Opens a unit. FAILED_PRECONDITION if another process has it and not both
  // have a lease file. `library` keeps the table loaded; null: the table is
  // static.
  static absl::StatusOr<Ref<NpuUnit>> Open(
      const takt_npu_driver_t* table, Options options,
      std::shared_ptr<DriverLibrary> library = nullptr);

  const takt_npu_capabilities_t& capabilities() const { return capabilities_; }
  const char* driver_name() const { return driver_.name; }
  const NpuFaultPolicy& policy() const { return options_.policy; }
  bool may_route_to_cpu() const { return options_.may_route_to_cpu; }
  Timebase& time() const { return *options_.time; }
  bool in_host_memory() const {
    return (capabilities_.flags & TAKT_NPU_HOST_MEMORY) != 0;
  }

  // Runs operations in order and waits for them. Errors, by the last failure:
  //   UNIMPLEMENTED, INVALID_ARGUMENT, RESOURCE_EXHAUSTED  the unit refused.
  //   INTERNAL, DATA_LOSS, CANCELLED  it failed, as often as it was tried.
  //   DEADLINE_EXCEEDED  it took too long.
  //   UNAVAILABLE        it is lost, too hot, or in quarantine.
  // After an error the outputs are undefined, unless `restore` says otherwise.
  absl::Status Run(absl::Span<const takt_npu_operation_t> operations,
                   const NpuRequest& request);

  // Calls an import of the driver with the lease, while no batch runs. Errors:
  //   DEADLINE_EXCEEDED  it took longer than `time_limit_ns`: then the driver
  //                      was asked to end it, if the driver can.
  //   UNAVAILABLE        it returned an error, or as Run().
  absl::Status RunImport(const Urgency& urgency, int64_t time_limit_ns,
                         absl::FunctionRef<int()> import);

  // Whether SyncMemory() has anything to do.
  bool syncs_memory() const {
    return driver_.flush_memory != nullptr ||
           driver_.invalidate_memory != nullptr;
  }
  enum class Sync { kFlush, kInvalidate };
  // Calls flush_memory or invalidate_memory of the driver with the lease; does
  // nothing if the driver lacks it. Errors: as the driver's result says;
  // UNAVAILABLE as Run().
  absl::Status SyncMemory(const Urgency& urgency, Sync sync, void* data,
                          uint64_t byte_length);

  // Functions of programs in the format of the driver or of Takt. Each call
  // takes the lease.
  absl::StatusOr<uint64_t> LoadProgram(absl::Span<const uint8_t> data);
  void UnloadProgram(uint64_t program);
  // All functions of a program. DATA_LOSS if there are more than 4096.
  absl::StatusOr<std::vector<takt_npu_function_t>> DescribeFunctions(
      uint64_t program);
  // NOT_FOUND.
  absl::Status FindImport(const std::string& name,
                          takt_npu_import_t* out_function, void** out_context);
  // Memory on the unit.
  absl::StatusOr<uint64_t> Allocate(uint64_t byte_length);
  void Free(uint64_t buffer);

  // Fields that the driver does not set are INT64_MIN.
  takt_npu_telemetry_t telemetry() const;
  // Whether the unit is in quarantine, which lasts until a probe succeeds.
  bool is_quarantined() const;
  // Whether the time of the quarantine is over, and a probe is due.
  bool IsProbeDue() const;
  // Probes the unit if that is due, with the lease; blocks meanwhile.
  void ProbeIfDue();
  NpuStatistics statistics() const;
  // Counts code that was loaded for the unit, or that calls it.
  void CountCode() { code_count_.fetch_add(1, std::memory_order_relaxed); }
  bool has_code() const {
    return code_count_.load(std::memory_order_relaxed) != 0;
  }
  Lease::Statistics lease_statistics() const { return lease_.statistics(); }
  SharedLease::Statistics shared_lease_statistics() const;
  // How long work of this urgency would wait now for `turn_count` turns, by the
  // mean duration of turns. kInfiniteFuture during a quarantine.
  int64_t ExpectedWaitNs(const Urgency& urgency, uint32_t turn_count) const;
  // The last batches, oldest first.
  std::vector<NpuBatchRecord> events() const;

  // Runs operations on the CPU, with the results that the unit would have.
  const Reference& stand_in() const { return *stand_in_; }
  // Runs products on a unit that does not see host memory.
  Staging& staging() const { return *staging_; }

  // The CPU ran operations after a failure of the unit.
  void CountFallback(uint64_t count);
  // Records an action that follows a failure, while the tracer is on.
  void NoteFault(NpuFaultAction action, int64_t value = 0);
  void CountUnsupported(uint64_t count);
  void CountChoice(bool is_taken);
  void CountTransfer(uint64_t bytes_to_unit, uint64_t bytes_to_host);

 private:
  NpuUnit(const takt_npu_driver_t& driver, Options options,
          std::shared_ptr<DriverLibrary> library);
  ~NpuUnit() override;

  // How one batch ended.
  struct Outcome {
    takt_npu_result_t result = TAKT_NPU_RESULT_OK;
    bool is_time_out = false;
  };
  // With the lease:
  Outcome RunBatch(absl::Span<const takt_npu_operation_t> operations,
                   const Urgency& urgency, int64_t time_limit_ns);
  // A list of one record for events_, so that none has to be made after a batch
  // has run; empty if no records are kept.
  std::list<NpuBatchRecord> NewRecord() ABSL_LOCKS_EXCLUDED(mutex_);
  takt_npu_result_t Submit(const takt_npu_batch_t& batch);
  takt_npu_result_t WaitForBatch(uint64_t id, int64_t deadline_ns,
                                 bool* is_time_out);
  bool GiveUp();
  takt_npu_result_t EndBatch(uint64_t id);
  Outcome RunAll(absl::Span<const takt_npu_operation_t> operations,
                 const NpuRequest& request, int64_t time_limit_ns);
  absl::Status CheckHealth();
  bool Probe();
  void CountOutcome(const Outcome& outcome) ABSL_LOCKS_EXCLUDED(mutex_);
  void NoteOutcome(const Outcome& outcome);
  void BeginQuarantine();
  bool Reset();

  static void OnComplete(void* user_data, uint64_t id,
                         takt_npu_result_t result);

  // Cancels the import that runs, if the driver can.
  void CancelImport();

  // Sees that no process uses the unit without the knowledge of this one.
  absl::Status Claim();

  // A grant of the lease, measured and recorded.
  class Turn;

  const takt_npu_driver_t driver_;
  const Options options_;
  const std::shared_ptr<DriverLibrary> library_;
  const std::unique_ptr<const Reference> stand_in_;
  std::unique_ptr<Staging> staging_;  // Goes before the unit is closed.
  NpuTrace trace_;
  takt_npu_host_t host_;
  void* unit_ = nullptr;
  UniqueFd claim_;  // The lock of the file that stands for the unit.
  takt_npu_capabilities_t capabilities_;
  Lease lease_;
  // A moving mean of the duration of turns.
  std::atomic<int64_t> turn_mean_ns_{0};

  // Used by the holder of the lease only:
  uint64_t last_id_ = 0;
  Lease::Turn turn_;
  static constexpr uint32_t kEnded = 1;
  Sleeper sleeper_;

  Quarantine quarantine_;
  ImportWatchdog watchdog_;

  mutable Mutex mutex_;
  uint64_t running_id_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: none.
  takt_npu_result_t running_result_ ABSL_GUARDED_BY(mutex_) =
      TAKT_NPU_RESULT_OK;
  std::atomic<uint64_t> code_count_{0};
  NpuStatistics statistics_ ABSL_GUARDED_BY(mutex_);
  std::list<NpuBatchRecord> events_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::npu

#endif  // TAKT_NPU_NPU_UNIT_H_
