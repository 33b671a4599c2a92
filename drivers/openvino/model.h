// The model of a program, compiled for a device, with the memory of its inputs
// and outputs.
//
// That memory is OpenVINO's own, which the device reaches. Operands are copied
// there and back, so a device that does not stop when it is told to never
// touches an operand.
//
// Thread-safety: none.
#ifndef TAKT_DRIVERS_OPENVINO_MODEL_H_
#define TAKT_DRIVERS_OPENVINO_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "drivers/openvino/openvino_api.h"
#include "drivers/openvino/program.h"

namespace takt::openvino {

class Model {
 public:
  // Reads the model of a program and compiles it. On errors the model is
  // nullptr, and the result says why: INVALID, if it is no model, or its inputs
  // and outputs are not those that the program names; UNSUPPORTED, if the
  // device cannot run it; NO_MEMORY; LOST.
  static takt_npu_result_t Create(const Calls& calls, const ov_core_t* core,
                                  const std::string& device,
                                  const Program& program,
                                  std::unique_ptr<Model>* out);

  const std::string& function() const { return function_; }
  // The number of bindings of a dispatch: the inputs, then the outputs.
  size_t binding_count() const { return inputs_.size() + outputs_.size(); }
  // Whether the ranges are as long as the inputs and outputs.
  bool Takes(const takt_npu_range_t* bindings, size_t count) const;

  // Compiles the model again, as after the loss of the device.
  takt_npu_result_t Compile(const Calls& calls, const ov_core_t* core,
                            const std::string& device);

  // Copies operands to the request's inputs, and results from its outputs.
  // False if the request has other memory than when it was made.
  bool CopyIn(const takt_npu_range_t* bindings) const;
  bool CopyOut(const takt_npu_range_t* bindings) const;
  ov_infer_request_t* request() const { return request_.get(); }

 private:
  // An input or output, and its tensor in the request.
  struct Port {
    TensorInfo info;
    Tensor tensor;
  };

  explicit Model(const Program& program);
  takt_npu_result_t Read(const Calls& calls, const ov_core_t* core,
                         const Program& program);
  // Gives a model of dynamic shapes the program's.
  bool Reshape();
  takt_npu_result_t Check() const;
  bool FindTensors();

  const std::string function_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  // The weights come first: the network refers to them.
  Tensor weights_;
  Network network_;
  Compiled compiled_;
  Request request_;
};

}  // namespace takt::openvino

#endif  // TAKT_DRIVERS_OPENVINO_MODEL_H_
