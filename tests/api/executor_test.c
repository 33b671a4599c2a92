#include "takt/executor.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/api/fixture.h"
#include "tests/api/shortfalls.h"

static takt_worker_statistics_t worker_of(takt_instance_t* instance,
                                          uint32_t worker) {
  takt_worker_statistics_t statistics;
  memset(&statistics, 0, sizeof(statistics));
  statistics.struct_size = sizeof(statistics);
  EXPECT(takt_executor_query_worker_statistics(takt_instance_executor(instance),
                                               worker, &statistics));
  return statistics;
}

static void workers_start_with_the_first_device_that_needs_them(void) {
  takt_instance_t* instance = create_instance(2);
  takt_executor_statistics_t statistics;
  statistics.struct_size = sizeof(statistics);
  takt_executor_query_statistics(takt_instance_executor(instance), &statistics);
  EXPECT(statistics.worker_count == 0);
  takt_worker_statistics_t worker;
  worker.struct_size = sizeof(worker);
  EXPECT(!takt_executor_query_worker_statistics(
      takt_instance_executor(instance), 0, &worker));
  takt_device_t* device = create_device(instance, "local-task");
  takt_executor_query_statistics(takt_instance_executor(instance), &statistics);
  EXPECT(statistics.worker_count == 2);
  EXPECT(!takt_executor_query_worker_statistics(
      takt_instance_executor(instance), 2, &worker));
  takt_device_release(device);
  takt_instance_release(instance);
}

static void writes_no_more_than_there_is_room_for(void) {
  takt_instance_t* instance = create_instance(1);
  takt_executor_statistics_t statistics;
  memset(&statistics, 0xee, sizeof(statistics));
  statistics.struct_size = offsetof(takt_executor_statistics_t, awake_count);
  takt_executor_query_statistics(takt_instance_executor(instance), &statistics);
  EXPECT(statistics.worker_count == 0);
  EXPECT(statistics.awake_count == 0xeeeeeeee);
  takt_instance_release(instance);
}

static void workers_stay_on_the_cpus_they_are_given(void) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_cpus = "0-63";
  takt_instance_t* instance = NULL;
  REQUIRE_OK(takt_instance_create(&options, &instance));
  takt_device_t* device = create_device(instance, "local-task");
  const uint32_t count = takt_instance_worker_count(instance);
  EXPECT(count >= 1);
  for (uint32_t i = 0; i < count; ++i) {
    AWAIT(worker_of(instance, i).is_running);
    const takt_worker_statistics_t worker = worker_of(instance, i);
    EXPECT(worker.thread_id != 0);
    EXPECT(worker.affinity_error == 0);
    EXPECT(worker.affinity_mask == worker.placement_mask);
  }
  takt_device_release(device);
  takt_instance_release(instance);
}

static void places_that_do_not_exist_are_reported(void) {
  takt_topology_t* board = NULL;
  REQUIRE_OK(
      takt_topology_parse("{\"clusters\":[{\"cpus\":\"8000-8001\"}]}", &board));
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.topology = board;
  options.worker_cpus = "8000-8001";
  takt_instance_t* instance = NULL;
  REQUIRE_OK(takt_instance_create(&options, &instance));
  takt_topology_release(board);
  EXPECT(takt_instance_worker_count(instance) == 2);
  takt_device_t* device = create_device(instance, "local-task");
  AWAIT(worker_of(instance, 1).is_running);
  const takt_worker_statistics_t worker = worker_of(instance, 1);
  EXPECT(worker.affinity_error != 0);
  EXPECT(worker.affinity_mask != 0);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void a_budget_is_granted_or_its_refusal_visible(void) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 1;
  options.worker_budget_ns = 4000000;
  options.worker_period_ns = 20000000;
  takt_instance_t* instance = NULL;
  REQUIRE_OK(takt_instance_create(&options, &instance));
  takt_device_t* device = create_device(instance, "local-task");
  AWAIT(worker_of(instance, 0).is_running);
  const takt_worker_statistics_t worker = worker_of(instance, 0);
  EXPECT(worker.budget_ns == (worker.budget_error == 0 ? 4000000 : 0));
  EXPECT(worker.period_ns == (worker.budget_error == 0 ? 20000000 : 0));
  takt_instance_statistics_t statistics;
  statistics.struct_size = sizeof(statistics);
  REQUIRE_OK(takt_instance_query_statistics(instance, &statistics));
  EXPECT(statistics.worker_budget_error == worker.budget_error);
  EXPECT(statistics.missing_backup_count == 0); /* None was asked for. */
  takt_device_release(device);
  takt_instance_release(instance);
}

