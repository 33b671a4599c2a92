#include "modules/buffer_state.h"

#include <cstdio>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/glob.h"
#include "base/status.h"

namespace takt::modules {
namespace {

// The trace prints all elements, as the iree-* tools do.
constexpr size_t kMaxTraceElements = ~size_t{0};

using ShapeVector = absl::InlinedVector<int64_t, 8>;

ShapeVector ShapeOf(const vm::VarArgs<int64_t>& dims) {
  ShapeVector shape(dims.size());
  for (size_t i = 0; i < shape.size(); ++i) shape[i] = dims[i];
  return shape;
}

std::string TypedShapeString(absl::Span<const int64_t> shape,
                             hal::ElementType type) {
  return absl::StrCat(hal::ShapeString(shape), shape.empty() ? "" : "x",
                      hal::ElementTypeName(type));
}

absl::Status WrongView(const hal::BufferView& view,
                       const vm::ByteBuffer& message, absl::string_view what,
                       hal::ElementType type,
                       const vm::VarArgs<int64_t>& dims) {
  return absl::InvalidArgumentError(
      absl::StrCat(message.text(), ": ", what, ": expected ",
                   TypedShapeString(ShapeOf(dims), type), ", got ",
                   TypedShapeString(view.shape(), view.element_type())));
}

}  // namespace

void TraceToStderr(absl::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void BufferState::Export(vm::NativeModule::Builder& builder) {
  builder.Export<&BufferState::BufferLength>("buffer.length");
  builder.Export<&BufferState::BufferSubspan>("buffer.subspan");
  builder.Export<&BufferState::BufferViewCreate>("buffer_view.create");
  builder.Export<&BufferState::BufferViewAssert>("buffer_view.assert");
  builder.Export<&BufferState::BufferViewBuffer>("buffer_view.buffer");
  builder.Export<&BufferState::BufferViewDim>("buffer_view.dim");
  builder.Export<&BufferState::BufferViewRank>("buffer_view.rank");
  builder.Export<&BufferState::BufferViewElementType>(
      "buffer_view.element_type");
  builder.Export<&BufferState::BufferViewEncodingType>(
      "buffer_view.encoding_type");
  builder.Export<&BufferState::BufferViewTrace>("buffer_view.trace");
}

std::tuple<int32_t, int64_t> BufferState::QueryDevice(
    const hal::Device& device, absl::string_view category,
    absl::string_view key) {
  if (category == "hal.device.id") {
    return {1, MatchesGlob(device.id(), key) ? 1 : 0};
  }
  const absl::optional<int64_t> value = device.QueryI64(category, key);
  return {value.has_value() ? 1 : 0, value.value_or(0)};
}

absl::StatusOr<uint64_t> BufferState::BufferLength(hal::Buffer& buffer) {
  return buffer.byte_length();
}

absl::StatusOr<Ref<hal::Buffer>> BufferState::BufferSubspan(hal::Buffer& buffer,
                                                            uint64_t offset,
                                                            uint64_t length) {
  return buffer.Subspan(offset, length);
}

absl::StatusOr<Ref<hal::BufferView>> BufferState::BufferViewCreate(
    hal::Buffer& buffer, uint64_t offset, uint64_t length,
    uint32_t element_type, uint32_t encoding, vm::VarArgs<int64_t> shape) {
  TAKT_ASSIGN_OR_RETURN(Ref<hal::Buffer> range, buffer.Subspan(offset, length));
  return hal::BufferView::Create(
      std::move(range), static_cast<hal::ElementType>(element_type),
      static_cast<hal::EncodingType>(encoding), ShapeOf(shape), blocks());
}

absl::Status BufferState::BufferViewAssert(hal::BufferView& view,
                                           vm::ByteBuffer& message,
                                           uint32_t element_type,
                                           uint32_t encoding,
                                           vm::VarArgs<int64_t> shape) {
  const auto type = static_cast<hal::ElementType>(element_type);
  if (view.encoding() != hal::EncodingType::kOpaque &&
      view.encoding() != static_cast<hal::EncodingType>(encoding)) {
    return absl::InvalidArgumentError(
        absl::StrCat(message.text(), ": expected encoding ", encoding, ", got ",
                     static_cast<uint32_t>(view.encoding())));
  }
  if (!hal::ElementTypeFits(view.element_type(), type)) {
    return WrongView(view, message, "element type", type, shape);
  }
  if (view.shape().size() != shape.size()) {
    return WrongView(view, message, "rank", type, shape);
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (view.shape()[i] != shape[i]) {
      return WrongView(view, message, absl::StrCat("dimension ", i), type,
                       shape);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Ref<hal::Buffer>> BufferState::BufferViewBuffer(
    hal::BufferView& view) {
  return Ref<hal::Buffer>::Retain(view.buffer());
}

absl::StatusOr<int64_t> BufferState::BufferViewDim(hal::BufferView& view,
                                                   uint32_t index) {
  if (index >= view.shape().size()) {
    return absl::OutOfRangeError(absl::StrCat("index: expected less than rank ",
                                              view.shape().size(), ", got ",
                                              index));
  }
  return view.shape()[index];
}

absl::StatusOr<int32_t> BufferState::BufferViewRank(hal::BufferView& view) {
  return static_cast<int32_t>(view.shape().size());
}

absl::StatusOr<int32_t> BufferState::BufferViewElementType(
    hal::BufferView& view) {
  return static_cast<int32_t>(view.element_type());
}

absl::StatusOr<int32_t> BufferState::BufferViewEncodingType(
    hal::BufferView& view) {
  return static_cast<int32_t>(view.encoding());
}

// "=== key ===", a line for each view, an empty line.
absl::Status BufferState::BufferViewTrace(vm::ByteBuffer& key,
                                          vm::VarArgs<hal::BufferView*> views) {
  if (views.size() > kMaxTraceViews) {
    return absl::OutOfRangeError(absl::StrCat(
        "views: expected at most ", kMaxTraceViews, ", got ", views.size()));
  }
  std::string text = absl::StrCat("=== ", key.text(), " ===\n");
  for (size_t i = 0; i < views.size(); ++i) {
    const hal::BufferView* view = views[i];
    if (view == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "views: expected a hal.buffer_view at ", i, ", got null"));
    }
    TAKT_ASSIGN_OR_RETURN(std::string line,
                          hal::FormatBufferView(*view, kMaxTraceElements));
    absl::StrAppend(&text, line, "\n");
  }
  text += "\n";
  trace_sink_(text);
  return absl::OkStatus();
}

}  // namespace takt::modules
