#include "runtime/result_binding.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "hal/element_type.h"

namespace takt::runtime {
namespace {

bool Holds(const ValueType& type, const hal::BufferView& view) {
  if (!type.is_tensor) return type.kind == vm::ValueKind::kRef;
  return view.element_type() == type.element_type &&
         type.AdmitsShape(view.shape());
}

// True if an argument shares memory with the buffer.
bool Overlaps(const hal::Buffer& buffer,
              absl::Span<const vm::Value> arguments) {
  const uint8_t* const begin = buffer.data();
  return std::any_of(
      arguments.begin(), arguments.end(), [&](const vm::Value& argument) {
        const hal::Buffer* other = DynCast<hal::Buffer>(argument.ref());
        if (auto* view = DynCast<hal::BufferView>(argument.ref())) {
          other = view->buffer();
        }
        if (other == nullptr) return false;
        const uint8_t* const data = other->data();
        return data == nullptr || (data < begin + buffer.byte_length() &&
                                   begin < data + other->byte_length());
      });
}

// True if the view has the only reference to its buffer and storage, except
// for one more reference to the storage if `is_known`.
bool IsSole(const hal::BufferView& view, bool is_known) {
  return view.IsUnique() && view.buffer()->IsUnique() &&
         view.buffer()->storage()->reference_count() == (is_known ? 2 : 1);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ResultBinding>> ResultBinding::Read(
    const Signature& signature, ResultPlaces& places,
    absl::Span<const ResultBuffer> buffers,
    absl::Span<const vm::Value> arguments) {
  if (buffers.empty()) return nullptr;
  std::unique_ptr<ResultBinding> binding(new ResultBinding(places));
  const auto types = signature.results();
  for (const ResultBuffer& given : buffers) {
    const std::string where = absl::StrCat("result ", given.index);
    if (given.index >= types.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": there are ", types.size(), " results"));
    }
    for (const Target& other : binding->targets_) {
      if (other.index != given.index) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": is given two buffers"));
    }
    hal::BufferView* const view = given.view;
    if (view == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": view is NULL"));
    }
    if (!Holds(types[given.index], *view)) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": is a ", types[given.index].type_or_kind(),
                       ", for which the buffer of ", view->ShapeAndTypeString(),
                       " is none"));
    }
    hal::Buffer& buffer = *view->buffer();
    absl::StatusOr<absl::Span<uint8_t>> bytes =
        buffer.Map(0, hal::kWholeBuffer, hal::kAccessWrite);
    if (!bytes.ok()) return Annotate(bytes.status(), where);
    hal::ResultMemory::Place place;
    if (!Overlaps(buffer, arguments)) {
      place = {Ref<Object>::Retain(&buffer), bytes->data(), bytes->size(),
               places.Find(given.index), nullptr};
    }
    binding->memory_.Add(std::move(place));
    binding->targets_.push_back(
        {given.index, Ref<hal::BufferView>::Retain(view)});
  }
  return binding;
}

absl::Status ResultBinding::Settle(absl::Span<vm::Value> results) {
  TAKT_CHECK(memory_.places().size() == targets_.size());
  absl::Status status;
  for (size_t i = 0; i < targets_.size(); ++i) {
    const size_t index = targets_[i].index;
    TAKT_CHECK(index < results.size());
    const absl::Status settled =
        SettleOne(targets_[i], memory_.places()[i], results[index]);
    if (status.ok() && !settled.ok()) {
      status = Annotate(settled, absl::StrCat("result ", index));
    }
  }
  // No object over the caller's memory may be left, except for the results.
  for (size_t i = 0; i < targets_.size(); ++i) {
    const Ref<hal::Storage> storage = std::move(memory_.places()[i].storage);
    if (storage == nullptr || storage->IsUnique()) continue;
    places_.Unlearn(targets_[i].index);
    if (!status.ok()) continue;
    status = absl::FailedPreconditionError(absl::StrCat(
        "result ", targets_[i].index,
        ": the program keeps the memory; it gets none from the next call on"));
  }
  return status;
}

absl::Status ResultBinding::SettleOne(const Target& target,
                                      hal::ResultMemory::Place& place,
                                      vm::Value& result) {
  hal::BufferView* const view = DynCast<hal::BufferView>(result.ref());
  if (view == nullptr) {
    return absl::InvalidArgumentError(
        "is no buffer view, and cannot be put into a buffer");
  }
  if (view->element_type() != target.view->element_type() ||
      view->shape() != target.view->shape()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "is ", view->ShapeAndTypeString(), ", for which the buffer of ",
        target.view->ShapeAndTypeString(), " is none"));
  }
  const hal::Buffer& buffer = *view->buffer();
  const bool is_whole =
      buffer.byte_offset() == 0 &&
      buffer.byte_length() == buffer.storage()->byte_length() &&
      buffer.byte_length() == target.view->buffer()->byte_length();
  const bool is_there =
      place.storage != nullptr && place.storage.get() == buffer.storage();
  if (is_there && is_whole) {
    if (!IsSole(*view, /*is_known=*/true)) {
      return absl::OkStatus();  // Settle() reports that it is kept.
    }
    places_.CountInPlace();
  } else {
    TAKT_RETURN_IF_ERROR(Copy(target, *view));
    const int32_t allocation = memory_.FindAllocation(buffer.storage());
    if (allocation != hal::ResultMemory::kUnknown && is_whole &&
        place.allocation == hal::ResultMemory::kUnknown &&
        memory_.EndsInTime() && IsSole(*view, /*is_known=*/false)) {
      places_.Learn(target.index, allocation);
    } else if (place.data != nullptr) {
      places_.Unlearn(target.index);
    }
    places_.CountCopy();
  }
  result = vm::Value::FromRef(target.view);
  return absl::OkStatus();
}

absl::Status ResultBinding::Copy(const Target& target,
                                 hal::BufferView& source) {
  TAKT_ASSIGN_OR_RETURN(
      const uint64_t length,
      hal::DenseByteLength(source.element_type(), source.shape()));
  TAKT_ASSIGN_OR_RETURN(const absl::Span<uint8_t> from,
                        source.buffer()->Map(0, length, hal::kAccessRead));
  TAKT_ASSIGN_OR_RETURN(
      const absl::Span<uint8_t> to,
      target.view->buffer()->Map(0, length, hal::kAccessWrite));
  if (length != 0) std::memmove(to.data(), from.data(), length);
  return absl::OkStatus();
}

}  // namespace takt::runtime
