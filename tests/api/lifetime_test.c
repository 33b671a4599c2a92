/* Goal: handles may be released in any order, on any thread, with work in
 * flight; no order crashes or hangs, a result is right or there is an error
 * with a reason, and each callback comes once.
 * Method: in each round several threads share two robots (instance, device,
 * module, context, function, input), and the main thread lets its own
 * references go at once. A thread takes random steps: calls with and without
 * waiting, with fences and time limits, cancellations, further contexts, and
 * releases of anything. Then it lets go of the rest in random order. In half of
 * the rounds allocations fail now and then.
 *
 * A round has a seed: --rounds=1 --seed=n repeats the steps of each thread,
 * though not their interleaving. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/api/test.h"
#include "tests/support/fault_injection.h"

enum { kThreadCount = 4, kStepCount = 60, kHeldCount = 6, kRobotCount = 2 };

/* SplitMix64. */
static uint64_t next_random(uint64_t* state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}
static uint32_t below(uint64_t* state, uint32_t count) {
  return (uint32_t)(next_random(state) % count);
}

typedef struct robot_t {
  takt_instance_t* instance;
  takt_device_t* device;
  takt_module_t* module;
  takt_context_t* context;
  takt_function_t* function;
  takt_buffer_view_t* view;
} robot_t;
enum { kPartCount = 6 };

static void release_part(robot_t* robot, uint32_t part) {
  switch (part) {
    case 0:
      takt_instance_release(robot->instance);
      robot->instance = NULL;
      break;
    case 1:
      takt_device_release(robot->device);
      robot->device = NULL;
      break;
    case 2:
      takt_module_release(robot->module);
      robot->module = NULL;
      break;
    case 3:
      takt_context_release(robot->context);
      robot->context = NULL;
      break;
    case 4:
      takt_function_release(robot->function);
      robot->function = NULL;
      break;
    default:
      takt_buffer_view_release(robot->view);
      robot->view = NULL;
  }
}

static void release_robot(robot_t* robot, uint64_t* random) {
  const uint32_t first = below(random, kPartCount);
  const uint32_t stride = below(random, 2) == 0 ? 1 : kPartCount - 1;
  for (uint32_t i = 0; i < kPartCount; ++i) {
    release_part(robot, (first + i * stride) % kPartCount);
  }
}

static void retain_robot(const robot_t* robot) {
  takt_instance_retain(robot->instance);
  takt_device_retain(robot->device);
  takt_module_retain(robot->module);
  takt_context_retain(robot->context);
  takt_function_retain(robot->function);
  takt_buffer_view_retain(robot->view);
}

/* All threads of a round. */
static atomic_bool has_faults;
static atomic_long expected_callback_count;
static atomic_long callback_count;
static atomic_long checked_count;
static atomic_long failure_count;

static void fail(const char* what, takt_status_t status) {
  fprintf(stderr, "%s: %s: %s\n", what,
          takt_status_code_name(takt_status_code(status)),
          takt_status_message(status));
  atomic_fetch_add(&failure_count, 1);
}

/* Takes the status. Errors that a step can explain pass. */
static bool settle(const char* what, takt_status_t status) {
  const takt_status_code_t code = takt_status_code(status);
  const bool is_explained =
      code == TAKT_STATUS_OK || code == TAKT_STATUS_CANCELLED ||
      code == TAKT_STATUS_ABORTED || code == TAKT_STATUS_DATA_LOSS ||
      code == TAKT_STATUS_DEADLINE_EXCEEDED ||
      (code == TAKT_STATUS_RESOURCE_EXHAUSTED && has_faults);
  if (!is_explained) fail(what, status);
  takt_status_free(status);
  return code == TAKT_STATUS_OK;
}

static const char* const kModules[] = {
    TESTDATA("models/simple_mul.cpu.vmfb"),
    TESTDATA("models/simple_mul.cpu.async.vmfb"),
    TESTDATA("models/simple_mul.vmvx.vmfb"),
    TESTDATA("models/simple_mul.vmvx.async.vmfb")};

static takt_status_t make_context(robot_t* robot) {
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = &robot->module;
  options.module_count = 1;
  options.devices = &robot->device;
  options.device_count = 1;
  takt_status_t status =
      takt_context_create(robot->instance, &options, &robot->context);
  if (status != NULL) return status;
  return takt_context_find_function(robot->context, "module.simple_mul",
                                    &robot->function);
}

static void make_robot(robot_t* robot, int32_t worker_count, uint64_t* random) {
  memset(robot, 0, sizeof(*robot));
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = worker_count;
  if (below(random, 2) == 0) options.scheduler = &scheduler;
  REQUIRE_OK(takt_instance_create(&options, &robot->instance));
  const char* const device =
      below(random, 4) == 0 ? "local-sync" : "local-task";
  REQUIRE_OK(takt_device_create(robot->instance, device, NULL, &robot->device));
  REQUIRE_OK(takt_module_load_file(robot->instance, kModules[below(random, 4)],
                                   NULL, &robot->module));
  REQUIRE_OK(make_context(robot));
  const float values[4] = {1, 2, 3, 4};
  const int64_t shape = 4;
  REQUIRE_OK(takt_buffer_view_copy_from_host(robot->device, TAKT_ELEMENT_F32, 1,
                                             &shape, values, sizeof(values),
                                             &robot->view));
}

