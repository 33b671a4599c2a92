#include "tools/common/session.h"

#include <cinttypes>
#include <cstdio>
#include <iterator>

#include "tools/common/file.h"

namespace takt::tools {
namespace {

constexpr char kDefaultDevice[] = "local-task";
constexpr int64_t kWorkerCountMax = 1024;
constexpr int64_t kSpinMaxUs = 60'000'000;
constexpr int64_t kStackMaxBytes = int64_t{1} << 30;
constexpr int64_t kFifoPriorityMax = 99;
constexpr int64_t kTraceEventsMax = 1 << 24;
constexpr int64_t kTraceEventsDefault = 1 << 17;

Result<Instance> CreateInstance(const SessionFlags& flags) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  if (flags.worker_count > 0) {
    options.worker_count = static_cast<int32_t>(flags.worker_count);
  }
  if (!flags.worker_cpus.empty()) {
    options.worker_cpus = flags.worker_cpus.c_str();
  }
  options.worker_spin_ns = flags.worker_spin_us * 1000;
  if (flags.worker_stack_bytes > 0) {
    options.worker_stack_bytes = static_cast<size_t>(flags.worker_stack_bytes);
  }
  options.worker_fifo_priority =
      static_cast<int32_t>(flags.worker_fifo_priority);
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = flags.policy.c_str();
  options.scheduler = &scheduler;
  if (flags.topology_path.empty()) return Instance::Create(&options);
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string json,
                              ReadFile(flags.topology_path));
  takt_status_t status = takt_topology_parse(json.c_str(), &options.topology);
  if (status != nullptr) {
    return Annotate(Status(status),
                    "--task_topology_snapshot=" + flags.topology_path);
  }
  Result<Instance> instance = Instance::Create(&options);
  takt_topology_release(options.topology);
  return instance;
}

void PrintCounts(const takt_executor_counts_t& counts) {
  std::fprintf(stderr,
               "%" PRIu64 " jobs / %" PRIu64 " tiles in %" PRIu64
               " ranges / %" PRIu64 " stolen, %" PRIu64 " from afar / %" PRIu64
               " preemptions / %" PRIu64 " parks / %" PRIu64 " wakes\n",
               counts.job_count, counts.tile_count, counts.range_count,
               counts.near_steal_count + counts.far_steal_count,
               counts.far_steal_count, counts.preemption_count,
               counts.park_count, counts.wake_count);
}

void PrintWorkers(const Instance& instance) {
  takt_executor_statistics_t executor = {};
  executor.struct_size = sizeof(executor);
  takt_instance_query_executor_statistics(instance.get(), &executor);
  if (executor.worker_count == 0) return;
  std::fprintf(stderr, "Callers: ");
  PrintCounts(executor.donors);
  std::fprintf(stderr, "Reliefs: ");
  PrintCounts(executor.reliefs);
  for (uint32_t i = 0; i < executor.worker_count; ++i) {
    takt_worker_statistics_t worker = {};
    worker.struct_size = sizeof(worker);
    takt_instance_query_worker_statistics(instance.get(), i, &worker);
    std::fprintf(stderr, "Worker %u: CPUs 0x%" PRIx64 ": ", i,
                 worker.affinity_mask);
    PrintCounts(worker.counts);
    if (worker.affinity_error != 0) {
      std::fprintf(stderr, "  affinity refused: errno %d\n",
                   worker.affinity_error);
    }
    if (worker.priority_error != 0) {
      std::fprintf(stderr, "  SCHED_FIFO refused: errno %d\n",
                   worker.priority_error);
    }
  }
}

void PrintStatistics(const Session& session) {
  for (const Device& device : session.devices) {
    const takt_device_statistics_t statistics = device.statistics();
    std::fprintf(stderr,
                 "Device: %s\n  memory: %" PRIu64 " B peak / %" PRIu64
                 " B held / %" PRIu64 " B in use / %" PRIu64 " allocations\n",
                 std::string(device.name()).c_str(), statistics.bytes_peak,
                 statistics.bytes_committed, statistics.bytes_reserved,
                 statistics.allocation_count);
  }
  PrintWorkers(session.instance);
}

