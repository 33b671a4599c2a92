/* Plans: from a solved problem, to a file and back, checked and looked into. */
#include "takt/tools/plan_contents.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/analysis/contents.h"
#include "tests/api/fixture.h"
#include "tests/api/test.h"

/* Two operations in a chain: 3 on machine 0, then 2 on machine 1. */
static takt_plan_t* solved_plan(void) {
  const uint32_t machines[2] = {0, 1};
  const takt_plan_alternative_t ways[2] = {{&machines[0], 1, 3},
                                           {&machines[1], 1, 2}};
  const takt_plan_operation_t operations[2] = {{&ways[0], 1, 0, 0, 0, 0, 0},
                                               {&ways[1], 1, 0, 0, 0, 0, 0}};
  const takt_plan_precedence_t precedence = {0, 1};
  takt_plan_problem_t* problem = NULL;
  REQUIRE_OK(takt_plan_problem_create(2, 2, operations, 1, &precedence, NULL,
                                      &problem));
  const takt_plan_entry_t entries[2] = {{0, 0}, {0, 3}};
  takt_plan_schedule_t* schedule = NULL;
  REQUIRE_OK(takt_plan_schedule_create(2, entries, 5, &schedule));
  takt_plan_t* plan = NULL;
  REQUIRE_OK(takt_plan_create_from_schedule(problem, schedule, 5, &plan));
  takt_plan_schedule_release(schedule);
  /* A schedule of another problem is refused. */
  const takt_plan_entry_t wrong[2] = {{0, 0}, {0, 2}};
  REQUIRE_OK(takt_plan_schedule_create(2, wrong, 4, &schedule));
  takt_plan_t* none = NULL;
  EXPECT_ERROR(takt_plan_create_from_schedule(problem, schedule, 0, &none),
               TAKT_STATUS_INVALID_ARGUMENT, "operation 1");
  EXPECT(none == NULL);
  takt_plan_schedule_release(schedule);
  takt_plan_problem_release(problem);
  return plan;
}

/* Whether module 0 of the plan has the content hash of some module. */
static bool is_bound(const takt_plan_t* plan) {
  takt_plan_contents_t* contents = plan_contents(plan);
  const takt_planned_module_t module = takt_plan_contents_module(contents, 0);
  const size_t digit_count = strlen(module.content_hash);
  EXPECT(digit_count == 0 || digit_count == 16);
  EXPECT(module.name[0] != 0);
  takt_plan_contents_release(contents);
  return digit_count == 16;
}

static void expect_solved(const takt_plan_t* plan) {
  takt_plan_contents_t* contents = plan_contents(plan);
  const takt_plan_info_t info = takt_plan_contents_info(contents);
  EXPECT(info.makespan_ns == 5 && info.lower_bound_ns == 5);
  EXPECT(info.period_ns == 0);
  EXPECT(info.module_count == 1 && info.resource_count == 2);
  EXPECT(info.job_count == 1 && info.operation_count == 2);
  EXPECT_TEXT(takt_plan_contents_module(contents, 0).name, "problem");
  EXPECT_TEXT(takt_plan_contents_module(contents, 0).content_hash, "");
  EXPECT_TEXT(takt_plan_contents_resource(contents, 1).name, "machine 1");
  EXPECT(!takt_plan_contents_resource(contents, 1).is_npu);
  EXPECT_TEXT(takt_plan_contents_job(contents, 0).name, "job 0");
  EXPECT(takt_plan_contents_job(contents, 0).deadline_ns ==
         TAKT_INFINITE_FUTURE);
  const takt_planned_operation_t second =
      takt_plan_contents_operation(contents, 1);
  EXPECT_TEXT(second.name, "operation 1");
  EXPECT(second.start_ns == 3 && second.duration_ns == 2);
  EXPECT(second.job == 0 && second.module == 0 && second.ordinal == 1);
  EXPECT(second.resource_count == 1 && second.resources[0] == 1);
  EXPECT(second.predecessor_count == 1 && second.predecessors[0] == 0);
  EXPECT(takt_plan_contents_operation(contents, 2).name == NULL);
  EXPECT(takt_plan_contents_resource(contents, 2).name == NULL);
  EXPECT(takt_plan_contents_job(contents, 1).name == NULL);
  EXPECT(takt_plan_contents_module(contents, 1).name == NULL);
  takt_plan_contents_retain(contents);
  takt_plan_contents_release(contents);
  takt_plan_contents_release(contents);
}

static void goes_to_a_file_and_back(void) {
  takt_plan_t* plan = solved_plan();
  expect_solved(plan);
  char path[] = "/tmp/takt_plan_XXXXXX";
  const int fd = mkstemp(path);
  EXPECT(fd >= 0);
  REQUIRE_OK(takt_plan_save_file(plan, path));
  takt_plan_release(plan);
  REQUIRE_OK(takt_plan_load_file(path, &plan));
  expect_solved(plan);
  takt_plan_retain(plan);
  takt_plan_release(plan);
  takt_plan_release(plan);
  /* The same from memory, at an odd address. */
  char bytes[4097];
  FILE* file = fopen(path, "rb");
  const size_t length = fread(bytes + 1, 1, sizeof(bytes) - 1, file);
  fclose(file);
  REQUIRE_OK(takt_plan_load("mine", bytes + 1, length, &plan));
  expect_solved(plan);
  takt_plan_release(plan);
  EXPECT_ERROR(takt_plan_load("mine", bytes + 1, length / 2, &plan),
               TAKT_STATUS_INVALID_ARGUMENT, "mine: plan: ");
  EXPECT(plan == NULL);
  close(fd);
  remove(path);
}

