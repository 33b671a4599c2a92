#include "instance.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <takt/tools/trace_contents.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "errors.h"
#include "function.h"
#include "gil.h"
#include "handle.h"
#include "options.h"

namespace nb = nanobind;

namespace takt::python {
namespace {

struct Trace {
  TraceHandle handle;
  TraceContentsHandle contents;  // Made when they are asked for.
};

// Gives up the GIL, so that another thread may make them at the same time; the
// first ones stay.
takt_trace_contents_t* ContentsOf(Trace& trace) {
  if (!trace.contents) {
    TraceContentsHandle contents;
    takt_status_t status = nullptr;
    {
      const WithoutGil no_gil;
      status = takt_trace_contents_create(trace.handle.get(), contents.out());
    }
    Check(status);
    if (!trace.contents) trace.contents = std::move(contents);
  }
  return trace.contents.get();
}

struct Context {
  ContextHandle handle;
  DeviceHandle device;  // What arguments are copied to.
  Process process;
  ~Context() {
    ReleaseWithoutGil(handle);
    ReleaseWithoutGil(device);
  }
};

std::unique_ptr<Instance> CreateInstance(
    int32_t workers, const std::optional<std::string>& worker_cpus,
    int32_t worker_fifo_priority, int32_t timer_fifo_priority, double spin,
    double timer_spin, const std::string& policy, double window, double aging,
    const std::string& cores_path, nb::handle cores_share, double worker_budget,
    double worker_period) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = workers;
  if (worker_cpus) options.worker_cpus = ToCString(*worker_cpus, "worker_cpus");
  options.worker_fifo_priority = worker_fifo_priority;
  options.timer_fifo_priority = timer_fifo_priority;
  options.worker_spin_ns = ToNs(nb::float_(spin), "spin");
  options.timer_spin_ns = ToNs(nb::float_(timer_spin), "timer_spin");
  if (!cores_path.empty())
    options.cores_path = ToCString(cores_path, "cores_path");
  options.cores_share_permille =
      static_cast<int32_t>(ToPermille(cores_share, "cores_share"));
  options.worker_budget_ns = ToNs(nb::float_(worker_budget), "worker_budget");
  options.worker_period_ns = ToNs(nb::float_(worker_period), "worker_period");
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = ToCString(policy, "policy");
  scheduler.window_ns = ToNs(nb::float_(window), "window");
  scheduler.aging_ns = ToNs(nb::float_(aging), "aging");
  options.scheduler = &scheduler;
  auto instance = std::make_unique<Instance>();
  Check(takt_instance_create(&options, instance->handle.out()));
  return instance;
}

std::unique_ptr<Device> CreateDevice(const Instance& instance,
                                     const std::string& name,
                                     uint64_t memory_budget, bool learn_costs) {
  takt_device_options_t options;
  takt_device_options_init(&options);
  if (memory_budget != 0) options.memory_budget_bytes = memory_budget;
  options.learn_costs = learn_costs;
  auto device = std::make_unique<Device>();
  Check(takt_device_create(instance.handle.get(), ToCString(name, "device"),
                           &options, device->handle.out()));
  return device;
}

// `driver`: "host", "sim" or the path of a shared object.
std::unique_ptr<Device> CreateNpu(const Instance& instance,
                                  const std::string& driver,
                                  const std::string& driver_options,
                                  double time_limit, uint32_t retries,
                                  bool fall_back_to_cpu, bool native_code,
                                  bool may_route_to_cpu,
                                  const std::string& lease_path) {
  takt_npu_options_t options;
  takt_npu_options_init(&options);
  if (!driver_options.empty())
    options.driver_options = ToCString(driver_options, "driver_options");
  options.time_limit_ns = ToNs(nb::float_(time_limit), "time_limit");
  options.retry_max = retries;
  options.fall_back_to_cpu = fall_back_to_cpu;
  options.native_code = native_code;
  options.may_route_to_cpu = may_route_to_cpu;
  if (!lease_path.empty())
    options.lease_path = ToCString(lease_path, "lease_path");
  auto device = std::make_unique<Device>();
  if (driver == "host" || driver == "sim") {
    Check(takt_npu_device_create(
        instance.handle.get(),
        driver == "host" ? takt_npu_host_driver() : takt_npu_sim_driver(),
        &options, device->handle.out()));
  } else {
    Check(takt_npu_device_load(instance.handle.get(),
                               ToCString(driver, "driver"), &options,
                               device->handle.out()));
  }
  return device;
}

// None for a device without an NPU.
nb::object NpuStatistics(const Device& device) {
  takt_npu_statistics_t from = {};
  from.struct_size = sizeof(from);
  if (!takt_npu_device_statistics(device.handle.get(), &from)) {
    return nb::none();
  }
  nb::dict result;
  result["batches"] = from.batch_count;
  result["operations"] = from.operation_count;
  result["multiply_adds"] = from.mac_count;
  result["busy_ns"] = from.busy_ns;
  result["failed"] = from.failed_count;
  result["corrupted"] = from.corrupted_count;
  result["timed_out"] = from.time_out_count;
  result["cancelled"] = from.cancelled_count;
  result["overheated"] = from.overheated_count;
  result["lost"] = from.lost_count;
  result["refused"] = from.refused_count;
  result["retries"] = from.retry_count;
  result["resets"] = from.reset_count;
  result["quarantines"] = from.quarantine_count;
  result["errors"] = from.error_count;
  result["fallbacks"] = from.fallback_count;
  result["unsupported"] = from.unsupported_count;
  result["grants"] = from.grant_count;
  result["waits"] = from.wait_count;
  result["taken"] = from.taken_count;
  result["left_to_cpu"] = from.left_to_cpu_count;
  result["shared_grants"] = from.shared_grant_count;
  result["shared_waits"] = from.shared_wait_count;
  result["taken_back"] = from.taken_back_count;
  result["lost_turns"] = from.lost_turn_count;
  result["unarbitrated"] = from.unarbitrated_count;
  return result;
}

// None for a device without an NPU.
nb::object NpuCapabilities(const Device& device) {
  takt_npu_capabilities_t from = {};
  from.struct_size = sizeof(from);
  if (!takt_npu_device_capabilities(device.handle.get(), &from)) {
    return nb::none();
  }
  nb::dict result;
  result["name"] = from.name;
  result["kinds"] = from.kinds;
  result["types"] = from.types;
  result["tile_max"] =
      nb::make_tuple(from.tile_max[0], from.tile_max[1], from.tile_max[2]);
  result["memory_bytes"] = from.memory_bytes;
  return result;
}

// The verify hook of a module's file: `user_data` is a callable that gets the
// path and the bytes, and raises an exception to refuse them.
takt_status_t VerifyModule(void* user_data, const char* path, const void* data,
                           size_t byte_length) {
  const WithGil gil;
  const nb::handle verify(static_cast<PyObject*>(user_data));
  try {
    verify(path, nb::bytes(data, byte_length));
  } catch (const std::exception& error) {
    return takt_status_create(TAKT_STATUS_PERMISSION_DENIED, error.what());
  }
  return nullptr;
}

std::unique_ptr<Module> LoadFile(const Instance& instance,
                                 const std::string& path, bool preload,
                                 nb::handle verify) {
  takt_module_file_options_t options;
  takt_module_file_options_init(&options);
  options.mode = preload ? TAKT_MODULE_MODE_PRELOAD : TAKT_MODULE_MODE_MMAP;
  if (!verify.is_none()) {
    options.verify = &VerifyModule;
    options.verify_data = verify.ptr();
  }
  auto module = std::make_unique<Module>();
  const char* const file = ToCString(path, "path");
  takt_status_t status = nullptr;
  {
    const WithoutGil no_gil;
    status = takt_module_load_file(instance.handle.get(), file, &options,
                                   module->handle.out());
  }
  Check(status);
  return module;
}

std::unique_ptr<Module> LoadBytes(const Instance& instance, nb::bytes data) {
  takt_module_memory_options_t options;
  takt_module_memory_options_init(&options);
  auto module = std::make_unique<Module>();
  Check(takt_module_load_memory(instance.handle.get(), data.c_str(),
                                data.size(), &options, module->handle.out()));
  return module;
}

std::vector<std::string> ExportNames(const Module& module) {
  std::vector<std::string> names;
  const size_t count = takt_module_export_count(module.handle.get());
  for (size_t i = 0; i < count; ++i) {
    names.push_back(takt_module_export_name(module.handle.get(), i));
  }
  return names;
}

std::unique_ptr<Parameters> OpenParameters(const Instance& instance,
                                           const std::string& path,
                                           const std::string& scope) {
  takt_parameters_options_t options;
  takt_parameters_options_init(&options);
  options.scope = ToCString(scope, "scope");
  auto parameters = std::make_unique<Parameters>();
  Check(takt_parameters_open(instance.handle.get(), ToCString(path, "path"),
                             &options, parameters->handle.out()));
  return parameters;
}

// The length in bytes of each entry, by its key.
nb::dict DescribeEntries(const Parameters& parameters) {
  const takt_parameters_t* const from = parameters.handle.get();
  nb::dict result;
  for (size_t i = 0; i < takt_parameters_entry_count(from); ++i) {
    result[takt_parameters_entry_key(from, i)] =
        takt_parameters_entry_byte_length(from, i);
  }
  return result;
}

// The text that says what a device's memory is used for.
nb::str ExplainMemory(const Device& device) {
  char* text = nullptr;
  Check(takt_device_explain_memory(device.handle.get(), &text));
  nb::str result(text);
  takt_string_free(text);
  return result;
}

std::unique_ptr<Context> CreateContext(
    const Instance& instance, const std::vector<const Module*>& modules,
    const std::vector<const Device*>& devices,
    const std::vector<const Parameters*>& parameters, uint64_t step_limit,
    uint64_t memory_limit) {
  if (devices.empty()) RaiseInvalidArgument("a context needs a device");
  std::vector<takt_module_t*> module_list;
  for (const Module* each : modules) module_list.push_back(each->handle.get());
  std::vector<takt_device_t*> device_list;
  for (const Device* each : devices) device_list.push_back(each->handle.get());
  std::vector<takt_parameters_t*> parameters_list;
  for (const Parameters* each : parameters) {
    parameters_list.push_back(each->handle.get());
  }
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = module_list.data();
  options.module_count = module_list.size();
  options.devices = device_list.data();
  options.device_count = device_list.size();
  options.parameters = parameters_list.data();
  options.parameters_count = parameters_list.size();
  options.step_limit = step_limit;
  options.memory_limit = memory_limit;
  auto context = std::make_unique<Context>();
  takt_status_t status = nullptr;
  {
    const WithoutGil no_gil;
    status = takt_context_create(instance.handle.get(), &options,
                                 context->handle.out());
  }
  Check(status);
  context->device = devices.front()->handle.Share();
  return context;
}

std::unique_ptr<Function> FindFunction(const Context& context,
                                       const std::string& name) {
  FunctionHandle function;
  Check(takt_context_find_function(
      context.handle.get(), ToCString(name, "function"), function.out()));
  return std::make_unique<Function>(std::move(function), context.device.Share(),
                                    context.process);
}

nb::dict InstanceStatistics(const Instance& instance) {
  takt_instance_statistics_t from = {};
  from.struct_size = sizeof(from);
  Check(takt_instance_query_statistics(instance.handle.get(), &from));
  nb::dict result;
  result["wanted_worker_count"] = from.wanted_worker_count;
  result["worker_count"] = from.worker_count;
  result["absent_cpu_count"] = from.absent_cpu_count;
  result["worker_priority_error"] = from.worker_priority_error;
  result["worker_affinity_error"] = from.worker_affinity_error;
  result["timer_priority_error"] = from.timer_priority_error;
  result["may_be_throttled"] = from.may_be_throttled;
  result["callers_stream_count"] = from.callers_stream_count;
  result["unused_npu_count"] = from.unused_npu_count;
  result["missing_backup_count"] = from.missing_backup_count;
  result["refused_thread_count"] = from.refused_thread_count;
  result["failed_capture_count"] = from.failed_capture_count;
  result["spare_block_count"] = from.spare_block_count;
  result["lost_advisor_count"] = from.lost_advisor_count;
  result["worker_budget_error"] = from.worker_budget_error;
  return result;
}

nb::dict DeviceStatistics(const Device& device) {
  takt_device_statistics_t from = {};
  from.struct_size = sizeof(from);
  takt_device_query_statistics(device.handle.get(), &from);
  nb::dict result;
  result["bytes_reserved"] = from.bytes_reserved;
  result["bytes_committed"] = from.bytes_committed;
  result["bytes_peak"] = from.bytes_peak;
  result["bytes_idle"] = from.bytes_idle;
  result["bytes_waiting"] = from.bytes_waiting;
  result["allocation_count"] = from.allocation_count;
  result["wait_count"] = from.wait_count;
  return result;
}

void StartTracing(const Instance& instance, uint32_t events_per_thread) {
  takt_tracing_options_t options;
  takt_tracing_options_init(&options);
  options.event_count_max = events_per_thread;
  Check(takt_tracing_start(instance.handle.get(), &options));
}

std::unique_ptr<Trace> CollectTrace(const Instance& instance) {
  auto trace = std::make_unique<Trace>();
  takt_status_t status = nullptr;
  {
    const WithoutGil no_gil;
    status = takt_tracing_collect(instance.handle.get(), trace->handle.out());
  }
  Check(status);
  return trace;
}

std::unique_ptr<Trace> LoadTrace(const std::string& path) {
  auto trace = std::make_unique<Trace>();
  Check(takt_trace_load_file(ToCString(path, "path"), trace->handle.out()));
  return trace;
}

void WriteTrace(const Trace& trace, const std::string& path,
                const std::string& format) {
  takt_trace_format_t chosen = TAKT_TRACE_FORMAT_PERFETTO;
  if (format == "html") {
    chosen = TAKT_TRACE_FORMAT_HTML;
  } else if (format == "json") {
    chosen = TAKT_TRACE_FORMAT_JSON;
  } else if (format == "text") {
    chosen = TAKT_TRACE_FORMAT_TEXT;
  } else if (format != "perfetto") {
    RaiseInvalidArgument("a trace has no format \"" + format +
                         "\": perfetto, html, json or text");
  }
  const char* const file = ToCString(path, "path");
  takt_status_t status = nullptr;
  {
    const WithoutGil no_gil;
    status = takt_trace_write_file(trace.handle.get(), chosen, file);
  }
  Check(status);
}

std::string TakeText(char* text) {
  std::string result = text;
  takt_string_free(text);
  return result;
}

std::string SummarizeTrace(Trace& trace, bool as_json) {
  char* text = nullptr;
  Check(takt_trace_contents_summarize(ContentsOf(trace), as_json, &text));
  return TakeText(text);
}

std::string ExplainTrace(Trace& trace, size_t jobs, bool as_json) {
  char* text = nullptr;
  Check(takt_trace_contents_explain(ContentsOf(trace), jobs, as_json, &text));
  return TakeText(text);
}

// Columns of equal length, which pandas.DataFrame() takes.
nb::dict TraceEvents(Trace& trace) {
  takt_trace_contents_t* const contents = ContentsOf(trace);
  const takt_trace_info_t info = takt_trace_contents_info(contents);
  nb::list kinds, names, tracks, times, durations, ids, parents, values;
  nb::list details;
  std::vector<nb::object> track_names;
  for (size_t i = 0; i < info.track_count; ++i) {
    track_names.push_back(nb::str(takt_trace_contents_track(contents, i).name));
  }
  for (size_t i = 0; i < info.event_count; ++i) {
    const takt_trace_event_t event = takt_trace_contents_event(contents, i);
    kinds.append(event.kind);
    names.append(event.name);
    tracks.append(track_names[event.track]);
    times.append(event.time_ns);
    durations.append(event.duration_ns);
    ids.append(event.id);
    parents.append(event.parent);
    values.append(event.value);
    details.append(event.detail);
  }
  nb::dict result;
  result["kind"] = kinds;
  result["name"] = names;
  result["track"] = tracks;
  result["time_ns"] = times;
  result["duration_ns"] = durations;
  result["id"] = ids;
  result["parent"] = parents;
  result["value"] = values;
  result["detail"] = details;
  return result;
}

std::vector<std::string> PolicyNames() {
  const char* const* names = nullptr;
  const size_t count = takt_scheduler_policy_names(&names);
  return std::vector<std::string>(names, names + count);
}

}  // namespace

