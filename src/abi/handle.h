// Handles of the C functions are Object pointers: takt_buffer_t* is the
// hal::Buffer itself. Unwrap() and Wrap() convert, and Give() ends a function
// that hands out an object. api/handle.h and analysis/handle.h list the handles
// of the two libraries.
#ifndef TAKT_ABI_HANDLE_H_
#define TAKT_ABI_HANDLE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "abi/null.h"
#include "abi/status.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/object.h"
#include "base/status.h"

namespace takt::abi {

// The class of the object that a handle points at, and the handle type of a
// class. TAKT_HANDLE() declares both.
template <typename Handle>
struct HandleTraits;
template <typename T>
struct ObjectTraits;

// TAKT_HANDLE(takt_fence_t, hal::Fence); stands in namespace takt::abi.
#define TAKT_HANDLE(handle_type, object_type) \
  template <>                                 \
  struct HandleTraits<handle_type> {          \
    using Type = object_type;                 \
  };                                          \
  template <>                                 \
  struct ObjectTraits<object_type> {          \
    using Handle = handle_type;               \
  }

// The object of a handle; T must be complete where these are used. Constness
// is the C API's way to say that a call leaves the object as it is; inside it
// is a matter of the methods.
template <typename Handle>
auto* Unwrap(Handle* handle) {
  using T = typename HandleTraits<std::remove_const_t<Handle>>::Type;
  return static_cast<T*>(reinterpret_cast<Object*>(
      const_cast<std::remove_const_t<Handle>*>(handle)));
}
template <typename T>
auto* Wrap(T* object) {
  using Handle = typename ObjectTraits<T>::Handle;
  return reinterpret_cast<Handle*>(static_cast<Object*>(object));
}

template <typename Handle>
void RetainHandle(Handle* handle) {
  if (handle != nullptr) Unwrap(handle)->Retain();
}
template <typename Handle>
void ReleaseHandle(Handle* handle) {
  if (handle != nullptr) Unwrap(handle)->Release();
}

// Ends a function with an out-parameter: the reference, or NULL and the error.
template <typename T, typename Handle>
takt_status_t Give(const char* source, absl::StatusOr<Ref<T>> result,
                   Handle** out) {
  *out = nullptr;
  if (!result.ok()) return ToStatus(source, result.status());
  *out = Wrap(
      static_cast<typename HandleTraits<Handle>::Type*>(result->release()));
  return nullptr;
}

// INVALID_ARGUMENT if a pointer that must not be NULL is.
template <typename T>
absl::Status Require(const T* pointer, absl::string_view name) {
  if (pointer != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " is NULL"));
}

// The options as this library knows them: what the caller gave (perhaps fewer
// fields, of an older header), defaults for the rest.
template <typename Options>
absl::StatusOr<Options> ReadOptions(const Options* options,
                                    void (*init)(Options*)) {
  Options result;
  init(&result);
  if (options == nullptr) return result;
  if (options->struct_size < sizeof(size_t)) {
    return absl::InvalidArgumentError(
        "options: struct_size is not set; fill them with their _init()");
  }
  std::memcpy(static_cast<void*>(&result), options,
              std::min(options->struct_size, sizeof(result)));
  result.struct_size = sizeof(result);
  return result;
}

// What a caller gets of a structure with a struct_size that it has set: as many
// fields as its header knows.
template <typename T>
void WriteSized(T value, T* out) {
  value.struct_size = out->struct_size;
  std::memcpy(static_cast<void*>(out), &value,
              std::min(out->struct_size, sizeof(value)));
}

// The same where that is checked: INVALID_ARGUMENT if `out` is NULL, or its
// struct_size was not set.
template <typename T>
absl::Status RequireSized(const T* out, absl::string_view name) {
  TAKT_RETURN_IF_ERROR(Require(out, name));
  if (out->struct_size >= sizeof(size_t)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": struct_size is not set"));
}

}  // namespace takt::abi

#endif  // TAKT_ABI_HANDLE_H_
