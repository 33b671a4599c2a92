#include "base/json.h"

#include <algorithm>
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

// Only finds out where and why a text is no JSON.
class FaultFinder final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    position_ = position;
    reason_ = error.what();
    return false;
  }

  // The byte behind the fault, from 1 on; 0: none was found.
  size_t position() const { return position_; }
  const std::string& reason() const { return reason_; }

 private:
  size_t position_ = 0;
  std::string reason_;
};

// What the parser says after its own account of the place, in printable
// characters and not longer than a line.
std::string ReasonIn(absl::string_view what) {
  constexpr size_t kMaxReason = 160;
  constexpr absl::string_view kBefore = "syntax error ";
  const size_t begin = what.find(kBefore);
  if (begin != absl::string_view::npos) {
    what.remove_prefix(begin + kBefore.size());
  }
  std::string reason(what.substr(0, kMaxReason));
  for (char& c : reason) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  if (what.size() > kMaxReason) reason += "...";
  return reason;
}

std::string DescribeFault(absl::string_view text) {
  FaultFinder finder;
  Json::sax_parse(text.begin(), text.end(), &finder);
  // The parser has read one byte further than the last good one.
  const size_t end =
      std::min(text.size(), std::max<size_t>(finder.position(), 1) - 1);
  const absl::string_view before = text.substr(0, end);
  const size_t line = 1 + static_cast<size_t>(absl::c_count(before, '\n'));
  const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0.
  return absl::StrCat("line ", line, ", column ", end - line_begin + 1, ": ",
                      ReasonIn(finder.reason()));
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
  if (root.is_discarded()) {
    return refuse(absl::StrCat("is not JSON: ", DescribeFault(text)));
  }
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
