/* Modules whose dispatches may go to the NPU or to the CPU (route A'): either
 * way gives the right result, both are tried, counted and to be seen. */
#include "takt/npu.h"
#include "takt/scheduler.h"
#include "tests/analysis/contents.h"
#include "tests/api/npu_product.h"

enum { kCalls = 12 };

typedef struct model_t {
  const char* path;
  int32_t m, k, n;
  int32_t scale;      /* Of the left operand, before it is an i8 again. */
  bool has_addend;    /* A third argument. */
  int dispatch_count; /* For the NPU, in each call. */
} model_t;

static const model_t kModels[] = {
    {TESTDATA("npu/route_a_or_cpu.vmfb"), 32, 64, 48, 2, true, 3},
    {TESTDATA("npu/either_way.vmfb"), 64, 256, 128, 1, false, 3},
};

static npu_t create(const takt_npu_driver_t* driver, bool may_route_to_cpu,
                    const char* cpu, const char* policy) {
  takt_npu_options_t options;
  takt_npu_options_init(&options);
  EXPECT(options.may_route_to_cpu);
  options.may_route_to_cpu = may_route_to_cpu;
  options.virtual_time = true;
  return npu_create_in(create_instance_with_policy(2, policy), cpu, driver,
                       &options);
}

static takt_context_t* link_model(const npu_t* npu, const char* path) {
  takt_status_t status = NULL;
  takt_context_t* context = link_module(npu, path, 2, npu->devices, &status);
  REQUIRE_OK(status);
  return context;
}

static int8_t small_number(uint32_t* random) {
  *random = *random * 1664525u + 1013904223u;
  return (int8_t)((int32_t)(*random >> 24) - 128) / 2;
}

/* Calls the model with numbers of that seed; counts the wrong results. */
static int count_wrong(takt_context_t* context, takt_device_t* cpu,
                       const model_t* model, uint32_t seed) {
  const size_t m = model->m, k = model->k, n = model->n;
  int8_t* x = malloc(m * k);
  int8_t* w = malloc(k * n);
  int32_t* b = malloc(m * n * sizeof(int32_t));
  int32_t* out = malloc(m * n * sizeof(int32_t));
  for (size_t i = 0; i < m * k; ++i) x[i] = small_number(&seed);
  for (size_t i = 0; i < k * n; ++i) w[i] = small_number(&seed);
  for (size_t i = 0; i < m * n; ++i) b[i] = model->has_addend ? 7 * i : 0;
  takt_value_t arguments[3];
  arguments[0] = view_of(cpu, TAKT_ELEMENT_I8, m, k, x, m * k);
  arguments[1] = view_of(cpu, TAKT_ELEMENT_I8, k, n, w, k * n);
  arguments[2] = view_of(cpu, TAKT_ELEMENT_I32, m, n, b, m * n * 4);
  const size_t argument_count = model->has_addend ? 3 : 2;
  takt_function_t* function = find_function(context, "run");
  takt_value_t result;
  REQUIRE_OK(takt_function_invoke(function, NULL, argument_count, arguments, 1,
                                  &result));
  takt_function_release(function);
  takt_values_release(3, arguments);
  REQUIRE_OK(takt_buffer_view_copy_to_host(takt_value_as_buffer_view(&result),
                                           out, m * n * 4));
  takt_values_release(1, &result);
  int wrong = 0;
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      int32_t sum = b[i * n + j];
      for (size_t p = 0; p < k; ++p) {
        sum += (int8_t)(model->scale * x[i * k + p]) * w[p * n + j];
      }
      wrong += out[i * n + j] != sum;
    }
  }
  free(x), free(w), free(b), free(out);
  return wrong;
}

static void check_routes(const takt_npu_driver_t* driver, const char* cpu,
                         const char* policy) {
  for (size_t i = 0; i < sizeof(kModels) / sizeof(kModels[0]); ++i) {
    const model_t* model = &kModels[i];
    npu_t npu = create(driver, true, cpu, policy);
    takt_context_t* context = link_model(&npu, model->path);
    for (uint32_t call = 0; call < kCalls; ++call) {
      EXPECT(count_wrong(context, npu.devices[0], model, call) == 0);
    }
    const takt_npu_statistics_t statistics = statistics_of(&npu);
    EXPECT(statistics.taken_count >= (uint64_t)model->dispatch_count);
    EXPECT(statistics.left_to_cpu_count >= (uint64_t)model->dispatch_count);
    EXPECT(statistics.taken_count + statistics.left_to_cpu_count ==
           (uint64_t)(kCalls * model->dispatch_count));
    takt_context_release(context);
    npu_destroy(&npu);
  }
}

