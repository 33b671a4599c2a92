/* A driver for an NPU that is one loop on the CPU; vendors can start from it.
 * It needs only takt/npu_driver.h. It multiplies bytes, and runs programs in
 * its own format: the text "NPU-PROGRAM-BYTES-v1" stands for one function,
 * npu_matmul_i8(m, n, k; left, right, out).
 *
 *   cc -shared -fPIC example_driver.c -o example_driver.so
 *   takt-npu-conformance example_driver.so
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "takt/npu_driver.h"

static const char kProgram[] = "NPU-PROGRAM-BYTES-v1";

typedef struct example_unit_t {
  uint64_t batch_count;
} example_unit_t;

static takt_npu_result_t example_open(const takt_npu_host_t* host,
                                      const char* options, void** out_unit,
                                      char* error, size_t error_bytes) {
  (void)host;
  if (options[0] != '\0') {
    snprintf(error, error_bytes, "no such option: %s", options);
    return TAKT_NPU_RESULT_INVALID;
  }
  *out_unit = calloc(1, sizeof(example_unit_t));
  return *out_unit != NULL ? TAKT_NPU_RESULT_OK : TAKT_NPU_RESULT_NO_MEMORY;
}

static void example_close(void* unit) { free(unit); }

static takt_npu_result_t example_query(void* unit,
                                       takt_npu_capabilities_t* out) {
  takt_npu_capabilities_t capabilities;
  (void)unit;
  memset(&capabilities, 0, sizeof(capabilities));
  snprintf(capabilities.name, sizeof(capabilities.name), "example");
  capabilities.flags =
      TAKT_NPU_HOST_MEMORY | TAKT_NPU_ON_CALLER | TAKT_NPU_COHERENT;
  capabilities.kinds = 1u << TAKT_NPU_KIND_MMT4D | 1u << TAKT_NPU_KIND_PROGRAM;
  capabilities.types = 1u << TAKT_NPU_TYPE_S8_S8_S32;
  capabilities.batch_max = 4;
  /* The caller may know less than this header. */
  const size_t size = out->struct_size < sizeof(capabilities)
                          ? out->struct_size
                          : sizeof(capabilities);
  capabilities.struct_size = out->struct_size;
  memcpy(out, &capabilities, size);
  return TAKT_NPU_RESULT_OK;
}

static takt_npu_result_t run_product(const takt_npu_mmt4d_t* p) {
  if (p->type != TAKT_NPU_TYPE_S8_S8_S32) return TAKT_NPU_RESULT_UNSUPPORTED;
  const int8_t* left = (const int8_t*)p->left.data;
  const int8_t* right = (const int8_t*)p->right.data;
  uint32_t* out = (uint32_t*)p->out.data;
  for (int64_t i = 0; i < p->m * p->m0; ++i) {
    for (int64_t j = 0; j < p->n * p->n0; ++j) {
      const int8_t* x = left + i / p->m0 * p->left_stride + i % p->m0 * p->k0;
      const int8_t* y = right + j / p->n0 * p->right_stride + j % p->n0 * p->k0;
      uint32_t* target = out + i / p->m0 * p->out_stride +
                         j / p->n0 * p->m0 * p->n0 + i % p->m0 * p->n0 +
                         j % p->n0;
      uint32_t sum = p->accumulate ? *target : 0;
      for (int64_t k = 0; k < p->k; ++k) {
        for (int64_t k0 = 0; k0 < p->k0; ++k0) {
          sum +=
              (uint32_t)(x[k * p->m0 * p->k0 + k0] * y[k * p->n0 * p->k0 + k0]);
        }
      }
      *target = sum;
    }
  }
  return TAKT_NPU_RESULT_OK;
}

