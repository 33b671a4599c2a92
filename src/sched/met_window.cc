#include "sched/met_window.h"

#include "absl/strings/str_cat.h"

namespace takt::sched {

std::string CheckMetWindow(uint32_t min, uint32_t length, bool has_deadline) {
  if (min == 0 && length == 0) return "";
  if (length > MetWindow::kLengthMax) {
    return absl::StrCat("a window of ", length, " jobs; the most is ",
                        MetWindow::kLengthMax);
  }
  if (min == 0 || min >= length) {
    return absl::StrCat(min, " of ", length,
                        " jobs in time; at least one must be, and one may "
                        "miss");
  }
  if (!has_deadline) return "a window of jobs in time needs a deadline";
  return "";
}

}  // namespace takt::sched