static const char kOverlapping[] =
    "{\"dispatches\": {"
    "\"a\": {\"hardware_target\": \"CPU#0\", \"start_time\": 0, \"duration\": "
    "2, \"job_name\": \"j\", \"module_name\": \"m\"},"
    "\"b\": {\"hardware_target\": \"CPU#0\", \"start_time\": 1, \"duration\": "
    "2, \"job_name\": \"j\", \"module_name\": \"m\"}}}";

static void faults_are_found_and_named(void) {
  takt_plan_t* plan = solved_plan();
  size_t count = 9;
  char* text = NULL;
  REQUIRE_OK(takt_plan_find_faults(plan, &count, &text));
  EXPECT(count == 0);
  EXPECT_TEXT(text, "");
  takt_string_free(text);
  takt_plan_release(plan);
  REQUIRE_OK(
      takt_plan_import_schedule(kOverlapping, strlen(kOverlapping), &plan));
  REQUIRE_OK(takt_plan_find_faults(plan, &count, &text));
  EXPECT(count == 1);
  EXPECT_TEXT(text,
              "overlap: \"b\" is on CPU#0 from 1000000 ns, where \"a\" is "
              "until 2000000\n");
  takt_string_free(text);
  REQUIRE_OK(takt_plan_export_schedule(plan, &text));
  EXPECT_CONTAINS(text, "\"hardware_target\": \"CPU#0\"");
  takt_string_free(text);
  takt_plan_release(plan);
}

static void bad_input_is_refused(void) {
  takt_plan_t* plan = NULL;
  EXPECT_ERROR(takt_plan_load_file("/nonexistent", &plan),
               TAKT_STATUS_NOT_FOUND, "/nonexistent");
  EXPECT_ERROR(takt_plan_load_file(NULL, &plan), TAKT_STATUS_INVALID_ARGUMENT,
               "path");
  EXPECT_ERROR(takt_plan_load_file("/dev/null", &plan),
               TAKT_STATUS_INVALID_ARGUMENT, "/dev/null");
  EXPECT_ERROR(takt_plan_load(NULL, NULL, 0, &plan),
               TAKT_STATUS_INVALID_ARGUMENT, "no plan file");
  EXPECT_ERROR(takt_plan_import_schedule("{}", 2, &plan),
               TAKT_STATUS_INVALID_ARGUMENT, "dispatches");
  EXPECT(plan == NULL);
  plan = solved_plan();
  EXPECT_ERROR(takt_plan_save_file(plan, "/nonexistent/plan"),
               TAKT_STATUS_NOT_FOUND, "/nonexistent/plan");
  takt_plan_release(plan);
}

static void is_bound_to_modules_by_content(void) {
  takt_plan_t* plan = NULL;
  REQUIRE_OK(
      takt_plan_import_schedule(kOverlapping, strlen(kOverlapping), &plan));
  EXPECT(!is_bound(plan));
  takt_instance_t* instance = create_instance(0);
  takt_module_t* module = load_module(instance, TESTDATA("vm/vm_loops.vmfb"));
  takt_module_t* other = load_module(instance, TESTDATA("vm/buffers.vmfb"));
  takt_plan_t* bound = NULL;
  REQUIRE_OK(takt_plan_bind_module(plan, 0, module, &bound));
  EXPECT(is_bound(bound));
  EXPECT(!is_bound(plan));
  takt_plan_t* again = NULL;
  REQUIRE_OK(takt_plan_bind_module(bound, 0, module, &again));
  takt_plan_release(again);
  again = NULL;
  EXPECT_ERROR(takt_plan_bind_module(bound, 0, other, &again),
               TAKT_STATUS_FAILED_PRECONDITION, "is bound to the content");
  EXPECT_ERROR(takt_plan_bind_module(plan, 1, module, &again),
               TAKT_STATUS_OUT_OF_RANGE, "module 1 of a plan of 1");
  EXPECT_ERROR(takt_plan_bind_module(plan, 0, NULL, &again),
               TAKT_STATUS_INVALID_ARGUMENT, "module");
  EXPECT(again == NULL);
  takt_plan_release(bound);
  takt_plan_release(plan);
  takt_module_release(other);
  takt_module_release(module);
  takt_instance_release(instance);
}

int main(void) {
  RUN(goes_to_a_file_and_back);
  RUN(faults_are_found_and_named);
  RUN(bad_input_is_refused);
  RUN(is_bound_to_modules_by_content);
  return test_result();
}
