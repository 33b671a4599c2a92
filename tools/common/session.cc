#include "tools/common/session.h"

#include <algorithm>

#include "takt/tools/module_contents.hpp"
#include "tools/common/drivers.h"
#include "tools/common/file.h"
#include "tools/common/session_instance.h"
#include "tools/common/session_report.h"

namespace takt::tools {
namespace {

std::vector<std::string> CallableExports(const Module& module) {
  std::vector<std::string> names;
  for (size_t i = 0; i < module.export_count(); ++i) {
    if (IsCallable(module.export_name(i))) {
      names.emplace_back(module.export_name(i));
    }
  }
  return names;
}

// Whether the module imports functions that read files of weights.
bool ReadsParameters(const Module& module) {
  const Result<ModuleContents> contents = ModuleContents::Read(module);
  if (!contents.ok()) return false;
  const size_t count = takt_module_contents_import_count(contents->get());
  for (size_t i = 0; i < count; ++i) {
    const std::string_view name =
        takt_module_contents_import(contents->get(), i).full_name;
    if (name.starts_with("io_parameters.")) return true;
  }
  return false;
}

template <typename T>
std::vector<typename T::CType*> Pointers(const std::vector<T>& objects) {
  std::vector<typename T::CType*> pointers;
  for (const T& object : objects) pointers.push_back(object.get());
  return pointers;
}

Status OpenDevices(const SessionFlags& flags, Session* session) {
  std::vector<std::string> names = flags.devices;
  if (names.empty()) names.push_back(kDefaultDevice);
  for (const std::string& name : names) {
    takt_device_options_t options;
    takt_device_options_init(&options);
    if (session->recorder) options = session->recorder->OptionsFor(name);
    options.allow_system_libraries = flags.allow_system_libraries;
    takt_npu_options_t npu;
    takt_npu_options_init(&npu);
    // One that is alone also runs the CPU's native code.
    npu.native_code = names.size() == 1;
    npu.device_options = &options;
    if (!flags.npu_lease_path.empty()) {
      npu.lease_path = flags.npu_lease_path.c_str();
    }
    TAKT_TOOLS_ASSIGN_OR_RETURN(
        Device device, CreateDevice(session->instance, name, options, npu));
    session->devices.push_back(std::move(device));
  }
  return Status();
}

}  // namespace

takt_invoke_options_t Session::InvokeOptions() const {
  takt_invoke_options_t options;
  takt_invoke_options_init(&options);
  options.step_limit = step_limit;
  options.memory_limit = memory_limit;
  options.timeout_ns = timeout_ns;
  return options;
}

Result<Session> Session::Open(const SessionFlags& flags) {
  if (flags.modules.empty()) {
    return InvalidArgument("no module; --module=file.vmfb names one");
  }
  Session session;
  session.step_limit = static_cast<uint64_t>(flags.step_limit);
  session.memory_limit = static_cast<uint64_t>(flags.memory_limit);
  session.timeout_ns = static_cast<int64_t>(flags.time_limit_s * 1e9);
  if (flags.print_device_statistics || flags.trace_execution) {
    session.recorder =
        std::make_unique<DispatchRecorder>(flags.trace_execution);
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(session.instance, CreateInstance(flags));
  if (!flags.trace_path.empty()) {
    TAKT_TOOLS_RETURN_IF_ERROR(CheckWritable(flags.trace_path));
    TAKT_TOOLS_RETURN_IF_ERROR(StartTracing(
        session.instance,
        {.event_count_max = static_cast<uint32_t>(flags.trace_event_count)}));
  }
  const takt_module_mode_t mode = flags.module_mode == "mmap"
                                      ? TAKT_MODULE_MODE_MMAP
                                      : TAKT_MODULE_MODE_PRELOAD;
  for (const std::string& path : flags.modules) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(Module module,
                                LoadModule(session.instance, path, mode));
    session.modules.push_back(std::move(module));
  }
  TAKT_TOOLS_RETURN_IF_ERROR(OpenDevices(flags, &session));
  // A file that no module reads need not exist: a compiler that folded all
  // constants writes none.
  const bool need_parameters =
      std::any_of(session.modules.begin(), session.modules.end(),
                  [](const Module& module) { return ReadsParameters(module); });
  for (const std::string& text : flags.parameters) {
    if (!need_parameters) break;
    TAKT_TOOLS_ASSIGN_OR_RETURN(
        Parameters parameters,
        OpenParameters(session.instance, text,
                       flags.parameter_mode == "preload"));
    session.parameters.push_back(std::move(parameters));
  }
  return session;
}

Result<Context> Session::CreateContext(
    const std::optional<Module>& first) const {
  std::vector<Module> linked;
  if (first) linked.push_back(*first);
  linked.insert(linked.end(), modules.begin(), modules.end());
  const auto linked_pointers = Pointers(linked);
  const auto device_pointers = Pointers(devices);
  const auto parameters_pointers = Pointers(parameters);
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = linked_pointers.data();
  options.module_count = linked_pointers.size();
  options.devices = device_pointers.data();
  options.device_count = device_pointers.size();
  options.parameters = parameters_pointers.data();
  options.parameters_count = parameters_pointers.size();
  options.step_limit = step_limit;
  options.memory_limit = memory_limit;
  takt_context_t* context = nullptr;
  takt_status_t status =
      takt_context_create(instance.get(), &options, &context);
  return TakeResult<Context>(status, context);
}

Status Session::End(const SessionFlags& flags) const {
  if (flags.print_statistics) {
    PrintStatistics(*this);
  } else if (flags.print_device_statistics) {
    PrintDevices(*this);
  }
  if (flags.print_device_statistics) PrintDispatches(recorder.get());
  if (flags.trace_path.empty()) return Status();
  StopTracing(instance);
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Trace trace, CollectTrace(instance));
  return AsWritten(trace.WriteFile(OutputPath(flags.trace_path),
                                   TraceFormatOf(flags.trace_path)));
}

