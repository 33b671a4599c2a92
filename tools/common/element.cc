#include "tools/common/element.h"

#include <cstring>

#include "takt/tools/small_float.h"
#include "tools/common/number.h"

namespace takt::tools {
namespace {

size_t BitCount(takt_element_type_t type) {
  return takt_element_type_bit_count(type);
}

bool IsUnsigned(takt_element_type_t type) {
  return takt_element_type_kind(type) == TAKT_NUMERICAL_UNSIGNED_INTEGER;
}

// Puts the low bits of `value` in place of element `index`. Elements of less
// than a byte are packed, the first one lowest.
void StoreBits(size_t bit_count, uint64_t value, size_t index,
               std::span<uint8_t> target) {
  if (bit_count % 8 == 0) {
    const size_t width = bit_count / 8;
    std::memcpy(target.data() + index * width, &value, width);
    return;
  }
  for (size_t bit = 0; bit < bit_count; ++bit) {
    const size_t at = index * bit_count + bit;
    const uint8_t mask = static_cast<uint8_t>(1u << at % 8);
    uint8_t& byte = target[at / 8];
    byte = (value >> bit & 1) != 0 ? byte | mask : byte & ~mask;
  }
}

uint64_t LoadBits(size_t bit_count, std::span<const uint8_t> bytes,
                  size_t index) {
  uint64_t value = 0;
  if (bit_count % 8 == 0) {
    const size_t width = bit_count / 8;
    std::memcpy(&value, bytes.data() + index * width, width);
    return value;
  }
  for (size_t bit = 0; bit < bit_count; ++bit) {
    const size_t at = index * bit_count + bit;
    value |= static_cast<uint64_t>(bytes[at / 8] >> at % 8 & 1) << bit;
  }
  return value;
}

Status DoesNotFit(takt_element_type_t type, std::string_view text) {
  return Status(
      TAKT_STATUS_OUT_OF_RANGE,
      "`" + std::string(text) + "` does not fit in " + TypeText(type));
}

// Types without a sign of their own take the numbers of both kinds.
Result<uint64_t> ParseIntegerElement(takt_element_type_t type,
                                     std::string_view text) {
  const size_t bits = BitCount(type);
  const uint64_t unsigned_max = ~uint64_t{0} >> (64 - bits);
  const bool is_signed =
      takt_element_type_kind(type) == TAKT_NUMERICAL_SIGNED_INTEGER;
  if (text.starts_with('-') && !IsUnsigned(type)) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const int64_t value, ParseInteger(text));
    if (value < -static_cast<int64_t>(unsigned_max >> 1) - 1) {
      return DoesNotFit(type, text);
    }
    return static_cast<uint64_t>(value);
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const uint64_t value, ParseUnsigned(text));
  if (value > (is_signed ? unsigned_max >> 1 : unsigned_max)) {
    return DoesNotFit(type, text);
  }
  return value;
}

Result<uint64_t> ParseFloatElement(takt_element_type_t type,
                                   std::string_view text) {
  uint64_t bits = 0;
  if (type == TAKT_ELEMENT_F64) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const double value, ParseReal(text));
    std::memcpy(&bits, &value, sizeof(value));
    return bits;
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const float value, ParseFloat(text));
  if (takt_element_is_small_float(type))
    return takt_small_float_encode(type, value);
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Status ParseBytesElement(takt_element_type_t type, std::string_view text,
                         std::span<uint8_t> target) {
  bool is_hex = text.size() == target.size() * 2;
  for (size_t i = 0; is_hex && i < target.size(); ++i) {
    const int high = HexDigit(text[2 * i]);
    const int low = HexDigit(text[2 * i + 1]);
    is_hex = high >= 0 && low >= 0;
    target[i] = static_cast<uint8_t>(high << 4 | low);
  }
  if (is_hex) return Status();
  return InvalidArgument("`" + std::string(text) + "` is not " +
                         std::to_string(target.size() * 2) +
                         " hexadecimal digits, as an element of " +
                         TypeText(type) + " is written");
}

Status ParseElement(takt_element_type_t type, std::string_view text,
                    size_t index, std::span<uint8_t> target) {
  const ElementForm form = FormOf(type);
  if (form == ElementForm::kBytes) {
    const size_t width = (BitCount(type) + 7) / 8;
    return ParseBytesElement(type, text, target.subspan(index * width, width));
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const uint64_t bits,
                              form == ElementForm::kInteger
                                  ? ParseIntegerElement(type, text)
                                  : ParseFloatElement(type, text));
  StoreBits(BitCount(type), bits, index, target);
  return Status();
}

