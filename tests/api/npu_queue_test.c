/* Operations that a program puts together itself, on the queue of an NPU's
 * device: what they compute on NPUs of several abilities, what their fences do,
 * and what is refused. */
#include "takt/npu_queue.h"

#include "tests/api/npu_fixture.h"

#define NO_FENCE ((takt_fence_t*)NULL)

static npu_t npu;

static takt_fence_t* make_fence(void) {
  takt_fence_t* fence = NULL;
  REQUIRE_OK(takt_fence_create(&fence));
  return fence;
}

static takt_status_t wait_for(const takt_fence_t* fence) {
  return takt_fence_wait(fence, npu.instance, TAKT_INFINITE_FUTURE);
}

/* A buffer of the CPU's device with these bytes. */
static takt_buffer_t* make_buffer(const void* bytes, size_t byte_length) {
  takt_buffer_t* buffer = NULL;
  REQUIRE_OK(takt_buffer_allocate(npu.devices[0], byte_length, NULL, &buffer));
  REQUIRE_OK(takt_buffer_write(buffer, 0, bytes, byte_length));
  return buffer;
}

static takt_buffer_range_t all_of(takt_buffer_t* buffer) {
  const takt_buffer_range_t range = {buffer, 0, 0, TAKT_WHOLE_BUFFER};
  return range;
}

static takt_npu_operation_t operation_of(takt_npu_kind_t kind) {
  takt_npu_operation_t operation;
  memset(&operation, 0, sizeof(operation));
  operation.kind = kind;
  return operation;
}

/* The bytes of the range; its whole buffer if it says so. */
static int64_t length_of(const takt_buffer_range_t* range) {
  return range->byte_length == TAKT_WHOLE_BUFFER
             ? (int64_t)takt_buffer_byte_length(range->buffer)
             : (int64_t)range->byte_length;
}

/* A batch of one fill. */
static takt_status_t queue_fill(takt_device_t* device, takt_fence_t* wait_fence,
                                takt_fence_t* signal_fence,
                                const takt_buffer_range_t* range,
                                uint32_t pattern,
                                const takt_npu_batch_options_t* options) {
  takt_npu_operation_t fill = operation_of(TAKT_NPU_KIND_FILL);
  fill.fill.size0 = 1;
  fill.fill.size1 = range->buffer != NULL ? length_of(range) / 4 : 1;
  fill.fill.stride1 = 1;
  fill.fill.pattern = pattern;
  const takt_npu_batch_description_t batch = {1, &fill, 0, NULL};
  return takt_npu_queue_batch(device, wait_fence, signal_fence, &batch, 1,
                              range, options);
}

/* A batch of one copy. */
static takt_status_t queue_copy(takt_device_t* device, takt_fence_t* wait_fence,
                                takt_fence_t* signal_fence,
                                const takt_buffer_range_t* source,
                                const takt_buffer_range_t* target,
                                const takt_npu_batch_options_t* options) {
  takt_npu_operation_t copy = operation_of(TAKT_NPU_KIND_COPY);
  copy.copy.out.buffer = 1;
  copy.copy.size0 = 1;
  copy.copy.size1 = length_of(source);
  copy.copy.in_stride1 = copy.copy.out_stride1 = 1;
  copy.copy.element_bytes = 1;
  const takt_npu_batch_description_t batch = {1, &copy, 0, NULL};
  const takt_buffer_range_t bindings[2] = {*source, *target};
  return takt_npu_queue_batch(device, wait_fence, signal_fence, &batch, 2,
                              bindings, options);
}

/* A batch of one function of a program, with at most 3 bindings. */
static takt_status_t queue_program(takt_device_t* device,
                                   takt_fence_t* signal_fence,
                                   takt_dispatch_t* dispatch) {
  takt_npu_range_t ranges[3];
  memset(ranges, 0, sizeof(ranges));
  for (uint64_t i = 0; i < 3; ++i) ranges[i].buffer = i;
  takt_npu_operation_t run = operation_of(TAKT_NPU_KIND_PROGRAM);
  run.program.function = dispatch->function;
  memcpy(run.program.workgroups, dispatch->workgroups,
         sizeof(run.program.workgroups));
  run.program.constant_count = (uint32_t)dispatch->constant_count;
  run.program.constants = dispatch->constants;
  run.program.bindings = ranges;
  run.program.binding_count = dispatch->binding_count;
  const takt_npu_batch_description_t batch = {1, &run, 1,
                                              &dispatch->executable};
  return takt_npu_queue_batch(device, NO_FENCE, signal_fence, &batch,
                              dispatch->binding_count, dispatch->bindings,
                              NULL);
}

static uint32_t random_state = 1;
static int32_t random_byte(void) {
  random_state = random_state * 1664525u + 1013904223u;
  return (int32_t)(random_state >> 24) - 128;
}

