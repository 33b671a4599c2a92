#include "takt/compact_signature.h"

#include "tests/api/fixture.h"

static takt_signature_t* parse(const char* text) {
  takt_signature_t* signature = NULL;
  REQUIRE_OK(takt_signature_parse_compact(text, &signature));
  return signature;
}

static void expect_compact(const takt_signature_t* signature,
                           const char* text) {
  char* compact = NULL;
  REQUIRE_OK(takt_signature_format_compact(signature, &compact));
  EXPECT_TEXT(compact, text);
  takt_string_free(compact);
}

static void expect_declaration(const takt_signature_t* signature,
                               const char* text) {
  char* declaration = NULL;
  REQUIRE_OK(takt_signature_format_declaration(signature, "f", &declaration));
  EXPECT_TEXT(declaration, text);
  takt_string_free(declaration);
}

static void reads_the_worked_example(void) {
  takt_signature_t* signature = parse("I6!B3!d4R6!B3!d4");
  EXPECT(takt_signature_argument_count(signature) == 1);
  EXPECT(takt_signature_result_count(signature) == 1);
  EXPECT_TEXT(takt_signature_convention(signature), "0r_r");
  EXPECT_TEXT(takt_signature_declaration(signature), "");
  EXPECT(!takt_signature_is_async(signature));
  const takt_value_type_t* type = takt_signature_argument(signature, 0);
  EXPECT(type->kind == TAKT_VALUE_REF && type->is_tensor);
  EXPECT(type->element_type == TAKT_ELEMENT_F32);
  EXPECT(type->rank == 1 && type->shape[0] == 4);
  EXPECT_TEXT(type->name, "");
  EXPECT_TEXT(type->type, "tensor<4xf32>");
  expect_compact(signature, "I6!B3!d4R6!B3!d4");
  expect_declaration(signature,
                     "sync func @f(%input0: tensor<4xf32>) -> (%output0: "
                     "tensor<4xf32>)");
  takt_signature_release(signature);
}

static void reads_every_kind_of_item(void) {
  const char* text = "I30!B9!t4d-1d16S3!t6O1!U8!!a.typeR14!B8!t11d2d3S1!";
  takt_signature_t* signature = NULL;
  takt_status_t status = takt_signature_parse_compact(text, &signature);
  EXPECT(status == NULL);
  if (status != NULL) {
    fprintf(stderr, "%s\n", takt_status_message(status));
    takt_status_free(status);
    return;
  }
  EXPECT_TEXT(takt_signature_convention(signature), "0rirr_rf");
  EXPECT_TEXT(takt_signature_argument(signature, 0)->type, "tensor<?x16xi8>");
  EXPECT(takt_signature_argument(signature, 1)->kind == TAKT_VALUE_I32);
  EXPECT_TEXT(takt_signature_argument(signature, 1)->type, "i32");
  EXPECT_TEXT(takt_signature_argument(signature, 2)->type, "!vm.ref<?>");
  EXPECT_TEXT(takt_signature_argument(signature, 3)->type, "!a.type");
  EXPECT_TEXT(takt_signature_result(signature, 0)->type, "tensor<2x3xui64>");
  EXPECT(takt_signature_result(signature, 1)->kind == TAKT_VALUE_F32);
  expect_compact(signature, text);
  expect_declaration(
      signature,
      "sync func @f(%input0: tensor<?x16xi8>, %input1: i32, %input2: "
      "!vm.ref<?>, %input3: !a.type) -> (%output0: tensor<2x3xui64>, %output1: "
      "f32)");
  takt_signature_release(signature);
}

static void reads_functions_of_nothing(void) {
  takt_signature_t* signature = parse("I1!R1!");
  EXPECT_TEXT(takt_signature_convention(signature), "0v_v");
  expect_compact(signature, "I1!R1!");
  expect_declaration(signature, "sync func @f()");
  takt_signature_release(signature);
}

