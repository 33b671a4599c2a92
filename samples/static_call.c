// The smallest program on Takt: one call on the calling thread, without
// workers. scripts/small.sh --static links it with Takt, Abseil and the C++
// library into one file.
//
//   static_call fat.vmfb
#include <stdio.h>
#include <stdlib.h>
#include <takt/buffer_view.h>
#include <takt/context.h>
#include <takt/device.h>
#include <takt/function.h>
#include <takt/instance.h>
#include <takt/module.h>

static void check(takt_status_t status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", takt_status_message(status));
  exit(1);
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "fat.vmfb";
  takt_instance_options_t instance_options;
  takt_instance_t* instance;
  takt_device_t* device;
  takt_module_t* module;
  takt_context_t* context;
  takt_context_options_t options;
  takt_function_t* add;
  takt_buffer_view_t* view;
  takt_value_t inputs[2], output;
  const int64_t shape[1] = {8};
  float data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  takt_instance_options_init(&instance_options);
  instance_options.worker_count = 0;
  check(takt_instance_create(&instance_options, &instance));
  check(takt_device_create(instance, "local-sync", NULL, &device));
  check(takt_module_load_file(instance, path, NULL, &module));
  takt_context_options_init(&options);
  options.modules = &module, options.module_count = 1;
  options.devices = &device, options.device_count = 1;
  check(takt_context_create(instance, &options, &context));
  check(takt_context_find_function(context, "fat.add", &add));
  check(takt_buffer_view_copy_from_host(device, TAKT_ELEMENT_F32, 1, shape,
                                        data, sizeof(data), &view));
  inputs[0] = inputs[1] = takt_value_ref(view);
  check(takt_function_invoke(add, NULL, 2, inputs, 1, &output));
  check(takt_buffer_view_copy_to_host(takt_value_as_buffer_view(&output), data,
                                      sizeof(data)));
  printf("%g %g %g %g\n", data[0], data[1], data[2], data[3]);  // 2 4 6 8
  takt_values_release(1, &output);
  takt_buffer_view_release(view);
  takt_function_release(add);
  takt_context_release(context);
  takt_module_release(module);
  takt_device_release(device);
  takt_instance_release(instance);
  return 0;
}
