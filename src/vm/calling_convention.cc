#include "vm/calling_convention.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace takt::vm {
namespace {

bool IsLetter(char c) {
  return c == 'i' || c == 'I' || c == 'f' || c == 'F' || c == 'r';
}

// Reads one text from left to right.
class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text) {}

  absl::StatusOr<CallingConvention> Parse() {
    CallingConvention out;
    out.text = std::string(text_);
    if (text_.empty()) return out;
    if (text_[0] != '0') {
      return absl::UnimplementedError(
          absl::StrCat(Quoted(), ": version 0 expected at position 0, found '",
                       absl::CHexEscape(text_.substr(0, 1)), "'"));
    }
    position_ = 1;
    TAKT_RETURN_IF_ERROR(ParseArguments(&out));
    if (Take('_')) TAKT_RETURN_IF_ERROR(ParseResults(&out));
    if (!AtEnd()) return Unexpected("a kind of value or the end");
    return out;
  }

 private:
  bool AtEnd() const { return position_ == text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[position_]; }
  bool Take(char c) {
    if (AtEnd() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  absl::Status ParseArguments(CallingConvention* out) {
    if (Take('v')) return absl::OkStatus();
    while (IsLetter(Peek()) || Peek() == 'C') {
      CallingConvention::Argument& argument = out->arguments.emplace_back();
      if (Take('C')) {
        argument.is_span = true;
        while (IsLetter(Peek())) argument.letters.push_back(TakeLetter());
        if (argument.letters.empty()) return Unexpected("a kind of value");
        if (!Take('D')) return Unexpected("'D'");
      } else {
        argument.letters.push_back(TakeLetter());
      }
    }
    return absl::OkStatus();
  }

  absl::Status ParseResults(CallingConvention* out) {
    if (Take('v')) return absl::OkStatus();
    while (IsLetter(Peek())) out->results.push_back(TakeLetter());
    return absl::OkStatus();
  }

  Letter TakeLetter() { return static_cast<Letter>(text_[position_++]); }

  std::string Quoted() const {
    constexpr size_t kMaxQuoted = 80;
    return absl::StrCat("calling convention \"",
                        absl::CHexEscape(text_.substr(0, kMaxQuoted)),
                        text_.size() > kMaxQuoted ? "..." : "", "\"");
  }
  absl::Status Unexpected(absl::string_view expected) const {
    const std::string found =
        AtEnd() ? "the end"
                : absl::StrCat(
                      "'", absl::CHexEscape(text_.substr(position_, 1)), "'");
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(), ": expected ", expected, " at position ",
                     position_, ", found ", found));
  }

  const absl::string_view text_;
  size_t position_ = 0;
};

}  // namespace

absl::StatusOr<CallingConvention> CallingConvention::Parse(
    absl::string_view text) {
  return Parser(text).Parse();
}

bool CallingConvention::has_spans() const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Argument& argument) { return argument.is_span; });
}

}  // namespace takt::vm
