#include "drivers/openvino/onnx_check.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

namespace takt::openvino {
namespace {

// The messages of onnx.proto on the way to a TensorProto.
enum class Message {
  kModel,
  kTraining,
  kGraph,
  kNode,
  kAttribute,
  kFunction,
  kSparseTensor,
  kTensor,
};

struct Field {
  Message message;
  uint32_t number;
  Message type;  // Of the field's value.
};
constexpr Field kFields[] = {
    {Message::kModel, 7, Message::kGraph},
    {Message::kModel, 20, Message::kTraining},
    {Message::kModel, 25, Message::kFunction},
    {Message::kTraining, 1, Message::kGraph},
    {Message::kTraining, 2, Message::kGraph},
    {Message::kGraph, 1, Message::kNode},
    {Message::kGraph, 5, Message::kTensor},
    {Message::kGraph, 15, Message::kSparseTensor},
    {Message::kNode, 5, Message::kAttribute},
    {Message::kFunction, 7, Message::kNode},
    {Message::kFunction, 11, Message::kAttribute},
    {Message::kAttribute, 5, Message::kTensor},
    {Message::kAttribute, 6, Message::kGraph},
    {Message::kAttribute, 10, Message::kTensor},
    {Message::kAttribute, 11, Message::kGraph},
    {Message::kAttribute, 22, Message::kSparseTensor},
    {Message::kAttribute, 23, Message::kSparseTensor},
    {Message::kSparseTensor, 1, Message::kTensor},
    {Message::kSparseTensor, 2, Message::kTensor},
};
// Fields of a TensorProto that send its reader to another file.
constexpr uint32_t kExternalData = 13;
constexpr uint32_t kDataLocation = 14;
constexpr uint32_t kModelGraph = 7;
constexpr uint32_t kModelIrVersion = 1;

// protobuf's own limit of nested messages is 100.
constexpr int kDepthMax = 100;

enum WireType { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> data) : data_(data) {}
  bool is_at_end() const { return data_.empty(); }

  std::optional<uint64_t> Varint() {
    uint64_t value = 0;
    for (unsigned i = 0; i < 10 && i < data_.size(); ++i) {
      const uint64_t bits = data_[i] & 0x7f;
      if (i == 9 && bits > 1) return std::nullopt;
      value |= bits << (7 * i);
      if (data_[i] < 0x80) {
        data_ = data_.subspan(i + 1);
        return value;
      }
    }
    return std::nullopt;
  }
  std::optional<std::span<const uint8_t>> Take(uint64_t count) {
    if (count > data_.size()) return std::nullopt;
    const auto taken = data_.first(static_cast<size_t>(count));
    data_ = data_.subspan(taken.size());
    return taken;
  }
  // The bytes of a value of that wire type; nothing if there is none.
  std::optional<std::span<const uint8_t>> Value(uint64_t wire_type) {
    switch (wire_type) {
      case kVarint: {
        const auto before = data_;
        if (!Varint()) return std::nullopt;
        return before.first(before.size() - data_.size());
      }
      case kFixed64:
        return Take(8);
      case kFixed32:
        return Take(4);
      case kBytes: {
        const std::optional<uint64_t> length = Varint();
        return length ? Take(*length) : std::nullopt;
      }
      default:  // Groups, which ONNX does not have.
        return std::nullopt;
    }
  }

 private:
  std::span<const uint8_t> data_;
};

const Field* FindField(Message message, uint64_t number) {
  for (const Field& field : kFields) {
    if (field.message == message && field.number == number) return &field;
  }
  return nullptr;
}

// Whether a value of such a field may be in the model.
bool IsAllowed(Message message, uint64_t number,
               std::span<const uint8_t> value) {
  if (message != Message::kTensor) return true;
  if (number == kDataLocation) return value.size() == 1 && value[0] == 0;
  return number != kExternalData;
}

bool Walk(Message message, std::span<const uint8_t> data, int depth) {
  if (depth > kDepthMax) return false;
  Reader reader(data);
  while (!reader.is_at_end()) {
    const std::optional<uint64_t> tag = reader.Varint();
    // protobuf cuts a larger tag to 32 bits.
    if (!tag || *tag > UINT32_MAX || *tag >> 3 == 0) return false;
    const auto value = reader.Value(*tag & 7);
    if (!value || !IsAllowed(message, *tag >> 3, *value)) return false;
    const Field* const field = FindField(message, *tag >> 3);
    if (field == nullptr || (*tag & 7) != kBytes) continue;
    if (!Walk(field->type, *value, depth + 1)) return false;
  }
  return true;
}

}  // namespace

bool IsSelfContainedOnnx(std::span<const uint8_t> data) {
  if (!Walk(Message::kModel, data, 0)) return false;
  bool has_version = false;
  bool has_graph = false;
  Reader reader(data);
  while (!reader.is_at_end()) {
    const uint64_t tag = reader.Varint().value_or(0);
    if (!reader.Value(tag & 7)) return false;
    has_version |= tag == (kModelIrVersion << 3 | kVarint);
    has_graph |= tag == (kModelGraph << 3 | kBytes);
  }
  return has_version && has_graph;
}

bool IsIr(std::span<const uint8_t> data) {
  const std::string_view text(reinterpret_cast<const char*>(data.data()),
                              data.size());
  const auto is_space = [](char c) {
    return std::isspace(static_cast<unsigned char>(c)) != 0;
  };
  const auto begin = std::find_if_not(text.begin(), text.end(), is_space);
  const std::string_view rest =
      text.substr(static_cast<size_t>(begin - text.begin()));
  return (rest.starts_with("<?xml") || rest.starts_with("<net")) &&
         rest.find("<!DOCTYPE") == std::string_view::npos;
}

}  // namespace takt::openvino
