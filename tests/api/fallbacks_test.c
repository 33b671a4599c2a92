/* Goal: what is done without, because memory or threads ran out, is counted in
 * statistics.
 * Method: the Nth allocation or thread of this process fails. */
#define _GNU_SOURCE
#include "takt/tools/plan_problem.h"
#include "tests/api/shortfalls.h"
#include "tests/support/fault_injection.h"

#if CAN_INJECT

/* With `worker_count` workers, the given policy and log, each if not NULL. */
static takt_instance_t* create_instance(int32_t worker_count,
                                        const char* policy, log_t* log) {
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = policy;
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = worker_count;
  if (policy != NULL) options.scheduler = &scheduler;
  if (log != NULL) {
    options.log_sink.user_data = log;
    options.log_sink.write = &keep_message;
  }
  takt_instance_t* instance = NULL;
  REQUIRE_OK(takt_instance_create(&options, &instance));
  return instance;
}

static void backup_threads_that_do_not_start_are_counted(void) {
  log_t log = {0, ""};
  takt_instance_t* instance = create_instance(2, NULL, &log);
  fault_arm(FAULT_THREAD, 3, false); /* After two workers and a backup. */
  takt_device_t* device = NULL;
  REQUIRE_OK(takt_device_create(instance, "local-task", NULL, &device));
  fault_disarm();
  const takt_instance_statistics_t statistics = statistics_of(instance);
  EXPECT(statistics.worker_count == 2);
  EXPECT(statistics.missing_backup_count == 1);
  EXPECT(log.count == 1);
  EXPECT_CONTAINS(log.last, "started 1 of 2 backup threads");
  takt_executor_statistics_t executor = {.struct_size = sizeof(executor)};
  takt_executor_query_statistics(takt_instance_executor(instance), &executor);
  EXPECT(executor.worker_count == 2);
  EXPECT(executor.backup_count == 1);
  takt_device_release(device);
  takt_instance_release(instance);
}

typedef struct world_t {
  takt_instance_t* instance;
  takt_device_t* device;
  takt_module_t* module;
  takt_context_t* context;
  takt_function_t* function;
  takt_value_t arguments[2];
} world_t;

static world_t create_world(const char* policy, log_t* log) {
  world_t w;
  memset(&w, 0, sizeof(w));
  w.instance = create_instance(1, policy, log);
  REQUIRE_OK(takt_device_create(w.instance, "local-task", NULL, &w.device));
  REQUIRE_OK(takt_module_load_file(w.instance, TESTDATA("api/simple_mul.vmfb"),
                                   NULL, &w.module));
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = &w.module;
  options.module_count = 1;
  options.devices = &w.device;
  options.device_count = 1;
  REQUIRE_OK(takt_context_create(w.instance, &options, &w.context));
  REQUIRE_OK(takt_context_find_function(w.context, "mul", &w.function));
  const float values[4] = {1, 2, 3, 4};
  const int64_t shape = 4;
  takt_buffer_view_t* view = NULL;
  REQUIRE_OK(takt_buffer_view_copy_from_host(
      w.device, TAKT_ELEMENT_F32, 1, &shape, values, sizeof(values), &view));
  w.arguments[0] = w.arguments[1] = takt_value_ref(view);
  return w;
}

static void release_world(world_t* w) {
  takt_values_release(1, w->arguments); /* Both are one. */
  takt_function_release(w->function);
  takt_context_release(w->context);
  takt_module_release(w->module);
  takt_device_release(w->device);
  takt_instance_release(w->instance);
}

static void a_thread_of_timers_that_does_not_start_is_counted(void) {
  log_t log = {0, ""};
  world_t w = create_world(NULL, &log);
  takt_stream_options_t options;
  takt_stream_options_init(&options);
  options.period_ns = 1000000;
  takt_stream_t* stream = NULL;
  REQUIRE_OK(takt_stream_create(w.function, &options, &stream));
  REQUIRE_OK(takt_stream_set_input(stream, 2, w.arguments));
  for (uint32_t i = 1; i <= 2; ++i) {
    fault_arm(FAULT_THREAD, 0, true);
    EXPECT_ERROR(takt_stream_start(stream, 0), TAKT_STATUS_RESOURCE_EXHAUSTED,
                 "");
    fault_disarm();
    EXPECT(statistics_of(w.instance).refused_thread_count == i);
  }
  EXPECT(log.count == 1);
  EXPECT_CONTAINS(log.last, "did not start");
  EXPECT_OK(takt_stream_start(stream, 0));
  EXPECT(statistics_of(w.instance).refused_thread_count == 2);
  takt_stream_stop(stream);
  EXPECT_OK(takt_stream_wait_idle(stream, TAKT_INFINITE_FUTURE));
  takt_stream_release(stream);
  release_world(&w);
}

/* Memory runs out at a later and later allocation of a call, until a decision
 * of the scheduler has needed spare memory. */
static void blocks_of_spare_memory_are_counted(void) {
  world_t w = create_world("job-shop", NULL);
  EXPECT(statistics_of(w.instance).spare_block_count == 0);
  enum { kMost = 2000 };
  long first = 0;
  while (first < kMost && statistics_of(w.instance).spare_block_count == 0) {
    takt_value_t result;
    memset(&result, 0, sizeof(result));
    fault_arm(FAULT_MEMORY, first, true);
    takt_status_t status =
        takt_function_invoke(w.function, NULL, 2, w.arguments, 1, &result);
    fault_disarm();
    const takt_status_code_t code = takt_status_code(status);
    EXPECT(code == TAKT_STATUS_OK || code == TAKT_STATUS_RESOURCE_EXHAUSTED);
    takt_status_free(status);
    takt_values_release(1, &result);
    ++first;
  }
  EXPECT(first < kMost);
  release_world(&w);
}

static void threads_of_the_solver_that_do_not_start_are_counted(void) {
  static const char kText[] = "2 2 1.5\n2 2 1 3 2 4 1 2 5\n2 1 1 2 2 1 4 2 3\n";
  takt_plan_problem_t* problem = NULL;
  REQUIRE_OK(takt_plan_problem_parse(kText, strlen(kText), TAKT_PLAN_FORMAT_FJS,
                                     &problem));
  takt_plan_solve_options_t options;
  takt_plan_solve_options_init(&options);
  options.thread_count = 4;
  options.step_limit = 50;
  takt_plan_schedule_t* schedule = NULL;
  takt_plan_solve_report_t report;
  fault_arm(FAULT_THREAD, 1, true); /* One starts. */
  REQUIRE_OK(takt_plan_solve(problem, &options, &schedule, &report));
  fault_disarm();
  EXPECT(report.lost_thread_count == 2);
  takt_plan_schedule_release(schedule);
  REQUIRE_OK(takt_plan_solve(problem, &options, &schedule, &report));
  EXPECT(report.lost_thread_count == 0);
  takt_plan_schedule_release(schedule);
  takt_plan_problem_release(problem);
}

int main(void) {
  RUN(backup_threads_that_do_not_start_are_counted);
  RUN(a_thread_of_timers_that_does_not_start_is_counted);
  RUN(blocks_of_spare_memory_are_counted);
  RUN(threads_of_the_solver_that_do_not_start_are_counted);
  return test_result();
}

#else

int main(void) {
  printf("no faults with this sanitizer\n");
  return test_result();
}

#endif /* CAN_INJECT */
