// The programs, imports and memory of a unit.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "npu/npu_unit.h"

namespace takt::npu {

absl::StatusOr<uint64_t> NpuUnit::LoadProgram(absl::Span<const uint8_t> data) {
  if (driver_.load_program == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("NPU ", driver_.name, " takes no programs"));
  }
  uint64_t program = 0;
  const ScopedLease lease(lease_);
  const takt_npu_result_t result = KnownResult(
      driver_.load_program(unit_, data.data(), data.size(), &program));
  if (result == TAKT_NPU_RESULT_INVALID) {
    return absl::DataLossError(absl::StrCat(
        "NPU ", driver_.name, ": ", data.size(), " bytes that are no program"));
  }
  // No text without an error: to find no memory for it would lose the program.
  if (result == TAKT_NPU_RESULT_OK) return program;
  return ResultStatus(result, absl::StrCat("NPU ", driver_.name, ": program"));
}

void NpuUnit::UnloadProgram(uint64_t program) {
  const ScopedLease lease(lease_);
  driver_.unload_program(unit_, program);
}

absl::StatusOr<std::vector<takt_npu_function_t>> NpuUnit::DescribeFunctions(
    uint64_t program) {
  // More functions than any compiler writes. A driver that reports more is
  // faulty, and the loop must end.
  constexpr size_t kCountMax = 4096;
  std::vector<takt_npu_function_t> functions;
  takt_npu_result_t result = TAKT_NPU_RESULT_OK;
  const ScopedLease lease(lease_);
  while (functions.size() <= kCountMax) {
    takt_npu_function_t function;
    std::memset(&function, 0, sizeof(function));
    function.struct_size = sizeof(function);
    result = KnownResult(
        driver_.describe_function(unit_, program, functions.size(), &function));
    if (result != TAKT_NPU_RESULT_OK) break;
    function.name[sizeof(function.name) - 1] = '\0';
    functions.push_back(function);
  }
  if (result == TAKT_NPU_RESULT_INVALID) return functions;
  if (result == TAKT_NPU_RESULT_OK) {
    return absl::DataLossError(absl::StrCat("NPU ", driver_.name,
                                            ": a program of more than ",
                                            kCountMax, " functions"));
  }
  return ResultStatus(result, absl::StrCat("NPU ", driver_.name, ": program"));
}

absl::Status NpuUnit::FindImport(const std::string& name,
                                 takt_npu_import_t* out_function,
                                 void** out_context) {
  *out_function = nullptr;
  *out_context = nullptr;
  takt_npu_result_t result = TAKT_NPU_RESULT_UNSUPPORTED;
  if (driver_.find_import != nullptr) {
    const ScopedLease lease(lease_);
    result = KnownResult(
        driver_.find_import(unit_, name.c_str(), out_function, out_context));
  }
  if (result == TAKT_NPU_RESULT_OK && *out_function != nullptr) {
    return absl::OkStatus();
  }
  return absl::NotFoundError(
      absl::StrCat("NPU ", driver_.name, " has no import ", name));
}

absl::StatusOr<uint64_t> NpuUnit::Allocate(uint64_t byte_length) {
  if (driver_.allocate == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("NPU ", driver_.name, " has no memory of its own"));
  }
  uint64_t buffer = 0;
  const ScopedLease lease(lease_);
  const takt_npu_result_t result =
      KnownResult(driver_.allocate(unit_, byte_length, &buffer));
  if (result == TAKT_NPU_RESULT_OK) return buffer;  // As in LoadProgram().
  return ResultStatus(result,
                      absl::StrCat("NPU ", driver_.name, ": ", byte_length,
                                   " bytes of its memory"));
}

void NpuUnit::Free(uint64_t buffer) {
  const ScopedLease lease(lease_);
  driver_.free_buffer(unit_, buffer);
}

}  // namespace takt::npu
