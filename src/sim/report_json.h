// A report as JSON and as a table for people.
#ifndef TAKT_SIM_REPORT_JSON_H_
#define TAKT_SIM_REPORT_JSON_H_

#include <string>

#include "sim/simulation.h"
#include "sim/workload.h"

namespace takt::sim {

// Ends with a newline. The same report gives the same text.
std::string ReportJson(const Workload& workload,
                       const SimulationOptions& options, const Report& report);
std::string ReportTable(const Workload& workload,
                        const SimulationOptions& options, const Report& report);

}  // namespace takt::sim

#endif  // TAKT_SIM_REPORT_JSON_H_
