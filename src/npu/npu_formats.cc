#include "npu/npu_formats.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/exceptions.h"
#include "base/status.h"
#include "cpu/cpu_features.h"
#include "cpu/vmvx_executable.h"
#include "cpu/vmvx_module.h"
#include "npu/program_container.h"
#include "npu/program_executable.h"
#include "npu/request_executable.h"

namespace takt::npu {
namespace {

// Whether the bytes start like a module archive.
bool IsArchive(absl::Span<const uint8_t> data) {
  return data.size() >= 4 && data[0] == 'P' && data[1] == 'K' && data[2] == 3 &&
         data[3] == 4;
}

}  // namespace

bool NpuFormats::Takes(absl::string_view format) const {
  return format == kFormat || format == cpu::VmvxExecutable::kFormat;
}

absl::StatusOr<std::shared_ptr<cpu::ExecutableCode>> NpuFormats::Load(
    absl::string_view format, absl::Span<const uint8_t> data,
    const Ref<Object>& owner, absl::Span<const uint32_t> constants) {
  if (format != kFormat || IsArchive(data)) {
    TAKT_ASSIGN_OR_RETURN(auto vmvx_module, VmvxModule());
    TAKT_ASSIGN_OR_RETURN(auto code,
                          cpu::VmvxExecutable::Load(data, owner, constants,
                                                    std::move(vmvx_module),
                                                    /*is_sequential=*/true));
    unit_->CountCode();
    return std::make_shared<NpuRequestExecutable>(unit_, std::move(code));
  }
  if (!constants.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "NPU program: expected 0 constants, got ", constants.size()));
  }
  if (IsProgramContainer(data)) {
    TAKT_ASSIGN_OR_RETURN(data, ReadProgramContainer(data));
  }
  unit_->CountCode();
  return ProgramExecutable::Load(unit_, data);
}

std::shared_ptr<cpu::ExecutableCode> NpuFormats::Wrap(
    std::shared_ptr<cpu::ExecutableCode> code) {
  return std::make_shared<NpuRequestExecutable>(nullptr, std::move(code));
}

absl::StatusOr<Ref<vm::NativeModule>> NpuFormats::VmvxModule() {
  MutexLock lock(&mutex_);
  if (vmvx_module_ == nullptr) {
    TAKT_ASSIGN_OR_RETURN(
        vmvx_module_,
        cpu::CreateVmvxModule(kernels::SelectKernels(cpu::UsableInstructionSets(
                                  cpu::DetectProcessor())),
                              std::make_shared<NpuOffload>(unit_)));
  }
  return vmvx_module_;
}

absl::optional<cpu::ImportFunction> NpuFormats::Resolve(
    absl::string_view name) {
  Import import{unit_.get(), nullptr, nullptr};
  if (!unit_->FindImport(std::string(name), &import.function, &import.context)
           .ok()) {
    return absl::nullopt;
  }
  unit_->CountCode();
  MutexLock lock(&mutex_);
  // Executables may come and go; the device keeps each import once.
  for (Import& known : imports_) {
    if (known.function == import.function && known.context == import.context) {
      return cpu::ImportFunction{&NpuFormats::CallImport, &known};
    }
  }
  imports_.push_back(import);
  return cpu::ImportFunction{&NpuFormats::CallImport, &imports_.back()};
}

int NpuFormats::CallImport(void* parameters, void* context, void* reserved) {
  const auto* import = static_cast<const Import*>(context);
  NpuUnit& unit = *import->unit;
  // Nothing can be thrown through the code of a kernel.
  const absl::Status status = Attempt([&] {
    return unit.RunImport(
        NpuRequestScope::Current(),
        NpuRequestScope::CurrentPolicy(unit.policy()).time_limit_ns, [&] {
          return import->function(parameters, import->context, reserved);
        });
  });
  // The kernel cannot return the reason of its failure.
  if (!status.ok()) NpuRequestScope::NoteFailure(status);
  return static_cast<int>(status.raw_code());
}

}  // namespace takt::npu
