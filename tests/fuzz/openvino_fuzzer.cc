// Program files of the driver "openvino", and what it checks of a model before
// OpenVINO reads it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "drivers/openvino/onnx_check.h"
#include "drivers/openvino/program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace takt::openvino;
  const std::span<const uint8_t> bytes(data, size);
  (void)IsSelfContainedOnnx(bytes);
  (void)IsIr(bytes);
  const auto program = ReadProgram(bytes);
  if (!program) return 0;
  (void)IsSelfContainedOnnx(program->model);
  (void)IsIr(program->model);
  // What was read lies in the file, and is within the limits.
  const uint8_t* const end = program->model.data() + program->model.size();
  if (program->model.empty() || program->model.data() < data ||
      end != program->weights.data() ||
      program->weights.data() + program->weights.size() != data + size ||
      program->outputs.empty() ||
      program->inputs.size() + program->outputs.size() > kTensorCountMax) {
    std::abort();
  }
  for (const auto* tensors : {&program->inputs, &program->outputs}) {
    for (const TensorInfo& tensor : *tensors) {
      if (tensor.byte_length == 0 || tensor.byte_length > kTensorBytesMax) {
        std::abort();
      }
    }
  }
  return 0;
}
