#include "runtime/argument_futures.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "runtime/async_call.h"

namespace takt::runtime {

absl::StatusOr<std::unique_ptr<ArgumentFutures>> ArgumentFutures::Read(
    const Function& function, const AsyncCallOptions& options,
    std::vector<Ref<hal::Fence>>* ends) {
  if (options.future_arguments.empty()) return nullptr;
  std::unique_ptr<ArgumentFutures> futures(new ArgumentFutures);
  futures->futures_.reserve(options.future_arguments.size());
  ends->reserve(options.future_arguments.size());
  for (const FutureArgument& given : options.future_arguments) {
    const absl::Status status = futures->Add(function, given, ends);
    if (!status.ok()) {
      return Annotate(status,
                      absl::StrCat(function.name(), ": input ", given.index));
    }
  }
  return futures;
}

absl::Status ArgumentFutures::Add(const Function& function,
                                  const FutureArgument& given,
                                  std::vector<Ref<hal::Fence>>* ends) {
  const auto types = function.signature().arguments();
  if (given.index >= types.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", types.size(), " inputs"));
  }
  for (const Future& other : futures_) {
    if (other.index != given.index) continue;
    return absl::InvalidArgumentError("is to come from two calls");
  }
  AsyncCall* const producer = given.producer;
  if (producer == nullptr) {
    return absl::InvalidArgumentError("the invocation is NULL");
  }
  const Function& source = producer->function();
  if (&source.context().instance() != &function.context().instance()) {
    return absl::InvalidArgumentError(
        absl::StrCat(source.name(), " is of another instance"));
  }
  const auto results = source.signature().results();
  if (given.result_index < results.size() &&
      (results[given.result_index].kind == vm::ValueKind::kRef) !=
          (types[given.index].kind == vm::ValueKind::kRef)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected ", vm::ValueKindName(types[given.index].kind),
        ", but result ", given.result_index, " of ", source.name(), " is ",
        vm::ValueKindName(results[given.result_index].kind)));
  }
  Ref<hal::Fence> end;
  TAKT_RETURN_IF_ERROR(producer->KeepResult(given.result_index, &end));
  ends->push_back(std::move(end));
  futures_.push_back(
      {given.index, Ref<AsyncCall>::Retain(producer), given.result_index});
  return absl::OkStatus();
}

ArgumentFutures::~ArgumentFutures() {
  for (const Future& future : futures_) {
    if (future.producer == nullptr) continue;
    future.producer->FetchResult(future.result_index);
  }
}

absl::Status ArgumentFutures::Fetch(const Function& function,
                                    absl::Span<vm::Value> arguments) {
  absl::Status status;
  for (Future& future : futures_) {
    // Each is fetched once, also if there is no memory for the error below.
    const Ref<AsyncCall> producer = std::move(future.producer);
    vm::Value value = producer->FetchResult(future.result_index);
    if (status.ok()) status = function.CheckArgument(future.index, value);
    if (status.ok()) arguments[future.index] = std::move(value);
  }
  return status;
}

}  // namespace takt::runtime
