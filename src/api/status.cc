#include "api/status.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "api/null.h"

struct takt_status_rep_t {
  takt_status_code_t code;
  // Static text; never null.
  const char* source;
  bool is_shared;
  // The message follows, NUL-terminated. Empty for shared constants.
  char message[1];
};

namespace takt::api {
namespace {

constexpr int kCodeCount = 19;

// One constant a code, so that frequent outcomes allocate nothing. Their
// source is not known: they serve every function.
using SharedStatuses = std::array<takt_status_rep_t, kCodeCount>;
constexpr SharedStatuses MakeSharedStatuses() {
  SharedStatuses result{};
  for (int code = 0; code < kCodeCount; ++code) {
    result[code] = {static_cast<takt_status_code_t>(code), "", true, {0}};
  }
  return result;
}
constexpr SharedStatuses kSharedStatuses = MakeSharedStatuses();

takt_status_t Shared(int code) {
  if (code <= 0 || code >= kCodeCount) code = TAKT_STATUS_UNKNOWN;
  // Never written through: free() and the accessors look at is_shared first.
  return const_cast<takt_status_t>(&kSharedStatuses[code]);
}

takt_status_t Make(int code, const char* source, absl::string_view message) {
  if (code == TAKT_STATUS_OK) return nullptr;
  if (message.empty()) return Shared(code);
  void* block = std::malloc(sizeof(takt_status_rep_t) + message.size());
  if (block == nullptr) return Shared(code);
  auto* rep = new (block) takt_status_rep_t;
  rep->code = code < kCodeCount && code > 0
                  ? static_cast<takt_status_code_t>(code)
                  : TAKT_STATUS_UNKNOWN;
  rep->source = source != nullptr ? source : "";
  rep->is_shared = false;
  std::memcpy(rep->message, message.data(), message.size());
  rep->message[message.size()] = 0;
  return rep;
}

}  // namespace

takt_status_t ToStatus(const char* source, const absl::Status& status) {
  if (status.ok()) return nullptr;
  // raw_code(): compiled code fails with numbers that Abseil has no name for.
  return Make(status.raw_code(), source, status.message());
}

absl::Status FromStatus(takt_status_t status) {
  if (status == nullptr) return absl::OkStatus();
  absl::Status result(static_cast<absl::StatusCode>(status->code),
                      status->message);
  takt_status_free(status);
  return result;
}

takt_status_t RefuseNull(const char* source, const char* names, int index) {
  const std::vector<absl::string_view> list = absl::StrSplit(names, ", ");
  // "Items(count, values)" is two parts of the list and one pointer.
  size_t part = 0;
  for (; index > 0; --index) {
    part += absl::StartsWith(list[part], "Items(") ? 2 : 1;
  }
  part += absl::StartsWith(list[part], "Items(") ? 1 : 0;
  const absl::string_view name = absl::StripSuffix(list[part], ")");
  return Make(TAKT_STATUS_INVALID_ARGUMENT, source,
              absl::StrCat(name, " is NULL"));
}

}  // namespace takt::api

takt_status_t takt_status_create(takt_status_code_t code, const char* message) {
  return takt::api::Make(code, nullptr, message != nullptr ? message : "");
}

takt_status_t takt_status_clone(takt_status_t status) {
  if (status == nullptr || status->is_shared) return status;
  return takt::api::Make(status->code, status->source, status->message);
}

void takt_status_free(takt_status_t status) {
  if (status != nullptr && !status->is_shared) std::free(status);
}

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
  static constexpr const char* kNames[takt::api::kCodeCount] = {
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
  return index >= 0 && index < takt::api::kCodeCount ? kNames[index] : "?";
}
