#include "tools/common/result_flags.h"

#include <cstdio>

#include "tools/common/main.h"
#include "tools/common/output.h"

namespace takt::tools {

void ResultFlags::AddTo(Flags* flags) {
  flags->AddTexts("output", &outputs, kOutputHelp);
  flags->AddTexts("expected_output", &expected,
                  "A result to compare with, as --input; (ignored) matches "
                  "anything.");
  tolerances.AddTo(flags);
  flags->AddNumber("output_max_element_count", 0, INT64_MAX, &element_count_max,
                   "How many elements of a tensor are printed.");
}

Result<std::vector<Input>> ResultFlags::ReadExpected(
    const Device& device, const Signature& signature) const {
  if (!outputs.empty()) {
    TAKT_TOOLS_RETURN_IF_ERROR(CheckOutputs(outputs, signature.result_count()));
  }
  InputFiles files;
  Result<std::vector<Input>> inputs =
      ParseInputs(device, ResultKinds(signature), expected, &files);
  if (!inputs.ok()) return Annotate(inputs.status(), "expected output ", "");
  return inputs;
}

Result<std::string> ResultFlags::Compare(
    const std::vector<Value>& results,
    const std::vector<Input>& expected_values) const {
  return CompareResults(results, expected_values, tolerances, printed_max());
}

Result<int> ResultFlags::PrintComparison(
    const std::vector<Value>& results,
    const std::vector<Input>& expected_values) const {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string differences,
                              Compare(results, expected_values));
  std::fputs(differences.empty() ? "[SUCCESS] all function outputs matched "
                                   "their expected values.\n"
                                 : differences.c_str(),
             stdout);
  return differences.empty() ? kSuccess : kFailure;
}

Status ResultFlags::PrintOrWrite(const std::vector<Value>& results) const {
  return outputs.empty() ? PrintResults(results, printed_max())
                         : WriteOutputs(results, outputs, printed_max());
}

}  // namespace takt::tools
