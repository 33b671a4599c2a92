// What a takt_status_t points at, and the way from and to absl::Status.
#ifndef TAKT_API_STATUS_H_
#define TAKT_API_STATUS_H_

#include "absl/status/status.h"
#include "takt/status.h"

namespace takt::api {

// NULL for OK. `source` is the C function that returns it: static text, or
// nullptr. A status without a message is a shared constant.
takt_status_t ToStatus(const char* source, const absl::Status& status);

// Takes `status`.
absl::Status FromStatus(takt_status_t status);

}  // namespace takt::api

#endif  // TAKT_API_STATUS_H_
