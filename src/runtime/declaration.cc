#include "runtime/declaration.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/math.h"
#include "base/status.h"

namespace takt::runtime {
namespace {

// No compiler writes more; a longer text is an attempt to exhaust memory.
constexpr size_t kMaxItems = 4096;
constexpr size_t kMaxRank = 128;

absl::string_view Trim(absl::string_view text) {
  while (absl::ConsumePrefix(&text, " ")) {
  }
  while (absl::ConsumeSuffix(&text, " ")) {
  }
  return text;
}

class Reader {
 public:
  explicit Reader(absl::string_view text) : text_(text) {}

  bool AtEnd() const { return position_ == text_.size(); }

  bool Consume(absl::string_view word) {
    if (!absl::StartsWith(text_.substr(position_), word)) return false;
    position_ += word.size();
    return true;
  }

  absl::Status Expect(absl::string_view word) {
    return Consume(word) ? absl::OkStatus() : Error(word);
  }

  absl::Status Error(absl::string_view expected) const {
    return absl::InvalidArgumentError(
        absl::StrCat("declaration: expected \"", expected, "\" at position ",
                     position_, " of \"", text_, "\""));
  }

  // The text up to the first of `stops` that stands outside every bracket and
  // string. The stop is not consumed.
  absl::StatusOr<absl::string_view> UntilAny(absl::string_view stops) {
    const size_t begin = position_;
    size_t depth = 0;
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (depth == 0 && absl::StrContains(stops, c)) {
        return text_.substr(begin, position_ - begin);
      }
      if (c == '"') {
        TAKT_RETURN_IF_ERROR(SkipString());
        continue;
      }
      // An arrow's head closes nothing.
      const bool arrow =
          c == '>' && position_ > 0 && text_[position_ - 1] == '-';
      if (absl::StrContains("<({[", c)) ++depth;
      if (absl::StrContains(">)}]", c) && !arrow) {
        if (depth == 0) return Error(stops.substr(0, 1));
        --depth;
      }
      ++position_;
    }
    return Error(stops.substr(0, 1));
  }

 private:
  absl::Status SkipString() {
    for (++position_; position_ < text_.size(); ++position_) {
      if (text_[position_] == '\\') {
        ++position_;
      } else if (text_[position_] == '"') {
        ++position_;
        return absl::OkStatus();
      }
    }
    position_ = text_.size();
    return Error("\"");
  }

  const absl::string_view text_;
  size_t position_ = 0;
};

// Reads "64x" or "?x" off the front. False if there is no dimension.
bool ConsumeDimension(absl::string_view* text, int64_t* dimension) {
  absl::string_view rest = *text;
  if (absl::ConsumePrefix(&rest, "?")) {
    *dimension = Declaration::kDynamic;
  } else {
    size_t digits = 0;
    int64_t value = 0;
    while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') {
      if (!CheckedMul(value, 10, &value) ||
          !CheckedAdd(value, rest[digits] - '0', &value)) {
        return false;
      }
      ++digits;
    }
    if (digits == 0) return false;
    rest.remove_prefix(digits);
    *dimension = value;
  }
  if (!absl::ConsumePrefix(&rest, "x")) return false;
  *text = rest;
  return true;
}

// Reads the compiler's name of an element type. The tools use the same names,
// except for complex numbers.
absl::StatusOr<hal::ElementType> ParseElement(absl::string_view name) {
  if (name == "complex<f32>") name = "cf64";
  if (name == "complex<f64>") name = "cf128";
  return hal::ParseElementType(name);
}

// Sets the members of a tensor type. Other types, and tensors of elements that
// Takt has no name for, stay text.
void ParseTensor(Declaration::Item* item) {
  absl::string_view text = item->type;
  if (!absl::ConsumePrefix(&text, "tensor<") ||
      !absl::ConsumeSuffix(&text, ">")) {
    return;
  }
  std::vector<int64_t> shape;
  int64_t dimension = 0;
  while (ConsumeDimension(&text, &dimension)) shape.push_back(dimension);
  // An encoding may follow the element type.
  text = Trim(text.substr(0, text.find(',')));
  auto element = ParseElement(text);
  if (!element.ok() || shape.size() > kMaxRank) return;
  item->is_tensor = true;
  item->element_type = *element;
  item->shape = std::move(shape);
}

