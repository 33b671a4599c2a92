// The simulator's names for the workloads of src/plan.
#ifndef TAKT_SIM_WORKLOAD_H_
#define TAKT_SIM_WORKLOAD_H_

#include "plan/workload.h"

namespace takt::sim {

using plan::Arrival;
using plan::MachineOf;
using plan::PoolBudget;
using plan::ReadWorkload;
using plan::RecordedJob;
using plan::ResourceFault;
using plan::SpeedStep;
using plan::ThermalModel;
using plan::Workload;
using plan::WorkloadKernel;
using plan::WorkloadProgram;
using plan::WorkloadStream;

}  // namespace takt::sim

#endif  // TAKT_SIM_WORKLOAD_H_
