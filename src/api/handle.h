// Handles of the C API are Object pointers: takt_buffer_t* is the hal::Buffer
// itself. Unwrap() and Wrap() convert, and Give() ends a function that hands
// out an object.
#ifndef TAKT_API_HANDLE_H_
#define TAKT_API_HANDLE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "api/null.h"
#include "api/status.h"
#include "base/object.h"
#include "base/status.h"

struct takt_buffer_t;
struct takt_buffer_view_t;
struct takt_byte_buffer_t;
struct takt_command_buffer_t;
struct takt_context_t;
struct takt_device_t;
struct takt_executable_t;
struct takt_executor_t;
struct takt_fence_t;
struct takt_file_t;
struct takt_function_t;
struct takt_instance_t;
struct takt_invocation_t;
struct takt_list_t;
struct takt_module_t;
struct takt_object_t;
struct takt_object_type_t;
struct takt_parameters_t;
struct takt_plan_problem_t;
struct takt_plan_run_t;
struct takt_plan_t;
struct takt_plan_schedule_t;
struct takt_ring_t;
struct takt_signature_t;
struct takt_stream_t;
struct takt_timeline_t;
struct takt_topology_t;
struct takt_trace_t;
struct takt_workload_t;

namespace takt::hal {
class Buffer;
class BufferView;
class CommandBuffer;
class Device;
class Executable;
class Fence;
class File;
class Timeline;
}  // namespace takt::hal
namespace takt::exec {
class Executor;
}  // namespace takt::exec
namespace takt::trace {
class Trace;
}  // namespace takt::trace
namespace takt::vm {
class Buffer;
class List;
class Module;
}  // namespace takt::vm

namespace takt::api {

class AsyncCall;
class Context;
class Function;
class Instance;
class Parameters;
class PlanFile;
class PlanProblem;
class PlanRun;
class PlanSchedule;
class Ring;
class Signature;
class Stream;
class Topology;
class Workload;
class UserType;

// Which class is behind a handle, and the other way round.
template <typename Handle>
struct Behind;
template <typename T>
struct InFrontOf;

template <typename H, typename T>
struct HandlePair {
  using Type = T;
  using Handle = H;
};
#define TAKT_HANDLE_(handle, type)                     \
  template <>                                          \
  struct Behind<handle> : HandlePair<handle, type> {}; \
  template <>                                          \
  struct InFrontOf<type> : HandlePair<handle, type> {}
TAKT_HANDLE_(takt_buffer_t, hal::Buffer);
TAKT_HANDLE_(takt_buffer_view_t, hal::BufferView);
TAKT_HANDLE_(takt_byte_buffer_t, vm::Buffer);
TAKT_HANDLE_(takt_command_buffer_t, hal::CommandBuffer);
TAKT_HANDLE_(takt_context_t, Context);
TAKT_HANDLE_(takt_device_t, hal::Device);
TAKT_HANDLE_(takt_executable_t, hal::Executable);
TAKT_HANDLE_(takt_executor_t, exec::Executor);
TAKT_HANDLE_(takt_fence_t, hal::Fence);
TAKT_HANDLE_(takt_file_t, hal::File);
TAKT_HANDLE_(takt_function_t, Function);
TAKT_HANDLE_(takt_instance_t, Instance);
TAKT_HANDLE_(takt_invocation_t, AsyncCall);
TAKT_HANDLE_(takt_list_t, vm::List);
TAKT_HANDLE_(takt_module_t, vm::Module);
TAKT_HANDLE_(takt_object_t, Object);
TAKT_HANDLE_(takt_object_type_t, UserType);
TAKT_HANDLE_(takt_parameters_t, Parameters);
TAKT_HANDLE_(takt_plan_problem_t, PlanProblem);
TAKT_HANDLE_(takt_plan_run_t, PlanRun);
TAKT_HANDLE_(takt_plan_t, PlanFile);
TAKT_HANDLE_(takt_plan_schedule_t, PlanSchedule);
TAKT_HANDLE_(takt_ring_t, Ring);
TAKT_HANDLE_(takt_signature_t, Signature);
TAKT_HANDLE_(takt_stream_t, Stream);
TAKT_HANDLE_(takt_timeline_t, hal::Timeline);
TAKT_HANDLE_(takt_topology_t, Topology);
TAKT_HANDLE_(takt_trace_t, trace::Trace);
TAKT_HANDLE_(takt_workload_t, Workload);
#undef TAKT_HANDLE_

// The object of a handle; T must be complete where these are used. Constness
// is the C API's way to say that a call leaves the object as it is; inside it
// is a matter of the methods.
template <typename Handle>
auto* Unwrap(Handle* handle) {
  using T = typename Behind<std::remove_const_t<Handle>>::Type;
  return static_cast<T*>(reinterpret_cast<Object*>(
      const_cast<std::remove_const_t<Handle>*>(handle)));
}
template <typename T>
auto* Wrap(T* object) {
  using Handle = typename InFrontOf<T>::Handle;
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
  *out = Wrap(static_cast<typename Behind<Handle>::Type*>(result->release()));
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

}  // namespace takt::api

#endif  // TAKT_API_HANDLE_H_