absl::StatusOr<Declaration::Item> ParseItem(Reader& reader) {
  Declaration::Item item;
  TAKT_RETURN_IF_ERROR(reader.Expect("%"));
  TAKT_ASSIGN_OR_RETURN(absl::string_view name, reader.UntilAny(":,"));
  item.name = std::string(Trim(name));
  TAKT_RETURN_IF_ERROR(reader.Expect(":"));
  TAKT_ASSIGN_OR_RETURN(absl::string_view type, reader.UntilAny(",){"));
  item.type = std::string(Trim(type));
  if (item.type.empty()) return reader.Error("a type");
  if (reader.Consume("{")) {
    TAKT_ASSIGN_OR_RETURN(absl::string_view attributes, reader.UntilAny("}"));
    item.attributes = std::string(Trim(attributes));
    TAKT_RETURN_IF_ERROR(reader.Expect("}"));
  }
  ParseTensor(&item);
  return item;
}

void AppendItems(const std::vector<Declaration::Item>& items,
                 std::string* out) {
  absl::StrAppend(out, "(");
  for (size_t i = 0; i < items.size(); ++i) {
    absl::StrAppend(out, i == 0 ? "" : ", ", "%", items[i].name, ": ",
                    items[i].type);
    if (!items[i].attributes.empty()) {
      absl::StrAppend(out, " {", items[i].attributes, "}");
    }
  }
  absl::StrAppend(out, ")");
}

bool SameItems(const std::vector<Declaration::Item>& a,
               const std::vector<Declaration::Item>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) {
                      return x.name == y.name && x.type == y.type &&
                             x.attributes == y.attributes;
                    });
}

absl::StatusOr<std::vector<Declaration::Item>> ParseItems(Reader& reader) {
  std::vector<Declaration::Item> items;
  TAKT_RETURN_IF_ERROR(reader.Expect("("));
  if (reader.Consume(")")) return items;
  do {
    if (items.size() == kMaxItems) return reader.Error(")");
    TAKT_ASSIGN_OR_RETURN(Declaration::Item item, ParseItem(reader));
    items.push_back(std::move(item));
  } while (reader.Consume(", "));
  TAKT_RETURN_IF_ERROR(reader.Expect(")"));
  return items;
}

}  // namespace

absl::StatusOr<Declaration> Declaration::Parse(absl::string_view text) {
  Declaration result;
  Reader reader(text);
  result.is_async = reader.Consume("async ");
  if (!result.is_async) TAKT_RETURN_IF_ERROR(reader.Expect("sync "));
  TAKT_RETURN_IF_ERROR(reader.Expect("func @"));
  TAKT_ASSIGN_OR_RETURN(absl::string_view name, reader.UntilAny("("));
  result.name = std::string(name);
  TAKT_ASSIGN_OR_RETURN(result.arguments, ParseItems(reader));
  // A function without results has nothing after its arguments, or "-> ()".
  if (!reader.AtEnd()) {
    TAKT_RETURN_IF_ERROR(reader.Expect(" -> "));
    TAKT_ASSIGN_OR_RETURN(result.results, ParseItems(reader));
  }
  if (!reader.AtEnd()) return reader.Error("the end");
  return result;
}

absl::StatusOr<std::string> Declaration::ToText() const {
  std::string text = absl::StrCat(is_async ? "async" : "sync", " func @", name);
  AppendItems(arguments, &text);
  if (!results.empty()) {
    absl::StrAppend(&text, " -> ");
    AppendItems(results, &text);
  }
  // A name or type may hold any text from a file. It must be the same when it
  // is read again.
  const absl::StatusOr<Declaration> again = Parse(text);
  if (!again.ok() || again->name != name ||
      !SameItems(again->arguments, arguments) ||
      !SameItems(again->results, results)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot be declared so that it is read again: ", text));
  }
  return text;
}

}  // namespace takt::runtime
