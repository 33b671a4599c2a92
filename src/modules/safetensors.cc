#include "modules/safetensors.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "base/math.h"
#include "base/status.h"
#include "base/unaligned.h"
#include "hal/dtype.h"

// The parser reports errors to its handler; nothing is thrown.
#define JSON_NOEXCEPTION
#include "nlohmann/json.hpp"

namespace takt::modules {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kLengthBytes = 8;
// The limit of the format's own writers.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("safetensors: ", what));
}

// One tensor, as the JSON header describes it.
struct Tensor {
  std::string name;
  std::string dtype;
  std::vector<uint64_t> shape;
  std::vector<uint64_t> data_offsets;
  bool has_shape = false;
};

// Takes the events of the JSON parser, which keeps no tree and does not
// recurse. Each method returns true if the parser should continue.
class Handler final : public nlohmann::json_sax<Json> {
 public:
  explicit Handler(std::vector<Tensor>& tensors) : tensors_(tensors) {}

  // The reason why the parser stopped early.
  const std::string& error() const { return error_; }

  bool null() override { return Fail("unexpected null"); }
  bool boolean(bool) override { return Fail("unexpected boolean"); }
  bool number_integer(number_integer_t) override {
    return Fail("unexpected negative number");
  }
  bool number_float(number_float_t, const string_t&) override {
    return Fail("unexpected fraction");
  }
  bool binary(binary_t&) override { return Fail("unexpected binary"); }
  bool number_unsigned(number_unsigned_t value) override;
  bool string(string_t& value) override;
  bool start_object(size_t) override;
  bool key(string_t& value) override;
  bool end_object() override;
  bool start_array(size_t) override;
  bool end_array() override;
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return Fail(absl::StrCat("malformed JSON at byte ", position));
  }

 private:
  enum class Place {
    kStart,     // Before the outer object.
    kFile,      // In the outer object, before a key.
    kName,      // After a tensor's name.
    kTensor,    // In a tensor's object.
    kMetadata,  // In "__metadata__".
    kNumbers,   // In an array of numbers.
    kEnd,       // After the outer object.
  };

  bool Fail(absl::string_view what) {
    if (error_.empty()) {
      error_ = tensors_.empty() || place_ == Place::kFile
                   ? std::string(what)
                   : absl::StrCat("'", tensors_.back().name, "': ", what);
    }
    return false;
  }

  std::vector<Tensor>& tensors_;
  std::string error_;
  Place place_ = Place::kStart;
  bool metadata_next_ = false;  // At kName: the key was "__metadata__".
  std::string field_;           // At kTensor: the last key.
  std::vector<uint64_t>* numbers_ = nullptr;  // At kNumbers: where they go.
};

bool Handler::number_unsigned(number_unsigned_t value) {
  if (place_ != Place::kNumbers) return Fail("unexpected number");
  numbers_->push_back(value);
  return true;
}

bool Handler::string(string_t& value) {
  if (place_ == Place::kMetadata) return true;
  if (place_ != Place::kTensor || field_ != "dtype") {
    return Fail("unexpected string");
  }
  tensors_.back().dtype = std::move(value);
  return true;
}

bool Handler::start_object(size_t) {
  switch (place_) {
    case Place::kStart:
      place_ = Place::kFile;
      return true;
    case Place::kName:
      place_ = metadata_next_ ? Place::kMetadata : Place::kTensor;
      field_.clear();
      return true;
    default:
      return Fail("unexpected object");
  }
}

bool Handler::key(string_t& value) {
  switch (place_) {
    case Place::kFile:
      metadata_next_ = value == "__metadata__";
      if (!metadata_next_) {
        tensors_.emplace_back();
        tensors_.back().name = std::move(value);
      }
      place_ = Place::kName;
      return true;
    case Place::kTensor:
      field_ = std::move(value);
      return true;
    case Place::kMetadata:
      return true;
    default:
      return Fail("unexpected key");
  }
}

bool Handler::end_object() {
  if (place_ == Place::kTensor || place_ == Place::kMetadata) {
    place_ = Place::kFile;
    return true;
  }
  place_ = Place::kEnd;
  return true;
}

