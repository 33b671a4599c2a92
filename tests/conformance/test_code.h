// The functions that the conformance suite dispatches, in C++.
#ifndef TAKT_TESTS_CONFORMANCE_TEST_CODE_H_
#define TAKT_TESTS_CONFORMANCE_TEST_CODE_H_

#include <cstring>

#include "cpu/loaded_executable.h"
#include "tests/conformance/device_conformance.h"

namespace takt::conformance {

// The suite's functions, as a format loader returns them.
class TestCode final : public cpu::ExecutableCode {
 public:
  TestCode() {
    SetFunctions({Function{"add_constant", 1, 1, 0, false},
                  Function{"accumulate", 0, 2, 256, false},
                  Function{"fail", 0, 0, 0, false},
                  Function{"mark_order", 0, 1, 0, true},
                  Function{"denormal", 0, 1, 0, false}});
  }

  absl::Status RunWorkgroups(size_t function,
                             const cpu::DispatchArguments& arguments,
                             uint32_t begin, uint32_t end,
                             exec::Worker& worker) override {
    auto* first = arguments.binding_count > 0
                      ? static_cast<uint32_t*>(arguments.bindings[0])
                      : nullptr;
    for (uint32_t i = begin; i < end; ++i) {
      switch (function) {
        case kAddConstant:
          first[i] += arguments.constants[0];
          break;
        case kAccumulate: {
          auto* target = static_cast<uint32_t*>(arguments.bindings[1]);
          EXPECT_GE(worker.local_bytes, 256u);
          std::memcpy(worker.local_memory, &first[i], sizeof(uint32_t));
          uint32_t value = 0;
          std::memcpy(&value, worker.local_memory, sizeof(uint32_t));
          target[i] = target[i] * 3 + value;
          break;
        }
        case kFail:
          return absl::InternalError("fail: workgroup");
        case kMarkOrder:
          first[i + 1] = first[0]++;
          break;
        case kDenormal: {
          volatile float value, one = 1.0f;
          std::memcpy(const_cast<float*>(&value), first, sizeof(float));
          const float product = value * one;
          std::memcpy(first + 1, &product, sizeof(float));
          break;
        }
      }
    }
    return absl::OkStatus();
  }
};

}  // namespace takt::conformance

#endif  // TAKT_TESTS_CONFORMANCE_TEST_CODE_H_
