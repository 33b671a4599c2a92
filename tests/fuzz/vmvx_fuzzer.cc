// Loads the bytes as an executable of the format vmvx-bytecode-fb. Its tables
// and its code are checked and linked with the kernels of vmvx_module.h;
// initializers run, workgroups do not.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cpu/cpu_features.h"
#include "cpu/vmvx_executable.h"
#include "cpu/vmvx_module.h"
#include "kernels/kernel_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace takt::cpu;  // NOLINT(google-build-using-namespace)
  static const auto* const module = new auto(CreateVmvxModule(
      takt::kernels::SelectKernels(UsableInstructionSets(DetectProcessor()))));
  if (!module->ok()) std::abort();
  const uint32_t constants[] = {1, 2, 3};
  VmvxExecutable::Load({data, size}, nullptr, constants, **module)
      .status()
      .IgnoreError();
  VmvxExecutable::Load({data, size}, nullptr, {}, **module)
      .status()
      .IgnoreError();
  return 0;
}
