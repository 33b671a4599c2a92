// The element types of tensors: (numerical kind << 24) | bits, the encoding of
// the compiler's HAL ABI.
#ifndef TAKT_HAL_ELEMENT_TYPE_H_
#define TAKT_HAL_ELEMENT_TYPE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace takt::hal {

enum class ElementType : uint32_t {};

enum class NumericalKind : uint8_t {
  kOpaque = 0x00,
  kInteger = 0x10,
  kSignedInteger = 0x11,
  kUnsignedInteger = 0x12,
  kBoolean = 0x13,
  kFloat = 0x20,
  kFloatIeee = 0x21,
  kBFloat = 0x22,
  kComplex = 0x23,
  kF8E5M2 = 0x24,
  kF8E4M3FN = 0x25,
  kF8E5M2FNUZ = 0x26,
  kF8E4M3FNUZ = 0x27,
  kF8E8M0FNU = 0x28,
};

constexpr ElementType MakeElementType(NumericalKind kind, uint32_t bits) {
  return static_cast<ElementType>((static_cast<uint32_t>(kind) << 24) | bits);
}
constexpr NumericalKind KindOf(ElementType type) {
  return static_cast<NumericalKind>(static_cast<uint32_t>(type) >> 24);
}
constexpr uint32_t BitCount(ElementType type) {
  return static_cast<uint32_t>(type) & 0xff;
}

// True if elements of type `actual` may be given where `expected` is declared.
// The types fit if they are equal, if `actual` is opaque, or if both are
// integers or booleans of one width: compiled code reads the bits of an integer
// and not its sign.
bool ElementTypeFits(ElementType actual, ElementType expected);

// "f32", "si8", "i1", "*16", "cf64": the names of the iree-* tools. Unknown
// kinds print as "?KIND:BITS".
std::string ElementTypeName(ElementType type);
// INVALID_ARGUMENT, quoting the text, if it is none of those names.
absl::StatusOr<ElementType> ParseElementType(absl::string_view name);

// The most dimensions that a tensor can have. Compiled programs have far fewer.
inline constexpr size_t kMaxRank = 128;

// Bytes of a dense tensor: ceil(elements x bits / 8). INVALID_ARGUMENT for a
// negative dimension or a rank beyond kMaxRank, OUT_OF_RANGE on overflow.
absl::StatusOr<uint64_t> DenseByteLength(ElementType type,
                                         absl::Span<const int64_t> shape);

enum class EncodingType : uint32_t { kOpaque = 0, kDenseRowMajor = 1 };

}  // namespace takt::hal

#endif  // TAKT_HAL_ELEMENT_TYPE_H_
