// A function that can be called from Python, and a call that was made of it.
//
// Thread-safety: every method needs the GIL, or the lock of the object where
// there is no GIL, and gives it up while it waits.
#ifndef TAKT_PYTHON_FUNCTION_H_
#define TAKT_PYTHON_FUNCTION_H_

#include <nanobind/nanobind.h>
#include <takt/takt.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "handle.h"
#include "process.h"
#include "tensors.h"

namespace takt::python {

// What a caller says beside the arguments.
struct CallOptions {
  int64_t timeout_ns = 0;                       // 0: none.
  int64_t deadline_ns = TAKT_DEADLINE_DEFAULT;  // On takt_clock_now_ns().
  int32_t priority = TAKT_PRIORITY_DEFAULT;
  std::vector<uint64_t> cpu_words;  // Empty: not said.
  uint64_t memory_limit = 0;        // In bytes; 0: the context's.
  uint64_t step_limit = 0;          // 0: none.
};

// Seconds, an int or a float, in ns. Throws takt.InvalidArgument for what is
// no length of time; `what` names it. A time above 0 becomes 1 ns or more.
int64_t ToNs(nanobind::handle seconds, const char* what);

// A number in thousandths. Throws takt.InvalidArgument for one below 0, for one
// so small that it would become 0, and for what is no number; `what` names it.
uint32_t ToPermille(nanobind::handle part, const char* what);

// The words of a set of CPUs, an iterable of int.
std::vector<uint64_t> ToCpuWords(nanobind::handle cpus);

class Invocation {
 public:
  // `device`: where the call is made; compared only.
  Invocation(InvocationHandle invocation, const takt_device_t* device,
             ElementTypes result_elements)
      : invocation_(std::move(invocation)),
        device_(device),
        result_elements_(std::move(result_elements)) {}

  bool IsDone() const;
  // Waits, and gives the results: each time the same objects. Signals of Python
  // are looked at meanwhile: an exception of theirs, such as KeyboardInterrupt,
  // ends the wait. `timeout`: seconds, or None.
  nanobind::object Result(nanobind::handle timeout);
  void Cancel();

 private:
  InvocationHandle invocation_;
  const takt_device_t* const device_;
  const ElementTypes result_elements_;
  nanobind::object results_;  // Not valid: not taken yet.
};

class Function {
 public:
  // `device`: what arguments are copied to. `process`: of the instance.
  Function(FunctionHandle function, DeviceHandle device, Process process);
  ~Function();

  takt_function_t* get() const { return function_.get(); }
  takt_device_t* device() const { return device_.get(); }
  Process process() const { return process_; }
  const std::string& name() const { return name_; }
  // One element type for each result; it is not used for those that are no
  // tensors.
  const ElementTypes& result_elements() const { return result_elements_; }
  size_t argument_count() const { return arguments_.size(); }
  // Below argument_count().
  const takt_value_type_t& argument(size_t index) const {
    return *arguments_[index];
  }

  nanobind::object Call(nanobind::args args, nanobind::kwargs kwargs);
  // `on_done`: called without arguments on some thread when the call is done;
  // or None.
  std::unique_ptr<Invocation> Submit(nanobind::handle args,
                                     nanobind::handle kwargs,
                                     takt_fence_t* wait, takt_fence_t* signal,
                                     nanobind::handle on_done);

  // Arguments by position and by name. Names that are no inputs are options;
  // what is neither, or is missing, throws TypeError.
  Values MakeArguments(nanobind::handle args, nanobind::handle kwargs,
                       CallOptions* options,
                       Lending lending = Lending::kIfAligned) const;

 private:
  std::unique_ptr<Invocation> Start(const Values& arguments,
                                    const CallOptions& options,
                                    takt_fence_t* wait, takt_fence_t* signal,
                                    nanobind::handle on_done);

  FunctionHandle function_;
  DeviceHandle device_;
  const Process process_;
  std::string name_;
  std::vector<const takt_value_type_t*> arguments_;
  ElementTypes result_elements_;
  // What the last call took; a call that is expected to be long is made so
  // that signals of Python can end it.
  std::atomic<int64_t> last_ns_{INT64_MAX};
};

void BindFunction(nanobind::module_& module);

}  // namespace takt::python

#endif  // TAKT_PYTHON_FUNCTION_H_