bool Handler::start_array(size_t) {
  if (place_ != Place::kTensor) return Fail("unexpected array");
  Tensor& tensor = tensors_.back();
  if (field_ == "shape") {
    numbers_ = &tensor.shape;
    tensor.has_shape = true;
  } else if (field_ == "data_offsets") {
    numbers_ = &tensor.data_offsets;
  } else {
    return Fail(absl::StrCat("unexpected array '", field_, "'"));
  }
  numbers_->clear();
  place_ = Place::kNumbers;
  return true;
}

bool Handler::end_array() {
  place_ = Place::kTensor;
  return true;
}

// The tensor's bytes within the `data_bytes` that follow the JSON.
absl::Status CheckTensor(const Tensor& tensor, uint64_t data_bytes) {
  if (tensor.data_offsets.size() != 2) {
    return Damaged(absl::StrFormat("'%s': expected two data_offsets, got %d",
                                   tensor.name, tensor.data_offsets.size()));
  }
  const uint64_t begin = tensor.data_offsets[0];
  const uint64_t end = tensor.data_offsets[1];
  if (begin > end || end > data_bytes) {
    return Damaged(absl::StrFormat(
        "'%s': data_offsets [%d, %d] are not within the %d bytes of data",
        tensor.name, begin, end, data_bytes));
  }
  // The size of a dtype that is unknown here is not checked.
  const uint64_t bits = hal::DtypeBits(tensor.dtype);
  if (bits == 0 || !tensor.has_shape) return absl::OkStatus();
  uint64_t bytes = bits / 8;
  for (uint64_t dimension : tensor.shape) {
    if (!CheckedMul(bytes, dimension, &bytes)) {
      return Damaged(absl::StrCat("'", tensor.name, "': its shape overflows"));
    }
  }
  if (bytes != end - begin) {
    return Damaged(
        absl::StrFormat("'%s': shape and dtype %s say %d bytes, the "
                        "data_offsets %d",
                        tensor.name, tensor.dtype, bytes, end - begin));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> ParseHeader(
    absl::Span<const uint8_t> header) {
  std::vector<Tensor> tensors;
  Handler handler(tensors);
  const char* text = reinterpret_cast<const char*>(header.data());
  if (!Json::sax_parse(text, text + header.size(), &handler)) {
    return Damaged(handler.error());
  }
  return tensors;
}

}  // namespace

absl::Status ReadSafetensors(const Ref<hal::File>& file,
                             ParameterIndex& index) {
  const absl::Span<const uint8_t> bytes(file->data(), file->byte_length());
  if (bytes.size() < kLengthBytes) {
    return Damaged(
        absl::StrCat("expected at least 8 bytes, got ", bytes.size()));
  }
  const auto header_bytes = LoadUnaligned<uint64_t>(bytes.data());
  if (header_bytes > kMaxHeaderBytes ||
      !RangeFits(kLengthBytes, header_bytes, bytes.size())) {
    return Damaged(absl::StrFormat("a header of %d bytes in a file of %d",
                                   header_bytes, bytes.size()));
  }
  TAKT_ASSIGN_OR_RETURN(std::vector<Tensor> tensors,
                        ParseHeader(bytes.subspan(kLengthBytes, header_bytes)));
  const uint64_t data_offset = kLengthBytes + header_bytes;
  for (Tensor& tensor : tensors) {
    TAKT_RETURN_IF_ERROR(CheckTensor(tensor, bytes.size() - data_offset));
    Parameter parameter;
    parameter.key = std::move(tensor.name);
    parameter.kind = Parameter::Kind::kData;
    parameter.byte_length = tensor.data_offsets[1] - tensor.data_offsets[0];
    parameter.file = file;
    parameter.file_offset = data_offset + tensor.data_offsets[0];
    const absl::Status added = index.Add(std::move(parameter));
    if (!added.ok()) return Damaged(added.message());
  }
  return absl::OkStatus();
}

}  // namespace takt::modules
