#include "base/status.h"

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "base/exceptions.h"

namespace takt {

absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  absl::string_view rest = status.message();
  if (absl::ConsumePrefix(&rest, context) && absl::StartsWith(rest, ": ")) {
    return status;
  }
  // OutOfMemory() has no message.
  absl::string_view message = status.message();
  if (message.empty() && absl::IsResourceExhausted(status)) {
    message = "out of memory";
  }
  TAKT_TRY {
    // raw_code(): compiled code has a number that Abseil does not know.
    return absl::Status(static_cast<absl::StatusCode>(status.raw_code()),
                        absl::StrCat(context, ": ", message));
  }
  TAKT_CATCH(const std::bad_alloc&) { return status; }
}

}  // namespace takt
