#include "runtime/worker_options.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"

namespace takt::runtime {
namespace {

// More threads than any machine that Takt is meant for has CPUs.
constexpr int32_t kWorkerCountMax = 1024;

// Linux keeps 15 characters of a thread's name; "-1023" follows this one.
constexpr size_t kNameLengthMax = 10;

// The least budget, and the longest period, that Linux has for SCHED_DEADLINE.
// It has limits of periods beside that, which can be set.
constexpr int64_t kBudgetLeastNs = 1024;
constexpr int64_t kPeriodMostNs = 4'294'967'296;

absl::Status CheckReservation(const WorkerOptions& options) {
  const ThreadReservation& given = options.reservation;
  if (given.budget_ns == 0 && given.period_ns == 0) return absl::OkStatus();
  if (given.budget_ns < kBudgetLeastNs || given.budget_ns > given.period_ns ||
      given.period_ns > kPeriodMostNs) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: worker_budget_ns: expected ", kBudgetLeastNs,
                     " to worker_period_ns, and that at most ", kPeriodMostNs,
                     ", got ", given.budget_ns, " and ", given.period_ns));
  }
  if (options.fifo_priority != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "options: worker_budget_ns: a worker has a budget or a priority, got "
        "worker_fifo_priority ",
        options.fifo_priority));
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const WorkerOptions& options) {
  if (options.count < WorkerOptions::kDefaultCount ||
      options.count > kWorkerCountMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "options: worker_count: expected ", WorkerOptions::kDefaultCount,
        " to ", kWorkerCountMax, ", got ", options.count));
  }
  if (options.spin_ns < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "options: worker_spin_ns: expected 0 or more, got ", options.spin_ns));
  }
  if (options.fifo_priority < 0 || options.fifo_priority > kFifoPriorityMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: worker_fifo_priority: expected 0 to ",
                     kFifoPriorityMax, ", got ", options.fifo_priority));
  }
  TAKT_RETURN_IF_ERROR(CheckReservation(options));
  if (options.hooks.create == nullptr && options.hooks.join != nullptr) {
    return absl::InvalidArgumentError(
        "options: worker_threads: join without create");
  }
  const int32_t share = options.cores_share_permille;
  if (share < 0 || share > 1000 || (share > 0 && options.cores_path.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: cores_share_permille: expected 0 to 1000, and "
                     "a cores_path, got ",
                     share));
  }
  return absl::OkStatus();
}

// Places a worker on each of the CPUs, up to the number of workers.
absl::Status PlaceWorkers(const std::string& text,
                          const topology::Topology* topology,
                          int32_t worker_count, ResolvedWorkers* workers) {
  exec::Executor::Options* const options = &workers->options;
  absl::StatusOr<CpuSet> cpus = CpuSet::Parse(text);
  if (!cpus.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: worker_cpus: ", cpus.status().message()));
  }
  const CpuSet present =
      topology != nullptr ? topology->cpu_set() : topology::AllowedCpus();
  const CpuSet usable = *cpus & present;
  if (usable.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: worker_cpus: none of \"", text,
                     "\" is among the CPUs ", present.ToString()));
  }
  usable.ForEach([&](uint32_t cpu) {
    if (worker_count >= 0 &&
        options->placement.size() == static_cast<size_t>(worker_count)) {
      return;
    }
    CpuSet place;
    place.Add(cpu);
    options->placement.push_back(std::move(place));
  });
  options->worker_count = static_cast<uint32_t>(options->placement.size());
  cpus->ForEach([&](uint32_t cpu) {
    if (!present.Contains(cpu)) workers->absent_cpus.Add(cpu);
  });
  workers->wanted_count =
      worker_count >= 0 ? static_cast<uint32_t>(worker_count) : cpus->count();
  TAKT_CHECK(options->worker_count <= usable.count());
  return absl::OkStatus();
}

// The CPUs of the topology that are in all of `cpus`, the cluster and the NUMA
// node.
absl::StatusOr<CpuSet> SelectCpus(const ExecutorOptions& options,
                                  const topology::Topology& topology) {
  CpuSet cpus = topology.cpu_set();
  if (options.workers.cpus.has_value()) {
    absl::StatusOr<CpuSet> given = CpuSet::Parse(*options.workers.cpus);
    if (!given.ok()) return Annotate(given.status(), "options: cpus");
    cpus = cpus & *given;
  }
  const auto matches = [](int32_t wanted, uint32_t number) {
    return wanted < 0 || static_cast<uint32_t>(wanted) == number;
  };
  CpuSet selected;
  for (const topology::CpuInfo& cpu : topology.cpus) {
    if (matches(options.cluster, cpu.cluster) &&
        matches(options.numa_node, cpu.numa_node)) {
      selected.Add(cpu.os_index);
    }
  }
  cpus = cpus & selected;
  if (!cpus.empty()) return cpus;
  std::string present;
  for (const topology::CpuInfo& cpu : topology.cpus) {
    absl::StrAppend(&present, present.empty() ? "" : ", ", cpu.os_index,
                    " (cluster ", cpu.cluster, ", NUMA node ", cpu.numa_node,
                    ")");
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "options: no CPU is in all of cpus, cluster and numa_node; there are ",
      present));
}

}  // namespace

absl::StatusOr<ResolvedWorkers> ResolveWorkers(
    const WorkerOptions& options, const topology::Topology* topology) {
  TAKT_RETURN_IF_ERROR(CheckOptions(options));
  ResolvedWorkers workers;
  exec::Executor::Options& result = workers.options;
  result.worker_count = options.count == WorkerOptions::kDefaultCount
                            ? exec::Executor::AvailableConcurrency()
                            : static_cast<uint32_t>(options.count);
  workers.wanted_count = result.worker_count;
  if (options.cpus.has_value()) {
    TAKT_RETURN_IF_ERROR(
        PlaceWorkers(*options.cpus, topology, options.count, &workers));
  }
  TAKT_CHECK(result.worker_count <= workers.wanted_count);
  result.topology = topology;
  result.spin_ns = options.spin_ns;
  result.stack_bytes = options.stack_bytes;
  result.fifo_priority = options.fifo_priority;
  result.reservation = options.reservation;
  result.backup_threads = options.backup_threads;
  result.hooks = options.hooks;
  result.cores_path = options.cores_path;
  result.cores_share_permille =
      static_cast<uint32_t>(options.cores_share_permille);
  return workers;
}

absl::StatusOr<ResolvedWorkers> ResolveExecutor(
    const ExecutorOptions& options, const topology::Topology& topology) {
  if (options.workers.count == 0) {
    return absl::InvalidArgumentError(
        "options: worker_count: expected 1 or more, got 0");
  }
  if (options.name.size() > kNameLengthMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "options: name: expected at most ", kNameLengthMax, " characters"));
  }
  TAKT_ASSIGN_OR_RETURN(const CpuSet cpus, SelectCpus(options, topology));
  WorkerOptions workers = options.workers;
  workers.cpus = cpus.ToString();
  TAKT_ASSIGN_OR_RETURN(ResolvedWorkers resolved,
                        ResolveWorkers(workers, &topology));
  resolved.options.name = options.name.c_str();
  return resolved;
}

}  // namespace takt::runtime
