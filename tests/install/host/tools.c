// A program that uses libtakt-tools: prints the names of a module and of its
// imports.
#include <stdio.h>

#include "takt/tools/tools.h"

static int fail(takt_status_t status) {
  fprintf(stderr, "%s\n", takt_status_message(status));
  takt_status_free(status);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  takt_instance_t* instance = NULL;
  takt_module_t* module = NULL;
  takt_module_contents_t* contents = NULL;
  takt_status_t status = takt_instance_create(NULL, &instance);
  if (status == NULL) {
    status = takt_module_load_file(instance, argv[1], NULL, &module);
  }
  if (status == NULL) status = takt_module_contents_create(module, &contents);
  if (status != NULL) return fail(status);
  printf("%s:", takt_module_contents_info(contents).name);
  const size_t count = takt_module_contents_import_count(contents);
  for (size_t i = 0; i < count; ++i) {
    printf(" %s", takt_module_contents_import(contents, i).full_name);
  }
  printf("\n");
  takt_module_contents_release(contents);
  takt_module_release(module);
  /* A status of libtakt-tools, freed by libtakt. */
  takt_plan_problem_t* problem = NULL;
  status = takt_plan_problem_parse("x", 1, TAKT_PLAN_FORMAT_FJS, &problem);
  if (takt_status_code(status) != TAKT_STATUS_INVALID_ARGUMENT) return 1;
  takt_status_free(status);
  takt_instance_release(instance);
  return 0;
}
