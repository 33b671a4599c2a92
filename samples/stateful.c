// Calls a program with state without fences. The module's own timeline makes
// the calls take effect in the order of issue. Two contexts have separate
// states and run at the same time.
//
//   stateful state.cpu.async.vmfb
#include <stdio.h>
#include <stdlib.h>
#include <takt/takt.h>

static void check(takt_status_t status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", takt_status_message(status));
  exit(1);
}

// Issues context.name(argument). Returns the invocation in `out` if not NULL.
static void issue(takt_context_t* context, const char* name,
                  takt_buffer_view_t* argument, takt_invocation_t** out) {
  takt_function_t* function = NULL;
  check(takt_context_find_function(context, name, &function));
  const takt_value_t value = takt_value_ref(argument);
  check(takt_async_invoke(function, NULL, argument != NULL ? 1 : 0, &value,
                          NULL, NULL, out));
  takt_function_release(function);
}

int main(int argc, char** argv) {
  takt_instance_t* instance = NULL;
  takt_device_t* device = NULL;
  takt_module_t* module = NULL;
  check(takt_instance_create(NULL, &instance));
  check(takt_device_create(instance, "local-task", NULL, &device));
  check(takt_module_load_file(
      instance, argc > 1 ? argv[1] : "state.cpu.async.vmfb", NULL, &module));
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = &module;
  options.module_count = 1;
  options.devices = &device;
  options.device_count = 1;

  const int64_t shape[2] = {2, 2};
  const float data[4][4] = {
      {1, 2, 3, 4}, {0, 1, 1, 0}, {2, 0, 0, 1}, {1, 1, 0, 1}};
  takt_buffer_view_t* x[4];
  for (int i = 0; i < 4; ++i) {
    check(takt_buffer_view_copy_from_host(device, TAKT_ELEMENT_F32, 2, shape,
                                          data[i], sizeof(data[i]), &x[i]));
  }
  takt_invocation_t* gets[2];
  for (int i = 0; i < 2; ++i) {
    takt_context_t* context = NULL;
    check(takt_context_create(instance, &options, &context));
    issue(context, "set", x[0], NULL);
    for (int j = 1; j < 4; ++j) {
      issue(context, "matmul", x[i ? 4 - j : j], NULL);
    }
    issue(context, "get", NULL, &gets[i]);
    takt_context_release(context);  // What is in flight keeps it.
  }
  for (int i = 0; i < 2; ++i) {
    takt_value_t result;
    char* text = NULL;
    check(takt_invocation_wait(gets[i], TAKT_INFINITE_FUTURE));
    check(takt_invocation_take_results(gets[i], 1, &result));
    check(
        takt_buffer_view_format(takt_value_as_buffer_view(&result), 4, &text));
    printf("%s\n", text);  // x a b c, then x c b a
    takt_string_free(text);
    takt_values_release(1, &result);
    takt_invocation_release(gets[i]);
  }
  for (int i = 0; i < 4; ++i) takt_buffer_view_release(x[i]);
  takt_module_release(module);
  takt_device_release(device);
  takt_instance_release(instance);
  return 0;
}
