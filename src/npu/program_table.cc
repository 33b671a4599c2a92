#include "npu/program_table.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/narrow.h"

namespace takt::npu {
namespace {

// The parameters of npu_matmul_i8.
struct MatmulParameters {
  int32_t result;
  const int8_t* left;
  int64_t left_offset;
  const int8_t* right;
  int64_t right_offset;
  uint32_t* out;
  int64_t out_offset;
  int64_t m;
  int64_t n;
  int64_t k;
};
static_assert(offsetof(MatmulParameters, left) == 8);
static_assert(offsetof(MatmulParameters, k) == 72);

}  // namespace

takt_npu_result_t ProgramTable::Load(const uint8_t* data, size_t byte_length,
                                     uint64_t* out_program) {
  auto program = CommandProgram::Parse({data, byte_length});
  if (!program.ok()) return TAKT_NPU_RESULT_INVALID;
  *out_program = ++last_;
  programs_[last_] = *std::move(program);
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t ProgramTable::Describe(uint64_t program, uint64_t function,
                                         takt_npu_function_t* out) const {
  const auto found = programs_.find(program);
  if (found == programs_.end()) return TAKT_NPU_RESULT_INVALID;
  const auto& functions = found->second->functions();
  if (function >= functions.size()) return TAKT_NPU_RESULT_INVALID;
  const CommandProgram::Function& from = functions[function];
  std::snprintf(out->name, sizeof(out->name), "%s", from.name.c_str());
  out->constant_count = from.constant_count;
  out->binding_count = from.binding_count;
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t ProgramTable::Run(const takt_npu_program_t& dispatch,
                                    CommandProgram::Work* work) {
  const auto found = programs_.find(dispatch.program);
  if (found == programs_.end()) return TAKT_NPU_RESULT_INVALID;
  if (scratchpad_.empty()) {
    scratchpad_.resize(CommandProgram::kScratchpadBytes);
  }
  return found->second->Run(dispatch, absl::MakeSpan(scratchpad_), work);
}

int MatmulS8Import(void* parameters, void*, void*) {
  auto& p = *static_cast<MatmulParameters*>(parameters);
  const int8_t* const left = p.left + p.left_offset;
  const int8_t* const right = p.right + p.right_offset;
  uint32_t* const out = p.out + p.out_offset;
  for (int64_t i = 0; i < p.m; ++i) {
    uint32_t* const row = out + i * p.n;
    std::fill(row, row + p.n, 0u);
    for (int64_t k = 0; k < p.k; ++k) {
      const auto x = Truncate<uint32_t>(left[i * p.k + k]);
      for (int64_t j = 0; j < p.n; ++j) {
        row[j] += x * Truncate<uint32_t>(right[k * p.n + j]);
      }
    }
  }
  p.result = 0;
  return 0;
}

takt_npu_result_t FindBuiltInImport(const char* name,
                                    takt_npu_import_t* out_function,
                                    void** out_context) {
  if (std::strcmp(name, "npu_matmul_i8") != 0)
    return TAKT_NPU_RESULT_UNSUPPORTED;
  *out_function = &MatmulS8Import;
  *out_context = nullptr;
  return TAKT_NPU_RESULT_OK;
}

}  // namespace takt::npu
