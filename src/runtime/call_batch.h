// Calls of one function that became ready together, run as one: their inputs
// are stacked along the outermost dimension, the results split again.
//
// Where it gathers: a fence that becomes reached tells one waiter after the
// other on one thread. The first call of a function among them opens a batch
// and defers (hal/deferred.h) closing it to the end of that thread's list; the
// others join it until then. Members of a batch end in the same way, so that
// what they release is gathered again.
//
// Thread-safety: AddToBatch() from any thread; the rest is the batch's own.
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
  // True if these can be stacked with others: all of as many rows.
  static bool CanStack(absl::Span<const vm::Value> arguments);

  // Has `member`, whose fences are reached, run with others of its function.
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

  bool Fits(AsyncCall& member) const;
  // Makes the batch as urgent as its latest member, at least.
  void Urge(const Function::Job& member);
  static void Close(hal::Deferred* deferred);
  static void OnWoken(void* self, vm::Invocation& invocation);
  static void OnSignal(FenceWaiter* waiter, const absl::Status& status);
  void Take() override;

  absl::Status CreateProgram();
  // The program has ended.
  void EndProgram();
  // Its device work has too.
  void Finish(const absl::Status& status);
  absl::Status Split();

  const Ref<Function> function_;
  // In flight, so each holds itself. Guarded by the function's lock while the
  // batch is open.
  std::vector<AsyncCall*> members_;
  JobAttributes job_;  // The most urgent of all members.
  int64_t row_count_ = 0;
  Ref<vm::Invocation> program_;
  Ref<hal::Fence> signal_;  // Of an asynchronous function's program.
  std::vector<vm::Value> results_;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_CALL_BATCH_H_
