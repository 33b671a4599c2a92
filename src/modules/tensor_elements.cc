#include "modules/tensor_elements.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "base/math.h"
#include "base/status.h"
#include "base/unaligned.h"
#include "hal/small_float.h"

namespace takt::modules {
namespace {

// A copy of `buffer` in memory that the host can see.
absl::StatusOr<Ref<hal::Buffer>> CopyToHost(hal::Device& device,
                                            hal::Buffer& buffer) {
  const uint64_t byte_length = buffer.byte_length();
  TAKT_ASSIGN_OR_RETURN(
      Ref<hal::Buffer> copy,
      device.Allocate(
          {.memory_type =
               hal::kMemoryTypeHostLocal | hal::kMemoryTypeDeviceVisible,
           .usage = hal::kUsageTransferAndStorage | hal::kUsageMappingScoped},
          byte_length));
  const Ref<hal::Fence> done = hal::Fence::Create(device.blocks());
  TAKT_RETURN_IF_ERROR(device.QueueCopy({.signal = done.get()}, &buffer, 0,
                                        copy.get(), 0, byte_length));
  TAKT_RETURN_IF_ERROR(done->Wait(kInfiniteFuture));
  return copy;
}

bool LoadInteger(bool is_signed, uint32_t bits, const uint8_t* bytes,
                 double* value) {
  if (bits == 0 || bits > 64) return false;
  const uint64_t raw = LoadUnaligned<uint64_t>(bytes);
  if (is_signed) {
    const uint32_t unused = 64 - bits;
    *value = static_cast<double>(static_cast<int64_t>(raw << unused) >> unused);
  } else {
    *value = static_cast<double>(raw);
  }
  return true;
}

bool LoadIeee(uint32_t bits, const uint8_t* bytes, double* value) {
  switch (bits) {
    case 16:
      *value = hal::FloatFromF16(LoadUnaligned<uint16_t>(bytes));
      return true;
    case 32:
      *value = LoadUnaligned<float>(bytes);
      return true;
    case 64:
      *value = LoadUnaligned<double>(bytes);
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::StatusOr<TensorElements> TensorElements::Read(
    hal::Device& device, const hal::BufferView& view) {
  TAKT_ASSIGN_OR_RETURN(
      const uint64_t needed,
      hal::DenseByteLength(view.element_type(), view.shape()));
  Ref<hal::Buffer> buffer = Ref<hal::Buffer>::Retain(view.buffer());
  if ((buffer->memory_type() & hal::kMemoryTypeHostVisible) == 0) {
    TAKT_ASSIGN_OR_RETURN(buffer, CopyToHost(device, *buffer));
  }
  TAKT_ASSIGN_OR_RETURN(absl::Span<uint8_t> bytes,
                        buffer->Map(0, hal::kWholeBuffer, hal::kAccessRead));
  if (needed > bytes.size()) {
    return absl::OutOfRangeError(
        absl::StrCat(view.ShapeAndTypeString(), " needs ", needed,
                     " bytes, its buffer has ", bytes.size()));
  }
  uint64_t size = 1;
  for (int64_t dimension : view.shape()) {
    // Overflow is possible only where another dimension is 0.
    if (!CheckedMul(size, static_cast<uint64_t>(dimension), &size)) size = 0;
    if (dimension == 0) {
      size = 0;
      break;
    }
  }
  return TensorElements(std::move(buffer), bytes, view, size);
}

TensorElements::Bits TensorElements::BitsAt(uint64_t index) const {
  const uint32_t bits = hal::BitCount(view_.element_type());
  Bits element{};
  if (bits % 8 == 0) {
    std::copy_n(bytes_.data() + index * (bits / 8), bits / 8, element.begin());
    return element;
  }
  // Packed, the first element in the low bits.
  for (uint32_t i = 0; i < bits; ++i) {
    const uint64_t bit = index * bits + i;
    const int value = bytes_[bit / 8] >> (bit % 8) & 1;
    element[i / 8] = static_cast<uint8_t>(element[i / 8] | value << (i % 8));
  }
  return element;
}

bool TensorElements::NumberAt(uint64_t index, Number* number) const {
  const hal::ElementType type = view_.element_type();
  const uint32_t bits = hal::BitCount(type);
  const Bits element = BitsAt(index);
  *number = {};
  switch (hal::KindOf(type)) {
    case hal::NumericalKind::kInteger:
    case hal::NumericalKind::kSignedInteger:
      return LoadInteger(true, bits, element.data(), &number->real);
    case hal::NumericalKind::kUnsignedInteger:
    case hal::NumericalKind::kBoolean:
      return LoadInteger(false, bits, element.data(), &number->real);
    case hal::NumericalKind::kFloat:
    case hal::NumericalKind::kFloatIeee:
      return LoadIeee(bits, element.data(), &number->real);
    case hal::NumericalKind::kBFloat:
      number->real =
          hal::FloatFromBF16(LoadUnaligned<uint16_t>(element.data()));
      return bits == 16;
    case hal::NumericalKind::kComplex:
      return LoadIeee(bits / 2, element.data(), &number->real) &&
             LoadIeee(bits / 2, element.data() + bits / 16, &number->imaginary);
    case hal::NumericalKind::kF8E5M2:
    case hal::NumericalKind::kF8E4M3FN:
    case hal::NumericalKind::kF8E5M2FNUZ:
    case hal::NumericalKind::kF8E4M3FNUZ:
    case hal::NumericalKind::kF8E8M0FNU:
      number->real = hal::FloatFromF8(hal::KindOf(type), element[0]);
      return bits == 8;
    case hal::NumericalKind::kOpaque:
      return false;
  }
  return false;
}

std::string TensorElements::TextAt(uint64_t index) const {
  Bits element = BitsAt(index);
  const Ref<hal::Buffer> buffer = hal::Buffer::WrapHost(
      nullptr, element.data(), element.size(), hal::kMemoryTypeAll,
      hal::kUsageTransferAndStorage, hal::kAccessRead);
  absl::StatusOr<Ref<hal::BufferView>> scalar = hal::BufferView::Create(
      buffer, view_.element_type(), hal::EncodingType::kDenseRowMajor, {});
  if (!scalar.ok()) return std::string(scalar.status().message());
  absl::StatusOr<std::string> text = hal::FormatElements(**scalar, 1);
  return text.ok() ? *std::move(text) : std::string(text.status().message());
}

std::string TensorElements::IndexText(uint64_t index) const {
  std::vector<uint64_t> position(view_.shape().size());
  for (size_t i = position.size(); i-- > 0;) {
    const auto dimension = static_cast<uint64_t>(view_.shape()[i]);
    position[i] = index % dimension;
    index /= dimension;
  }
  return absl::StrCat("[", absl::StrJoin(position, ", "), "]");
}

}  // namespace takt::modules
