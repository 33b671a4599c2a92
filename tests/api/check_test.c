#include "takt/check.h"

#include "tests/api/fixture.h"

/* Collects the messages of failed expectations. */
typedef struct report_t {
  int message_count;
  char last[512];
} report_t;

static void note_failure(void* user_data, const char* message) {
  report_t* report = user_data;
  ++report->message_count;
  snprintf(report->last, sizeof(report->last), "%s", message);
}

static void failed_expectations_are_reported_and_the_program_goes_on(void) {
  takt_instance_t* instance = create_instance(0);
  takt_device_t* device = create_device(instance, "local-sync");
  report_t report = {0, ""};
  takt_module_t* modules[2] = {NULL, NULL};
  REQUIRE_OK(
      takt_check_module_create(instance, note_failure, &report, &modules[0]));
  EXPECT_TEXT(takt_module_name(modules[0]), "check");
  modules[1] = load_module(instance, TESTDATA("models/check_fails.vmvx.vmfb"));
  takt_context_t* context = create_context_of(instance, device, modules, 2);

  takt_function_t* function = find_function(context, "holds");
  EXPECT_OK(takt_function_invoke(function, NULL, 0, NULL, 0, NULL));
  EXPECT(report.message_count == 0);
  takt_function_release(function);
  function = find_function(context, "element_differs");
  EXPECT_OK(takt_function_invoke(function, NULL, 0, NULL, 0, NULL));
  EXPECT(report.message_count == 1);
  EXPECT_CONTAINS(report.last, "expect_eq");
  EXPECT_CONTAINS(report.last, "5");
  takt_function_release(function);

  takt_context_release(context);
  takt_module_release(modules[0]);
  takt_module_release(modules[1]);
  takt_device_release(device);
  takt_instance_release(instance);
}

static void needs_someone_to_report_to(void) {
  takt_instance_t* instance = create_instance(0);
  takt_module_t* module = NULL;
  EXPECT_ERROR(takt_check_module_create(instance, NULL, NULL, &module),
               TAKT_STATUS_INVALID_ARGUMENT, "callback is NULL");
  EXPECT_ERROR(takt_check_module_create(NULL, note_failure, NULL, &module),
               TAKT_STATUS_INVALID_ARGUMENT, "instance is NULL");
  EXPECT(module == NULL);
  takt_instance_release(instance);
}

int main(void) {
  RUN(failed_expectations_are_reported_and_the_program_goes_on);
  RUN(needs_someone_to_report_to);
  return test_result();
}
