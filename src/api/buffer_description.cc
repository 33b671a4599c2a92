#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "abi/guard.h"
#include "api/handle.h"
#include "hal/buffer_fit.h"
#include "hal/device.h"
#include "takt/compact_signature.h"

namespace takt::api {
namespace {

using Answer = hal::BufferFit;

// What is handed out, and what it points at.
struct Description : takt_buffer_description_t {
  Answer answer;
};

// Every device that there is holds every element type.
hal::DeviceBufferTraits TraitsOf(const hal::Device& device) {
  static_cast<void>(device);
  return hal::DeviceBufferTraits();
}

absl::StatusOr<hal::HostBuffer> ReadHost(const takt_host_buffer_t& host) {
  if (host.rank != 0) TAKT_RETURN_IF_ERROR(Require(host.shape, "host: shape"));
  hal::HostBuffer result;
  result.element_type = static_cast<hal::ElementType>(host.element_type);
  result.byte_length = host.byte_length;
  result.shape.assign(host.shape, host.shape + host.rank);
  if (host.byte_strides != nullptr) {
    result.byte_strides.assign(host.byte_strides,
                               host.byte_strides + host.rank);
  }
  result.address = reinterpret_cast<uintptr_t>(host.data);
  return result;
}

hal::SignatureItem ItemOf(const takt_value_type_t& type) {
  hal::SignatureItem item;
  if (!type.is_tensor) {
    item.kind = hal::SignatureItem::Kind::kObject;
    return item;
  }
  item.element_type = static_cast<hal::ElementType>(type.element_type);
  item.shape.assign(type.shape, type.shape + type.rank);
  return item;
}

absl::StatusOr<Answer> Ask(const hal::Device& device,
                           const takt_value_type_t& type,
                           const takt_buffer_query_t* given) {
  TAKT_ASSIGN_OR_RETURN(const takt_buffer_query_t query,
                        ReadOptions(given, &takt_buffer_query_init));
  absl::optional<hal::HostBuffer> host;
  if (query.host != nullptr) {
    TAKT_ASSIGN_OR_RETURN(host, ReadHost(*query.host));
  }
  if (query.rank != 0) TAKT_RETURN_IF_ERROR(Require(query.shape, "shape"));
  const std::vector<int64_t> shape(query.shape, query.shape + query.rank);
  hal::BufferFitOptions options;
  options.allow_widening = query.allow_widening;
  return hal::DescribeBuffer(TraitsOf(device), ItemOf(type), host, options,
                             shape);
}

takt_buffer_advice_t AdviceOf(Answer::Kind kind) {
  switch (kind) {
    case Answer::Kind::kUse:
      return TAKT_BUFFER_ADVICE_USE;
    case Answer::Kind::kConvert:
      return TAKT_BUFFER_ADVICE_CONVERT;
    case Answer::Kind::kMake:
      return TAKT_BUFFER_ADVICE_MAKE;
    case Answer::Kind::kUnsupported:
      break;
  }
  return TAKT_BUFFER_ADVICE_UNSUPPORTED;
}

uint32_t ConversionBits(const std::vector<Answer::Conversion>& conversions) {
  uint32_t bits = 0;
  for (const Answer::Conversion conversion : conversions) {
    switch (conversion) {
      case Answer::Conversion::kDenseCopy:
        bits |= TAKT_BUFFER_CONVERSION_DENSE_COPY;
        break;
      case Answer::Conversion::kAlignmentCopy:
        bits |= TAKT_BUFFER_CONVERSION_ALIGNMENT_COPY;
        break;
      case Answer::Conversion::kWidening:
        bits |= TAKT_BUFFER_CONVERSION_WIDENING;
        break;
    }
  }
  return bits;
}

std::unique_ptr<Description> Describe(Answer answer) {
  auto result = std::make_unique<Description>();
  std::memset(static_cast<takt_buffer_description_t*>(result.get()), 0,
              sizeof(takt_buffer_description_t));
  result->answer = std::move(answer);
  const Answer& from = result->answer;
  result->advice = AdviceOf(from.kind);
  result->reason = from.reason.c_str();
  if (from.kind == Answer::Kind::kUnsupported) return result;
  result->conversions = ConversionBits(from.conversions);
  result->element_type =
      static_cast<takt_element_type_t>(from.buffer.element_type);
  result->rank = from.buffer.shape.size();
  result->shape = from.buffer.shape.data();
  result->byte_strides = from.buffer.byte_strides.data();
  result->byte_length = from.buffer.byte_length;
  result->alignment = from.buffer.alignment;
  result->memory_type = from.buffer.memory_type;
  result->usage = from.buffer.usage;
  return result;
}

absl::StatusOr<std::unique_ptr<Description>> DescribeFor(
    const takt_device_t* device, const takt_value_type_t* type,
    const takt_buffer_query_t* query) {
  TAKT_ASSIGN_OR_RETURN(Answer answer, Ask(*Unwrap(device), *type, query));
  return Describe(std::move(answer));
}

}  // namespace
}  // namespace takt::api

takt_status_t takt_device_describe_buffer(
    const takt_device_t* device, const takt_value_type_t* type,
    const takt_buffer_query_t* query,
    takt_buffer_description_t** out_description) {
  TAKT_REQUIRE(device, type, out_description);
  TAKT_TRY {
    *out_description = nullptr;
    auto description = takt::api::DescribeFor(device, type, query);
    if (!description.ok()) {
      return takt::api::ToStatus(__func__, description.status());
    }
    *out_description = description->release();
    return nullptr;
  }
  TAKT_CATCH_ALL(device, type, out_description);
}

void takt_buffer_description_free(takt_buffer_description_t* description) {
  delete static_cast<takt::api::Description*>(description);
}
