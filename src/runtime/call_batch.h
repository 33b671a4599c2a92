// A CallBatch runs calls of one function that became ready together as one
// call: it stacks their inputs along the outermost dimension and splits the
// results again.
//
// A fence that becomes reached notifies its waiters one by one on one thread.
// The first call of a function among them opens a batch, and defers closing it
// (hal/deferred.h) to the end of that thread's list. The other calls join the
// batch until then. Members of a batch end in the same way, so the calls that
// wait for them are batched again.
//
// Thread-safety: Add() may run on any thread; the batch calls the rest itself.
#ifndef TAKT_RUNTIME_CALL_BATCH_H_
#define TAKT_RUNTIME_CALL_BATCH_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/object.h"
#include "hal/buffer_view.h"
#include "hal/deferred.h"
#include "hal/fence.h"
#include "runtime/async_call.h"
#include "runtime/call_queue.h"
#include "runtime/function.h"
#include "vm/invocation.h"

namespace takt::runtime {

class CallBatch final : public Object,
                        private CallQueue::Turn,
                        private hal::Deferred,
                        private hal::FenceWaiter {
 public:
  static constexpr ObjectType kType{"takt.batch"};

  // True if the function says that its calls may be stacked.
  // FAILED_PRECONDITION if it says so, but its arguments or results are not
  // tensors with a dynamic outermost dimension, or `takt.batch_dim` is not 0.
  static absl::StatusOr<bool> IsBatchable(const Function& function);
  // True if these can be stacked with those of other calls: all are tensors of
  // the same number of rows.
  static bool CanStack(absl::Span<const vm::Value> arguments);

  // Runs `member`, whose fences are reached, with other calls of its function;
  // alone if there is no memory for a batch.
  static void Add(AsyncCall* member);

  // One tensor of all rows of `parts`, in a buffer of its own.
  static absl::StatusOr<Ref<hal::BufferView>> Stack(
      absl::Span<hal::BufferView* const> parts);
  // `row_count` rows of `whole` from `first_row` on: a range of its buffer
  // where that is aligned as a buffer must be, else a copy.
  static absl::StatusOr<Ref<hal::BufferView>> Slice(hal::BufferView& whole,
                                                    int64_t first_row,
                                                    int64_t row_count);

 private:
  explicit CallBatch(Function& function)
      : Object(&kType),
        FenceWaiter(&CallBatch::OnSignal),
        function_(Ref<Function>::Retain(&function)) {}
  ~CallBatch() override = default;

  // Puts `member` into the open batch of its function. Returns the batch if it
  // has been opened here, else null.
  static CallBatch* Join(AsyncCall& member);
  bool Fits(AsyncCall& member) const;
  // Makes the batch at least as urgent as its latest member.
  void Urge(const Function::Job& member);
  static void Close(hal::Deferred* deferred);
  static void OnWoken(void* self, vm::Invocation& invocation);
  static void OnSignal(FenceWaiter* waiter, const absl::Status& status);
  Progress Take() override;

  absl::StatusOr<Ref<vm::Invocation>> CreateProgram();
  // The program has ended.
  void EndProgram();
  // The device work of the program has ended as well.
  void Finish(const absl::Status& status);
  absl::Status Split();

  const Ref<Function> function_;
  // They are in flight, so each holds itself. The function's lock guards them
  // while the batch is open.
  std::vector<AsyncCall*> members_;
  JobAttributes job_;  // As urgent as the most urgent member.
  int64_t row_count_ = 0;
  Ref<vm::Invocation> program_;
  Ref<hal::Fence> signal_;  // If the function is asynchronous.
  std::vector<vm::Value> results_;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_CALL_BATCH_H_