/* Matrices as they are, and as numbers. Integers of this size and their sums
 * are exact in every type. */
enum { kM = 13, kN = 21, kK = 40, kPad = 3, kElementsMax = 64 * 64 };
typedef struct matrix_t {
  int64_t rows, columns, stride;
  uint32_t element_bytes;
  bool is_float;
  bool is_bf16;
  double values[kElementsMax]; /* At the same places as the elements. */
  uint8_t bytes[kElementsMax * 4];
} matrix_t;

static void put(matrix_t* matrix, int64_t index, double value) {
  matrix->values[index] = value;
  uint8_t* const at = matrix->bytes + (size_t)index * matrix->element_bytes;
  if (!matrix->is_float) {
    const int32_t integer = (int32_t)value;
    memcpy(at, &integer, matrix->element_bytes);
    return;
  }
  const float number = (float)value;
  uint32_t bits = 0;
  memcpy(&bits, &number, sizeof(bits));
  if (matrix->element_bytes == 4) {
    memcpy(at, &bits, 4);
    return;
  }
  uint16_t half = (uint16_t)(bits >> 16);
  if (!matrix->is_bf16 && value != 0) { /* Integers up to 2^11 are exact. */
    half = (uint16_t)((bits >> 16 & 0x8000) |
                      ((((bits >> 23 & 0xff) - 112) << 10) |
                       (bits >> 13 & 0x3ff)));
  }
  memcpy(at, &half, 2);
}

static double get(const matrix_t* matrix, int64_t index) {
  const uint8_t* const at =
      matrix->bytes + (size_t)index * matrix->element_bytes;
  if (!matrix->is_float) {
    int32_t integer = 0;
    memcpy(&integer, at, sizeof(integer));
    return integer;
  }
  float number = 0;
  memcpy(&number, at, sizeof(number));
  return number;
}

static matrix_t make_matrix(int64_t rows, int64_t columns, int64_t stride,
                            uint32_t element_bytes, bool is_float,
                            bool is_bf16) {
  matrix_t matrix;
  memset(&matrix, 0, sizeof(matrix));
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.stride = stride;
  matrix.element_bytes = element_bytes;
  matrix.is_float = is_float;
  matrix.is_bf16 = is_bf16;
  for (int64_t i = 0; i < rows * stride; ++i) put(&matrix, i, random_byte());
  return matrix;
}

typedef struct type_t {
  takt_npu_type_t type;
  uint32_t left_bytes, right_bytes;
  bool is_float, is_bf16;
} type_t;
static const type_t kTypes[] = {
    {TAKT_NPU_TYPE_S8_S8_S32, 1, 1, false, false},
    {TAKT_NPU_TYPE_S16_S16_S32, 2, 2, false, false},
    {TAKT_NPU_TYPE_S16_S8_S32, 2, 1, false, false},
    {TAKT_NPU_TYPE_F32, 4, 4, true, false},
    {TAKT_NPU_TYPE_F16_F16_F32, 2, 2, true, false},
    {TAKT_NPU_TYPE_BF16_BF16_F32, 2, 2, true, true},
};
enum { kTypeCount = sizeof(kTypes) / sizeof(kTypes[0]) };

/* One product, and its result compared, what lies between the rows included. */
static void multiply(const type_t* type, bool transposed, bool accumulates,
                     int64_t pad) {
  static matrix_t left, right, out, before;
  left = make_matrix(kM, kK, kK + pad, type->left_bytes, type->is_float,
                     type->is_bf16);
  right = make_matrix(transposed ? kN : kK, transposed ? kK : kN,
                      (transposed ? kK : kN) + pad, type->right_bytes,
                      type->is_float, type->is_bf16);
  before = out = make_matrix(kM, kN, kN + pad, 4, type->is_float, false);
  takt_buffer_t* buffers[3] = {
      make_buffer(left.bytes,
                  (size_t)(left.rows * left.stride) * left.element_bytes),
      make_buffer(right.bytes,
                  (size_t)(right.rows * right.stride) * right.element_bytes),
      make_buffer(out.bytes, (size_t)(out.rows * out.stride) * 4)};
  takt_npu_matmul_t matmul;
  memset(&matmul, 0, sizeof(matmul));
  matmul.type = type->type;
  matmul.m = kM;
  matmul.n = kN;
  matmul.k = kK;
  matmul.left = all_of(buffers[0]);
  matmul.right = all_of(buffers[1]);
  matmul.out = all_of(buffers[2]);
  if (pad != 0) {
    matmul.left_stride = left.stride;
    matmul.right_stride = right.stride;
    matmul.out_stride = out.stride;
  }
  matmul.right_is_transposed = transposed;
  matmul.accumulate = accumulates;
  takt_fence_t* done = make_fence();
  EXPECT_OK(
      takt_npu_queue_matmul(npu.devices[1], NO_FENCE, done, &matmul, NULL));
  EXPECT_OK(wait_for(done));
  REQUIRE_OK(takt_buffer_read(buffers[2], 0, out.bytes,
                              (size_t)(out.rows * out.stride) * 4));
  int wrong = 0;
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t j = 0; j < out.stride; ++j) {
      const int64_t index = i * out.stride + j;
      double expected = before.values[index];
      if (j < kN) {
        if (!accumulates) expected = 0;
        for (int64_t k = 0; k < kK; ++k) {
          expected += left.values[i * left.stride + k] *
                      right.values[transposed ? j * right.stride + k
                                              : k * right.stride + j];
        }
      }
      wrong += get(&out, index) != expected;
    }
  }
  EXPECT(wrong == 0);
  takt_fence_release(done);
  for (int i = 0; i < 3; ++i) takt_buffer_release(buffers[i]);
}

