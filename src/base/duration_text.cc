#include "base/duration_text.h"

#include <cstddef>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace takt {

std::string DurationText(int64_t ns) {
  constexpr const char* kUnits[] = {" ns", " us", " ms", " s"};
  double value = static_cast<double>(ns);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return absl::StrCat(value, kUnits[unit]);
}

}  // namespace takt
