// What a takt_status_t points at, and the way from and to absl::Status.
#ifndef TAKT_ABI_STATUS_H_
#define TAKT_ABI_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "takt/status.h"

// A heap block, or a constant that is shared. libtakt and libtakt-tools both
// make statuses and free each other's, so the two come from one release.
struct takt_status_rep_t {
  takt_status_code_t code;
  // Static text; never null.
  const char* source;
  bool is_shared;
  // The message follows, NUL-terminated. Empty for shared constants.
  char message[1];
};

namespace takt::abi {

inline constexpr int kStatusCodeCount = 19;

// NULL for TAKT_STATUS_OK. `message` is copied; without one the status is a
// shared constant. A number that is no code becomes TAKT_STATUS_UNKNOWN.
takt_status_t MakeStatus(int code, const char* source,
                         absl::string_view message);

// NULL for OK. `source` is the C function that returns it: static text, or
// nullptr. A status without a message is a shared constant.
takt_status_t ToStatus(const char* source, const absl::Status& status);

// What takt_status_free() does; this layer is below that function.
void FreeStatus(takt_status_t status);

// Takes `status`. Does not throw.
absl::Status FromStatus(takt_status_t status);
// The same of something that fails: UNKNOWN if there is no error.
absl::Status ErrorFrom(takt_status_t status);

}  // namespace takt::abi

#endif  // TAKT_ABI_STATUS_H_