/* NPUs that take all, that like other tiles, that have little, that have
 * memory of their own, and that fail. */
static const struct {
  const takt_npu_driver_t* (*driver)(void);
  const char* profile;
} kUnits[] = {
    {takt_npu_host_driver, NULL},
    {takt_npu_sim_driver, NULL},
    {takt_npu_sim_driver,
     "{\"tile_max\": [4, 16, 8], \"tile_multiple\": [4, 16, 8]}"},
    {takt_npu_sim_driver, "{\"tile_max\": [3, 5, 2]}"},
    {takt_npu_sim_driver, "{\"macs_per_cycle\": {\"f32\": 8}}"},
    {takt_npu_sim_driver, "{\"packs\": false, \"alignment\": 64}"},
    {takt_npu_sim_driver, "{\"memory\": \"own\"}"},
    {takt_npu_sim_driver, "{\"batch_max\": 1}"},
    {takt_npu_sim_driver, "{\"faults\": {\"seed\": 5, \"error\": 0.4}}"},
    {takt_npu_sim_driver,
     "{\"memory\": \"own\", \"faults\": {\"bit_flip\": 0.05}}"},
};
enum { kUnitCount = sizeof(kUnits) / sizeof(kUnits[0]) };

static void products_are_right_on_every_npu(void) {
  for (int u = 0; u < kUnitCount; ++u) {
    npu = npu_create(kUnits[u].driver(), kUnits[u].profile, true, false);
    for (int t = 0; t < kTypeCount; ++t) {
      for (int variant = 0; variant < 8; ++variant) {
        multiply(&kTypes[t], (variant & 1) != 0, (variant & 2) != 0,
                 (variant & 4) != 0 ? kPad : 0);
      }
    }
    const takt_npu_statistics_t statistics = statistics_of(&npu);
    EXPECT(statistics.batch_count > 0);
    npu_destroy(&npu);
  }
}

static void what_the_npu_cannot_do_is_counted(void) {
  npu = npu_create(takt_npu_sim_driver(), "{\"macs_per_cycle\": {\"f32\": 8}}",
                   false, false);
  multiply(&kTypes[0], false, false, 0);
  takt_npu_statistics_t statistics = statistics_of(&npu);
  EXPECT(statistics.unsupported_count == 1); /* The product; it does pack. */
  EXPECT(statistics.operation_count == 3);
  EXPECT(statistics.mac_count == 0);
  multiply(&kTypes[3], false, false, 0);
  statistics = statistics_of(&npu);
  EXPECT(statistics.unsupported_count == 1);
  EXPECT(statistics.operation_count == 7);
  EXPECT(statistics.mac_count == 16 * 24 * 40);
  npu_destroy(&npu);
}

