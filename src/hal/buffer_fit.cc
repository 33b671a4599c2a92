#include "hal/buffer_fit.h"

#include <algorithm>
#include <utility>

#include "base/math.h"
#include "base/status.h"
#include "hal/buffer_view.h"

namespace takt::hal {
namespace {

using Kind = BufferFit::Kind;
using Conversion = BufferFit::Conversion;

BufferFit Unsupported(std::string reason) {
  BufferFit answer;
  answer.reason = std::move(reason);
  return answer;
}

// The bits of precision (without sign) and of exponent of a type, which decide
// whether a conversion is lossless.
struct Range {
  bool is_signed;
  bool is_float;
  int precision_bits;  // Magnitude of integers; significand of floats.
  int exponent_bits;   // 0 for integers.
};

absl::optional<Range> RangeOf(ElementType type) {
  const int bits = static_cast<int>(BitCount(type));
  switch (KindOf(type)) {
    case NumericalKind::kInteger:
    case NumericalKind::kSignedInteger:
      return Range{true, false, bits - 1, 0};
    case NumericalKind::kUnsignedInteger:
      return Range{false, false, bits, 0};
    case NumericalKind::kFloatIeee:
      if (bits == 16) return Range{true, true, 11, 5};
      if (bits == 32) return Range{true, true, 24, 8};
      if (bits == 64) return Range{true, true, 53, 11};
      return absl::nullopt;
    case NumericalKind::kBFloat:
      return Range{true, true, 8, 8};
    default:
      return absl::nullopt;
  }
}

// True if a buffer of `actual` can be used as one of `expected` without a
// change of its bytes.
bool SameBytes(ElementType actual, ElementType expected) {
  return ElementTypeFits(actual, expected) &&
         BitCount(actual) == BitCount(expected);
}

// The device buffer of a fully known shape; a reason if its size overflows.
absl::StatusOr<DeviceBuffer> Describe(const DeviceBufferTraits& device,
                                      ElementType type,
                                      const std::vector<int64_t>& shape) {
  if (BitCount(type) % 8 != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "elements of ", BitCount(type), " bits have no strides in bytes"));
  }
  DeviceBuffer buffer;
  buffer.element_type = type;
  buffer.shape = shape;
  TAKT_ASSIGN_OR_RETURN(buffer.byte_length, DenseByteLength(type, shape));
  buffer.byte_strides.resize(shape.size());
  int64_t stride = BitCount(type) / 8;
  for (size_t i = shape.size(); i-- > 0;) {
    buffer.byte_strides[i] = stride;
    // An empty tensor has no second element to step to, so an overflow of a
    // stride above a zero dimension means nothing.
    if (!CheckedMul(stride, std::max<int64_t>(shape[i], 1), &stride)) {
      return absl::OutOfRangeError(
          absl::StrCat("the strides of ", ShapeString(shape), " overflow"));
    }
  }
  buffer.alignment = device.alignment;
  buffer.memory_type = device.memory_type;
  buffer.usage = device.usage;
  return buffer;
}

// The reason why `expected` does not allow `shape`; empty if it does.
std::string ShapeMismatch(const std::vector<int64_t>& expected,
                          const std::vector<int64_t>& shape) {
  if (expected.size() != shape.size()) {
    return absl::StrCat("rank: expected ", expected.size(), ", got ",
                        shape.size());
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) {
      return absl::StrCat("dimension ", i, ": got ", shape[i]);
    }
    if (expected[i] != SignatureItem::kDynamic && expected[i] != shape[i]) {
      return absl::StrCat("dimension ", i, ": expected ", expected[i], ", got ",
                          shape[i]);
    }
  }
  return "";
}

// A stride is never used along a dimension of fewer than two elements, nor in
// an empty buffer.
bool IsDense(const HostBuffer& host, const DeviceBuffer& dense) {
  if (host.byte_strides.empty() || dense.byte_length == 0) return true;
  for (size_t i = 0; i < host.shape.size(); ++i) {
    if (host.shape[i] > 1 && host.byte_strides[i] != dense.byte_strides[i]) {
      return false;
    }
  }
  return true;
}

