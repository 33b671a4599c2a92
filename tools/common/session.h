// The objects with which a tool runs functions, and the flags that choose them.
#ifndef TAKT_TOOLS_COMMON_SESSION_H_
#define TAKT_TOOLS_COMMON_SESSION_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "takt/npu.h"
#include "takt/takt.hpp"
#include "tools/common/dispatch_recorder.h"
#include "tools/common/flags.h"
#include "tools/common/worker_cpus.h"

namespace takt::tools {

struct SessionFlags {
  std::vector<std::string> modules;
  std::vector<std::string> devices;
  bool allow_system_libraries = false;
  std::string cores_path;  // Empty: no other process shares the cores.
  int64_t cores_share_permille = 0;
  std::string npu_lease_path;  // Empty: no other process uses the NPU.
  std::vector<std::string> parameters;
  std::string module_mode = "preload";
  std::string parameter_mode = "file";
  int64_t worker_count = 0;
  std::string worker_cpus;       // A list such as 0-3,8; empty: anywhere.
  std::string topology_path;     // JSON; empty: this machine.
  int64_t worker_count_max = 0;  // Of the number chosen by itself; 0: any.
  WorkerPlacement placement;     // Of workers whose CPUs are not given.
  int64_t worker_spin_us = 0;
  int64_t worker_stack_bytes = 0;  // 0: the library's default.
  int64_t worker_fifo_priority = 0;
  int64_t worker_budget_us = 0;
  int64_t worker_period_us = 0;
  std::string policy = "job-shop";  // Of the scheduler.
  bool print_statistics = false;
  bool print_device_statistics = false;
  bool trace_execution = false;
  bool list_drivers = false;
  bool list_devices = false;
  bool dump_devices = false;
  bool dump_task_topologies = false;
  std::string list_filter;  // Of the last two: a driver's name, or empty.
  std::string trace_path;   // Empty: nothing is recorded.
  int64_t trace_event_count = 0;
  // Of each call, and of the initializers but for the time; 0: none, or as the
  // library says.
  int64_t step_limit = 0;
  int64_t memory_limit = 0;
  double time_limit_s = 0;

  void AddTo(Flags* flags);

 private:
  void AddModulesTo(Flags* flags);
  void AddPlacementTo(Flags* flags);
  void AddWorkersTo(Flags* flags);
  void AddReportsTo(Flags* flags);
  void AddLimitsTo(Flags* flags);
};

struct Session {
  // NULL: nothing is recorded. Outlives the devices.
  std::unique_ptr<DispatchRecorder> recorder;
  Instance instance;
  std::vector<Device> devices;  // At least one.
  std::vector<Parameters> parameters;
  std::vector<Module> modules;  // The last is the main one.
  uint64_t step_limit = 0;      // As the flags say.
  uint64_t memory_limit = 0;
  int64_t timeout_ns = 0;

  // Starts with the instance, devices and modules that the flags ask for.
  //
  // Errors: INVALID_ARGUMENT without a module; what the first of them fails
  // with.
  static Result<Session> Open(const SessionFlags& flags);

  // The limits of a call that the flags ask for.
  takt_invoke_options_t InvokeOptions() const;

  // A context of its own of all of it, with `first` (a check module, say)
  // linked before the modules.
  Result<Context> CreateContext(
      const std::optional<Module>& first = std::nullopt) const;

  const Module& main_module() const { return modules.back(); }

  // What the flags ask for at the end, such as statistics: writes the trace,
  // and prints what memory the devices used and what the workers did to stderr.
  //
  // Errors: the trace cannot be written.
  Status End(const SessionFlags& flags) const;
};

// The format that a trace file's name asks for: .txt, .json, .html; Perfetto's
// for all others.
takt_trace_format_t TraceFormatOf(std::string_view path);

// Loads a .vmfb; from stdin if `path` is "-". `accept_unknown_types`: to be
// looked at only.
Result<Module> LoadModule(const Instance& instance, const std::string& path,
                          takt_module_mode_t mode,
                          bool accept_unknown_types = false);

// Opens a file of weights, "file" or "scope=file".
Result<Parameters> OpenParameters(const Instance& instance,
                                  const std::string& text, bool preload);

// Whether an export is a function for callers: not one of the lifecycle
// ("__init") or of the compiler ("main$async").
bool IsCallable(std::string_view export_name);

// `name`, or the only callable export of the module if that is empty.
//
// Errors: INVALID_ARGUMENT, naming the exports, if there is none or more.
Result<std::string> ChooseFunction(const Module& module,
                                   const std::string& name);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_SESSION_H_