static void fences_order_work_of_cpu_and_npu(void) {
  npu = npu_create(takt_npu_sim_driver(), NULL, true, false);
  uint32_t words[16] = {0};
  takt_buffer_t* a = make_buffer(words, sizeof(words));
  takt_buffer_t* b = make_buffer(words, sizeof(words));
  const takt_buffer_range_t from = all_of(a);
  const takt_buffer_range_t to = all_of(b);
  takt_fence_t* start = make_fence();
  takt_fence_t* filled = make_fence();
  takt_fence_t* copied = make_fence();
  takt_fence_t* changed = make_fence();
  /* Queued backwards. */
  const uint32_t nine = 9;
  EXPECT_OK(takt_queue_fill(npu.devices[0], copied, changed, b, 0, 4, &nine,
                            sizeof(nine)));
  EXPECT_OK(queue_copy(npu.devices[1], filled, copied, &from, &to, NULL));
  EXPECT_OK(queue_fill(npu.devices[1], start, filled, &from, 7, NULL));
  EXPECT(statistics_of(&npu).batch_count == 0);
  EXPECT_OK(takt_fence_signal(start));
  EXPECT_OK(wait_for(changed));
  REQUIRE_OK(takt_buffer_read(b, 0, words, sizeof(words)));
  EXPECT(words[0] == 9 && words[1] == 7 && words[15] == 7);
  EXPECT(statistics_of(&npu).operation_count == 2);

  /* One that fails skips what waits for it. */
  takt_fence_t* never = make_fence();
  takt_fence_t* skipped = make_fence();
  takt_fence_fail(never, takt_status_create(TAKT_STATUS_ABORTED, "no more"));
  EXPECT_OK(queue_fill(npu.devices[1], never, skipped, &from, 8, NULL));
  EXPECT_ERROR(wait_for(skipped), TAKT_STATUS_ABORTED, "no more");
  EXPECT(statistics_of(&npu).operation_count == 2);

  takt_fence_t* fences[] = {start, filled, copied, changed, never, skipped};
  for (int i = 0; i < 6; ++i) takt_fence_release(fences[i]);
  takt_buffer_release(a);
  takt_buffer_release(b);
  npu_destroy(&npu);
}

/* Eight words of binding 0, and from there to binding 1. */
static void make_fill_and_copy(takt_npu_operation_t operations[2]) {
  operations[0] = operation_of(TAKT_NPU_KIND_FILL);
  operations[0].fill.size0 = 1;
  operations[0].fill.size1 = 8;
  operations[0].fill.stride1 = 1;
  operations[0].fill.pattern = 5;
  operations[1] = operation_of(TAKT_NPU_KIND_COPY);
  operations[1].copy.out.buffer = 1;
  operations[1].copy.out.offset = 4;
  operations[1].copy.size0 = 1;
  operations[1].copy.size1 = 8;
  operations[1].copy.in_stride1 = 1;
  operations[1].copy.out_stride1 = 1;
  operations[1].copy.element_bytes = 4;
}

static void a_batch_is_one_for_the_driver(void) {
  npu = npu_create(takt_npu_sim_driver(), NULL, true, false);
  takt_npu_operation_t operations[2];
  make_fill_and_copy(operations);
  takt_npu_batch_description_t batch = {2, operations, 0, NULL};
  uint32_t words[9] = {0};
  takt_buffer_t* a = make_buffer(words, sizeof(words));
  takt_buffer_t* b = make_buffer(words, sizeof(words));
  const takt_buffer_range_t bindings[2] = {all_of(a), all_of(b)};
  takt_fence_t* done = make_fence();
  EXPECT_OK(takt_npu_queue_batch(npu.devices[1], NO_FENCE, done, &batch, 2,
                                 bindings, NULL));
  EXPECT_OK(wait_for(done));
  REQUIRE_OK(takt_buffer_read(b, 0, words, sizeof(words)));
  EXPECT(words[0] == 0 && words[1] == 5 && words[8] == 5);
  EXPECT(statistics_of(&npu).batch_count == 1);
  EXPECT(statistics_of(&npu).operation_count == 2);

  /* The same as code, run twice, on slots. */
  takt_executable_t* code = NULL;
  operations[0].fill.pattern = 6;
  EXPECT_OK(takt_npu_batch_create(npu.devices[1], &batch, 2, NULL, &code));
  EXPECT(takt_executable_function(code, 0).binding_count == 2);
  takt_command_buffer_options_t options;
  takt_command_buffer_options_init(&options);
  options.binding_capacity = 2;
  takt_command_buffer_t* commands = NULL;
  REQUIRE_OK(takt_command_buffer_create(npu.devices[1], &options, &commands));
  const takt_buffer_range_t slots[2] = {{NULL, 0, 0, sizeof(words)},
                                        {NULL, 1, 0, sizeof(words)}};
  const takt_dispatch_t dispatch = {code, 0,    {1, 1, 1}, NULL,
                                    0,    NULL, 2,         slots};
  EXPECT_OK(takt_command_buffer_dispatch(commands, &dispatch));
  EXPECT_OK(takt_command_buffer_finalize(commands));
  for (int i = 0; i < 2; ++i) {
    takt_fence_t* run = make_fence();
    EXPECT_OK(takt_queue_execute(npu.devices[1], NO_FENCE, run, commands, 2,
                                 bindings));
    EXPECT_OK(wait_for(run));
    takt_fence_release(run);
  }
  REQUIRE_OK(takt_buffer_read(b, 0, words, sizeof(words)));
  EXPECT(words[1] == 6);
  EXPECT(statistics_of(&npu).batch_count == 3);

  takt_command_buffer_release(commands);
  takt_executable_release(code);
  takt_fence_release(done);
  takt_buffer_release(a);
  takt_buffer_release(b);
  npu_destroy(&npu);
}

