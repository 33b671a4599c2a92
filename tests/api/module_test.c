#include "takt/module.h"

#include "tests/api/fixture.h"

static const char kSimpleMul[] = TESTDATA("api/simple_mul.vmfb");
static takt_instance_t* instance;

/* The file's bytes at a multiple of 64. */
static uint8_t* read_file(const char* path, size_t* out_length) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) exit(1);
  fseek(file, 0, SEEK_END);
  *out_length = (size_t)ftell(file);
  rewind(file);
  uint8_t* bytes = aligned_alloc(64, (*out_length + 63 + 64) / 64 * 64);
  if (fread(bytes, 1, *out_length, file) != *out_length) exit(1);
  fclose(file);
  return bytes;
}

static void expect_simple(takt_module_t* module) {
  EXPECT_TEXT(takt_module_name(module), "simple");
  const size_t mul = takt_module_find_export(module, "mul");
  EXPECT(mul < takt_module_export_count(module));
  EXPECT_TEXT(takt_module_export_name(module, mul), "mul");
}

static void loads_files_in_both_modes(void) {
  takt_module_file_options_t options;
  takt_module_file_options_init(&options);
  for (int mode = 0; mode < 2; ++mode) {
    options.mode = mode == 0 ? TAKT_MODULE_MODE_MMAP : TAKT_MODULE_MODE_PRELOAD;
    takt_module_t* module = NULL;
    REQUIRE_OK(takt_module_load_file(instance, kSimpleMul, &options, &module));
    expect_simple(module);
    takt_module_retain(module);
    takt_module_release(module);
    takt_module_release(module);
  }
}

typedef struct verdict_t {
  const char* refusal; /* NULL: accept. */
  int calls;
  size_t byte_length;
  uint8_t first_byte;
} verdict_t;

static takt_status_t judge(void* user_data, const char* path, const void* data,
                           size_t byte_length) {
  verdict_t* verdict = user_data;
  EXPECT_TEXT(path, kSimpleMul);
  ++verdict->calls;
  verdict->byte_length = byte_length;
  if (byte_length > 0) verdict->first_byte = *(const uint8_t*)data;
  if (verdict->refusal == NULL) return NULL;
  return takt_status_create(TAKT_STATUS_PERMISSION_DENIED, verdict->refusal);
}

static void a_file_is_verified_before_it_is_parsed(void) {
  size_t byte_length = 0;
  uint8_t* bytes = read_file(kSimpleMul, &byte_length);
  for (int mode = 0; mode < 2; ++mode) {
    verdict_t verdict = {0};
    takt_module_file_options_t options;
    takt_module_file_options_init(&options);
    EXPECT(options.mode == TAKT_MODULE_MODE_PRELOAD);
    options.mode = mode == 0 ? TAKT_MODULE_MODE_MMAP : TAKT_MODULE_MODE_PRELOAD;
    options.verify = judge;
    options.verify_data = &verdict;
    takt_module_t* module = NULL;
    REQUIRE_OK(takt_module_load_file(instance, kSimpleMul, &options, &module));
    EXPECT(verdict.calls == 1);
    EXPECT(verdict.byte_length == byte_length);
    EXPECT(verdict.first_byte == bytes[0]);
    takt_module_release(module);
    verdict.refusal = "signed by nobody";
    EXPECT_ERROR(takt_module_load_file(instance, kSimpleMul, &options, &module),
                 TAKT_STATUS_PERMISSION_DENIED, "signed by nobody");
    EXPECT(module == NULL);
    EXPECT(verdict.calls == 2);
  }
  free(bytes);
}

