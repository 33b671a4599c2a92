#include "tools/common/session.h"

#include <sched.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "takt/tools/module_contents.hpp"
#include "tools/common/file.h"

namespace takt::tools {
namespace {

constexpr int64_t kLimitMax = INT64_MAX;
constexpr double kTimeLimitMaxS = 1e9;
constexpr char kDefaultDevice[] = "local-task";
constexpr int64_t kWorkerCountMax = 1024;
constexpr int64_t kSpinMaxUs = 60'000'000;
constexpr int64_t kPeriodMaxUs = 4'294'967;
constexpr int64_t kStackMaxBytes = int64_t{1} << 30;
constexpr int64_t kFifoPriorityMax = 99;
constexpr int64_t kTraceEventsMax = 1 << 24;
constexpr int64_t kTraceEventsDefault = 1 << 17;

struct TopologyReleaser {
  void operator()(takt_topology_t* topology) const {
    takt_topology_release(topology);
  }
};
using Topology = std::unique_ptr<takt_topology_t, TopologyReleaser>;

// Those that this process may run on.
int64_t CpuCount() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  return CPU_COUNT(&allowed);
}

// The machine that --task_topology_snapshot= describes, or this one.
Result<Topology> OpenTopology(const std::string& path) {
  takt_topology_t* topology = nullptr;
  if (path.empty()) {
    Status status(takt_topology_discover(&topology));
    if (!status.ok()) return status;
    return Topology(topology);
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string json, ReadFile(path));
  Status status(takt_topology_parse(json.c_str(), &topology));
  if (status.ok()) return Topology(topology);
  return Annotate(status, "--task_topology_snapshot=" + path);
}

Result<Instance> CreateInstance(const SessionFlags& flags) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  const bool is_given = flags.worker_count > 0;
  WorkerPlacement placement = flags.placement;
  placement.count_max = is_given ? 0 : flags.worker_count_max;
  Topology topology;
  if (!flags.topology_path.empty() || placement.NeedsTopology()) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(topology, OpenTopology(flags.topology_path));
  }
  // Only a described machine is given to the instance, which looks at this one
  // by itself.
  if (!flags.topology_path.empty()) options.topology = topology.get();
  std::string cpus = flags.worker_cpus;
  if (cpus.empty()) {
    const Result<std::string> chosen = ChooseWorkerCpus(
        placement, topology.get(),
        flags.topology_path.empty() || placement.nodes == "current"
            ? kSystemFolder
            : "");
    if (!chosen.ok()) {
      return Annotate(chosen.status(),
                      "--task_topology_nodes=" + placement.nodes);
    }
    cpus = *chosen;
  }
  if (!cpus.empty()) options.worker_cpus = cpus.c_str();
  if (is_given) {
    options.worker_count = static_cast<int32_t>(flags.worker_count);
  } else if (flags.worker_count_max > 0 && !placement.NeedsTopology()) {
    options.worker_count = static_cast<int32_t>(
        std::min<int64_t>(flags.worker_count_max, CpuCount()));
  }
  options.worker_spin_ns = flags.worker_spin_us * 1000;
  if (flags.worker_stack_bytes > 0) {
    options.worker_stack_bytes = static_cast<size_t>(flags.worker_stack_bytes);
  }
  options.worker_fifo_priority =
      static_cast<int32_t>(flags.worker_fifo_priority);
  options.worker_budget_ns = flags.worker_budget_us * 1000;
  options.worker_period_ns = flags.worker_period_us * 1000;
  if (!flags.cores_path.empty()) options.cores_path = flags.cores_path.c_str();
  options.cores_share_permille =
      static_cast<int32_t>(flags.cores_share_permille);
  options.fault_reports = true;
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = flags.policy.c_str();
  options.scheduler = &scheduler;
  return Instance::Create(&options);
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

void PrintRefusal(const char* what, int32_t error) {
  if (error == 0) return;
  std::fprintf(stderr, "  %s refused: %s\n", what, std::strerror(error));
}

