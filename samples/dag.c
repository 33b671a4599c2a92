// Issues five calls, ordered by three fences, before any of them can run:
//   dag dag.cpu.async.vmfb [order, such as 43210]
#include <stdio.h>
#include <stdlib.h>
#include <takt/takt.h>

static void check(takt_status_t status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", takt_status_message(status));
  exit(1);
}

int main(int argc, char** argv) {
  takt_instance_t* instance = NULL;
  takt_device_t* device = NULL;
  takt_module_t* module = NULL;
  check(takt_instance_create(NULL, &instance));
  check(takt_device_create(instance, "local-task", NULL, &device));
  check(takt_module_load_file(
      instance, argc > 1 ? argv[1] : "dag.cpu.async.vmfb", NULL, &module));
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = &module;
  options.module_count = 1;
  options.devices = &device;
  options.device_count = 1;
  takt_context_t* context = NULL;
  check(takt_context_create(instance, &options, &context));

  // Tensors p, q, u, v, w, x, y: each call writes into its last tensor.
  const int64_t shape[1] = {4};
  const float data[4] = {1, 2, 3, 4};
  takt_buffer_view_t* tensors[7];
  for (int i = 0; i < 7; ++i) {
    check(takt_buffer_view_copy_from_host(device, TAKT_ELEMENT_F32, 1, shape,
                                          data, sizeof(data), &tensors[i]));
  }
  takt_fence_t *a = NULL, *b = NULL, *c = NULL;  // fn1 to fn4 signal c.
  check(takt_fence_create(&a));
  check(takt_fence_create(&b));
  check(takt_fence_create_barrier(4, &c));

  const struct {
    const char* name;
    int input, output;
    takt_fence_t *wait, *signal;
  } calls[5] = {{"fn0", 0, 2, a, b},     // u = 2 p
                {"fn1", 2, 3, b, c},     // v = u + 1
                {"fn2", 2, 4, b, c},     // w = u u
                {"fn3", 1, 5, NULL, c},  // x = -q, waits for nothing
                {"fn4", 0, 6, a, c}};    // y = p - 1
  const char* order = argc > 2 ? argv[2] : "01234";
  for (int i = 0; i < 5; ++i) {
    const int call = order[i] - '0';
    takt_function_t* function = NULL;
    check(takt_context_find_function(context, calls[call].name, &function));
    const takt_value_t arguments[2] = {
        takt_value_ref(tensors[calls[call].input]),
        takt_value_ref(tensors[calls[call].output])};
    check(takt_async_invoke(function, NULL, 2, arguments, calls[call].wait,
                            calls[call].signal, NULL));
    takt_function_release(function);
  }
  check(takt_fence_signal(a));
  check(takt_fence_wait(c, instance, TAKT_INFINITE_FUTURE));
  for (int i = 0; i < 7; ++i) {
    char* text = NULL;
    check(takt_buffer_view_format(tensors[i], 4, &text));
    if (i >= 3) printf("%s\n", text);
    takt_string_free(text);
    takt_buffer_view_release(tensors[i]);
  }
  takt_fence_release(a), takt_fence_release(b), takt_fence_release(c);
  takt_context_release(context);
  takt_module_release(module);
  takt_device_release(device);
  takt_instance_release(instance);
  return 0;
}
