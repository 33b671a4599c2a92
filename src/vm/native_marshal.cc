#include "vm/native_marshal.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/narrow.h"

namespace takt::vm::marshal {
namespace {

bool Breaks(const Object* ref, const RefRule& rule) {
  if (ref == nullptr) return !rule.may_be_null;
  return rule.type != nullptr && ref->type() != rule.type;
}

}  // namespace

absl::Status RefError(const NativeCall& call, const char* convention,
                      const RefRule* rules) {
  const Slot* slot = call.arguments();
  const char* letters = convention + 1;  // Of a tuple, or of one operand.
  for (size_t operand = 0; *letters != '_'; ++operand) {
    const bool is_span = *letters == 'C';
    if (is_span) ++letters;
    const size_t size = is_span ? std::strcspn(letters, "D") : 1;
    const uint32_t tuples = is_span ? Truncate<uint32_t>(slot++->i32) : 1;
    for (uint32_t tuple = 0; tuple < tuples; ++tuple) {
      const RefRule* rule = rules;
      for (size_t i = 0; i < size; ++i, ++slot) {
        if (letters[i] != 'r') continue;
        if (Breaks(slot->ref, *rule)) {
          return absl::InvalidArgumentError(absl::StrCat(
              "operand ", operand, ": expected ", rule->type->name, ", got ",
              slot->ref != nullptr ? slot->ref->type()->name : "null"));
        }
        ++rule;
      }
    }
    rules += std::count(letters, letters + size, 'r');
    letters += size + (is_span ? 1 : 0);
  }
  TAKT_CHECK(false);  // All of them are fine.
  return absl::OkStatus();
}

}  // namespace takt::vm::marshal
