// The loaded command programs of a built-in driver with their scratchpad, and
// the function that compiled kernels import from both built-in drivers.
//
// Thread-safety: none; the unit calls its driver from one thread at a time.
#ifndef TAKT_NPU_PROGRAM_TABLE_H_
#define TAKT_NPU_PROGRAM_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "npu/command_program.h"
#include "takt/npu_driver.h"

namespace takt::npu {

class ProgramTable {
 public:
  // As the functions of a driver.
  takt_npu_result_t Load(const uint8_t* data, size_t byte_length,
                         uint64_t* out_program);
  void Unload(uint64_t program) { programs_.erase(program); }
  takt_npu_result_t Describe(uint64_t program, uint64_t function,
                             takt_npu_function_t* out) const;
  takt_npu_result_t Run(const takt_npu_program_t& dispatch,
                        CommandProgram::Work* work);

 private:
  std::map<uint64_t, std::unique_ptr<CommandProgram>> programs_;
  uint64_t last_ = 0;
  std::vector<uint8_t> scratchpad_;  // Made by the first run.
};

// Import "npu_matmul_i8": the product of s8 matrices [m][k] and [k][n] as s32.
// The parameters, in their order and with natural alignment:
//   s32 result; left, left offset; right, right offset; out, out offset; m, n,
//   k (pointers and s64; offsets in elements).
int MatmulS8Import(void* parameters, void* context, void* reserved);

// find_import() of the built-in drivers.
takt_npu_result_t FindBuiltInImport(const char* name,
                                    takt_npu_import_t* out_function,
                                    void** out_context);

}  // namespace takt::npu

#endif  // TAKT_NPU_PROGRAM_TABLE_H_
