#include "takt/tools/workload.h"

#include "tests/analysis/contents.h"
#include "tests/api/test.h"

static const char kWorkload[] =
    "{\"name\": \"w\", \"topology\": {\"clusters\": [{\"name\": \"big\","
    " \"cpus\": \"0-1\"}]},"
    " \"modules\": [{\"name\": \"policy\", \"file\": \"p.vmfb\","
    "   \"parameters\": [\"w.irpa\"]}],"
    " \"functions\": [{\"function\": \"policy.act\","
    "   \"inputs\": [\"4xf32=1\", \"2\"]}],"
    " \"streams\": [{\"name\": \"s\", \"function\": \"policy.act\","
    "   \"period_ms\": 5}]}";

static const char kProfile[] =
    "{\"format\": \"takt-profile\", \"version\": 1,"
    " \"modules\": [{\"name\": \"policy\","
    "   \"content_hash\": \"00000000000000ab\"}],"
    " \"functions\": [{\"name\": \"policy.act\","
    "   \"attributes\": {\"takt.deadline_ns\": \"400000\"}}],"
    " \"kernels\": [{\"name\": \"k\", \"module_name\": \"policy\","
    "   \"alternatives\": [{\"pool\": \"big\", \"q50_us\": 100,"
    "     \"q90_us\": 110, \"q99_us\": 130, \"samples\": 50,"
    "     \"tile_us\": 10}]}],"
    " \"programs\": [{\"name\": \"policy.act\", \"operations\":"
    "   [{\"kernel\": \"k\"}, {\"kernel\": \"k\"}]}]}";

static takt_workload_t* parse(const char* profile) {
  takt_workload_options_t options;
  takt_workload_options_init(&options);
  options.profile = profile;
  options.profile_length = profile != NULL ? strlen(profile) : 0;
  takt_workload_t* workload = NULL;
  REQUIRE_OK(
      takt_workload_parse(kWorkload, strlen(kWorkload), &options, &workload));
  return workload;
}

static void tells_what_to_profile(void) {
  takt_workload_t* workload = parse(NULL);
  const takt_workload_info_t info = takt_workload_info(workload);
  EXPECT_TEXT(info.name, "w");
  EXPECT_TEXT(info.profile_hash, "");
  EXPECT(strlen(info.topology_hash) == 16);
  EXPECT(info.module_count == 1 && info.function_count == 1);
  const takt_workload_module_t module = takt_workload_module(workload, 0);
  EXPECT_TEXT(module.file, "p.vmfb");
  EXPECT(module.parameters_count == 1);
  EXPECT_TEXT(takt_workload_module_parameters(workload, 0, 0), "w.irpa");
  EXPECT(takt_workload_module_parameters(workload, 0, 1) == NULL);
  const takt_workload_function_t function = takt_workload_function(workload, 0);
  EXPECT_TEXT(function.name, "policy.act");
  EXPECT(function.module == 0 && function.input_count == 2);
  EXPECT_TEXT(takt_workload_function_input(workload, 0, 1), "2");
  EXPECT(takt_workload_stream(workload, 0).function == 0);
  EXPECT(takt_workload_stream(workload, 1).name == NULL);
  EXPECT(takt_workload_function(workload, 1).name == NULL);
  takt_plan_t* plan = NULL;
  EXPECT_ERROR(takt_workload_plan(workload, NULL, &plan, NULL),
               TAKT_STATUS_FAILED_PRECONDITION,
               "stream s: no profile has policy.act");
  takt_workload_release(workload);
}

static void plans_what_was_profiled(void) {
  takt_workload_t* workload = parse(kProfile);
  takt_plan_t* plan = NULL;
  takt_workload_plan_report_t report;
  REQUIRE_OK(takt_workload_plan(workload, NULL, &plan, &report));
  EXPECT(report.late_count == 0);
  takt_plan_contents_t* contents = plan_contents(plan);
  const takt_plan_info_t info = takt_plan_contents_info(contents);
  EXPECT(info.period_ns == 5000000 && info.operation_count == 2);
  EXPECT(info.makespan_ns == 220000);
  EXPECT_TEXT(takt_plan_contents_module(contents, 0).content_hash,
              "00000000000000ab");
  /* The module's annotation, since the stream says nothing else. */
  const takt_planned_job_t job = takt_plan_contents_job(contents, 0);
  EXPECT(job.deadline_ns == 400000 && job.instance == 0);
  EXPECT_TEXT(job.stream, "s");
  size_t fault_count = 1;
  char* faults = NULL;
  REQUIRE_OK(takt_plan_find_faults(plan, &fault_count, &faults));
  EXPECT(fault_count == 0);
  takt_string_free(faults);
  takt_plan_contents_release(contents);
  takt_plan_release(plan);
  takt_workload_retain(workload);
  takt_workload_release(workload);
  takt_workload_release(workload);
}

static void see_bound(void* user_data, const takt_response_bound_t* bound) {
  *(int*)user_data += 1;
  EXPECT_TEXT(bound->stream, "s");
  EXPECT_TEXT(bound->reason, "");
  EXPECT(bound->least_ns == 260000);
  EXPECT(bound->bound_ns >= 260000 && bound->bound_ns < 5000000);
  EXPECT(bound->deadline_ns == 400000);
}

static void bounds_responses(void) {
  takt_workload_t* workload = parse(kProfile);
  int count = 0;
  REQUIRE_OK(takt_workload_analyse(workload, see_bound, &count));
  EXPECT(count == 1);
  takt_workload_release(workload);
}

static void refuses_what_is_none(void) {
  takt_workload_t* workload = NULL;
  EXPECT_ERROR(takt_workload_parse("{", 1, NULL, &workload),
               TAKT_STATUS_INVALID_ARGUMENT, "JSON");
  EXPECT_ERROR(takt_workload_parse(NULL, 0, NULL, &workload),
               TAKT_STATUS_INVALID_ARGUMENT, "json is NULL");
  EXPECT(workload == NULL);
  takt_workload_release(NULL);
}

int main(void) {
  RUN(tells_what_to_profile);
  RUN(plans_what_was_profiled);
  RUN(bounds_responses);
  RUN(refuses_what_is_none);
  return test_result();
}
