#include "tools/common/output.h"

#include <cstdio>
#include <cstring>

#include "tools/common/element.h"
#include "tools/common/file.h"
#include "tools/common/npy.h"
#include "tools/common/value_text.h"

namespace takt::tools {
namespace {

// A value as an array: its type, shape and bytes.
struct Contents {
  takt_element_type_t element_type;
  std::vector<int64_t> shape;
  std::string data;
};

template <typename T>
Contents ContentsOfScalar(takt_element_type_t type, T value) {
  std::string data(sizeof(value), '\0');
  std::memcpy(data.data(), &value, sizeof(value));
  return {type, {}, std::move(data)};
}

Result<Contents> ContentsOfBuffer(const Buffer& buffer, size_t byte_length) {
  std::string data(byte_length, '\0');
  TAKT_TOOLS_RETURN_IF_ERROR(
      buffer.Read(0, {reinterpret_cast<uint8_t*>(data.data()), data.size()}));
  return Contents{
      TAKT_ELEMENT_I8, {static_cast<int64_t>(byte_length)}, std::move(data)};
}

Result<Contents> ContentsOf(const Value& value) {
  switch (value.kind()) {
    case TAKT_VALUE_I32:
      return ContentsOfScalar(TAKT_ELEMENT_I32, value.i32());
    case TAKT_VALUE_I64:
      return ContentsOfScalar(TAKT_ELEMENT_I64, value.i64());
    case TAKT_VALUE_F32:
      return ContentsOfScalar(TAKT_ELEMENT_F32, value.f32());
    case TAKT_VALUE_F64:
      return ContentsOfScalar(TAKT_ELEMENT_F64, value.f64());
    default:
      break;
  }
  if (const BufferView view = value.view()) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(
        Contents contents, ContentsOfBuffer(view.buffer(), view.byte_length()));
    contents.element_type = view.element_type();
    contents.shape.assign(view.shape().begin(), view.shape().end());
    return contents;
  }
  if (const Buffer buffer = value.buffer()) {
    return ContentsOfBuffer(buffer, buffer.byte_length());
  }
  if (const ByteBuffer buffer = value.bytes()) {
    const std::span<const uint8_t> bytes = buffer.bytes();
    return Contents{TAKT_ELEMENT_I8,
                    {static_cast<int64_t>(bytes.size())},
                    std::string(bytes.begin(), bytes.end())};
  }
  return Status(TAKT_STATUS_UNIMPLEMENTED,
                "a " + ValueTypeText(value) + " cannot be written to a file");
}

// Whether kOutputHelp has texts of this form.
bool IsOutput(const std::string& text) {
  if (text.empty() || text == "-") return true;
  return text.size() > 1 && (text[0] == '@' || text[0] == '+');
}

std::string FlagOf(size_t result, const std::string& output) {
  return "result " + std::to_string(result) + ": --output=" + output;
}

Status WriteOutput(const Value& value, const std::string& output,
                   size_t element_count_max) {
  if (output.empty()) return Status();
  if (output == "-") {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string text,
                                FormatValue(value, element_count_max));
    std::printf("%s\n", text.c_str());
    return Status();
  }
  const std::string path = output.substr(1);
  TAKT_TOOLS_ASSIGN_OR_RETURN(Contents contents, ContentsOf(value));
  if (path.ends_with(".npy")) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(
        contents.data,
        FormatNpy(contents.element_type, contents.shape, contents.data));
  }
  return WriteFile(path, contents.data, output[0] == '+');
}

}  // namespace

const char kOutputHelp[] =
    "What to do with a result; one flag for each of them, in their order:\n"
    "  (empty)  nothing\n"
    "  -        print it\n"
    "  @f.npy   write it to a new file as a numpy array\n"
    "  +f.npy   write it behind the arrays of a file\n"
    "  @f.bin   write its bytes to a new file (any other name)\n"
    "  +f.bin   write its bytes behind those of a file\n"
    "Without this flag all are printed.";

Status TakeDeclaredSigns(const Signature& signature,
                         std::vector<Value>* results) {
  for (size_t i = 0; i < results->size(); ++i) {
    const takt_value_type_t& type = signature.result(i);
    const BufferView view = (*results)[i].view();
    if (!view || !type.is_tensor ||
        takt_element_type_kind(type.element_type) !=
            TAKT_NUMERICAL_UNSIGNED_INTEGER ||
        takt_element_type_kind(view.element_type()) != TAKT_NUMERICAL_INTEGER ||
        takt_element_type_bit_count(view.element_type()) !=
            takt_element_type_bit_count(type.element_type)) {
      continue;
    }
    TAKT_TOOLS_ASSIGN_OR_RETURN(
        BufferView declared,
        BufferView::Create(view.buffer(), type.element_type, view.shape()));
    (*results)[i] = Value(std::move(declared));
  }
  return Status();
}

Status PrintResults(const std::vector<Value>& results,
                    size_t element_count_max) {
  for (size_t i = 0; i < results.size(); ++i) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string text,
                                FormatValue(results[i], element_count_max));
    std::printf("result[%zu]: %s\n", i, text.c_str());
  }
  return Status();
}

Status CheckOutputs(const std::vector<std::string>& outputs,
                    size_t result_count) {
  if (outputs.size() != result_count) {
    return InvalidArgument(
        "--output: the function has " + std::to_string(result_count) +
        " results, but there are " + std::to_string(outputs.size()) + " flags");
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& output = outputs[i];
    if (!IsOutput(output)) {
      return InvalidArgument(FlagOf(i, output) +
                             ": expected nothing, -, @file or +file");
    }
    if (output.size() < 2) continue;
    const Status writable = CheckWritable(output.substr(1));
    if (!writable.ok()) return Annotate(writable, FlagOf(i, output));
  }
  return Status();
}

Status WriteOutputs(const std::vector<Value>& results,
                    const std::vector<std::string>& outputs,
                    size_t element_count_max) {
  for (size_t i = 0; i < results.size(); ++i) {
    Status status = WriteOutput(results[i], outputs[i], element_count_max);
    if (!status.ok()) return Annotate(status, FlagOf(i, outputs[i]));
  }
  return Status();
}

}  // namespace takt::tools
