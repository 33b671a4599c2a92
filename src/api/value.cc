#include "api/value.h"

#include "api/handle.h"
#include "hal/buffer.h"
#include "hal/buffer_view.h"
#include "hal/fence.h"
#include "vm/byte_buffer.h"
#include "vm/list.h"

namespace takt::api {
namespace {

template <typename Handle>
Handle* As(const takt_value_t* value) {
  if (value->kind != TAKT_VALUE_REF) return nullptr;
  using T = typename HandleTraits<Handle>::Type;
  T* object = DynCast<T>(reinterpret_cast<Object*>(value->ref));
  return object != nullptr ? Wrap(object) : nullptr;
}

}  // namespace
}  // namespace takt::api

using takt::api::As;

void takt_values_release(size_t value_count, takt_value_t* values) {
  TAKT_IGNORE_NULL(Items(value_count, values));
  for (size_t i = 0; i < value_count; ++i) {
    if (values[i].kind == TAKT_VALUE_REF) takt_object_release(values[i].ref);
    std::memset(&values[i], 0, sizeof(values[i]));
  }
}

takt_buffer_t* takt_value_as_buffer(const takt_value_t* value) {
  TAKT_REQUIRE_OR(nullptr, value);
  return As<takt_buffer_t>(value);
}
takt_buffer_view_t* takt_value_as_buffer_view(const takt_value_t* value) {
  TAKT_REQUIRE_OR(nullptr, value);
  return As<takt_buffer_view_t>(value);
}
takt_byte_buffer_t* takt_value_as_byte_buffer(const takt_value_t* value) {
  TAKT_REQUIRE_OR(nullptr, value);
  return As<takt_byte_buffer_t>(value);
}
takt_fence_t* takt_value_as_fence(const takt_value_t* value) {
  TAKT_REQUIRE_OR(nullptr, value);
  return As<takt_fence_t>(value);
}
takt_list_t* takt_value_as_list(const takt_value_t* value) {
  TAKT_REQUIRE_OR(nullptr, value);
  return As<takt_list_t>(value);
}

const char* takt_value_kind_name(takt_value_kind_t kind) {
  if (!takt::api::IsValueKind(kind)) return "?";
  return takt::vm::ValueKindName(static_cast<takt::vm::ValueKind>(kind));
}
