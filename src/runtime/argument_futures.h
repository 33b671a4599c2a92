// ArgumentFutures are the arguments of a call that are results of other calls.
// Each of those calls, a producer, keeps its results until they are fetched.
//
// Thread-safety: none.
#ifndef TAKT_RUNTIME_ARGUMENT_FUTURES_H_
#define TAKT_RUNTIME_ARGUMENT_FUTURES_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/object.h"
#include "hal/fence.h"
#include "runtime/call_options.h"
#include "runtime/function.h"
#include "vm/value.h"

namespace takt::runtime {

class ArgumentFutures {
 public:
  // Null if the options have none. Asks the producers to keep the results.
  // *ends receives a fence of each producer's end.
  static absl::StatusOr<std::unique_ptr<ArgumentFutures>> Read(
      const Function& function, const AsyncCallOptions& options,
      std::vector<Ref<hal::Fence>>* ends);
  // Tells the producers that what was not fetched need not be kept.
  ~ArgumentFutures();
  ArgumentFutures(const ArgumentFutures&) = delete;
  ArgumentFutures& operator=(const ArgumentFutures&) = delete;

  // Moves the results into `arguments`, once, when the producers have ended.
  absl::Status Fetch(const Function& function, absl::Span<vm::Value> arguments);

 private:
  struct Future {
    size_t index;
    Ref<AsyncCall> producer;  // Null: its result is fetched.
    size_t result_index;
  };

  ArgumentFutures() = default;
  absl::Status Add(const Function& function, const FutureArgument& given,
                   std::vector<Ref<hal::Fence>>* ends);

  std::vector<Future> futures_;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_ARGUMENT_FUTURES_H_
