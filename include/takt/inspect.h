// takt/inspect.h - what is inside a module, for tools.
//
// Every accessor by index returns NULL, 0 or an empty struct beyond the count.
// Texts and bytes are borrowed from the module.
//
// Thread-safety: modules are immutable; every function may run on any thread.
#ifndef TAKT_INSPECT_H_
#define TAKT_INSPECT_H_

#include "takt/module.h"

#if defined(__cplusplus)
extern "C" {
#endif

// What the module asks of who loads it. The fields below `is_bytecode` are 0
// for a native module.
typedef struct takt_module_info_t {
  const char* name;
  uint32_t version;
  bool is_bytecode;
  uint16_t bytecode_major;
  uint16_t bytecode_minor;
  uint32_t requirements;    // TAKT_MODULE_FEATURE_* bits.
  size_t global_bytes;      // Of scalars, per context.
  size_t global_ref_count;  // Of objects, per context.
} takt_module_info_t;

enum {
  TAKT_MODULE_FEATURE_F32 = 1,
  TAKT_MODULE_FEATURE_F64 = 2,
  TAKT_MODULE_FEATURE_YIELD = 4,
  TAKT_MODULE_FEATURE_UNWIND = 8,
};

TAKT_EXPORT takt_module_info_t takt_module_inspect(const takt_module_t* module);

// What profiles and plans know the module by: a hash of its file, the same on
// every machine, never 0; 0 for a native module. Reads all of the file: about
// a millisecond a megabyte.
TAKT_EXPORT uint64_t takt_module_content_hash(const takt_module_t* module);

// Attributes of the module itself.
TAKT_EXPORT size_t takt_module_attribute_count(const takt_module_t* module);
TAKT_EXPORT const char* takt_module_attribute_key(const takt_module_t* module,
                                                  size_t index);
TAKT_EXPORT const char* takt_module_attribute_value(const takt_module_t* module,
                                                    size_t index);

// A module that must (or may) be linked before this one.
typedef struct takt_dependency_info_t {
  const char* module_name;
  uint32_t minimum_version;
  bool is_optional;
} takt_dependency_info_t;

TAKT_EXPORT size_t takt_module_dependency_count(const takt_module_t* module);
TAKT_EXPORT takt_dependency_info_t
takt_module_dependency(const takt_module_t* module, size_t index);

// A function that must (or may) come from a module linked before this one.
typedef struct takt_import_info_t {
  const char* full_name;   // "hal.device.allocator".
  const char* convention;  // "0r_r".
  bool is_optional;
} takt_import_info_t;

TAKT_EXPORT size_t takt_module_import_count(const takt_module_t* module);
TAKT_EXPORT takt_import_info_t takt_module_import(const takt_module_t* module,
                                                  size_t index);

// Names of the types that the module's code uses: "i32", "!hal.buffer_view".
TAKT_EXPORT size_t takt_module_type_count(const takt_module_t* module);
TAKT_EXPORT const char* takt_module_type_name(const takt_module_t* module,
                                              size_t index);

// Read-only data: constants, texts, executables.
typedef struct takt_rodata_info_t {
  const uint8_t* data;
  size_t byte_length;
  // The format if the bytes look like an executable ("embedded-elf-x86_64",
  // "vmvx-bytecode-fb"); "" if not. Static.
  const char* executable_format;
} takt_rodata_info_t;

TAKT_EXPORT size_t takt_module_rodata_count(const takt_module_t* module);
TAKT_EXPORT takt_rodata_info_t takt_module_rodata(const takt_module_t* module,
                                                  size_t index);

// A function of the bytecode, exported or not.
typedef struct takt_function_info_t {
  const char* export_name;  // The first export that names it; "" if none.
  const char* convention;
  uint32_t requirements;  // TAKT_MODULE_FEATURE_* bits.
  size_t bytecode_bytes;
  uint32_t block_count;
  uint32_t value_register_count;  // Of 32 bits.
  uint32_t ref_register_count;
} takt_function_info_t;

TAKT_EXPORT size_t takt_module_function_count(const takt_module_t* module);
TAKT_EXPORT takt_function_info_t
takt_module_function(const takt_module_t* module, size_t index);
// The function that export `export_index` names; SIZE_MAX in a native module,
// and for NULL.
TAKT_EXPORT size_t takt_module_export_function(const takt_module_t* module,
                                               size_t export_index);

// The text of function `index`, an instruction a line.
//
//   out_text  for takt_string_free(); NULL on error.
//
// Errors: OUT_OF_RANGE         no such function.
//         FAILED_PRECONDITION  the module has no bytecode.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_module_disassemble(
    const takt_module_t* module, size_t index, char** out_text);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_INSPECT_H_
