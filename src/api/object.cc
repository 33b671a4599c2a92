#include "takt/object.h"

#include "api/handle.h"

using takt::api::Unwrap;

void takt_object_retain(takt_object_t* object) {
  takt::api::RetainHandle(object);
}

void takt_object_release(takt_object_t* object) {
  takt::api::ReleaseHandle(object);
}

const char* takt_object_type_name(const takt_object_t* object) {
  TAKT_REQUIRE_OR("", object);
  return Unwrap(object)->type()->name;
}