takt_trace_format_t TraceFormatOf(std::string_view path) {
  if (path.ends_with(".txt")) return TAKT_TRACE_FORMAT_TEXT;
  if (path.ends_with(".json")) return TAKT_TRACE_FORMAT_JSON;
  if (path.ends_with(".html")) return TAKT_TRACE_FORMAT_HTML;
  return TAKT_TRACE_FORMAT_PERFETTO;
}

Result<Parameters> OpenParameters(const Instance& instance,
                                  const std::string& text, bool preload) {
  // scope=file; a file alone has no scope.
  const size_t equals = text.find('=');
  const bool has_scope = equals != std::string::npos;
  const std::string scope = has_scope ? text.substr(0, equals) : "";
  const std::string path = has_scope ? text.substr(equals + 1) : text;
  takt_parameters_options_t options;
  takt_parameters_options_init(&options);
  options.scope = scope.c_str();
  options.preload = preload;
  takt_parameters_t* parameters = nullptr;
  takt_status_t status =
      takt_parameters_open(instance.get(), path.c_str(), &options, &parameters);
  return TakeResult<Parameters>(status, parameters);
}

Result<Module> LoadModule(const Instance& instance, const std::string& path,
                          takt_module_mode_t mode, bool accept_unknown_types) {
  if (path == "-") {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
    takt_module_memory_options_t options;
    takt_module_memory_options_init(&options);
    options.source = "stdin";
    options.accept_unknown_types = accept_unknown_types;
    return Module::LoadMemory(
        instance,
        {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
        &options);
  }
  takt_module_file_options_t options;
  takt_module_file_options_init(&options);
  options.mode = mode;
  options.accept_unknown_types = accept_unknown_types;
  return Module::Load(instance, path, &options);
}

bool IsCallable(std::string_view export_name) {
  return !export_name.starts_with("__") &&
         export_name.find('$') == std::string_view::npos;
}

Result<std::string> ChooseFunction(const Module& module,
                                   const std::string& name) {
  if (!name.empty()) return name;
  const std::vector<std::string> names = CallableExports(module);
  if (names.size() == 1) return names[0];
  const std::string prefix = "module " + std::string(module.name());
  if (names.empty()) return InvalidArgument(prefix + " exports no function");
  std::string list;
  for (const std::string& each : names) {
    if (!list.empty()) list += ", ";
    list += each;
  }
  return InvalidArgument(prefix +
                         " exports several functions; choose one "
                         "with --function=: " +
                         list);
}

}  // namespace takt::tools
