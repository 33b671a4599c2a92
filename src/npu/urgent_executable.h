// How urgent the operations are that code on this thread asks a unit for: what
// the job it is part of stands for. An UrgentExecutable is vmvx code that says
// so; its imports have no way to be told.
#ifndef TAKT_NPU_URGENT_EXECUTABLE_H_
#define TAKT_NPU_URGENT_EXECUTABLE_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "cpu/executable.h"
#include "npu/lease.h"

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
  explicit UrgentExecutable(std::shared_ptr<cpu::ExecutableCode> code);

  absl::Status RunWorkgroups(size_t function,
                             const cpu::DispatchArguments& arguments,
                             uint32_t begin, uint32_t end,
                             exec::Worker& worker) override;

 private:
  const std::shared_ptr<cpu::ExecutableCode> code_;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_URGENT_EXECUTABLE_H_
