// The urgency and the fault policy of NPU requests that code on this thread
// makes: both come from the job that the code is part of. The imports of vmvx
// code have no parameter for them, so NpuRequestExecutable sets them for the
// thread while such code runs. It is exclusive code: a route can ask how long
// it would wait for the NPU.
#ifndef TAKT_NPU_REQUEST_EXECUTABLE_H_
#define TAKT_NPU_REQUEST_EXECUTABLE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "cpu/loaded_executable.h"
#include "npu/lease.h"
#include "npu/npu_unit.h"
#include "route/exclusive_code.h"

namespace takt::npu {

// The urgency of a job with these traits; null: that of no particular job.
Urgency UrgencyOf(const exec::JobTraits* traits);

// While it lives, requests of this thread have this urgency and fault policy.
class NpuRequestScope {
 public:
  // `faults`: the job's policy; null: the unit's policy counts.
  explicit NpuRequestScope(const Urgency& urgency,
                           const JobFaultPolicy* faults = nullptr);
  ~NpuRequestScope();
  NpuRequestScope(const NpuRequestScope&) = delete;
  NpuRequestScope& operator=(const NpuRequestScope&) = delete;

  // The urgency of the innermost scope; the default where there is none.
  static Urgency Current();
  // The policy of requests on a unit with this policy.
  static NpuFaultPolicy CurrentPolicy(const NpuFaultPolicy& policy);
  // Remembers a failure, for code that cannot return it. The first counts.
  static void NoteFailure(const absl::Status& failure);
  const absl::Status& failure() const { return failure_; }

 private:
  const Urgency urgency_;
  const JobFaultPolicy* const faults_;
  absl::Status failure_;
  NpuRequestScope* const outer_;
};

class NpuRequestExecutable final : public route::ExclusiveCode {
 public:
  // `unit`: the NPU that all of the code needs; null: only its imports do.
  NpuRequestExecutable(Ref<NpuUnit> unit,
                       std::shared_ptr<cpu::ExecutableCode> code);

  ~NpuRequestExecutable() override;

  route::ExclusiveResource* resource() const override;

  absl::Status RunWorkgroups(size_t function,
                             const cpu::DispatchArguments& arguments,
                             uint32_t begin, uint32_t end,
                             exec::Worker& worker) override;

 private:
  class Queue;

  const std::shared_ptr<cpu::ExecutableCode> code_;
  const std::unique_ptr<Queue> queue_;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_REQUEST_EXECUTABLE_H_
