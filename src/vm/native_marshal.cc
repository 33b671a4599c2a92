#include "vm/native_marshal.h"

#include "absl/strings/str_cat.h"

namespace takt::vm::marshal {

absl::Status RefError(size_t operand, const ObjectType& expected,
                      const Object* actual) {
  return absl::InvalidArgumentError(
      absl::StrCat("operand ", operand, ": expected ", expected.name, ", got ",
                   actual != nullptr ? actual->type()->name : "null"));
}

}  // namespace takt::vm::marshal
