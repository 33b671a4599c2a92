// Reads JSON of unknown origin: a document of limited depth, and its elements
// with their places, so that a message can name the place of a fault.
//
// All errors are INVALID_ARGUMENT, "<place>: <reason>".
#ifndef TAKT_BASE_JSON_H_
#define TAKT_BASE_JSON_H_

#include <initializer_list>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace takt {

// Parses a document; messages begin with `what` ("topology"). The error for
// text that is not JSON has the line and column of the first fault. Text that
// nests deeper than 16 levels is refused, so that visitors may recurse.
absl::StatusOr<nlohmann::json> ParseJson(absl::string_view text,
                                         absl::string_view what);

// An element of a document and its place. The document and the place of its
// parent outlive this object.
class JsonPlace {
 public:
  JsonPlace(const nlohmann::json& json, std::string path)
      : json_(json), path_(std::move(path)) {}

  const nlohmann::json& json() const { return json_; }
  const std::string& path() const { return path_; }

  absl::Status Error(absl::string_view reason) const;
  absl::Status ErrorAt(absl::string_view key, absl::string_view reason) const;

  // The member, unchecked; nullptr if there is none.
  const nlohmann::json* Find(absl::string_view key) const;
  // For a member of this element, or an element of such a list.
  JsonPlace Member(absl::string_view key, const nlohmann::json& json) const;
  JsonPlace Element(absl::string_view key, size_t index,
                    const nlohmann::json& json) const;

  // OK if the element is an object whose members are all in the list.
  absl::Status CheckKeys(std::initializer_list<absl::string_view> known) const;
  // The member, which must be text; `fallback` if absent.
  absl::StatusOr<std::string> Text(absl::string_view key,
                                   absl::string_view fallback) const;

 private:
  const nlohmann::json& json_;
  const std::string path_;
};

}  // namespace takt

#endif  // TAKT_BASE_JSON_H_
