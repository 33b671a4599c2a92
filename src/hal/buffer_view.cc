#include "hal/buffer_view.h"

#include <cstdio>
#include <cstring>

#include "base/check.h"
#include "base/math.h"
#include "base/status.h"
#include "base/unaligned.h"
#include "hal/small_float.h"

namespace takt::hal {
namespace {

void AppendFloat(double value, std::string* out) {
  char text[32];
  std::snprintf(text, sizeof(text), "%G", value);
  out->append(text);
}

void AppendHex(const uint8_t* bytes, size_t count, std::string* out) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  for (size_t i = 0; i < count; ++i) {
    out->push_back(kDigits[bytes[i] >> 4]);
    out->push_back(kDigits[bytes[i] & 15]);
  }
}

bool AppendInteger(bool is_unsigned, uint32_t bits, const uint8_t* bytes,
                   std::string* out) {
  int64_t value = 0;
  switch (bits) {
    case 8:
      value = is_unsigned ? *bytes : static_cast<int8_t>(*bytes);
      break;
    case 16:
      value = is_unsigned ? LoadUnaligned<uint16_t>(bytes)
                          : LoadUnaligned<int16_t>(bytes);
      break;
    case 32:
      value = is_unsigned ? int64_t{LoadUnaligned<uint32_t>(bytes)}
                          : int64_t{LoadUnaligned<int32_t>(bytes)};
      break;
    case 64:
      value = LoadUnaligned<int64_t>(bytes);
      break;
    default:
      TAKT_DCHECK(bits > 0);  // BufferView::Create().
      if (bits > 8) return false;
      // Fewer than 8 bits, in one byte: the highest of them is the sign.
      value = *bytes;
      if (!is_unsigned && (value >> (bits - 1)) != 0) value -= 1 << bits;
      break;
  }
  if (is_unsigned) {
    absl::StrAppend(out, static_cast<uint64_t>(value));
  } else {
    absl::StrAppend(out, value);
  }
  return true;
}

// Appends the element at `bytes` as a number. False, and nothing appended, if
// its type has no such text.
bool AppendNumber(ElementType type, const uint8_t* bytes, std::string* out) {
  const uint32_t bits = BitCount(type);
  const NumericalKind kind = KindOf(type);
  switch (kind) {
    case NumericalKind::kInteger:
    case NumericalKind::kSignedInteger:
      return AppendInteger(/*is_unsigned=*/false, bits, bytes, out);
    case NumericalKind::kUnsignedInteger:
      return AppendInteger(/*is_unsigned=*/true, bits, bytes, out);
    case NumericalKind::kFloatIeee:
      if (bits == 16)
        AppendFloat(FloatFromF16(LoadUnaligned<uint16_t>(bytes)), out);
      if (bits == 32) AppendFloat(LoadUnaligned<float>(bytes), out);
      if (bits == 64) AppendFloat(LoadUnaligned<double>(bytes), out);
      return bits == 16 || bits == 32 || bits == 64;
    case NumericalKind::kBFloat:
      if (bits != 16) return false;
      AppendFloat(FloatFromBF16(LoadUnaligned<uint16_t>(bytes)), out);
      return true;
    case NumericalKind::kF8E5M2:
    case NumericalKind::kF8E4M3FN:
    case NumericalKind::kF8E5M2FNUZ:
    case NumericalKind::kF8E4M3FNUZ:
    case NumericalKind::kF8E8M0FNU:
      if (bits != 8) return false;
      AppendFloat(FloatFromF8(kind, *bytes), out);
      return true;
    default:
      return false;
  }
}

// Prints elements in row-major order.
class ElementPrinter {
 public:
  ElementPrinter(ElementType type, absl::Span<const uint8_t> bytes,
                 size_t max_element_count, std::string* out)
      : type_(type), bytes_(bytes), left_(max_element_count), out_(out) {}

  void AppendLevel(absl::Span<const int64_t> shape) {
    if (shape.size() <= 1) {
      AppendRow(shape.empty() ? 1 : shape[0]);
      return;
    }
    for (int64_t i = 0; i < shape[0]; ++i) {
      out_->push_back('[');
      AppendLevel(shape.subspan(1));
      out_->push_back(']');
    }
  }

 private:
  void AppendRow(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if (left_ == 0) {
        out_->append("...");
        return;
      }
      --left_;
      if (i > 0) out_->push_back(' ');
      AppendElement(next_++);
    }
  }

  void AppendElement(uint64_t index) {
    const uint32_t bits = BitCount(type_);
    const uint32_t byte_count = (bits + 7) / 8;
    uint8_t unpacked[32];
    const uint8_t* element = unpacked;
    if (bits % 8 == 0) {
      element = bytes_.data() + index * byte_count;
    } else {
      Unpack(index * bits, bits, unpacked);
    }
    if (!AppendNumber(type_, element, out_)) {
      AppendHex(element, byte_count, out_);
    }
  }

