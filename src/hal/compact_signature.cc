#include "hal/compact_signature.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/math.h"
#include "base/status.h"

namespace takt::hal {
namespace {

// Position in the array is the number behind the letter t.
constexpr std::array<ElementType, 12> kTypes = {
    MakeElementType(NumericalKind::kFloatIeee, 32),
    MakeElementType(NumericalKind::kFloatIeee, 16),
    MakeElementType(NumericalKind::kFloatIeee, 64),
    MakeElementType(NumericalKind::kBFloat, 16),
    MakeElementType(NumericalKind::kSignedInteger, 8),
    MakeElementType(NumericalKind::kSignedInteger, 16),
    MakeElementType(NumericalKind::kSignedInteger, 32),
    MakeElementType(NumericalKind::kSignedInteger, 64),
    MakeElementType(NumericalKind::kUnsignedInteger, 8),
    MakeElementType(NumericalKind::kUnsignedInteger, 16),
    MakeElementType(NumericalKind::kUnsignedInteger, 32),
    MakeElementType(NumericalKind::kUnsignedInteger, 64),
};

// A range of the text that is being read.
class Reader {
 public:
  Reader(absl::string_view text, size_t position, size_t end)
      : text_(text), position_(position), end_(end) {}

  bool at_end() const { return position_ == end_; }
  bool NextIs(char c) const { return !at_end() && text_[position_] == c; }
  absl::string_view rest() const {
    return text_.substr(position_, end_ - position_);
  }

  absl::Status Error(absl::string_view reason) const {
    return absl::InvalidArgumentError(absl::StrCat(
        "signature \"", text_, "\": position ", position_, ": ", reason));
  }

  absl::StatusOr<char> Letter() {
    if (at_end()) return Error("expected a letter, found the end");
    return text_[position_++];
  }

  absl::StatusOr<int64_t> Number() {
    const bool negative = NextIs('-');
    const size_t start = position_;
    if (negative) ++position_;
    if (at_end() || !IsDigit(text_[position_])) {
      position_ = start;
      return Error("expected a number");
    }
    int64_t value = 0;
    for (; !at_end() && IsDigit(text_[position_]); ++position_) {
      if (!CheckedMul(value, 10, &value) ||
          !CheckedAdd(value, text_[position_] - '0', &value)) {
        position_ = start;
        return Error("the number overflows");
      }
    }
    return negative ? -value : value;
  }

  // Reads "length!" and returns a reader of the bytes it spans.
  absl::StatusOr<Reader> Contents() {
    const size_t start = position_;
    if (at_end() || !IsDigit(text_[position_])) {
      return Error("expected a length");
    }
    TAKT_ASSIGN_OR_RETURN(const int64_t length, Number());
    if (!NextIs('!')) return Error("expected '!' after the length");
    const uint64_t left = end_ - position_;
    if (length < 1 || static_cast<uint64_t>(length) > left) {
      position_ = start;
      return Error(absl::StrCat("length ", length, ", but ", left,
                                " bytes are left from the '!' on"));
    }
    Reader contents(text_, position_ + 1, position_ + length);
    position_ += static_cast<size_t>(length);
    return contents;
  }

 private:
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

