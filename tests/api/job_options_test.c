/* What calls ask of the workers: priority, deadline, CPUs, by options or by
 * annotations. Workers are threads that the test supplies, so that it decides
 * when they begin; they are placed on CPUs that are not there. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "takt/async.h"
#include "takt/native_module.h"
#include "tests/api/fixture.h"

enum { kMarkMax = 64 };

typedef struct world_t {
  takt_instance_t* instance;
  takt_device_t* device;
  takt_module_t* modules[2];
  int32_t marks[kMarkMax];
  pthread_t threads[kMarkMax];
  atomic_int mark_count;
  atomic_int done_count;
  /* Of the workers. */
  void (*run[4])(void* argument);
  void* argument[4];
  pthread_t worker[4];
  sem_t has_ended[4];
  uint32_t worker_count; /* Of those that have begun. */
} world_t;

static bool keep_thread(void* user_data, uint32_t worker, const char* name,
                        void (*run)(void* argument), void* argument,
                        void** out_thread) {
  world_t* world = user_data;
  /* Nothing here waits for a timer. */
  if (worker == TAKT_THREAD_NO_WORKER) return false;
  world->run[worker] = run;
  world->argument[worker] = argument;
  *out_thread = &world->has_ended[worker];
  return true;
}

static void join_thread(void* user_data, void* thread) {
  (void)user_data;
  sem_wait(thread);
}

typedef struct start_t {
  void (*run)(void* argument);
  void* argument;
  sem_t* has_ended;
} start_t;

static void* run_thread(void* argument) {
  const start_t start = *(start_t*)argument;
  free(argument);
  start.run(start.argument);
  sem_post(start.has_ended);
  return NULL;
}

static void start_workers(world_t* world) {
  world->worker_count = takt_instance_worker_count(world->instance);
  for (uint32_t i = 0; i < world->worker_count; ++i) {
    start_t* start = malloc(sizeof(*start));
    start->run = world->run[i];
    start->argument = world->argument[i];
    start->has_ended = &world->has_ended[i];
    EXPECT(pthread_create(&world->worker[i], NULL, run_thread, start) == 0);
  }
}

static takt_status_t mark(void* state, size_t argument_count,
                          const takt_value_t* arguments, size_t result_count,
                          takt_value_t* out_results) {
  world_t* world = state;
  const int index = atomic_fetch_add(&world->mark_count, 1);
  world->marks[index] = arguments[0].i32;
  world->threads[index] = pthread_self();
  return NULL;
}

static takt_status_t give_state(void* user_data, void** out_state) {
  *out_state = user_data;
  return NULL;
}

static void create_world(world_t* world, const char* worker_cpus) {
  memset(world, 0, sizeof(*world));
  for (int i = 0; i < 4; ++i) sem_init(&world->has_ended[i], 0, 0);
  takt_topology_t* board = NULL;
  REQUIRE_OK(
      takt_topology_parse("{\"clusters\":["
                          "{\"name\":\"fast\",\"cpus\":\"8000-8001\","
                          "\"isa\":[\"v\",\"xfast\"]},"
                          "{\"name\":\"slow\",\"cpus\":\"8002-8003\","
                          "\"isa\":[\"v\"]}]}",
                          &board));
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.topology = board;
  options.worker_cpus = worker_cpus;
  options.worker_threads.user_data = world;
  options.worker_threads.create = keep_thread;
  options.worker_threads.join = join_thread;
  REQUIRE_OK(takt_instance_create(&options, &world->instance));
  takt_topology_release(board);
  world->device = create_device(world->instance, "local-task");
  static const takt_native_export_t kMark = {"mark", "0i_v", mark};
  world->modules[0] =
      create_native_module(world->instance, "probe", &kMark, world, give_state);
  world->modules[1] = load_module(world->instance, TESTDATA("async/jobs.vmfb"));
}

static void destroy_world(world_t* world) {
  takt_module_release(world->modules[0]);
  takt_module_release(world->modules[1]);
  takt_device_release(world->device);
  takt_instance_release(world->instance);
  /* A worker may be the last that holds the instance. */
  for (uint32_t i = 0; i < world->worker_count; ++i) {
    pthread_join(world->worker[i], NULL);
  }
  for (int i = 0; i < 4; ++i) sem_destroy(&world->has_ended[i]);
}

/* Of a context of its own, so that nothing but its urgency orders a call. */
static takt_status_t find(world_t* world, const char* name,
                          takt_function_t** out_function) {
  takt_context_t* context =
      create_context_of(world->instance, world->device, world->modules, 2);
  takt_status_t status =
      takt_context_find_function(context, name, out_function);
  takt_context_release(context);
  return status;
}

