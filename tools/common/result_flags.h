// The flags that say what a tool does with a function's results.
#ifndef TAKT_TOOLS_COMMON_RESULT_FLAGS_H_
#define TAKT_TOOLS_COMMON_RESULT_FLAGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/common/expected.h"
#include "tools/common/flags.h"
#include "tools/common/status.h"

namespace takt::tools {

struct ResultFlags {
  std::vector<std::string> outputs;
  std::vector<std::string> expected;
  Tolerances tolerances;
  int64_t element_count_max = 1024;

  void AddTo(Flags* flags);

  // Compares `results` of a function of `signature` with --expected_output=:
  // what differs, as CompareResults() says it.
  Result<std::string> Compare(const Device& device, const Signature& signature,
                              const std::vector<Value>& results) const;

  // The same, printed to stdout; the tool's exit code.
  Result<int> PrintComparison(const Device& device, const Signature& signature,
                              const std::vector<Value>& results) const;

  // Prints or writes `results` as --output= says.
  Status PrintOrWrite(const std::vector<Value>& results) const;

  size_t printed_max() const { return static_cast<size_t>(element_count_max); }
};

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_RESULT_FLAGS_H_
