#include "npu/urgent_executable.h"

namespace takt::npu {
namespace {

thread_local const ScopedUrgency* current_urgency = nullptr;

}  // namespace

Urgency UrgencyOf(const exec::Standing* standing) {
  Urgency urgency;
  if (standing == nullptr) return urgency;
  // A lane is 32 priorities.
  urgency.priority = static_cast<uint8_t>(standing->lane << 5);
  urgency.deadline_ns = standing->deadline_ns;
  return urgency;
}

ScopedUrgency::ScopedUrgency(const Urgency& urgency)
    : urgency_(urgency), outer_(current_urgency) {
  current_urgency = this;
}

ScopedUrgency::~ScopedUrgency() { current_urgency = outer_; }

Urgency ScopedUrgency::Current() {
  return current_urgency != nullptr ? current_urgency->urgency_ : Urgency();
}

UrgentExecutable::UrgentExecutable(std::shared_ptr<cpu::ExecutableCode> code)
    : code_(std::move(code)) {
  SetFunctions(code_->functions());
}

absl::Status UrgentExecutable::RunWorkgroups(
    size_t function, const cpu::DispatchArguments& arguments, uint32_t begin,
    uint32_t end, exec::Worker& worker) {
  const ScopedUrgency urgency(UrgencyOf(arguments.standing));
  return code_->RunWorkgroups(function, arguments, begin, end, worker);
}

}  // namespace takt::npu
