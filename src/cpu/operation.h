// An Operation is a queue operation that could not run at once: it waits for
// its fence without a thread, then runs, then signals its own.
//
// Lifetime: an operation owns itself. It is made by `new (blocks) T`, started
// once, and deletes itself in Complete(); until then it keeps the device.
#ifndef TAKT_CPU_OPERATION_H_
#define TAKT_CPU_OPERATION_H_

#include <new>
#include <utility>

#include "absl/status/status.h"
#include "base/block_pool.h"
#include "base/borrower.h"
#include "base/cancellation.h"
#include "base/exceptions.h"
#include "base/job_attributes.h"
#include "cpu/device.h"
#include "cpu/memory_budget.h"
#include "cpu/memory_pool.h"
#include "cpu/operation_trace.h"
#include "hal/device.h"
#include "hal/fence.h"

namespace takt::cpu {

// Signals `fence` if `outcome` is OK, else fails it; null: no effect. A fence
// that was reached or has failed before does not change.
void Tell(const hal::Fence* fence, const absl::Status& outcome);

class Operation : public hal::FenceWaiter {
 public:
  static void* operator new(size_t bytes, BlockPool& blocks) {
    return blocks.Allocate(bytes);
  }
  static void operator delete(void* block) { BlockPool::Free(block); }
  static void operator delete(void* block, BlockPool&) {
    BlockPool::Free(block);
  }

  // Runs once `wait` is reached, perhaps now; fails with its error.
  void Start(const hal::Fence* wait);
  // Its identity in a trace. Before Start().
  void set_tag(const OperationTag& tag) { tag_ = tag; }
  // `job`: the job of the operation; may be null. Before Start().
  void SetBorrower(const JobAttributes* job) {
    if (job != nullptr) borrower_ = Ref<Borrower>::Retain(job->borrower);
  }
  void SetCancellation(const JobAttributes* job) {
    if (job == nullptr || job->cancellation == nullptr) return;
    cancellation_ = Ref<Cancellation>::Retain(job->cancellation);
  }

 protected:
  Operation(Device& device, hal::Fence* signal)
      : FenceWaiter(&Operation::OnReady),
        device_(Ref<Device>::Retain(&device)),
        signal_(Ref<hal::Fence>::Retain(signal)) {}
  virtual ~Operation() = default;

  // Does the work, and calls Complete() then or later, on any thread.
  virtual void Run() = 0;
  // Ends the operation: releases all that it holds, then signals the fence.
  void Complete(const absl::Status& outcome);

  Device& device() const { return *device_; }
  const OperationTag& tag() const { return tag_; }
  // Null: it is not cancelled once it has begun.
  Cancellation* cancellation() const { return cancellation_.get(); }
  // The borrower of the operation's call. Null: nothing lends to it.
  Borrower* borrower() const { return borrower_.get(); }
  // Whether the operation must end before it is done.
  bool is_cancelled() const {
    return cancellation_ != nullptr && cancellation_->stops_all_work() &&
           cancellation_->is_requested();
  }

 private:
  friend class AllocaOperation;
  static void OnReady(FenceWaiter* waiter, const absl::Status& status);
  // Counts as the device's work from here until Complete().
  void BeginWork();

  Ref<Device> device_;
  Ref<hal::Fence> signal_;
  bool is_working_ = false;
  bool is_cancellable_ = false;  // It has begun, and cancellation_ knows it.
  OperationTag tag_;
  Ref<Cancellation> cancellation_;
  Ref<Borrower> borrower_;
};

// An allocation on a device with a budget: when its fence is reached it takes
// its turn, and waits for that without a thread.
class AllocaOperation final : public Operation, private MemoryBudget::Request {
 public:
  // `storage` is of a length that the pool has checked.
  AllocaOperation(Device& device, hal::Fence* signal,
                  Ref<PooledStorage> storage, Ref<MemoryBudget::Group> group);

 private:
  ~AllocaOperation() override;
  void Run() override;
  void Commit();
  static void OnSettled(MemoryBudget::Request* request,
                        const absl::Status& status);

  MemoryBudget& budget_;  // Of the storage's pool.
  const Ref<PooledStorage> storage_;
  bool is_announced_ = true;  // And has not come to its turn.
};

// While it lives, its thread runs work of the device.
class WorkScope {
 public:
  explicit WorkScope(Device& device) : budget_(device.memory().budget()) {
    if (budget_ != nullptr) budget_->BeginWork();
  }
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;
  ~WorkScope() {
    if (budget_ != nullptr) budget_->EndWork();
  }

 private:
  MemoryBudget* const budget_;
};

// An operation of one step: `Step` is a callable, moved in, that returns a
// status and does not block.
template <typename Step>
class StepOperation final : public Operation {
 public:
  StepOperation(Device& device, hal::Fence* signal, Step step)
      : Operation(device, signal), step_(std::move(step)) {}

 private:
  void Run() override { Complete(Attempt(step_)); }
  Step step_;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_OPERATION_H_
