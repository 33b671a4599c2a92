/* Links the fixtures that compute a product, and calls them with numbers whose
 * result is known. */
#ifndef TAKT_TESTS_API_NPU_PRODUCT_H_
#define TAKT_TESTS_API_NPU_PRODUCT_H_

#include "tests/api/npu_fixture.h"

enum { kRows = 32, kDepth = 64, kColumns = 48 };

static inline takt_context_t* link_module(const npu_t* npu, const char* path,
                                          size_t device_count,
                                          takt_device_t* const* devices,
                                          takt_status_t* out_status) {
  takt_module_t* module = load_module(npu->instance, path);
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = &module;
  options.module_count = 1;
  options.devices = devices;
  options.device_count = device_count;
  takt_context_t* context = NULL;
  *out_status = takt_context_create(npu->instance, &options, &context);
  takt_module_release(module);
  return context;
}

static inline takt_value_t view_of(takt_device_t* device,
                                   takt_element_type_t type, int64_t rows,
                                   int64_t columns, const void* data,
                                   size_t byte_length) {
  const int64_t shape[2] = {rows, columns};
  takt_buffer_view_t* view = NULL;
  REQUIRE_OK(takt_buffer_view_copy_from_host(device, type, 2, shape, data,
                                             byte_length, &view));
  return takt_value_ref(view);
}

/* (`scale` * x) * w + b, as the fixtures compute it. Returns the status of the
 * call; on success the result has been compared. */
static inline takt_status_t run_product_with(
    takt_context_t* context, takt_device_t* cpu, int32_t scale,
    const takt_invoke_options_t* options) {
  static _Thread_local int8_t x[kRows * kDepth], w[kDepth * kColumns];
  static _Thread_local int32_t b[kRows * kColumns], out[kRows * kColumns];
  uint32_t random = 12345;
  for (int i = 0; i < kRows * kDepth; ++i) {
    random = random * 1664525u + 1013904223u;
    x[i] = (int8_t)((int32_t)(random >> 24) - 128) / 2;
  }
  for (int i = 0; i < kDepth * kColumns; ++i) {
    random = random * 1664525u + 1013904223u;
    w[i] = (int8_t)((int32_t)(random >> 24) - 128);
  }
  for (int i = 0; i < kRows * kColumns; ++i) b[i] = 1000 * i;
  takt_value_t arguments[3] = {
      view_of(cpu, TAKT_ELEMENT_I8, kRows, kDepth, x, sizeof(x)),
      view_of(cpu, TAKT_ELEMENT_I8, kDepth, kColumns, w, sizeof(w)),
      view_of(cpu, TAKT_ELEMENT_I32, kRows, kColumns, b, sizeof(b))};
  takt_function_t* function = find_function(context, "run");
  takt_value_t result;
  takt_status_t status =
      takt_function_invoke(function, options, 3, arguments, 1, &result);
  takt_function_release(function);
  takt_values_release(3, arguments);
  if (takt_status_code(status) != TAKT_STATUS_OK) return status;
  REQUIRE_OK(takt_buffer_view_copy_to_host(takt_value_as_buffer_view(&result),
                                           out, sizeof(out)));
  takt_values_release(1, &result);
  int wrong = 0;
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      int32_t sum = b[i * kColumns + j];
      for (int k = 0; k < kDepth; ++k) {
        sum += (int8_t)(scale * x[i * kDepth + k]) * w[k * kColumns + j];
      }
      wrong += out[i * kColumns + j] != sum;
    }
  }
  EXPECT(wrong == 0);
  return NULL;
}

static inline takt_status_t run_product(takt_context_t* context,
                                        takt_device_t* cpu, int32_t scale) {
  return run_product_with(context, cpu, scale, NULL);
}

#endif /* TAKT_TESTS_API_NPU_PRODUCT_H_ */