  // Elements that do not fill whole bytes are packed, the first in the low
  // bits.
  void Unpack(uint64_t first_bit, uint32_t bits, uint8_t* element) const {
    std::memset(element, 0, (bits + 7) / 8);
    for (uint32_t i = 0; i < bits; ++i) {
      const uint64_t bit = first_bit + i;
      const int value = bytes_[bit / 8] >> (bit % 8) & 1;
      element[i / 8] = static_cast<uint8_t>(element[i / 8] | value << (i % 8));
    }
  }

  const ElementType type_;
  const absl::Span<const uint8_t> bytes_;
  size_t left_;
  uint64_t next_ = 0;
  std::string* const out_;
};

}  // namespace

absl::StatusOr<Ref<BufferView>> BufferView::Create(
    Ref<Buffer> buffer, ElementType element_type, EncodingType encoding,
    absl::Span<const int64_t> shape, BlockPool* pool) {
  if (BitCount(element_type) == 0 &&
      KindOf(element_type) != NumericalKind::kOpaque) {
    return absl::InvalidArgumentError(absl::StrCat(
        "element type ", ElementTypeName(element_type), " has no bits"));
  }
  TAKT_ASSIGN_OR_RETURN(const uint64_t needed,
                        DenseByteLength(element_type, shape));
  if (encoding == EncodingType::kDenseRowMajor &&
      needed > buffer->byte_length()) {
    return absl::OutOfRangeError(absl::StrCat(
        "a tensor of ", ShapeString(shape), shape.empty() ? "" : "x",
        ElementTypeName(element_type), " needs ", needed,
        " bytes, the buffer has ", buffer->byte_length()));
  }
  return Ref<BufferView>::Adopt(
      pool != nullptr
          ? new (*pool)
                BufferView(std::move(buffer), element_type, encoding, shape)
          : new BufferView(std::move(buffer), element_type, encoding, shape));
}

std::string BufferView::ShapeAndTypeString() const {
  return absl::StrCat(ShapeString(shape_), shape_.empty() ? "" : "x",
                      ElementTypeName(element_type_));
}

Object* BufferView::Clone(Object& object, CloneMap& clones) {
  auto& view = static_cast<BufferView&>(object);
  Object* buffer = Buffer::Clone(*view.buffer_, clones);
  if (buffer == nullptr) return nullptr;
  return new BufferView(Ref<Buffer>::Adopt(static_cast<Buffer*>(buffer)),
                        view.element_type_, view.encoding_, view.shape_);
}

std::string ShapeString(absl::Span<const int64_t> shape) {
  std::string text;
  for (int64_t dimension : shape) {
    absl::StrAppend(&text, text.empty() ? "" : "x", dimension);
  }
  return text;
}

absl::StatusOr<std::string> FormatElements(const BufferView& view,
                                           size_t max_element_count) {
  TAKT_ASSIGN_OR_RETURN(const uint64_t needed,
                        DenseByteLength(view.element_type(), view.shape()));
  // No access is asked of Map(): a view may be printed if it may be held.
  TAKT_ASSIGN_OR_RETURN(absl::Span<uint8_t> bytes,
                        view.buffer()->Map(0, kWholeBuffer, 0));
  if (needed > bytes.size()) {
    return absl::OutOfRangeError(
        absl::StrCat(view.ShapeAndTypeString(), " needs ", needed,
                     " bytes, its buffer has ", bytes.size()));
  }
  // An empty tensor prints as brackets alone, but its other dimensions can be
  // huge.
  constexpr uint64_t kMaxEmptyRows = 1 << 20;
  uint64_t rows = 1;
  for (int64_t dimension : view.shape()) {
    if (dimension == 0) continue;
    if (!CheckedMul(rows, static_cast<uint64_t>(dimension), &rows)) {
      rows = kMaxEmptyRows + 1;
      break;
    }
  }
  if (needed == 0 && rows > kMaxEmptyRows) return std::string("...");
  std::string text;
  ElementPrinter printer(view.element_type(), bytes, max_element_count, &text);
  printer.AppendLevel(view.shape());
  return text;
}

absl::StatusOr<std::string> FormatBufferView(const BufferView& view,
                                             size_t max_element_count) {
  TAKT_ASSIGN_OR_RETURN(std::string elements,
                        FormatElements(view, max_element_count));
  return absl::StrCat(view.ShapeAndTypeString(), "=", elements);
}

}  // namespace takt::hal
