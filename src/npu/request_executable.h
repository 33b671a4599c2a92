// How urgent the operations are that code on this thread asks a unit for, and
// what is done if they fail: what the job it is part of says. An
// NpuRequestExecutable is vmvx code that says so, as its imports have no way to
// be told, and who may leave it to the CPU can ask it how long it would wait.
#ifndef TAKT_NPU_REQUEST_EXECUTABLE_H_
#define TAKT_NPU_REQUEST_EXECUTABLE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "cpu/executable.h"
#include "npu/lease.h"
#include "npu/npu_unit.h"
#include "route/exclusive_code.h"

namespace takt::npu {

// As a job stands; nullptr: as one of no particular urgency.
Urgency UrgencyOf(const exec::JobTraits* traits);

// While it lives, operations of this thread are so urgent.
class NpuRequestScope {
 public:
  // `faults`: what is done if they fail; null: what the unit's policy says.
  explicit NpuRequestScope(const Urgency& urgency,
                           const JobFaultPolicy* faults = nullptr);
  ~NpuRequestScope();
  NpuRequestScope(const NpuRequestScope&) = delete;
  NpuRequestScope& operator=(const NpuRequestScope&) = delete;

  // The innermost one's; the default where there is none.
  static Urgency Current();
  // What holds for them on a unit of that policy.
  static NpuFaultPolicy CurrentPolicy(const NpuFaultPolicy& policy);
  // What the code that runs here fails with, if it fails. The first counts.
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
  // `unit`: what all of it needs to itself; null: only what it imports does.
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
