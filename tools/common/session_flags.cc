// The flags of a session: their names, ranges and texts.
#include <cstdint>

#include "takt/scheduler.h"
#include "tools/common/session.h"

namespace takt::tools {
namespace {

constexpr int64_t kLimitMax = INT64_MAX;
constexpr int64_t kWorkerCountMax = 1024;
constexpr int64_t kSpinMaxUs = 60'000'000;
constexpr int64_t kPeriodMaxUs = 4'294'967;
constexpr int64_t kStackMaxBytes = int64_t{1} << 30;
constexpr int64_t kFifoPriorityMax = 99;
constexpr int64_t kTraceEventsMax = 1 << 24;
constexpr int64_t kTraceEventsDefault = 1 << 17;

}  // namespace

void SessionFlags::AddTo(Flags* flags) {
  AddModulesTo(flags);
  AddPlacementTo(flags);
  AddWorkersTo(flags);
  AddReportsTo(flags);
  AddLimitsTo(flags);
}

void SessionFlags::AddModulesTo(Flags* flags) {
  flags->AddTexts("module", &modules,
                  "A compiled module (.vmfb); - is stdin. Repeat it where a "
                  "module imports from\nothers: these come first, the main "
                  "one last.");
  flags->AddTexts("device", &devices,
                  "A device: local-sync, local-task, which is the default, "
                  "npu-host,\nnpu-host-sync, npu-sim[=PROFILE.json] or "
                  "npu=DRIVER.so[,options].\nRepeat it for programs of "
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

void SessionFlags::AddPlacementTo(Flags* flags) {
  flags->AddNumber("task_topology_group_count", 0, kWorkerCountMax,
                   &worker_count,
                   "Worker threads of local-task. 0: as many as there are "
                   "CPUs.");
  flags->AddNumber(
      "task_topology_max_group_count", 0, kWorkerCountMax, &worker_count_max,
      "The most workers if --task_topology_group_count is 0. 0: no "
      "limit.");
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
}

void SessionFlags::AddWorkersTo(Flags* flags) {
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
                   "The period of --task_worker_budget_us.");
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
                   "How many events of each thread a trace keeps: the latest.");
}

void SessionFlags::AddLimitsTo(Flags* flags) {
  flags->AddNumber("step_limit", 0, kLimitMax, &step_limit,
                   "Fail a call, or an initializer, after this number of loop "
                   "iterations and calls\nin its bytecode; 0: no limit.");
  flags->AddReal("time_limit", 0, 1e9, &time_limit_s,
                 "Fail a call that takes longer than this number of seconds; "
                 "0: no limit.");
  flags->AddNumber("memory_limit", 0, kLimitMax, &memory_limit,
                   "Fail a call, or an initializer, that holds more bytes at a "
                   "time; 0: half of the\nmachine's memory.");
}

}  // namespace takt::tools
