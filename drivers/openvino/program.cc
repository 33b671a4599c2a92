#include "drivers/openvino/program.h"

#include <algorithm>
#include <cstring>

namespace takt::openvino {
namespace {

constexpr char kMagic[4] = {'T', 'N', 'O', 'V'};
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderBytes = 128;
constexpr size_t kTensorBytes = 128;
constexpr size_t kNameOffset = 40;  // In the header and in a tensor.
constexpr size_t kNameBytes = 88;
constexpr size_t kRankMax = 8;

// The number at `offset`, which is inside of `data`.
template <typename T>
T Number(std::span<const uint8_t> data, size_t offset) {
  T value;
  std::memcpy(&value, data.data() + offset, sizeof(value));
  return value;
}

// The name that ends with a 0 within its field. Nothing if it is empty or has
// no end.
std::optional<std::string> NameOf(std::span<const uint8_t> record) {
  const auto field = record.subspan(kNameOffset, kNameBytes);
  const auto end = std::find(field.begin(), field.end(), uint8_t{0});
  if (end == field.begin() || end == field.end()) return std::nullopt;
  return std::string(field.begin(), end);
}

bool IsElementType(uint32_t type) {
  constexpr uint32_t kTypes[] = {kI8,   kI16,  kI32, kI64, kUi8, kUi16, kUi32,
                                 kUi64, kBool, kF16, kF32, kF64, kBf16};
  return std::find(std::begin(kTypes), std::end(kTypes), type) !=
         std::end(kTypes);
}

std::optional<TensorInfo> ReadTensor(std::span<const uint8_t> record) {
  TensorInfo tensor;
  tensor.element_type = Number<uint32_t>(record, 0);
  const auto rank = Number<uint32_t>(record, 4);
  std::optional<std::string> name = NameOf(record);
  if (!IsElementType(tensor.element_type) || rank > kRankMax || !name) {
    return std::nullopt;
  }
  tensor.name = *std::move(name);
  uint64_t bytes = (tensor.element_type & 0xff) / 8;
  for (size_t d = 0; d < rank; ++d) {
    const auto dim = Number<uint32_t>(record, 8 + 4 * d);
    if (dim == 0 || dim > kTensorBytesMax / bytes) return std::nullopt;
    bytes *= dim;
    tensor.dims.push_back(dim);
  }
  tensor.byte_length = static_cast<size_t>(bytes);
  return tensor;
}

bool HasTwoOfAName(const std::vector<TensorInfo>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (tensors[i].name == tensors[j].name) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<Program> ReadProgram(std::span<const uint8_t> data) {
  if (data.size() < kHeaderBytes ||
      std::memcmp(data.data(), kMagic, sizeof(kMagic)) != 0 ||
      Number<uint32_t>(data, 4) != kVersion ||
      Number<uint32_t>(data, 20) != 0) {
    return std::nullopt;
  }
  const auto format = Number<uint32_t>(data, 8);
  const auto input_count = Number<uint32_t>(data, 12);
  const auto output_count = Number<uint32_t>(data, 16);
  const auto model_bytes = Number<uint64_t>(data, 24);
  const auto weight_bytes = Number<uint64_t>(data, 32);
  std::optional<std::string> function = NameOf(data);
  if (!function || input_count > kTensorCountMax || output_count == 0 ||
      output_count > kTensorCountMax - input_count) {
    return std::nullopt;
  }
  const size_t tensor_bytes = (input_count + output_count) * kTensorBytes;
  if (data.size() - kHeaderBytes < tensor_bytes) return std::nullopt;
  const auto rest = data.subspan(kHeaderBytes + tensor_bytes);
  if (model_bytes == 0 || model_bytes > rest.size() ||
      weight_bytes != rest.size() - model_bytes) {
    return std::nullopt;
  }
  Program program;
  program.function = *std::move(function);
  program.model = rest.first(static_cast<size_t>(model_bytes));
  program.weights = rest.subspan(static_cast<size_t>(model_bytes));
  if (format == static_cast<uint32_t>(ModelFormat::kIr)) {
    program.format = ModelFormat::kIr;
  } else if (format != static_cast<uint32_t>(ModelFormat::kOnnx) ||
             weight_bytes != 0) {
    return std::nullopt;
  }
  for (size_t i = 0; i < input_count + output_count; ++i) {
    std::optional<TensorInfo> tensor =
        ReadTensor(data.subspan(kHeaderBytes + i * kTensorBytes, kTensorBytes));
    if (!tensor) return std::nullopt;
    (i < input_count ? program.inputs : program.outputs)
        .push_back(*std::move(tensor));
  }
  if (HasTwoOfAName(program.inputs) || HasTwoOfAName(program.outputs)) {
    return std::nullopt;
  }
  return program;
}

}  // namespace takt::openvino
