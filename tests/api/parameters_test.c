#include "takt/parameters.h"

#include "tests/api/fixture.h"

static const char kWeights[] = TESTDATA("models/weights.irpa");
static takt_instance_t* instance;

static takt_parameters_t* open_parameters(const char* path, const char* scope,
                                          bool preload) {
  takt_parameters_options_t options;
  takt_parameters_options_init(&options);
  options.scope = scope;
  options.preload = preload;
  takt_parameters_t* parameters = NULL;
  REQUIRE_OK(takt_parameters_open(instance, path, &options, &parameters));
  return parameters;
}

static void lists_what_an_archive_holds(void) {
  for (int preload = 0; preload < 2; ++preload) {
    takt_parameters_t* parameters =
        open_parameters(kWeights, "model", preload == 1);
    EXPECT(takt_parameters_entry_count(parameters) >= 2);
    uint64_t w0_length = 0;
    for (size_t i = 0; i < takt_parameters_entry_count(parameters); ++i) {
      if (strcmp(takt_parameters_entry_key(parameters, i), "w0") == 0) {
        w0_length = takt_parameters_entry_byte_length(parameters, i);
      }
    }
    EXPECT(w0_length == 64 * 32 * sizeof(float));
    EXPECT(takt_parameters_entry_key(parameters, 99) == NULL);
    EXPECT(takt_parameters_entry_byte_length(parameters, 99) == 0);
    takt_parameters_retain(parameters);
    takt_parameters_release(parameters);
    takt_parameters_release(parameters);
  }
}

static takt_status_t link_model(takt_device_t* device,
                                takt_parameters_t* parameters,
                                takt_context_t** out_context) {
  takt_module_t* module =
      load_module(instance, TESTDATA("models/parameters.vmvx.vmfb"));
  takt_context_options_t options;
  takt_context_options_init(&options);
  options.modules = &module;
  options.module_count = 1;
  options.devices = &device;
  options.device_count = 1;
  options.parameters = &parameters;
  options.parameters_count = parameters != NULL ? 1 : 0;
  takt_status_t status = takt_context_create(instance, &options, out_context);
  takt_module_release(module);
  return status;
}

/* What iree-run-module prints for an input of ones with these files begins
 * with these elements (models/parameters.run0.expected). */
static void contexts_read_their_weights_from_it(void) {
  takt_device_t* device = create_device(instance, "local-task");
  takt_parameters_t* parameters = open_parameters(kWeights, "model", false);
  takt_context_t* context = NULL;
  REQUIRE_OK(link_model(device, parameters, &context));
  takt_parameters_release(parameters); /* The context keeps it. */
  takt_function_t* function = find_function(context, "f");
  float ones[4 * 64];
  for (int i = 0; i < 4 * 64; ++i) ones[i] = 1;
  const int64_t shape[2] = {4, 64};
  takt_buffer_view_t* view = NULL;
  REQUIRE_OK(takt_buffer_view_copy_from_host(device, TAKT_ELEMENT_F32, 2, shape,
                                             ones, sizeof(ones), &view));
  const takt_value_t argument = takt_value_ref(view);
  takt_value_t result;
  REQUIRE_OK(takt_function_invoke(function, NULL, 1, &argument, 1, &result));
  float out[4 * 32];
  REQUIRE_OK(takt_buffer_view_copy_to_host(takt_value_as_buffer_view(&result),
                                           out, sizeof(out)));
  for (int i = 0; i < 4 * 32; ++i) EXPECT(out[i] == 3.0f);
  takt_values_release(1, &result);
  takt_buffer_view_release(view);
  takt_function_release(function);
  takt_context_release(context);
  takt_device_release(device);
}

static void a_missing_scope_or_key_is_named(void) {
  takt_device_t* device = create_device(instance, "local-sync");
  takt_context_t* context = NULL;
  EXPECT_ERROR(link_model(device, NULL, &context), TAKT_STATUS_NOT_FOUND,
               "model");
  takt_parameters_t* parameters = open_parameters(kWeights, "other", false);
  EXPECT_ERROR(link_model(device, parameters, &context), TAKT_STATUS_NOT_FOUND,
               "model");
  takt_parameters_release(parameters);
  EXPECT(context == NULL);
  takt_device_release(device);
}

static void errors_name_the_file(void) {
  takt_parameters_t* parameters = NULL;
  EXPECT_ERROR(
      takt_parameters_open(instance, "/nonexistent.irpa", NULL, &parameters),
      TAKT_STATUS_NOT_FOUND, "/nonexistent.irpa");
  EXPECT_ERROR(takt_parameters_open(instance, TESTDATA("regenerate.py"), NULL,
                                    &parameters),
               TAKT_STATUS_INVALID_ARGUMENT, TESTDATA("regenerate.py"));
  EXPECT_ERROR(takt_parameters_open(instance, NULL, NULL, &parameters),
               TAKT_STATUS_INVALID_ARGUMENT, "path is NULL");
  EXPECT_ERROR(takt_parameters_open(NULL, kWeights, NULL, &parameters),
               TAKT_STATUS_INVALID_ARGUMENT, "instance is NULL");
  EXPECT(parameters == NULL);
}

static void preloaded_parameters_cannot_be_written(void) {
  takt_parameters_options_t options;
  takt_parameters_options_init(&options);
  EXPECT(!options.writable);
  options.preload = true;
  options.writable = true;
  takt_parameters_t* parameters = NULL;
  EXPECT_ERROR(takt_parameters_open(instance, kWeights, &options, &parameters),
               TAKT_STATUS_INVALID_ARGUMENT, "preload and writable");
  EXPECT(parameters == NULL);
}

int main(void) {
  instance = create_instance(1);
  RUN(lists_what_an_archive_holds);
  RUN(contexts_read_their_weights_from_it);
  RUN(a_missing_scope_or_key_is_named);
  RUN(errors_name_the_file);
  RUN(preloaded_parameters_cannot_be_written);
  takt_instance_release(instance);
  return test_result();
}
