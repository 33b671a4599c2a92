// A Workload is the work of a machine. It has modules and functions, or kernels
// with their durations and programs of them, and streams that release jobs. For
// simulations it also has faults. ReadWorkload() reads it from JSON, in the
// format of docs/simulation.md and docs/planning.md.
//
// A profile holds the measured kernels and programs of functions in the same
// form; `takt-plan profile` writes it.
#ifndef TAKT_PLAN_WORKLOAD_H_
#define TAKT_PLAN_WORKLOAD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "sched/cost_model.h"
#include "sched/duration_estimate.h"
#include "sched/job_program.h"
#include "sched/machine.h"
#include "sched/profile.h"
#include "sched/stream.h"
#include "topology/topology.h"

namespace takt::plan {

struct WorkloadModule {
  std::string name;  // The module's own.
  std::string file;  // Relative to the workload's folder.
  std::vector<std::string> parameters;
  std::string content_hash;  // Of the profile; "" without one.
};

struct WorkloadFunction {
  std::string name;  // "module.function".
  uint32_t module = 0;
  // Its arguments, in the form of takt-run-module's --input.
  std::vector<std::string> inputs;
};

struct WorkloadKernel {
  std::string name;
  // `guess_ns` is the kernel's duration; the scheduler knows it, too.
  std::vector<sched::AlternativeOptions> alternatives;
  // Its key in profiles; absent: its number in the workload.
  absl::optional<sched::KernelKey> key = {};
  int32_t module = -1;  // Index into Workload::modules; -1: none.
  // In simulations: what it draws from memory on each of its resources, and the
  // part of its duration for which it waits for memory.
  double memory_gbps = 0;
  double memory_part = 0;
};

struct WorkloadProgram {
  std::string name;
  std::vector<sched::ProgramOperation> operations;
};

enum class Arrival : uint8_t {
  kPeriodic,  // At offset + n * period, each late by up to the jitter.
  kPoisson,   // On average once a period.
  kClosed,    // The next job when one is done or dropped.
  kAfter,     // When a job of another stream is done, with a probability.
  kOnce,      // `count` jobs, at the offset.
  kRecorded,  // At the times of WorkloadStream::recorded.
};

// A job of a recorded run, which a replay releases again.
struct RecordedJob {
  int64_t release_ns = 0;
  double duration_factor = 1;  // Of what its kernels take.
};

struct WorkloadStream {
  std::string name;
  // `terms.program` is the index into Workload::programs; sched::kNoProgram for
  // a function without a profile. With kAfter the deadline counts from the
  // release of the first job of the chain.
  sched::StreamOptions terms;
  int32_t function = -1;  // Index into Workload::functions; -1: none.
  uint32_t count = 1;     // kOnce.
  Arrival arrival = Arrival::kPeriodic;
  int64_t offset_ns = 0;
  int64_t jitter_ns = 0;
  uint32_t after = 0;  // kAfter: the stream.
  double probability = 1;
  bool asks_admission = false;
  // Whether operations are reported to the scheduler only when they are ready.
  bool is_dynamic = false;
  // kRecorded: all jobs, in order of their releases. kClosed: the duration
  // factors of its jobs, cycled. If it is empty, and for other arrivals, the
  // factors are random.
  std::vector<RecordedJob> recorded;
};

struct ResourceFault {
  int64_t at_ns = 0;
  int64_t length_ns = 0;  // kInfiniteFuture: for ever.
  uint32_t resource = 0;
};

struct SpeedStep {
  int64_t at_ns = 0;
  uint32_t pool = 0;
  uint32_t permille = 1000;
};

// A pool heats up in proportion to its load, and cools down towards the ambient
// temperature. Above `trip_c` it runs at `permille` of its speed, until it is
// `hysteresis_c` below.
struct ThermalModel {
  uint32_t pool = 0;
  double ambient_c = 40;
  double heating_c = 60;         // Final rise at full load.
  int64_t time_constant_ns = 0;  // To 63 % of that.
  double trip_c = 85;
  double hysteresis_c = 5;
  uint32_t permille = 600;
};

// The time that each core of a pool gets in each period (SCHED_DEADLINE).
struct PoolBudget {
  uint32_t pool = 0;
  int64_t budget_ns = 0;
  int64_t period_ns = 0;
};

enum class Objective : uint8_t { kMisses, kMakespan, kEnergy, kResponse };

struct Workload {
  std::string name;
  sched::Machine machine;
  sched::ResourceSet lost;  // Plans do not use them.
  std::vector<WorkloadModule> modules;
  std::vector<WorkloadFunction> functions;
  std::vector<WorkloadKernel> kernels;
  std::vector<WorkloadProgram> programs;
  std::vector<WorkloadStream> streams;
  std::vector<ResourceFault> faults;
  std::vector<SpeedStep> speed_steps;
  std::vector<ThermalModel> thermal_models;
  std::vector<PoolBudget> budgets;
  // What the memory of the machine gives to all together; 0: what they ask for.
  double memory_gbps = 0;
  // Relative standard deviation of durations.
  double noise = 0;
  // Whether no operation exceeds its 99 % quantile and no tile its duration, as
  // bounds on responses assume.
  bool is_within_q99 = false;
  // The objectives of a plan, the most important first.
  std::vector<Objective> objectives = {Objective::kMisses,
                                       Objective::kMakespan};
  // The power of a busy resource of each pool, in milliwatts.
  std::vector<double> power_mw;
  // The duration of a planned operation is this quantile,
  sched::Quantile planned_quantile = sched::Quantile::k90;
  // plus this time for the decision and the queue's work between two
  // operations.
  int64_t handover_ns = 0;
  std::string topology_hash;  // "" for a machine that the caller gave.
  std::string profile_hash;   // "" without one.