// Element 0 in the place of all.
void Repeat(size_t bit_count, size_t element_count, std::span<uint8_t> target) {
  if (bit_count % 8 == 0) {
    const size_t width = bit_count / 8;
    for (size_t i = 1; i < element_count; ++i) {
      std::memcpy(target.data() + i * width, target.data(), width);
    }
    return;
  }
  const uint64_t bits = LoadBits(bit_count, target, 0);
  for (size_t i = 1; i < element_count; ++i) {
    StoreBits(bit_count, bits, i, target);
  }
}

// Takes the next element off `text`; empty at its end.
std::string_view NextToken(std::string_view* text) {
  constexpr std::string_view kSeparators = " ,[]\t\r\n";
  const size_t begin =
      std::min(text->find_first_not_of(kSeparators), text->size());
  text->remove_prefix(begin);
  const size_t length =
      std::min(text->find_first_of(kSeparators), text->size());
  const std::string_view token = text->substr(0, length);
  text->remove_prefix(length);
  return token;
}

Status WrongCount(takt_element_type_t type, size_t expected,
                  const std::string& got) {
  return InvalidArgument("expected 1 or " + std::to_string(expected) +
                         " elements of " + TypeText(type) + ", got " + got);
}

}  // namespace

ElementForm FormOf(takt_element_type_t type) {
  switch (takt_element_type_kind(type)) {
    case TAKT_NUMERICAL_INTEGER:
    case TAKT_NUMERICAL_SIGNED_INTEGER:
    case TAKT_NUMERICAL_UNSIGNED_INTEGER:
      switch (BitCount(type)) {
        case 1:
        case 2:
        case 4:
        case 8:
        case 16:
        case 32:
        case 64:
          return ElementForm::kInteger;
        default:
          return ElementForm::kBytes;
      }
    default:
      return type == TAKT_ELEMENT_F32 || type == TAKT_ELEMENT_F64 ||
                     takt_element_is_small_float(type)
                 ? ElementForm::kFloat
                 : ElementForm::kBytes;
  }
}

std::string TypeText(takt_element_type_t type) {
  char text[TAKT_ELEMENT_TYPE_TEXT_MAX];
  return takt_element_type_format(type, text);
}

std::string TensorTypeText(takt_element_type_t type,
                           std::span<const int64_t> shape) {
  std::string text;
  for (const int64_t dimension : shape) text += std::to_string(dimension) + "x";
  return text + TypeText(type);
}

Status ParseElements(takt_element_type_t type, std::string_view text,
                     size_t element_count, std::span<uint8_t> target) {
  const bool is_packed = BitCount(type) % 8 != 0;
  if (is_packed && FormOf(type) == ElementForm::kBytes) {
    return Status(TAKT_STATUS_UNIMPLEMENTED,
                  "elements of " + TypeText(type) + " cannot be written out");
  }
  if (!target.empty()) std::memset(target.data(), 0, target.size());
  size_t count = 0;
  std::string_view rest = text;
  for (std::string_view token = NextToken(&rest); !token.empty();
       token = NextToken(&rest)) {
    if (count == element_count) {
      return WrongCount(type, element_count, "more");
    }
    TAKT_TOOLS_RETURN_IF_ERROR(ParseElement(type, token, count++, target));
  }
  if (count == 1) Repeat(BitCount(type), element_count, target);
  if (count > 1 && count != element_count) {
    return WrongCount(type, element_count, std::to_string(count));
  }
  return Status();
}

double FloatElement(takt_element_type_t type, std::span<const uint8_t> bytes,
                    size_t index) {
  const uint64_t bits = LoadBits(BitCount(type), bytes, index);
  if (type == TAKT_ELEMENT_F64) {
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  if (type != TAKT_ELEMENT_F32) {
    return takt_small_float_decode(type, static_cast<uint32_t>(bits));
  }
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

std::string FormatElement(takt_element_type_t type,
                          std::span<const uint8_t> bytes, size_t index) {
  const size_t bit_count = BitCount(type);
  char text[32];
  if (FormOf(type) == ElementForm::kFloat) {
    std::snprintf(text, sizeof(text), "%G", FloatElement(type, bytes, index));
    return text;
  }
  if (FormOf(type) == ElementForm::kInteger) {
    const uint64_t bits = LoadBits(bit_count, bytes, index);
    if (IsUnsigned(type)) return std::to_string(bits);
    const size_t unused = 64 - bit_count;
    return std::to_string(static_cast<int64_t>(bits << unused) >> unused);
  }
  const size_t width = (bit_count + 7) / 8;
  std::string result;
  for (const uint8_t byte : bytes.subspan(index * width, width)) {
    std::snprintf(text, sizeof(text), "%02X", byte);
    result += text;
  }
  return result;
}

}  // namespace takt::tools
