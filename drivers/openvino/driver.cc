#include "drivers/openvino/driver.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "drivers/openvino/options.h"
#include "drivers/openvino/unit.h"

namespace takt::openvino {
namespace {

// What Takt has of a unit. Functions of the table are noexcept: memory that
// runs out here ends the process, as in Takt.
struct Handle {
  std::shared_ptr<Unit> unit;
};

Unit& UnitOf(void* handle) { return *static_cast<Handle*>(handle)->unit; }

// Copies what the caller knows of a struct that begins with struct_size.
template <typename T>
void Give(T from, T* to) {
  from.struct_size = to->struct_size;
  std::memcpy(to, &from, std::min(to->struct_size, sizeof(from)));
}

takt_npu_result_t Open(const takt_npu_host_t*, const char* text,
                       void** out_unit, char* error,
                       size_t error_bytes) noexcept {
  Options options;
  std::string problem = ReadOptions(text, &options);
  takt_npu_result_t result = TAKT_NPU_RESULT_INVALID;
  std::shared_ptr<Unit> unit;
  if (problem.empty()) {
    result = Unit::Open(Calls(), std::move(options), &unit, &problem);
  }
  if (result != TAKT_NPU_RESULT_OK) {
    std::snprintf(error, error_bytes, "%s", problem.c_str());
    return result;
  }
  *out_unit = new (std::nothrow) Handle{unit};
  if (*out_unit != nullptr) return TAKT_NPU_RESULT_OK;
  unit->Close();
  return TAKT_NPU_RESULT_NO_MEMORY;
}

void Close(void* handle) noexcept {
  UnitOf(handle).Close();
  delete static_cast<Handle*>(handle);
}

takt_npu_result_t Query(void* handle, takt_npu_capabilities_t* out) noexcept {
  Give(UnitOf(handle).capabilities(), out);
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t Submit(void* handle, const takt_npu_batch_t* batch) noexcept {
  return UnitOf(handle).Submit(*batch);
}

takt_npu_result_t Cancel(void* handle, uint64_t id) noexcept {
  return UnitOf(handle).Cancel(id);
}

takt_npu_result_t Reset(void* handle) noexcept {
  return UnitOf(handle).Reset();
}

takt_npu_result_t Telemetry(void* handle, takt_npu_telemetry_t* out) noexcept {
  Give(UnitOf(handle).telemetry(), out);
  return TAKT_NPU_RESULT_OK;
}

takt_npu_result_t LoadProgram(void* handle, const uint8_t* data,
                              size_t byte_length,
                              uint64_t* out_program) noexcept {
  return UnitOf(handle).Load({data, byte_length}, out_program);
}

void UnloadProgram(void* handle, uint64_t program) noexcept {
  UnitOf(handle).Unload(program);
}

takt_npu_result_t DescribeFunction(void* handle, uint64_t program,
                                   uint64_t function,
                                   takt_npu_function_t* out) noexcept {
  const Model* const model = UnitOf(handle).Find(program);
  if (model == nullptr || function != 0) return TAKT_NPU_RESULT_INVALID;
  takt_npu_function_t description = {};
  std::snprintf(description.name, sizeof(description.name), "%s",
                model->function().c_str());
  description.binding_count = static_cast<uint32_t>(model->binding_count());
  Give(description, out);
  return TAKT_NPU_RESULT_OK;
}

constexpr takt_npu_driver_t MakeTable() {
  takt_npu_driver_t table = {};
  table.struct_size = sizeof(table);
  table.version = TAKT_NPU_DRIVER_VERSION;
  table.name = "openvino";
  table.open = &Open;
  table.close = &Close;
  table.query = &Query;
  table.submit = &Submit;
  table.cancel = &Cancel;
  table.reset = &Reset;
  table.telemetry = &Telemetry;
  table.load_program = &LoadProgram;
  table.unload_program = &UnloadProgram;
  table.describe_function = &DescribeFunction;
  return table;
}
constexpr takt_npu_driver_t kTable = MakeTable();

}  // namespace
}  // namespace takt::openvino

const takt_npu_driver_t* takt_npu_driver_query(uint32_t version) {
  return version == TAKT_NPU_DRIVER_VERSION ? &takt::openvino::kTable : nullptr;
}
