// takt/tools/module_contents.h - what is inside a compiled module.
//
// Part of libtakt-tools. This interface may change with every release.
//
// A function that takes an index returns NULL, 0 or a struct of zeros beyond
// the count. Texts and bytes are borrowed from the contents.
//
// Thread-safety: contents are immutable; every function may run on any thread.
#ifndef TAKT_TOOLS_MODULE_CONTENTS_H_
#define TAKT_TOOLS_MODULE_CONTENTS_H_

#include "takt/module.h"

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct takt_module_contents_t takt_module_contents_t;

// Reads what is inside a module. The contents hold a reference to the module,
// whose bytes they show.
//
//   out_contents  receives one reference; NULL on error.
//
// Errors: FAILED_PRECONDITION  a native module, which has no bytecode.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_module_contents_create(
    takt_module_t* module, takt_module_contents_t** out_contents);

// Adds a reference.
TAKT_EXPORT void takt_module_contents_retain(takt_module_contents_t* contents);

// Releases a reference; the last one frees the contents.
TAKT_EXPORT void takt_module_contents_release(takt_module_contents_t* contents);

// What a module needs from the program that loads it.
typedef struct takt_module_info_t {
  const char* name;
  uint32_t version;
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

// Returns the module's name, version, features and state.
TAKT_EXPORT takt_module_info_t
takt_module_contents_info(const takt_module_contents_t* contents);

// Describes a calling convention, such as that of takt_import_info_t, in words:
// "0rI_i" is "(!vm.ref<?>, i64) -> (i32)".
//
//   convention  NUL-terminated.
//   out_text    for takt_string_free(); NULL on error.
//
// Errors: INVALID_ARGUMENT  not a convention; the message has the position.
//         UNIMPLEMENTED     a convention of another version.
TAKT_NODISCARD TAKT_EXPORT takt_status_t
takt_convention_describe(const char* convention, char** out_text);

// ---- Attributes of the module itself.

// Returns the number of attributes.
TAKT_EXPORT size_t
takt_module_contents_attribute_count(const takt_module_contents_t* contents);

// Returns the key of attribute `index`.
TAKT_EXPORT const char* takt_module_contents_attribute_key(
    const takt_module_contents_t* contents, size_t index);

// Returns the value of attribute `index`.
TAKT_EXPORT const char* takt_module_contents_attribute_value(
    const takt_module_contents_t* contents, size_t index);

// ---- Modules and functions that must be linked before this module.

typedef struct takt_dependency_info_t {
  const char* module_name;
  uint32_t minimum_version;
  bool is_optional;
} takt_dependency_info_t;

// Returns the number of modules that this module depends on.
TAKT_EXPORT size_t
takt_module_contents_dependency_count(const takt_module_contents_t* contents);

// Returns dependency `index`.
TAKT_EXPORT takt_dependency_info_t takt_module_contents_dependency(
    const takt_module_contents_t* contents, size_t index);

typedef struct takt_import_info_t {
  const char* full_name;   // "hal.device.allocator".
  const char* convention;  // "0r_r".
  bool is_optional;
} takt_import_info_t;

// Returns the number of functions that this module imports.
TAKT_EXPORT size_t
takt_module_contents_import_count(const takt_module_contents_t* contents);

// Returns import `index`.
TAKT_EXPORT takt_import_info_t takt_module_contents_import(
    const takt_module_contents_t* contents, size_t index);

// ---- Types and read-only data.

// Returns the number of types that the module's code uses.
TAKT_EXPORT size_t
takt_module_contents_type_count(const takt_module_contents_t* contents);

// Returns the name of type `index`, such as "i32" or "!hal.buffer_view".
TAKT_EXPORT const char* takt_module_contents_type_name(
    const takt_module_contents_t* contents, size_t index);

// Read-only data: constants, texts, executables.
typedef struct takt_rodata_info_t {
  const uint8_t* data;  // Borrowed from the module.
  size_t byte_length;
  // The format if the bytes look like an executable ("embedded-elf-x86_64",
  // "vmvx-bytecode-fb"), else "". Static.
  const char* executable_format;
} takt_rodata_info_t;

// Returns the number of pieces of read-only data.
TAKT_EXPORT size_t
takt_module_contents_rodata_count(const takt_module_contents_t* contents);

// Returns piece `index` of the read-only data.
TAKT_EXPORT takt_rodata_info_t takt_module_contents_rodata(
    const takt_module_contents_t* contents, size_t index);

// ---- Functions of the bytecode, exported or not.

typedef struct takt_function_info_t {
  const char* export_name;  // Of the first export that names it; "": none.
  const char* convention;
  uint32_t requirements;  // TAKT_MODULE_FEATURE_* bits.
  size_t bytecode_bytes;
  uint32_t block_count;
  uint32_t value_register_count;  // Registers of 32 bits.
  uint32_t ref_register_count;
} takt_function_info_t;

// Returns the number of functions.
TAKT_EXPORT size_t
takt_module_contents_function_count(const takt_module_contents_t* contents);

// Returns function `index`.
TAKT_EXPORT takt_function_info_t takt_module_contents_function(
    const takt_module_contents_t* contents, size_t index);

// Returns the index of the function that export `export_index` names; SIZE_MAX
// if there is no such export, and for NULL.
TAKT_EXPORT size_t takt_module_contents_export_function(
    const takt_module_contents_t* contents, size_t export_index);

// Writes function `index` as text, one instruction a line.
//
//   out_text  for takt_string_free(); NULL on error.
//
// Errors: OUT_OF_RANGE  no such function.
TAKT_NODISCARD TAKT_EXPORT takt_status_t takt_module_contents_disassemble(
    const takt_module_contents_t* contents, size_t index, char** out_text);

#if defined(__cplusplus)
}  // extern "C"
#endif

#endif  // TAKT_TOOLS_MODULE_CONTENTS_H_