static void missing_cpus_and_workers_are_reported(void) {
  log_t log = {0, ""};
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.log_sink.user_data = &log;
  options.log_sink.write = keep_message;
  options.worker_cpus = "0-4000";
  takt_instance_t* instance = NULL;
  REQUIRE_OK(takt_instance_create(&options, &instance));
  const uint32_t count = takt_instance_worker_count(instance);
  EXPECT(log.count == 1);
  EXPECT_CONTAINS(log.last, "worker_cpus: this process has no CPUs ");
  takt_instance_statistics_t statistics = statistics_of(instance);
  EXPECT(statistics.absent_cpu_count == 4001 - count);
  EXPECT(statistics.wanted_worker_count == 4001);
  EXPECT(statistics.worker_count == 0); /* Nothing has needed them yet. */
  takt_device_t* device = create_device(instance, "local-task");
  EXPECT(statistics_of(instance).worker_count == count);
  /* One that there is. */
  char cpu[16];
  snprintf(cpu, sizeof(cpu), "%d",
           __builtin_ctzll(worker_of(instance, 0).placement_mask));
  takt_device_release(device);
  takt_instance_release(instance);

  log.count = 0;
  options.worker_cpus = cpu;
  options.worker_count = 8;
  REQUIRE_OK(takt_instance_create(&options, &instance));
  EXPECT(log.count == 1);
  EXPECT_TEXT(log.last,
              "started 1 of 8 workers: worker_cpus names no more CPUs");
  EXPECT(statistics_of(instance).absent_cpu_count == 0);
  takt_instance_release(instance);
}

static void refuses_bad_options(void) {
  takt_instance_t* instance = NULL;
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_cpus = "0-";
  EXPECT_ERROR(takt_instance_create(&options, &instance),
               TAKT_STATUS_INVALID_ARGUMENT, "worker_cpus");
  options.worker_cpus = "8000";
  EXPECT_ERROR(takt_instance_create(&options, &instance),
               TAKT_STATUS_INVALID_ARGUMENT, "8000");
  takt_instance_options_init(&options);
  options.worker_spin_ns = -1;
  EXPECT_ERROR(takt_instance_create(&options, &instance),
               TAKT_STATUS_INVALID_ARGUMENT, "worker_spin_ns");
  takt_instance_options_init(&options);
  options.worker_fifo_priority = 100;
  EXPECT_ERROR(takt_instance_create(&options, &instance),
               TAKT_STATUS_INVALID_ARGUMENT, "worker_fifo_priority");
  takt_instance_options_init(&options);
  options.worker_budget_ns = 2000000;
  EXPECT_ERROR(takt_instance_create(&options, &instance),
               TAKT_STATUS_INVALID_ARGUMENT, "worker_budget_ns");
  EXPECT(instance == NULL);
}

/* Threads of the application's own. */
typedef struct threads_t {
  int created;
  int joined;
} threads_t;
typedef struct thread_t {
  pthread_t handle;
  void (*run)(void*);
  void* argument;
} thread_t;

static void* thread_main(void* argument) {
  thread_t* thread = argument;
  thread->run(thread->argument);
  return NULL;
}

static bool thread_create(void* user_data, uint32_t worker, const char* name,
                          void (*run)(void*), void* argument,
                          void** out_thread) {
  threads_t* threads = user_data;
  /* The timers have none, and only streams would need them. */
  if (worker == TAKT_THREAD_NO_WORKER) return false;
  EXPECT(worker == (uint32_t)threads->created);
  if (name == NULL || threads->created == 2) return false;
  thread_t* thread = malloc(sizeof(*thread));
  thread->run = run;
  thread->argument = argument;
  *out_thread = thread;
  ++threads->created;
  return pthread_create(&thread->handle, NULL, &thread_main, thread) == 0;
}

