#include "takt/async.h"
#include "tests/api/fixture.h"

static void smoke(void) {
  static const char* const kModules[2] = {
      TESTDATA("api/simple_mul.vmfb"), TESTDATA("api/simple_mul_async.vmfb")};
  static const char* const kDevices[2] = {"local-sync", "local-task"};
  for (int i = 0; i < 4; ++i) {
    fixture_t f = fixture_create(kDevices[i % 2], kModules[i / 2]);
    takt_function_t* mul = find_function(f.context, "mul");
    const float values[4] = {1, 2, 3, 4};
    takt_buffer_view_t* view = float_view(f.device, 4, values);
    const takt_value_t arguments[2] = {takt_value_ref(view),
                                       takt_value_ref(view)};
    takt_fence_t* wait = NULL;
    takt_fence_t* signal = NULL;
    REQUIRE_OK(takt_fence_create(&wait));
    REQUIRE_OK(takt_fence_create(&signal));
    takt_invocation_t* invocation = NULL;
    REQUIRE_OK(
        takt_async_invoke(mul, NULL, 2, arguments, wait, signal, &invocation));
    bool done = true;
    EXPECT_OK(takt_invocation_query(invocation, &done));
    EXPECT(!done);
    REQUIRE_OK(takt_fence_signal(wait));
    EXPECT_OK(takt_fence_wait(signal, f.instance, TAKT_INFINITE_FUTURE));
    EXPECT_OK(takt_invocation_wait(invocation, TAKT_INFINITE_FUTURE));
    EXPECT(takt_invocation_state(invocation) == TAKT_INVOCATION_DONE);
    takt_value_t result;
    EXPECT_OK(takt_invocation_take_results(invocation, 1, &result));
    EXPECT_VIEW(takt_value_as_buffer_view(&result), "4xf32=1 4 9 16");
    takt_values_release(1, &result);
    takt_invocation_release(invocation);
    takt_fence_release(wait);
    takt_fence_release(signal);
    takt_buffer_view_release(view);
    takt_function_release(mul);
    fixture_destroy(&f);
  }
}

int main(void) {
  RUN(smoke);
  return test_result();
}
