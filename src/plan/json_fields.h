// Members of JSON objects, read with their limits. Each error names the place.
#ifndef TAKT_PLAN_JSON_FIELDS_H_
#define TAKT_PLAN_JSON_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/json.h"
#include "base/narrow.h"
#include "base/status.h"

namespace takt::plan {

// More elements than any workload has, and few enough to be read at once.
inline constexpr uint32_t kMaxListLength = 100'000;

// A number from `least` to `most`; `fallback` if absent.
absl::StatusOr<double> ReadReal(const JsonPlace& place, const char* key,
                                double least, double most, double fallback);
// A time in ns, given as <name>_us, <name>_ms or <name>_s; `fallback_ns` if
// absent.
absl::StatusOr<int64_t> ReadTime(const JsonPlace& place,
                                 const std::string& name, int64_t fallback_ns);
// False if absent.
absl::StatusOr<bool> ReadBool(const JsonPlace& place, const char* key);
// The choice's index; 0 if absent.
absl::StatusOr<uint32_t> ReadChoice(const JsonPlace& place, const char* key,
                                    std::initializer_list<const char*> choices);
// A list of texts; empty if absent.
absl::StatusOr<std::vector<std::string>> ReadTexts(const JsonPlace& place,
                                                   const char* key);

// Calls read(place) for each element of a list.
template <typename Read>
absl::Status ForEachElement(const JsonPlace& place, const char* key,
                            Read read) {
  const nlohmann::json* member = place.Find(key);
  if (member == nullptr) return absl::OkStatus();
  if (!member->is_array()) return place.ErrorAt(key, "expected a list");
  if (member->size() > kMaxListLength) {
    return place.ErrorAt(key, absl::StrCat("expected at most ", kMaxListLength,
                                           " elements, got ", member->size()));
  }
  for (size_t i = 0; i < member->size(); ++i) {
    TAKT_RETURN_IF_ERROR(read(place.Element(key, i, (*member)[i])));
  }
  return absl::OkStatus();
}

// The index of the element of that name; -1: there is none.
template <typename T>
int32_t FindNamed(const std::vector<T>& list, absl::string_view name) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].name == name) return Narrow<int32_t>(i);
  }
  return -1;
}

}  // namespace takt::plan

#endif  // TAKT_PLAN_JSON_FIELDS_H_
