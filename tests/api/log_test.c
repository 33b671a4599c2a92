#include "takt/log_sink.h"
#include "tests/api/fixture.h"

typedef struct record_t {
  int message_count;
  takt_log_severity_t severity;
  char last[256];
} record_t;

static void note_message(void* user_data, takt_log_severity_t severity,
                         const char* message) {
  record_t* record = user_data;
  ++record->message_count;
  record->severity = severity;
  snprintf(record->last, sizeof(record->last), "%s", message);
}

static void what_modules_trace_goes_to_the_callers_sink(void) {
  record_t record = {0, TAKT_LOG_ERROR, ""};
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_count = 0;
  options.log_sink.user_data = &record;
  options.log_sink.write = note_message;
  fixture_t fixture;
  fixture.instance = NULL;
  REQUIRE_OK(takt_instance_create(&options, &fixture.instance));
  fixture.device = create_device(fixture.instance, "local-sync");
  fixture.module =
      load_module(fixture.instance, TESTDATA("models/trace.vmvx.vmfb"));
  fixture.context =
      create_context(fixture.instance, fixture.device, fixture.module);

  takt_function_t* function = find_function(fixture.context, "t");
  const float values[4] = {1, 2, 3, 4};
  takt_buffer_view_t* view = float_view(fixture.device, 4, values);
  const takt_value_t argument = takt_value_ref(view);
  takt_value_t result;
  REQUIRE_OK(takt_function_invoke(function, NULL, 1, &argument, 1, &result));
  EXPECT(record.message_count >= 1);
  EXPECT(record.severity == TAKT_LOG_INFO);
  EXPECT_CONTAINS(record.last, "4xf32=2 4 6 8");
  EXPECT_VIEW(takt_value_as_buffer_view(&result), "4xf32=2 8 18 32");
  takt_values_release(1, &result);
  takt_buffer_view_release(view);
  takt_function_release(function);
  fixture_destroy(&fixture);
}

int main(void) {
  RUN(what_modules_trace_goes_to_the_callers_sink);
  return test_result();
}
