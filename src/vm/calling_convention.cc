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

absl::string_view NameOf(Letter letter) {
  switch (letter) {
    case Letter::kI32:
      return "i32";
    case Letter::kI64:
      return "i64";
    case Letter::kF32:
      return "f32";
    case Letter::kF64:
      return "f64";
    case Letter::kRef:
      break;
  }
  return "ref";
}

// "(ref, i32)".
template <typename Letters>
std::string ListOf(const Letters& letters) {
  constexpr size_t kMaxNamed = 32;
  std::string list = "(";
  for (size_t i = 0; i < letters.size(); ++i) {
    absl::StrAppend(&list, i == 0 ? "" : ", ");
    if (i == kMaxNamed) {
      absl::StrAppend(&list, letters.size() - i, " more");
      break;
    }
    absl::StrAppend(&list, NameOf(letters[i]));
  }
  return list + ")";
}

}  // namespace

std::string CallingConvention::Describe() const {
  constexpr size_t kMaxQuoted = 80;
  std::string list = "(";
  std::vector<Letter> plain;  // Arguments between two tuples.
  const auto flush = [&] {
    if (plain.empty()) return;
    const std::string names = ListOf(plain);
    absl::StrAppend(&list, list.size() == 1 ? "" : ", ",
                    absl::string_view(names).substr(1, names.size() - 2));
    plain.clear();
  };
  for (const Argument& argument : arguments) {
    if (!argument.is_span) {
      plain.push_back(argument.letters[0]);
      continue;
    }
    flush();
    absl::StrAppend(&list, list.size() == 1 ? "" : ", ",
                    ListOf(argument.letters), "...");
    if (list.size() > 16 * kMaxQuoted) break;
  }
  flush();
  return absl::StrCat(list, ") -> ", ListOf(results), " [",
                      absl::CHexEscape(text.substr(0, kMaxQuoted)),
                      text.size() > kMaxQuoted ? "..." : "", "]");
}

absl::StatusOr<CallingConvention> CallingConvention::Parse(
    absl::string_view text) {
  return Parser(text).Parse();
}

bool CallingConvention::has_spans() const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const Argument& argument) { return argument.is_span; });
}

}  // namespace takt::vm