static void count_done(void* user_data, takt_invocation_t* invocation,
                       takt_status_t status) {
  EXPECT_OK(status);
  atomic_fetch_add(&((world_t*)user_data)->done_count, 1);
}

static takt_status_t invoke(world_t* world, const char* name, int32_t id,
                            takt_async_options_t* options) {
  takt_async_options_t defaults;
  takt_async_options_init(&defaults);
  if (options == NULL) options = &defaults;
  options->on_done = count_done;
  options->user_data = world;
  takt_function_t* function = NULL;
  REQUIRE_OK(find(world, name, &function));
  const takt_value_t argument = takt_value_i32(id);
  takt_status_t status =
      takt_async_invoke(function, options, 1, &argument, NULL, NULL, NULL);
  takt_function_release(function);
  return status;
}

/* Without helping: this thread is to do none of it. */
static void wait_for(world_t* world, int count) {
  AWAIT(atomic_load(&world->done_count) >= count);
}

static void invoke_with(world_t* world, int32_t id, int32_t priority,
                        int64_t deadline_ns) {
  takt_async_options_t options;
  takt_async_options_init(&options);
  options.priority = priority;
  options.deadline_ns = deadline_ns;
  REQUIRE_OK(invoke(world, "plain", id, &options));
}

static void expect_marks(world_t* world, int count, const int32_t* expected) {
  wait_for(world, count);
  EXPECT(atomic_load(&world->mark_count) == count);
  for (int i = 0; i < count; ++i) EXPECT(world->marks[i] == expected[i]);
}

