// Releases the calls of a robot together: perception once, policy four times,
// gemm_i8 twice, estimator ten times. They run strictly by one plan, adaptively
// by another, and by the online scheduler, in turns.
//
// Prints one JSON object; all times are in microseconds. `start_error` is the
// actual less the planned start of all operations of the strict runs;
// `makespan` is the time from the release to the last result.
//
// usage: plan_run_bench DIR STRICT.taktplan ADAPTIVE.taktplan [--rounds N]
//                       [--cpus LIST] [--spin US] [--timer_spin US]
//                       [--fifo PRIORITY] [--trace FILE]
//        DIR holds perception.vmfb, policy.vmfb, gemm_i8.vmfb, estimator.vmfb;
//        benchmarks/plan_bench.py makes the plans
//        --cpus: one worker on each (default 0-1); --spin: how long workers
//        search for work before they sleep (default 50); --timer_spin: how much
//        earlier the timer's thread wakes up (default 300). Spinning threads
//        take CPU time from the work. --fifo: the workers and the timer's
//        thread run SCHED_FIFO, where permitted.
//        --trace: records the last round, for takt-trace
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "takt/tools/tools.h"

namespace {

struct Model {
  const char* name;
  const char* function;
  std::vector<int64_t> shape;
  takt_element_type_t element_type;
  size_t count;
};
const Model kModels[] = {
    {"perception", "detect", {1, 192, 192, 3}, TAKT_ELEMENT_F32, 1},
    {"policy", "act", {1, 64}, TAKT_ELEMENT_F32, 4},
    {"gemm_i8", "project", {64, 512}, TAKT_ELEMENT_I8, 2},
    {"estimator", "update", {1, 24}, TAKT_ELEMENT_F32, 10},
};

void Check(takt_status_t status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "%s\n", takt_status_message(status));
  std::exit(1);
}

// The machine, and a context for each call.
struct Robot {
  takt_instance_t* instance = nullptr;
  takt_device_t* device = nullptr;
  std::vector<takt_function_t*> functions[4];  // By model.
  takt_value_t arguments[4];
};

