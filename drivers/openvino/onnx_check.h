// A look at a model before OpenVINO reads it. Its readers check what they
// decode, but two things are theirs to do that a hostile file must not cause:
// they read any file of the machine that an ONNX tensor names as its data, and
// they guess the format of what they get.
#ifndef TAKT_DRIVERS_OPENVINO_ONNX_CHECK_H_
#define TAKT_DRIVERS_OPENVINO_ONNX_CHECK_H_

#include <cstdint>
#include <span>

namespace takt::openvino {

// Whether the bytes are a ModelProto of ONNX with a graph, all of whose tensors
// have their data in the file. What the graph computes is not checked.
bool IsSelfContainedOnnx(std::span<const uint8_t> data);

// Whether the bytes begin as OpenVINO's IR does, and declare no document type.
bool IsIr(std::span<const uint8_t> data);

}  // namespace takt::openvino

#endif  // TAKT_DRIVERS_OPENVINO_ONNX_CHECK_H_