void BindInstance(nb::module_& module) {
  nb::class_<Trace>(module, "Trace", "What an instance has recorded.")
      .def_static("load", &LoadTrace, nb::arg("path"))
      .def("write", &WriteTrace, nb::arg("path"), nb::arg("format"))
      .def("summary", &SummarizeTrace, nb::lock_self(),
           nb::arg("as_json") = false)
      .def_prop_ro(
          "lost_count",
          [](Trace& trace) {
            return takt_trace_contents_info(ContentsOf(trace)).lost_count;
          },
          nb::lock_self())
      .def("explain", &ExplainTrace, nb::lock_self(), nb::arg("jobs"),
           nb::arg("as_json"))
      .def("columns", &TraceEvents, nb::lock_self());
  nb::class_<Device>(module, "Device", "Where dispatches run and buffers live.")
      .def_prop_ro("name",
                   [](const Device& device) {
                     return takt_device_name(device.handle.get());
                   })
      .def("statistics", &DeviceStatistics)
      .def("explain_memory", &ExplainMemory)
      .def("npu_statistics", &NpuStatistics)
      .def("npu_capabilities", &NpuCapabilities)
      .def("trim",
           [](const Device& device) { takt_device_trim(device.handle.get()); });
  nb::class_<Parameters>(module, "Parameters", "Weights in a file.")
      .def_prop_ro("entries", &DescribeEntries);
  nb::class_<Module>(module, "Module", "Code that a context links.")
      .def_prop_ro("name",
                   [](const Module& from) {
                     return takt_module_name(from.handle.get());
                   })
      .def_prop_ro("exports", &ExportNames);
  nb::class_<Context>(module, "Context", "Modules with their own state.")
      .def("find", &FindFunction, nb::arg("name"));
  nb::class_<Instance>(module, "Instance", nb::is_weak_referenceable(),
                       "Worker threads, types and caches.")
      .def(nb::new_(&CreateInstance), nb::kw_only(), nb::arg("workers"),
           nb::arg("worker_cpus").none(), nb::arg("worker_fifo_priority"),
           nb::arg("timer_fifo_priority"), nb::arg("spin"),
           nb::arg("timer_spin"), nb::arg("policy"), nb::arg("window"),
           nb::arg("aging"), nb::arg("cores_path"), nb::arg("cores_share"),
           nb::arg("worker_budget"), nb::arg("worker_period"))
      .def("device", &CreateDevice, nb::arg("name"),
           nb::arg("memory_budget") = 0, nb::arg("learn_costs") = true)
      .def("npu", &CreateNpu, nb::arg("driver"), nb::kw_only(),
           nb::arg("driver_options"), nb::arg("time_limit"), nb::arg("retries"),
           nb::arg("fall_back_to_cpu"), nb::arg("native_code"),
           nb::arg("may_route_to_cpu"), nb::arg("lease_path"))
      .def("load_file", &LoadFile, nb::arg("path"), nb::arg("preload") = true,
           nb::arg("verify").none() = nb::none())
      .def("load_bytes", &LoadBytes, nb::arg("data"))
      .def("open_parameters", &OpenParameters, nb::arg("path"),
           nb::arg("scope") = "")
      .def("context", &CreateContext, nb::arg("modules"), nb::arg("devices"),
           nb::arg("parameters"), nb::arg("step_limit") = 0,
           nb::arg("memory_limit") = 0)
      .def("statistics", &InstanceStatistics)
      .def_prop_ro("worker_count",
                   [](const Instance& instance) {
                     return takt_instance_worker_count(instance.handle.get());
                   })
      .def_prop_ro("policy",
                   [](const Instance& instance) {
                     return takt_scheduler_policy(instance.handle.get());
                   })
      .def("trim",
           [](const Instance& instance) {
             takt_instance_trim(instance.handle.get());
           })
      .def("start_tracing", &StartTracing, nb::arg("events_per_thread"))
      .def("collect_trace", &CollectTrace)
      .def("stop_tracing", [](const Instance& instance) {
        takt_tracing_stop(instance.handle.get());
      });
  module.def("policy_names", &PolicyNames);
  module.def("version", &takt_version);
  module.def("now_ns", &takt_clock_now_ns);
}

}  // namespace takt::python
