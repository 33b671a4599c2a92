/* Modules of past compilers (tests/testdata/releases) through the C API: what
 * waits in them parks, and modules of several releases share a context. */
#include <stdio.h>

#include "takt/async.h"
#include "tests/api/fixture.h"

#define RELEASES(name) TESTDATA("releases/" name)

static const char* const kAwait[3] = {RELEASES("await.v38.vmfb"),
                                      RELEASES("await.v310.vmfb"),
                                      RELEASES("await.v311.vmfb")};
static const char* const kAdd[3] = {RELEASES("dynamic.v38.vmvx.vmfb"),
                                    RELEASES("dynamic.v310.cpu.vmfb"),
                                    RELEASES("dynamic.v311.vmvx.vmfb")};
static const float kOneToFour[4] = {1, 2, 3, 4};

static takt_fence_t* create_fence(void) {
  takt_fence_t* fence = NULL;
  REQUIRE_OK(takt_fence_create(&fence));
  return fence;
}

/* A call in flight costs no thread: with none there is, two of them wait for
 * one fence in contexts of their own, and both go on when it is signalled. */
static void a_plain_await_parks(void) {
  static const char* const kFunctions[2] = {"once", "nested"};
  for (int i = 0; i < 3; ++i) {
    fixture_t f = fixture_create_with(0, "local-task", kAwait[i]);
    takt_context_t* other = create_context(f.instance, f.device, f.module);
    takt_context_t* const contexts[2] = {f.context, other};
    takt_fence_t* fence = create_fence();
    takt_invocation_t* invocations[2];
    for (int n = 0; n < 2; ++n) {
      takt_function_t* function = find_function(contexts[n], kFunctions[n]);
      const takt_value_t arguments[2] = {takt_value_ref(fence),
                                         takt_value_i32(21)};
      REQUIRE_OK(takt_async_invoke(function, NULL, 2, arguments, NULL, NULL,
                                   &invocations[n]));
      takt_function_release(function);
      EXPECT_ERROR(takt_invocation_wait(invocations[n], 0),
                   TAKT_STATUS_DEADLINE_EXCEEDED, "");
    }
    for (int n = 0; n < 2; ++n) {
      EXPECT(takt_invocation_state(invocations[n]) == TAKT_INVOCATION_RUNNING);
    }
    REQUIRE_OK(takt_fence_signal(fence));
    for (int n = 0; n < 2; ++n) {
      REQUIRE_OK(takt_invocation_wait(invocations[n], TAKT_INFINITE_FUTURE));
      takt_value_t results[2];
      REQUIRE_OK(takt_invocation_take_results(invocations[n], 2, results));
      EXPECT(results[0].i32 == 0);
      EXPECT(results[1].i32 == (n == 0 ? 21 : 42));
      takt_invocation_release(invocations[n]);
    }
    takt_fence_release(fence);
    takt_context_release(other);
    fixture_destroy(&f);
  }
}

/* The thread of a synchronous call works while the call waits: there is no
 * other thread that could reach the fence. */
static void a_synchronous_caller_works_while_it_waits(void) {
  for (int i = 0; i < 3; ++i) {
    fixture_t f = fixture_create_with(0, "local-task", kAwait[i]);
    takt_module_t* add = load_module(f.instance, kAdd[i]);
    takt_context_t* adds = create_context(f.instance, f.device, add);
    takt_function_t* dadd = find_function(adds, "dadd");
    takt_buffer_view_t* view = float_view(f.device, 4, kOneToFour);
    takt_fence_t* start = create_fence();
    takt_fence_t* done = create_fence();
    takt_invocation_t* invocation = NULL;
    const takt_value_t arguments[2] = {takt_value_ref(view),
                                       takt_value_ref(view)};
    REQUIRE_OK(
        takt_async_invoke(dadd, NULL, 2, arguments, start, done, &invocation));
    REQUIRE_OK(takt_fence_signal(start));
    takt_function_t* once = find_function(f.context, "once");
    const takt_value_t awaited[2] = {takt_value_ref(done), takt_value_i32(3)};
    takt_value_t results[2];
    REQUIRE_OK(takt_function_invoke(once, NULL, 2, awaited, 2, results));
    EXPECT(results[0].i32 == 0);
    EXPECT(results[1].i32 == 3);
    takt_value_t sum;
    REQUIRE_OK(takt_invocation_take_results(invocation, 1, &sum));
    EXPECT_VIEW(takt_value_as_buffer_view(&sum), "4xf32=2 4 6 8");
    takt_values_release(1, &sum);
    takt_invocation_release(invocation);
    takt_fence_release(start);
    takt_fence_release(done);
    takt_buffer_view_release(view);
    takt_function_release(once);
    takt_function_release(dadd);
    takt_context_release(adds);
    takt_module_release(add);
    fixture_destroy(&f);
  }
}

/* abs of 3.8, mul of 3.11 and what calls them of 3.10, and other mixtures. Both
 * functions are asynchronous: fences go from one release's code to another's.
 */
static void releases_share_a_context(void) {
  static const char* const kReleases[4] = {"v38", "v39", "v310", "v311"};
  static const char* const kDevices[2] = {"local-sync", "local-task"};
  static const float kInput[8] = {-2, -1, 0, 1, 2, 3, 4, 5};
  for (int i = 0; i < 16; ++i) {
    takt_instance_t* instance = create_instance(i / 8 * 2);
    takt_device_t* device = create_device(instance, kDevices[i % 2]);
    const char* const kNames[3] = {"abs", "mul", "pipeline"};
    const int releases[3] = {i % 4, i / 4, (i + i / 4 + 1) % 4};
    takt_module_t* modules[3];
    for (int m = 0; m < 3; ++m) {
      char path[512];
      snprintf(path, sizeof(path), TAKT_TESTDATA_DIR "/releases/%s.%s.vmfb",
               kNames[m], kReleases[releases[m]]);
      modules[m] = load_module(instance, path);
    }
    takt_context_t* context = create_context_of(instance, device, modules, 3);
    takt_function_t* run = find_function(context, "run");
    takt_buffer_view_t* view = float_view(device, 8, kInput);
    takt_fence_t* wait = create_fence();
    takt_invocation_t* invocation = NULL;
    const takt_value_t argument = takt_value_ref(view);
    REQUIRE_OK(
        takt_async_invoke(run, NULL, 1, &argument, wait, NULL, &invocation));
    EXPECT_ERROR(takt_invocation_wait(invocation, 0),
                 TAKT_STATUS_DEADLINE_EXCEEDED, "");
    REQUIRE_OK(takt_fence_signal(wait));
    REQUIRE_OK(takt_invocation_wait(invocation, TAKT_INFINITE_FUTURE));
    takt_value_t result;
    REQUIRE_OK(takt_invocation_take_results(invocation, 1, &result));
    EXPECT_VIEW(takt_value_as_buffer_view(&result),
                "8xf32=-4 -1 0 1 4 9 16 25");
    takt_values_release(1, &result);
    takt_invocation_release(invocation);
    takt_fence_release(wait);
    takt_buffer_view_release(view);
    takt_function_release(run);
    takt_context_release(context);
    for (int m = 0; m < 3; ++m) takt_module_release(modules[m]);
    takt_device_release(device);
    takt_instance_release(instance);
  }
}

int main(void) {
  RUN(a_plain_await_parks);
  RUN(a_synchronous_caller_works_while_it_waits);
  RUN(releases_share_a_context);
  return test_result();
}
