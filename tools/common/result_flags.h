// The flags that say what a tool does with a function's results.
#ifndef TAKT_TOOLS_COMMON_RESULT_FLAGS_H_
#define TAKT_TOOLS_COMMON_RESULT_FLAGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/common/expected.h"
#include "tools/common/flags.h"
#include "tools/common/input.h"
#include "tools/common/status.h"

namespace takt::tools {

struct ResultFlags {
  std::vector<std::string> outputs;
  std::vector<std::string> expected;
  Tolerances tolerances;
  int64_t element_count_max = 1024;

  void AddTo(Flags* flags);

  // Reads the flags for a function of `signature` before it runs, so that a
  // wrong one is known before a long run. The values of --expected_output=.
  //
  // Errors: as CheckOutputs() and ParseInputs().
  Result<std::vector<Input>> ReadExpected(const Device& device,
                                          const Signature& signature) const;

  // Compares `results` with those of ReadExpected(): what differs, as
  // CompareResults() says it.
  Result<std::string> Compare(const std::vector<Value>& results,
                              const std::vector<Input>& expected_values) const;

  // The same, printed to stdout; the tool's exit code.
  Result<int> PrintComparison(const std::vector<Value>& results,
                              const std::vector<Input>& expected_values) const;

  // Prints or writes `results` as --output= says.
  Status PrintOrWrite(const std::vector<Value>& results) const;

  size_t printed_max() const { return static_cast<size_t>(element_count_max); }
};

}  // namespace takt::tools

#endif  // TAKT_TOOLS_COMMON_RESULT_FLAGS_H_
