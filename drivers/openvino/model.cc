#include "drivers/openvino/model.h"

#include <algorithm>
#include <cstring>

#include "drivers/openvino/onnx_check.h"

namespace takt::openvino {
namespace {

ov_element_type_e TypeOf(uint32_t element_type) {
  switch (element_type) {
    case kI8:
      return I8;
    case kI16:
      return I16;
    case kI32:
      return I32;
    case kI64:
      return I64;
    case kUi8:
      return U8;
    case kUi16:
      return U16;
    case kUi32:
      return U32;
    case kUi64:
      return U64;
    case kBool:
      return BOOLEAN;
    case kF16:
      return F16;
    case kF32:
      return F32;
    case kF64:
      return F64;
    case kBf16:
      return BF16;
    default:
      return DYNAMIC;
  }
}

bool HasShape(const ov_tensor_t* tensor, const std::vector<int64_t>& dims) {
  ov_shape_t shape = {};
  // OpenVINO's C API has no shape of rank 0: it fails for a scalar.
  if (ov_tensor_get_shape(tensor, &shape) != OK) return dims.empty();
  const bool is_equal = shape.rank == static_cast<int64_t>(dims.size()) &&
                        std::equal(dims.begin(), dims.end(), shape.dims);
  ov_shape_free(&shape);
  return is_equal;
}

bool Matches(const ov_tensor_t* tensor, const TensorInfo& info) {
  ov_element_type_e type = DYNAMIC;
  size_t bytes = 0;
  return ov_tensor_get_element_type(tensor, &type) == OK &&
         type == TypeOf(info.element_type) && HasShape(tensor, info.dims) &&
         ov_tensor_get_byte_size(tensor, &bytes) == OK &&
         bytes == info.byte_length;
}

// The memory of a tensor; nullptr if it is not `byte_length` bytes.
uint8_t* DataOf(const ov_tensor_t* tensor, size_t byte_length) {
  void* data = nullptr;
  size_t bytes = 0;
  if (ov_tensor_get_byte_size(tensor, &bytes) != OK || bytes != byte_length ||
      ov_tensor_data(tensor, &data) != OK) {
    return nullptr;
  }
  return static_cast<uint8_t*>(data);
}

Tensor WeightsOf(std::span<const uint8_t> bytes) {
  int64_t dims[] = {static_cast<int64_t>(bytes.size())};
  const ov_shape_t shape = {1, dims};
  ov_tensor_t* made = nullptr;
  if (ov_tensor_create(U8, shape, &made) != OK) return nullptr;
  Tensor tensor(made);
  uint8_t* const data = DataOf(tensor.get(), bytes.size());
  if (data == nullptr) return nullptr;
  if (!bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
  return tensor;
}

// An error of a model that is not the machine's is the model's.
takt_npu_result_t Blame(takt_npu_result_t result, takt_npu_result_t model) {
  return result == TAKT_NPU_RESULT_FAILED ? model : result;
}

}  // namespace

Model::Model(const Program& program) : function_(program.function) {
  for (const TensorInfo& info : program.inputs) {
    inputs_.push_back({info, nullptr});
  }
  for (const TensorInfo& info : program.outputs) {
    outputs_.push_back({info, nullptr});
  }
}

takt_npu_result_t Model::Create(const Calls& calls, const ov_core_t* core,
                                const std::string& device,
                                const Program& program,
                                std::unique_ptr<Model>* out) {
  std::unique_ptr<Model> model(new Model(program));
  takt_npu_result_t result = model->Read(calls, core, program);
  if (result == TAKT_NPU_RESULT_OK) {
    result = model->Compile(calls, core, device);
  }
  if (result == TAKT_NPU_RESULT_OK) *out = std::move(model);
  return result;
}

takt_npu_result_t Model::Read(const Calls& calls, const ov_core_t* core,
                              const Program& program) {
  const bool is_ir = program.format == ModelFormat::kIr;
  if (is_ir ? !IsIr(program.model) : !IsSelfContainedOnnx(program.model)) {
    return TAKT_NPU_RESULT_INVALID;
  }
  if (is_ir && !program.weights.empty()) {
    weights_ = WeightsOf(program.weights);
    if (weights_ == nullptr) return TAKT_NPU_RESULT_NO_MEMORY;
  }
  ov_model_t* network = nullptr;
  const ov_status_e status = ov_core_read_model_from_memory_buffer(
      core, reinterpret_cast<const char*>(program.model.data()),
      program.model.size(), weights_.get(), &network);
  if (status != OK) {
    return Blame(ResultOf(status, LastError(calls)), TAKT_NPU_RESULT_INVALID);
  }
  network_.reset(network);
  if (!ov_model_is_dynamic(network) || Reshape()) return TAKT_NPU_RESULT_OK;
  return TAKT_NPU_RESULT_INVALID;
}

bool Model::Reshape() {
  std::vector<const char*> names;
  std::vector<ov_partial_shape_t> shapes;
  bool is_done = true;
  for (const Port& port : inputs_) {
    if (port.info.dims.empty()) continue;  // As in HasShape().
    ov_partial_shape_t shape = {};
    is_done = is_done && ov_partial_shape_create_static(
                             static_cast<int64_t>(port.info.dims.size()),
                             port.info.dims.data(), &shape) == OK;
    if (!is_done) break;
    names.push_back(port.info.name.c_str());
    shapes.push_back(shape);
  }
  is_done = is_done && !shapes.empty() &&
            ov_model_reshape(network_.get(), names.data(), shapes.data(),
                             shapes.size()) == OK;
  for (ov_partial_shape_t& shape : shapes) ov_partial_shape_free(&shape);
  return is_done;
}

takt_npu_result_t Model::Compile(const Calls& calls, const ov_core_t* core,
                                 const std::string& device) {
  for (auto* ports : {&inputs_, &outputs_}) {
    for (Port& port : *ports) port.tensor.reset();
  }
  request_.reset();
  compiled_.reset();
  ov_compiled_model_t* compiled = nullptr;
  ov_status_e status =
      calls.compile(core, network_.get(), device.c_str(), 0, &compiled);
  compiled_.reset(compiled);
  ov_infer_request_t* request = nullptr;
  if (status == OK) {
    status = ov_compiled_model_create_infer_request(compiled, &request);
  }
  request_.reset(request);
  if (status != OK) {
    return Blame(ResultOf(status, LastError(calls)),
                 TAKT_NPU_RESULT_UNSUPPORTED);
  }
  return Check() == TAKT_NPU_RESULT_OK && FindTensors()
             ? TAKT_NPU_RESULT_OK
             : TAKT_NPU_RESULT_INVALID;
}

takt_npu_result_t Model::Check() const {
  size_t input_count = 0;
  size_t output_count = 0;
  if (ov_compiled_model_inputs_size(compiled_.get(), &input_count) != OK ||
      ov_compiled_model_outputs_size(compiled_.get(), &output_count) != OK) {
    return TAKT_NPU_RESULT_FAILED;
  }
  return input_count == inputs_.size() && output_count == outputs_.size()
             ? TAKT_NPU_RESULT_OK
             : TAKT_NPU_RESULT_INVALID;
}

bool Model::FindTensors() {
  for (auto* ports : {&inputs_, &outputs_}) {
    for (Port& port : *ports) {
      ov_tensor_t* tensor = nullptr;
      if (ov_infer_request_get_tensor(request_.get(), port.info.name.c_str(),
                                      &tensor) != OK) {
        return false;
      }
      port.tensor.reset(tensor);
      if (!Matches(tensor, port.info)) return false;
    }
  }
  // Two names of one input would leave another one without a binding.
  for (const Port& port : inputs_) {
    const auto* data = DataOf(port.tensor.get(), port.info.byte_length);
    for (const Port* other = inputs_.data(); other != &port; ++other) {
      if (DataOf(other->tensor.get(), other->info.byte_length) == data) {
        return false;
      }
    }
  }
  return true;
}

bool Model::Takes(const takt_npu_range_t* bindings, size_t count) const {
  if (count != binding_count()) return false;
  for (size_t i = 0; i < count; ++i) {
    const Port& port =
        i < inputs_.size() ? inputs_[i] : outputs_[i - inputs_.size()];
    if (bindings[i].data == nullptr ||
        bindings[i].byte_length != port.info.byte_length) {
      return false;
    }
  }
  return true;
}

bool Model::CopyIn(const takt_npu_range_t* bindings) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const size_t bytes = inputs_[i].info.byte_length;
    uint8_t* const data = DataOf(inputs_[i].tensor.get(), bytes);
    if (data == nullptr) return false;
    std::memcpy(data, bindings[i].data, bytes);
  }
  return true;
}

bool Model::CopyOut(const takt_npu_range_t* bindings) const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const size_t bytes = outputs_[i].info.byte_length;
    const uint8_t* const data = DataOf(outputs_[i].tensor.get(), bytes);
    if (data == nullptr) return false;
    std::memcpy(bindings[inputs_.size() + i].data, data, bytes);
  }
  return true;
}

}  // namespace takt::openvino
