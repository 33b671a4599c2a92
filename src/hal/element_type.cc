#include "hal/element_type.h"

#include "absl/strings/numbers.h"
#include "base/math.h"
#include "base/status.h"

namespace takt::hal {
namespace {

// Names that end with a width. "i1" is none of them: it is a boolean of 8 bits.
struct Prefix {
  absl::string_view text;
  NumericalKind kind;
};
// Longer ones first, where one starts like another.
constexpr Prefix kPrefixes[] = {
    {"bf", NumericalKind::kBFloat},
    {"cf", NumericalKind::kComplex},
    {"si", NumericalKind::kSignedInteger},
    {"ui", NumericalKind::kUnsignedInteger},
    {"i", NumericalKind::kInteger},
    {"f", NumericalKind::kFloatIeee},
    {"*", NumericalKind::kOpaque},
};

struct FixedName {
  absl::string_view text;
  ElementType type;
};
constexpr FixedName kFixedNames[] = {
    {"i1", MakeElementType(NumericalKind::kBoolean, 8)},
    {"f8E5M2", MakeElementType(NumericalKind::kF8E5M2, 8)},
    {"f8E4M3FN", MakeElementType(NumericalKind::kF8E4M3FN, 8)},
    {"f8E5M2FNUZ", MakeElementType(NumericalKind::kF8E5M2FNUZ, 8)},
    {"f8E4M3FNUZ", MakeElementType(NumericalKind::kF8E4M3FNUZ, 8)},
    {"f8E8M0FNU", MakeElementType(NumericalKind::kF8E8M0FNU, 8)},
};

// True if the kind has a type of that width.
bool IsWidthOf(NumericalKind kind, uint32_t bits) {
  switch (kind) {
    case NumericalKind::kFloatIeee:
      return bits == 16 || bits == 32 || bits == 64;
    case NumericalKind::kBFloat:
      return bits == 16;
    case NumericalKind::kComplex:
      return bits == 64 || bits == 128;
    default:
      return bits > 0 && bits <= 255;
  }
}

bool IsInteger(ElementType type) {
  switch (KindOf(type)) {
    case NumericalKind::kInteger:
    case NumericalKind::kSignedInteger:
    case NumericalKind::kUnsignedInteger:
    case NumericalKind::kBoolean:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool ElementTypeFits(ElementType actual, ElementType expected) {
  return actual == expected || KindOf(actual) == NumericalKind::kOpaque ||
         (IsInteger(actual) && IsInteger(expected) &&
          BitCount(actual) == BitCount(expected));
}

std::string ElementTypeName(ElementType type) {
  for (const FixedName& fixed : kFixedNames) {
    if (fixed.type == type) return std::string(fixed.text);
  }
  const NumericalKind kind = KindOf(type);
  for (const Prefix& prefix : kPrefixes) {
    if (prefix.kind == kind) {
      return absl::StrCat(prefix.text, BitCount(type));
    }
  }
  return absl::StrCat("?", static_cast<uint32_t>(kind), ":", BitCount(type));
}

absl::StatusOr<ElementType> ParseElementType(absl::string_view name) {
  for (const FixedName& fixed : kFixedNames) {
    if (fixed.text == name) return fixed.type;
  }
  for (const Prefix& prefix : kPrefixes) {
    if (name.substr(0, prefix.text.size()) != prefix.text) continue;
    const absl::string_view digits = name.substr(prefix.text.size());
    uint32_t bits = 0;
    const bool is_number =
        !digits.empty() &&
        digits.find_first_not_of("0123456789") == absl::string_view::npos &&
        digits.front() != '0' && absl::SimpleAtoi(digits, &bits);
    if (is_number && IsWidthOf(prefix.kind, bits)) {
      return MakeElementType(prefix.kind, bits);
    }
    break;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", name, "' is no element type"));
}

absl::StatusOr<uint64_t> DenseByteLength(ElementType type,
                                         absl::Span<const int64_t> shape) {
  if (shape.size() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", shape.size(), " is beyond ", kMaxRank));
  }
  uint64_t bits = BitCount(type);
  bool fits = true;
  bool is_empty = false;
  for (int64_t dimension : shape) {
    if (dimension < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", dimension, " is negative"));
    }
    if (dimension == 0) is_empty = true;
    fits = fits && CheckedMul(bits, static_cast<uint64_t>(dimension), &bits);
  }
  if (is_empty) return uint64_t{0};
  if (!fits || !CheckedAdd(bits, 7, &bits)) {
    return absl::OutOfRangeError("the length of the tensor overflows 64 bits");
  }
  return bits / 8;
}

}  // namespace takt::hal
