/* Functions of modules without declarations, as from ONNX, and names of inputs
 * and outputs. */
#include "takt/stream.h"
#include "takt/takt.h"
#include "tests/api/fixture.h"

static const char* const kPolicy = TESTDATA("onnx/policy.cpu.vmfb");
static const char* const kDeclaration =
    "(%joints: tensor<1x4xf32>) -> "
    "(%torque: tensor<1x3xf32>, %mean: tensor<1x1xf32>)";

static takt_function_t* declare(takt_function_t* function,
                                const char* declaration) {
  takt_function_t* declared = NULL;
  REQUIRE_OK(takt_function_declare(function, declaration, &declared));
  return declared;
}

static void gives_types_to_a_function_without_a_declaration(void) {
  fixture_t f = fixture_create("local-task", kPolicy);
  takt_function_t* policy = find_function(f.context, "policy");
  takt_function_t* declared = declare(policy, kDeclaration);
  EXPECT_TEXT(takt_function_name(declared), "module.policy");
  const takt_signature_t* signature = takt_function_signature(declared);
  const takt_value_type_t* joints = takt_signature_argument(signature, 0);
  EXPECT_TEXT(joints->name, "joints");
  EXPECT(joints->is_tensor && joints->element_type == TAKT_ELEMENT_F32);
  EXPECT(joints->rank == 2 && joints->shape[1] == 4);
  EXPECT_TEXT(takt_signature_result(signature, 1)->name, "mean");
  EXPECT_TEXT(takt_signature_declaration(signature),
              "sync func @policy(%joints: tensor<1x4xf32>) -> "
              "(%torque: tensor<1x3xf32>, %mean: tensor<1x1xf32>)");
  /* The other one is as it was. */
  EXPECT(
      !takt_signature_argument(takt_function_signature(policy), 0)->is_tensor);
  takt_function_release(policy);

  const float values[4] = {1, 2, 3, 4};
  const int64_t shape[2] = {1, 4};
  takt_buffer_view_t* view = NULL;
  REQUIRE_OK(takt_buffer_view_copy_from_host(
      f.device, TAKT_ELEMENT_F32, 2, shape, values, sizeof(values), &view));
  takt_value_t argument = takt_value_ref(view);
  takt_value_t results[2];
  REQUIRE_OK(takt_function_invoke(declared, NULL, 1, &argument, 2, results));
  EXPECT_VIEW(takt_value_as_buffer_view(&results[0]), "1x3xf32=[0 14 1]");
  EXPECT_VIEW(takt_value_as_buffer_view(&results[1]), "1x1xf32=[5]");
  takt_values_release(2, results);
  takt_buffer_view_release(view);

  /* What is declared is checked before the program runs. */
  view = float_view(f.device, 4, values);
  argument = takt_value_ref(view);
  EXPECT_ERROR(takt_function_invoke(declared, NULL, 1, &argument, 2, results),
               TAKT_STATUS_INVALID_ARGUMENT,
               "module.policy: input 0: expected 1x4xf32, got 4xf32");
  takt_buffer_view_release(view);
  takt_function_release(declared);
  fixture_destroy(&f);
}

static void lets_a_stream_map_its_inputs(void) {
  fixture_t f = fixture_create("local-task", kPolicy);
  takt_function_t* policy = find_function(f.context, "policy");
  takt_stream_options_t options;
  takt_stream_options_init(&options);
  options.arrival = TAKT_STREAM_ARRIVAL_INPUT;
  takt_stream_t* stream = NULL;
  REQUIRE_OK(takt_stream_create(policy, &options, &stream));
  void* data = NULL;
  EXPECT_ERROR(takt_stream_map_input(stream, 0, &data, NULL),
               TAKT_STATUS_FAILED_PRECONDITION,
               "a declaration of the function gives it one");
  takt_stream_release(stream);

  takt_function_t* declared = declare(policy, kDeclaration);
  REQUIRE_OK(takt_stream_create(declared, &options, &stream));
  size_t byte_length = 0;
  REQUIRE_OK(takt_stream_map_input(stream, 0, &data, &byte_length));
  EXPECT(byte_length == 4 * sizeof(float));
  const float values[4] = {1, 2, 3, 4};
  memcpy(data, values, sizeof(values));
  REQUIRE_OK(takt_stream_start(stream, 0));
  REQUIRE_OK(takt_stream_publish_input(stream));
  REQUIRE_OK(takt_stream_wait_idle(stream, TAKT_INFINITE_FUTURE));
  takt_stream_stop(stream);
  takt_value_t results[2];
  EXPECT(takt_stream_take_output(stream, 2, results, NULL));
  EXPECT_VIEW(takt_value_as_buffer_view(&results[0]), "1x3xf32=[0 14 1]");
  takt_values_release(2, results);
  takt_stream_release(stream);
  takt_function_release(declared);
  takt_function_release(policy);
  fixture_destroy(&f);
}

