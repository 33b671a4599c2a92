/* Goal: a warm synchronous invocation takes no memory from the system.
 * Method: this program's malloc family counts and passes on to libc's; the
 * dynamic linker has libtakt.so use them too. Sanitizers bring a malloc of
 * their own, so there is nothing to see under them. */
#include "tests/api/fixture.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

static _Atomic int allocation_count = 0;

#if !defined(HAS_SANITIZER) && defined(__GLIBC__)
#define CAN_COUNT 1
/* TAKT_EXPORT: hidden ones would not stand in for libc's. */
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
/* Seen by the library: the build hides what does not say so. */
#define SEEN __attribute__((visibility("default")))
SEEN void* malloc(size_t bytes) {
  ++allocation_count;
  return __libc_malloc(bytes);
}
SEEN void* calloc(size_t count, size_t bytes) {
  ++allocation_count;
  return __libc_calloc(count, bytes);
}
SEEN void* realloc(void* block, size_t bytes) {
  ++allocation_count;
  return __libc_realloc(block, bytes);
}
SEEN void* aligned_alloc(size_t alignment, size_t bytes) {
  ++allocation_count;
  return __libc_memalign(alignment, bytes);
}
#endif

static void invoke(takt_function_t* function, size_t argument_count,
                   const takt_value_t* arguments) {
  takt_value_t result;
  REQUIRE_OK(takt_function_invoke(function, NULL, argument_count, arguments, 1,
                                  &result));
  takt_values_release(1, &result);
}

static void expect_no_allocations(const char* device_name,
                                  const char* module_path) {
  /* No workers: which thread frees a block, and so which pool has it next,
   * must not depend on timing. */
  fixture_t fixture = fixture_create_with(0, device_name, module_path);
  takt_function_t* function = find_function(fixture.context, "mul");
  const float values[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(fixture.device, 4, values);
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  for (int i = 0; i < 300; ++i) invoke(function, 2, arguments);
  const int before = allocation_count;
  for (int i = 0; i < 300; ++i) invoke(function, 2, arguments);
  const int count = allocation_count - before;
  if (count != 0) {
    fprintf(stderr, "%s, %s: %d allocations in 300 calls\n", device_name,
            module_path, count);
    ++test_failure_count;
  }
  takt_buffer_view_release(view);
  takt_function_release(function);
  fixture_destroy(&fixture);
}

static void counting_works(void) {
#if defined(CAN_COUNT)
  const int before = allocation_count;
  takt_fence_t* fence = NULL;
  REQUIRE_OK(takt_fence_create(&fence)); /* Comes from the system. */
  EXPECT(allocation_count > before);
  takt_fence_release(fence);
#endif
}

static void a_warm_call_on_this_thread_allocates_nothing(void) {
  expect_no_allocations("local-sync", TESTDATA("api/simple_mul.vmfb"));
}

static void a_warm_call_with_an_executor_allocates_nothing(void) {
  expect_no_allocations("local-task", TESTDATA("api/simple_mul.vmfb"));
}

static void a_warm_call_of_an_async_function_allocates_nothing(void) {
  expect_no_allocations("local-sync", TESTDATA("api/simple_mul_async.vmfb"));
  expect_no_allocations("local-task", TESTDATA("api/simple_mul_async.vmfb"));
}

int main(void) {
  RUN(counting_works);
  RUN(a_warm_call_on_this_thread_allocates_nothing);
  RUN(a_warm_call_with_an_executor_allocates_nothing);
  RUN(a_warm_call_of_an_async_function_allocates_nothing);
  return test_result();
}
