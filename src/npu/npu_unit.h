// An NpuUnit is one NPU that a driver has opened: who may use it when, for how
// long, and what happens if it fails.
//
// Run() is the way to use it: it takes the lease, submits a batch, waits for
// it, gives the lease back. A batch that takes longer than its limit is
// cancelled, the unit reset if need be. What failed is tried again as often as
// the policy says; a unit that keeps failing is left alone for a while
// (quarantine) and then probed with a small product whose result is known.
//
// Invariants:
//   (1) The driver runs at most one batch, submitted by who has the lease.
//   (2) Every batch ends exactly once: by its completion, by a cancel or by a
//       reset. A completion that comes after that, or twice, is counted and
//       does nothing.
//   (3) When Run() returns, nothing of its batch touches memory any more.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ and
// watch_mutex_ are leaves; no driver function is called under mutex_.
#ifndef TAKT_NPU_NPU_UNIT_H_
#define TAKT_NPU_NPU_UNIT_H_

#include <atomic>
#include <cstdint>
#include <deque>
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
#include "npu/driver_table.h"
#include "npu/lease.h"
#include "npu/timebase.h"
#include "takt/npu_driver.h"

namespace takt::npu {

class Reference;
class Staging;

// What happens when an operation fails.
struct NpuFaultPolicy {
  // Ends a batch that takes longer. kInfiniteFuture: it may take as long as it
  // takes.
  int64_t time_limit_ns = 1'000'000'000;
  uint32_t retry_max = 1;        // Tries after the first, each a batch anew.
  bool fall_back_to_cpu = true;  // What the CPU can do as well, it does then.
  // Failures in a row before the unit is left alone, and for how long; twice
  // as long each time a probe fails, up to 64 times.
  uint32_t quarantine_after = 4;
  int64_t quarantine_ns = 100'000'000;
};

// What holds for work with terms of its own on a unit with that policy.
NpuFaultPolicy PolicyFor(const JobFaultPolicy& terms, NpuFaultPolicy policy);

// Counts since the unit was opened.
struct NpuStatistics {
  uint64_t batch_count = 0;      // Submitted, also again.
  uint64_t operation_count = 0;  // Done, and their results used.
  uint64_t mac_count = 0;        // Of products among these.
  uint64_t busy_ns = 0;          // Of batches, from submit to their end.
  // Failures, by how a batch ended.
  uint64_t failed_count = 0;
  uint64_t corrupted_count = 0;
  uint64_t time_out_count = 0;
  uint64_t cancelled_count = 0;
  uint64_t overheated_count = 0;
  uint64_t lost_count = 0;
  uint64_t refused_count = 0;  // UNSUPPORTED, INVALID or NO_MEMORY.
  // What was done about it.
  uint64_t retry_count = 0;
  uint64_t reset_count = 0;
  uint64_t quarantine_count = 0;
  uint64_t probe_count = 0;
  uint64_t error_count = 0;     // Run() that failed in the end.
  uint64_t fallback_count = 0;  // Operations that the CPU did after a failure.
  // Operations that the CPU did because the unit cannot, or is in quarantine.
  uint64_t unsupported_count = 0;
  // Dispatches that could have gone either way, by which they went.
  uint64_t taken_count = 0;
  uint64_t left_to_cpu_count = 0;
  uint64_t stray_completion_count = 0;  // Late, double, or of no batch at all.
  uint64_t bytes_to_unit = 0;           // Staged copies.
  uint64_t bytes_to_host = 0;
};

// How a batch went, for whoever looks at the unit's past.
struct NpuBatchRecord {
  uint64_t id = 0;
  Urgency urgency;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  takt_npu_result_t result = TAKT_NPU_RESULT_OK;
  bool is_time_out = false;
  Lease::Turn turn;  // The grant that it ran in.
};

// One Run().
struct NpuRequest {
  Urgency urgency;
  const NpuFaultPolicy* policy = nullptr;  // Null: the unit's.
  // The operations may run again, because they do not read what they write.
  bool is_repeatable = true;
  // Puts back what a failed batch may have destroyed; called before it runs
  // again, and before a failure is returned. Null: there is no such thing.
  absl::FunctionRef<void()>* restore = nullptr;
  // Looks at what a batch has left; what it returns counts as the batch's own
  // result. Null: all is well.
  absl::FunctionRef<takt_npu_result_t()>* check = nullptr;
};

class NpuUnit final : public Object {
 public:
  static constexpr ObjectType kType{"npu.unit"};