/* Takes the value. */
static void check_product(takt_value_t value) {
  float values[4] = {0};
  takt_status_t status = takt_buffer_view_copy_to_host(
      takt_value_as_buffer_view(&value), values, sizeof(values));
  if (settle("copy_to_host", status) && (values[0] != 1 || values[3] != 16)) {
    fail("a wrong product", NULL);
  }
  takt_values_release(1, &value);
  atomic_fetch_add(&checked_count, 1);
}

typedef struct thread_t {
  uint64_t random;
  robot_t robots[kRobotCount];
  takt_invocation_t* invocations[kHeldCount];
  takt_fence_t* fences[kHeldCount];
} thread_t;

static void on_done(void* user_data, takt_invocation_t* invocation,
                    takt_status_t status) {
  (void)user_data, (void)invocation;
  settle("on_done", status);
  atomic_fetch_add(&callback_count, 1);
}

static void step_invoke(thread_t* t, const robot_t* robot) {
  const takt_value_t arguments[2] = {takt_value_ref(robot->view),
                                     takt_value_ref(robot->view)};
  takt_invoke_options_t options;
  takt_invoke_options_init(&options);
  if (below(&t->random, 4) == 0) {
    options.timeout_ns = 1 + below(&t->random, 200000);
  }
  takt_value_t result;
  takt_status_t status =
      takt_function_invoke(robot->function, &options, 2, arguments, 1, &result);
  if (settle("invoke", status)) check_product(result);
}

/* Signals the fence, fails it, or only releases it. */
static void end_fence(thread_t* t, takt_fence_t** fence) {
  if (*fence != NULL && below(&t->random, 3) != 0) {
    if (below(&t->random, 4) == 0) {
      takt_fence_fail(*fence,
                      takt_status_create(TAKT_STATUS_DATA_LOSS, "a test"));
    } else {
      takt_status_t status = takt_fence_signal(*fence);
      if (status != NULL && !has_faults) fail("signal", status);
      takt_status_free(status);
    }
  }
  takt_fence_release(*fence);
  *fence = NULL;
}

static void step_async(thread_t* t, const robot_t* robot) {
  const uint32_t slot = below(&t->random, kHeldCount);
  const takt_value_t arguments[2] = {takt_value_ref(robot->view),
                                     takt_value_ref(robot->view)};
  takt_async_options_t options;
  takt_async_options_init(&options);
  const bool has_callback = below(&t->random, 2) == 0;
  if (has_callback) options.on_done = &on_done;
  if (below(&t->random, 8) == 0) options.timeout_ns = 1000000;
  takt_fence_t* wait = NULL;
  if (below(&t->random, 2) == 0) {
    end_fence(t, &t->fences[slot]);
    if (!settle("fence_create", takt_fence_create(&t->fences[slot]))) return;
    wait = t->fences[slot];
  }
  takt_invocation_release(t->invocations[slot]);
  t->invocations[slot] = NULL;
  const bool is_kept = below(&t->random, 4) != 0;
  takt_status_t status =
      takt_async_invoke(robot->function, &options, 2, arguments, wait, NULL,
                        is_kept ? &t->invocations[slot] : NULL);
  if (status == NULL && has_callback) {
    atomic_fetch_add(&expected_callback_count, 1);
  }
  settle("async_invoke", status);
}

static void step_wait(thread_t* t, uint32_t slot) {
  takt_invocation_t* const invocation = t->invocations[slot];
  takt_status_t status =
      takt_invocation_wait(invocation, takt_clock_now_ns() + 1000000);
  if (!settle("wait", status)) return;
  takt_value_t result;
  status = takt_invocation_take_results(invocation, 1, &result);
  if (settle("take_results", status)) check_product(result);
  takt_invocation_release(invocation);
  t->invocations[slot] = NULL;
}

static void step_context(thread_t* t, robot_t* robot) {
  (void)t;
  release_part(robot, 4);
  release_part(robot, 3);
  settle("a further context", make_context(robot));
}

static void step(thread_t* t) {
  robot_t* const robot = &t->robots[below(&t->random, kRobotCount)];
  const bool can_call = robot->function != NULL && robot->view != NULL;
  const bool can_link =
      robot->instance != NULL && robot->device != NULL && robot->module != NULL;
  const uint32_t slot = below(&t->random, kHeldCount);
  if (has_faults && below(&t->random, 3) == 0) {
    fault_arm(FAULT_MEMORY, (long)below(&t->random, 120), false);
  }
  switch (below(&t->random, 16)) {
    case 0:
    case 1:
    case 2:
      if (can_call) step_invoke(t, robot);
      break;
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
      if (can_call) step_async(t, robot);
      break;
    case 8:
    case 9:
      if (t->invocations[slot] != NULL) step_wait(t, slot);
      break;
    case 10:
      if (t->invocations[slot] != NULL) {
        takt_invocation_cancel(t->invocations[slot]);
      }
      break;
    case 11:
    case 12:
      end_fence(t, &t->fences[slot]);
      break;
    case 13:
      if (can_link) step_context(t, robot);
      break;
    case 14:
      takt_invocation_release(t->invocations[slot]);
      t->invocations[slot] = NULL;
      break;
    default:
      /* Some part, or now and then all but the function and its input. */
      if (below(&t->random, 4) == 0) {
        for (uint32_t part = 0; part < 4; ++part) release_part(robot, part);
      } else {
        release_part(robot, below(&t->random, kPartCount));
      }
  }
}

