// OpenVINO's C API as the driver uses it: objects that free themselves, and the
// functions whose failures the tests cause.
#ifndef TAKT_DRIVERS_OPENVINO_OPENVINO_API_H_
#define TAKT_DRIVERS_OPENVINO_OPENVINO_API_H_

#include <openvino/c/openvino.h>

#include <memory>
#include <string>

#include "takt/npu_driver.h"

namespace takt::openvino {

template <auto kFree>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Core = std::unique_ptr<ov_core_t, Deleter<&ov_core_free>>;
using Network = std::unique_ptr<ov_model_t, Deleter<&ov_model_free>>;
using Compiled =
    std::unique_ptr<ov_compiled_model_t, Deleter<&ov_compiled_model_free>>;
using Request =
    std::unique_ptr<ov_infer_request_t, Deleter<&ov_infer_request_free>>;
using Tensor = std::unique_ptr<ov_tensor_t, Deleter<&ov_tensor_free>>;
using Text = std::unique_ptr<const char, Deleter<&ov_free>>;

// The functions through which a device fails.
struct Calls {
  decltype(&ov_core_compile_model) compile = &ov_core_compile_model;
  decltype(&ov_infer_request_start_async) start = &ov_infer_request_start_async;
  decltype(&ov_infer_request_wait) wait = &ov_infer_request_wait;
  decltype(&ov_infer_request_cancel) cancel = &ov_infer_request_cancel;
  decltype(&ov_get_last_err_msg) last_error = &ov_get_last_err_msg;
  decltype(&ov_core_get_property) get_property = &ov_core_get_property;
};

// What an error of OpenVINO is for Takt. Plugins say the cause in the message
// only: the names of Level Zero's results.
takt_npu_result_t ResultOf(ov_status_e status, const std::string& message);

// The message of the last error. OpenVINO keeps one for all threads.
std::string LastError(const Calls& calls);

// A property of a device, or "" if it has none of that name.
std::string PropertyOf(const Calls& calls, const ov_core_t* core,
                       const std::string& device, const char* key);

}  // namespace takt::openvino

#endif  // TAKT_DRIVERS_OPENVINO_OPENVINO_API_H_