static void lists_exports_and_their_attributes(void) {
  takt_module_t* module = load_module(instance, kSimpleMul);
  const size_t mul = takt_module_find_export(module, "mul");
  bool found = false;
  for (size_t i = 0; i < takt_module_export_attribute_count(module, mul); ++i) {
    if (strcmp(takt_module_export_attribute_key(module, mul, i),
               "takt.priority") == 0) {
      found = true;
      EXPECT_TEXT(takt_module_export_attribute_value(module, mul, i), "200");
    }
  }
  EXPECT(found);
  EXPECT(takt_module_find_export(module, "nothing") == SIZE_MAX);
  EXPECT(takt_module_export_name(module, 99) == NULL);
  EXPECT(takt_module_export_attribute_count(module, 99) == 0);
  EXPECT(takt_module_export_attribute_key(module, mul, 99) == NULL);
  EXPECT(takt_module_export_attribute_value(module, 99, 0) == NULL);
  takt_signature_t* signature = NULL;
  EXPECT_ERROR(takt_module_export_signature(module, 99, &signature),
               TAKT_STATUS_OUT_OF_RANGE, "simple: export 99 of 3");
  EXPECT(signature == NULL);
  takt_module_release(module);
}

static int release_count = 0;
static void count_release(void* user_data) {
  free(user_data);
  ++release_count;
}

static void loads_from_memory(void) {
  size_t length = 0;
  uint8_t* bytes = read_file(kSimpleMul, &length);
  takt_module_t* copied = NULL;
  REQUIRE_OK(takt_module_load_memory(instance, bytes, length, NULL, &copied));
  takt_module_memory_options_t options;
  takt_module_memory_options_init(&options);
  options.borrow = true;
  options.release = count_release;
  options.user_data = bytes;
  takt_module_t* borrowed = NULL;
  REQUIRE_OK(
      takt_module_load_memory(instance, bytes, length, &options, &borrowed));
  expect_simple(borrowed);
  EXPECT(release_count == 0);
  takt_module_release(borrowed);
  EXPECT(release_count == 1);
  expect_simple(copied);
  takt_module_release(copied);
}

static void copies_where_the_caller_has_no_alignment(void) {
  size_t length = 0;
  uint8_t* bytes = read_file(kSimpleMul, &length);
  memmove(bytes + 3, bytes, length);
  takt_module_t* module = NULL;
  REQUIRE_OK(
      takt_module_load_memory(instance, bytes + 3, length, NULL, &module));
  expect_simple(module);
  takt_module_release(module);
  takt_module_memory_options_t options;
  takt_module_memory_options_init(&options);
  options.borrow = true;
  options.source = "policy";
  options.release = count_release;
  const int before = release_count;
  EXPECT_ERROR(
      takt_module_load_memory(instance, bytes + 3, length, &options, &module),
      TAKT_STATUS_INVALID_ARGUMENT, "policy: borrowed bytes");
  EXPECT(module == NULL);
  EXPECT(release_count == before);
  free(bytes);
}

static void unknown_types_are_only_for_looking(void) {
  const char* path = TESTDATA("tools/custom_type.vmfb");
  takt_module_t* module = NULL;
  EXPECT_ERROR(takt_module_load_file(instance, path, NULL, &module),
               TAKT_STATUS_NOT_FOUND, "no type is known as !custom.string");
  EXPECT(module == NULL);
  takt_module_file_options_t options;
  takt_module_file_options_init(&options);
  options.accept_unknown_types = true;
  REQUIRE_OK(takt_module_load_file(instance, path, &options, &module));
  EXPECT_TEXT(takt_module_name(module), "custom_type");
  takt_context_options_t context_options;
  takt_context_options_init(&context_options);
  context_options.modules = &module;
  context_options.module_count = 1;
  takt_context_t* context = NULL;
  EXPECT_ERROR(takt_context_create(instance, &context_options, &context),
               TAKT_STATUS_NOT_FOUND,
               "custom_type: no type is known as !custom.string");
  EXPECT(context == NULL);
  takt_module_release(module);

  size_t length = 0;
  uint8_t* bytes = read_file(path, &length);
  takt_module_memory_options_t memory_options;
  takt_module_memory_options_init(&memory_options);
  EXPECT_ERROR(takt_module_load_memory(instance, bytes, length, &memory_options,
                                       &module),
               TAKT_STATUS_NOT_FOUND, "!custom.string");
  memory_options.accept_unknown_types = true;
  REQUIRE_OK(takt_module_load_memory(instance, bytes, length, &memory_options,
                                     &module));
  takt_module_release(module);
  free(bytes);
}

