#include "tools/common/input.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "tools/common/element.h"
#include "tools/common/npy.h"
#include "tools/common/number.h"

namespace takt::tools {
namespace {

constexpr size_t kRankMax = 128;

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

Status NoTensor(std::string_view text, const std::string& why) {
  return InvalidArgument("`" + std::string(text) +
                         "` is no SHAPExTYPE: " + why);
}

// "2x3xf32". Dimensions come first and are decimal; a type starts with
// something else.
Status ParseTensorType(std::string_view text, TensorText* tensor) {
  std::string_view rest = text;
  if (rest.starts_with('x')) rest.remove_prefix(1);  // "xf32" has rank 0.
  while (!rest.empty() && IsDigit(rest.front())) {
    size_t length = std::min(rest.find_first_of("xX"), rest.size());
    const std::string_view digits = rest.substr(0, length);
    if (!std::all_of(digits.begin(), digits.end(), IsDigit)) {
      return NoTensor(text, "a dimension is no number");
    }
    // No octal: 08 is 8.
    const size_t first = std::min(digits.find_first_not_of('0'), length - 1);
    const Result<int64_t> dimension = ParseInteger(digits.substr(first));
    if (!dimension.ok()) return dimension.status();
    if (tensor->shape.size() == kRankMax) {
      return NoTensor(text, "it has more than 128 dimensions");
    }
    tensor->shape.push_back(*dimension);
    if (length == rest.size()) return NoTensor(text, "the type is missing");
    rest.remove_prefix(length + 1);
  }
  if (rest.empty()) return NoTensor(text, "the type is missing");
  const std::string type(rest);
  Status status(takt_element_type_parse(type.c_str(), &tensor->element_type));
  if (!status.ok()) return NoTensor(text, std::string(status.message()));
  return Status();
}

// Errors: as ParseElements().
template <typename T>
Result<Value> ParseScalarAs(takt_element_type_t type, std::string_view text) {
  T value;
  uint8_t bytes[sizeof(T)];
  TAKT_TOOLS_RETURN_IF_ERROR(ParseElements(type, text, 1, bytes));
  std::memcpy(&value, bytes, sizeof(value));
  return Value(value);
}

// A numpy file where the text asks for plain bytes.
Status HeaderIsNoData(const TensorText& tensor) {
  const std::string& path = tensor.elements;
  const std::string use = path.ends_with(".npy")
                              ? "for its elements write @" + path
                              : "name it .npy and write @file.npy";
  return InvalidArgument(
      path + ": a numpy file begins with a header; " + use + ", without " +
      TensorTypeText(tensor.element_type, tensor.shape) + "=");
}

// An array of one element as a scalar: what --output=@f.npy writes for one.
Result<Value> ScalarOfArray(takt_value_kind_t kind, const NpyArray& array) {
  const size_t width = takt_element_type_bit_count(array.element_type) / 8;
  if (array.data.size() != width ||
      FormOf(array.element_type) == ElementForm::kBytes) {
    return InvalidArgument("expected a scalar, got " +
                           TensorTypeText(array.element_type, array.shape));
  }
  const std::span<const uint8_t> bytes(
      reinterpret_cast<const uint8_t*>(array.data.data()), array.data.size());
  if (FormOf(array.element_type) == ElementForm::kInteger) {
    return ParseScalar(kind, FormatElement(array.element_type, bytes, 0));
  }
  const double value = FloatElement(array.element_type, bytes, 0);
  if (kind == TAKT_VALUE_F64) return Value(value);
  if (kind == TAKT_VALUE_F32) return Value(static_cast<float>(value));
  return InvalidArgument("expected an integer, got " +
                         TypeText(array.element_type));
}

class InputsReader {
 public:
  InputsReader(const Device& device,
               const std::vector<takt_value_kind_t>& kinds, InputFiles* files)
      : device_(device), kinds_(kinds), files_(files) {}

  // Reads one text: one input, or all of a file.
  Status Read(std::string_view text) {
    const std::string_view trimmed = Trim(text);
    if (trimmed.empty()) return InvalidArgument("there is no value");
    if (trimmed.front() == '*') return ReadArrays(trimmed.substr(1));
    if (inputs_.size() == kinds_.size()) return TooMany();
    Input input;
    input.is_ignored = trimmed == "(ignored)";
    if (!input.is_ignored) {
      TAKT_TOOLS_ASSIGN_OR_RETURN(input.value, ReadOne(trimmed));
    } else {
      input.value = Null();
    }
    inputs_.push_back(std::move(input));
    return Status();
  }

