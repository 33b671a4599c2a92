#include "hal/buffer_view.h"

#include <cstring>

#include "abi/c_string.h"
#include "abi/guard.h"
#include "api/handle.h"
#include "hal/device.h"
#include "takt/buffer_view.h"

namespace takt::api {
namespace {

hal::ElementType ElementTypeOf(takt_element_type_t type) {
  return static_cast<hal::ElementType>(type);
}

absl::StatusOr<Ref<hal::BufferView>> CreateView(hal::Buffer* buffer,
                                                takt_element_type_t type,
                                                size_t rank,
                                                const int64_t* shape) {
  return hal::BufferView::Create(
      Ref<hal::Buffer>::Retain(buffer), ElementTypeOf(type),
      hal::EncodingType::kDenseRowMajor, absl::MakeConstSpan(shape, rank));
}

absl::StatusOr<Ref<hal::BufferView>> CopyFromHost(
    hal::Device* device, takt_element_type_t type, size_t rank,
    const int64_t* shape, const void* data, size_t byte_length) {
  const auto dimensions = absl::MakeConstSpan(shape, rank);
  TAKT_ASSIGN_OR_RETURN(uint64_t dense_length,
                        hal::DenseByteLength(ElementTypeOf(type), dimensions));
  if (dense_length != byte_length) {
    return absl::InvalidArgumentError(absl::StrCat(
        "byte_length: a tensor of ", hal::ShapeString(dimensions),
        rank != 0 ? "x" : "", hal::ElementTypeName(ElementTypeOf(type)),
        " has ", dense_length, " bytes, got ", byte_length));
  }
  TAKT_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer,
                        device->Allocate(hal::BufferParams(), byte_length));
  TAKT_ASSIGN_OR_RETURN(absl::Span<uint8_t> bytes,
                        buffer->Map(0, byte_length, hal::kAccessWrite));
  if (byte_length != 0 && data != nullptr) {
    std::memcpy(bytes.data(), data, byte_length);
  } else if (byte_length != 0) {
    std::memset(bytes.data(), 0, byte_length);
  }
  return hal::BufferView::Create(std::move(buffer), ElementTypeOf(type),
                                 hal::EncodingType::kDenseRowMajor, dimensions,
                                 &device->blocks());
}

// Of an existing view, whose dense length has been found to fit.
uint64_t DenseLengthOf(const hal::BufferView* view) {
  return hal::DenseByteLength(view->element_type(), view->shape()).value_or(0);
}

absl::Status CopyToHost(const hal::BufferView* view, void* target,
                        size_t byte_length) {
  const uint64_t dense_length = DenseLengthOf(view);
  if (dense_length != byte_length) {
    return absl::InvalidArgumentError(
        absl::StrCat("byte_length: ", view->ShapeAndTypeString(), " has ",
                     dense_length, " bytes, got ", byte_length));
  }
  TAKT_ASSIGN_OR_RETURN(absl::Span<uint8_t> bytes,
                        view->buffer()->Map(0, byte_length, hal::kAccessRead));
  if (byte_length != 0) std::memcpy(target, bytes.data(), byte_length);
  return absl::OkStatus();
}

}  // namespace
}  // namespace takt::api

using takt::api::Unwrap;

takt_status_t takt_buffer_view_create(takt_buffer_t* buffer,
                                      takt_element_type_t element_type,
                                      size_t rank, const int64_t* shape,
                                      takt_buffer_view_t** out_view) {
  TAKT_REQUIRE(buffer, Items(rank, shape), out_view);
  TAKT_TRY {
    return takt::api::Give(
        __func__,
        takt::api::CreateView(Unwrap(buffer), element_type, rank, shape),
        out_view);
  }
  TAKT_CATCH_ALL(buffer, Items(rank, shape), out_view);
}

takt_status_t takt_buffer_view_copy_from_host(takt_device_t* device,
                                              takt_element_type_t element_type,
                                              size_t rank, const int64_t* shape,
                                              const void* data,
                                              size_t byte_length,
                                              takt_buffer_view_t** out_view) {
  TAKT_REQUIRE(device, Items(rank, shape), out_view);
  TAKT_TRY {
    return takt::api::Give(
        __func__,
        takt::api::CopyFromHost(Unwrap(device), element_type, rank, shape, data,
                                byte_length),
        out_view);
  }
  TAKT_CATCH_ALL(device, Items(rank, shape), out_view);
}

void takt_buffer_view_retain(takt_buffer_view_t* view) {
  takt::api::RetainHandle(view);
}

void takt_buffer_view_release(takt_buffer_view_t* view) {
  takt::api::ReleaseHandle(view);
}

takt_buffer_t* takt_buffer_view_buffer(const takt_buffer_view_t* view) {
  TAKT_REQUIRE_OR(nullptr, view);
  return takt::api::Wrap(Unwrap(view)->buffer());
}

takt_element_type_t takt_buffer_view_element_type(
    const takt_buffer_view_t* view) {
  TAKT_REQUIRE_OR(0, view);
  return static_cast<takt_element_type_t>(Unwrap(view)->element_type());
}

size_t takt_buffer_view_rank(const takt_buffer_view_t* view) {
  TAKT_REQUIRE_OR(0, view);
  return Unwrap(view)->shape().size();
}

const int64_t* takt_buffer_view_shape(const takt_buffer_view_t* view) {
  TAKT_REQUIRE_OR(nullptr, view);
  return Unwrap(view)->shape().data();
}

size_t takt_buffer_view_byte_length(const takt_buffer_view_t* view) {
  TAKT_REQUIRE_OR(0, view);
  return takt::api::DenseLengthOf(Unwrap(view));
}

takt_status_t takt_buffer_view_copy_to_host(const takt_buffer_view_t* view,
                                            void* target, size_t byte_length) {
  TAKT_REQUIRE(view, Items(byte_length, target));
  TAKT_TRY {
    return takt::api::ToStatus(
        __func__, takt::api::CopyToHost(Unwrap(view), target, byte_length));
  }
  TAKT_CATCH_ALL(view, Items(byte_length, target));
}

takt_status_t takt_buffer_view_format(const takt_buffer_view_t* view,
                                      size_t element_count_max,
                                      char** out_text) {
  TAKT_REQUIRE(view, out_text);
  TAKT_TRY {
    return takt::api::GiveText(
        __func__, takt::hal::FormatBufferView(*Unwrap(view), element_count_max),
        out_text);
  }
  TAKT_CATCH_ALL(view, out_text);
}