void PrintWorkers(const Instance& instance) {
  takt_executor_statistics_t executor = {};
  executor.struct_size = sizeof(executor);
  takt_executor_query_statistics(takt_instance_executor(instance.get()),
                                 &executor);
  if (executor.worker_count == 0) return;
  std::fprintf(stderr, "Callers: ");
  PrintCounts(executor.helping_callers);
  std::fprintf(stderr, "Backup threads: ");
  PrintCounts(executor.backup_threads);
  if (executor.peer_count + executor.yield_count > 0) {
    std::fprintf(stderr,
                 "Cores: %" PRIu32 " peers / %" PRIu64
                 " yields, %.3f ms / %" PRIu64 " taken back\n",
                 executor.peer_count, executor.yield_count,
                 static_cast<double>(executor.yield_ns) * 1e-6,
                 executor.taken_back_count);
  }
  for (uint32_t i = 0; i < executor.worker_count; ++i) {
    takt_worker_statistics_t worker = {};
    worker.struct_size = sizeof(worker);
    takt_executor_query_worker_statistics(
        takt_instance_executor(instance.get()), i, &worker);
    std::fprintf(stderr, "Worker %u: CPUs 0x%" PRIx64 ": ", i,
                 worker.affinity_mask);
    PrintCounts(worker.counts);
    PrintRefusal("affinity", worker.affinity_error);
    PrintRefusal("SCHED_FIFO", worker.priority_error);
    PrintRefusal("SCHED_DEADLINE", worker.budget_error);
  }
}

void PrintShortfalls(const Instance& instance) {
  const takt_instance_statistics_t statistics = instance.statistics();
  if (statistics.worker_count != 0 &&
      statistics.worker_count < statistics.wanted_worker_count) {
    std::fprintf(stderr, "Workers: %u of %u that were asked for\n",
                 statistics.worker_count, statistics.wanted_worker_count);
  }
  if (statistics.absent_cpu_count != 0) {
    std::fprintf(stderr, "CPUs that do not exist here: %u\n",
                 statistics.absent_cpu_count);
  }
  if (statistics.may_be_throttled) {
    std::fprintf(stderr,
                 "Real-time workers may take all CPUs, and be throttled\n");
  }
  if (statistics.unused_npu_count != 0) {
    std::fprintf(stderr, "NPUs without code for them: %u\n",
                 statistics.unused_npu_count);
  }
  if (statistics.missing_backup_count != 0) {
    std::fprintf(stderr, "Workers without a backup thread: %u\n",
                 statistics.missing_backup_count);
  }
  if (statistics.refused_thread_count != 0) {
    std::fprintf(stderr, "Threads that did not start: %u\n",
                 statistics.refused_thread_count);
  }
  if (statistics.failed_capture_count != 0) {
    std::fprintf(stderr, "Captures that were not written: %u\n",
                 statistics.failed_capture_count);
  }
  if (statistics.spare_block_count != 0) {
    std::fprintf(stderr, "Blocks of spare memory used: %" PRIu64 "\n",
                 statistics.spare_block_count);
  }
  if (statistics.lost_advisor_count != 0) {
    std::fprintf(stderr, "Plans that were given up: %" PRIu64 "\n",
                 statistics.lost_advisor_count);
  }
}

// Nothing for a device without an NPU.
void PrintNpu(const Device& device) {
  takt_npu_statistics_t npu = {};
  npu.struct_size = sizeof(npu);
  if (!takt_npu_device_statistics(device.get(), &npu)) return;
  std::fprintf(stderr,
               "  NPU: %" PRIu64 " batches / %" PRIu64 " operations / %" PRIu64
               " multiply-adds / %.3f ms busy\n",
               npu.batch_count, npu.operation_count, npu.mac_count,
               static_cast<double>(npu.busy_ns) / 1e6);
  const uint64_t faults = npu.failed_count + npu.corrupted_count +
                          npu.time_out_count + npu.overheated_count +
                          npu.lost_count;
  std::fprintf(stderr,
               "  NPU faults: %" PRIu64 " (%" PRIu64 " failed, %" PRIu64
               " corrupted, %" PRIu64 " late, %" PRIu64 " too hot, %" PRIu64
               " lost) / %" PRIu64 " retries / %" PRIu64 " resets / %" PRIu64
               " quarantines / %" PRIu64 " errors that remained\n",
               faults, npu.failed_count, npu.corrupted_count,
               npu.time_out_count, npu.overheated_count, npu.lost_count,
               npu.retry_count, npu.reset_count, npu.quarantine_count,
               npu.error_count);
  std::fprintf(stderr,
               "  NPU work done by the CPU: %" PRIu64 " after errors / %" PRIu64
               " that the NPU cannot do / %" PRIu64 " dispatches (%" PRIu64
               " went to the NPU)\n",
               npu.fallback_count, npu.unsupported_count, npu.left_to_cpu_count,
               npu.taken_count);
}