static void errors_name_the_file(void) {
  takt_module_t* module = NULL;
  EXPECT_ERROR(
      takt_module_load_file(instance, "/nonexistent/a.vmfb", NULL, &module),
      TAKT_STATUS_NOT_FOUND, "/nonexistent/a.vmfb");
  EXPECT_ERROR(
      takt_module_load_file(instance, TESTDATA("regenerate.py"), NULL, &module),
      TAKT_STATUS_INVALID_ARGUMENT, TESTDATA("regenerate.py"));
  EXPECT_ERROR(takt_module_load_file(instance, NULL, NULL, &module),
               TAKT_STATUS_INVALID_ARGUMENT, "path is NULL");
  EXPECT(module == NULL);
}

static void refuses_every_truncation(void) {
  size_t length = 0;
  uint8_t* bytes = read_file(kSimpleMul, &length);
  /* The archive's directory stands at its end and is not needed. */
  for (size_t part = 0; part < length / 2; part += 61) {
    takt_module_t* module = NULL;
    takt_status_t status =
        takt_module_load_memory(instance, bytes, part, NULL, &module);
    EXPECT(status != NULL && module == NULL);
    takt_status_free(status);
    takt_module_release(module);
  }
  free(bytes);
}

static void outlives_the_callers_reference_to_its_instance(void) {
  takt_instance_t* other = create_instance(0);
  takt_module_t* module = load_module(other, kSimpleMul);
  takt_instance_release(other);
  expect_simple(module);
  takt_module_release(module);
}

static void the_content_hash_is_of_the_file(void) {
  takt_module_t* counter = load_module(instance, TESTDATA("api/counter.vmfb"));
  takt_module_t* again = load_module(instance, TESTDATA("api/counter.vmfb"));
  takt_module_t* other = load_module(instance, TESTDATA("api/simple_mul.vmfb"));
  const uint64_t hash = takt_module_content_hash(counter);
  EXPECT(hash != 0 && hash == takt_module_content_hash(again));
  EXPECT(hash != takt_module_content_hash(other));
  size_t byte_length = 0;
  size_t again_length = 0;
  const void* bytes = takt_module_bytes(counter, &byte_length);
  const void* same = takt_module_bytes(again, &again_length);
  EXPECT(bytes != NULL && byte_length > 64 && byte_length == again_length);
  EXPECT(bytes != NULL && memcmp(bytes, same, byte_length) == 0);
  takt_module_release(other);
  takt_module_release(again);
  takt_module_release(counter);
}

static void native_modules_have_no_file(void) {
  takt_native_module_options_t options;
  takt_native_module_options_init(&options);
  options.name = "native";
  takt_module_t* module = NULL;
  REQUIRE_OK(takt_native_module_create(instance, &options, &module));
  size_t byte_length = 1;
  EXPECT(takt_module_bytes(module, &byte_length) == NULL);
  EXPECT(byte_length == 0);
  EXPECT(takt_module_content_hash(module) == 0);
  takt_module_release(module);
}

int main(void) {
  instance = create_instance(0);
  RUN(loads_files_in_both_modes);
  RUN(a_file_is_verified_before_it_is_parsed);
  RUN(lists_exports_and_their_attributes);
  RUN(loads_from_memory);
  RUN(copies_where_the_caller_has_no_alignment);
  RUN(unknown_types_are_only_for_looking);
  RUN(errors_name_the_file);
  RUN(refuses_every_truncation);
  RUN(the_content_hash_is_of_the_file);
  RUN(native_modules_have_no_file);
  RUN(outlives_the_callers_reference_to_its_instance);
  takt_instance_release(instance);
  return test_result();
}
