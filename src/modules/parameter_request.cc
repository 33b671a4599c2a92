#include "modules/parameter_request.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/math.h"
#include "base/narrow.h"
#include "base/status.h"
#include "base/unaligned.h"

namespace takt::modules {
namespace {

constexpr size_t kKeyRowBytes = 8;
constexpr size_t kSpanRowBytes = 24;
// How many names a message lists.
constexpr size_t kListedNames = 16;

std::string ListOf(std::vector<std::string> names) {
  if (names.empty()) return "there are none";
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const size_t shown = std::min(names.size(), kListedNames);
  std::string text = absl::StrCat(
      "known are '",
      absl::StrJoin(names.begin(), names.begin() + Narrow<ptrdiff_t>(shown),
                    "', '"),
      "'");
  if (shown < names.size()) {
    absl::StrAppend(&text, " and ", names.size() - shown, " more");
  }
  return text;
}

absl::StatusOr<const Parameter*> FindParameter(
    absl::Span<const ParameterScope> scopes, absl::string_view scope,
    absl::string_view key) {
  bool scope_known = false;
  for (const ParameterScope& candidate : scopes) {
    if (candidate.name != scope) continue;
    scope_known = true;
    if (const Parameter* parameter = candidate.provider->Find(key)) {
      return parameter;
    }
  }
  std::vector<std::string> names;
  for (const ParameterScope& candidate : scopes) {
    if (!scope_known) {
      names.push_back(candidate.name);
    } else if (candidate.name == scope) {
      std::vector<std::string> keys = candidate.provider->keys();
      names.insert(names.end(), keys.begin(), keys.end());
    }
  }
  return absl::NotFoundError(
      scope_known
          ? absl::StrCat("parameter '", scope, "::", key, "': ", ListOf(names))
          : absl::StrCat("parameter scope '", scope, "': ", ListOf(names)));
}

template <typename T>
T Load(const vm::ByteBuffer& table, size_t offset) {
  return LoadUnaligned<T>(table.data() + offset);
}

absl::StatusOr<absl::string_view> KeyOf(const ParameterTables& tables,
                                        size_t row) {
  const uint32_t offset = Load<uint32_t>(tables.keys, row * kKeyRowBytes);
  const uint32_t length = Load<uint32_t>(tables.keys, row * kKeyRowBytes + 4);
  if (!RangeFits(offset, length, tables.key_data.byte_length())) {
    return absl::OutOfRangeError(absl::StrFormat(
        "key %d: %d bytes at %d are not within the key data of %d", row, length,
        offset, tables.key_data.byte_length()));
  }
  return tables.key_data.text().substr(offset, length);
}

// The number of rows, equal in both tables.
absl::StatusOr<size_t> RowCount(const ParameterTables& tables) {
  const size_t rows = tables.keys.byte_length() / kKeyRowBytes;
  if (tables.keys.byte_length() % kKeyRowBytes != 0 ||
      tables.spans.byte_length() % kSpanRowBytes != 0 ||
      tables.spans.byte_length() / kSpanRowBytes != rows) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "expected rows of %d bytes of keys and as many of %d bytes of spans, "
        "got %d and %d bytes",
        kKeyRowBytes, kSpanRowBytes, tables.keys.byte_length(),
        tables.spans.byte_length()));
  }
  return rows;
}

}  // namespace

absl::StatusOr<std::vector<ParameterRequest>> ResolveParameters(
    absl::Span<const ParameterScope> scopes, absl::string_view scope,
    const ParameterTables& tables) {
  TAKT_ASSIGN_OR_RETURN(const size_t rows, RowCount(tables));
  std::vector<ParameterRequest> requests(rows);
  for (size_t row = 0; row < rows; ++row) {
    ParameterRequest& request = requests[row];
    TAKT_ASSIGN_OR_RETURN(const absl::string_view key, KeyOf(tables, row));
    TAKT_ASSIGN_OR_RETURN(request.parameter, FindParameter(scopes, scope, key));
    if (request.parameter->kind == Parameter::Kind::kExternal) {
      return absl::UnimplementedError(absl::StrCat(
          "parameter '", scope, "::", key,
          "': an external entry, which is in another file, is not supported"));
    }
    const size_t span = row * kSpanRowBytes;
    request.parameter_offset = Load<uint64_t>(tables.spans, span);
    request.buffer_offset = Load<uint64_t>(tables.spans, span + 8);
    request.length = Load<uint64_t>(tables.spans, span + 16);
    if (!RangeFits(request.parameter_offset, request.length,
                   request.parameter->byte_length)) {
      return absl::OutOfRangeError(absl::StrFormat(
          "parameter '%s::%s': %d bytes at %d are not within its %d bytes",
          scope, key, request.length, request.parameter_offset,
          request.parameter->byte_length));
    }
  }
  return requests;
}

}  // namespace takt::modules