void PrintDevices(const Session& session) {
  for (const Device& device : session.devices) {
    const takt_device_statistics_t statistics = device.statistics();
    std::fprintf(stderr,
                 "Device: %s\n  memory: %" PRIu64 " B peak / %" PRIu64
                 " B held / %" PRIu64 " B in use / %" PRIu64 " allocations\n",
                 std::string(device.name()).c_str(), statistics.bytes_peak,
                 statistics.bytes_committed, statistics.bytes_reserved,
                 statistics.allocation_count);
    PrintNpu(device);
  }
}

void PrintStatistics(const Session& session) {
  PrintDevices(session);
  PrintWorkers(session.instance);
  PrintShortfalls(session.instance);
}

// The driver's name of "local-task" or "local-task://"; what stands behind that
// would choose among devices, of which a driver has one.
std::string DeviceName(const std::string& uri) {
  const std::string_view kSuffix = "://";
  return uri.ends_with(kSuffix) ? uri.substr(0, uri.size() - kSuffix.size())
                                : uri;
}

// What every driver of --device is.
struct DriverInfo {
  const char* name;
  const char* use;  // How --device= names it.
  const char* text;
};
constexpr DriverInfo kDrivers[] = {
    {"local-sync", "local-sync://", "CPU, on the caller's thread"},
    {"local-task", "local-task://", "CPU, on worker threads"},
    {"npu-host", "npu-host", "NPU made of this machine's own instructions"},
    {"npu-host-sync", "npu-host-sync", "npu-host without threads"},
    {"npu-sim", "npu-sim[=PROFILE.json]", "NPU that is simulated"},
    {"npu", "npu=DRIVER.so[,options]", "NPU with a driver of its vendor"},
};

std::string DriverNames() {
  std::string names;
  for (const DriverInfo& driver : kDrivers) {
    if (!names.empty()) names += ", ";
    names += driver.use;
  }
  return names;
}

void PrintDispatches(DispatchRecorder* recorder) {
  std::fprintf(stderr, "%-12s %10s %14s %12s %12s %12s  %s\n", "device",
               "dispatches", "total us", "mean us", "least us", "most us",
               "kernel");
  for (const DispatchRecorder::Row& row : recorder->Take()) {
    const auto us = [](int64_t ns) { return static_cast<double>(ns) / 1e3; };
    std::fprintf(stderr,
                 "%-12s %10" PRIu64 " %14.3f %12.3f %12.3f %12.3f  %s\n",
                 row.device.c_str(), row.count, us(row.total_ns),
                 us(row.total_ns) / static_cast<double>(row.count),
                 us(row.minimum_ns), us(row.maximum_ns), row.function.c_str());
  }
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

// Prints the machine, and which of its CPUs each worker may use.
Status DumpTopology(const SessionFlags& flags) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Topology topology,
                              OpenTopology(flags.topology_path));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string machine,
                              DescribeTopology(topology.get()));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Instance instance, CreateInstance(flags));
  std::printf("%s", machine.c_str());
  for (uint32_t i = 0; i < instance.worker_count(); ++i) {
    takt_worker_statistics_t worker = {};
    worker.struct_size = sizeof(worker);
    takt_executor_query_worker_statistics(
        takt_instance_executor(instance.get()), i, &worker);
    std::printf("  worker %u: CPUs 0x%" PRIx64 "\n", i, worker.affinity_mask);
  }
  return Status();
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
    status = takt_npu_device_load(instance.get(), LibraryPath(path).c_str(),
                                  &options, &device);
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
  AddModulesTo(flags);
  AddWorkersTo(flags);
  AddReportsTo(flags);
  AddLimitsTo(flags);
}

void SessionFlags::AddModulesTo(Flags* flags) {
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
  flags->AddText("npu_lease", &npu_lease_path,
                 "The file by which processes that use the same NPU agree on "
                 "whose turn it is.\nEach of them names it.");
  flags->AddTexts("parameters", &parameters,
                  "A file of weights (.irpa, .safetensors), file or "
                  "scope=file. Repeatable.");
  flags->AddChoice("module_mode", {"preload", "mmap"}, &module_mode,
                   "preload: read modules into memory; mmap: map the files.");
  flags->AddChoice("parameter_mode", {"file", "preload"}, &parameter_mode,
                   "file: map files of weights; preload: read them into "
                   "memory.");
}

