#include "tools/common/npy.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "tools/common/element.h"
#include "tools/common/number.h"

namespace takt::tools {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;
constexpr size_t kRankMax = 128;

// The dict literal of a header.
struct Header {
  std::string_view descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;
};

// Reads the part of Python's grammar that numpy writes headers in.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  Result<Header> Parse() {
    Header header;
    if (!Take('{')) return Fault("expected {");
    while (!Take('}')) {
      TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string_view key, ParseText());
      if (!Take(':')) return Fault("expected : after a key");
      TAKT_TOOLS_RETURN_IF_ERROR(ParseEntry(key, &header));
      if (!Take(',') && !Peek('}')) return Fault("expected , or }");
    }
    SkipSpace();
    if (!rest_.empty()) return Fault("more after }");
    if (header.descr.empty() || !header.fortran_order || !header.shape) {
      return Fault("descr, fortran_order or shape is missing");
    }
    return header;
  }

 private:
  Status ParseEntry(std::string_view key, Header* header) {
    if (key == "descr") {
      if (Peek('[')) {
        return Status(TAKT_STATUS_UNIMPLEMENTED,
                      "npy header: arrays of records are not supported");
      }
      TAKT_TOOLS_ASSIGN_OR_RETURN(header->descr, ParseText());
      if (header->descr.empty()) return Fault("descr is empty");
    } else if (key == "fortran_order") {
      if (!TakeWord("True") && !TakeWord("False")) {
        return Fault("fortran_order is neither True nor False");
      }
      header->fortran_order = word_ == "True";
    } else if (key == "shape") {
      TAKT_TOOLS_ASSIGN_OR_RETURN(header->shape, ParseShape());
    } else {
      return Fault("key `" + std::string(key) + "` is unknown");
    }
    return Status();
  }

  Result<std::string_view> ParseText() {
    const char quote = Peek('"') ? '"' : '\'';
    if (!Take(quote)) return Fault("expected a text in quotes");
    const size_t length = rest_.find(quote);
    if (length == std::string_view::npos) return Fault("a text does not end");
    const std::string_view text = rest_.substr(0, length);
    rest_.remove_prefix(length + 1);
    return text;
  }

  Result<std::vector<int64_t>> ParseShape() {
    std::vector<int64_t> shape;
    if (!Take('(')) return Fault("shape is no tuple");
    while (!Take(')')) {
      SkipSpace();
      const size_t length =
          std::min(rest_.find_first_not_of("0123456789"), rest_.size());
      const Result<int64_t> dimension = ParseDecimal(rest_.substr(0, length));
      if (!dimension.ok()) return Fault("shape has a dimension of no size");
      rest_.remove_prefix(length);
      if (shape.size() == kRankMax) return Fault("shape is too long");
      shape.push_back(*dimension);
      if (!Take(',') && !Peek(')')) return Fault("expected , or )");
    }
    return shape;
  }

  static Result<int64_t> ParseDecimal(std::string_view digits) {
    if (digits.size() > 1 && digits[0] == '0') return InvalidArgument("octal");
    return ParseInteger(digits);
  }

  void SkipSpace() {
    rest_.remove_prefix(
        std::min(rest_.find_first_not_of(" \t\n"), rest_.size()));
  }
  bool Peek(char c) {
    SkipSpace();
    return rest_.starts_with(c);
  }
  bool Take(char c) {
    if (!Peek(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool TakeWord(std::string_view word) {
    SkipSpace();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    word_ = word;
    return true;
  }
  static Status Fault(const std::string& what) {
    return InvalidArgument("npy header: " + what);
  }

  std::string_view rest_;
  std::string_view word_;  // The last that TakeWord() took.
};

Status Unsupported(const std::string& what) {
  return Status(TAKT_STATUS_UNIMPLEMENTED, "npy: " + what);
}

struct KindCode {
  char code;
  takt_numerical_kind_t kind;
  std::string_view widths;  // Bytes that numpy has it in, as digits; g is 16.
};
constexpr KindCode kKinds[] = {
    {'b', TAKT_NUMERICAL_BOOLEAN, "1"},
    {'i', TAKT_NUMERICAL_SIGNED_INTEGER, "1248"},
    {'u', TAKT_NUMERICAL_UNSIGNED_INTEGER, "1248"},
    {'f', TAKT_NUMERICAL_FLOAT_IEEE, "248g"},
    {'c', TAKT_NUMERICAL_COMPLEX, "8g"},
    {'V', TAKT_NUMERICAL_OPAQUE, "1248"},
};

// Whether `widths` of a kind has that many bytes.
bool HasWidth(const KindCode& kind, uint64_t bytes) {
  const char digit = bytes == 16 ? 'g' : static_cast<char>('0' + bytes % 10);
  return (bytes < 10 || bytes == 16) &&
         kind.widths.find(digit) != std::string_view::npos;
}

// "<f4": byte order, kind, bytes.
Result<takt_element_type_t> ParseDescr(std::string_view descr) {
  const std::string quoted = "dtype '" + std::string(descr) + "'";
  if (descr.size() < 3) return Unsupported(quoted + " is not supported");
  const Result<uint64_t> bytes = ParseUnsigned(descr.substr(2));
  const KindCode* const end = std::end(kKinds);
  const KindCode* const kind = std::find_if(
      kKinds, end, [&](const KindCode& k) { return k.code == descr[1]; });
  if (!bytes.ok() || kind == end || !HasWidth(*kind, *bytes) ||
      std::string_view("<>|=").find(descr[0]) == std::string_view::npos) {
    return Unsupported(quoted + " is not supported");
  }
  if (descr[0] == '>' && *bytes > 1) {
    return Unsupported(quoted + ": big-endian elements are not supported");
  }
  return static_cast<takt_element_type_t>(kind->kind << 24 | *bytes * 8);
}

// numpy has one kind of signed integers, and booleans are 'b'.
Result<std::string> FormatDescr(takt_element_type_t type) {
  takt_numerical_kind_t kind = takt_element_type_kind(type);
  if (kind == TAKT_NUMERICAL_INTEGER) kind = TAKT_NUMERICAL_SIGNED_INTEGER;
  const size_t bits = takt_element_type_bit_count(type);
  for (const KindCode& known : kKinds) {
    if (known.kind != kind || bits % 8 != 0 || !HasWidth(known, bits / 8)) {
      continue;
    }
    return std::string(1, bits == 8 ? '|' : '<') + known.code +
           std::to_string(bits / 8);
  }
  return Unsupported("numpy has no dtype for " + TypeText(type));
}

// Column-major order is row-major order if at most one dimension matters.
bool OrderMatters(std::span<const int64_t> shape) {
  size_t long_dimension_count = 0;
  for (const int64_t dimension : shape) {
    if (dimension == 0) return false;
    if (dimension > 1) ++long_dimension_count;
  }
  return long_dimension_count > 1;
}

uint64_t LoadLittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<uint8_t>(bytes[i - 1]);
  }
  return value;
}

