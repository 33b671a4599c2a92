#include "takt/tools/module_contents.h"

#include "tests/analysis/contents.h"
#include "tests/api/fixture.h"

static takt_instance_t* instance;

static void has_versions_and_state(void) {
  takt_module_t* module = load_module(instance, TESTDATA("api/counter.vmfb"));
  takt_module_contents_t* contents = module_contents(module);
  const takt_module_info_t info = takt_module_contents_info(contents);
  EXPECT_TEXT(info.name, "counter");
  EXPECT(info.bytecode_major == 17 && info.bytecode_minor == 0);
  /* iree-dump-module: "Module State: 4 bytes, 0 refs". */
  EXPECT(info.global_bytes == 4 && info.global_ref_count == 0);
  takt_module_contents_release(contents);
  takt_module_release(module);
}

static void lists_imports_and_dependencies(void) {
  takt_module_t* module = load_module(instance, TESTDATA("api/counter.vmfb"));
  takt_module_contents_t* contents = module_contents(module);
  EXPECT(takt_module_contents_import_count(contents) == 1);
  const takt_import_info_t import = takt_module_contents_import(contents, 0);
  EXPECT_TEXT(import.full_name, "robot.read");
  EXPECT_TEXT(import.convention, "0iIfF_i");
  EXPECT(!import.is_optional);
  EXPECT(takt_module_contents_import(contents, 1).full_name == NULL);
  takt_module_contents_release(contents);
  takt_module_release(module);

  module = load_module(instance, TESTDATA("api/simple_mul.vmfb"));
  contents = module_contents(module);
  EXPECT(takt_module_contents_dependency_count(contents) == 1);
  const takt_dependency_info_t dependency =
      takt_module_contents_dependency(contents, 0);
  EXPECT_TEXT(dependency.module_name, "hal");
  EXPECT(dependency.minimum_version == 7 && !dependency.is_optional);
  EXPECT(takt_module_contents_dependency(contents, 1).module_name == NULL);
  takt_module_contents_release(contents);
  takt_module_release(module);
}

static void finds_executables_in_the_rodata(void) {
  takt_module_t* module =
      load_module(instance, TESTDATA("api/simple_mul.vmfb"));
  takt_module_contents_t* contents = module_contents(module);
  size_t executable_count = 0;
  bool has_pattern = false;
  for (size_t i = 0; i < takt_module_contents_rodata_count(contents); ++i) {
    const takt_rodata_info_t rodata = takt_module_contents_rodata(contents, i);
    if (*rodata.executable_format != 0) {
      EXPECT_TEXT(rodata.executable_format, "vmvx-bytecode-fb");
      ++executable_count;
    }
    if (rodata.byte_length == 6 && memcmp(rodata.data, "local*", 6) == 0) {
      has_pattern = true;
    }
  }
  EXPECT(executable_count == 1);
  EXPECT(has_pattern);
  EXPECT(takt_module_contents_rodata(contents, 9999).data == NULL);
  takt_module_contents_release(contents);
  takt_module_release(module);
}

static void names_types(void) {
  takt_module_t* module =
      load_module(instance, TESTDATA("api/simple_mul.vmfb"));
  takt_module_contents_t* contents = module_contents(module);
  bool found = false;
  for (size_t i = 0; i < takt_module_contents_type_count(contents); ++i) {
    const char* name = takt_module_contents_type_name(contents, i);
    found = found || strcmp(name, "!hal.buffer_view") == 0;
  }
  EXPECT(found);
  EXPECT(takt_module_contents_type_name(contents, 9999) == NULL);
  takt_module_contents_release(contents);
  takt_module_release(module);
}

static void disassembles_functions(void) {
  takt_module_t* module = load_module(instance, TESTDATA("api/counter.vmfb"));
  takt_module_contents_t* contents = module_contents(module);
  const size_t next = takt_module_find_export(module, "next");
  const size_t function = takt_module_contents_export_function(contents, next);
  EXPECT(function < takt_module_contents_function_count(contents));
  const takt_function_info_t info =
      takt_module_contents_function(contents, function);
  EXPECT_TEXT(info.export_name, "next");
  EXPECT_TEXT(info.convention, "0i_i");
  /* iree-dump-module: 28 bytes, 1 block, 2 value and 0 ref registers. */
  EXPECT(info.bytecode_bytes == 28 && info.block_count == 1);
  EXPECT(info.value_register_count == 2 && info.ref_register_count == 0);
  char* text = NULL;
  REQUIRE_OK(takt_module_contents_disassemble(contents, function, &text));
  EXPECT_CONTAINS(text, "add.i32");
  EXPECT_CONTAINS(text, "return");
  takt_string_free(text);
  EXPECT_ERROR(takt_module_contents_disassemble(contents, 99, &text),
               TAKT_STATUS_OUT_OF_RANGE, "counter: function 99 of 5");
  EXPECT(text == NULL);
  EXPECT(takt_module_contents_function(contents, 99).export_name == NULL);
  EXPECT(takt_module_contents_export_function(contents, 99) == SIZE_MAX);
  takt_module_contents_release(contents);
  takt_module_release(module);
}

static void describes_conventions(void) {
  static const char* const kCases[][2] = {
      {"0v_v", "() -> ()"},
      {"0iIfFr_r", "(i32, i64, f32, f64, !vm.ref<?>) -> (!vm.ref<?>)"},
      {"0rCiID_v", "(!vm.ref<?>, tuple<i32, i64>...) -> ()"},
  };
  char* text = NULL;
  for (size_t i = 0; i < sizeof(kCases) / sizeof(kCases[0]); ++i) {
    REQUIRE_OK(takt_convention_describe(kCases[i][0], &text));
    EXPECT_TEXT(text, kCases[i][1]);
    takt_string_free(text);
  }
  EXPECT_ERROR(takt_convention_describe("0z", &text),
               TAKT_STATUS_INVALID_ARGUMENT, "0z");
  EXPECT(text == NULL);
}

static void native_modules_have_no_contents(void) {
  takt_native_module_options_t options;
  takt_native_module_options_init(&options);
  options.name = "native";
  options.version = 3;
  takt_module_t* module = NULL;
  REQUIRE_OK(takt_native_module_create(instance, &options, &module));
  takt_module_contents_t* contents = NULL;
  EXPECT_ERROR(takt_module_contents_create(module, &contents),
               TAKT_STATUS_FAILED_PRECONDITION, "native: a native module");
  EXPECT(contents == NULL);
  takt_module_release(module);
}

static void contents_keep_their_module(void) {
  takt_module_t* module = load_module(instance, TESTDATA("api/counter.vmfb"));
  takt_module_contents_t* contents = module_contents(module);
  takt_module_release(module);
  takt_module_contents_retain(contents);
  takt_module_contents_release(contents);
  EXPECT_TEXT(takt_module_contents_info(contents).name, "counter");
  takt_module_contents_release(contents);
  takt_module_contents_release(NULL);
}

int main(void) {
  instance = create_instance(0);
  RUN(has_versions_and_state);
  RUN(lists_imports_and_dependencies);
  RUN(finds_executables_in_the_rodata);
  RUN(names_types);
  RUN(disassembles_functions);
  RUN(describes_conventions);
  RUN(native_modules_have_no_contents);
  RUN(contents_keep_their_module);
  takt_instance_release(instance);
  return test_result();
}
