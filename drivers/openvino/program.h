// A program file of this driver: one function, its inputs and outputs, and the
// model that computes it, as ONNX or as OpenVINO's IR. All numbers are
// little-endian; docs/npu.md has the table.
#ifndef TAKT_DRIVERS_OPENVINO_PROGRAM_H_
#define TAKT_DRIVERS_OPENVINO_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace takt::openvino {

// The values of takt/element_type.h; the driver includes no header of Takt's
// library.
inline constexpr uint32_t kI8 = 0x10000008;
inline constexpr uint32_t kI16 = 0x10000010;
inline constexpr uint32_t kI32 = 0x10000020;
inline constexpr uint32_t kI64 = 0x10000040;
inline constexpr uint32_t kUi8 = 0x12000008;
inline constexpr uint32_t kUi16 = 0x12000010;
inline constexpr uint32_t kUi32 = 0x12000020;
inline constexpr uint32_t kUi64 = 0x12000040;
inline constexpr uint32_t kBool = 0x13000008;
inline constexpr uint32_t kF16 = 0x21000010;
inline constexpr uint32_t kF32 = 0x21000020;
inline constexpr uint32_t kF64 = 0x21000040;
inline constexpr uint32_t kBf16 = 0x22000010;

// An input or output of the function. Both are bindings of its dispatches.
struct TensorInfo {
  std::string name;  // In the model.
  uint32_t element_type = 0;
  std::vector<int64_t> dims;  // Each at least 1. Empty: a scalar.
  size_t byte_length = 0;
};

enum class ModelFormat { kOnnx = 1, kIr = 2 };

// Points into the file that it was read from.
struct Program {
  std::string function;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  ModelFormat format = ModelFormat::kOnnx;
  std::span<const uint8_t> model;    // Not empty.
  std::span<const uint8_t> weights;  // Of an IR; may be empty.
};

// The most inputs and outputs of a function, and the most bytes of each.
inline constexpr size_t kTensorCountMax = 64;
inline constexpr uint64_t kTensorBytesMax = uint64_t{1} << 31;

// Reads a file and checks all of it but the model. Nothing if it is damaged.
std::optional<Program> ReadProgram(std::span<const uint8_t> data);

}  // namespace takt::openvino

#endif  // TAKT_DRIVERS_OPENVINO_PROGRAM_H_
