// What the tests of imports share: a buffer as compiled kernels lay it out
// among the parameters, and faults of parameters.
#ifndef TAKT_TESTS_CPU_IMPORT_BUFFER_H_
#define TAKT_TESTS_CPU_IMPORT_BUFFER_H_

#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"

namespace takt::cpu {

struct ImportBuffer {
  const void* base;
  int64_t offset;
  int64_t size;
};

// Calls `check` with a copy of `good` for each fault, which is in the copy.
template <typename P, typename Check>
void WithEachFault(
    const P& good,
    const std::vector<std::function<void(std::type_identity_t<P>&)>>& faults,
    const Check& check) {
  for (size_t i = 0; i < faults.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "fault " << i);
    P parameters = good;
    faults[i](parameters);
    check(parameters);
  }
}

}  // namespace takt::cpu

#endif  // TAKT_TESTS_CPU_IMPORT_BUFFER_H_
