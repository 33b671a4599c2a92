#include "takt/executor.h"

#include <pthread.h>

#include "tests/api/fixture.h"

static takt_worker_statistics_t worker_of(takt_instance_t* instance,
                                          uint32_t worker) {
  takt_worker_statistics_t statistics;
  memset(&statistics, 0, sizeof(statistics));
  statistics.struct_size = sizeof(statistics);
  EXPECT(takt_instance_query_worker_statistics(instance, worker, &statistics));
  return statistics;
}

static void workers_start_with_the_first_device_of_theirs(void) {
  takt_instance_t* instance = create_instance(2);
  takt_executor_statistics_t statistics;
  statistics.struct_size = sizeof(statistics);
  takt_instance_query_executor_statistics(instance, &statistics);
  EXPECT(statistics.worker_count == 0);
  takt_worker_statistics_t worker;
  worker.struct_size = sizeof(worker);
  EXPECT(!takt_instance_query_worker_statistics(instance, 0, &worker));
  takt_device_t* device = create_device(instance, "local-task");
  takt_instance_query_executor_statistics(instance, &statistics);
  EXPECT(statistics.worker_count == 2);
  EXPECT(!takt_instance_query_worker_statistics(instance, 2, &worker));
  takt_device_release(device);
  takt_instance_release(instance);
}

static void writes_no_more_than_there_is_room_for(void) {
  takt_instance_t* instance = create_instance(1);
  takt_executor_statistics_t statistics;
  memset(&statistics, 0xee, sizeof(statistics));
  statistics.struct_size = offsetof(takt_executor_statistics_t, awake_count);
  takt_instance_query_executor_statistics(instance, &statistics);
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
    takt_worker_statistics_t worker = worker_of(instance, i);
    while (!worker.is_running) worker = worker_of(instance, i);
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
  takt_worker_statistics_t worker = worker_of(instance, 1);
  while (!worker.is_running) worker = worker_of(instance, 1);
  EXPECT(worker.affinity_error != 0);
  EXPECT(worker.affinity_mask != 0);
  takt_device_release(device);
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
  (void)worker;
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
  takt_instance_query_executor_statistics(instance, &statistics);
  EXPECT(statistics.worker_count == 2); /* The third was not to be had. */
  takt_device_release(device);
  takt_instance_release(instance);
  EXPECT(threads.created == 2);
  EXPECT(threads.joined == 2);
}

int main(void) {
  RUN(workers_start_with_the_first_device_of_theirs);
  RUN(writes_no_more_than_there_is_room_for);
  RUN(workers_stay_on_the_cpus_they_are_given);
  RUN(places_that_do_not_exist_are_reported);
  RUN(refuses_bad_options);
  RUN(an_application_may_supply_the_threads);
  return test_result();
}