void SessionFlags::AddWorkersTo(Flags* flags) {
  flags->AddNumber("task_topology_group_count", 0, kWorkerCountMax,
                   &worker_count,
                   "Worker threads of local-task. 0: as many as there are "
                   "CPUs.");
  flags->AddNumber("task_topology_max_group_count", 0, kWorkerCountMax,
                   &worker_count_max,
                   "How many workers there are at most where their number is "
                   "not given.\n0: no limit.");
  flags->AddChoice("task_topology_mode", {"", "physical_cores"},
                   &placement.mode,
                   "physical_cores: a worker on one CPU of each core. Empty: "
                   "on every CPU.");
  flags->AddChoice("task_topology_performance_level",
                   {"any", "low", "efficiency", "high", "performance"},
                   &placement.performance_level,
                   "Workers only on the slowest (low, efficiency) or the "
                   "fastest (high, performance)\nkind of core.");
  flags->AddChoice("task_topology_distribution", {"scatter", "compact"},
                   &placement.distribution,
                   "Which CPUs --task_topology_max_group_count leaves: compact "
                   "fills one cluster\nafter the other, scatter takes them in "
                   "turns.");
  flags->AddChoice("task_topology_favor",
                   {"", "latency", "throughput", "efficiency"},
                   &placement.favor,
                   "latency: compact, high; throughput: scatter, any; "
                   "efficiency: compact, low.");
  flags->AddSwitch("dump_task_topologies", &dump_task_topologies,
                   "Print the clusters of CPUs and where each worker runs, and "
                   "do nothing else.");
  flags->AddText("task_topology_nodes", &placement.nodes,
                 "The NUMA nodes that the workers run on: all, current, or\n"
                 "numbers such as 0,2. A worker on each of their CPUs.");
  flags->AddText("task_topology_cpu_ids", &worker_cpus,
                 "CPUs such as 0-3,8: a worker on each of them.");
  flags->AddText("task_topology_snapshot", &topology_path,
                 "A file that describes the machine (JSON), instead of "
                 "looking at it.");
  flags->AddNumber("task_worker_spin_us", 0, kSpinMaxUs, &worker_spin_us,
                   "How long a worker looks for work before it sleeps.");
  flags->AddNumber("task_worker_stack_size", 0, kStackMaxBytes,
                   &worker_stack_bytes,
                   "Bytes of each worker's stack. 0: as large as the main "
                   "thread's may become.");
  flags->AddNumber("task_worker_fifo_priority", 0, kFifoPriorityMax,
                   &worker_fifo_priority,
                   "SCHED_FIFO priority of the workers. 0: as the process.");
  flags->AddNumber("task_worker_budget_us", 0, kPeriodMaxUs, &worker_budget_us,
                   "The processor time that each worker gets in each period, "
                   "before all other\nthreads, and no more (SCHED_DEADLINE). "
                   "0: no budget.");
  flags->AddNumber("task_worker_period_us", 0, kPeriodMaxUs, &worker_period_us,
                   "That period.");
  flags->AddText("cores_lease", &cores_path,
                 "The file by which processes share cores. Each of them names "
                 "it.");
  flags->AddNumber(
      "cores_share", 0, 1000, &cores_share_permille,
      "Thousandths of the cores for which this process goes "
      "before the best-effort\nwork of others. 0: priorities alone "
      "decide.");
  const char* const* policies = nullptr;
  const size_t policy_count = takt_scheduler_policy_names(&policies);
  flags->AddChoice("policy", {policies, policies + policy_count}, &policy,
                   "What schedules the dispatches of local-task; off: the "
                   "order of priorities.");
}

void SessionFlags::AddReportsTo(Flags* flags) {
  flags->AddSwitch("print_statistics", &print_statistics,
                   "Print the use of memory, and what the workers did, to "
                   "stderr at the end.");
  flags->AddSwitch("print_device_statistics", &print_device_statistics,
                   "Print the use of memory, and how often and how long each "
                   "kernel ran, to\nstderr at the end.");
  flags->AddSwitch("trace_execution", &trace_execution,
                   "Print each dispatch to stderr when it has ended.");
  flags->AddSwitch("list_drivers", &list_drivers,
                   "Print the drivers of devices, and do nothing else.");
  flags->AddOptionalText("list_devices", &list_devices, &list_filter,
                         "Print the devices of all drivers or of the one "
                         "named, and do nothing else.");
  flags->AddOptionalText("dump_devices", &dump_devices, &list_filter,
                         "Print what is known of these devices, and do nothing "
                         "else.");
  flags->AddText(
      "trace", &trace_path,
      "Record what happens, and write it to this file at the end: "
      ".txt, .json,\n.html, or else for takt-trace and Perfetto. - is "
      "stdout.");
  trace_event_count = kTraceEventsDefault;
  flags->AddNumber("trace_event_count", 1, kTraceEventsMax, &trace_event_count,
                   "How many events of each thread a trace keeps, the last.");
}