static void both_ways_are_right_on_threads_of_the_instance(void) {
  check_routes(takt_npu_host_driver(), "local-task", "off");
}
static void both_ways_are_right_on_threads_of_their_own(void) {
  check_routes(takt_npu_sim_driver(), "local-task", "off");
}
static void both_ways_are_right_beside_a_cpu_without_threads(void) {
  check_routes(takt_npu_sim_driver(), "local-sync", "off");
}
static void both_ways_are_right_under_every_policy(void) {
  const char* const* names = NULL;
  const size_t count = takt_scheduler_policy_names(&names);
  for (size_t i = 1; i < count; ++i) {
    check_routes(takt_npu_host_driver(), "local-task", names[i]);
    check_routes(takt_npu_sim_driver(), "local-task", names[i]);
  }
}

static void all_go_to_the_npu_if_that_is_asked_for(void) {
  const model_t* model = &kModels[1];
  npu_t npu = create(takt_npu_sim_driver(), false, "local-task", "off");
  takt_context_t* context = link_model(&npu, model->path);
  for (uint32_t call = 0; call < 3; ++call) {
    EXPECT(count_wrong(context, npu.devices[0], model, call) == 0);
  }
  const takt_npu_statistics_t statistics = statistics_of(&npu);
  EXPECT(statistics.operation_count > 0);
  EXPECT(statistics.taken_count == 0);
  EXPECT(statistics.left_to_cpu_count == 0);
  takt_context_release(context);
  npu_destroy(&npu);
}

static void one_way_is_left_where_there_is_no_other(void) {
  /* A module without the CPU's code, and one without a CPU beside it. */
  npu_t npu = create(takt_npu_sim_driver(), true, "local-task", "off");
  const model_t route_a = {
      TESTDATA("npu/route_a.vmfb"), 32, 64, 48, 2, true, 0};
  takt_context_t* context = link_model(&npu, route_a.path);
  for (uint32_t call = 0; call < 3; ++call) {
    EXPECT(count_wrong(context, npu.devices[0], &route_a, call) == 0);
  }
  EXPECT(statistics_of(&npu).taken_count == 0);
  EXPECT(statistics_of(&npu).left_to_cpu_count == 0);
  takt_context_release(context);
  npu_destroy(&npu);
}

static void contexts_that_share_what_was_linked_share_both_ways(void) {
  const model_t* model = &kModels[1];
  npu_t npu = create(takt_npu_sim_driver(), true, "local-task", "off");
  takt_module_t* module = load_module(npu.instance, model->path);
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = &module;
  options.module_count = 1;
  options.devices = npu.devices;
  options.device_count = 2;
  takt_context_t* contexts[3];
  for (int i = 0; i < 3; ++i) {
    REQUIRE_OK(takt_context_create(npu.instance, &options, &contexts[i]));
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT(count_wrong(contexts[i], npu.devices[0], model, 40 + i) == 0);
  }
  const takt_npu_statistics_t statistics = statistics_of(&npu);
  EXPECT(statistics.taken_count + statistics.left_to_cpu_count ==
         (uint64_t)(3 * model->dispatch_count));
  EXPECT(statistics.left_to_cpu_count > 0);
  for (int i = 0; i < 3; ++i) takt_context_release(contexts[i]);
  takt_module_release(module);
  npu_destroy(&npu);
}

/* A dispatch says which way it went: detail 1 to the NPU, 2 to the CPU. */
static void the_trace_tells_the_way(void) {
  const model_t* model = &kModels[1];
  npu_t npu = create(takt_npu_sim_driver(), true, "local-task", "off");
  takt_context_t* context = link_model(&npu, model->path);
  REQUIRE_OK(takt_tracing_start(npu.instance, NULL));
  for (uint32_t call = 0; call < 2; ++call) {
    EXPECT(count_wrong(context, npu.devices[0], model, call) == 0);
  }
  takt_trace_contents_t* trace = collect_contents(npu.instance);
  int counts[3] = {0, 0, 0};
  for (size_t i = 0; i < takt_trace_contents_info(trace).event_count; ++i) {
    const takt_trace_event_t event = takt_trace_contents_event(trace, i);
    if (strcmp(event.kind, "dispatch") != 0) continue;
    EXPECT(event.detail <= 2);
    if (event.detail <= 2) ++counts[event.detail];
  }
  EXPECT(counts[1] >= model->dispatch_count);
  EXPECT(counts[2] >= model->dispatch_count);
  takt_trace_contents_release(trace);
  takt_context_release(context);
  npu_destroy(&npu);
}

int main(void) {
  RUN(both_ways_are_right_on_threads_of_the_instance);
  RUN(both_ways_are_right_on_threads_of_their_own);
  RUN(both_ways_are_right_beside_a_cpu_without_threads);
  RUN(both_ways_are_right_under_every_policy);
  RUN(all_go_to_the_npu_if_that_is_asked_for);
  RUN(one_way_is_left_where_there_is_no_other);
  RUN(contexts_that_share_what_was_linked_share_both_ways);
  RUN(the_trace_tells_the_way);
  return test_result();
}