  struct Options {
    std::string driver_options;
    NpuFaultPolicy policy;
    std::shared_ptr<Timebase> time;  // Needed.
    size_t event_count_max = 0;      // Events kept; 0: none.
    // What the CPU can do as well may be left to it.
    bool allows_either_way = true;
    Ref<Tracer> tracer;  // Where batches are recorded. Null: nowhere.
  };

  // Opens a unit. `library` keeps the table, if it is not static.
  static absl::StatusOr<Ref<NpuUnit>> Open(
      const takt_npu_driver_t* table, Options options,
      std::shared_ptr<DriverLibrary> library = nullptr);

  const takt_npu_capabilities_t& capabilities() const { return capabilities_; }
  const char* driver_name() const { return driver_.name; }
  const NpuFaultPolicy& policy() const { return options_.policy; }
  bool allows_either_way() const { return options_.allows_either_way; }
  Timebase& time() const { return *options_.time; }
  bool in_host_memory() const {
    return (capabilities_.flags & TAKT_NPU_HOST_MEMORY) != 0;
  }

  // Runs operations in order and waits for them. Errors, by what happened last:
  //   UNIMPLEMENTED, INVALID_ARGUMENT, RESOURCE_EXHAUSTED  the unit refused.
  //   INTERNAL, DATA_LOSS, CANCELLED  it failed, as often as it was tried.
  //   DEADLINE_EXCEEDED  it took too long.
  //   UNAVAILABLE        it is lost, too hot, or in quarantine.
  // After an error the outputs are undefined, unless `restore` says otherwise.
  absl::Status Run(absl::Span<const takt_npu_operation_t> operations,
                   const NpuRequest& request);

  // Calls an import of the driver's with the lease, and no batch running; its
  // result. If it takes longer than `time_limit_ns` the driver is asked to end
  // it, if it can, and the result is DEADLINE_EXCEEDED, once it returns.
  // INTERNAL for what it fails with, UNAVAILABLE as Run().
  absl::Status RunImport(const Urgency& urgency, int64_t time_limit_ns,
                         absl::FunctionRef<int()> import);

  // Whether SyncMemory() has anything to do.
  bool syncs_memory() const {
    return driver_.flush_memory != nullptr ||
           driver_.invalidate_memory != nullptr;
  }
  enum class Sync { kFlush, kInvalidate };
  // Calls flush_memory or invalidate_memory of the driver, if it has it, with
  // the lease. Errors: as the driver's result says; UNAVAILABLE as Run().
  absl::Status SyncMemory(const Urgency& urgency, Sync sync, void* data,
                          uint64_t byte_length);

  // Programs of the driver's own format, or Takt's. The lease is taken for it.
  absl::StatusOr<uint64_t> LoadProgram(absl::Span<const uint8_t> data);
  void UnloadProgram(uint64_t program);
  // All functions of a program. DATA_LOSS for more than make sense.
  absl::StatusOr<std::vector<takt_npu_function_t>> DescribeFunctions(
      uint64_t program);
  // NOT_FOUND.
  absl::Status FindImport(const std::string& name,
                          takt_npu_import_t* out_function, void** out_context);
  // Memory of the unit's own.
  absl::StatusOr<uint64_t> Allocate(uint64_t byte_length);
  void Free(uint64_t buffer);

  // Fields the driver leaves alone are INT64_MIN.
  takt_npu_telemetry_t telemetry() const;
  // Lost, or left alone: until a probe goes well.
  bool is_quarantined() const;
  // Whether it has been left alone for long enough.
  bool IsProbeDue() const;
  // Then it is probed, with the lease; blocks for as long as that takes.
  void ProbeIfDue();
  NpuStatistics statistics() const;
  // Code that has been loaded for it, or that calls it.
  void CountCode() { code_count_.fetch_add(1, std::memory_order_relaxed); }
  bool has_code() const {
    return code_count_.load(std::memory_order_relaxed) != 0;
  }
  Lease::Statistics lease_statistics() const { return lease_.statistics(); }
  // How long who is so urgent would wait now for `turn_count` turns, by what
  // turns have taken so far. kInfiniteFuture while it is left alone.
  int64_t ExpectedWaitNs(const Urgency& urgency, uint32_t turn_count) const;
  // The last events, oldest first.
  std::vector<NpuBatchRecord> events() const;

