// A Declaration is the source signature of a function as modules carry it in
// the attribute iree.abi.declaration:
//
//   sync func @act(%input0: tensor<?x64xf32>, %input1: f32 {a = 1}) ->
//       (%output0: tensor<8xf32>)
//
// A compiler writes the text, but Takt reads it from a file: text of another
// form is an error.
#ifndef TAKT_RUNTIME_DECLARATION_H_
#define TAKT_RUNTIME_DECLARATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hal/element_type.h"

namespace takt::runtime {

struct Declaration {
  static constexpr int64_t kDynamic = -1;

  // One argument or result.
  struct Item {
    std::string name;        // "input0"; without the percent sign.
    std::string type;        // "tensor<?x64xf32>", "f32", "!hal.buffer".
    std::string attributes;  // The text in the braces; "" if none.
    // True for a tensor type whose elements Takt knows; then the rest is set.
    bool is_tensor = false;
    hal::ElementType element_type{};
    std::vector<int64_t> shape;  // kDynamic for "?".
  };

  // INVALID_ARGUMENT with the position and what was expected there.
  static absl::StatusOr<Declaration> Parse(absl::string_view text);
  // The text that Parse() reads. INVALID_ARGUMENT for a name or type that
  // Parse() would read as something else.
  absl::StatusOr<std::string> ToText() const;

  bool is_async = false;
  std::string name;
  std::vector<Item> arguments;
  std::vector<Item> results;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_DECLARATION_H_
