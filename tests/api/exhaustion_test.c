/* Goal: memory, threads, mappings and file descriptors that run out are an
 * error or a documented fallback, wherever that happens.
 * Method: each scenario runs in a process of its own once for each N: the Nth
 * call of one kind fails there, or all from it on. The process must not crash
 * or hang, and the scenario's first error must be RESOURCE_EXHAUSTED. Then the
 * same scenario must succeed. In a process that is warm, where the scenario has
 * run before, no block may be left over.
 *
 * The suite takes some N of single faults in warm processes, others in each
 * run; it prints the TAKT_FAULT_OFFSET that takes the same ones again.
 * TAKT_EVERY_FAULT=1 takes all N, cold processes, and faults that go on.
 * TAKT_FAULT=call:memory:17 runs one in the foreground, for a debugger;
 * TAKT_FAULT=call:memory:17+w fails all from it on, in a warm process. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>

#include "takt/npu.h"
#include "takt/tools/plan_problem.h"
#include "takt/trace.h"
#include "tests/api/test.h"
#include "tests/support/fault_injection.h"

/* All that a scenario may have. */
typedef struct world_t {
  takt_instance_t* instance;
  takt_device_t* devices[2];
  size_t device_count;
  takt_module_t* module;
  takt_context_t* context;
  takt_function_t* function;
  takt_buffer_view_t* view;
  takt_value_t arguments[2];
  takt_value_t result;
} world_t;

static void release_world(world_t* w) {
  takt_values_release(1, &w->result);
  takt_buffer_view_release(w->view);
  takt_function_release(w->function);
  takt_context_release(w->context);
  takt_module_release(w->module);
  takt_device_release(w->devices[1]);
  takt_device_release(w->devices[0]);
  takt_instance_release(w->instance);
}

/* Returns the status of a step that fails. */
#define TRY(expression)                        \
  do {                                         \
    takt_status_t try_status = (expression);   \
    if (try_status != NULL) return try_status; \
  } while (false)

typedef struct setting_t {
  const char* device;
  int32_t worker_count;
  const char* policy; /* NULL: the default. */
  const char* module;
  const char* function;
  bool discovers;    /* The machine, rather than one core. */
  int64_t window_ns; /* Of the scheduler; 0: no windows. */
} setting_t;

/* The discovery of the machine would be most of the allocations. Read before
 * any fault: the JSON library ends the process if memory runs out while it
 * frees what it has read. */
static takt_topology_t* one_core;
static const char kOneCore[] =
    "{\"clusters\": [{\"name\": \"a\", \"cpus\": \"0\"}]}";

static takt_status_t make_instance(world_t* w, const setting_t* setting) {
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = setting->policy;
  scheduler.window_ns = setting->window_ns;
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = setting->worker_count;
  if (setting->policy != NULL) options.scheduler = &scheduler;
  if (!setting->discovers) options.topology = one_core;
  return takt_instance_create(&options, &w->instance);
}

static takt_status_t link_world(world_t* w, const char* path,
                                const char* function) {
  TRY(takt_module_load_file(w->instance, path, NULL, &w->module));
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = &w->module;
  options.module_count = 1;
  options.devices = w->devices;
  options.device_count = w->device_count;
  TRY(takt_context_create(w->instance, &options, &w->context));
  return takt_context_find_function(w->context, function, &w->function);
}

static takt_status_t make_arguments(world_t* w) {
  const float values[4] = {1, 2, 3, 4};
  const int64_t shape = 4;
  TRY(takt_buffer_view_copy_from_host(w->devices[0], TAKT_ELEMENT_F32, 1,
                                      &shape, values, sizeof(values),
                                      &w->view));
  w->arguments[0] = w->arguments[1] = takt_value_ref(w->view);
  return NULL;
}

static takt_status_t make_world(world_t* w, const setting_t* setting) {
  TRY(make_instance(w, setting));
  takt_device_options_t options;
  takt_device_options_init(&options);
  options.learn_costs = setting->policy == NULL;
  TRY(takt_device_create(w->instance, setting->device, &options,
                         &w->devices[0]));
  w->device_count = 1;
  TRY(link_world(w, setting->module, setting->function));
  return make_arguments(w);
}