void SessionFlags::AddLimitsTo(Flags* flags) {
  flags->AddNumber("step_limit", 0, kLimitMax, &step_limit,
                   "Fail a call, or an initializer, after this number of loop "
                   "iterations and calls\nin its bytecode; 0: no limit.");
  flags->AddReal("time_limit", &time_limit_s,
                 "Fail a call that takes longer than this number of seconds; "
                 "0: no limit.");
  flags->AddNumber("memory_limit", 0, kLimitMax, &memory_limit,
                   "Fail a call, or an initializer, that has more bytes at a "
                   "time; 0: half of the\nmachine's memory.");
}

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
  if (!(flags.time_limit_s >= 0 && flags.time_limit_s <= kTimeLimitMaxS)) {
    return InvalidArgument("--time_limit: expected seconds from 0 to 1e9");
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
  std::vector<std::string> names = flags.devices;
  if (names.empty()) names.push_back(kDefaultDevice);
  for (const std::string& name : names) {
    takt_device_options_t options;
    takt_device_options_init(&options);
    if (session.recorder) options = session.recorder->OptionsFor(name);
    options.allow_system_libraries = flags.allow_system_libraries;
    takt_npu_options_t npu;
    takt_npu_options_init(&npu);
    // One that is alone also runs the CPU's native code.
    npu.native_code = names.size() == 1;
    npu.device_options = &options;
    if (!flags.npu_lease_path.empty()) {
      npu.lease_path = flags.npu_lease_path.c_str();
    }
    Result<Device> device =
        IsNpu(name)
            ? CreateNpu(session.instance, name, npu)
            : Device::Create(session.instance, DeviceName(name), options);
    if (!device.ok()) {
      const bool is_unknown =
          device.status().code() == TAKT_STATUS_NOT_FOUND && !IsNpu(name);
      return Annotate(is_unknown
                          ? Status(TAKT_STATUS_NOT_FOUND,
                                   "no such device; there are " + DriverNames())
                          : device.status(),
                      "--device=" + name);
    }
    session.devices.push_back(*std::move(device));
  }
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

namespace {

template <typename T>
std::vector<typename T::CType*> Pointers(const std::vector<T>& objects) {
  std::vector<typename T::CType*> pointers;
  for (const T& object : objects) pointers.push_back(object.get());
  return pointers;
}

}  // namespace

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
  return trace.WriteFile(OutputPath(flags.trace_path),
                         TraceFormatOf(flags.trace_path));
}

Result<bool> ListDevices(const SessionFlags& flags) {
  if (flags.dump_task_topologies) {
    TAKT_TOOLS_RETURN_IF_ERROR(DumpTopology(flags));
    return true;
  }
  if (flags.list_drivers) {
    for (const DriverInfo& driver : kDrivers) {
      std::printf("%16s: %s\n", driver.name, driver.text);
    }
    return true;
  }
  if (!flags.list_devices && !flags.dump_devices) return false;
  bool is_found = false;
  for (const DriverInfo& driver : kDrivers) {
    if (!flags.list_filter.empty() && flags.list_filter != driver.name) {
      continue;
    }
    is_found = true;
    if (!flags.dump_devices) {
      std::printf("%s\n", driver.use);
      continue;
    }
    std::printf("--device=%s\n  %s\n", driver.use, driver.text);
    if (std::string_view(driver.name) == kDefaultDevice) {
      TAKT_TOOLS_ASSIGN_OR_RETURN(const Instance instance,
                                  CreateInstance(flags));
      std::printf("  %zu workers\n",
                  static_cast<size_t>(instance.worker_count()));
    }
  }
  if (is_found) return true;
  return Status(TAKT_STATUS_NOT_FOUND, "no driver \"" + flags.list_filter +
                                           "\"; --list_drivers has their "
                                           "names");
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
