// A Handle owns one reference to an object of the C API.
//
// Thread-safety: as a std::unique_ptr's.
#ifndef TAKT_PYTHON_HANDLE_H_
#define TAKT_PYTHON_HANDLE_H_

#include <takt/takt.h>
#include <takt/tools/plan_contents.h>
#include <takt/tools/trace_contents.h>
#include <takt/tools/workload.h>

#include <utility>

namespace takt::python {

template <typename T, void (*kRetain)(T*), void (*kRelease)(T*)>
class Handle {
 public:
  Handle() = default;
  // Takes the caller's reference.
  explicit Handle(T* object) : object_(object) {}
  Handle(Handle&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { Reset(); }

  void Reset() {
    if (object_ != nullptr) kRelease(std::exchange(object_, nullptr));
  }
  Handle Share() const {
    if (object_ != nullptr) kRetain(object_);
    return Handle(object_);
  }
  T* get() const { return object_; }
  // Gives the reference up without releasing it.
  void Leak() { object_ = nullptr; }
  // For a function that stores a new reference through a T**.
  T** out() {
    Reset();
    return &object_;
  }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

#define TAKT_PYTHON_HANDLE(Name, noun) \
  using Name =                         \
      Handle<takt_##noun##_t, takt_##noun##_retain, takt_##noun##_release>
TAKT_PYTHON_HANDLE(InstanceHandle, instance);
TAKT_PYTHON_HANDLE(DeviceHandle, device);
TAKT_PYTHON_HANDLE(ModuleHandle, module);
TAKT_PYTHON_HANDLE(ParametersHandle, parameters);
TAKT_PYTHON_HANDLE(ContextHandle, context);
TAKT_PYTHON_HANDLE(FunctionHandle, function);
TAKT_PYTHON_HANDLE(BufferHandle, buffer);
TAKT_PYTHON_HANDLE(BufferViewHandle, buffer_view);
TAKT_PYTHON_HANDLE(FenceHandle, fence);
TAKT_PYTHON_HANDLE(InvocationHandle, invocation);
TAKT_PYTHON_HANDLE(StreamHandle, stream);
TAKT_PYTHON_HANDLE(PlanHandle, plan);
TAKT_PYTHON_HANDLE(PlanContentsHandle, plan_contents);
TAKT_PYTHON_HANDLE(PlanRunHandle, plan_run);
TAKT_PYTHON_HANDLE(WorkloadHandle, workload);
TAKT_PYTHON_HANDLE(TimelineHandle, timeline);
TAKT_PYTHON_HANDLE(TraceHandle, trace);
TAKT_PYTHON_HANDLE(TraceContentsHandle, trace_contents);
#undef TAKT_PYTHON_HANDLE

}  // namespace takt::python

#endif  // TAKT_PYTHON_HANDLE_H_
