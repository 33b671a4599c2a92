#include "vm/list.h"

#include "abi/guard.h"
#include "api/handle.h"
#include "api/value.h"
#include "takt/list.h"

namespace takt::api {
namespace {

absl::StatusOr<Ref<vm::List>> CreateList(takt_value_kind_t kind,
                                         size_t capacity) {
  if (!IsValueKind(kind)) {
    return absl::InvalidArgumentError(
        absl::StrCat("element_kind ", static_cast<int>(kind), " is no kind"));
  }
  if (capacity > vm::List::kMaxSize) {
    return absl::ResourceExhaustedError(
        absl::StrCat("capacity ", capacity, " is beyond ", vm::List::kMaxSize));
  }
  vm::ElementType type;
  type.kind = static_cast<vm::ValueKind>(kind);
  return vm::List::Create(type, capacity);
}

absl::Status CheckElement(const takt_value_t* value) {
  if (IsValueKind(value->kind)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "value: kind ", static_cast<int>(value->kind), " is no kind"));
}

absl::Status SetElement(vm::List* list, size_t index,
                        const takt_value_t* value) {
  TAKT_RETURN_IF_ERROR(CheckElement(value));
  return list->Set(index, ToVmValue(*value));
}

absl::Status AppendElement(vm::List* list, const takt_value_t* value) {
  TAKT_RETURN_IF_ERROR(CheckElement(value));
  return list->Append(ToVmValue(*value));
}

}  // namespace
}  // namespace takt::api

using takt::api::ToStatus;
using takt::api::Unwrap;

takt_status_t takt_list_create(takt_value_kind_t element_kind, size_t capacity,
                               takt_list_t** out_list) {
  TAKT_REQUIRE(out_list);
  TAKT_TRY {
    return takt::api::Give(
        __func__, takt::api::CreateList(element_kind, capacity), out_list);
  }
  TAKT_CATCH_ALL(out_list);
}

void takt_list_retain(takt_list_t* list) { takt::api::RetainHandle(list); }

void takt_list_release(takt_list_t* list) { takt::api::ReleaseHandle(list); }

size_t takt_list_size(const takt_list_t* list) {
  TAKT_REQUIRE_OR(0, list);
  return Unwrap(list)->size();
}

takt_status_t takt_list_resize(takt_list_t* list, size_t size) {
  TAKT_REQUIRE(list);
  TAKT_TRY { return ToStatus(__func__, Unwrap(list)->Resize(size)); }
  TAKT_CATCH_ALL(list);
}

takt_status_t takt_list_get(const takt_list_t* list, size_t index,
                            takt_value_t* out_value) {
  TAKT_REQUIRE(list, out_value);
  TAKT_TRY {
    std::memset(out_value, 0, sizeof(*out_value));
    auto value = Unwrap(list)->Get(index);
    if (!value.ok()) return ToStatus(__func__, value.status());
    *out_value = takt::api::TakeVmValue(*std::move(value));
    return nullptr;
  }
  TAKT_CATCH_ALL(list, out_value);
}

takt_status_t takt_list_set(takt_list_t* list, size_t index,
                            const takt_value_t* value) {
  TAKT_REQUIRE(list, value);
  TAKT_TRY {
    return ToStatus(__func__,
                    takt::api::SetElement(Unwrap(list), index, value));
  }
  TAKT_CATCH_ALL(list, value);
}

takt_status_t takt_list_append(takt_list_t* list, const takt_value_t* value) {
  TAKT_REQUIRE(list, value);
  TAKT_TRY {
    return ToStatus(__func__, takt::api::AppendElement(Unwrap(list), value));
  }
  TAKT_CATCH_ALL(list, value);
}
