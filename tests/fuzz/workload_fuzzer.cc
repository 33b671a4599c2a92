// Reads the bytes up to the first NUL as a topology, as the catalogue of a
// benchmark, and as a workload whose profile are the bytes after it. A small
// workload that is accepted is planned, and its responses are bounded.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "absl/strings/string_view.h"
#include "plan/response_analysis.h"
#include "plan/workload.h"
#include "plan/workload_plan.h"
#include "sim/xrbench.h"
#include "topology/topology.h"

namespace takt {
namespace {

constexpr size_t kOperationsMax = 64;

void ReadTopology(absl::string_view text) {
  const auto topology = topology::Topology::FromJson(text);
  if (!topology.ok()) return;
  // What is accepted can be written and read.
  if (!topology::Topology::FromJson(topology->ToJson()).ok()) std::abort();
  plan::MachineOf(*topology).status().IgnoreError();
}

void Plan(const plan::Workload& workload) {
  const auto unrolled = plan::UnrollWorkload(workload);
  if (unrolled.ok() && unrolled->plan.operations.size() <= kOperationsMax) {
    solve::SolverOptions options;
    options.step_limit = 2;
    plan::PlanWorkload(workload, options).status().IgnoreError();
  }
  plan::AnalyseResponses(workload).status().IgnoreError();
}

void Read(absl::string_view bytes) {
  const size_t end = std::min(bytes.find('\0'), bytes.size());
  const absl::string_view text = bytes.substr(0, end);
  ReadTopology(text);
  sched::Machine machine;
  machine.pools.resize(1);
  machine.pools[0].name = "big";
  sim::ReadXrBench(text, machine, {}).status().IgnoreError();
  plan::WorkloadSources sources;
  sources.profile = bytes.substr(std::min(end + 1, bytes.size()));
  const auto workload = plan::ReadWorkload(text, sources);
  if (workload.ok()) Plan(*workload);
}

}  // namespace
}  // namespace takt

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  takt::Read({reinterpret_cast<const char*>(data), size});
  return 0;
}