static takt_executable_t* load_program(void) {
  static uint8_t bytes[4096];
  FILE* file = fopen(TESTDATA("npu/npu_prog.bin"), "rb");
  if (file == NULL) exit(1);
  const size_t length = fread(bytes, 1, sizeof(bytes), file);
  fclose(file);
  takt_executable_t* program = NULL;
  REQUIRE_OK(takt_executable_load(npu.devices[1], "npu-fb", bytes, length, 0,
                                  NULL, &program));
  return program;
}

static void programs_run_alone_and_in_batches(void) {
  npu = npu_create(takt_npu_sim_driver(), NULL, true, false);
  takt_executable_t* program = load_program();
  static int8_t x[2 * 4] = {1, 2, 3, 4, 5, 6, 7, 8};
  static int8_t wide[4 * 48];
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 48; ++j) wide[k * 48 + j] = (int8_t)(k + j);
  }
  /* The program stores rows of 192 bytes. */
  static int32_t out[2 * 48];
  takt_buffer_t* buffers[3] = {make_buffer(x, sizeof(x)),
                               make_buffer(wide, sizeof(wide)),
                               make_buffer(out, sizeof(out))};
  takt_buffer_range_t ranges[3];
  for (int i = 0; i < 3; ++i) ranges[i] = all_of(buffers[i]);
  /* m, n and k. */
  const uint32_t constants[3] = {2, 48, 4};
  takt_dispatch_t dispatch = {program, 0,         {1, 1, 1}, NULL,
                              3,       constants, 3,         ranges};
  takt_fence_t* done = make_fence();
  EXPECT_OK(queue_program(npu.devices[1], done, &dispatch));
  EXPECT_OK(wait_for(done));
  REQUIRE_OK(takt_buffer_read(buffers[2], 0, out, sizeof(out)));
  int wrong = 0;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 48; ++j) {
      int32_t sum = 0;
      for (int k = 0; k < 4; ++k) sum += x[i * 4 + k] * wide[k * 48 + j];
      wrong += out[i * 48 + j] != sum;
    }
  }
  EXPECT(wrong == 0);

  /* In a batch: its operands are cleared first, in order. */
  const takt_npu_range_t program_ranges[3] = {
      {NULL, 0, 0, 0}, {NULL, 1, 0, 0}, {NULL, 2, 0, 0}};
  takt_npu_operation_t operations[2];
  operations[0] = operation_of(TAKT_NPU_KIND_FILL);
  operations[0].fill.out.buffer = 1;
  operations[0].fill.size0 = 1;
  operations[0].fill.size1 = sizeof(wide) / 4;
  operations[0].fill.stride1 = 1;
  operations[1] = operation_of(TAKT_NPU_KIND_PROGRAM);
  operations[1].program.workgroups[0] = 1;
  operations[1].program.workgroups[1] = 1;
  operations[1].program.workgroups[2] = 1;
  operations[1].program.constant_count = 3;
  operations[1].program.constants = constants;
  operations[1].program.binding_count = 3;
  operations[1].program.bindings = program_ranges;
  const takt_npu_batch_description_t batch = {2, operations, 1, &program};
  takt_fence_t* cleared = make_fence();
  EXPECT_OK(takt_npu_queue_batch(npu.devices[1], NO_FENCE, cleared, &batch, 3,
                                 ranges, NULL));
  EXPECT_OK(wait_for(cleared));
  REQUIRE_OK(takt_buffer_read(buffers[2], 0, out, sizeof(out)));
  for (int i = 0; i < 2 * 48; ++i) wrong += out[i] != 0;
  EXPECT(wrong == 0);
  EXPECT(statistics_of(&npu).batch_count == 2);

  /* What is wrong with a program's operands. */
  dispatch.constant_count = 2;
  EXPECT_ERROR(queue_program(npu.devices[1], done, &dispatch),
               TAKT_STATUS_INVALID_ARGUMENT,
               "takes 3 constants and 3 bindings");
  dispatch.constant_count = 3;
  dispatch.function = 1;
  EXPECT_ERROR(queue_program(npu.devices[1], done, &dispatch),
               TAKT_STATUS_INVALID_ARGUMENT, "function 1 of a program with 1");
  dispatch.function = 0;
  operations[1].program.program = 1;
  EXPECT_ERROR(takt_npu_queue_batch(npu.devices[1], NO_FENCE, done, &batch, 3,
                                    ranges, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "operation 1: program 1 of 1");
  takt_executable_t* code = NULL;
  operations[1] = operations[0];
  const takt_npu_batch_description_t fills = {2, operations, 0, NULL};
  REQUIRE_OK(takt_npu_batch_create(npu.devices[1], &fills, 2, NULL, &code));
  dispatch.executable = code;
  EXPECT_ERROR(queue_program(npu.devices[1], done, &dispatch),
               TAKT_STATUS_INVALID_ARGUMENT, "none that this NPU has loaded");
  takt_executable_release(code);

  takt_fence_release(cleared);
  takt_fence_release(done);
  for (int i = 0; i < 3; ++i) takt_buffer_release(buffers[i]);
  takt_executable_release(program);
  npu_destroy(&npu);
}

