#include "drivers/openvino/openvino_api.h"

namespace takt::openvino {

takt_npu_result_t ResultOf(ov_status_e status, const std::string& message) {
  if (status == OK) return TAKT_NPU_RESULT_OK;
  if (status == INFER_CANCELLED) return TAKT_NPU_RESULT_CANCELLED;
  const auto says = [&](const char* what) {
    return message.find(what) != std::string::npos;
  };
  if (says("DEVICE_LOST")) return TAKT_NPU_RESULT_LOST;
  if (status == NOT_ALLOCATED || says("OUT_OF_DEVICE_MEMORY") ||
      says("OUT_OF_HOST_MEMORY")) {
    return TAKT_NPU_RESULT_NO_MEMORY;
  }
  return TAKT_NPU_RESULT_FAILED;
}

std::string LastError(const Calls& calls) {
  const Text message(calls.last_error());
  return message != nullptr ? message.get() : "";
}

std::string PropertyOf(const Calls& calls, const ov_core_t* core,
                       const std::string& device, const char* key) {
  char* value = nullptr;
  if (calls.get_property(core, device.c_str(), key, &value) != OK) return "";
  const Text owned(value);
  return value != nullptr ? value : "";
}

}  // namespace takt::openvino
