// Streams: their inputs and outputs.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/lean_error.h"
#include "base/status.h"
#include "hal/buffer_view.h"
#include "hal/element_type.h"
#include "stream/stream.h"

namespace takt::stream {

absl::Status Stream::SetInput(absl::Span<const vm::Value> arguments) {
  if (takes_results_) {
    return absl::FailedPreconditionError(
        absl::StrCat(function_->name(), ": the stream takes the results of ",
                     after_->function().name()));
  }
  TAKT_RETURN_IF_ERROR(function_->CheckArguments(arguments, /*fences=*/false));
  TAKT_RETURN_IF_ERROR(PutInput(arguments));
  if (arrival_ == Arrival::kInput) ReleaseJob(now_ns());
  return absl::OkStatus();
}

absl::Status Stream::PutInput(absl::Span<const vm::Value> arguments) {
  ValueEntry* const entry =
      input_queue_.has_value() ? input_queue_->next() : &latest_input_.back();
  if (entry == nullptr) {
    return LeanError(absl::StatusCode::kResourceExhausted, [this] {
      return absl::StrCat(function_->name(),
                          ": the stream's input queue is full");
    });
  }
  entry->Set(arguments);
  PublishEntry(*entry);
  return absl::OkStatus();
}

void Stream::PublishEntry(ValueEntry& entry) {
  const uint64_t sequence = input_count_.load(std::memory_order_relaxed);
  entry.sequence = sequence;
  if (input_queue_.has_value()) {
    input_queue_->Put();
  } else {
    latest_input_.Publish();
  }
  input_count_.store(sequence + 1, std::memory_order_release);
}

absl::Status Stream::CheckMapping(size_t index) const {
  if (takes_results_ || input_queue_.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat(
        function_->name(), ": the stream does not take the latest input"));
  }
  if (function_->context().devices().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(function_->name(), ": its context has no device"));
  }
  const auto arguments = function_->signature().arguments();
  if (index >= arguments.size()) {
    return absl::OutOfRangeError(absl::StrCat(function_->name(), ": input ",
                                              index, ", but there are ",
                                              arguments.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& type = arguments[i];
    const bool is_static =
        std::all_of(type.shape, type.shape + type.rank,
                    [](int64_t dimension) { return dimension >= 0; });
    if (type.is_tensor && is_static) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(function_->name(), ": input ", i,
                     " is not known to be a tensor of a static shape (",
                     *type.type != '\0' ? type.type : "no declaration",
                     "); a declaration of the function gives it one"));
  }
  return absl::OkStatus();
}

absl::Status Stream::StoreArgument(ValueEntry& entry, size_t index) const {
  const auto& type = function_->signature().arguments()[index];
  const absl::Span<const int64_t> shape(type.shape, type.rank);
  const auto element_type = type.element_type;
  TAKT_ASSIGN_OR_RETURN(const uint64_t byte_length,
                        hal::DenseByteLength(element_type, shape));
  hal::BufferParams params;
  params.usage |= hal::kUsageMappingScoped | hal::kUsageMappingRandom;
  TAKT_ASSIGN_OR_RETURN(
      Ref<hal::Buffer> buffer,
      function_->context().devices()[0]->Allocate(params, byte_length));
  TAKT_ASSIGN_OR_RETURN(const absl::Span<uint8_t> bytes,
                        buffer->Map(0, hal::kWholeBuffer, hal::kAccessWrite));
  TAKT_CHECK(bytes.size() == byte_length);
  TAKT_ASSIGN_OR_RETURN(
      Ref<hal::BufferView> view,
      hal::BufferView::Create(std::move(buffer), element_type,
                              hal::EncodingType::kDenseRowMajor, shape));
  entry.SetStored(index, vm::Value::FromRef(std::move(view)),
                  {bytes.data(), bytes.size()});
  return absl::OkStatus();
}

absl::StatusOr<ValueEntry::Storage> Stream::MapInput(size_t index) {
  ValueEntry& entry = latest_input_.back();
  if (!entry.is_stored(index)) {
    TAKT_RETURN_IF_ERROR(CheckMapping(index));
    TAKT_RETURN_IF_ERROR(StoreArgument(entry, index));
  }
  return entry.storage(index);
}

absl::Status Stream::PublishInput() {
  ValueEntry& entry = latest_input_.back();
  if (!entry.is_stored()) {
    return absl::FailedPreconditionError(
        absl::StrCat(function_->name(), ": not every input has been mapped"));
  }
  PublishEntry(entry);
  if (arrival_ == Arrival::kInput) ReleaseJob(now_ns());
  return absl::OkStatus();
}

const ValueEntry* Stream::TakeOutput() {
  bool is_new = false;
  const ValueEntry* const entry = output_.Take(&is_new);
  TAKT_DCHECK(!is_new || entry->job.end_ns != 0);
  return is_new ? entry : nullptr;
}

}  // namespace takt::stream
