// Device code for tests, without a compiler: two functions over u32.
#ifndef TAKT_TESTS_MODULES_TEST_CODE_H_
#define TAKT_TESTS_MODULES_TEST_CODE_H_

#include <memory>

#include "cpu/loaded_executable.h"

namespace takt::modules {

// "add" (2 constants, 1 binding): each workgroup adds both constants to its
// element of the binding. "sum" (no constants, 3 bindings): element i of the
// third becomes that of the first plus that of the second.
class TestCode final : public cpu::ExecutableCode {
 public:
  enum : uint64_t { kAdd = 0, kSum = 1 };

  static Ref<hal::Executable> Load() {
    return MakeRef<cpu::LoadedExecutable>(std::make_shared<TestCode>());
  }

  TestCode() {
    SetFunctions(
        {Function{"add", 2, 1, 0, false}, Function{"sum", 0, 3, 0, false}});
  }

  absl::Status RunWorkgroups(size_t function,
                             const cpu::DispatchArguments& arguments,
                             uint32_t begin, uint32_t end,
                             exec::Worker& worker) override {
    auto binding = [&arguments](size_t i) {
      return static_cast<uint32_t*>(arguments.bindings[i]);
    };
    for (uint32_t i = begin; i < end; ++i) {
      if (function == kAdd) {
        binding(0)[i] += arguments.constants[0] + arguments.constants[1];
      } else {
        binding(2)[i] = binding(0)[i] + binding(1)[i];
      }
    }
    return absl::OkStatus();
  }
};

}  // namespace takt::modules

#endif  // TAKT_TESTS_MODULES_TEST_CODE_H_