static void policies_are_per_batch(void) {
  const struct {
    takt_npu_policy_t policy;
    takt_status_code_t code;
    uint64_t batch_count, retry_count, fallback_count;
  } cases[] = {
      {TAKT_NPU_POLICY_DEVICE, TAKT_STATUS_OK, 3, 2, 1},
      {TAKT_NPU_POLICY_FAIL, TAKT_STATUS_UNAVAILABLE, 1, 0, 0},
      {TAKT_NPU_POLICY_RETRY, TAKT_STATUS_UNAVAILABLE, 3, 2, 0},
      {TAKT_NPU_POLICY_FALLBACK, TAKT_STATUS_OK, 1, 0, 1},
      {TAKT_NPU_POLICY_RETRY_FALLBACK, TAKT_STATUS_OK, 3, 2, 1},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    npu.instance = create_instance(2);
    npu.devices[0] = create_device(npu.instance, "local-task");
    takt_npu_options_t device_options;
    takt_npu_options_init(&device_options);
    device_options.driver_options = "{\"faults\": {\"error\": 1}}";
    device_options.retry_max = 2;
    device_options.virtual_time = true;
    REQUIRE_OK(takt_npu_device_create(npu.instance, takt_npu_sim_driver(),
                                      &device_options, &npu.devices[1]));
    uint32_t words[8] = {0};
    takt_buffer_t* buffer = make_buffer(words, sizeof(words));
    const takt_buffer_range_t range = all_of(buffer);
    takt_npu_batch_options_t options;
    takt_npu_batch_options_init(&options);
    options.policy = cases[i].policy;
    takt_fence_t* done = make_fence();
    EXPECT_OK(queue_fill(npu.devices[1], NO_FENCE, done, &range, 7, &options));
    takt_status_t status = wait_for(done);
    EXPECT(takt_status_code(status) == cases[i].code);
    takt_status_free(status);
    if (cases[i].code == TAKT_STATUS_OK) {
      REQUIRE_OK(takt_buffer_read(buffer, 0, words, sizeof(words)));
      EXPECT(words[0] == 7 && words[7] == 7);
    }
    const takt_npu_statistics_t statistics = statistics_of(&npu);
    EXPECT(statistics.batch_count == cases[i].batch_count);
    EXPECT(statistics.retry_count == cases[i].retry_count);
    EXPECT(statistics.fallback_count == cases[i].fallback_count);
    takt_fence_release(done);
    takt_buffer_release(buffer);
    npu_destroy(&npu);
  }
}

static void time_limits_are_per_batch(void) {
  npu =
      npu_create(takt_npu_sim_driver(), "{\"launch_ns\": 50000}", false, false);
  uint32_t word = 0;
  takt_buffer_t* buffer = make_buffer(&word, sizeof(word));
  const takt_buffer_range_t range = all_of(buffer);
  takt_npu_batch_options_t options;
  takt_npu_batch_options_init(&options);
  for (int i = 0; i < 2; ++i) {
    options.time_limit_ns = i == 0 ? 10000 : 100000;
    takt_fence_t* done = make_fence();
    EXPECT_OK(queue_fill(npu.devices[1], NO_FENCE, done, &range, 7, &options));
    if (i == 0) {
      EXPECT_ERROR(wait_for(done), TAKT_STATUS_DEADLINE_EXCEEDED,
                   "more than 10 us");
    } else {
      EXPECT_OK(wait_for(done));
    }
    takt_fence_release(done);
  }
  takt_buffer_release(buffer);
  npu_destroy(&npu);
}

/* An NPU, and what a refused operation must not touch. */
typedef struct refusal_t {
  takt_device_t* device;
  takt_buffer_t* buffer; /* Of 256 bytes. */
  takt_fence_t* fence;
} refusal_t;

static refusal_t begin_refusals(void) {
  npu = npu_create(takt_npu_host_driver(), NULL, true, false);
  const uint32_t words[64] = {0};
  const refusal_t refusal = {npu.devices[1], make_buffer(words, sizeof(words)),
                             make_fence()};
  return refusal;
}

/* No refused operation has signaled the fence or reached the NPU. */
static void end_refusals(refusal_t* refusal) {
  bool reached = true;
  EXPECT_OK(takt_fence_query(refusal->fence, &reached));
  EXPECT(!reached);
  EXPECT(statistics_of(&npu).batch_count == 0);
  takt_fence_release(refusal->fence);
  takt_buffer_release(refusal->buffer);
  npu_destroy(&npu);
}

