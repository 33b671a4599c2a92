// Patterns of names, as in "local*".
#ifndef TAKT_BASE_GLOB_H_
#define TAKT_BASE_GLOB_H_

#include "absl/strings/string_view.h"

namespace takt {

// True if all of `text` matches `pattern`: `*` stands for any run of
// characters, `?` for any one character, every other character for itself.
// Takes at most text.size() * pattern.size() steps.
bool MatchesGlob(absl::string_view text, absl::string_view pattern);

}  // namespace takt

#endif  // TAKT_BASE_GLOB_H_