static takt_npu_result_t run_program(const takt_npu_program_t* p) {
  if (p->program != 1 || p->function != 0 || p->constant_count != 3 ||
      p->binding_count != 3) {
    return TAKT_NPU_RESULT_INVALID;
  }
  const uint64_t m = p->constants[0], n = p->constants[1], k = p->constants[2];
  if (m > 4096 || n > 4096 || k > 4096 || p->bindings[0].byte_length < m * k ||
      p->bindings[1].byte_length < k * n ||
      p->bindings[2].byte_length < m * n * 4) {
    return TAKT_NPU_RESULT_INVALID;
  }
  const int8_t* left = (const int8_t*)p->bindings[0].data;
  const int8_t* right = (const int8_t*)p->bindings[1].data;
  uint32_t* out = (uint32_t*)p->bindings[2].data;
  for (uint64_t i = 0; i < m; ++i) {
    for (uint64_t j = 0; j < n; ++j) {
      uint32_t sum = 0;
      for (uint64_t q = 0; q < k; ++q) {
        sum += (uint32_t)(left[i * k + q] * right[q * n + j]);
      }
      out[i * n + j] = sum;
    }
  }
  return TAKT_NPU_RESULT_OK;
}

static takt_npu_result_t example_submit(void* unit,
                                        const takt_npu_batch_t* batch) {
  takt_npu_result_t result = TAKT_NPU_RESULT_OK;
  for (size_t i = 0; i < batch->operation_count; ++i) {
    const takt_npu_operation_t* operation = &batch->operations[i];
    if (operation->kind == TAKT_NPU_KIND_MMT4D) {
      result = run_product(&operation->mmt4d);
    } else if (operation->kind == TAKT_NPU_KIND_PROGRAM) {
      result = run_program(&operation->program);
    } else {
      result = TAKT_NPU_RESULT_UNSUPPORTED;
    }
    if (result != TAKT_NPU_RESULT_OK) break;
  }
  ++((example_unit_t*)unit)->batch_count;
  batch->complete(batch->user_data, batch->id, result);
  return TAKT_NPU_RESULT_OK;
}

static takt_npu_result_t example_cancel(void* unit, uint64_t id) {
  (void)unit, (void)id; /* Nothing runs when submit() has returned. */
  return TAKT_NPU_RESULT_OK;
}

static takt_npu_result_t example_reset(void* unit) {
  (void)unit;
  return TAKT_NPU_RESULT_OK;
}

static takt_npu_result_t example_load_program(void* unit, const uint8_t* data,
                                              size_t byte_length,
                                              uint64_t* out_program) {
  (void)unit;
  if (byte_length != strlen(kProgram) ||
      memcmp(data, kProgram, byte_length) != 0) {
    return TAKT_NPU_RESULT_INVALID;
  }
  *out_program = 1;
  return TAKT_NPU_RESULT_OK;
}

static void example_unload_program(void* unit, uint64_t program) {
  (void)unit, (void)program;
}

static takt_npu_result_t example_describe_function(void* unit, uint64_t program,
                                                   uint64_t function,
                                                   takt_npu_function_t* out) {
  (void)unit;
  if (program != 1 || function != 0) return TAKT_NPU_RESULT_INVALID;
  snprintf(out->name, sizeof(out->name), "npu_matmul_i8");
  out->constant_count = 3;
  out->binding_count = 3;
  return TAKT_NPU_RESULT_OK;
}

/* Maintain the caches here if they are not coherent. */
static takt_npu_result_t example_sync_memory(void* unit, void* data,
                                             uint64_t byte_length) {
  (void)unit, (void)data, (void)byte_length;
  return TAKT_NPU_RESULT_OK;
}

static const takt_npu_driver_t kDriver = {
    .struct_size = sizeof(takt_npu_driver_t),
    .version = TAKT_NPU_DRIVER_VERSION,
    .name = "example",
    .open = &example_open,
    .close = &example_close,
    .query = &example_query,
    .submit = &example_submit,
    .cancel = &example_cancel,
    .reset = &example_reset,
    .load_program = &example_load_program,
    .unload_program = &example_unload_program,
    .describe_function = &example_describe_function,
    .flush_memory = &example_sync_memory,
    .invalidate_memory = &example_sync_memory,
};

__attribute__((visibility("default"))) const takt_npu_driver_t*
takt_npu_driver_query(uint32_t version);
const takt_npu_driver_t* takt_npu_driver_query(uint32_t version) {
  return version == TAKT_NPU_DRIVER_VERSION ? &kDriver : NULL;
}
