#include "function.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "errors.h"
#include "fence.h"
#include "gil.h"
#include "options.h"
#include "wait.h"

namespace nb = nanobind;

namespace takt::python {
namespace {

// A call that takes no longer is made in the quickest way, and signals wait
// for its end.
constexpr int64_t kShortCallNs = 20'000'000;

// True: `name` is an option, whose value was stored.
bool ReadOption(nb::handle name, nb::handle value, CallOptions* options) {
  const auto is = [&](const char* text) {
    return PyUnicode_CompareWithASCIIString(name.ptr(), text) == 0;
  };
  if (is("timeout")) {
    if (!value.is_none()) options->timeout_ns = ToNs(value, "timeout");
  } else if (is("deadline")) {
    if (!value.is_none()) {
      options->deadline_ns = takt_clock_deadline_ns(ToNs(value, "deadline"));
    }
  } else if (is("priority")) {
    if (!value.is_none()) options->priority = ToPriority(value);
  } else if (is("cpus")) {
    if (!value.is_none()) options->cpu_words = ToCpuWords(value);
  } else if (is("memory_limit")) {
    if (!value.is_none()) {
      options->memory_limit = ToOption<uint64_t>(value, "memory_limit");
    }
  } else if (is("step_limit")) {
    if (!value.is_none()) {
      options->step_limit = ToOption<uint64_t>(value, "step_limit");
    }
  } else {
    return false;
  }
  return true;
}

template <typename Options>
void FillOptions(const CallOptions& from, Options* options) {
  options->timeout_ns = from.timeout_ns;
  options->deadline_ns = from.deadline_ns;
  options->priority = from.priority;
  options->cpu_words = from.cpu_words.data();
  options->cpu_word_count = from.cpu_words.size();
  options->memory_limit = from.memory_limit;
  options->step_limit = from.step_limit;
}

// Runs on the thread that ended the call.
void CallOnDone(void* user_data, takt_invocation_t* invocation,
                takt_status_t status) {
  (void)invocation;
  takt_status_free(status);  // The results have it, too.
  if (Py_IsInitialized() == 0) return;
  const WithGil gil;
  nb::object on_done = nb::steal(static_cast<PyObject*>(user_data));
  try {
    on_done();
  } catch (nb::python_error& error) {
    error.discard_as_unraisable(on_done);
  }
}

}  // namespace

namespace {

double ToDouble(nb::handle value, const char* what, const char* expected) {
  if (PyNumber_Check(value.ptr()) == 0) {
    RaiseUnexpected(what, expected, value);
  }
  return nb::cast<double>(nb::float_(value));
}

}  // namespace

int64_t ToNs(nb::handle seconds, const char* what) {
  const double value = ToDouble(seconds, what, "seconds");
  // 2^63 ns are some 292 years.
  if (!(value >= 0 && value <= 9e9)) {
    RaiseInvalidArgument(std::string(what) + ": " + std::to_string(value) +
                         " s is no length of time");
  }
  return std::max<int64_t>(std::llround(value * 1e9), value > 0 ? 1 : 0);
}

uint32_t ToPermille(nb::handle part, const char* what) {
  const double value = ToDouble(part, what, "a number");
  const double permille = std::round(value * 1000);
  const bool is_lost = permille == 0 && value != 0;
  if (is_lost || !(permille >= 0 && permille <= INT32_MAX)) {
    RaiseInvalidArgument(std::string(what) + ": " + std::to_string(value) +
                         " is no number of thousandths");
  }
  return static_cast<uint32_t>(permille);
}

int64_t DeadlineOf(nb::handle timeout) {
  if (timeout.is_none()) return TAKT_INFINITE_FUTURE;
  return takt_clock_deadline_ns(ToNs(timeout, "timeout"));
}

std::vector<uint64_t> ToCpuWords(nb::handle cpus) {
  constexpr int64_t kCpuMax = 4096;
  std::vector<uint64_t> words;
  for (nb::handle each : cpus) {
    const int64_t cpu = ToOption<int64_t>(each, "cpus");
    if (cpu < 0 || cpu >= kCpuMax) {
      RaiseInvalidArgument("cpus: there is no CPU " + std::to_string(cpu));
    }
    const size_t word = static_cast<size_t>(cpu) / 64;
    words.resize(std::max(words.size(), word + 1));
    words[word] |= uint64_t{1} << (cpu % 64);
  }
  if (words.empty()) RaiseInvalidArgument("cpus: no CPU");
  return words;
}

namespace {

void WaitUntilDone(takt_invocation_t* invocation, int64_t deadline_ns) {
  WaitForSignals(
      deadline_ns, "the call is not done yet",
      [&](int64_t slice_ns, bool* is_done) {
        takt_status_t status = takt_invocation_wait(invocation, slice_ns);
        if (takt_status_code(status) != TAKT_STATUS_DEADLINE_EXCEEDED) {
          return status;
        }
        takt_status_free(status);  // The wait's, or the call's own.
        return takt_invocation_query(invocation, is_done);
      });
}

}  // namespace

bool Invocation::IsDone() const {
  return takt_invocation_state(invocation_.get()) == TAKT_INVOCATION_DONE;
}

nb::object Invocation::Result(nb::handle timeout) {
  if (!results_.is_valid()) {
    if (!IsDone()) CallbackScope::CheckMayWait(device_);
    WaitUntilDone(invocation_.get(), DeadlineOf(timeout));
  }
  // Another thread may have waited as well, and have taken them.
  if (!results_.is_valid()) {
    Values results(result_elements_.size());
    Check(takt_invocation_take_results(invocation_.get(), results.size(),
                                       results.data()));
    results_ = FromResults(results.size(), results.data(), result_elements_);
  }
  return results_;
}

void Invocation::Cancel() {
  const WithoutGil no_gil;
  takt_invocation_cancel(invocation_.get());
}

Function::Function(FunctionHandle function, DeviceHandle device,
                   Process process)
    : function_(std::move(function)),
      device_(std::move(device)),
      process_(process),
      name_(takt_function_name(function_.get())) {
  takt_signature_t* signature = takt_function_signature(function_.get());
  for (size_t i = 0; i < takt_signature_argument_count(signature); ++i) {
    arguments_.push_back(takt_signature_argument(signature, i));
  }
  for (size_t i = 0; i < takt_signature_result_count(signature); ++i) {
    result_elements_.push_back(
        takt_signature_result(signature, i)->element_type);
  }
}

Function::~Function() {
  // The last reference of an instance waits for its workers, which may be in a
  // callback that waits for the GIL.
  const WithoutGil no_gil;
  function_.Reset();
  device_.Reset();
}

Values Function::MakeArguments(nb::handle args, nb::handle kwargs,
                               CallOptions* options, Lending lending) const {
  const size_t count = arguments_.size();
  const size_t given = static_cast<size_t>(PyTuple_Size(args.ptr()));
  if (given > count) {
    PyErr_Format(PyExc_TypeError, "%s takes %zu input%s, got %zu",
                 name_.c_str(), count, count == 1 ? "" : "s", given);
    throw nb::python_error();
  }
  Values values(count);
  const auto to_value = [&](nb::handle object, size_t index) {
    return ToValue(object, *arguments_[index], device_.get(), name_, index,
                   lending);
  };
  for (size_t i = 0; i < given; ++i) {
    values[i] =
        to_value(PyTuple_GetItem(args.ptr(), static_cast<Py_ssize_t>(i)), i);
  }
  size_t named = 0;
  if (kwargs.is_valid() && PyDict_Size(kwargs.ptr()) > 0) {
    for (auto [name, value] : nb::borrow<nb::dict>(kwargs)) {
      size_t index = 0;
      while (index < count && PyUnicode_CompareWithASCIIString(
                                  name.ptr(), arguments_[index]->name) != 0) {
        ++index;
      }
      if (index < given) {
        PyErr_Format(PyExc_TypeError, "%s got its input %R twice",
                     name_.c_str(), name.ptr());
        throw nb::python_error();
      }
      if (index < count) {
        values[index] = to_value(value, index);
        ++named;
      } else if (!ReadOption(name, value, options)) {
        PyErr_Format(PyExc_TypeError, "%s has no input, and no option, %R",
                     name_.c_str(), name.ptr());
        throw nb::python_error();
      }
    }
  }
  if (given + named != count) {
    PyErr_Format(PyExc_TypeError, "%s takes %zu input%s, got %zu",
                 name_.c_str(), count, count == 1 ? "" : "s", given + named);
    throw nb::python_error();
  }
  return values;
}

nb::object Function::Call(nb::args args, nb::kwargs kwargs) {
  CallbackScope::CheckMayWait(device());
  CallOptions options;
  Values arguments = MakeArguments(args, kwargs, &options);
  const int64_t begin_ns = takt_clock_now_ns();
  if (last_ns_.load(std::memory_order_relaxed) > kShortCallNs) {
    std::unique_ptr<Invocation> invocation =
        Start(arguments, options, nullptr, nullptr, nb::none());
    try {
      nb::object results = invocation->Result(nb::none());
      last_ns_.store(takt_clock_now_ns() - begin_ns, std::memory_order_relaxed);
      return results;
    } catch (nb::python_error&) {  // KeyboardInterrupt, say.
      invocation->Cancel();
      throw;
    }
  }
  takt_invoke_options_t invoke;
  takt_invoke_options_init(&invoke);
  FillOptions(options, &invoke);
  Values results(result_elements_.size());
  takt_status_t status = nullptr;
  {
    const WithoutGil no_gil;
    status =
        takt_function_invoke(function_.get(), &invoke, arguments.size(),
                             arguments.data(), results.size(), results.data());
  }
  last_ns_.store(takt_clock_now_ns() - begin_ns, std::memory_order_relaxed);
  Check(status);
  return FromResults(results.size(), results.data(), result_elements_);
}

std::unique_ptr<Invocation> Function::Submit(nb::handle args, nb::handle kwargs,
                                             takt_fence_t* wait,
                                             takt_fence_t* signal,
                                             nb::handle on_done) {
  CallOptions options;
  Values arguments = MakeArguments(args, kwargs, &options);
  return Start(arguments, options, wait, signal, on_done);
}

std::unique_ptr<Invocation> Function::Start(const Values& arguments,
                                            const CallOptions& options,
                                            takt_fence_t* wait,
                                            takt_fence_t* signal,
                                            nb::handle on_done) {
  takt_async_options_t async;
  takt_async_options_init(&async);
  FillOptions(options, &async);
  if (!on_done.is_none()) {
    process_.CheckIsHere(
        "no thread ends the call in a child of fork(): call it and wait, or "
        "make an instance in the child");
    async.on_done = CallOnDone;
    async.user_data = nb::borrow(on_done).release().ptr();
  }
  InvocationHandle invocation;
  takt_status_t status = nullptr;
  {
    const WithoutGil no_gil;
    status =
        takt_async_invoke(function_.get(), &async, arguments.size(),
                          arguments.data(), wait, signal, invocation.out());
  }
  if (status != nullptr && async.user_data != nullptr) {
    nb::steal(static_cast<PyObject*>(async.user_data));  // It is not called.
  }
  Check(status);
  return std::make_unique<Invocation>(std::move(invocation), device(),
                                      result_elements_);
}

namespace {

nb::object DescribeType(const takt_value_type_t& type) {
  nb::dict result;
  result["name"] = type.name;
  result["type"] = type.type;
  result["kind"] = takt_value_kind_name(type.kind);
  if (type.is_tensor) {
    nb::list shape;
    for (size_t i = 0; i < type.rank; ++i) {
      if (type.shape[i] == TAKT_DIMENSION_DYNAMIC) {
        shape.append(nb::none());
      } else {
        shape.append(type.shape[i]);
      }
    }
    result["dtype"] = DtypeName(type.element_type);
    result["shape"] = nb::tuple(shape);
  }
  return result;
}

nb::dict Signature(const Function& function) {
  takt_signature_t* signature = takt_function_signature(function.get());
  nb::list inputs;
  for (size_t i = 0; i < takt_signature_argument_count(signature); ++i) {
    inputs.append(DescribeType(*takt_signature_argument(signature, i)));
  }
  nb::list outputs;
  for (size_t i = 0; i < takt_signature_result_count(signature); ++i) {
    outputs.append(DescribeType(*takt_signature_result(signature, i)));
  }
  nb::dict result;
  result["inputs"] = inputs;
  result["outputs"] = outputs;
  result["declaration"] = takt_signature_declaration(signature);
  result["is_async"] = takt_signature_is_async(signature);
  return result;
}

nb::dict QueryMemory(const Function& function) {
  takt_memory_need_t from = {};
  from.struct_size = sizeof(from);
  Check(takt_function_query_memory(function.get(), &from));
  nb::dict result;
  result["allocations"] = from.known_count;
  result["bytes_largest"] = from.bytes_largest;
  result["bytes_total"] = from.bytes_total;
  result["unknown"] = from.unknown_count;
  result["is_bounded"] = from.is_bounded;
  return result;
}

// Does in advance what the first call would have to do.
void Prepare(const Function& function) {
  takt_status_t status = nullptr;
  {
    const WithoutGil no_gil;
    status = takt_function_prepare(function.get());
  }
  Check(status);
}

std::unique_ptr<Function> Declare(const Function& function,
                                  const char* declaration) {
  FunctionHandle declared;
  Check(takt_function_declare(function.get(), declaration, declared.out()));
  takt_device_retain(function.device());
  return std::make_unique<Function>(
      std::move(declared), DeviceHandle(function.device()), function.process());
}

}  // namespace

void BindFunction(nb::module_& module) {
  nb::class_<Invocation>(module, "Invocation", "A call that was made.")
      .def_prop_ro("done", &Invocation::IsDone)
      .def("result", &Invocation::Result, nb::lock_self(),
           nb::arg("timeout").none() = nb::none())
      .def("cancel", &Invocation::Cancel);
  nb::class_<Function>(module, "Function", nb::is_weak_referenceable(),
                       "An exported function of a context.")
      .def_prop_ro("name", &Function::name)
      .def_prop_ro("signature", &Signature)
      .def("attribute",
           [](const Function& function, const char* key) -> nb::object {
             const char* value = takt_function_attribute(function.get(), key);
             return value != nullptr ? nb::object(nb::str(value)) : nb::none();
           })
      .def("declare", &Declare)
      .def("memory", &QueryMemory)
      .def("prepare", &Prepare)
      .def("__call__", &Function::Call)
      .def(
          "submit",
          [](Function& function, nb::tuple args, nb::dict kwargs,
             const Fence* wait, const Fence* signal, nb::object on_done) {
            return function.Submit(args, kwargs, FenceOf(wait), FenceOf(signal),
                                   on_done);
          },
          nb::arg("args"), nb::arg("kwargs"), nb::arg("wait").none(),
          nb::arg("signal").none(), nb::arg("on_done").none());
}

}  // namespace takt::python
