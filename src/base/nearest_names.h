// The names that are most similar to one that was not found, for messages.
//
// Thread-safety: pure.
#ifndef TAKT_BASE_NEAREST_NAMES_H_
#define TAKT_BASE_NEAREST_NAMES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace takt {

// "there are a.run, a.stop" or, of many, "the nearest of 300 are a.run, ...":
// at most eight names, nearest first. The part of a name behind its last dot
// counts as a name, too. `what` is what the names are, as in "functions"; with
// no names the answer is "there are no functions".
std::string NearestNames(const std::vector<std::string>& names,
                         absl::string_view wanted, absl::string_view what);

}  // namespace takt

#endif  // TAKT_BASE_NEAREST_NAMES_H_