static takt_status_t wrong_result(void) {
  return takt_status_create(TAKT_STATUS_DATA_LOSS, "a wrong result");
}

static takt_status_t check_result(world_t* w, float expected) {
  float values[4] = {0};
  TRY(takt_buffer_view_copy_to_host(takt_value_as_buffer_view(&w->result),
                                    values, sizeof(values)));
  return values[3] == expected ? NULL : wrong_result();
}

static takt_status_t call(world_t* w, float expected) {
  takt_values_release(1, &w->result);
  TRY(takt_function_invoke(w->function, NULL, 2, w->arguments, 1, &w->result));
  return check_result(w, expected);
}

#define MUL TESTDATA("api/simple_mul.vmfb"), "mul"

static takt_status_t scenario_instance(world_t* w) {
  const setting_t setting = {.worker_count = 2, .discovers = true};
  TRY(make_instance(w, &setting));
  return takt_device_create(w->instance, "local-task", NULL, &w->devices[0]);
}

static takt_status_t scenario_call(world_t* w) {
  const setting_t setting = {"local-task", 1, NULL, MUL, false, 0};
  TRY(make_world(w, &setting));
  TRY(call(w, 16));
  return call(w, 16);
}

static takt_status_t scenario_sync(world_t* w) {
  const setting_t setting = {"local-sync", 0, NULL, MUL, false, 0};
  TRY(make_world(w, &setting));
  return call(w, 16);
}

static takt_status_t scenario_vmvx(world_t* w) {
  const setting_t setting = {
      "local-task", 1, NULL, TESTDATA("models/add.vmvx.vmfb"), "add", false, 0};
  TRY(make_world(w, &setting));
  return call(w, 8);
}

static takt_status_t scenario_scheduled(world_t* w) {
  const setting_t setting = {"local-task", 1, "job-shop", MUL, false, 0};
  TRY(make_world(w, &setting));
  return call(w, 16);
}

static takt_status_t await_invocation(world_t* w,
                                      takt_invocation_t* invocation) {
  TRY(takt_invocation_wait(invocation, TAKT_INFINITE_FUTURE));
  TRY(takt_invocation_take_results(invocation, 1, &w->result));
  return check_result(w, 16);
}

static takt_status_t scenario_async(world_t* w) {
  const setting_t setting = {
      "local-task", 1,     NULL, TESTDATA("api/simple_mul_async.vmfb"),
      "mul",        false, 0};
  TRY(make_world(w, &setting));
  takt_fence_t* wait = NULL;
  TRY(takt_fence_create(&wait));
  takt_invocation_t* invocation = NULL;
  takt_status_t status = takt_async_invoke(w->function, NULL, 2, w->arguments,
                                           wait, NULL, &invocation);
  if (status == NULL) {
    status = takt_fence_signal(wait);
    if (status != NULL) takt_invocation_cancel(invocation);
  }
  takt_fence_release(wait);
  if (status == NULL) status = await_invocation(w, invocation);
  takt_invocation_release(invocation);
  return status;
}

/* Two calls, and the fences by which they wait for each other. */
typedef struct pair_t {
  takt_fence_t* fences[2];
  takt_invocation_t* calls[2];
} pair_t;

/* Its calls end in any case. */
static takt_status_t release_pair(pair_t* pair, takt_status_t status) {
  for (int i = 0; i < 2; ++i) takt_fence_release(pair->fences[i]);
  for (int i = 0; i < 2; ++i) {
    if (pair->calls[i] == NULL) continue;
    takt_status_free(
        takt_invocation_wait(pair->calls[i], TAKT_INFINITE_FUTURE));
    takt_invocation_release(pair->calls[i]);
  }
  return status;
}

