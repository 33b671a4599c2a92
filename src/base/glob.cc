#include "base/glob.h"

#include <cstddef>

namespace takt {

bool MatchesGlob(absl::string_view text, absl::string_view pattern) {
  // Only the last `*` is ever retried with a longer run: the text that an
  // earlier `*` could take instead, the last one can take as well.
  constexpr size_t kNone = absl::string_view::npos;
  size_t t = 0;
  size_t p = 0;
  size_t star = kNone;
  size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != kNone) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace takt