  // FAILED_PRECONDITION naming the first stream of a function that no profile
  // has measured.
  absl::Status RequirePrograms() const;

  // Multiplies the durations of all kernels.
  void Scale(double factor);
  // The load of the most loaded pool if the work is spread over the
  // alternatives as evenly as possible: above 1, no scheduler can do all of it.
  // Streams that are released when a job is done do not count. Method: the
  // linear program of the fractional assignment, by multiplicative weights
  // (Arora, Hazan and Kale, Theory of Computing 2012); good to 1 %.
  double Load() const;

  // The key of a kernel, for a cost model.
  sched::KernelKey KeyOf(uint32_t kernel) const;
  // Replaces the durations of kernels by the medians of a saved profile
  // (sched/profile.h). Errors: ReadProfile()'s; INVALID_ARGUMENT for two
  // kernels of one key.
  absl::StatusOr<sched::ProfileReport> ApplyProfile(absl::string_view bytes);
};

// A pool for each cluster of the board and for each of its NPUs. An NPU that
// is tied to a cluster takes one of its cores to feed it. INVALID_ARGUMENT if
// the scheduler does not support such a machine, for example because it has too
// many resources.
absl::StatusOr<sched::Machine> MachineOf(const topology::Topology& topology);

// The hash by which plans and profiles identify that board.
std::string TopologyHash(const topology::Topology& topology);

// The sources of the parts that a workload lacks.
struct WorkloadSources {
  // The machine. nullptr: the workload's "topology", or the profile's.
  const sched::Machine* machine = nullptr;
  // A profile (JSON); "": none, and functions stay without programs.
  absl::string_view profile;
};

// Reads a workload. Both texts may be hostile. INVALID_ARGUMENT naming the
// place and what was expected there.
absl::StatusOr<Workload> ReadWorkload(absl::string_view json,
                                      const WorkloadSources& sources);
// Reads a workload for `machine`, without a profile.
absl::StatusOr<Workload> ReadWorkload(absl::string_view json,
                                      const sched::Machine& machine);

}  // namespace takt::plan

#endif  // TAKT_PLAN_WORKLOAD_H_