static void ranges_that_do_not_fit_are_refused(void) {
  static const struct {
    size_t byte_offset, byte_length;
    takt_status_code_t code;
    const char* part;
  } kRanges[] = {
      {2, 8, TAKT_STATUS_INVALID_ARGUMENT, "of elements of 4"},
      {1000, 8, TAKT_STATUS_OUT_OF_RANGE, "binding 0"},
  };
  refusal_t refusal = begin_refusals();
  takt_buffer_range_t range = all_of(refusal.buffer);
  EXPECT_ERROR(queue_fill(NULL, NULL, refusal.fence, &range, 1, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "device is NULL");
  EXPECT_ERROR(queue_fill(npu.devices[0], NULL, refusal.fence, &range, 1, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "local-task has no NPU");
  for (size_t i = 0; i < sizeof(kRanges) / sizeof(kRanges[0]); ++i) {
    range.byte_offset = kRanges[i].byte_offset;
    range.byte_length = kRanges[i].byte_length;
    EXPECT_ERROR(
        queue_fill(refusal.device, NULL, refusal.fence, &range, 1, NULL),
        kRanges[i].code, kRanges[i].part);
  }
  range.buffer = NULL;
  EXPECT_ERROR(queue_fill(refusal.device, NULL, refusal.fence, &range, 1, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "buffer is NULL");
  takt_buffer_options_t read_only;
  takt_buffer_options_init(&read_only);
  read_only.access = TAKT_ACCESS_READ;
  takt_buffer_t* fixed = NULL;
  REQUIRE_OK(takt_buffer_allocate(refusal.device, 16, &read_only, &fixed));
  const takt_buffer_range_t source = {refusal.buffer, 0, 0, 16};
  const takt_buffer_range_t target = all_of(fixed);
  EXPECT_ERROR(
      queue_copy(refusal.device, NULL, refusal.fence, &source, &target, NULL),
      TAKT_STATUS_PERMISSION_DENIED, "binding 1");
  takt_buffer_release(fixed);
  end_refusals(&refusal);
}

static void malformed_products_are_refused(void) {
  static const struct {
    int64_t m, left_stride;
    int type;
    takt_status_code_t code;
    const char* part;
  } kProducts[] = {
      {4, 3, TAKT_NPU_TYPE_S8_S8_S32, TAKT_STATUS_INVALID_ARGUMENT,
       "rows of 4 elements at a stride of 3"},
      {-1, 0, TAKT_NPU_TYPE_S8_S8_S32, TAKT_STATUS_INVALID_ARGUMENT,
       "matmul of -1 x 4 x 4"},
      {INT64_C(1) << 40, 0, TAKT_NPU_TYPE_S8_S8_S32,
       TAKT_STATUS_INVALID_ARGUMENT, "matmul of"},
      {17, 0, TAKT_NPU_TYPE_S8_S8_S32, TAKT_STATUS_INVALID_ARGUMENT,
       "binding 2: 256 bytes at 0, expected 272"},
      {4, 0, 4, TAKT_STATUS_UNIMPLEMENTED, "type 4"},
  };
  refusal_t refusal = begin_refusals();
  const takt_buffer_range_t range = all_of(refusal.buffer);
  EXPECT_ERROR(
      takt_npu_queue_matmul(refusal.device, NULL, refusal.fence, NULL, NULL),
      TAKT_STATUS_INVALID_ARGUMENT, "matmul is NULL");
  for (size_t i = 0; i < sizeof(kProducts) / sizeof(kProducts[0]); ++i) {
    takt_npu_matmul_t matmul;
    memset(&matmul, 0, sizeof(matmul));
    matmul.type = (takt_npu_type_t)kProducts[i].type;
    matmul.m = kProducts[i].m;
    matmul.n = matmul.k = 4;
    matmul.left_stride = kProducts[i].left_stride;
    matmul.left = matmul.right = matmul.out = range;
    EXPECT_ERROR(takt_npu_queue_matmul(refusal.device, NULL, refusal.fence,
                                       &matmul, NULL),
                 kProducts[i].code, kProducts[i].part);
  }
  takt_npu_operation_t product = operation_of(TAKT_NPU_KIND_MMT4D);
  product.mmt4d.m = product.mmt4d.n = product.mmt4d.k = 1;
  product.mmt4d.m0 = product.mmt4d.n0 = 1;
  product.mmt4d.k0 = -1;
  product.mmt4d.type = TAKT_NPU_TYPE_F32;
  const takt_npu_batch_description_t batch = {1, &product, 0, NULL};
  EXPECT_ERROR(takt_npu_queue_batch(refusal.device, NULL, refusal.fence, &batch,
                                    1, &range, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "operation 0");
  end_refusals(&refusal);
}

static void invalid_batch_options_are_refused(void) {
  static const struct {
    int32_t priority;
    int policy;
    int64_t time_limit_ns;
    bool has_struct_size;
    const char* part;
  } kOptions[] = {
      {256, 0, 0, true, "priority: expected 0 to 255, got 256"},
      {128, 9, 0, true, "policy: 9"},
      {128, 0, -1, true, "time_limit_ns"},
      {128, 0, 0, false, "struct_size"},
  };
  refusal_t refusal = begin_refusals();
  const takt_buffer_range_t range = all_of(refusal.buffer);
  for (size_t i = 0; i < sizeof(kOptions) / sizeof(kOptions[0]); ++i) {
    takt_npu_batch_options_t options;
    takt_npu_batch_options_init(&options);
    options.priority = kOptions[i].priority;
    options.policy = (takt_npu_policy_t)kOptions[i].policy;
    options.time_limit_ns = kOptions[i].time_limit_ns;
    if (!kOptions[i].has_struct_size) options.struct_size = 0;
    EXPECT_ERROR(
        queue_fill(refusal.device, NULL, refusal.fence, &range, 1, &options),
        TAKT_STATUS_INVALID_ARGUMENT, kOptions[i].part);
  }
  end_refusals(&refusal);
}

static void malformed_batches_are_refused(void) {
  /* Batches of a fill and a second operation. */
  static const struct {
    int kind;
    bool has_odd_elements; /* A copy of elements of 3 bytes. */
    size_t operation_count, binding_count;
    takt_status_code_t code;
    const char* part;
  } kBatches[] = {
      {TAKT_NPU_KIND_COPY, false, 2, 1, TAKT_STATUS_INVALID_ARGUMENT,
       "operation 1: out: binding 1 of 1"},
      {TAKT_NPU_KIND_COPY, true, 2, 2, TAKT_STATUS_UNIMPLEMENTED,
       "operation 1: copies of element bytes 3"},
      {TAKT_NPU_KIND_TRANSFER, false, 2, 2, TAKT_STATUS_INVALID_ARGUMENT,
       "operation 1: a transfer"},
      {99, false, 2, 2, TAKT_STATUS_UNIMPLEMENTED, "operations of kind 99"},
      {99, false, 257, 2, TAKT_STATUS_INVALID_ARGUMENT, "at most 256, got 257"},
  };
  refusal_t refusal = begin_refusals();
  const takt_buffer_range_t range = all_of(refusal.buffer);
  const takt_buffer_range_t bindings[2] = {range, range};
  takt_npu_operation_t operations[2];
  make_fill_and_copy(operations);
  takt_npu_batch_description_t batch = {2, operations, 0, NULL};
  EXPECT_ERROR(takt_npu_queue_batch(refusal.device, NULL, refusal.fence, NULL,
                                    0, NULL, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "batch is NULL");
  EXPECT_ERROR(takt_npu_queue_batch(refusal.device, NULL, refusal.fence, &batch,
                                    65, NULL, NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "bindings is NULL");
  for (size_t i = 0; i < sizeof(kBatches) / sizeof(kBatches[0]); ++i) {
    make_fill_and_copy(operations);
    if (kBatches[i].kind != TAKT_NPU_KIND_COPY) {
      operations[1] = operation_of((takt_npu_kind_t)kBatches[i].kind);
    } else if (kBatches[i].has_odd_elements) {
      operations[1].copy.element_bytes = 3;
    }
    batch.operation_count = kBatches[i].operation_count;
    EXPECT_ERROR(
        takt_npu_queue_batch(refusal.device, NULL, refusal.fence, &batch,
                             kBatches[i].binding_count, bindings, NULL),
        kBatches[i].code, kBatches[i].part);
  }
  takt_executable_t* code = NULL;
  EXPECT_ERROR(takt_npu_batch_create(refusal.device, &batch, 2, NULL, &code),
               TAKT_STATUS_INVALID_ARGUMENT, "at most 256");
  EXPECT(code == NULL);
  end_refusals(&refusal);
}

int main(void) {
  RUN(products_are_right_on_every_npu);
  RUN(what_the_npu_cannot_do_is_counted);
  RUN(fences_order_work_of_cpu_and_npu);
  RUN(a_batch_is_one_for_the_driver);
  RUN(programs_run_alone_and_in_batches);
  RUN(policies_are_per_batch);
  RUN(time_limits_are_per_batch);
  RUN(ranges_that_do_not_fit_are_refused);
  RUN(malformed_products_are_refused);
  RUN(invalid_batch_options_are_refused);
  RUN(malformed_batches_are_refused);
  return test_result();
}
