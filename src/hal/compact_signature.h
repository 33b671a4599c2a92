// The compact function signature: an older, textual ABI for functions over
// buffers. Two sections, I (arguments) and R (results), each and every item in
// them prefixed by its length:
//
//   section    "I" or "R", then length "!" items
//   item       "B" | "S" | "O" | "U", then length "!" content
//   length     decimal; the bytes after the "!", plus one for the "!"
//   content    of B: [ "t" type ] { "d" dimension }    of S: [ "t" type ]
//              of O: empty                             of U: anything
//
// Types are numbers (f32 is 0 and the default), a dimension of -1 is dynamic.
// f32[4] -> f32[4] reads "I6!B3!d4R6!B3!d4".
#ifndef TAKT_HAL_COMPACT_SIGNATURE_H_
#define TAKT_HAL_COMPACT_SIGNATURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hal/element_type.h"

namespace takt::hal {

struct SignatureItem {
  enum class Kind : char {
    kBuffer = 'B',
    kScalar = 'S',
    kObject = 'O',
    kUnrecognized = 'U',
  };
  static constexpr int64_t kDynamic = -1;

  Kind kind = Kind::kBuffer;
  // The type of a buffer or scalar: one of the types that the grammar can name.
  ElementType element_type = MakeElementType(NumericalKind::kFloatIeee, 32);
  std::vector<int64_t> shape;  // Of a buffer, outermost dimension first.
  std::string content;         // Of kUnrecognized, as it was.

  friend bool operator==(const SignatureItem&, const SignatureItem&) = default;
};

struct CompactSignature {
  // INVALID_ARGUMENT with the position and the reason for anything that the
  // grammar above does not produce.
  static absl::StatusOr<CompactSignature> Parse(absl::string_view text);

  // The canonical text: f32 is left out. INVALID_ARGUMENT for an element type
  // that the grammar cannot name.
  absl::StatusOr<std::string> ToText() const;

  std::vector<SignatureItem> arguments;
  std::vector<SignatureItem> results;
};

}  // namespace takt::hal

#endif  // TAKT_HAL_COMPACT_SIGNATURE_H_
