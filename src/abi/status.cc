#include "abi/status.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "abi/null.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/exceptions.h"
#include "base/lean_error.h"

namespace takt::abi {
namespace {

// One constant a code, so that frequent outcomes allocate nothing. Their
// source is not known: they serve every function.
using SharedStatuses = std::array<takt_status_rep_t, kStatusCodeCount>;
constexpr SharedStatuses MakeSharedStatuses() {
  SharedStatuses result{};
  for (int code = 0; code < kStatusCodeCount; ++code) {
    result[code] = {static_cast<takt_status_code_t>(code), "", true, {0}};
  }
  return result;
}
constexpr SharedStatuses kSharedStatuses = MakeSharedStatuses();

takt_status_t Shared(int code) {
  if (code <= 0 || code >= kStatusCodeCount) code = TAKT_STATUS_UNKNOWN;
  // Never written through: free() and the accessors look at is_shared first.
  return const_cast<takt_status_t>(&kSharedStatuses[code]);
}

// Returns the name of one of the arguments of TAKT_REQUIRE.
absl::string_view NameAt(const char* names, int index) {
  const std::vector<absl::string_view> list = absl::StrSplit(names, ", ");
  // "Items(count, values)" is two parts of the list and one pointer.
  size_t part = 0;
  for (; index > 0; --index) {
    part += absl::StartsWith(list[part], "Items(") ? 2 : 1;
  }
  part += absl::StartsWith(list[part], "Items(") ? 1 : 0;
  return absl::StripSuffix(list[part], ")");
}

}  // namespace

takt_status_t MakeStatus(int code, const char* source,
                         absl::string_view message) {
  if (code == TAKT_STATUS_OK) return nullptr;
  if (message.empty()) return Shared(code);
  void* block = std::malloc(sizeof(takt_status_rep_t) + message.size());
  if (block == nullptr) return Shared(code);
  auto* rep = new (block) takt_status_rep_t;
  rep->code = code < kStatusCodeCount && code > 0
                  ? static_cast<takt_status_code_t>(code)
                  : TAKT_STATUS_UNKNOWN;
  rep->source = source != nullptr ? source : "";
  rep->is_shared = false;
  std::memcpy(rep->message, message.data(), message.size());
  rep->message[message.size()] = 0;
  return rep;
}

takt_status_t ToStatus(const char* source, const absl::Status& status) {
  if (status.ok()) return nullptr;
  // raw_code(): compiled code fails with numbers that Abseil has no name for.
  const int code = status.raw_code();
  // There was no memory for a message (OutOfMemory()), but may be now.
  if (code == TAKT_STATUS_RESOURCE_EXHAUSTED && status.message().empty()) {
    return MakeStatus(code, source, "out of memory");
  }
  return MakeStatus(code, source, status.message());
}

void FreeStatus(takt_status_t status) {
  if (status != nullptr && !status->is_shared) std::free(status);
}

absl::Status FromStatus(takt_status_t status) {
  if (status == nullptr) return absl::OkStatus();
  const auto code = static_cast<absl::StatusCode>(status->code);
  absl::Status result;
  TAKT_TRY { result = absl::Status(code, status->message); }
  TAKT_CATCH(const std::bad_alloc&) {
    result = absl::Status(code, "");  // It takes no memory.
  }
  FreeStatus(status);
  return result;
}

absl::Status ErrorFrom(takt_status_t status) {
  if (status != nullptr) return FromStatus(status);
  return LeanError(absl::StatusCode::kUnknown,
                   [] { return "failed without a status"; });
}

takt_status_t RefuseNull(const char* source, const char* names, int index) {
  TAKT_TRY {
    return MakeStatus(TAKT_STATUS_INVALID_ARGUMENT, source,
                      absl::StrCat(NameAt(names, index), " is NULL"));
  }
  TAKT_CATCH(const std::bad_alloc&) {
    return Shared(TAKT_STATUS_INVALID_ARGUMENT);
  }
}

}  // namespace takt::abi
