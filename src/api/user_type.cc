#include "runtime/user_type.h"

#include "abi/guard.h"
#include "api/handle.h"
#include "runtime/instance.h"
#include "takt/native_module.h"

namespace takt::api {
namespace {

absl::StatusOr<Ref<runtime::UserType>> RegisterType(
    runtime::Instance* instance, const char* name,
    void (*destroy)(void* payload)) {
  if (*name == 0) return absl::InvalidArgumentError("name is empty");
  auto type = MakeRef<runtime::UserType>(name, destroy);
  TAKT_RETURN_IF_ERROR(instance->RegisterUserType(type));
  return type;
}

}  // namespace
}  // namespace takt::api

using takt::Ref;
using takt::api::Unwrap;

takt_status_t takt_object_type_register(takt_instance_t* instance,
                                        const char* name,
                                        void (*destroy)(void* payload),
                                        takt_object_type_t** out_type) {
  TAKT_REQUIRE(instance, name, out_type);
  TAKT_TRY {
    return takt::api::Give(
        __func__, takt::api::RegisterType(Unwrap(instance), name, destroy),
        out_type);
  }
  TAKT_CATCH_ALL(instance, name, out_type);
}

void takt_object_type_retain(takt_object_type_t* type) {
  takt::api::RetainHandle(type);
}

void takt_object_type_release(takt_object_type_t* type) {
  takt::api::ReleaseHandle(type);
}

takt_object_t* takt_object_create(takt_object_type_t* type, void* payload) {
  TAKT_REQUIRE_OR(nullptr, type);
  TAKT_TRY {
    takt::Object* object = new takt::runtime::UserObject(
        Ref<takt::runtime::UserType>::Retain(Unwrap(type)), payload);
    return takt::api::Wrap(object);
  }
  TAKT_CATCH_ALL_OR(nullptr, type);
}

void* takt_object_payload(const takt_object_t* object,
                          const takt_object_type_t* type) {
  TAKT_REQUIRE_OR(nullptr, object, type);
  if (object == nullptr ||
      Unwrap(object)->type() != &Unwrap(type)->object_type()) {
    return nullptr;
  }
  return static_cast<takt::runtime::UserObject*>(Unwrap(object))->payload();
}
