#include "npu/program_executable.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/narrow.h"
#include "base/status.h"
#include "hal/command_buffer.h"
#include "npu/request_executable.h"

namespace takt::npu {

absl::StatusOr<std::shared_ptr<cpu::ExecutableCode>> ProgramExecutable::Load(
    Ref<NpuUnit> unit, absl::Span<const uint8_t> data) {
  if ((unit->capabilities().kinds >> TAKT_NPU_KIND_PROGRAM & 1) == 0) {
    return absl::UnimplementedError(
        absl::StrCat("NPU ", unit->driver_name(), " runs no programs"));
  }
  // Made before the program is loaded, so that nothing can lose the program.
  std::shared_ptr<ProgramExecutable> code(
      new ProgramExecutable(std::move(unit)));
  TAKT_ASSIGN_OR_RETURN(code->program_, code->unit_->LoadProgram(data));
  TAKT_ASSIGN_OR_RETURN(const auto described,
                        code->unit_->DescribeFunctions(code->handle()));
  std::vector<Function> functions;
  for (const takt_npu_function_t& each : described) {
    if (each.constant_count > hal::CommandBuffer::kMaxDispatchConstants ||
        each.binding_count > hal::CommandBuffer::kMaxDispatchBindings) {
      return absl::DataLossError(absl::StrCat(
          "NPU program: function ", each.name, " with ", each.constant_count,
          " constants and ", each.binding_count, " bindings"));
    }
    Function function;
    function.name = each.name;
    function.constant_count = each.constant_count;
    function.binding_count = each.binding_count;
    function.is_sequential = true;
    functions.push_back(std::move(function));
  }
  code->SetFunctions(std::move(functions));
  return code;
}

ProgramExecutable::~ProgramExecutable() {
  if (program_.has_value()) unit_->UnloadProgram(*program_);
}

absl::Status ProgramExecutable::RunWorkgroups(
    size_t function, const cpu::DispatchArguments& arguments, uint32_t begin,
    uint32_t end, exec::Worker& worker) {
  TAKT_CHECK(function < functions().size());
  TAKT_CHECK(arguments.binding_count == functions()[function].binding_count);
  // The first workgroup runs the whole program: workgroups come in order, on
  // one thread.
  if (begin != 0 || end == 0) return absl::OkStatus();
  constexpr size_t kFew = 16;
  absl::InlinedVector<takt_npu_range_t, kFew> bindings(arguments.binding_count);
  for (size_t i = 0; i < bindings.size(); ++i) {
    std::memset(&bindings[i], 0, sizeof(bindings[i]));
    bindings[i].data = static_cast<uint8_t*>(arguments.bindings[i]);
    bindings[i].byte_length = arguments.binding_lengths[i];
  }
  takt_npu_operation_t operation;
  std::memset(&operation, 0, sizeof(operation));
  operation.kind = TAKT_NPU_KIND_PROGRAM;
  takt_npu_program_t& run = operation.program;
  run.program = handle();
  run.function = function;
  for (size_t d = 0; d < 3; ++d) {
    run.workgroups[d] = arguments.workgroup_count[d];
  }
  run.constants = arguments.constants;
  run.constant_count = Narrow<uint32_t>(arguments.constant_count);
  run.bindings = bindings.data();
  run.binding_count = bindings.size();
  NpuRequest request;
  request.urgency = UrgencyOf(arguments.traits);
  NpuFaultPolicy policy = unit_->policy();
  if (arguments.faults != nullptr)
    policy = PolicyFor(*arguments.faults, policy);
  request.policy = &policy;
  request.is_repeatable = false;
  const absl::Status status = unit_->Run({&operation, 1}, request);
  if (!status.ok()) unit_->NoteFault(NpuFaultAction::kFail);
  return Annotate(status, functions()[function].name);
}

}  // namespace takt::npu