static void thread_join(void* user_data, void* thread) {
  ++((threads_t*)user_data)->joined;
  pthread_join(((thread_t*)thread)->handle, NULL);
  free(thread);
}

static void an_application_may_supply_the_threads(void) {
  threads_t threads = {0, 0};
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 3;
  options.worker_threads.user_data = &threads;
  options.worker_threads.join = thread_join;
  takt_instance_t* instance = NULL;
  EXPECT_ERROR(takt_instance_create(&options, &instance),
               TAKT_STATUS_INVALID_ARGUMENT, "worker_threads");
  options.worker_threads.create = thread_create;
  REQUIRE_OK(takt_instance_create(&options, &instance));
  takt_device_t* device = create_device(instance, "local-task");
  takt_executor_statistics_t statistics;
  statistics.struct_size = sizeof(statistics);
  takt_executor_query_statistics(takt_instance_executor(instance), &statistics);
  EXPECT(statistics.worker_count == 2); /* The third was not to be had. */
  takt_device_release(device);
  takt_instance_release(instance);
  EXPECT(threads.created == 2);
  EXPECT(threads.joined == 2);
}

static takt_executor_t* create_executor(
    takt_instance_t* instance, const takt_executor_options_t* options) {
  takt_executor_t* executor = NULL;
  REQUIRE_OK(takt_executor_create(instance, options, &executor));
  return executor;
}

static uint32_t worker_count_of(takt_executor_t* executor) {
  takt_executor_statistics_t statistics;
  statistics.struct_size = sizeof(statistics);
  takt_executor_query_statistics(executor, &statistics);
  return statistics.worker_count;
}

static takt_instance_t* create_board(void) {
  takt_topology_t* board = NULL;
  REQUIRE_OK(
      takt_topology_parse("{\"clusters\":[{\"cpus\":\"50-52\",\"numa_node\":0},"
                          "{\"cpus\":\"53-54\",\"numa_node\":1},"
                          "{\"cpus\":\"55\",\"numa_node\":1}]}",
                          &board));
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.topology = board;
  options.worker_count = 1;
  takt_instance_t* instance = NULL;
  REQUIRE_OK(takt_instance_create(&options, &instance));
  takt_topology_release(board);
  return instance;
}

static void executors_take_a_part_of_the_machine(void) {
  takt_instance_t* instance = create_board();
  takt_executor_options_t options;
  takt_executor_options_init(&options);
  takt_executor_t* all = create_executor(instance, NULL);
  EXPECT(worker_count_of(all) == 6);
  options.cluster = 1;
  takt_executor_t* cluster = create_executor(instance, &options);
  EXPECT(worker_count_of(cluster) == 2);
  takt_worker_statistics_t worker;
  worker.struct_size = sizeof(worker);
  EXPECT(takt_executor_query_worker_statistics(cluster, 1, &worker));
  EXPECT(worker.placement_mask == UINT64_C(1) << 54);
  EXPECT(!takt_executor_query_worker_statistics(cluster, 2, &worker));
  options.cluster = -1;
  options.numa_node = 1;
  options.worker_count = 2;
  takt_executor_t* node = create_executor(instance, &options);
  EXPECT(worker_count_of(node) == 2);
  options.cpus = "0-53,60";
  options.numa_node = -1;
  options.worker_count = TAKT_WORKER_COUNT_DEFAULT;
  takt_executor_t* mask = create_executor(instance, &options);
  EXPECT(worker_count_of(mask) == 4);
  takt_executor_retain(mask);
  takt_executor_release(mask);
  takt_executor_release(all);
  takt_executor_release(cluster);
  takt_executor_release(node);
  takt_executor_release(mask);
  takt_executor_release(NULL);
  takt_instance_release(instance);
}