static void urgent_calls_run_first_then_calls_by_deadline(void) {
  world_t world;
  create_world(&world, "8000");
  const int64_t hour_ns = 3600 * INT64_C(1000000000);
  const int64_t now_ns = takt_clock_now_ns();
  invoke_with(&world, 9, 0, TAKT_DEADLINE_DEFAULT);
  REQUIRE_OK(invoke(&world, "plain", 6, NULL));
  REQUIRE_OK(invoke(&world, "due_in_an_hour", 5, NULL));
  invoke_with(&world, 7, 159, TAKT_INFINITE_FUTURE);
  invoke_with(&world, 4, 128, now_ns + hour_ns / 2);
  invoke_with(&world, 3, TAKT_PRIORITY_DEFAULT, now_ns + hour_ns / 4);
  invoke_with(&world, 8, 64, now_ns);
  REQUIRE_OK(invoke(&world, "urgent", 2, NULL));
  invoke_with(&world, 1, 255, TAKT_DEADLINE_DEFAULT);
  /* The options override what the function says. */
  takt_async_options_t options;
  takt_async_options_init(&options);
  options.priority = 0;
  REQUIRE_OK(invoke(&world, "urgent", 10, &options));
  start_workers(&world);
  expect_marks(&world, 10, (const int32_t[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  destroy_world(&world);
}

static void calls_of_a_context_keep_their_order(void) {
  world_t world;
  create_world(&world, "8000");
  takt_function_t* function = NULL;
  REQUIRE_OK(find(&world, "plain", &function));
  takt_async_options_t options;
  takt_async_options_init(&options);
  options.on_done = count_done;
  options.user_data = &world;
  for (int32_t i = 0; i < 8; ++i) {
    options.priority = i * 32;
    const takt_value_t argument = takt_value_i32(i);
    REQUIRE_OK(
        takt_async_invoke(function, &options, 1, &argument, NULL, NULL, NULL));
  }
  /* A higher one of another context waits for none but the first of them,
   * which is as low as the one that holds their context. */
  invoke_with(&world, 100, 32, TAKT_DEADLINE_DEFAULT);
  start_workers(&world);
  expect_marks(&world, 9, (const int32_t[]){100, 0, 1, 2, 3, 4, 5, 6, 7});
  takt_function_release(function);
  destroy_world(&world);
}

static void a_long_queue_lets_another_context_run(void) {
  /* Of one context, with the lowest priority; the fourth makes something
   * urgent ready. */
  world_t world;
  create_world(&world, "8000");
  takt_function_t* function = NULL;
  REQUIRE_OK(find(&world, "plain", &function));
  takt_async_options_t options;
  takt_async_options_init(&options);
  options.on_done = count_done;
  options.user_data = &world;
  options.priority = 0;
  takt_fence_t* fence = NULL;
  REQUIRE_OK(takt_fence_create(&fence));
  for (int32_t i = 0; i < 6; ++i) {
    const takt_value_t argument = takt_value_i32(i);
    REQUIRE_OK(takt_async_invoke(function, &options, 1, &argument, NULL,
                                 i == 3 ? fence : NULL, NULL));
  }
  takt_function_t* urgent = NULL;
  REQUIRE_OK(find(&world, "urgent", &urgent));
  options.priority = TAKT_PRIORITY_DEFAULT;
  const takt_value_t argument = takt_value_i32(100);
  REQUIRE_OK(
      takt_async_invoke(urgent, &options, 1, &argument, fence, NULL, NULL));
  start_workers(&world);
  expect_marks(&world, 7, (const int32_t[]){0, 1, 2, 3, 100, 4, 5});
  takt_fence_release(fence);
  takt_function_release(urgent);
  takt_function_release(function);
  destroy_world(&world);
}

static void programs_run_on_the_cpus_of_the_options(void) {
  world_t world;
  create_world(&world, "8000-8002");
  start_workers(&world);
  uint64_t words[126] = {0};
  words[125] = 2; /* CPU 8001. */
  takt_async_options_t options;
  takt_async_options_init(&options);
  options.cpu_words = words;
  options.cpu_word_count = 126;
  for (int32_t i = 0; i < 20; ++i) {
    REQUIRE_OK(invoke(&world, "plain", i, &options));
    wait_for(&world, i + 1);
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT(pthread_equal(world.threads[i], world.worker[1]));
  }
  /* All of the workers, and any. */
  REQUIRE_OK(invoke(&world, "pinned_elsewhere", 20, NULL));
  EXPECT_ERROR(invoke(&world, "pinned", 21, NULL), TAKT_STATUS_INVALID_ARGUMENT,
               "jobs.pinned: affinity 0: no worker is there; they are on 8000, "
               "8001, 8002");
  REQUIRE_OK(invoke(&world, "pinned", 22, &options));
  wait_for(&world, 22);
  EXPECT(pthread_equal(world.threads[21], world.worker[1]) ||
         pthread_equal(world.threads[20], world.worker[1]));
  destroy_world(&world);
}

static void malformed_annotations_are_named(void) {
  static const char* const kCases[3][2] = {
      {"bad_priority",
       "jobs.bad_priority: attribute takt.priority: expected 0 to 255, got "
       "\"256\""},
      {"bad_deadline",
       "jobs.bad_deadline: attribute takt.deadline_ns: expected a positive "
       "number of ns, got \"5ms\""},
      {"bad_affinity",
       "jobs.bad_affinity: attribute takt.affinity: expected "
       "CPUs such as 0x0f or 0-3, got \"0x\""},
  };
  world_t world;
  create_world(&world, "8000");
  start_workers(&world);
  for (int i = 0; i < 3; ++i) {
    takt_function_t* function = NULL;
    EXPECT_ERROR(find(&world, kCases[i][0], &function),
                 TAKT_STATUS_INVALID_ARGUMENT, kCases[i][1]);
    EXPECT(function == NULL);
  }
  destroy_world(&world);
}

static void instruction_sets_are_kept_apart(void) {
  world_t world;
  create_world(&world, "8001-8002"); /* One worker of each cluster. */
  start_workers(&world);
  for (int i = 0; i < 20; ++i) {
    REQUIRE_OK(invoke(&world, "fast_only", i, NULL));
    wait_for(&world, i + 1);
    EXPECT(pthread_equal(world.threads[i], world.worker[0]));
  }
  /* Of the CPUs that the call names, those that can. */
  uint64_t words[126] = {0};
  words[125] = 6;
  takt_async_options_t options;
  takt_async_options_init(&options);
  options.cpu_words = words;
  options.cpu_word_count = 126;
  REQUIRE_OK(invoke(&world, "fast_only", 20, &options));
  wait_for(&world, 21);
  EXPECT(pthread_equal(world.threads[20], world.worker[0]));
  words[125] = 4;
  EXPECT_ERROR(invoke(&world, "fast_only", 21, &options),
               TAKT_STATUS_INVALID_ARGUMENT,
               "jobs.fast_only: no allowed cluster has the instruction sets "
               "xfast v: cluster slow lacks xfast (it has v)");
  takt_function_t* function = NULL;
  EXPECT_ERROR(find(&world, "fast_only_on_slow", &function),
               TAKT_STATUS_INVALID_ARGUMENT,
               "jobs.fast_only_on_slow: no allowed cluster has the instruction "
               "sets xfast: cluster slow lacks xfast");
  EXPECT_ERROR(find(&world, "impossible", &function),
               TAKT_STATUS_INVALID_ARGUMENT,
               "cluster fast lacks xnone (it has v xfast); cluster slow lacks "
               "xfast");
  EXPECT_ERROR(find(&world, "bad_isa", &function), TAKT_STATUS_INVALID_ARGUMENT,
               "jobs.bad_isa: attribute takt.isa: expected features such as");
  destroy_world(&world);
}

static void invalid_options_are_named(void) {
  world_t world;
  create_world(&world, "8000");
  start_workers(&world);
  takt_function_t* function = NULL;
  REQUIRE_OK(find(&world, "plain", &function));
  const takt_value_t argument = takt_value_i32(1);
  uint64_t words[129] = {0};
  static const char* const kMessages[5] = {
      "jobs.plain: options: priority: expected 0 to 255, got 256",
      "jobs.plain: options: priority: expected 0 to 255, got -2",
      "jobs.plain: options: cpu_words: NULL, but cpu_word_count is 1",
      "jobs.plain: options: cpu_words: no CPU is in it",
      "jobs.plain: options: cpu_words: a CPU above 8191",
  };
  for (int i = 0; i < 5; ++i) {
    takt_async_options_t options;
    takt_async_options_init(&options);
    options.priority = i == 0 ? 256 : i == 1 ? -2 : 7;
    options.cpu_words = i > 2 ? words : NULL;
    options.cpu_word_count = i == 2 ? 1 : i > 2 ? 129 : 0;
    words[128] = i == 4;
    EXPECT_ERROR(
        takt_async_invoke(function, &options, 1, &argument, NULL, NULL, NULL),
        TAKT_STATUS_INVALID_ARGUMENT, kMessages[i]);
    takt_invoke_options_t invoke_options;
    takt_invoke_options_init(&invoke_options);
    invoke_options.priority = options.priority;
    invoke_options.cpu_words = options.cpu_words;
    invoke_options.cpu_word_count = options.cpu_word_count;
    EXPECT_ERROR(
        takt_function_invoke(function, &invoke_options, 1, &argument, 0, NULL),
        TAKT_STATUS_INVALID_ARGUMENT, kMessages[i]);
  }
  EXPECT(atomic_load(&world.mark_count) == 0);
  takt_function_release(function);
  destroy_world(&world);
}

static void options_of_another_version_have_defaults_for_the_rest(void) {
  world_t world;
  create_world(&world, "8000");
  start_workers(&world);
  takt_function_t* function = NULL;
  REQUIRE_OK(find(&world, "urgent", &function));
  takt_invoke_options_t options;
  memset(&options, 0xee, sizeof(options));
  options.struct_size = offsetof(takt_invoke_options_t, priority);
  options.step_limit = 0;
  const takt_value_t argument = takt_value_i32(1);
  EXPECT_OK(takt_function_invoke(function, &options, 1, &argument, 0, NULL));
  EXPECT(atomic_load(&world.mark_count) == 1);
  takt_function_release(function);
  destroy_world(&world);
}

static void queues_are_checked_with_the_device(void) {
  world_t world;
  create_world(&world, "8000-8001");
  start_workers(&world);
  static const char* const kQueues[2] = {"8000", "8001"};
  static const char* const kNowhere[2] = {"8000", "3"};
  static const char* const kBad[1] = {"x"};
  takt_device_options_t options;
  takt_device_options_init(&options);
  takt_device_t* device = NULL;
  options.queue_count = 2;
  options.queue_cpus = kQueues;
  EXPECT_OK(
      takt_device_create(world.instance, "local-task", &options, &device));
  takt_device_release(device);
  options.queue_cpus = kNowhere;
  EXPECT_ERROR(
      takt_device_create(world.instance, "local-task", &options, &device),
      TAKT_STATUS_INVALID_ARGUMENT,
      "queue 1: affinity 3: no worker is there; they are on 8000, "
      "8001");
  options.queue_count = 1;
  options.queue_cpus = kBad;
  EXPECT_ERROR(
      takt_device_create(world.instance, "local-task", &options, &device),
      TAKT_STATUS_INVALID_ARGUMENT, "options: queue_cpus[0]");
  options.queue_cpus = NULL;
  EXPECT_ERROR(
      takt_device_create(world.instance, "local-task", &options, &device),
      TAKT_STATUS_INVALID_ARGUMENT, "options: queue_cpus");
  destroy_world(&world);
}

int main(void) {
  RUN(urgent_calls_run_first_then_calls_by_deadline);
  RUN(calls_of_a_context_keep_their_order);
  RUN(a_long_queue_lets_another_context_run);
  RUN(programs_run_on_the_cpus_of_the_options);
  RUN(malformed_annotations_are_named);
  RUN(instruction_sets_are_kept_apart);
  RUN(invalid_options_are_named);
  RUN(options_of_another_version_have_defaults_for_the_rest);
  RUN(queues_are_checked_with_the_device);
  return test_result();
}
