// The calling convention of a function: the kinds of its arguments and
// results, written in the module as text such as "0rCiIrD_r" (0 is the
// version, C...D a tuple that repeats, _ divides arguments from results).
#ifndef TAKT_VM_CALLING_CONVENTION_H_
#define TAKT_VM_CALLING_CONVENTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace takt::vm {

// The kinds of values, by their letters in the text.
enum class Letter : char {
  kI32 = 'i',
  kI64 = 'I',
  kF32 = 'f',
  kF64 = 'F',
  kRef = 'r',
};

struct CallingConvention {
  // One argument, or a tuple that repeats. The call gives the number of
  // repetitions.
  struct Argument {
    bool is_span = false;
    // Exactly one unless is_span. Inlined, because most tuples are short, and
    // because a hostile text must not cost a block of memory for each letter.
    absl::InlinedVector<Letter, 8> letters;
  };

  // INVALID_ARGUMENT for malformed text, UNIMPLEMENTED for another version;
  // the message quotes the text and the position.
  static absl::StatusOr<CallingConvention> Parse(absl::string_view text);

  bool has_spans() const;
  // "(ref, i32) -> (f32) [0ri_f]", for messages. A tuple that repeats is
  // written "(ref, i32)...". Long lists are shortened.
  std::string Describe() const;

  std::string text;
  std::vector<Argument> arguments;
  std::vector<Letter> results;
};

}  // namespace takt::vm

#endif  // TAKT_VM_CALLING_CONVENTION_H_