static void devices_run_on_the_executor_that_they_are_given(void) {
  takt_instance_t* instance = create_board();
  takt_executor_options_t executor_options;
  takt_executor_options_init(&executor_options);
  executor_options.cluster = 2;
  executor_options.name = "cluster2";
  takt_executor_t* executor = create_executor(instance, &executor_options);
  takt_device_options_t options;
  takt_device_options_init(&options);
  options.executor = executor;
  options.learn_costs = false; /* Or the caller would do what is small. */
  takt_device_t* device = NULL;
  REQUIRE_OK(takt_device_create(instance, "local-task", &options, &device));
  takt_module_t* module =
      load_module(instance, TESTDATA("api/simple_mul.vmfb"));
  takt_context_t* context = create_context(instance, device, module);
  takt_function_t* function = find_function(context, "mul");
  static const float kData[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(device, 4, kData);
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  /* On its only worker, and on no thread of a caller. */
  const uint64_t words[1] = {UINT64_C(1) << 55};
  takt_invoke_options_t invoke_options;
  takt_invoke_options_init(&invoke_options);
  takt_worker_statistics_t worker;
  worker.struct_size = sizeof(worker);
  for (int i = 0; i < 10; ++i) {
    takt_value_t result;
    REQUIRE_OK(takt_function_invoke(function, &invoke_options, 2, arguments, 1,
                                    &result));
    takt_values_release(1, &result);
  }
  takt_executor_statistics_t statistics;
  statistics.struct_size = sizeof(statistics);
  takt_executor_query_statistics(executor, &statistics);
  EXPECT(takt_executor_query_worker_statistics(executor, 0, &worker));
  EXPECT(statistics.helping_callers.job_count + worker.counts.job_count == 10);
  /* The instance's own have not been needed. */
  takt_executor_query_statistics(takt_instance_executor(instance), &statistics);
  EXPECT(statistics.worker_count == 0);
  /* Of this executor, not of the instance's. */
  invoke_options.cpu_words = words;
  invoke_options.cpu_word_count = 1;
  takt_value_t result;
  REQUIRE_OK(takt_function_invoke(function, &invoke_options, 2, arguments, 1,
                                  &result));
  takt_values_release(1, &result);
  takt_buffer_view_release(view);
  takt_function_release(function);
  takt_context_release(context);
  takt_module_release(module);
  takt_executor_release(executor);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void refuses_invalid_executor_options(void) {
  takt_instance_t* instance = create_board();
  takt_executor_t* executor = NULL;
  takt_executor_options_t options;
  takt_executor_options_init(&options);
  options.cluster = 0;
  options.numa_node = 1;
  EXPECT_ERROR(takt_executor_create(instance, &options, &executor),
               TAKT_STATUS_INVALID_ARGUMENT,
               "no CPU is in all of cpus, cluster and numa_node; there are "
               "50 (cluster 0, NUMA node 0), 51 (cluster 0");
  EXPECT(executor == NULL);
  options.cluster = 3;
  options.numa_node = -1;
  EXPECT_ERROR(takt_executor_create(instance, &options, &executor),
               TAKT_STATUS_INVALID_ARGUMENT, "no CPU is in all");
  options.cluster = -1;
  options.cpus = "0-";
  EXPECT_ERROR(takt_executor_create(instance, &options, &executor),
               TAKT_STATUS_INVALID_ARGUMENT, "options: cpus");
  options.cpus = NULL;
  options.worker_count = 0;
  EXPECT_ERROR(takt_executor_create(instance, &options, &executor),
               TAKT_STATUS_INVALID_ARGUMENT, "worker_count");
  options.worker_count = 1;
  options.name = "longer than 10";
  EXPECT_ERROR(takt_executor_create(instance, &options, &executor),
               TAKT_STATUS_INVALID_ARGUMENT, "options: name");
  EXPECT_ERROR(takt_executor_create(NULL, NULL, &executor),
               TAKT_STATUS_INVALID_ARGUMENT, "instance is NULL");

  takt_instance_t* other = create_board();
  executor = create_executor(other, NULL);
  takt_device_options_t device_options;
  takt_device_options_init(&device_options);
  device_options.executor = executor;
  takt_device_t* device = NULL;
  EXPECT_ERROR(
      takt_device_create(instance, "local-task", &device_options, &device),
      TAKT_STATUS_INVALID_ARGUMENT, "options: executor: of another instance");
  EXPECT_ERROR(
      takt_device_create(other, "local-sync", &device_options, &device),
      TAKT_STATUS_INVALID_ARGUMENT,
      "options: executor: device local-sync has no workers");
  takt_executor_release(executor);
  takt_instance_release(other);
  takt_instance_release(instance);
}

/* A call that lasts until it may end, and what follows from another. */
typedef struct long_call_t {
  sem_t begun;
  sem_t may_end;
} long_call_t;

static takt_status_t mark(void* state, size_t argument_count,
                          const takt_value_t* arguments, size_t result_count,
                          takt_value_t* out_results) {
  (void)argument_count, (void)result_count, (void)out_results;
  long_call_t* call = state;
  if (arguments[0].i32 == 1) {
    sem_post(&call->begun);
    sem_wait(&call->may_end);
  } else if (arguments[0].i32 == 2) {
    sem_post(&call->may_end);
  }
  return NULL;
}

static takt_status_t give_state(void* user_data, void** out_state) {
  *out_state = user_data;
  return NULL;
}

static takt_invocation_t* call_job(takt_instance_t* instance,
                                   takt_device_t* device,
                                   takt_module_t* const* modules,
                                   const char* name, int32_t id) {
  takt_context_t* context = create_context_of(instance, device, modules, 2);
  takt_function_t* function = find_function(context, name);
  const takt_value_t argument = takt_value_i32(id);
  takt_invocation_t* call = NULL;
  REQUIRE_OK(
      takt_async_invoke(function, NULL, 1, &argument, NULL, NULL, &call));
  takt_function_release(function);
  takt_context_release(context);
  return call;
}

/* The only worker is in a long call, which an urgent one of 2 would end. */
static void run_beside_a_long_call(bool backup_threads, int32_t urgent_id) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  EXPECT(options.worker_backup_threads);
  options.worker_count = 1;
  options.worker_backup_threads = backup_threads;
  takt_instance_t* instance = NULL;
  REQUIRE_OK(takt_instance_create(&options, &instance));
  takt_device_t* device = create_device(instance, "local-task");
  long_call_t state;
  sem_init(&state.begun, 0, 0);
  sem_init(&state.may_end, 0, 0);
  const takt_native_export_t export_mark = {"mark", "0i_v", mark};
  takt_module_t* modules[2] = {
      create_native_module(instance, "probe", &export_mark, &state, give_state),
      load_module(instance, TESTDATA("async/jobs.vmfb"))};

  takt_invocation_t* first = call_job(instance, device, modules, "plain", 1);
  sem_wait(&state.begun);
  takt_invocation_t* second =
      call_job(instance, device, modules, "urgent", urgent_id);
  if (urgent_id != 2) sem_post(&state.may_end);
  /* Not with takt_invocation_wait(): this thread would do the work. */
  AWAIT(takt_invocation_state(first) == TAKT_INVOCATION_DONE &&
        takt_invocation_state(second) == TAKT_INVOCATION_DONE);
  takt_executor_statistics_t statistics;
  statistics.struct_size = sizeof(statistics);
  takt_executor_query_statistics(takt_instance_executor(instance), &statistics);
  if (!backup_threads) EXPECT(statistics.backup_threads.job_count == 0);
  takt_invocation_release(first);
  takt_invocation_release(second);
  takt_module_release(modules[0]);
  takt_module_release(modules[1]);
  takt_device_release(device);
  takt_instance_release(instance);
  sem_destroy(&state.begun);
  sem_destroy(&state.may_end);
}

static void an_urgent_call_runs_beside_a_long_call(void) {
  run_beside_a_long_call(true, 2);
  run_beside_a_long_call(false, 3);
}

static void* be_prompt(void* argument) {
  bool* wants_low_latency = argument;
  wants_low_latency[0] = takt_thread_request_low_latency();
  wants_low_latency[1] = takt_thread_request_low_latency();
  return NULL;
}

static void a_thread_may_request_low_latency(void) {
  bool wants_low_latency[2] = {false, true};
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, &be_prompt, wants_low_latency) == 0);
  pthread_join(thread, NULL);
  EXPECT(wants_low_latency[0] == wants_low_latency[1]);
}

