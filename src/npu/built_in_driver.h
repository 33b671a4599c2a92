// The common part of the tables of the built-in drivers.
#ifndef TAKT_NPU_BUILT_IN_DRIVER_H_
#define TAKT_NPU_BUILT_IN_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "npu/program_table.h"
#include "takt/npu_driver.h"

namespace takt::npu {

// Makes a table for units of the type `Unit`, which has a ProgramTable named
// `programs`. The table has close() and the functions of programs and imports,
// and no others.
template <typename Unit>
takt_npu_driver_t BuiltInDriver(const char* name) {
  takt_npu_driver_t table;
  std::memset(&table, 0, sizeof(table));
  table.struct_size = sizeof(table);
  table.version = TAKT_NPU_DRIVER_VERSION;
  table.name = name;
  table.close = [](void* unit) { delete static_cast<Unit*>(unit); };
  table.load_program = [](void* unit, const uint8_t* data, size_t byte_length,
                          uint64_t* out_program) {
    return static_cast<Unit*>(unit)->programs.Load(data, byte_length,
                                                   out_program);
  };
  table.unload_program = [](void* unit, uint64_t program) {
    static_cast<Unit*>(unit)->programs.Unload(program);
  };
  table.describe_function = [](void* unit, uint64_t program, uint64_t function,
                               takt_npu_function_t* out) {
    return static_cast<Unit*>(unit)->programs.Describe(program, function, out);
  };
  table.find_import = [](void*, const char* import_name,
                         takt_npu_import_t* out_function, void** out_context) {
    return FindBuiltInImport(import_name, out_function, out_context);
  };
  return table;
}

}  // namespace takt::npu

#endif  // TAKT_NPU_BUILT_IN_DRIVER_H_
