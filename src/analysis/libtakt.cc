#include "analysis/libtakt.h"

#include "abi/status.h"
#include "base/status.h"
#include "plan/plan_file.h"
#include "trace/perfetto_reader.h"

namespace takt::analysis {
namespace {

bool Append(void* user_data, const void* data, size_t byte_length) {
  static_cast<std::string*>(user_data)->append(static_cast<const char*>(data),
                                               byte_length);
  return true;
}

}  // namespace

absl::StatusOr<std::string> PlanBytes(const takt_plan_t* plan) {
  char* data = nullptr;
  size_t byte_length = 0;
  TAKT_RETURN_IF_ERROR(
      abi::FromStatus(takt_plan_encode(plan, &data, &byte_length)));
  std::string bytes(data, byte_length);
  takt_string_free(data);
  return bytes;
}

absl::StatusOr<plan::Plan> ReadPlan(const takt_plan_t* plan) {
  TAKT_ASSIGN_OR_RETURN(const std::string bytes, PlanBytes(plan));
  return plan::DecodePlan(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

takt_status_t GivePlan(const char* source,
                       const absl::StatusOr<plan::Plan>& plan,
                       takt_plan_t** out_plan) {
  *out_plan = nullptr;
  if (!plan.ok()) return abi::ToStatus(source, plan.status());
  const std::string bytes = plan::EncodePlan(*plan);
  return takt_plan_load(nullptr, bytes.data(), bytes.size(), out_plan);
}

absl::StatusOr<topology::Topology> ReadTopology(
    const takt_topology_t* topology) {
  char* data = nullptr;
  TAKT_RETURN_IF_ERROR(abi::FromStatus(takt_topology_to_json(topology, &data)));
  const std::string json(data);
  takt_string_free(data);
  return topology::Topology::FromJson(json);
}

absl::StatusOr<Ref<trace::Trace>> ReadTrace(const takt_trace_t* trace) {
  std::string bytes;
  TAKT_RETURN_IF_ERROR(abi::FromStatus(
      takt_trace_write(trace, TAKT_TRACE_FORMAT_PERFETTO, Append, &bytes)));
  return trace::ReadPerfetto(bytes);
}

}  // namespace takt::analysis
