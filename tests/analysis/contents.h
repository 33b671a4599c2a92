/* Contents of plans, traces and modules, for tests. */
#ifndef TAKT_TESTS_ANALYSIS_CONTENTS_H_
#define TAKT_TESTS_ANALYSIS_CONTENTS_H_

#include "takt/tools/tools.h"
#include "tests/api/test.h"
#include "tests/support/elf_format.h"

static inline takt_plan_contents_t* plan_contents(const takt_plan_t* plan) {
  takt_plan_contents_t* contents = NULL;
  REQUIRE_OK(takt_plan_contents_create(plan, &contents));
  return contents;
}

static inline takt_module_contents_t* module_contents(takt_module_t* module) {
  takt_module_contents_t* contents = NULL;
  REQUIRE_OK(takt_module_contents_create(module, &contents));
  return contents;
}

static inline takt_trace_contents_t* trace_contents(const takt_trace_t* trace) {
  takt_trace_contents_t* contents = NULL;
  REQUIRE_OK(takt_trace_contents_create(trace, &contents));
  return contents;
}

/* What the instance has recorded. */
static inline takt_trace_contents_t* collect_contents(
    takt_instance_t* instance) {
  takt_trace_t* trace = NULL;
  REQUIRE_OK(takt_tracing_collect(instance, &trace));
  takt_trace_contents_t* contents = trace_contents(trace);
  takt_trace_release(trace);
  return contents;
}

/* The module's first executable that this machine runs. */
static inline takt_rodata_info_t find_executable(takt_module_t* module) {
  takt_module_contents_t* contents = module_contents(module);
  const size_t count = takt_module_contents_rodata_count(contents);
  for (size_t i = 0; i < count; ++i) {
    const takt_rodata_info_t info = takt_module_contents_rodata(contents, i);
    if (strcmp(info.executable_format, TAKT_ELF_FORMAT) != 0) continue;
    takt_module_contents_release(contents);
    return info;
  }
  fprintf(stderr, "no executable\n");
  exit(1);
}

#endif  // TAKT_TESTS_ANALYSIS_CONTENTS_H_