  std::vector<Input> Take() { return std::move(inputs_); }

 private:
  takt_value_kind_t kind() const { return kinds_[inputs_.size()]; }
  static Value Null() { return Value::Take(takt_value_ref(nullptr)); }

  Status TooMany() const {
    return InvalidArgument("expected " + std::to_string(kinds_.size()) +
                           " values, got more");
  }

  Result<Value> ReadOne(std::string_view text) {
    if (text == "(null)") {
      if (kind() == TAKT_VALUE_REF) return Null();
      return InvalidArgument("expected a scalar, got a null object");
    }
    if (text.front() == '@' || text.front() == '+') {
      const std::string path(text.substr(1));
      // "+5" is a number.
      if (text.front() == '@' || kind() == TAKT_VALUE_REF) {
        return ReadArray(path, text.front() == '@');
      }
    }
    if (kind() != TAKT_VALUE_REF) return ParseScalar(kind(), text);
    const bool is_storage = text.front() == '&';
    if (is_storage) text.remove_prefix(1);
    return ReadTensor(text, is_storage);
  }

  Result<Value> ReadTensor(std::string_view text, bool is_storage) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const TensorText tensor, ParseTensorText(text));
    TAKT_TOOLS_ASSIGN_OR_RETURN(Buffer buffer,
                                Buffer::Allocate(device_, tensor.byte_length));
    {
      TAKT_TOOLS_ASSIGN_OR_RETURN(const Mapping mapping,
                                  buffer.Map(TAKT_ACCESS_WRITE));
      TAKT_TOOLS_RETURN_IF_ERROR(FillTensor(tensor, files_, mapping.bytes()));
    }
    if (is_storage) return Value(std::move(buffer));
    TAKT_TOOLS_ASSIGN_OR_RETURN(
        BufferView view,
        BufferView::Create(buffer, tensor.element_type, tensor.shape));
    return Value(std::move(view));
  }

  Result<Value> ReadArray(const std::string& path, bool rewind) {
    if (!path.ends_with(".npy")) {
      return Status(TAKT_STATUS_UNIMPLEMENTED,
                    path +
                        ": only .npy files say what they hold; for others "
                        "use SHAPExTYPE=@file");
    }
    TAKT_TOOLS_ASSIGN_OR_RETURN(InputFiles::Cursor * cursor,
                                files_->Open(path, rewind));
    Result<Value> value = ReadNext(cursor);
    if (!value.ok()) return Annotate(value.status(), path);
    return value;
  }

  Status ReadArrays(std::string_view name) {
    const std::string path(name);
    TAKT_TOOLS_ASSIGN_OR_RETURN(InputFiles::Cursor * cursor,
                                files_->Open(path, true));
    while (!cursor->rest().empty()) {
      if (inputs_.size() == kinds_.size()) return Annotate(TooMany(), path);
      Result<Value> value = ReadNext(cursor);
      if (!value.ok()) return Annotate(value.status(), path);
      inputs_.push_back({*std::move(value), false});
    }
    return Status();
  }

  Result<Value> ReadNext(InputFiles::Cursor* cursor) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const NpyArray array, ReadNpy(cursor));
    return ValueOfArray(device_, kind(), array);
  }

  const Device& device_;
  const std::vector<takt_value_kind_t>& kinds_;
  InputFiles* const files_;
  std::vector<Input> inputs_;
};

}  // namespace

Result<Value> ValueOfArray(const Device& device, takt_value_kind_t kind,
                           const NpyArray& array) {
  if (kind != TAKT_VALUE_REF) return ScalarOfArray(kind, array);
  TAKT_TOOLS_ASSIGN_OR_RETURN(
      BufferView view, BufferView::Copy(device, array.element_type, array.shape,
                                        array.data.data(), array.data.size()));
  return Value(std::move(view));
}