  absl::string_view text_;
  size_t position_;
  size_t end_;
};

absl::Status ParseElementType(Reader& reader, SignatureItem* item) {
  if (!reader.NextIs('t')) return absl::OkStatus();
  const Reader before = reader;
  TAKT_RETURN_IF_ERROR(reader.Letter().status());
  TAKT_ASSIGN_OR_RETURN(const int64_t number, reader.Number());
  if (number < 0 || number >= static_cast<int64_t>(kTypes.size())) {
    return before.Error(absl::StrCat("unknown element type ", number));
  }
  item->element_type = kTypes[static_cast<size_t>(number)];
  return absl::OkStatus();
}

absl::Status ParseShape(Reader& reader, SignatureItem* item) {
  while (reader.NextIs('d')) {
    const Reader before = reader;
    TAKT_RETURN_IF_ERROR(reader.Letter().status());
    TAKT_ASSIGN_OR_RETURN(const int64_t dimension, reader.Number());
    if (dimension < SignatureItem::kDynamic) {
      return before.Error(absl::StrCat("dimension ", dimension));
    }
    item->shape.push_back(dimension);
  }
  return absl::OkStatus();
}

absl::StatusOr<SignatureItem> ParseItem(Reader& reader) {
  using Kind = SignatureItem::Kind;
  const Reader before = reader;
  TAKT_ASSIGN_OR_RETURN(const char letter, reader.Letter());
  if (absl::string_view("BSOU").find(letter) == absl::string_view::npos) {
    return before.Error(
        absl::StrCat("unknown letter '", absl::string_view(&letter, 1), "'"));
  }
  SignatureItem item;
  item.kind = static_cast<Kind>(letter);
  TAKT_ASSIGN_OR_RETURN(Reader contents, reader.Contents());
  if (item.kind == Kind::kUnrecognized) {
    item.content = std::string(contents.rest());
    return item;
  }
  if (item.kind != Kind::kObject) {
    TAKT_RETURN_IF_ERROR(ParseElementType(contents, &item));
  }
  if (item.kind == Kind::kBuffer) {
    TAKT_RETURN_IF_ERROR(ParseShape(contents, &item));
  }
  if (!contents.at_end()) return contents.Error("unexpected content");
  return item;
}

absl::StatusOr<std::vector<SignatureItem>> ParseSection(Reader& reader,
                                                        char letter) {
  if (!reader.NextIs(letter)) {
    return reader.Error(
        absl::StrCat("expected section '", absl::string_view(&letter, 1), "'"));
  }
  TAKT_RETURN_IF_ERROR(reader.Letter().status());
  TAKT_ASSIGN_OR_RETURN(Reader contents, reader.Contents());
  std::vector<SignatureItem> items;
  while (!contents.at_end()) {
    TAKT_ASSIGN_OR_RETURN(SignatureItem item, ParseItem(contents));
    items.push_back(std::move(item));
  }
  return items;
}

void AppendWithLength(char letter, absl::string_view content,
                      std::string* out) {
  absl::StrAppend(out, absl::string_view(&letter, 1), content.size() + 1, "!",
                  content);
}

absl::StatusOr<std::string> ContentOf(const SignatureItem& item) {
  using Kind = SignatureItem::Kind;
  if (item.kind == Kind::kUnrecognized) return item.content;
  std::string content;
  if (item.kind == Kind::kObject) return content;
  const auto type = std::find(kTypes.begin(), kTypes.end(), item.element_type);
  if (type == kTypes.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("a compact signature cannot name the element type ",
                     ElementTypeName(item.element_type)));
  }
  if (type != kTypes.begin()) {
    absl::StrAppend(&content, "t", type - kTypes.begin());
  }
  if (item.kind == Kind::kBuffer) {
    for (const int64_t dimension : item.shape) {
      absl::StrAppend(&content, "d", dimension);
    }
  }
  return content;
}

absl::Status AppendSection(char letter, const std::vector<SignatureItem>& items,
                           std::string* out) {
  std::string contents;
  for (const SignatureItem& item : items) {
    TAKT_ASSIGN_OR_RETURN(const std::string content, ContentOf(item));
    AppendWithLength(static_cast<char>(item.kind), content, &contents);
  }
  AppendWithLength(letter, contents, out);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CompactSignature> CompactSignature::Parse(
    absl::string_view text) {
  Reader reader(text, 0, text.size());
  CompactSignature signature;
  TAKT_ASSIGN_OR_RETURN(signature.arguments, ParseSection(reader, 'I'));
  TAKT_ASSIGN_OR_RETURN(signature.results, ParseSection(reader, 'R'));
  if (!reader.at_end()) return reader.Error("bytes after the last section");
  return signature;
}

absl::StatusOr<std::string> CompactSignature::ToText() const {
  std::string text;
  TAKT_RETURN_IF_ERROR(AppendSection('I', arguments, &text));
  TAKT_RETURN_IF_ERROR(AppendSection('R', results, &text));
  return text;
}

}  // namespace takt::hal