takt_value_t MakeArgument(takt_device_t* device, const Model& model) {
  size_t count = 1;
  for (const int64_t size : model.shape) count *= static_cast<size_t>(size);
  std::vector<uint8_t> bytes(count, 3);
  if (model.element_type == TAKT_ELEMENT_F32) {
    const std::vector<float> values(count, 0.5f);
    bytes.resize(count * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  takt_buffer_view_t* view = nullptr;
  Check(takt_buffer_view_copy_from_host(device, model.element_type,
                                        model.shape.size(), model.shape.data(),
                                        bytes.data(), bytes.size(), &view));
  return takt_value_ref(view);
}

struct Flags {
  int rounds = 50;
  const char* cpus = "0-1";
  int64_t spin_ns = 50'000;
  int64_t timer_spin_ns = 300'000;
  int32_t fifo_priority = 0;
  const char* trace = nullptr;
};

Robot MakeRobot(const std::string& directory, const Flags& flags) {
  Robot robot;
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = "job-shop";
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_cpus = flags.cpus;
  options.worker_spin_ns = flags.spin_ns;
  options.timer_spin_ns = flags.timer_spin_ns;
  if (flags.fifo_priority > 0) {
    options.worker_fifo_priority = flags.fifo_priority;
    options.timer_fifo_priority = flags.fifo_priority + 1;
  }
  options.scheduler = &scheduler;
  Check(takt_instance_create(&options, &robot.instance));
  Check(
      takt_device_create(robot.instance, "local-task", nullptr, &robot.device));
  for (size_t m = 0; m < 4; ++m) {
    const Model& model = kModels[m];
    takt_module_t* module = nullptr;
    const std::string path = directory + "/" + model.name + ".vmfb";
    Check(
        takt_module_load_file(robot.instance, path.c_str(), nullptr, &module));
    for (size_t i = 0; i < model.count; ++i) {
      takt_context_options_t context_options;
      takt_context_options_init(&context_options);
      context_options.modules = &module;
      context_options.module_count = 1;
      context_options.devices = &robot.device;
      context_options.device_count = 1;
      takt_context_t* context = nullptr;
      Check(takt_context_create(robot.instance, &context_options, &context));
      takt_function_t* function = nullptr;
      Check(takt_context_find_function(context, model.function, &function));
      robot.functions[m].push_back(function);
      takt_context_release(context);
    }
    takt_module_release(module);
    robot.arguments[m] = MakeArgument(robot.device, model);
  }
  return robot;
}

void Destroy(Robot* robot) {
  for (size_t m = 0; m < 4; ++m) {
    for (takt_function_t* function : robot->functions[m]) {
      takt_function_release(function);
    }
  }
  takt_values_release(4, robot->arguments);
  takt_device_release(robot->device);
  takt_instance_release(robot->instance);
}

constexpr int64_t kPauseNs = 3'000'000;  // Before each run.

// The last end of some calls.
std::atomic<int64_t> last_end_ns{0};

void OnPlanned(void*, const takt_plan_job_end_t* job, takt_status_t status,
               size_t, const takt_value_t*) {
  Check(status);
  int64_t last = last_end_ns.load();
  while (last < job->end_ns &&
         !last_end_ns.compare_exchange_weak(last, job->end_ns)) {
  }
}

void OnCalled(void*, takt_invocation_t*, takt_status_t status) {
  Check(status);
  const int64_t now_ns = takt_clock_now_ns();
  int64_t last = last_end_ns.load();
  while (last < now_ns && !last_end_ns.compare_exchange_weak(last, now_ns)) {
  }
}

// The totals of a plan; the texts of the result are not valid.
takt_plan_info_t InfoOf(const takt_plan_t* plan) {
  takt_plan_contents_t* contents = nullptr;
  Check(takt_plan_contents_create(plan, &contents));
  const takt_plan_info_t info = takt_plan_contents_info(contents);
  takt_plan_contents_release(contents);
  return info;
}

// Returns the makespan; appends start errors.
int64_t RunPlan(Robot& robot, takt_plan_t* plan, takt_plan_mode_t mode,
                std::vector<int64_t>* errors_ns) {
  takt_plan_binding_t bindings[4];
  std::memset(bindings, 0, sizeof(bindings));
  for (size_t m = 0; m < 4; ++m) {
    bindings[m].stream = kModels[m].name;
    bindings[m].functions = robot.functions[m].data();
    bindings[m].function_count = robot.functions[m].size();
    bindings[m].arguments = &robot.arguments[m];
    bindings[m].argument_count = 1;
    bindings[m].criticality = TAKT_CRITICALITY_SOFT;
    bindings[m].on_done = &OnPlanned;
  }
  takt_plan_run_options_t options;
  takt_plan_run_options_init(&options);
  options.mode = mode;
  // The makespan counts all that is done from the release on.
  if (mode == TAKT_PLAN_MODE_ADAPTIVE) options.timing.lead_ns = 0;
  takt_plan_run_t* run = nullptr;
  Check(
      takt_plan_run_create(robot.instance, plan, 4, bindings, &options, &run));
  last_end_ns = 0;
  const int64_t start_ns = takt_clock_now_ns() + kPauseNs;
  Check(takt_plan_run_start(run, start_ns));
  Check(takt_plan_run_wait(run, TAKT_INFINITE_FUTURE));
  const size_t count = InfoOf(plan).operation_count;
  for (size_t i = 0; i < count && errors_ns != nullptr; ++i) {
    takt_plan_errors_t start;
    Check(takt_plan_run_query_operation(run, i, &start, nullptr));
    if (start.count > 0) errors_ns->push_back(start.max);
  }
  takt_plan_run_release(run);
  return last_end_ns - start_ns;
}

int64_t RunOnline(Robot& robot) {
  last_end_ns = 0;
  std::vector<takt_invocation_t*> invocations;
  // Out of the same sleep as a plan's.
  const timespec pause = {0, kPauseNs};
  nanosleep(&pause, nullptr);
  const int64_t start_ns = takt_clock_now_ns();
  for (size_t m = 0; m < 4; ++m) {
    for (takt_function_t* function : robot.functions[m]) {
      takt_async_options_t options;
      takt_async_options_init(&options);
      options.on_done = &OnCalled;
      takt_invocation_t* invocation = nullptr;
      Check(takt_async_invoke(function, &options, 1, &robot.arguments[m],
                              nullptr, nullptr, &invocation));
      invocations.push_back(invocation);
    }
  }
  for (takt_invocation_t* invocation : invocations) {
    Check(takt_invocation_wait(invocation, TAKT_INFINITE_FUTURE));
    takt_invocation_release(invocation);
  }
  return last_end_ns - start_ns;
}

double Us(std::vector<int64_t> times_ns, double fraction) {
  if (times_ns.empty()) return 0;
  std::sort(times_ns.begin(), times_ns.end());
  const auto rank = static_cast<size_t>(
      fraction * static_cast<double>(times_ns.size() - 1) + 0.5);
  return static_cast<double>(times_ns[rank]) / 1000;
}

std::string Figures(const char* name, const std::vector<int64_t>& times_ns) {
  char text[256];
  std::snprintf(text, sizeof(text),
                "\"%s\": {\"count\": %zu, \"p50\": %.1f, \"p99\": %.1f, "
                "\"max\": %.1f}",
                name, times_ns.size(), Us(times_ns, 0.5), Us(times_ns, 0.99),
                Us(times_ns, 1));
  return text;
}

takt_plan_t* LoadPlan(const char* path) {
  takt_plan_t* plan = nullptr;
  Check(takt_plan_load_file(path, &plan));
  return plan;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  std::vector<const char*> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const bool has_value = i + 1 < argc;
    if (flag == "--rounds" && has_value) {
      flags.rounds = std::atoi(argv[++i]);
    } else if (flag == "--cpus" && has_value) {
      flags.cpus = argv[++i];
    } else if (flag == "--spin" && has_value) {
      flags.spin_ns = std::atoll(argv[++i]) * 1000;
    } else if (flag == "--timer_spin" && has_value) {
      flags.timer_spin_ns = std::atoll(argv[++i]) * 1000;
    } else if (flag == "--fifo" && has_value) {
      flags.fifo_priority = std::atoi(argv[++i]);
    } else if (flag == "--trace" && has_value) {
      flags.trace = argv[++i];
    } else {
      paths.push_back(argv[i]);
    }
  }
  if (paths.size() != 3 || flags.rounds < 1) {
    std::fprintf(stderr,
                 "usage: plan_run_bench DIR STRICT.taktplan ADAPTIVE.taktplan "
                 "[--rounds N] [--cpus LIST] [--spin US] [--timer_spin US] "
                 "[--fifo PRIORITY] [--trace FILE]\n");
    return 2;
  }
  Robot robot = MakeRobot(paths[0], flags);
  takt_plan_t* const strict = LoadPlan(paths[1]);
  takt_plan_t* const adaptive = LoadPlan(paths[2]);
  std::vector<int64_t> errors_ns;
  std::vector<int64_t> strict_ns;
  std::vector<int64_t> adaptive_ns;
  std::vector<int64_t> online_ns;
  for (int round = -3; round < flags.rounds; ++round) {
    const bool counts = round >= 0;  // The first few are for learning.
    if (flags.trace != nullptr && round == flags.rounds - 1) {
      Check(takt_tracing_start(robot.instance, nullptr));
    }
    const int64_t a = RunPlan(robot, strict, TAKT_PLAN_MODE_STRICT,
                              counts ? &errors_ns : nullptr);
    const int64_t b =
        RunPlan(robot, adaptive, TAKT_PLAN_MODE_ADAPTIVE, nullptr);
    const int64_t c = RunOnline(robot);
    if (!counts) continue;
    strict_ns.push_back(a);
    adaptive_ns.push_back(b);
    online_ns.push_back(c);
  }
  std::printf(
      "{\"runtime\": \"takt\", \"rounds\": %d, %s,\n \"planned_makespan\": "
      "{\"strict\": %.1f, \"adaptive\": %.1f},\n %s,\n %s,\n %s}\n",
      flags.rounds, Figures("start_error", errors_ns).c_str(),
      static_cast<double>(InfoOf(strict).makespan_ns) / 1000,
      static_cast<double>(InfoOf(adaptive).makespan_ns) / 1000,
      Figures("makespan_strict", strict_ns).c_str(),
      Figures("makespan_adaptive", adaptive_ns).c_str(),
      Figures("makespan_online", online_ns).c_str());
  if (flags.trace != nullptr) {
    takt_trace_t* trace = nullptr;
    Check(takt_tracing_collect(robot.instance, &trace));
    Check(
        takt_trace_write_file(trace, TAKT_TRACE_FORMAT_PERFETTO, flags.trace));
    takt_trace_release(trace);
  }
  takt_plan_release(strict);
  takt_plan_release(adaptive);
  Destroy(&robot);
  return 0;
}
