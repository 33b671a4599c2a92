#include "base/json.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

namespace takt {
namespace {

using Json = nlohmann::json;

bool IsShallow(absl::string_view text) {
  constexpr int kDepthMax = 16;
  int depth = 0;
  bool is_in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string) {
      if (c == '\\') ++i;
      if (c == '"') is_in_string = false;
      continue;
    }
    if (c == '"') is_in_string = true;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kDepthMax) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Json> ParseJson(absl::string_view text, absl::string_view what) {
  const auto refuse = [what](absl::string_view reason) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": document: ", reason));
  };
  if (!IsShallow(text)) return refuse("nested too deep");
  Json root = Json::parse(text.begin(), text.end(), nullptr,
                          /*allow_exceptions=*/false);
  if (root.is_discarded()) return refuse("is not JSON");
  return root;
}

absl::Status JsonPlace::Error(absl::string_view reason) const {
  return absl::InvalidArgumentError(absl::StrCat(path_, ": ", reason));
}

absl::Status JsonPlace::ErrorAt(absl::string_view key,
                                absl::string_view reason) const {
  return absl::InvalidArgumentError(
      absl::StrCat(path_, ".", key, ": ", reason));
}

const Json* JsonPlace::Find(absl::string_view key) const {
  if (!json_.is_object()) return nullptr;
  const auto found = json_.find(std::string(key));
  return found == json_.end() ? nullptr : &*found;
}

JsonPlace JsonPlace::Member(absl::string_view key, const Json& json) const {
  return JsonPlace(json, absl::StrCat(path_, ".", key));
}

JsonPlace JsonPlace::Element(absl::string_view key, size_t index,
                             const Json& json) const {
  return JsonPlace(json, absl::StrCat(path_, ".", key, "[", index, "]"));
}

absl::Status JsonPlace::CheckKeys(
    std::initializer_list<absl::string_view> known) const {
  if (!json_.is_object()) return Error("expected an object");
  for (const auto& [key, value] : json_.items()) {
    if (!absl::c_linear_search(known, absl::string_view(key))) {
      return Error(absl::StrCat("unknown member \"", key, "\""));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> JsonPlace::Text(absl::string_view key,
                                            absl::string_view fallback) const {
  const Json* const member = Find(key);
  if (member == nullptr) return std::string(fallback);
  if (!member->is_string()) {
    return ErrorAt(key, absl::StrCat("expected text, got ", member->dump()));
  }
  return member->get<std::string>();
}

}  // namespace takt