static void scalars_have_the_kind_that_holds_them(void) {
  /* t0 to t11, in this order. */
  static const takt_value_kind_t kKinds[12] = {
      TAKT_VALUE_F32, TAKT_VALUE_F32, TAKT_VALUE_F64, TAKT_VALUE_F32,
      TAKT_VALUE_I32, TAKT_VALUE_I32, TAKT_VALUE_I32, TAKT_VALUE_I64,
      TAKT_VALUE_I32, TAKT_VALUE_I32, TAKT_VALUE_I32, TAKT_VALUE_I64};
  for (int i = 0; i < 12; ++i) {
    char item[16];
    char text[32];
    const int item_length =
        snprintf(item, sizeof(item), "S%d!t%d", i < 10 ? 3 : 4, i);
    snprintf(text, sizeof(text), "I%d!%sR1!", item_length + 1, item);
    takt_signature_t* signature = parse(text);
    EXPECT(takt_signature_argument(signature, 0)->kind == kKinds[i]);
    takt_signature_release(signature);
  }
}

static void refuses_what_the_grammar_does_not_make(void) {
  takt_signature_t* signature = NULL;
  static const char* const kTexts[] = {"",
                                       "I1!",
                                       "R1!I1!",
                                       "I1!R1!x",
                                       "I2!R1!",
                                       "I0!R1!",
                                       "I4!X1!R1!",
                                       "I99!R1!",
                                       "I6!B3!e4R1!",
                                       "I14!B8!t4d-1d16R1!",
                                       "I7!B4!t12R1!",
                                       "I7!B4!d-2R1!",
                                       "I25!B22!d99999999999999999999R1!"};
  for (size_t i = 0; i < sizeof(kTexts) / sizeof(kTexts[0]); ++i) {
    EXPECT_ERROR(takt_signature_parse_compact(kTexts[i], &signature),
                 TAKT_STATUS_INVALID_ARGUMENT, "position ");
    EXPECT(signature == NULL);
  }
  EXPECT_ERROR(takt_signature_parse_compact(NULL, &signature),
               TAKT_STATUS_INVALID_ARGUMENT, "text is NULL");
}

static void writes_the_signatures_of_modules(void) {
  takt_instance_t* instance = create_instance(0);
  takt_module_t* module =
      load_module(instance, TESTDATA("api/simple_mul.vmfb"));
  takt_signature_t* signature = NULL;
  REQUIRE_OK(takt_module_export_signature(
      module, takt_module_find_export(module, "double"), &signature));
  expect_compact(signature, "I9!B6!d-1d2R9!B6!d-1d2");
  char* text = NULL;
  REQUIRE_OK(takt_signature_format_declaration(signature, "double", &text));
  EXPECT_TEXT(text, takt_signature_declaration(signature));
  takt_string_free(text);
  takt_signature_release(signature);
  takt_module_release(module);
  module = load_module(instance, TESTDATA("api/counter.vmfb"));
  REQUIRE_OK(takt_module_export_signature(
      module, takt_module_find_export(module, "scalars"), &signature));
  expect_compact(signature, "I19!S3!t6S3!t7S1!S3!t2R19!S3!t6S3!t7S1!S3!t2");
  takt_signature_release(signature);
  takt_module_release(module);
  takt_instance_release(instance);
}

static void refuses_to_declare_what_cannot_be_read_again(void) {
  takt_signature_t* signature = parse("I8!U5!a, bR1!");
  char* text = NULL;
  EXPECT_ERROR(takt_signature_format_declaration(signature, "f", &text),
               TAKT_STATUS_INVALID_ARGUMENT, "cannot be declared");
  EXPECT(text == NULL);
  takt_signature_release(signature);
  signature = parse("I1!R1!");
  EXPECT_ERROR(takt_signature_format_declaration(signature, "", &text),
               TAKT_STATUS_INVALID_ARGUMENT, "function_name");
  EXPECT_ERROR(takt_signature_format_declaration(signature, "f(", &text),
               TAKT_STATUS_INVALID_ARGUMENT, "cannot be declared");
  takt_signature_release(signature);
}

int main(void) {
  RUN(reads_the_worked_example);
  RUN(reads_every_kind_of_item);
  RUN(reads_functions_of_nothing);
  RUN(scalars_have_the_kind_that_holds_them);
  RUN(refuses_what_the_grammar_does_not_make);
  RUN(writes_the_signatures_of_modules);
  RUN(refuses_to_declare_what_cannot_be_read_again);
  return test_result();
}