static takt_status_t lend(world_t* w, pair_t* pair) {
  takt_async_options_t options;
  takt_async_options_init(&options);
  for (int i = 0; i < 2; ++i) TRY(takt_fence_create(&pair->fences[i]));
  options.priority = 100;
  TRY(takt_async_invoke(w->function, &options, 2, w->arguments, pair->fences[0],
                        pair->fences[1], &pair->calls[0]));
  options.priority = 200;
  TRY(takt_async_invoke(w->function, &options, 2, w->arguments, pair->fences[1],
                        NULL, &pair->calls[1]));
  TRY(takt_fence_signal(pair->fences[0]));
  return await_invocation(w, pair->calls[1]);
}

/* An urgent call waits for the fence of one that is less urgent. */
static takt_status_t scenario_lend(world_t* w) {
  const setting_t setting = {
      "local-task", 1,     NULL, TESTDATA("api/simple_mul_async.vmfb"),
      "mul",        false, 0};
  TRY(make_world(w, &setting));
  pair_t pair = {{NULL, NULL}, {NULL, NULL}};
  return release_pair(&pair, lend(w, &pair));
}

/* Products and sums of 2 x 4 numbers. */
static takt_status_t check_scaled(takt_invocation_t* call) {
  takt_value_t results[2] = {{TAKT_VALUE_NONE}, {TAKT_VALUE_NONE}};
  TRY(takt_invocation_wait(call, TAKT_INFINITE_FUTURE));
  TRY(takt_invocation_take_results(call, 2, results));
  float products[8] = {0};
  takt_status_t status = takt_buffer_view_copy_to_host(
      takt_value_as_buffer_view(&results[0]), products, sizeof(products));
  takt_values_release(2, results);
  if (status != NULL) return status;
  return products[7] == 64 ? NULL : wrong_result();
}

static takt_status_t run_batch(world_t* w, pair_t* pair) {
  takt_async_options_t options;
  takt_async_options_init(&options);
  options.batch = true;
  TRY(takt_fence_create(&pair->fences[0]));
  for (int i = 0; i < 2; ++i) {
    TRY(takt_async_invoke(w->function, &options, 2, w->arguments,
                          pair->fences[0], NULL, &pair->calls[i]));
  }
  TRY(takt_fence_signal(pair->fences[0]));
  TRY(check_scaled(pair->calls[0]));
  return check_scaled(pair->calls[1]);
}

static takt_status_t call_alone(world_t* w) {
  pair_t pair = {{NULL, NULL}, {NULL, NULL}};
  takt_status_t status = takt_async_invoke(w->function, NULL, 2, w->arguments,
                                           NULL, NULL, &pair.calls[0]);
  if (status == NULL) status = check_scaled(pair.calls[0]);
  return release_pair(&pair, status);
}

/* Two calls as one; whatever becomes of them, the context runs the next. */
static takt_status_t scenario_batch(world_t* w) {
  const setting_t setting = {
      "local-task", 1,     NULL, TESTDATA("async/batch.cpu.async.vmfb"),
      "scale",      false, 0};
  TRY(make_world(w, &setting));
  const float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const int64_t shape[2] = {2, 4};
  takt_buffer_view_release(w->view);
  w->view = NULL;
  TRY(takt_buffer_view_copy_from_host(w->devices[0], TAKT_ELEMENT_F32, 2, shape,
                                      values, sizeof(values), &w->view));
  w->arguments[0] = w->arguments[1] = takt_value_ref(w->view);
  pair_t pair = {{NULL, NULL}, {NULL, NULL}};
  takt_status_t status = release_pair(&pair, run_batch(w, &pair));
  takt_status_t next = call_alone(w);
  if (status == NULL) return next;
  takt_status_free(next);
  return status;
}

/* So many jobs fail only if memory runs out for all of them. */
enum { kFailedJobCount = 5 };

static takt_status_t await_job(world_t* w, takt_stream_t* stream) {
  TRY(takt_stream_set_input(stream, 2, w->arguments));
  TRY(takt_stream_start(stream, 0));
  const int64_t end_ns = takt_clock_now_ns() + kAwaitNs;
  takt_stream_job_t job;
  while (!takt_stream_take_output(stream, 1, &w->result, &job)) {
    takt_stream_statistics_t statistics = {.struct_size = sizeof(statistics)};
    TRY(takt_stream_query_statistics(stream, &statistics));
    /* Jobs that found no memory have failed; another one follows. */
    if (statistics.failed_count >= kFailedJobCount) {
      return takt_status_create(TAKT_STATUS_RESOURCE_EXHAUSTED, "jobs failed");
    }
    if (test_is_passed(end_ns)) {
      return takt_status_create(TAKT_STATUS_DEADLINE_EXCEEDED, "no job");
    }
  }
  return check_result(w, 16);
}

