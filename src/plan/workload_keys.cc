#include "plan/workload_keys.h"

#include "base/status.h"
#include "plan/json_fields.h"

namespace takt::plan {

absl::Status CheckModuleKeys(const JsonPlace& place) {
  return place.CheckKeys({"name", "file", "parameters"});
}

absl::Status CheckFunctionKeys(const JsonPlace& place) {
  return place.CheckKeys({"function", "inputs"});
}

absl::Status CheckKernelKeys(const JsonPlace& place) {
  return place.CheckKeys({"name", "alternatives", "module", "export", "grid",
                          "module_name", "function", "memory_gbps",
                          "memory_part"});
}

absl::Status CheckAlternativeKeys(const JsonPlace& place) {
  return place.CheckKeys({"pool", "shards", "duration_us", "duration_ms",
                          "duration_s", "tile_us", "tile_ms", "tile_s",
                          "samples", "measured", "q50_us", "q90_us", "q99_us",
                          "contended", "sensitivity", "pressure"});
}

absl::Status CheckProgramKeys(const JsonPlace& place) {
  return place.CheckKeys({"name", "operations"});
}

absl::Status CheckOperationKeys(const JsonPlace& place) {
  return place.CheckKeys({"kernel", "after", "count"});
}

absl::Status CheckStreamKeys(const JsonPlace& place) {
  return place.CheckKeys(
      {"name",       "program",   "function",    "count",       "period_us",
       "period_ms",  "period_s",  "offset_us",   "offset_ms",   "offset_s",
       "jitter_us",  "jitter_ms", "jitter_s",    "deadline_us", "deadline_ms",
       "deadline_s", "priority",  "criticality", "late",        "lease",
       "pools",      "affinity",  "shards",      "probability", "arrival",
       "after",      "admission", "dynamic",     "met_min",     "met_window",
       "share",      "weight"});
}

absl::Status CheckFaultKeys(const JsonPlace& place) {
  return place.CheckKeys({"at_us", "at_ms", "at_s", "length_us", "length_ms",
                          "length_s", "pool", "index"});
}

absl::Status CheckSpeedKeys(const JsonPlace& place) {
  return place.CheckKeys({"at_us", "at_ms", "at_s", "pool", "speed"});
}

absl::Status CheckThermalKeys(const JsonPlace& place) {
  return place.CheckKeys({"pool", "ambient_c", "heating_c", "time_constant_us",
                          "time_constant_ms", "time_constant_s", "trip_c",
                          "hysteresis_c", "speed"});
}

absl::Status CheckBudgetKeys(const JsonPlace& place) {
  return place.CheckKeys({"pool", "budget_us", "budget_ms", "budget_s",
                          "period_us", "period_ms", "period_s"});
}

absl::Status CheckWholeKernelKeys(const JsonPlace& place) {
  TAKT_RETURN_IF_ERROR(CheckKernelKeys(place));
  return ForEachElement(place, "alternatives", CheckAlternativeKeys);
}

absl::Status CheckWholeProgramKeys(const JsonPlace& place) {
  TAKT_RETURN_IF_ERROR(CheckProgramKeys(place));
  return ForEachElement(place, "operations", CheckOperationKeys);
}

}  // namespace takt::plan
