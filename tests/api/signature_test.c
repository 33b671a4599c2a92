#include "takt/signature.h"

#include "tests/api/fixture.h"

static takt_instance_t* instance;

static takt_signature_t* signature_of(const char* path, const char* name) {
  takt_module_t* module = load_module(instance, path);
  takt_signature_t* signature = NULL;
  REQUIRE_OK(takt_module_export_signature(
      module, takt_module_find_export(module, name), &signature));
  takt_module_release(module); /* The signature does not need it. */
  return signature;
}

static void knows_shapes_and_types(void) {
  takt_signature_t* signature =
      signature_of(TESTDATA("api/simple_mul.vmfb"), "double");
  EXPECT_TEXT(takt_signature_convention(signature), "0r_r");
  EXPECT_CONTAINS(takt_signature_declaration(signature), "sync func @double(");
  EXPECT(!takt_signature_is_async(signature));
  EXPECT(takt_signature_argument_count(signature) == 1);
  EXPECT(takt_signature_result_count(signature) == 1);
  const takt_value_type_t* type = takt_signature_argument(signature, 0);
  EXPECT(type->kind == TAKT_VALUE_REF);
  EXPECT_TEXT(type->name, "input0");
  EXPECT_TEXT(type->type, "tensor<?x2xf32>");
  EXPECT_TEXT(type->attributes, "");
  EXPECT(type->is_tensor && type->element_type == TAKT_ELEMENT_F32);
  EXPECT(type->rank == 2);
  EXPECT(type->shape[0] == TAKT_DIMENSION_DYNAMIC && type->shape[1] == 2);
  EXPECT_TEXT(takt_signature_result(signature, 0)->name, "output0");
  EXPECT(takt_signature_argument(signature, 1) == NULL);
  EXPECT(takt_signature_result(signature, 1) == NULL);
  takt_signature_retain(signature);
  takt_signature_release(signature);
  takt_signature_release(signature);
}

static void knows_scalars(void) {
  takt_signature_t* signature =
      signature_of(TESTDATA("api/counter.vmfb"), "scalars");
  static const takt_value_kind_t kKinds[4] = {TAKT_VALUE_I32, TAKT_VALUE_I64,
                                              TAKT_VALUE_F32, TAKT_VALUE_F64};
  static const char* const kTypes[4] = {"i32", "i64", "f32", "f64"};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT(takt_signature_argument(signature, i)->kind == kKinds[i]);
    EXPECT(takt_signature_result(signature, i)->kind == kKinds[i]);
    EXPECT(!takt_signature_argument(signature, i)->is_tensor);
    EXPECT_TEXT(takt_signature_argument(signature, i)->type, kTypes[i]);
  }
  takt_signature_release(signature);
}

static void fences_of_async_functions_are_not_counted(void) {
  takt_signature_t* signature =
      signature_of(TESTDATA("api/simple_mul_async.vmfb"), "mul");
  EXPECT_TEXT(takt_signature_convention(signature), "0rrrr_r");
  EXPECT(takt_signature_is_async(signature));
  EXPECT(takt_signature_argument_count(signature) == 2);
  EXPECT_TEXT(takt_signature_argument(signature, 1)->type, "tensor<4xf32>");
  takt_signature_release(signature);
}

static void without_a_declaration_the_kinds_are_known(void) {
  takt_signature_t* signature =
      signature_of(TESTDATA("api/simple_mul.vmfb"), "__init");
  EXPECT_TEXT(takt_signature_declaration(signature), "");
  EXPECT(takt_signature_argument_count(signature) == 0);
  EXPECT(takt_signature_result_count(signature) == 0);
  takt_signature_release(signature);
}

static takt_status_t no_callback(void* state, size_t argument_count,
                                 const takt_value_t* arguments,
                                 size_t result_count,
                                 takt_value_t* out_results) {
  (void)state, (void)argument_count, (void)arguments;
  (void)result_count, (void)out_results;
  return NULL;
}

static void repeated_arguments_are_not_counted(void) {
  const takt_native_export_t export = {"sum", "0iCIrD_v", no_callback};
  takt_native_module_options_t options;
  takt_native_module_options_init(&options);
  options.name = "native";
  options.exports = &export;
  options.export_count = 1;
  takt_module_t* module = NULL;
  REQUIRE_OK(takt_native_module_create(instance, &options, &module));
  takt_signature_t* signature = NULL;
  REQUIRE_OK(takt_module_export_signature(module, 0, &signature));
  EXPECT(takt_signature_argument_count(signature) == 1);
  EXPECT_TEXT(takt_signature_argument(signature, 0)->type, "");
  takt_signature_release(signature);
  takt_module_release(module);
}

int main(void) {
  instance = create_instance(0);
  RUN(knows_shapes_and_types);
  RUN(knows_scalars);
  RUN(fences_of_async_functions_are_not_counted);
  RUN(without_a_declaration_the_kinds_are_known);
  RUN(repeated_arguments_are_not_counted);
  takt_instance_release(instance);
  return test_result();
}