static takt_status_t run_stream(world_t* w, const setting_t* setting) {
  TRY(make_world(w, setting));
  takt_stream_options_t options;
  takt_stream_options_init(&options);
  options.period_ns = 500000;
  takt_stream_t* stream = NULL;
  TRY(takt_stream_create(w->function, &options, &stream));
  takt_status_t status = await_job(w, stream);
  takt_stream_stop(stream);
  takt_status_t idle = takt_stream_wait_idle(stream, TAKT_INFINITE_FUTURE);
  takt_stream_release(stream);
  if (status == NULL) return idle;
  takt_status_free(idle);
  return status;
}

static takt_status_t scenario_stream(world_t* w) {
  const setting_t setting = {"local-task", 1, NULL, MUL, false, 0};
  return run_stream(w, &setting);
}

static takt_status_t scenario_windows(world_t* w) {
  const setting_t setting = {"local-task", 1, "job-shop", MUL, false, 1000000};
  return run_stream(w, &setting);
}

static bool drop_bytes(void* user_data, const void* data, size_t byte_length) {
  (void)user_data, (void)data, (void)byte_length;
  return true;
}

static takt_status_t scenario_trace(world_t* w) {
  const setting_t setting = {"local-task", 1, NULL, MUL, false, 0};
  TRY(make_world(w, &setting));
  takt_tracing_options_t options;
  takt_tracing_options_init(&options);
  options.event_count_max = 256;
  TRY(takt_tracing_start(w->instance, &options));
  TRY(call(w, 16));
  takt_tracing_stop(w->instance);
  takt_trace_t* trace = NULL;
  TRY(takt_tracing_collect(w->instance, &trace));
  takt_status_t status =
      takt_trace_write(trace, TAKT_TRACE_FORMAT_PERFETTO, &drop_bytes, NULL);
  takt_trace_release(trace);
  return status;
}

static takt_status_t scenario_solve(world_t* w) {
  (void)w;
  static const char kText[] = "2 2 1.5\n2 2 1 3 2 4 1 2 5\n2 1 1 2 2 1 4 2 3\n";
  takt_plan_problem_t* problem = NULL;
  TRY(takt_plan_problem_parse(kText, strlen(kText), TAKT_PLAN_FORMAT_FJS,
                              &problem));
  takt_plan_solve_options_t options;
  takt_plan_solve_options_init(&options);
  options.thread_count = 3;
  options.step_limit = 50;
  takt_plan_schedule_t* schedule = NULL;
  takt_status_t status = takt_plan_solve(problem, &options, &schedule, NULL);
  takt_plan_schedule_release(schedule);
  takt_plan_problem_release(problem);
  return status;
}

static takt_status_t scenario_npu(world_t* w) {
  const setting_t setting = {.worker_count = 1};
  TRY(make_instance(w, &setting));
  TRY(takt_device_create(w->instance, "local-task", NULL, &w->devices[0]));
  takt_npu_options_t options;
  takt_npu_options_init(&options);
  options.virtual_time = true;
  TRY(takt_npu_device_create(w->instance, takt_npu_sim_driver(), &options,
                             &w->devices[1]));
  w->device_count = 2;
  TRY(link_world(w, TESTDATA("npu/route_a.vmfb"), "run"));
  static int8_t numbers[64 * 64];
  takt_value_t arguments[3];
  memset(arguments, 0, sizeof(arguments));
  const int64_t shapes[3][2] = {{32, 64}, {64, 48}, {32, 48}};
  takt_status_t status = NULL;
  for (int i = 0; i < 3 && status == NULL; ++i) {
    static int32_t sums[32 * 48];
    takt_buffer_view_t* view = NULL;
    status = takt_buffer_view_copy_from_host(
        w->devices[0], i < 2 ? TAKT_ELEMENT_I8 : TAKT_ELEMENT_I32, 2, shapes[i],
        i < 2 ? (const void*)numbers : sums,
        (size_t)(shapes[i][0] * shapes[i][1]) * (i < 2 ? 1 : 4), &view);
    if (view != NULL) arguments[i] = takt_value_ref(view);
  }
  if (status == NULL) {
    status =
        takt_function_invoke(w->function, NULL, 3, arguments, 1, &w->result);
  }
  takt_values_release(3, arguments);
  return status;
}