// The driver's name; "local-task://" and "local-task://0" are the same device.
std::string DeviceName(const std::string& uri) {
  for (const char* suffix : {"://", "://0", "://default"}) {
    if (uri.ends_with(suffix)) {
      return uri.substr(0, uri.size() - std::string_view(suffix).size());
    }
  }
  return uri;
}

bool IsNpu(const std::string& name) { return name.starts_with("npu"); }

std::vector<std::string> CallableExports(const Module& module) {
  std::vector<std::string> names;
  for (size_t i = 0; i < module.export_count(); ++i) {
    if (IsCallable(module.export_name(i))) {
      names.emplace_back(module.export_name(i));
    }
  }
  return names;
}

}  // namespace

Result<Device> CreateNpu(const Instance& instance, const std::string& name,
                         takt_npu_options_t options) {
  const size_t equals = name.find('=');
  const std::string kind = name.substr(0, equals);
  const std::string value =
      equals == std::string::npos ? "" : name.substr(equals + 1);
  takt_device_t* device = nullptr;
  takt_status_t status = nullptr;
  if (kind == "npu") {
    const size_t comma = value.find(',');
    const std::string path = value.substr(0, comma);
    const std::string text =
        comma == std::string::npos ? "" : value.substr(comma + 1);
    options.driver_options = text.c_str();
    status =
        takt_npu_device_load(instance.get(), path.c_str(), &options, &device);
  } else if (kind == "npu-host" || kind == "npu-host-sync") {
    options.driver_options = value.c_str();
    if (kind == "npu-host-sync") options.worker_count = 0;
    status = takt_npu_device_create(instance.get(), takt_npu_host_driver(),
                                    &options, &device);
  } else if (kind == "npu-sim") {
    std::string profile;
    if (!value.empty()) {
      TAKT_TOOLS_ASSIGN_OR_RETURN(profile, ReadFile(value));
    }
    options.driver_options = profile.c_str();
    status = takt_npu_device_create(instance.get(), takt_npu_sim_driver(),
                                    &options, &device);
  } else {
    status = takt_status_create(TAKT_STATUS_NOT_FOUND,
                                "no such NPU; there are npu-host, "
                                "npu-host-sync, npu-sim[=PROFILE.json] and "
                                "npu=DRIVER.so[,options]");
  }
  return TakeResult<Device>(status, device);
}

void SessionFlags::AddTo(Flags* flags) {
  flags->AddTexts("module", &modules,
                  "A compiled module (.vmfb); - is stdin. Repeat it for those "
                  "that others\nimport from, first; the last is the main one.");
  flags->AddTexts("device", &devices,
                  "A device: local-sync, local-task, which is the default, "
                  "npu-host,\nnpu-host-sync, npu-sim[=PROFILE.json] or "
                  "npu=DRIVER.so[,options]. Repeat it for programs of\n"
                  "several devices.");
  flags->AddSwitch("allow_system_libraries", &allow_system_libraries,
                   "Take executables that the system's dynamic linker loads "
                   "(system-elf-...). They run\nwith all rights of this "
                   "process: only for files that you trust.");
  flags->AddTexts("parameters", &parameters,
                  "A file of weights (.irpa, .safetensors), file or "
                  "scope=file. Repeatable.");
  flags->AddChoice("module_mode", {"preload", "mmap"}, &module_mode,
                   "preload: read modules into memory; mmap: map the files.");
  flags->AddChoice("parameter_mode", {"file", "preload"}, &parameter_mode,
                   "file: map files of weights; preload: read them into "
                   "memory.");
  flags->AddNumber("task_topology_group_count", 0, kWorkerCountMax,
                   &worker_count,
                   "Worker threads of local-task. 0: as many as there are "
                   "CPUs.");
  flags->AddText("task_topology_cpu_ids", &worker_cpus,
                 "CPUs such as 0-3,8: a worker on each of them.");
  flags->AddText("task_topology_snapshot", &topology_path,
                 "A file that describes the machine (JSON), instead of "
                 "looking at it.");
  flags->AddNumber("task_worker_spin_us", 0, kSpinMaxUs, &worker_spin_us,
                   "How long a worker looks for work before it sleeps.");
  flags->AddNumber("task_worker_stack_size", 0, kStackMaxBytes,
                   &worker_stack_bytes,
                   "Bytes of each worker's stack. 0: the default.");
  flags->AddNumber("task_worker_fifo_priority", 0, kFifoPriorityMax,
                   &worker_fifo_priority,
                   "SCHED_FIFO priority of the workers. 0: as the process.");
  const char* const* policies = nullptr;
  const size_t policy_count = takt_scheduler_policy_names(&policies);
  flags->AddChoice("policy", {policies, policies + policy_count}, &policy,
                   "What schedules the dispatches of local-task; off: the "
                   "order of priorities.");
  flags->AddSwitch("print_statistics", &print_statistics,
                   "Print the use of memory, and what the workers did, to "
                   "stderr at the end.");
  flags->AddText("trace", &trace_path,
                 "Record what happens, and write it to this file at the end: "
                 ".txt, .json,\n.html, or else for takt-trace and Perfetto.");
  trace_event_count = kTraceEventsDefault;
  flags->AddNumber("trace_event_count", 1, kTraceEventsMax, &trace_event_count,
                   "How many events of each thread a trace keeps, the last.");
}

