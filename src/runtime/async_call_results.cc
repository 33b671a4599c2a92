// Asynchronous calls: results, and calls that take results of others.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "runtime/async_call.h"

namespace takt::runtime {

void AsyncCall::KeepResults() {
  const size_t count = function_->signature().results().size();
  TAKT_CHECK(kept_.empty());
  kept_.assign(slots().begin(),
               slots().begin() + static_cast<ptrdiff_t>(count));
}

absl::Status AsyncCall::KeepResult(size_t index, Ref<hal::Fence>* end) {
  const size_t count = function_->signature().results().size();
  if (index >= count) {
    return absl::InvalidArgumentError(
        absl::StrCat("result ", index, " of ", function_->name(),
                     ", which has ", count, " results"));
  }
  *end = GetEndFence(&AsyncCall::end_);
  {
    MutexLock lock(&mutex_);
    const bool are_taken =
        !has_results_ && status_.ok() &&
        phase() >=
            (extras_.binding == nullptr ? Phase::kSubmitted : Phase::kDone);
    if (keeper_count_ == 0 && are_taken) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the results of ", function_->name(), " have been taken"));
    }
    // They are there before the phase says so.
    if (keeper_count_ == 0 && has_results_) KeepResults();
    // So that KeepResults() finds memory when the call ends.
    if (keeper_count_ == 0) kept_.reserve(count);
    ++keeper_count_;
  }
  (*end)->SetSignaller(function_->signaller(), borrower_.get());
  return absl::OkStatus();
}

vm::Value AsyncCall::FetchResult(size_t index) {
  vm::Value value;
  std::vector<vm::Value> unused;  // Released without the lock.
  MutexLock lock(&mutex_);
  if (index < kept_.size()) value = kept_[index];
  TAKT_CHECK(keeper_count_ > 0);
  if (--keeper_count_ == 0) unused = std::move(kept_);
  return value;
}

absl::StatusOr<AsyncCall::OwnedFutures> AsyncCall::ReadFutures(
    const Function& function, const AsyncCallOptions& options,
    std::vector<Ref<hal::Fence>>* ends) {
  if (options.future_arguments.empty()) return nullptr;
  OwnedFutures futures(new Futures);
  futures->reserve(options.future_arguments.size());
  ends->reserve(options.future_arguments.size());
  const auto types = function.signature().arguments();
  for (const FutureArgument& given : options.future_arguments) {
    const std::string where =
        absl::StrCat(function.name(), ": input ", given.index);
    if (given.index >= types.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": there are ", types.size(), " inputs"));
    }
    for (const Future& other : *futures) {
      if (other.index != given.index) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": is to come from two calls"));
    }
    AsyncCall* const producer = given.producer;
    if (producer == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": the invocation is NULL"));
    }
    const Function& source = producer->function();
    if (&source.context().instance() != &function.context().instance()) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": ", source.name(), " is of another instance"));
    }
    const auto results = source.signature().results();
    if (given.result_index < results.size() &&
        (results[given.result_index].kind == vm::ValueKind::kRef) !=
            (types[given.index].kind == vm::ValueKind::kRef)) {
      return absl::InvalidArgumentError(absl::StrCat(
          where, ": expected ", vm::ValueKindName(types[given.index].kind),
          ", but result ", given.result_index, " of ", source.name(), " is ",
          vm::ValueKindName(results[given.result_index].kind)));
    }
    Ref<hal::Fence> end;
    const absl::Status status = producer->KeepResult(given.result_index, &end);
    if (!status.ok()) return Annotate(status, where);
    ends->push_back(std::move(end));
    futures->push_back(
        {given.index, Ref<AsyncCall>::Retain(producer), given.result_index});
  }
  return futures;
}

void AsyncCall::FuturesDropper::operator()(Futures* futures) const {
  for (const Future& future : *futures) {
    future.producer->FetchResult(future.result_index);
  }
  delete futures;
}

absl::Status AsyncCall::TakeFutures() {
  const OwnedFutures futures = std::move(extras_.futures);
  absl::Status status;
  for (const Future& future : *futures) {
    vm::Value value = future.producer->FetchResult(future.result_index);
    if (status.ok()) status = function_->CheckArgument(future.index, value);
    if (status.ok()) slots()[future.index] = std::move(value);
  }
  futures->clear();
  return status;
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
  const size_t count = function_->signature().results().size();
  absl::Status status = OutOfMemory();
  TAKT_TRY { status = extras_.binding->Settle(slots().subspan(0, count)); }
  TAKT_CATCH(const std::bad_alloc&) {}
  return Annotate(status, function_->name());
}

}  // namespace takt::runtime