static void count_reached(void* user_data, takt_status_t status) {
  takt_status_free(status);
  ++*(int*)user_data;
}

static takt_status_t use_fences(world_t* w, takt_fence_t** fences) {
  TRY(takt_fence_create(&fences[0]));
  TRY(takt_fence_create(&fences[1]));
  TRY(takt_fence_join(2, fences, &fences[2]));
  int fd = -1;
  TRY(takt_fence_export_fd(fences[2], &fd));
  takt_status_t status =
      takt_fence_import_fd(w->instance, fd, TAKT_FENCE_FD_READABLE, &fences[3]);
  static int reached_count;
  if (status == NULL) {
    takt_fence_on_reached(fences[2], &count_reached, &reached_count);
    status = takt_fence_signal(fences[0]);
  }
  if (status == NULL) status = takt_fence_signal(fences[1]);
  if (status == NULL) {
    status = takt_fence_wait(fences[3], w->instance, TAKT_INFINITE_FUTURE);
  }
  close(fd);
  return status;
}

static takt_status_t scenario_fence(world_t* w) {
  const setting_t setting = {.worker_count = 1};
  TRY(make_instance(w, &setting));
  takt_fence_t* fences[4] = {NULL, NULL, NULL, NULL};
  takt_status_t status = use_fences(w, fences);
  for (int i = 3; i >= 0; --i) takt_fence_release(fences[i]);
  return status;
}

typedef struct scenario_t {
  const char* name;
  takt_status_t (*run)(world_t* world);
} scenario_t;

static const scenario_t kScenarios[] = {
    {"instance", &scenario_instance}, {"sync", &scenario_sync},
    {"call", &scenario_call},         {"vmvx", &scenario_vmvx},
    {"async", &scenario_async},       {"scheduled", &scenario_scheduled},
    {"stream", &scenario_stream},     {"windows", &scenario_windows},
    {"trace", &scenario_trace},       {"solve", &scenario_solve},
    {"npu", &scenario_npu},           {"fence", &scenario_fence},
    {"lend", &scenario_lend},         {"batch", &scenario_batch},
};
enum { kScenarioCount = sizeof(kScenarios) / sizeof(kScenarios[0]) };

/* Without a fault from the release on. Prints an error if `prints`. */
static takt_status_code_t run(const scenario_t* scenario, bool prints) {
  world_t world;
  memset(&world, 0, sizeof(world));
  takt_status_t status = scenario->run(&world);
  const takt_status_code_t code = takt_status_code(status);
  if (prints && status != NULL) {
    fprintf(stderr, "%s: %s: %s: %s\n", scenario->name,
            takt_status_code_name(code), takt_status_source(status),
            takt_status_message(status));
  }
  takt_status_free(status);
  release_world(&world);
  return code;
}

/* How a process with a fault ended. */
typedef enum outcome_t {
  OUTCOME_PASSED,  /* The fault was done without, or not reached. */
  OUTCOME_REFUSED, /* RESOURCE_EXHAUSTED. */
  OUTCOME_OTHER_ERROR,
  OUTCOME_NOT_RECOVERED, /* The same scenario failed afterwards. */
  OUTCOME_LEAKED,
  OUTCOME_HUNG,
  OUTCOME_CRASHED,
  OUTCOME_COUNT,
} outcome_t;

static const char* const kOutcomeNames[OUTCOME_COUNT] = {
    "passed", "refused",     "another error", "not recovered",
    "leaked", "did not end", "crashed"};