static void refuses_what_does_not_fit(void) {
  static const struct {
    const char* declaration;
    const char* message;
  } kBad[] = {
      {"", "module.policy: declaration: expected \"sync \" at position 0"},
      {"(%a: tensor<4xf32>", "module.policy: declaration: expected"},
      {"()", "declaration: expected 1 input, got 0"},
      {"(%a: tensor<1x4xf32>)", "declaration: expected 2 results, got 0"},
      {"(%a: f32) -> (%b: tensor<1xf32>, %c: tensor<1xf32>)",
       "declaration: input 0: f32, but the function has ref"},
      {"async func @policy(%a: tensor<1x4xf32>) -> (%b: tensor<1xf32>, %c: "
       "tensor<1xf32>)",
       "declaration: the function is sync"},
  };
  fixture_t f = fixture_create("local-sync", kPolicy);
  takt_function_t* policy = find_function(f.context, "policy");
  for (size_t i = 0; i < sizeof(kBad) / sizeof(kBad[0]); ++i) {
    takt_function_t* declared = NULL;
    EXPECT_ERROR(takt_function_declare(policy, kBad[i].declaration, &declared),
                 TAKT_STATUS_INVALID_ARGUMENT, kBad[i].message);
    EXPECT(declared == NULL);
  }
  takt_function_t* declared = NULL;
  EXPECT_ERROR(takt_function_declare(policy, NULL, &declared),
               TAKT_STATUS_INVALID_ARGUMENT, "declaration");
  EXPECT_ERROR(takt_function_declare(NULL, "()", &declared),
               TAKT_STATUS_INVALID_ARGUMENT, "function");
  takt_function_release(policy);
  fixture_destroy(&f);
}

static void finds_inputs_and_outputs_by_name(void) {
  fixture_t f = fixture_create("local-sync", kPolicy);
  takt_function_t* policy = find_function(f.context, "policy");
  size_t index = 7;
  EXPECT_ERROR(takt_function_find_input(policy, "joints", &index),
               TAKT_STATUS_NOT_FOUND,
               "module.policy: no input is named joints; there are no names of "
               "inputs");
  EXPECT(index == 0);
  takt_function_t* declared = declare(policy, kDeclaration);
  EXPECT_OK(takt_function_find_input(declared, "joints", &index));
  EXPECT(index == 0);
  EXPECT_OK(takt_function_find_output(declared, "mean", &index));
  EXPECT(index == 1);
  EXPECT_ERROR(takt_function_find_output(declared, "men", &index),
               TAKT_STATUS_NOT_FOUND,
               "module.policy: no output is named men; there are mean, torque");
  takt_function_release(declared);
  declared = declare(policy,
                     "(%a: tensor<1x4xf32>) -> (%b: tensor<1x3xf32>, %b: "
                     "tensor<1x1xf32>)");
  EXPECT_ERROR(takt_function_find_output(declared, "b", &index),
               TAKT_STATUS_NOT_FOUND, "module.policy: 2 outputs are named b");
  EXPECT_ERROR(takt_function_find_output(declared, "b", NULL),
               TAKT_STATUS_INVALID_ARGUMENT, "out_index");
  EXPECT_ERROR(takt_function_find_input(NULL, "b", &index),
               TAKT_STATUS_INVALID_ARGUMENT, "function");
  takt_function_release(declared);
  takt_function_release(policy);
  fixture_destroy(&f);
}

int main(void) {
  RUN(gives_types_to_a_function_without_a_declaration);
  RUN(lets_a_stream_map_its_inputs);
  RUN(refuses_what_does_not_fit);
  RUN(finds_inputs_and_outputs_by_name);
  return test_result();
}
