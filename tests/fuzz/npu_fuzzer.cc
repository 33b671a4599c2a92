// Reads the bytes as an NPU program, as a container of one and as a profile of
// the simulated driver, and runs the functions of a program that is accepted.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "npu/command_program.h"
#include "npu/program_container.h"
#include "npu/sim_profile.h"

namespace takt::npu {
namespace {

// A run may take seconds (CommandProgram::kStepCountMax), so only short
// functions are run, on small bindings and with small constants.
constexpr uint32_t kCommandsMax = 8;
constexpr size_t kFunctionsMax = 2;
constexpr size_t kBindingBytes = 6144;

void RunFunction(const CommandProgram& program, uint32_t index) {
  static std::vector<uint8_t> scratchpad(CommandProgram::kScratchpadBytes);
  const CommandProgram::Function& function = program.functions()[index];
  if (function.command_count > kCommandsMax) return;
  std::vector<std::vector<uint8_t>> memory(function.binding_count);
  std::vector<takt_npu_range_t> bindings;
  for (std::vector<uint8_t>& each : memory) {
    each.resize(kBindingBytes);
    bindings.push_back({each.data(), 0, 0, each.size()});
  }
  std::vector<uint32_t> constants(function.constant_count);
  for (size_t i = 0; i < constants.size(); ++i) constants[i] = 32 + i % 3 * 16;
  takt_npu_program_t dispatch = {};
  dispatch.function = index;
  dispatch.constants = constants.data();
  dispatch.constant_count = function.constant_count;
  dispatch.bindings = bindings.data();
  dispatch.binding_count = bindings.size();
  CommandProgram::Work work;
  program.Run(dispatch, absl::MakeSpan(scratchpad), &work);
}

void Read(absl::Span<const uint8_t> bytes) {
  if (IsProgramContainer(bytes)) {
    const auto contained = ReadProgramContainer(bytes);
    if (contained.ok() &&
        (contained->data() < bytes.data() || contained->end() > bytes.end())) {
      __builtin_trap();
    }
  }
  SimProfile::Parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()})
      .status()
      .IgnoreError();
  const auto program = CommandProgram::Parse(bytes);
  if (!program.ok()) return;
  for (uint32_t i = 0; i < (*program)->functions().size(); ++i) {
    if (i < kFunctionsMax) RunFunction(**program, i);
  }
}

}  // namespace
}  // namespace takt::npu

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  takt::npu::Read({data, size});
  return 0;
}
