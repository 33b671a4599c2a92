#include "takt/status.h"

#include "abi/guard.h"
#include "abi/status.h"

takt_status_t takt_status_create(takt_status_code_t code, const char* message) {
  TAKT_TRY {
    return takt::abi::MakeStatus(code, nullptr,
                                 message != nullptr ? message : "");
  }
  TAKT_CATCH_ALL();
}

takt_status_t takt_status_clone(takt_status_t status) {
  TAKT_TRY {
    if (status == nullptr || status->is_shared) return status;
    return takt::abi::MakeStatus(status->code, status->source, status->message);
  }
  TAKT_CATCH_ALL();
}

void takt_status_free(takt_status_t status) { takt::abi::FreeStatus(status); }

takt_status_code_t takt_status_code(takt_status_t status) {
  return status != nullptr ? status->code : TAKT_STATUS_OK;
}

const char* takt_status_message(takt_status_t status) {
  return status != nullptr ? status->message : "";
}

const char* takt_status_source(takt_status_t status) {
  return status != nullptr ? status->source : "";
}

const char* takt_status_code_name(takt_status_code_t code) {
  static constexpr const char* kNames[takt::abi::kStatusCodeCount] = {
      "OK",
      "CANCELLED",
      "UNKNOWN",
      "INVALID_ARGUMENT",
      "DEADLINE_EXCEEDED",
      "NOT_FOUND",
      "ALREADY_EXISTS",
      "PERMISSION_DENIED",
      "RESOURCE_EXHAUSTED",
      "FAILED_PRECONDITION",
      "ABORTED",
      "OUT_OF_RANGE",
      "UNIMPLEMENTED",
      "INTERNAL",
      "UNAVAILABLE",
      "DATA_LOSS",
      "UNAUTHENTICATED",
      "DEFERRED",
      "INCOMPATIBLE",
  };
  const int index = static_cast<int>(code);
  return index >= 0 && index < takt::abi::kStatusCodeCount ? kNames[index]
                                                           : "?";
}
