/* Budgets, what functions need, preparing, and memory shared by descriptor. */
#define _GNU_SOURCE /* memfd_create */
#include "takt/memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/api/fixture.h"

#define MIB ((size_t)1 << 20)

static takt_fence_t* make_fence(void) {
  takt_fence_t* fence = NULL;
  REQUIRE_OK(takt_fence_create(&fence));
  return fence;
}

static bool is_reached(const takt_fence_t* fence) {
  bool reached = false;
  takt_status_free(takt_fence_query(fence, &reached));
  return reached;
}

static takt_device_statistics_t statistics_of(const takt_device_t* device) {
  takt_device_statistics_t statistics;
  statistics.struct_size = sizeof(statistics);
  takt_device_query_statistics(device, &statistics);
  return statistics;
}

static takt_device_t* create_budgeted(takt_instance_t* instance,
                                      const char* name, uint64_t bytes) {
  takt_device_options_t options;
  takt_device_options_init(&options);
  options.memory_budget_bytes = bytes;
  takt_device_t* device = NULL;
  REQUIRE_OK(takt_device_create(instance, name, &options, &device));
  return device;
}

/* Two requests of 400 MB on 512 MB, queued at once: the second gets its memory
 * when the first has given it back, and both finish. */
static void two_large_requests_run_one_after_the_other(void) {
  takt_instance_t* instance = create_instance(2);
  takt_device_t* device = create_budgeted(instance, "local-task", 512 * MIB);
  takt_fence_t* start = make_fence();
  takt_fence_t* use[2] = {make_fence(), make_fence()};
  takt_fence_t* allocated[2];
  takt_fence_t* freed[2];
  for (int i = 0; i < 2; ++i) {
    allocated[i] = make_fence();
    freed[i] = make_fence();
    takt_buffer_t* buffer = NULL;
    takt_fence_t* both[2] = {allocated[i], use[i]};
    takt_fence_t* used = NULL;
    REQUIRE_OK(takt_fence_join(2, both, &used));
    EXPECT_OK(takt_queue_alloca(device, start, allocated[i], 400 * MIB, NULL,
                                &buffer));
    EXPECT_OK(takt_queue_dealloca(device, used, freed[i], buffer));
    takt_buffer_release(buffer);
    takt_fence_release(used);
  }
  char* text = NULL;
  REQUIRE_OK(takt_device_explain_memory(device, &text));
  EXPECT_TEXT(text, "");
  takt_string_free(text);
  EXPECT_OK(takt_fence_signal(start));
  EXPECT(is_reached(allocated[0]) && !is_reached(allocated[1]));
  takt_device_statistics_t statistics = statistics_of(device);
  EXPECT(statistics.bytes_budget == 512 * MIB);
  EXPECT(statistics.waiting_count == 1 && statistics.wait_count == 1);
  EXPECT(statistics.bytes_waiting == 400 * MIB);
  REQUIRE_OK(takt_device_explain_memory(device, &text));
  EXPECT_CONTAINS(text, "419430400 of the budget of 536870912 bytes");
  EXPECT_CONTAINS(text, "no work of the device runs");
  takt_string_free(text);
  EXPECT_OK(takt_fence_signal(use[0]));
  EXPECT(is_reached(freed[0]) && is_reached(allocated[1]));
  EXPECT_OK(takt_fence_signal(use[1]));
  EXPECT_OK(takt_fence_wait(freed[1], instance, TAKT_INFINITE_FUTURE));
  statistics = statistics_of(device);
  EXPECT(statistics.bytes_reserved == 0 && statistics.waiting_count == 0);
  EXPECT(statistics.bytes_peak <= 512 * MIB);
  takt_device_trim(device);
  EXPECT(statistics_of(device).bytes_committed == 0);
  for (int i = 0; i < 2; ++i) {
    takt_fence_release(use[i]);
    takt_fence_release(allocated[i]);
    takt_fence_release(freed[i]);
  }
  takt_fence_release(start);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void a_request_above_the_budget_is_refused_with_both_numbers(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_budgeted(instance, "local-sync", 1000000);
  takt_fence_t* signal = make_fence();
  takt_buffer_t* buffer = NULL;
  EXPECT_ERROR(takt_queue_alloca(device, NULL, signal, 1000001, NULL, &buffer),
               TAKT_STATUS_RESOURCE_EXHAUSTED,
               "1000001 bytes are more than the device's budget of 1000000");
  EXPECT(buffer == NULL && !is_reached(signal));
  EXPECT_ERROR(takt_buffer_allocate(device, 2000000, NULL, &buffer),
               TAKT_STATUS_RESOURCE_EXHAUSTED, "budget of 1000000");
  takt_buffer_t* first = NULL;
  EXPECT_OK(takt_buffer_allocate(device, 600000, NULL, &first));
  EXPECT_ERROR(takt_buffer_allocate(device, 600000, NULL, &buffer),
               TAKT_STATUS_RESOURCE_EXHAUSTED, "no room for 600000 bytes now");
  takt_buffer_release(first);
  EXPECT_OK(takt_buffer_allocate(device, 600000, NULL, &buffer));
  takt_buffer_release(buffer);
  takt_fence_release(signal);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void refuses_options(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = NULL;
  takt_device_options_t options;
  takt_device_options_init(&options);
  options.memory_budget_bytes = 0;
  EXPECT_ERROR(takt_device_create(instance, "local-sync", &options, &device),
               TAKT_STATUS_INVALID_ARGUMENT, "memory_budget_bytes");
  takt_device_options_init(&options);
  options.idle_ns = 0;
  EXPECT_ERROR(takt_device_create(instance, "local-sync", &options, &device),
               TAKT_STATUS_INVALID_ARGUMENT, "idle_ns");
  takt_device_options_init(&options);
  options.stall_ns = -5;
  EXPECT_ERROR(takt_device_create(instance, "local-sync", &options, &device),
               TAKT_STATUS_INVALID_ARGUMENT, "stall_ns: expected 1 or more");
  options.struct_size = 0;
  EXPECT_ERROR(takt_device_create(instance, "local-sync", &options, &device),
               TAKT_STATUS_INVALID_ARGUMENT, "struct_size");
  EXPECT(device == NULL);
  takt_instance_release(instance);
}

static void idle_memory_beyond_the_limit_goes_back(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_options_t options;
  takt_device_options_init(&options);
  options.idle_bytes_max = 4 * MIB;
  takt_device_t* device = NULL;
  REQUIRE_OK(takt_device_create(instance, "local-sync", &options, &device));
  takt_buffer_t* buffers[3] = {NULL, NULL, NULL};
  for (int i = 0; i < 3; ++i) {
    REQUIRE_OK(takt_buffer_allocate(device, 2 * MIB, NULL, &buffers[i]));
  }
  for (int i = 0; i < 3; ++i) takt_buffer_release(buffers[i]);
  EXPECT(statistics_of(device).bytes_idle == 4 * MIB);
  EXPECT(statistics_of(device).bytes_committed == 4 * MIB);
  takt_device_release(device);
  takt_instance_release(instance);
}

typedef struct mlp_t {
  takt_context_t* context;
  takt_function_t* function;
  takt_buffer_view_t* inputs[3];
} mlp_t;

static const int64_t kMlpShapes[3][2] = {{8, 64}, {64, 128}, {128, 32}};

static mlp_t create_mlp(takt_instance_t* instance, takt_device_t* device,
                        takt_module_t* module) {
  mlp_t mlp;
  mlp.context = create_context(instance, device, module);
  mlp.function = find_function(mlp.context, "module.mlp");
  for (int i = 0; i < 3; ++i) {
    const size_t count = (size_t)(kMlpShapes[i][0] * kMlpShapes[i][1]);
    float* values = malloc(count * sizeof(float));
    for (size_t j = 0; j < count; ++j) values[j] = i == 0 ? 1 : 0.5f;
    REQUIRE_OK(takt_buffer_view_copy_from_host(
        device, TAKT_ELEMENT_F32, 2, kMlpShapes[i], values,
        count * sizeof(float), &mlp.inputs[i]));
    free(values);
  }
  return mlp;
}

static void destroy_mlp(mlp_t* mlp) {
  for (int i = 0; i < 3; ++i) takt_buffer_view_release(mlp->inputs[i]);
  takt_function_release(mlp->function);
  takt_context_release(mlp->context);
}

/* Queues a call of the async function; its result is dropped at once. */
static void queue_mlp(const mlp_t* mlp, takt_fence_t* wait,
                      takt_fence_t* signal) {
  const takt_value_t arguments[5] = {
      takt_value_ref(mlp->inputs[0]), takt_value_ref(mlp->inputs[1]),
      takt_value_ref(mlp->inputs[2]), takt_value_ref(wait),
      takt_value_ref(signal)};
  takt_value_t result;
  REQUIRE_OK(
      takt_function_invoke(mlp->function, NULL, 5, arguments, 1, &result));
  takt_values_release(1, &result);
}

/* 1,000 calls, each after the one before and all queued before the first may
 * start, use the memory of one. */
static void pipelined_calls_use_the_memory_of_one(void) {
  const char* const names[2] = {"local-sync", "local-task"};
  for (int d = 0; d < 2; ++d) {
    takt_instance_t* instance = create_instance(2);
    takt_module_t* module =
        load_module(instance, TESTDATA("models/mlp.cpu.async.vmfb"));
    uint64_t peaks[2];
    for (int many = 0; many < 2; ++many) {
      takt_device_t* device = create_device(instance, names[d]);
      mlp_t mlp = create_mlp(instance, device, module);
      takt_fence_t* const start = make_fence();
      takt_fence_t* before = start;
      takt_fence_retain(before);
      for (int i = 0; i < (many ? 1000 : 1); ++i) {
        takt_fence_t* done = make_fence();
        queue_mlp(&mlp, before, done);
        takt_fence_release(before);
        before = done;
      }
      EXPECT_OK(takt_fence_signal(start));
      EXPECT_OK(takt_fence_wait(before, instance, TAKT_INFINITE_FUTURE));
      peaks[many] = statistics_of(device).bytes_peak;
      takt_fence_release(before);
      takt_fence_release(start);
      destroy_mlp(&mlp);
      takt_device_release(device);
    }
    EXPECT(peaks[0] == peaks[1]);
    takt_module_release(module);
    takt_instance_release(instance);
  }
}

/* Calls of several contexts, all ready at once, on a budget that holds the
 * inputs and what one call needs: each needs two allocations. */
static void invocations_under_a_budget_all_finish(void) {
  enum { kContexts = 6, kCalls = 20 };
  const char* const names[2] = {"local-sync", "local-task"};
  for (int d = 0; d < 2; ++d) {
    takt_instance_t* instance = create_instance(2);
    takt_module_t* module =
        load_module(instance, TESTDATA("models/mlp.cpu.async.vmfb"));
    /* The inputs of one come to 51200 bytes; all contexts use the same. */
    takt_device_t* device = create_budgeted(instance, names[d], 62000);
    mlp_t mlps[kContexts];
    mlps[0] = create_mlp(instance, device, module);
    for (int c = 1; c < kContexts; ++c) {
      mlps[c].context = create_context(instance, device, module);
      mlps[c].function = find_function(mlps[c].context, "module.mlp");
      for (int i = 0; i < 3; ++i) {
        mlps[c].inputs[i] = mlps[0].inputs[i];
        takt_buffer_view_retain(mlps[c].inputs[i]);
      }
    }
    takt_fence_t* start = make_fence();
    takt_fence_t* done[kContexts][kCalls];
    for (int i = 0; i < kCalls; ++i) {
      for (int c = 0; c < kContexts; ++c) {
        done[c][i] = make_fence();
        queue_mlp(&mlps[c], start, done[c][i]);
      }
    }
    EXPECT_OK(takt_fence_signal(start));
    for (int i = 0; i < kCalls; ++i) {
      for (int c = 0; c < kContexts; ++c) {
        EXPECT_OK(takt_fence_wait(done[c][i], instance, TAKT_INFINITE_FUTURE));
        takt_fence_release(done[c][i]);
      }
    }
    EXPECT(statistics_of(device).bytes_peak <= 62000);
    EXPECT(statistics_of(device).waiting_count == 0);
    takt_fence_release(start);
    for (int c = 0; c < kContexts; ++c) destroy_mlp(&mlps[c]);
    takt_device_release(device);
    takt_module_release(module);
    takt_instance_release(instance);
  }
}

static void* call_often(void* argument) {
  mlp_t* mlp = argument;
  for (int i = 0; i < 50; ++i) {
    const takt_value_t arguments[3] = {takt_value_ref(mlp->inputs[0]),
                                       takt_value_ref(mlp->inputs[1]),
                                       takt_value_ref(mlp->inputs[2])};
    takt_value_t result;
    takt_status_t status =
        takt_function_invoke(mlp->function, NULL, 3, arguments, 1, &result);
    if (status != NULL) return status;
    takt_values_release(1, &result);
  }
  return NULL;
}

/* The same from threads of their own, by synchronous functions, whose first
 * allocation is made while others are about to make their second. */
static void threads_under_a_budget_all_finish(void) {
  enum { kThreads = 4 };
  const char* const names[2] = {"local-sync", "local-task"};
  for (int d = 0; d < 2; ++d) {
    takt_instance_t* instance = create_instance(2);
    takt_module_t* module =
        load_module(instance, TESTDATA("models/mlp.cpu.vmfb"));
    takt_device_t* device =
        create_budgeted(instance, names[d], kThreads * 51200 + 9000);
    mlp_t mlps[kThreads];
    pthread_t threads[kThreads];
    for (int t = 0; t < kThreads; ++t) {
      mlps[t] = create_mlp(instance, device, module);
    }
    for (int t = 0; t < kThreads; ++t) {
      EXPECT(pthread_create(&threads[t], NULL, call_often, &mlps[t]) == 0);
    }
    for (int t = 0; t < kThreads; ++t) {
      void* status = NULL;
      EXPECT(pthread_join(threads[t], &status) == 0);
      EXPECT_OK((takt_status_t)status);
      destroy_mlp(&mlps[t]);
    }
    EXPECT(statistics_of(device).bytes_reserved == 0);
    takt_device_release(device);
    takt_module_release(module);
    takt_instance_release(instance);
  }
}

static void a_function_knows_its_memory_need(void) {
  fixture_t fixture =
      fixture_create("local-sync", TESTDATA("models/mlp.cpu.vmfb"));
  takt_function_t* function = find_function(fixture.context, "module.mlp");
  takt_memory_need_t need;
  need.struct_size = sizeof(need);
  EXPECT_OK(takt_function_query_memory(function, &need));
  EXPECT(need.known_count == 2 && need.unknown_count == 0);
  EXPECT(need.bytes_largest == 5120); /* The transient. */
  EXPECT(need.bytes_total == 5120 + 32);
  EXPECT(need.is_bounded);
  need.struct_size = 0;
  EXPECT_ERROR(takt_function_query_memory(function, &need),
               TAKT_STATUS_INVALID_ARGUMENT, "struct_size");
  takt_function_release(function);
  fixture_destroy(&fixture);

  fixture =
      fixture_create("local-sync", TESTDATA("models/matmul_dynamic.cpu.vmfb"));
  function = find_function(fixture.context, "module.mm");
  need.struct_size = sizeof(need);
  EXPECT_OK(takt_function_query_memory(function, &need));
  EXPECT(need.unknown_count >= 1 && !need.is_bounded);
  takt_function_release(function);
  fixture_destroy(&fixture);
}

/* An allocator that counts. */
static size_t allocation_count;

static void* counted_allocate(void* user_data, size_t byte_length,
                              size_t alignment) {
  (void)user_data;
  ++allocation_count;
  return aligned_alloc(alignment, byte_length);
}

static void counted_free(void* user_data, void* data, size_t byte_length,
                         size_t alignment) {
  (void)user_data;
  (void)byte_length;
  (void)alignment;
  free(data);
}

static void a_prepared_first_call_allocates_nothing(void) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.allocator.allocate = counted_allocate;
  options.allocator.free = counted_free;
  takt_instance_t* instance = NULL;
  REQUIRE_OK(takt_instance_create(&options, &instance));
  takt_device_t* device = create_device(instance, "local-sync");
  takt_module_t* module =
      load_module(instance, TESTDATA("models/mlp.cpu.vmfb"));
  mlp_t mlp = create_mlp(instance, device, module);
  EXPECT_OK(takt_context_prepare(mlp.context));
  const size_t before = allocation_count;
  EXPECT_OK(takt_function_prepare(mlp.function));
  const size_t prepared = allocation_count;
  EXPECT(prepared > before);
  EXPECT_OK((takt_status_t)call_often(&mlp));
  EXPECT(allocation_count == prepared);
  EXPECT_OK(takt_function_prepare(mlp.function));
  EXPECT(allocation_count == prepared);
  EXPECT_ERROR(takt_function_prepare(NULL), TAKT_STATUS_INVALID_ARGUMENT,
               "function is NULL");
  EXPECT_ERROR(takt_context_prepare(NULL), TAKT_STATUS_INVALID_ARGUMENT,
               "context is NULL");
  destroy_mlp(&mlp);
  takt_module_release(module);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void descriptors_are_imported_without_a_copy(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-sync");
  const int fd = memfd_create("test", MFD_CLOEXEC);
  EXPECT(fd >= 0 && ftruncate(fd, 3 * 4096) == 0);
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_import_fd(device, fd, 4096, 8192, NULL, &buffer));
  EXPECT(takt_buffer_byte_length(buffer) == 8192);
  EXPECT(pwrite(fd, "there", 5, 4096 + 100) == 5);
  char text[6] = {0};
  EXPECT_OK(takt_buffer_read(buffer, 100, text, 5));
  EXPECT_TEXT(text, "there");
  EXPECT_OK(takt_buffer_write(buffer, 0, "back", 4));
  EXPECT(pread(fd, text, 5, 4096) == 5);
  EXPECT_TEXT(text, "back");
  EXPECT(close(fd) == 0); /* The buffer has its own. */

  takt_buffer_t* part = NULL;
  REQUIRE_OK(takt_buffer_subspan(buffer, 64, 64, &part));
  int exported = -1;
  uint64_t offset = 0;
  EXPECT_OK(takt_buffer_export_fd(part, &exported, &offset));
  EXPECT(exported >= 0 && offset == 4096 + 64);
  EXPECT(close(exported) == 0);
  takt_buffer_release(part);
  takt_buffer_release(buffer);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void refuses_descriptors_with_the_reason(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-sync");
  takt_buffer_t* buffer = NULL;
  const int fd = memfd_create("test", MFD_CLOEXEC);
  EXPECT(fd >= 0 && ftruncate(fd, 8192) == 0);
  EXPECT_ERROR(takt_buffer_import_fd(device, fd, 100, 4096, NULL, &buffer),
               TAKT_STATUS_INVALID_ARGUMENT, "offset 100 is no multiple");
  EXPECT_ERROR(takt_buffer_import_fd(device, fd, 4096, 4097, NULL, &buffer),
               TAKT_STATUS_OUT_OF_RANGE, "memory of 8192 bytes");
  EXPECT_ERROR(takt_buffer_import_fd(device, fd, 0, 0, NULL, &buffer),
               TAKT_STATUS_INVALID_ARGUMENT, "0 bytes");
  EXPECT_ERROR(takt_buffer_import_fd(device, -1, 0, 64, NULL, &buffer),
               TAKT_STATUS_INVALID_ARGUMENT, "file descriptor -1");
  EXPECT_ERROR(takt_buffer_import_fd(NULL, fd, 0, 64, NULL, &buffer),
               TAKT_STATUS_INVALID_ARGUMENT, "device is NULL");
  int ends[2];
  EXPECT(pipe(ends) == 0);
  EXPECT_ERROR(takt_buffer_import_fd(device, ends[0], 0, 64, NULL, &buffer),
               TAKT_STATUS_OUT_OF_RANGE, "0 bytes");
  close(ends[0]);
  close(ends[1]);
  /* Only to be read. */
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  const int read_only = open(path, O_RDONLY | O_CLOEXEC);
  EXPECT(read_only >= 0);
  EXPECT_ERROR(takt_buffer_import_fd(device, read_only, 0, 64, NULL, &buffer),
               TAKT_STATUS_PERMISSION_DENIED, "written");
  takt_buffer_options_t options;
  takt_buffer_options_init(&options);
  options.access = TAKT_ACCESS_READ;
  EXPECT_OK(takt_buffer_import_fd(device, read_only, 0, 64, &options, &buffer));
  EXPECT_ERROR(takt_buffer_write(buffer, 0, "x", 1),
               TAKT_STATUS_PERMISSION_DENIED, "");
  takt_buffer_release(buffer);
  close(read_only);
  close(fd);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void shared_buffers_are_exported(void) {
  takt_instance_t* instance = create_instance(1);
  takt_device_t* device = create_device(instance, "local-sync");
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_allocate_shared(device, 100, NULL, &buffer));
  EXPECT_OK(takt_buffer_write(buffer, 0, "shared", 7));
  int fd = -1;
  uint64_t offset = 1;
  EXPECT_OK(takt_buffer_export_fd(buffer, &fd, &offset));
  EXPECT(offset == 0);
  char text[7] = {0};
  EXPECT(pread(fd, text, 7, 0) == 7);
  EXPECT_TEXT(text, "shared");
  takt_buffer_t* again = NULL;
  EXPECT_OK(takt_buffer_import_fd(device, fd, 0, 100, NULL, &again));
  EXPECT_OK(takt_buffer_write(again, 0, "twice", 6));
  EXPECT_OK(takt_buffer_read(buffer, 0, text, 6));
  EXPECT_TEXT(text, "twice");
  close(fd);
  takt_buffer_release(again);
  takt_buffer_release(buffer);
  EXPECT_ERROR(takt_buffer_allocate_shared(device, 0, NULL, &buffer),
               TAKT_STATUS_INVALID_ARGUMENT, "0 bytes");
  REQUIRE_OK(takt_buffer_allocate(device, 100, NULL, &buffer));
  EXPECT_ERROR(takt_buffer_export_fd(buffer, &fd, &offset),
               TAKT_STATUS_FAILED_PRECONDITION, "no file descriptor");
  EXPECT(fd == -1);
  takt_buffer_release(buffer);
  takt_device_release(device);
  takt_instance_release(instance);
}

int main(void) {
  RUN(two_large_requests_run_one_after_the_other);
  RUN(a_request_above_the_budget_is_refused_with_both_numbers);
  RUN(refuses_options);
  RUN(idle_memory_beyond_the_limit_goes_back);
  RUN(pipelined_calls_use_the_memory_of_one);
  RUN(invocations_under_a_budget_all_finish);
  RUN(threads_under_a_budget_all_finish);
  RUN(a_function_knows_its_memory_need);
  RUN(a_prepared_first_call_allocates_nothing);
  RUN(descriptors_are_imported_without_a_copy);
  RUN(refuses_descriptors_with_the_reason);
  RUN(shared_buffers_are_exported);
  return test_result();
}