static void* run_thread(void* argument) {
  thread_t* const t = argument;
  for (int i = 0; i < kStepCount; ++i) step(t);
  const bool fences_first = below(&t->random, 2) == 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < kHeldCount; ++i) {
      if ((pass == 0) == fences_first) {
        end_fence(t, &t->fences[i]);
      } else {
        takt_invocation_release(t->invocations[i]);
        t->invocations[i] = NULL;
      }
    }
    release_robot(&t->robots[pass], &t->random);
  }
  return NULL;
}

static void await_callbacks(void) {
  const int64_t end_ns = takt_clock_now_ns() + kAwaitNs;
  while (callback_count != expected_callback_count) {
    if (test_is_passed(end_ns)) {
      fprintf(stderr, "%ld callbacks, and %ld calls with one\n",
              (long)callback_count, (long)expected_callback_count);
      atomic_fetch_add(&failure_count, 1);
      return;
    }
    const struct timespec time = {0, 100000};
    nanosleep(&time, NULL);
  }
}

static void run_round(uint64_t seed) {
  uint64_t random = seed;
  has_faults = CAN_INJECT && seed % 2 == 1;
  callback_count = expected_callback_count = 0;
  robot_t robots[kRobotCount];
  for (int i = 0; i < kRobotCount; ++i) {
    make_robot(&robots[i], 1 + (int32_t)below(&random, 3), &random);
  }
  static thread_t threads[kThreadCount];
  pthread_t handles[kThreadCount];
  memset(threads, 0, sizeof(threads));
  for (int i = 0; i < kThreadCount; ++i) {
    threads[i].random = next_random(&random);
    for (int j = 0; j < kRobotCount; ++j) {
      threads[i].robots[j] = robots[j];
      retain_robot(&robots[j]);
    }
    /* The faults of the threads before may hit it. */
    while (pthread_create(&handles[i], NULL, &run_thread, &threads[i]) != 0) {
    }
  }
  for (int i = 0; i < kRobotCount; ++i) release_robot(&robots[i], &random);
  for (int i = 0; i < kThreadCount; ++i) pthread_join(handles[i], NULL);
  fault_disarm();
  await_callbacks();
}

/* Returns when a worker has run a call: it has started, and holds no lock for
 * more than a moment. */
static void await_worker(const robot_t* robot) {
  const takt_value_t arguments[2] = {takt_value_ref(robot->view),
                                     takt_value_ref(robot->view)};
  takt_invocation_t* invocation = NULL;
  REQUIRE_OK(takt_async_invoke(robot->function, NULL, 2, arguments, NULL, NULL,
                               &invocation));
  const int64_t end_ns = takt_clock_now_ns() + kAwaitNs;
  const struct timespec moment = {0, 5000000};
  do {
    nanosleep(&moment, NULL);
  } while (takt_invocation_state(invocation) != TAKT_INVOCATION_DONE &&
           !test_is_passed(end_ns));
  takt_invocation_release(invocation);
}

/* After fork() the child has no workers; its thread does the work. */
static void run_forked(int32_t worker_count) {
  uint64_t random = 0;
  robot_t robot;
  make_robot(&robot, worker_count, &random);
  thread_t t = {.random = 0};
  step_invoke(&t, &robot);
  if (worker_count > 0) await_worker(&robot);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    step_invoke(&t, &robot);
    release_robot(&robot, &random);
    _exit(failure_count != 0);
  }
  step_invoke(&t, &robot);
  release_robot(&robot, &random);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char** argv) {
  uint64_t seed = 1;
  uint64_t round_count = 40;
  for (int i = 1; i < argc; ++i) {
    unsigned long long value = 0;
    if (sscanf(argv[i], "--seed=%llu", &value) == 1) {
      seed = value;
    } else if (sscanf(argv[i], "--rounds=%llu", &value) == 1) {
      round_count = value;
    } else {
      fprintf(stderr, "usage: %s [--rounds=n] [--seed=n]\n", argv[0]);
      return 2;
    }
  }
  run_forked(0);
  run_forked(1);
  for (uint64_t i = 0; i < round_count && failure_count == 0; ++i) {
    run_round(seed + i);
    if (failure_count != 0) {
      fprintf(stderr, "the round of --seed=%llu\n",
              (unsigned long long)(seed + i));
    }
  }
  printf("%llu rounds, %ld results checked\n", (unsigned long long)round_count,
         (long)checked_count);
  EXPECT(failure_count == 0);
  EXPECT(checked_count > 0);
  return test_failure_count != 0;
}
