// Calls an asynchronous function with fences: two calls are queued before their
// input exists, and run when it does.
//
//   fences simple_mul_async.vmfb
#include <stdio.h>
#include <stdlib.h>
#include <takt/takt.h>

static void check(takt_status_t status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", takt_status_message(status));
  exit(1);
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "simple_mul_async.vmfb";
  takt_instance_t* instance = NULL;
  takt_device_t* device = NULL;
  takt_module_t* module = NULL;
  check(takt_instance_create(NULL, &instance));
  check(takt_device_create(instance, "local-task", NULL, &device));
  check(takt_module_load_file(instance, path, NULL, &module));
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = &module;
  options.module_count = 1;
  options.devices = &device;
  options.device_count = 1;
  takt_context_t* context = NULL;
  takt_function_t* mul = NULL;
  check(takt_context_create(instance, &options, &context));
  check(takt_context_find_function(context, "mul", &mul));

  // Our own memory, which the camera fills.
  static _Alignas(TAKT_BUFFER_ALIGNMENT) float frame[4];
  const int64_t shape[1] = {4};
  takt_buffer_t* buffer = NULL;
  takt_buffer_view_t* input = NULL;
  check(takt_buffer_wrap(device, frame, sizeof(frame), NULL, NULL, NULL,
                         &buffer));
  check(takt_buffer_view_create(buffer, TAKT_ELEMENT_F32, 1, shape, &input));

  // square = frame * frame, fourth = square * square.
  takt_fence_t* ready = NULL;
  takt_fence_t* squared = NULL;
  takt_fence_t* done = NULL;
  check(takt_fence_create(&ready));
  check(takt_fence_create(&squared));
  check(takt_fence_create(&done));
  takt_value_t square;
  takt_value_t fourth;
  const takt_value_t first[4] = {takt_value_ref(input), takt_value_ref(input),
                                 takt_value_ref(ready),
                                 takt_value_ref(squared)};
  check(takt_function_invoke(mul, NULL, 4, first, 1, &square));
  const takt_value_t second[4] = {square, square, takt_value_ref(squared),
                                  takt_value_ref(done)};
  check(takt_function_invoke(mul, NULL, 4, second, 1, &fourth));

  for (int i = 0; i < 4; ++i) frame[i] = (float)(i + 1);
  check(takt_fence_signal(ready));
  check(takt_fence_wait(done, instance, TAKT_INFINITE_FUTURE));

  char* text = NULL;
  check(takt_buffer_view_format(takt_value_as_buffer_view(&fourth), 4, &text));
  printf("%s\n", text);  // 4xf32=1 16 81 256
  takt_string_free(text);

  takt_values_release(1, &square);
  takt_values_release(1, &fourth);
  takt_fence_release(ready);
  takt_fence_release(squared);
  takt_fence_release(done);
  takt_buffer_view_release(input);
  takt_buffer_release(buffer);
  takt_function_release(mul);
  takt_context_release(context);
  takt_module_release(module);
  takt_device_release(device);
  takt_instance_release(instance);
  return 0;
}