  // What does in its place what the unit does not.
  const Reference& stand_in() const { return *stand_in_; }
  // How a unit that does not see host memory gets at products.
  Staging& staging() const { return *staging_; }

  // Operations that the CPU did in the unit's place.
  void CountFallback(uint64_t count);
  // What is done about a failure is recorded, if anything is.
  void NoteFault(NpuFaultAction answer, int64_t value = 0);
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
  takt_npu_result_t WaitForBatch(uint64_t id, int64_t deadline_ns,
                                 bool* is_time_out);
  takt_npu_result_t EndBatch(uint64_t id);
  Outcome RunAll(absl::Span<const takt_npu_operation_t> operations,
                 const NpuRequest& request, int64_t time_limit_ns);
  absl::Status CheckHealth();
  bool Probe();
  void NoteOutcome(const Outcome& outcome);
  void BeginQuarantine();
  bool Reset();

  static void OnComplete(void* user_data, uint64_t id,
                         takt_npu_result_t result);

  // With the lease, while an import runs.
  void BeginWatch(int64_t time_limit_ns) ABSL_LOCKS_EXCLUDED(watch_mutex_);
  // Whether its limit has passed.
  bool EndWatch() ABSL_LOCKS_EXCLUDED(watch_mutex_);
  // On the timebase's thread.
  static void OnWatch(void* argument);

  // One turn: what happens with the lease.
  class Turn;
  void NoteLease(int64_t asked_ns, int64_t granted_ns);
  void NoteBatch(uint64_t id, int64_t start_ns, takt_npu_result_t result,
                 size_t operation_count);
  int64_t TraceNow() const { return tracer_->is_on() ? ::takt::NowNs() : 0; }

  const takt_npu_driver_t driver_;
  const Options options_;
  const std::shared_ptr<DriverLibrary> library_;
  const std::unique_ptr<const Reference> stand_in_;
  std::unique_ptr<Staging> staging_;  // Goes before the unit is closed.
  const Ref<Tracer> tracer_;
  uint16_t trace_track_ = 0;
  uint32_t trace_name_ = 0;
  takt_npu_host_t host_;
  void* unit_ = nullptr;
  takt_npu_capabilities_t capabilities_;
  Lease lease_;
  // What a turn takes, a moving mean.
  std::atomic<int64_t> turn_mean_ns_{0};

  // Of who has the lease.
  uint64_t last_id_ = 0;
  Lease::Turn turn_;
  uint32_t failures_in_a_row_ = 0;
  int64_t quarantine_ns_ = 0;  // The last one's; 0: none since it worked.
  static constexpr uint32_t kEnded = 1;
  Sleeper sleeper_;

  // Held while an import is being cancelled, which so is the one that is
  // meant.
  Mutex watch_mutex_;
  // Of the import that runs; kInfiniteFuture: none does.
  int64_t import_end_ns_ ABSL_GUARDED_BY(watch_mutex_) = kInfiniteFuture;
  // When OnWatch() is called next; kInfiniteFuture: never.
  int64_t watch_ns_ ABSL_GUARDED_BY(watch_mutex_) = kInfiniteFuture;
  bool is_import_late_ ABSL_GUARDED_BY(watch_mutex_) = false;

  mutable Mutex mutex_;
  uint64_t running_id_ ABSL_GUARDED_BY(mutex_) = 0;  // 0: none.
  takt_npu_result_t running_result_ ABSL_GUARDED_BY(mutex_) =
      TAKT_NPU_RESULT_OK;
  bool is_lost_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_quarantined_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t quarantine_end_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> code_count_{0};
  NpuStatistics statistics_ ABSL_GUARDED_BY(mutex_);
  std::deque<NpuBatchRecord> events_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace takt::npu

#endif  // TAKT_NPU_NPU_UNIT_H_
