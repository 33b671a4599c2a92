// JobAnnotations are the attributes of a function that say how its calls are
// scheduled unless their options say otherwise: `takt.priority`,
// `takt.deadline_ns` (relative to the call) and `takt.affinity`. `takt.isa`
// lists the instruction-set features that its executables need.
#ifndef TAKT_RUNTIME_JOB_ANNOTATIONS_H_
#define TAKT_RUNTIME_JOB_ANNOTATIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/job_attributes.h"
#include "runtime/call_options.h"
#include "runtime/instance.h"
#include "vm/module.h"

namespace takt::runtime {

// The annotations of a function, read once.
class JobAnnotations {
 public:
  // INVALID_ARGUMENT naming the attribute that is malformed.
  static absl::StatusOr<JobAnnotations> Read(Instance& instance,
                                             const vm::ExportInfo& info);

  // From the begin of a call to its deadline; kInfiniteFuture: none.
  int64_t deadline_after_ns() const { return deadline_after_ns_; }
  // The attributes of a call that begins now. INVALID_ARGUMENT naming the
  // option.
  absl::StatusOr<JobAttributes> Resolve(Instance& instance,
                                        const CallOptions& options) const;

 private:
  uint8_t priority_ = kNormalPriority;
  int64_t deadline_after_ns_ = kInfiniteFuture;
  const CpuSet* cpus_ = nullptr;  // The instance's.
  std::vector<std::string> isa_;
  // The instance's: the CPUs that have it. Null: all.
  const CpuSet* isa_cpus_ = nullptr;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_JOB_ANNOTATIONS_H_
