#include "cpu/operation.h"

#include "base/check.h"

namespace takt::cpu {

void Tell(const hal::Fence* fence, const absl::Status& outcome) {
  if (fence != nullptr) fence->Settle(outcome);
}

void Operation::Start(const hal::Fence* wait) {
  if (signal_ != nullptr) {
    signal_->SetSignaller(device_->signaller(), borrower_.get());
  }
  device_->trace().Issued(tag_);
  absl::Status status;
  if (!FenceWaiter::Start({&wait, 1}, &status, borrower_.get())) {
    OnReady(this, status);
  }
}

void Operation::OnReady(FenceWaiter* waiter, const absl::Status& status) {
  auto* operation = static_cast<Operation*>(waiter);
  Cancellation* const cancellation = operation->cancellation_.get();
  if (status.ok() && cancellation != nullptr &&
      cancellation->stops_all_work()) {
    operation->is_cancellable_ = cancellation->BeginWork();
    if (!operation->is_cancellable_) {
      operation->Complete(Cancellation::Error());
      return;
    }
  }
  if (status.ok()) {
    operation->BeginWork();
    operation->device().trace().Ready(operation->tag_);
    operation->Run();
  } else {
    operation->Complete(status);
  }
}

void Operation::BeginWork() {
  TAKT_CHECK(!is_working_);
  MemoryBudget* const budget = device_->memory().budget();
  if (budget == nullptr) return;
  budget->BeginWork();
  is_working_ = true;
}

void Operation::Complete(const absl::Status& outcome) {
  TAKT_CHECK(device_ != nullptr);     // It completes once.
  const absl::Status kept = outcome;  // It may be a member.
  const Ref<Device> device = std::move(device_);
  const Ref<hal::Fence> signal = std::move(signal_);
  const bool was_working = is_working_;
  const Ref<Cancellation> cancellation =
      is_cancellable_ ? std::move(cancellation_) : nullptr;
  device->trace().Done(tag_, signal.get(), kept);
  delete this;
  Tell(signal.get(), kept);
  if (was_working) device->memory().budget()->EndWork();
  if (cancellation != nullptr) cancellation->EndWork();
}

AllocaOperation::AllocaOperation(Device& device, hal::Fence* signal,
                                 Ref<PooledStorage> storage,
                                 Ref<MemoryBudget::Group> group_in)
    : Operation(device, signal),
      budget_(*device.memory().budget()),
      storage_(std::move(storage)) {
  bytes = device.memory().Charge(storage_->byte_length());
  group = std::move(group_in);
  settled = &AllocaOperation::OnSettled;
  budget_.Announce(*this);
}

AllocaOperation::~AllocaOperation() {
  // Its fence failed. The pool is kept by the storage.
  if (is_announced_) budget_.Withdraw(*this);
}

void AllocaOperation::Run() {
  // This object may be destroyed as soon as it waits.
  const Ref<Device> device = Ref<Device>::Retain(&this->device());
  MemoryBudget& budget = *device->memory().budget();
  TAKT_CHECK(is_announced_);
  is_announced_ = false;
  const bool was_working = std::exchange(is_working_, false);
  if (budget.Await(*this)) {
    is_working_ = was_working;
    Commit();
  } else if (was_working) {
    budget.EndWork();
  }
}

void AllocaOperation::OnSettled(MemoryBudget::Request* request,
                                const absl::Status& status) {
  auto* operation = static_cast<AllocaOperation*>(request);
  operation->BeginWork();
  if (status.ok()) {
    operation->Commit();
  } else {
    operation->Complete(status);
  }
}

void AllocaOperation::Commit() {
  const absl::Status status = device().memory().CommitGranted(*storage_);
  if (status.ok())
    device().trace().Memory(tag(), EventKind::kAlloca, *storage_);
  Complete(status);
}

}  // namespace takt::cpu