typedef struct fault_t {
  fault_kind_t kind;
  long first;
  bool goes_on;
} fault_t;

/* A leak is what grows in each of these rounds. Without one, the first few
 * nearly always show that. */
enum { kRounds = 4, kLeakRounds = 12 };

/* In a process of its own, which is warm if the scenario has run there. */
static outcome_t run_faulty(const scenario_t* scenario, fault_t fault,
                            bool is_warm, bool prints) {
  takt_status_code_t code = TAKT_STATUS_OK;
  /* What an error takes once, such as texts of the C library, and the stacks
   * that the C library keeps are no leak: what leaks grows in each round. */
  bool grows = is_warm;
  long live_count = 0;
  for (int round = 0; round < kRounds || (grows && round < kLeakRounds);
       ++round) {
    fault_arm(fault.kind, fault.first, fault.goes_on);
    const takt_status_code_t round_code = run(scenario, prints);
    fault_disarm();
    if (round == 0) code = round_code;
    if (run(scenario, prints) != TAKT_STATUS_OK) return OUTCOME_NOT_RECOVERED;
    if (prints) fprintf(stderr, "%ld blocks in use\n", (long)fault_live_blocks);
    grows = grows && (round == 0 || fault_live_blocks > live_count);
    live_count = fault_live_blocks;
    if (!is_warm) break;
  }
  if (grows) return OUTCOME_LEAKED;
  if (code == TAKT_STATUS_OK) return OUTCOME_PASSED;
  if (code == TAKT_STATUS_RESOURCE_EXHAUSTED) return OUTCOME_REFUSED;
  return OUTCOME_OTHER_ERROR;
}

/* Longer than a scenario takes on a busy machine. */
enum { kProcessSeconds = 120 };

static outcome_t run_apart(const scenario_t* scenario, fault_t fault,
                           bool is_warm) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kProcessSeconds);
    /* What a crash says would drown what this program says. */
    if (freopen("/dev/null", "w", stderr) == NULL) _exit(OUTCOME_CRASHED);
    _exit(run_faulty(scenario, fault, is_warm, false));
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) return (outcome_t)WEXITSTATUS(status);
  return WTERMSIG(status) == SIGALRM ? OUTCOME_HUNG : OUTCOME_CRASHED;
}

/* The calls of each kind in one run. */
typedef struct call_counts_t {
  long of[FAULT_KIND_COUNT];
} call_counts_t;

static call_counts_t count_calls(const scenario_t* scenario) {
  call_counts_t counts;
  memset(&counts, 0, sizeof(counts));
  int ends[2];
  if (pipe(ends) != 0) exit(1);
  const pid_t child = fork();
  if (child == 0) {
    fault_arm(FAULT_MEMORY, -1, false);
    if (run(scenario, true) != TAKT_STATUS_OK) _exit(1);
    for (int i = 0; i < FAULT_KIND_COUNT; ++i) {
      counts.of[i] = fault_call_counts[i];
    }
    _exit(write(ends[1], &counts, sizeof(counts)) != sizeof(counts));
  }
  close(ends[1]);
  EXPECT(read(ends[0], &counts, sizeof(counts)) == sizeof(counts));
  close(ends[0]);
  waitpid(child, NULL, 0);
  return counts;
}

/* How many N the suite takes of each row, and the offset of the first. */
enum { kSampleCount = 25 };
static long sample_offset;

