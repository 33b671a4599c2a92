#include "npu/host_driver.h"

#include <cstdio>
#include <cstring>
#include <new>

#include "npu/built_in_driver.h"
#include "npu/driver_table.h"
#include "npu/program_table.h"
#include "npu/reference.h"

namespace takt::npu {
namespace {

struct HostUnit {
  Reference reference;
  HostAddressSpace memory;
  ProgramTable programs;
};

HostUnit& Of(void* unit) { return *static_cast<HostUnit*>(unit); }

takt_npu_result_t Open(const takt_npu_host_t*, const char* options,
                       void** out_unit, char* error, size_t error_bytes) {
  if (options[0] != '\0') {
    std::snprintf(error, error_bytes, "the driver takes no options");
    return TAKT_NPU_RESULT_INVALID;
  }
  *out_unit = new HostUnit;
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t Query(void*, takt_npu_capabilities_t* out) {
  takt_npu_capabilities_t given;
  std::memset(&given, 0, sizeof(given));
  std::snprintf(given.name, sizeof(given.name), "%s",
                "inner products of the CPU");
  given.flags = TAKT_NPU_HOST_MEMORY | TAKT_NPU_ON_CALLER | TAKT_NPU_COHERENT;
  given.kinds = Reference::kinds() | 1u << TAKT_NPU_KIND_PROGRAM;
  given.types = Reference::types();
  given.program_format = 1;
  given.scratchpad_bytes = CommandProgram::kScratchpadBytes;
  GiveStruct(given, out);
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t Submit(void* unit, const takt_npu_batch_t* batch) {
  HostUnit& host = Of(unit);
  takt_npu_result_t result = TAKT_NPU_RESULT_OK;
  for (size_t i = 0; i < batch->operation_count; ++i) {
    const takt_npu_operation_t& operation = batch->operations[i];
    if (operation.kind == TAKT_NPU_KIND_PROGRAM) {
      CommandProgram::Work work;
      result = host.programs.Run(operation.program, &work);
    } else {
      result = host.reference.Run(operation, host.memory);
    }
    if (result != TAKT_NPU_RESULT_OK) break;
  }
  batch->complete(batch->user_data, batch->id, result);
  return TAKT_NPU_RESULT_OK;
}

// A batch has ended when submit() returns.
takt_npu_result_t Cancel(void*, uint64_t) { return TAKT_NPU_RESULT_OK; }
takt_npu_result_t Reset(void*) { return TAKT_NPU_RESULT_OK; }

}  // namespace

const takt_npu_driver_t* HostDriver() {
  static const takt_npu_driver_t driver = [] {
    takt_npu_driver_t table = BuiltInDriver<HostUnit>("host");
    table.open = &Open;
    table.query = &Query;
    table.submit = &Submit;
    table.cancel = &Cancel;
    table.reset = &Reset;
    return table;
  }();
  return &driver;
}

}  // namespace takt::npu