static takt_status_t try_device(const takt_instance_options_t* options) {
  takt_instance_t* instance = NULL;
  REQUIRE_OK(takt_instance_create(options, &instance));
  takt_device_t* device = NULL;
  takt_status_t status =
      takt_device_create(instance, "local-task", NULL, &device);
  EXPECT((device != NULL) == (status == NULL));
  takt_device_release(device);
  takt_instance_release(instance);
  return status;
}

/* Two instances stand for two processes. */
static void processes_share_cores_by_a_file(void) {
  char path[] = "/tmp/takt_cores_XXXXXX";
  const int fd = mkstemp(path);
  EXPECT(fd >= 0);
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 2;
  options.cores_share_permille = 300;
  takt_instance_t* instances[2] = {NULL, NULL};
  EXPECT_ERROR(takt_instance_create(&options, &instances[0]),
               TAKT_STATUS_INVALID_ARGUMENT, "cores_path");
  options.cores_path = path;
  options.cores_share_permille = 1001;
  EXPECT_ERROR(takt_instance_create(&options, &instances[0]),
               TAKT_STATUS_INVALID_ARGUMENT, "1001");
  options.cores_share_permille = 300;
  takt_function_t* functions[2];
  takt_value_t arguments[2][2];
  for (int i = 0; i < 2; ++i) {
    REQUIRE_OK(takt_instance_create(&options, &instances[i]));
    takt_device_t* device = create_device(instances[i], "local-task");
    takt_module_t* module =
        load_module(instances[i], TESTDATA("api/simple_mul.vmfb"));
    takt_context_t* context = create_context(instances[i], device, module);
    functions[i] = find_function(context, "mul");
    static const float kData[4] = {1, 2, 3, 4};
    arguments[i][0] = takt_value_ref(float_view(device, 4, kData));
    arguments[i][1] = arguments[i][0];
    takt_context_release(context);
    takt_module_release(module);
    takt_device_release(device);
  }
  takt_executor_statistics_t statistics;
  statistics.struct_size = sizeof(statistics);
  do { /* They see each other after some ms of work. */
    for (int i = 0; i < 2; ++i) {
      takt_value_t result;
      REQUIRE_OK(takt_function_invoke(functions[i], NULL, 2, arguments[i], 1,
                                      &result));
      takt_values_release(1, &result);
    }
    takt_executor_query_statistics(takt_instance_executor(instances[0]),
                                   &statistics);
  } while (statistics.peer_count == 0);
  EXPECT(statistics.peer_count == 1);
  EXPECT(statistics.taken_back_count == 0);
  for (int i = 0; i < 2; ++i) {
    takt_values_release(1, arguments[i]);
    takt_function_release(functions[i]);
    takt_instance_release(instances[i]);
  }
  EXPECT(ftruncate(fd, 0) == 0 && write(fd, "another kind", 12) == 12);
  EXPECT_ERROR(try_device(&options), TAKT_STATUS_FAILED_PRECONDITION, path);
  close(fd);
  unlink(path);
}

int main(void) {
  RUN(workers_start_with_the_first_device_that_needs_them);
  RUN(writes_no_more_than_there_is_room_for);
  RUN(workers_stay_on_the_cpus_they_are_given);
  RUN(places_that_do_not_exist_are_reported);
  RUN(a_budget_is_granted_or_its_refusal_visible);
  RUN(missing_cpus_and_workers_are_reported);
  RUN(refuses_bad_options);
  RUN(an_application_may_supply_the_threads);
  RUN(executors_take_a_part_of_the_machine);
  RUN(devices_run_on_the_executor_that_they_are_given);
  RUN(refuses_invalid_executor_options);
  RUN(an_urgent_call_runs_beside_a_long_call);
  RUN(a_thread_may_request_low_latency);
  RUN(processes_share_cores_by_a_file);
  return test_result();
}