Status EndsEarly(const std::string& where) {
  return Status(TAKT_STATUS_OUT_OF_RANGE, "npy: the file ends " + where);
}

// Takes magic, version and length off `bytes` and returns the header's text.
Result<std::string_view> TakeHeader(std::string_view* bytes) {
  if (bytes->empty()) return EndsEarly("before another array");
  const size_t prefix = std::min(bytes->size(), kMagic.size());
  if (bytes->substr(0, prefix) != kMagic.substr(0, prefix)) {
    return InvalidArgument("npy: this is no .npy file");
  }
  if (bytes->size() < kMagic.size() + 4) return EndsEarly("in the header");
  const int major = static_cast<uint8_t>((*bytes)[6]);
  const int minor = static_cast<uint8_t>((*bytes)[7]);
  if (major < 1 || major > 3 || minor != 0) {
    return Unsupported("version " + std::to_string(major) + "." +
                       std::to_string(minor) +
                       "; supported are 1.0, 2.0 and 3.0");
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  bytes->remove_prefix(kMagic.size() + 2);
  if (bytes->size() < length_bytes) return EndsEarly("in the header");
  const uint64_t length = LoadLittleEndian(bytes->substr(0, length_bytes));
  bytes->remove_prefix(length_bytes);
  if (length > bytes->size()) return EndsEarly("in the header");
  const std::string_view header = bytes->substr(0, length);
  bytes->remove_prefix(length);
  return header;
}

}  // namespace

bool IsNpy(std::string_view bytes) { return bytes.starts_with(kMagic); }

Result<NpyArray> ParseNpy(std::string_view bytes, size_t* out_byte_length) {
  std::string_view rest = bytes;
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string_view text, TakeHeader(&rest));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Header header, HeaderParser(text).Parse());
  TAKT_TOOLS_ASSIGN_OR_RETURN(const takt_element_type_t type,
                              ParseDescr(header.descr));
  if (*header.fortran_order && OrderMatters(*header.shape)) {
    return Unsupported(
        "column-major elements (fortran_order) are not supported");
  }
  size_t byte_length = 0;
  TAKT_TOOLS_RETURN_IF_ERROR(Status(takt_element_type_dense_byte_length(
      type, header.shape->size(), header.shape->data(), &byte_length)));
  if (byte_length > rest.size()) {
    return EndsEarly("within the elements: " + std::to_string(byte_length) +
                     " bytes expected, " + std::to_string(rest.size()) +
                     " left");
  }
  *out_byte_length = bytes.size() - rest.size() + byte_length;
  return NpyArray{type, *header.shape, rest.substr(0, byte_length)};
}

Result<NpyArray> ReadNpy(InputFiles::Cursor* cursor) {
  size_t byte_length = 0;
  TAKT_TOOLS_ASSIGN_OR_RETURN(NpyArray array,
                              ParseNpy(cursor->rest(), &byte_length));
  cursor->offset += byte_length;
  return array;
}

Result<std::string> FormatNpy(takt_element_type_t element_type,
                              std::span<const int64_t> shape,
                              std::string_view data) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string descr,
                              FormatDescr(element_type));
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); ++i) {
    header += std::to_string(shape[i]);
    if (i + 1 < shape.size()) header += ", ";
  }
  // One dimension has a comma behind it, to be a tuple.
  header += shape.size() == 1 ? ",), }" : "), }";
  const size_t prefix = kMagic.size() + 4;
  const size_t unpadded = prefix + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  if (header.size() > 0xffff) return Unsupported("the shape is too long");
  std::string file(kMagic);
  file += {1, 0, static_cast<char>(header.size() & 0xff),
           static_cast<char>(header.size() >> 8)};
  file += header;
  file += data;
  return file;
}

}  // namespace takt::tools
