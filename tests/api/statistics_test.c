#include "takt/statistics.h"

#include "tests/api/fixture.h"

static void devices_count_their_memory(void) {
  takt_instance_t* instance = create_instance(0);
  takt_device_t* device = create_device(instance, "local-sync");
  takt_device_statistics_t before;
  memset(&before, 0, sizeof(before));
  before.struct_size = sizeof(before);
  takt_device_statistics_t after = before;
  takt_device_query_statistics(device, &before);
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_allocate(device, 1000, NULL, &buffer));
  takt_device_query_statistics(device, &after);
  EXPECT(after.bytes_reserved == before.bytes_reserved + 1000);
  EXPECT(after.bytes_committed >= before.bytes_committed + 1000);
  EXPECT(after.bytes_peak >= after.bytes_committed);
  EXPECT(after.allocation_count == before.allocation_count + 1);
  takt_buffer_release(buffer);
  takt_device_trim(device);
  takt_device_query_statistics(device, &after);
  EXPECT(after.bytes_reserved == 0 && after.bytes_committed == 0);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void an_older_struct_is_not_overrun(void) {
  takt_instance_t* instance = create_instance(0);
  takt_device_t* device = create_device(instance, "local-sync");
  takt_device_statistics_t statistics;
  memset(&statistics, 77, sizeof(statistics));
  const uint64_t untouched = statistics.bytes_peak;
  statistics.struct_size = offsetof(takt_device_statistics_t, bytes_peak);
  takt_device_query_statistics(device, &statistics);
  EXPECT(statistics.struct_size ==
         offsetof(takt_device_statistics_t, bytes_peak));
  EXPECT(statistics.bytes_reserved == 0);
  EXPECT(statistics.bytes_peak == untouched);
  EXPECT(statistics.wait_count == untouched);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void contexts_count_their_own(void) {
  fixture_t fixture =
      fixture_create("local-sync", TESTDATA("api/simple_mul.vmfb"));
  takt_context_statistics_t statistics = {sizeof(statistics), 0, 0, 0};
  takt_context_query_statistics(fixture.context, &statistics);
  EXPECT(statistics.memory_bytes > 0);
  /* At most a few pages: contexts are for having many. */
  EXPECT(statistics.memory_bytes < 16384);
  EXPECT(statistics.global_ref_count > 0);
  fixture_destroy(&fixture);
}

typedef struct costs_t {
  int count;
  uint64_t samples;
  bool has_name;
} costs_t;

static void see_cost(void* user_data, const takt_dispatch_cost_t* cost) {
  costs_t* costs = user_data;
  ++costs->count;
  costs->samples += cost->alone_count + cost->shared_count;
  costs->has_name = strstr(cost->function, "mul") != NULL;
  EXPECT(cost->alone_ns > 0 || cost->shared_ns > 0);
  EXPECT(cost->workgroup_count[0] == 1 && cost->workgroup_count[1] == 1 &&
         cost->workgroup_count[2] == 1);
}

/* Loads the rest of the fixture for its device, and calls its function. */
static void call_mul(fixture_t* f, int call_count) {
  f->module = load_module(f->instance, TESTDATA("api/simple_mul.vmfb"));
  f->context = create_context(f->instance, f->device, f->module);
  takt_function_t* function = find_function(f->context, "mul");
  static const float kData[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(f->device, 4, kData);
  const takt_value_t arguments[2] = {takt_value_ref(view),
                                     takt_value_ref(view)};
  for (int i = 0; i < call_count; ++i) {
    takt_value_t result;
    REQUIRE_OK(takt_function_invoke(function, NULL, 2, arguments, 1, &result));
    EXPECT_VIEW(takt_value_as_buffer_view(&result), "4xf32=1 4 9 16");
    takt_values_release(1, &result);
  }
  takt_buffer_view_release(view);
  takt_function_release(function);
}

static costs_t costs_after_calls(bool learns) {
  fixture_t f;
  f.instance = create_instance(1);
  takt_device_options_t options;
  takt_device_options_init(&options);
  options.learn_costs = learns;
  f.device = NULL;
  REQUIRE_OK(takt_device_create(f.instance, "local-task", &options, &f.device));
  costs_t costs = {0, 0, false};
  takt_device_visit_dispatch_costs(f.device, see_cost, &costs);
  EXPECT(costs.count == 0);
  call_mul(&f, 100);
  takt_device_visit_dispatch_costs(f.device, see_cost, &costs);
  fixture_destroy(&f);
  return costs;
}

static void devices_tell_what_they_have_learned(void) {
  const costs_t learned = costs_after_calls(true);
  EXPECT(learned.count == 1);
  EXPECT(learned.samples >= 1 && learned.samples <= 100);
  EXPECT(learned.has_name);
  EXPECT(costs_after_calls(false).count == 0);
}

typedef struct dispatches_t {
  _Atomic int count;
  _Atomic int wrong_count;
} dispatches_t;

static void see_dispatch(void* user_data, const takt_dispatch_event_t* event) {
  dispatches_t* dispatches = user_data;
  ++dispatches->count;
  const bool is_right = strstr(event->function, "mul") != NULL &&
                        event->workgroup_count[0] == 1 && event->begin_ns > 0 &&
                        event->begin_ns <= event->end_ns && event->group != 0;
  if (!is_right) ++dispatches->wrong_count;
}

/* On workers, on threads that wait, and on the caller's alone. */
static void devices_tell_of_every_dispatch(void) {
  static const struct {
    const char* device;
    int32_t worker_count;
    bool learns;
  } kCases[] = {{"local-sync", 0, true},
                {"local-task", 0, true},
                {"local-task", 2, true},
                {"local-task", 2, false}};
  for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); ++i) {
    dispatches_t dispatches = {0, 0};
    takt_device_options_t options;
    takt_device_options_init(&options);
    options.learn_costs = kCases[i].learns;
    options.on_dispatch = see_dispatch;
    options.on_dispatch_user_data = &dispatches;
    fixture_t f;
    f.instance = create_instance(kCases[i].worker_count);
    f.device = NULL;
    REQUIRE_OK(
        takt_device_create(f.instance, kCases[i].device, &options, &f.device));
    call_mul(&f, 20);
    fixture_destroy(&f);
    EXPECT(dispatches.count == 20);
    EXPECT(dispatches.wrong_count == 0);
  }
}

int main(void) {
  RUN(devices_count_their_memory);
  RUN(an_older_struct_is_not_overrun);
  RUN(contexts_count_their_own);
  RUN(devices_tell_what_they_have_learned);
  RUN(devices_tell_of_every_dispatch);
  return test_result();
}