static void try_kind(const scenario_t* scenario, fault_kind_t kind,
                     bool is_warm, bool goes_on) {
  const long call_count = count_calls(scenario).of[kind];
  const bool takes_all = getenv("TAKT_EVERY_FAULT") != NULL;
  const long each =
      takes_all || call_count <= kSampleCount ? 1 : call_count / kSampleCount;
  int counts[OUTCOME_COUNT] = {0};
  for (long first = sample_offset % each; first < call_count; first += each) {
    const fault_t fault = {kind, first, goes_on};
    const outcome_t outcome = run_apart(scenario, fault, is_warm);
    ++counts[outcome];
    if (outcome <= OUTCOME_REFUSED) continue;
    if (outcome == OUTCOME_OTHER_ERROR && kind != FAULT_MEMORY) continue;
    fprintf(stderr, "TAKT_FAULT=%s:%s:%ld%s%s: %s\n", scenario->name,
            kFaultNames[kind], first, goes_on ? "+" : "", is_warm ? "w" : "",
            kOutcomeNames[outcome]);
    ++test_failure_count;
  }
  printf("%-9s %-7s %s %s %5ld calls:", scenario->name, kFaultNames[kind],
         is_warm ? "warm" : "cold", goes_on ? "from on" : "one    ",
         call_count);
  for (int i = 0; i < OUTCOME_COUNT; ++i) {
    if (counts[i] > 0) printf(" %d %s;", counts[i], kOutcomeNames[i]);
  }
  printf("\n");
  fflush(stdout);
}

/* "call:memory:17", "call:memory:17+", "call:memory:17w", "call:memory:17+w" */
static int run_one(const char* text) {
  char name[32] = "", kind_name[32] = "", flags[4] = "";
  fault_t fault = {FAULT_MEMORY, -1, false};
  if (sscanf(text, "%31[^:]:%31[^:]:%ld%3s", name, kind_name, &fault.first,
             flags) < 3) {
    return 2;
  }
  fault.goes_on = strchr(flags, '+') != NULL;
  const bool is_warm = strchr(flags, 'w') != NULL;
  for (int i = 0; i < FAULT_KIND_COUNT; ++i) {
    if (strcmp(kFaultNames[i], kind_name) == 0) fault.kind = (fault_kind_t)i;
  }
  for (int i = 0; i < kScenarioCount; ++i) {
    if (strcmp(kScenarios[i].name, name) != 0) continue;
    if (is_warm) run(&kScenarios[i], true);
    printf("%s\n",
           kOutcomeNames[run_faulty(&kScenarios[i], fault, is_warm, true)]);
  }
  return 0;
}

/* Each in a process of its own, so that it is cold at first. */
static void try_scenario(const scenario_t* scenario) {
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    test_failure_count = 0;
    const bool takes_all = getenv("TAKT_EVERY_FAULT") != NULL;
    for (int warm = takes_all ? 0 : 1; warm < 2; ++warm) {
      if (warm) EXPECT(run(scenario, true) == TAKT_STATUS_OK);
      for (int kind = 0; kind < FAULT_KIND_COUNT; ++kind) {
        try_kind(scenario, (fault_kind_t)kind, warm != 0, false);
        if (takes_all) try_kind(scenario, (fault_kind_t)kind, warm != 0, true);
      }
    }
    _exit(test_failure_count != 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static long choose_offset(void) {
  const char* const given = getenv("TAKT_FAULT_OFFSET");
  if (given != NULL) return strtol(given, NULL, 10);
  return (long)(takt_clock_now_ns() / 1000 % 10000);
}

static int run_all(void) {
  if (!CAN_INJECT) {
    for (int i = 0; i < kScenarioCount; ++i) {
      EXPECT(run(&kScenarios[i], true) == TAKT_STATUS_OK);
    }
    return test_failure_count != 0;
  }
  const char* const one = getenv("TAKT_FAULT");
  if (one != NULL) return run_one(one);
  sample_offset = choose_offset();
  printf("TAKT_FAULT_OFFSET=%ld\n", sample_offset);
  const char* const only = getenv("TAKT_FAULT_SCENARIO");
  for (int i = 0; i < kScenarioCount; ++i) {
    if (only == NULL || strcmp(only, kScenarios[i].name) == 0) {
      try_scenario(&kScenarios[i]);
    }
  }
  return test_failure_count != 0;
}

int main(void) {
  if (getenv("TAKT_EMULATED") != NULL) {
    printf("skipped: qemu-user may end where a thread does not start\n");
    return 77;
  }
  REQUIRE_OK(takt_topology_parse(kOneCore, &one_core));
  const int result = run_all();
  takt_topology_release(one_core);
  return result;
}
