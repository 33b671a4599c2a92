// Reads the bytes as an instance of a job-shop problem in both text formats.
// A small one that is accepted gets a list schedule.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "absl/strings/string_view.h"
#include "solve/instance_reader.h"
#include "solve/solver.h"

namespace {

void Check(const absl::StatusOr<takt::solve::Problem>& problem) {
  if (!problem.ok()) {
    if (problem.status().message().empty()) std::abort();
    return;
  }
  if (problem->operations.size() > 64) return;
  takt::solve::SolverOptions options;
  options.step_limit = 2;
  takt::solve::Solve(*problem, options).status().IgnoreError();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  Check(takt::solve::ReadFjs(text));
  Check(takt::solve::ReadFajs(text));
  return 0;
}