Result<Session> Session::Open(const SessionFlags& flags) {
  if (flags.modules.empty()) {
    return InvalidArgument("no module; --module=file.vmfb names one");
  }
  Session session;
  TAKT_TOOLS_ASSIGN_OR_RETURN(session.instance, CreateInstance(flags));
  if (!flags.trace_path.empty()) {
    TAKT_TOOLS_RETURN_IF_ERROR(StartTracing(
        session.instance,
        {.event_count_max = static_cast<uint32_t>(flags.trace_event_count)}));
  }
  const takt_module_mode_t mode =
      flags.module_mode == "mmap" ? TAKT_MODULE_MMAP : TAKT_MODULE_PRELOAD;
  for (const std::string& path : flags.modules) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(Module module,
                                LoadModule(session.instance, path, mode));
    session.modules.push_back(std::move(module));
  }
  std::vector<std::string> names = flags.devices;
  if (names.empty()) names.push_back(kDefaultDevice);
  for (const std::string& name : names) {
    takt_device_options_t options;
    takt_device_options_init(&options);
    options.allow_system_libraries = flags.allow_system_libraries;
    takt_npu_options_t npu;
    takt_npu_options_init(&npu);
    // One that is alone also runs the CPU's native code.
    npu.native_code = names.size() == 1;
    Result<Device> device =
        IsNpu(name)
            ? CreateNpu(session.instance, name, npu)
            : Device::Create(session.instance, DeviceName(name), options);
    if (!device.ok()) return Annotate(device.status(), "--device=" + name);
    session.devices.push_back(*std::move(device));
  }
  for (const std::string& text : flags.parameters) {
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
  return Context::Create(instance, linked, devices, parameters);
}

Status Session::End(const SessionFlags& flags) const {
  if (flags.print_statistics) PrintStatistics(*this);
  if (flags.trace_path.empty()) return Status();
  StopTracing(instance);
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Trace trace, CollectTrace(instance));
  return trace.WriteFile(flags.trace_path, TraceFormatOf(flags.trace_path));
}

takt_trace_format_t TraceFormatOf(std::string_view path) {
  if (path.ends_with(".txt")) return TAKT_TRACE_TEXT;
  if (path.ends_with(".json")) return TAKT_TRACE_JSON;
  if (path.ends_with(".html")) return TAKT_TRACE_HTML;
  return TAKT_TRACE_PERFETTO;
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
                          takt_module_mode_t mode) {
  if (path == "-") {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
    takt_module_memory_options_t options;
    takt_module_memory_options_init(&options);
    options.source = "stdin";
    return Module::LoadMemory(
        instance,
        {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
        &options);
  }
  takt_module_file_options_t options;
  takt_module_file_options_init(&options);
  options.mode = mode;
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