Result<TensorText> ParseTensorText(std::string_view text) {
  TensorText tensor = {};
  const size_t equals = std::min(text.find('='), text.size());
  TAKT_TOOLS_RETURN_IF_ERROR(
      ParseTensorType(Trim(text.substr(0, equals)), &tensor));
  if (tensor.shape.empty() && equals == text.size()) {
    return NoTensor(text, "rank 0 needs an element, as in f32=3");
  }
  TAKT_TOOLS_RETURN_IF_ERROR(Status(takt_element_type_dense_byte_length(
      tensor.element_type, tensor.shape.size(), tensor.shape.data(),
      &tensor.byte_length)));
  const bool is_empty = std::find(tensor.shape.begin(), tensor.shape.end(),
                                  0) != tensor.shape.end();
  tensor.element_count = is_empty ? 0 : 1;
  if (!is_empty) {
    for (const int64_t dimension : tensor.shape) {
      tensor.element_count *= static_cast<size_t>(dimension);
    }
  }
  std::string_view elements;
  if (equals < text.size()) elements = Trim(text.substr(equals + 1));
  tensor.rewind = elements.starts_with('@');
  // No number of a tensor begins so: "+5" is only read for scalars.
  tensor.is_file = tensor.rewind || elements.starts_with('+');
  if (tensor.is_file) elements.remove_prefix(1);
  tensor.elements = elements;
  return tensor;
}

Status FillTensor(const TensorText& tensor, InputFiles* files,
                  std::span<uint8_t> target) {
  if (!tensor.is_file) {
    return ParseElements(tensor.element_type, tensor.elements,
                         tensor.element_count, target);
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(InputFiles::Cursor * cursor,
                              files->Open(tensor.elements, tensor.rewind));
  const std::string_view rest = cursor->rest();
  if (IsNpy(rest)) return HeaderIsNoData(tensor);
  if (rest.size() < target.size()) {
    return Status(TAKT_STATUS_OUT_OF_RANGE, tensor.elements + ": expected " +
                                                std::to_string(target.size()) +
                                                " bytes, got " +
                                                std::to_string(rest.size()));
  }
  std::copy_n(rest.begin(), target.size(), target.begin());
  cursor->offset += target.size();
  return Status();
}

Result<Value> ParseScalar(takt_value_kind_t kind, std::string_view text) {
  switch (kind) {
    case TAKT_VALUE_I32:
      return ParseScalarAs<int32_t>(TAKT_ELEMENT_I32, text);
    case TAKT_VALUE_I64:
      return ParseScalarAs<int64_t>(TAKT_ELEMENT_I64, text);
    case TAKT_VALUE_F32:
      return ParseScalarAs<float>(TAKT_ELEMENT_F32, text);
    case TAKT_VALUE_F64:
      return ParseScalarAs<double>(TAKT_ELEMENT_F64, text);
    default:
      return InvalidArgument(std::string("a value of kind ") +
                             takt_value_kind_name(kind) +
                             " cannot be written as text");
  }
}

Result<std::vector<Input>> ParseInputs(
    const Device& device, const std::vector<takt_value_kind_t>& kinds,
    const std::vector<std::string>& texts, InputFiles* files) {
  InputsReader reader(device, kinds, files);
  for (size_t i = 0; i < texts.size(); ++i) {
    Status status = reader.Read(texts[i]);
    if (!status.ok()) {
      // A few elements identify the input; all of them could be a megabyte.
      constexpr size_t kQuoteMax = 80;
      std::string quote = texts[i].substr(0, kQuoteMax);
      if (texts[i].size() > kQuoteMax) quote += "...";
      return Annotate(status, std::to_string(i) + " (`" + quote + "`)");
    }
  }
  return reader.Take();
}

std::vector<takt_value_kind_t> ArgumentKinds(const Signature& signature) {
  std::vector<takt_value_kind_t> kinds;
  for (size_t i = 0; i < signature.argument_count(); ++i) {
    kinds.push_back(signature.argument(i).kind);
  }
  return kinds;
}

std::vector<takt_value_kind_t> ResultKinds(const Signature& signature) {
  std::vector<takt_value_kind_t> kinds;
  for (size_t i = 0; i < signature.result_count(); ++i) {
    kinds.push_back(signature.result(i).kind);
  }
  return kinds;
}

}  // namespace takt::tools
