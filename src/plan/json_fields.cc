#include "plan/json_fields.h"

#include <cmath>
#include <utility>

namespace takt::plan {

using Json = nlohmann::json;

namespace {

// Some 11 days: beyond any schedule, and far from overflow in ns.
constexpr double kMaxSeconds = 1e6;

}  // namespace

absl::StatusOr<double> ReadReal(const JsonPlace& place, const char* key,
                                double least, double most, double fallback) {
  const Json* member = place.Find(key);
  if (member == nullptr) return fallback;
  if (!member->is_number() || !(member->get<double>() >= least) ||
      !(member->get<double>() <= most)) {
    return place.ErrorAt(
        key, absl::StrCat("expected a number from ", least, " to ", most,
                          ", got ", member->dump()));
  }
  return member->get<double>();
}

absl::StatusOr<int64_t> ReadTime(const JsonPlace& place,
                                 const std::string& name, int64_t fallback_ns) {
  const std::pair<const char*, double> units[] = {
      {"_us", 1e3}, {"_ms", 1e6}, {"_s", 1e9}};
  for (const auto& [suffix, unit_ns] : units) {
    const std::string key = name + suffix;
    if (place.Find(key) == nullptr) continue;
    TAKT_ASSIGN_OR_RETURN(
        const double value,
        ReadReal(place, key.c_str(), 0, kMaxSeconds * 1e9 / unit_ns, 0));
    return std::llround(value * unit_ns);
  }
  return fallback_ns;
}

absl::StatusOr<bool> ReadBool(const JsonPlace& place, const char* key) {
  const Json* member = place.Find(key);
  if (member == nullptr) return false;
  if (!member->is_boolean()) {
    return place.ErrorAt(key, "expected true or false");
  }
  return member->get<bool>();
}

absl::StatusOr<uint32_t> ReadChoice(
    const JsonPlace& place, const char* key,
    std::initializer_list<const char*> choices) {
  TAKT_ASSIGN_OR_RETURN(const std::string text,
                        place.Text(key, *choices.begin()));
  uint32_t index = 0;
  std::string list;
  for (const char* choice : choices) {
    if (text == choice) return index;
    absl::StrAppend(&list, index++ > 0 ? ", " : "", choice);
  }
  return place.ErrorAt(
      key, absl::StrCat("expected one of ", list, ", got \"", text, "\""));
}

absl::StatusOr<std::vector<std::string>> ReadTexts(const JsonPlace& place,
                                                   const char* key) {
  std::vector<std::string> texts;
  TAKT_RETURN_IF_ERROR(ForEachElement(place, key, [&](const JsonPlace& p) {
    if (!p.json().is_string()) return p.Error("expected text");
    texts.push_back(p.json().get<std::string>());
    return absl::OkStatus();
  }));
  return texts;
}

}  // namespace takt::plan
