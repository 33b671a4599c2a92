#include "modules/parameter_index.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "base/math.h"
#include "base/status.h"

namespace takt::modules {
namespace {

absl::Status CheckParameter(const Parameter& parameter) {
  switch (parameter.kind) {
    case Parameter::Kind::kData:
      if (parameter.file == nullptr ||
          !RangeFits(parameter.file_offset, parameter.byte_length,
                     parameter.file->byte_length())) {
        return absl::OutOfRangeError(absl::StrFormat(
            "parameter '%s': %d bytes at offset %d are not within the %d bytes "
            "of its file",
            parameter.key, parameter.byte_length, parameter.file_offset,
            parameter.file == nullptr ? 0 : parameter.file->byte_length()));
      }
      return absl::OkStatus();
    case Parameter::Kind::kSplat:
      if (parameter.pattern_bytes < 1 ||
          parameter.pattern_bytes > Parameter::kMaxPatternBytes) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "parameter '%s': expected a pattern of 1 to %d bytes, got %d",
            parameter.key, Parameter::kMaxPatternBytes,
            parameter.pattern_bytes));
      }
      return absl::OkStatus();
    case Parameter::Kind::kExternal:
      return absl::OkStatus();
  }
  return absl::InternalError("unknown kind of parameter");
}

}  // namespace

absl::Status ParameterIndex::Add(Parameter parameter) {
  TAKT_RETURN_IF_ERROR(CheckParameter(parameter));
  if (by_key_.contains(parameter.key)) {
    return absl::AlreadyExistsError(
        absl::StrCat("parameter '", parameter.key, "' is there twice"));
  }
  parameters_.push_back(std::move(parameter));
  by_key_.emplace(parameters_.back().key, &parameters_.back());
  return absl::OkStatus();
}

const Parameter* ParameterIndex::Find(absl::string_view key) const {
  auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second;
}

std::vector<std::string> ParameterIndex::keys() const {
  std::vector<std::string> keys;
  keys.reserve(parameters_.size());
  for (const Parameter& parameter : parameters_) keys.push_back(parameter.key);
  return keys;
}

}  // namespace takt::modules
