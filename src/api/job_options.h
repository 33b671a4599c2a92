// What a call asks of the scheduler. Its options say it; what they leave open,
// the annotations of its function do: `takt.priority`, `takt.deadline_ns` (from
// the call on) and `takt.affinity`. `takt.isa` lists the instruction-set
// features that its executables need.
#ifndef TAKT_API_JOB_OPTIONS_H_
#define TAKT_API_JOB_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/instance.h"
#include "base/job_attributes.h"
#include "takt/function.h"
#include "vm/module.h"

namespace takt::api {

// The part that takt_invoke_options_t and takt_async_options_t have in common.
struct JobOptions {
  JobOptions() = default;
  template <typename Options>
  explicit JobOptions(const Options& options)
      : priority(options.priority),
        deadline_ns(options.deadline_ns),
        cpu_words(options.cpu_words),
        cpu_word_count(options.cpu_word_count),
        npu_policy(options.npu_policy),
        npu_time_limit_ns(options.npu_time_limit_ns) {}

  int32_t priority = TAKT_PRIORITY_DEFAULT;
  int64_t deadline_ns = TAKT_DEADLINE_DEFAULT;
  const uint64_t* cpu_words = nullptr;
  size_t cpu_word_count = 0;
  takt_npu_policy_t npu_policy = TAKT_NPU_POLICY_DEVICE;
  int64_t npu_time_limit_ns = 0;
};

// INVALID_ARGUMENT naming the option, which `policy_name` and `limit_name` say.
absl::StatusOr<JobFaultPolicy> ReadFaultPolicy(absl::string_view policy_name,
                                               takt_npu_policy_t policy,
                                               absl::string_view limit_name,
                                               int64_t time_limit_ns);

// The annotations of a function, read once.
class JobAnnotations {
 public:
  // INVALID_ARGUMENT naming the attribute that is malformed.
  static absl::StatusOr<JobAnnotations> Read(Instance& instance,
                                             const vm::ExportInfo& info);

  // Of the call, from its beginning on; kInfiniteFuture: none.
  int64_t deadline_after_ns() const { return deadline_after_ns_; }
  // What a call that begins now is to have. INVALID_ARGUMENT naming the option.
  absl::StatusOr<JobAttributes> Resolve(Instance& instance,
                                        const JobOptions& options) const;

 private:
  uint8_t priority_ = kNormalPriority;
  int64_t deadline_after_ns_ = kInfiniteFuture;
  const CpuSet* cpus_ = nullptr;  // The instance's.
  std::vector<std::string> isa_;
  // The instance's: the CPUs that have it. Null: all.
  const CpuSet* isa_cpus_ = nullptr;
};

}  // namespace takt::api

#endif  // TAKT_API_JOB_OPTIONS_H_
