#include "npu/request_executable.h"

#include <algorithm>
#include <atomic>

#include "base/status.h"
#include "cpu/resource_waits.h"

namespace takt::npu {
namespace {

thread_local NpuRequestScope* current_scope = nullptr;

}  // namespace

Urgency UrgencyOf(const exec::JobTraits* traits) {
  Urgency urgency;
  if (traits == nullptr) return urgency;
  // A lane is 32 priorities.
  urgency.priority = static_cast<uint8_t>(traits->lane << 5);
  urgency.deadline_ns = traits->deadline_ns;
  urgency.borrower = traits->borrower;
  return urgency;
}

NpuRequestScope::NpuRequestScope(const Urgency& urgency,
                                 const JobFaultPolicy* faults)
    : urgency_(urgency), faults_(faults), outer_(current_scope) {
  current_scope = this;
}

NpuRequestScope::~NpuRequestScope() { current_scope = outer_; }

Urgency NpuRequestScope::Current() {
  return current_scope != nullptr ? current_scope->urgency_ : Urgency();
}

class NpuRequestExecutable::Queue final : public route::ExclusiveResource {
 public:
  explicit Queue(Ref<NpuUnit> unit) : unit_(std::move(unit)) {}

  int64_t ExpectedWaitNs(const exec::JobTraits& traits) const override {
    return unit_->ExpectedWaitNs(UrgencyOf(&traits),
                                 turn_count_.load(std::memory_order_relaxed));
  }
  void CountChoice(bool is_taken) override { unit_->CountChoice(is_taken); }

  // A dispatch has taken `count` turns.
  void NoteTurns(uint64_t count) {
    turn_count_.store(static_cast<uint32_t>(std::max<uint64_t>(count, 1)),
                      std::memory_order_relaxed);
  }

 private:
  const Ref<NpuUnit> unit_;
  std::atomic<uint32_t> turn_count_{1};
};

NpuFaultPolicy NpuRequestScope::CurrentPolicy(const NpuFaultPolicy& policy) {
  return current_scope != nullptr && current_scope->faults_ != nullptr
             ? PolicyFor(*current_scope->faults_, policy)
             : policy;
}

void NpuRequestScope::NoteFailure(const absl::Status& failure) {
  if (current_scope != nullptr && current_scope->failure_.ok()) {
    current_scope->failure_ = failure;
  }
}

NpuRequestExecutable::NpuRequestExecutable(
    Ref<NpuUnit> unit, std::shared_ptr<cpu::ExecutableCode> code)
    : code_(std::move(code)),
      queue_(unit != nullptr ? std::make_unique<Queue>(std::move(unit))
                             : nullptr) {
  SetFunctions(code_->functions());
}

NpuRequestExecutable::~NpuRequestExecutable() = default;

route::ExclusiveResource* NpuRequestExecutable::resource() const {
  return queue_.get();
}

absl::Status NpuRequestExecutable::RunWorkgroups(
    size_t function, const cpu::DispatchArguments& arguments, uint32_t begin,
    uint32_t end, exec::Worker& worker) {
  NpuRequestScope urgency(UrgencyOf(arguments.traits), arguments.faults);
  const uint64_t turns_before = cpu::ResourceWaits::GrantCount();
  absl::Status status =
      code_->RunWorkgroups(function, arguments, begin, end, worker);
  if (queue_ != nullptr) {
    queue_->NoteTurns(cpu::ResourceWaits::GrantCount() - turns_before);
  }
  if (status.ok() || urgency.failure().ok()) return status;
  return Annotate(urgency.failure(), functions()[function].name);
}

}  // namespace takt::npu
