// How urgent the operations are that code on this thread asks a unit for: what
// the job it is part of stands for. An UrgentExecutable is vmvx code that says
// so, as its imports have no way to be told, and who may leave it to the CPU
// can ask it how long it would wait.
#ifndef TAKT_NPU_URGENT_EXECUTABLE_H_
#define TAKT_NPU_URGENT_EXECUTABLE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "cpu/executable.h"
#include "npu/lease.h"
#include "npu/unit.h"

namespace takt::npu {

// As a job stands; nullptr: as one of no particular urgency.
Urgency UrgencyOf(const exec::Standing* standing);

// While it lives, operations of this thread are so urgent.
class ScopedUrgency {
 public:
  explicit ScopedUrgency(const Urgency& urgency);
  ~ScopedUrgency();
  ScopedUrgency(const ScopedUrgency&) = delete;
  ScopedUrgency& operator=(const ScopedUrgency&) = delete;

  // The innermost one's; the default where there is none.
  static Urgency Current();

 private:
  const Urgency urgency_;
  const ScopedUrgency* const outer_;
};

class UrgentExecutable final : public cpu::ExecutableCode {
 public:
  UrgentExecutable(Ref<Unit> unit, std::shared_ptr<cpu::ExecutableCode> code);

  ~UrgentExecutable() override;

  cpu::ExclusiveUnit* exclusive_unit() const override;

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

#endif  // TAKT_NPU_URGENT_EXECUTABLE_H_
