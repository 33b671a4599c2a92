// Asynchronous calls: results, and calls that take results of others.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "runtime/async_call.h"

namespace takt::runtime {

void AsyncCall::SetHasResults(bool has_results) {
  has_results_ = has_results;
  if (has_results && kept_.are_wanted()) kept_.Keep(result_slots());
}

absl::Status AsyncCall::KeepResult(size_t index, Ref<hal::Fence>* end) {
  const size_t count = function_->signature().results().size();
  if (index >= count) {
    return absl::InvalidArgumentError(
        absl::StrCat("result ", index, " of ", function_->name(),
                     ", which has ", count, " results"));
  }
  *end = GetEndFence(&AsyncCall::end_);
  MutexLock lock(&mutex_);
  const bool are_taken =
      !has_results_ && status_.ok() &&
      phase() >=
          (extras_.binding == nullptr ? Phase::kSubmitted : Phase::kDone);
  const bool is_first = !kept_.are_wanted();
  if (is_first && are_taken) {
    return absl::FailedPreconditionError(
        absl::StrCat("the results of ", function_->name(), " have been taken"));
  }
  kept_.Expect(count);
  // They are there before the phase says so.
  if (is_first && has_results_) kept_.Keep(result_slots());
  return absl::OkStatus();
}

vm::Value AsyncCall::FetchResult(size_t index) {
  std::vector<vm::Value> unused;  // Released without the lock.
  MutexLock lock(&mutex_);
  return kept_.Fetch(index, &unused);
}

absl::Status AsyncCall::TakeResults(absl::Span<vm::Value> results) {
  const size_t expected = function_->signature().results().size();
  if (results.size() != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(function_->name(), ": expected room for ", expected,
                     " results, got ", results.size()));
  }
  MutexLock lock(&mutex_);
  if (phase() <
      (extras_.binding == nullptr ? Phase::kSubmitted : Phase::kDone)) {
    return absl::FailedPreconditionError(
        absl::StrCat(function_->name(), ": the results are not there yet"));
  }
  if (!has_results_) {
    if (!status_.ok()) return status_;
    return absl::FailedPreconditionError(
        absl::StrCat(function_->name(), ": the results have been taken"));
  }
  TAKT_CHECK(phase() >= Phase::kSubmitted);
  has_results_ = false;
  for (size_t i = 0; i < expected; ++i) {
    results[i] = std::move(slots()[i]);
  }
  return absl::OkStatus();
}

absl::Status AsyncCall::SettleBinding() {
  TAKT_CHECK(extras_.binding != nullptr);
  return Annotate(
      Attempt([this] { return extras_.binding->Settle(result_slots()); }),
      function_->name());
}

}  // namespace takt::runtime
