#include "base/nearest_names.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace takt {
namespace {

constexpr size_t kMaxListed = 8;
// Bounds on the work and on the message; names come from files.
constexpr size_t kMaxCompared = 1024;
constexpr size_t kMaxLength = 80;

// Insertions, deletions, replacements, and swaps of neighbours that turn `a`
// into `b` (the optimal string alignment distance).
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> two_above(b.size() + 1);
  std::vector<size_t> above(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    two_above.swap(above);
    above.swap(row);
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min(
          {above[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, above[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) {
        row[j + 1] = std::min(row[j + 1], two_above[j - 1] + 1);
      }
    }
  }
  return row.back();
}

// Twice the distance, so that a name that contains the other can stand between
// two distances.
size_t Distance(absl::string_view wanted, absl::string_view name) {
  const std::string a = absl::AsciiStrToLower(wanted.substr(0, kMaxLength));
  const std::string b = absl::AsciiStrToLower(name.substr(0, kMaxLength));
  const size_t distance = 2 * EditDistance(a, b);
  const bool contains = !a.empty() && absl::StrContains(b, a);
  return contains ? std::min<size_t>(distance, 3) : distance;
}

size_t DistanceOfParts(absl::string_view wanted, absl::string_view name) {
  const size_t whole = Distance(wanted, name);
  const size_t dot = name.rfind('.');
  if (dot == absl::string_view::npos) return whole;
  const size_t wanted_dot = wanted.rfind('.');
  const absl::string_view last = wanted_dot == absl::string_view::npos
                                     ? wanted
                                     : wanted.substr(wanted_dot + 1);
  return std::min(whole, Distance(last, name.substr(dot + 1)) + 1);
}

}  // namespace

std::string NearestNames(const std::vector<std::string>& names,
                         absl::string_view wanted, absl::string_view what) {
  if (names.empty()) return absl::StrCat("there are no ", what);
  const size_t compared = std::min(names.size(), kMaxCompared);
  std::vector<std::pair<size_t, size_t>> order;  // Distance, index.
  for (size_t i = 0; i < compared; ++i) {
    order.emplace_back(DistanceOfParts(wanted, names[i]), i);
  }
  const size_t listed = std::min(compared, kMaxListed);
  std::partial_sort(order.begin(),
                    order.begin() + static_cast<std::ptrdiff_t>(listed),
                    order.end());
  std::string text =
      names.size() <= kMaxListed
          ? "there are "
          : absl::StrCat("the nearest of ", names.size(), " ", what, " are ");
  for (size_t i = 0; i < listed; ++i) {
    const absl::string_view name = names[order[i].second];
    absl::StrAppend(&text, i == 0 ? "" : ", ", name.substr(0, kMaxLength),
                    name.size() > kMaxLength ? "..." : "");
  }
  return text;
}

}  // namespace takt
