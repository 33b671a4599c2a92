// Comparing results with what --expected_output= says.
#ifndef TAKT_TOOLS_COMMON_EXPECTED_H_
#define TAKT_TOOLS_COMMON_EXPECTED_H_

#include <string>
#include <vector>

#include "tools/common/flags.h"
#include "tools/common/input.h"

namespace takt::tools {

// How far a float may be off: |actual - expected| <= the type's absolute
// tolerance + relative * |expected|. NaN equals NaN; infinities are equal by
// their sign. Other elements must be equal.
struct Tolerances {
  double f16 = 1e-3;
  double f32 = 1e-4;
  double f64 = 1e-4;
  double bf16 = 1e-2;
  double relative = 1e-5;
  std::string mode = "approximate";  // Or "exact": the bytes are equal.

  void AddTo(Flags* flags);
};

// What differs, as text for stdout: a paragraph for each result that does; ""
// if all are as expected.
//
// Errors: a tensor that cannot be read.
Result<std::string> CompareResults(const std::vector<Value>& actual,
                                   const std::vector<Input>& expected,
                                   const Tolerances& tolerances,
                                   size_t element_count_max);

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_EXPECTED_H_
