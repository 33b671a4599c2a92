#include "takt/check.h"

#include "abi/guard.h"
#include "api/handle.h"
#include "modules/check_module.h"
#include "runtime/instance.h"

namespace takt::api {
namespace {

absl::StatusOr<Ref<vm::Module>> CreateCheck(runtime::Instance* instance,
                                            takt_check_callback_t callback,
                                            void* user_data) {
  return modules::CreateCheckModule(
      instance->types(), [callback, user_data](const std::string& message) {
        callback(user_data, message.c_str());
      });
}

}  // namespace
}  // namespace takt::api

takt_status_t takt_check_module_create(takt_instance_t* instance,
                                       takt_check_callback_t callback,
                                       void* user_data,
                                       takt_module_t** out_module) {
  TAKT_REQUIRE(instance, callback, out_module);
  TAKT_TRY {
    return takt::api::Give(__func__,
                           takt::api::CreateCheck(takt::api::Unwrap(instance),
                                                  callback, user_data),
                           out_module);
  }
  TAKT_CATCH_ALL(instance, callback, out_module);
}