bool Holds(const DeviceBufferTraits& device, ElementType type) {
  return device.element_types.empty() ||
         std::find(device.element_types.begin(), device.element_types.end(),
                   type) != device.element_types.end();
}

BufferFit Make(const DeviceBufferTraits& device, const SignatureItem& item,
               const std::vector<int64_t>& given) {
  const std::vector<int64_t>& shape = given.empty() ? item.shape : given;
  if (const std::string mismatch = ShapeMismatch(item.shape, shape);
      !mismatch.empty()) {
    return Unsupported(mismatch);
  }
  absl::StatusOr<DeviceBuffer> buffer =
      Describe(device, item.element_type, shape);
  if (!buffer.ok()) return Unsupported(std::string(buffer.status().message()));
  BufferFit answer;
  answer.kind = Kind::kMake;
  answer.buffer = *std::move(buffer);
  return answer;
}

BufferFit UseOrConvert(const DeviceBufferTraits& device,
                       const SignatureItem& item, const HostBuffer& host,
                       const BufferFitOptions& options) {
  if (const std::string mismatch = ShapeMismatch(item.shape, host.shape);
      !mismatch.empty()) {
    return Unsupported(mismatch);
  }
  if (!host.byte_strides.empty() &&
      host.byte_strides.size() != host.shape.size()) {
    return Unsupported(absl::StrCat("strides: expected ", host.shape.size(),
                                    ", got ", host.byte_strides.size()));
  }
  const bool same_bytes = SameBytes(host.element_type, item.element_type);
  const bool widens = !same_bytes && options.allow_widening &&
                      IsLosslessWidening(host.element_type, item.element_type);
  if (!same_bytes && !widens) {
    return Unsupported(absl::StrCat(
        "element type: expected ", ElementTypeName(item.element_type), ", got ",
        ElementTypeName(host.element_type)));
  }
  const absl::StatusOr<DeviceBuffer> dense =
      Describe(device, host.element_type, host.shape);
  absl::StatusOr<DeviceBuffer> target =
      Describe(device, item.element_type, host.shape);
  if (!dense.ok()) return Unsupported(std::string(dense.status().message()));
  if (!target.ok()) return Unsupported(std::string(target.status().message()));
  if (host.byte_length != dense->byte_length) {
    return Unsupported(absl::StrCat("byte length: expected ",
                                    dense->byte_length, ", got ",
                                    host.byte_length));
  }
  BufferFit answer;
  answer.buffer = *std::move(target);
  if (!IsDense(host, *dense)) {
    answer.conversions.push_back(Conversion::kDenseCopy);
  } else if (host.address % device.alignment != 0) {
    answer.conversions.push_back(Conversion::kAlignmentCopy);
  }
  if (widens) answer.conversions.push_back(Conversion::kWidening);
  answer.kind = answer.conversions.empty() ? Kind::kUse : Kind::kConvert;
  return answer;
}

}  // namespace

bool IsLosslessWidening(ElementType from, ElementType to) {
  const absl::optional<Range> a = RangeOf(from);
  const absl::optional<Range> b = RangeOf(to);
  if (!a || !b || from == to) return false;
  if (a->is_float && !b->is_float) return false;
  if (a->is_signed && !b->is_signed) return false;
  if (a->precision_bits > b->precision_bits) return false;
  if (a->is_float) return a->exponent_bits <= b->exponent_bits;
  // The greatest magnitude of an integer must lie within a float's exponents.
  return !b->is_float || a->precision_bits < (1 << (b->exponent_bits - 1));
}

BufferFit DescribeBuffer(const DeviceBufferTraits& device,
                         const SignatureItem& item,
                         const absl::optional<HostBuffer>& host,
                         const BufferFitOptions& options,
                         const std::vector<int64_t>& shape) {
  if (item.kind != SignatureItem::Kind::kBuffer) {
    return Unsupported("the signature's item is not a buffer");
  }
  if (!Holds(device, item.element_type)) {
    return Unsupported(absl::StrCat("the device has no element type ",
                                    ElementTypeName(item.element_type)));
  }
  return host ? UseOrConvert(device, item, *host, options)
              : Make(device, item, shape);
}

}  // namespace takt::hal
