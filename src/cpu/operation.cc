#include "cpu/operation.h"

namespace takt::cpu {

void Tell(const hal::Fence* fence, const absl::Status& outcome) {
  if (fence == nullptr) return;
  if (outcome.ok()) {
    fence->Signal().IgnoreError();
  } else {
    fence->Fail(outcome);
  }
}

void Operation::Start(const hal::Fence* wait) {
  absl::Status status;
  if (!FenceWaiter::Start({&wait, 1}, &status)) OnReady(this, status);
}

void Operation::OnReady(FenceWaiter* waiter, const absl::Status& status) {
  auto* operation = static_cast<Operation*>(waiter);
  if (status.ok()) {
    operation->Run();
  } else {
    operation->Complete(status);
  }
}

void Operation::Complete(const absl::Status& outcome) {
  const absl::Status kept = outcome;  // It may be a member.
  const Ref<Device> device = std::move(device_);
  const Ref<hal::Fence> signal = std::move(signal_);
  delete this;
  Tell(signal.get(), kept);
}

}  // namespace takt::cpu
