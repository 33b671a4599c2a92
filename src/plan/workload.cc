#include "plan/workload.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/content_hash.h"
#include "base/status.h"

namespace takt::plan {
namespace {

// How often each kernel is called in a second.
std::vector<double> KernelRates(const Workload& workload) {
  std::vector<double> stream_rates;
  std::vector<double> rates(workload.kernels.size(), 0.0);
  for (const WorkloadStream& stream : workload.streams) {
    double rate = 0;
    if (stream.arrival == Arrival::kAfter) {
      if (stream.after < stream_rates.size()) {
        rate = stream_rates[stream.after] * stream.probability;
      }
    } else if (stream.arrival != Arrival::kClosed &&
               stream.arrival != Arrival::kOnce && stream.terms.period_ns > 0) {
      rate = 1e9 / static_cast<double>(stream.terms.period_ns);
    }
    stream_rates.push_back(rate);
    if (stream.terms.program == sched::kNoProgram) continue;
    TAKT_DCHECK(stream.terms.program < workload.programs.size());
    for (const auto& operation :
         workload.programs[stream.terms.program].operations) {
      rates[operation.kernel] += rate;
    }
  }
  return rates;
}

// Adds the share of each pool that the alternative takes at that rate.
void AddLoad(const sched::Machine& machine,
             const sched::AlternativeOptions& alternative, double rate,
             std::vector<double>* loads) {
  const sched::Pool& pool = machine.pools[alternative.pool];
  const double busy = rate * static_cast<double>(alternative.guess_ns) / 1e9;
  (*loads)[alternative.pool] += busy * alternative.shards / pool.count;
  if (pool.feeder_count == 0) return;
  const auto feeder = static_cast<size_t>(pool.feeder_pool);
  (*loads)[feeder] += busy * pool.feeder_count / machine.pools[feeder].count;
}

// Adds the load of the alternative that costs least at these prices.
void AddCheapest(const sched::Machine& machine, const WorkloadKernel& kernel,
                 double rate, const std::vector<double>& prices,
                 std::vector<double>* loads) {
  const sched::AlternativeOptions* best = nullptr;
  double best_cost = 0;
  for (const sched::AlternativeOptions& alternative : kernel.alternatives) {
    std::vector<double> own(prices.size(), 0.0);
    AddLoad(machine, alternative, rate, &own);
    double cost = 0;
    for (size_t p = 0; p < prices.size(); ++p) cost += prices[p] * own[p];
    if (best == nullptr || cost < best_cost) {
      best = &alternative;
      best_cost = cost;
    }
  }
  TAKT_CHECK(best != nullptr);  // A kernel has an alternative.
  AddLoad(machine, *best, rate, loads);
}

}  // namespace

absl::Status Workload::RequirePrograms() const {
  for (const WorkloadStream& stream : streams) {
    if (stream.terms.program != sched::kNoProgram) continue;
    TAKT_CHECK(stream.function >= 0);
    return absl::FailedPreconditionError(
        absl::StrCat("workload: stream ", stream.name, ": no profile has ",
                     functions[static_cast<size_t>(stream.function)].name));
  }
  return absl::OkStatus();
}

void Workload::Scale(double factor) {
  const auto scaled = [&](int64_t time_ns) {
    return std::clamp<int64_t>(
        std::llround(static_cast<double>(time_ns) * factor), 0,
        sched::DurationEstimate::kMaxNs);
  };
  for (WorkloadKernel& kernel : kernels) {
    for (sched::AlternativeOptions& alternative : kernel.alternatives) {
      alternative.guess_ns = scaled(alternative.guess_ns);
      alternative.q90_ns = scaled(alternative.q90_ns);
      alternative.q99_ns = scaled(alternative.q99_ns);
      alternative.tile_ns = scaled(alternative.tile_ns);
    }
  }
}

double Workload::Load() const {
  const std::vector<double> rates = KernelRates(*this);
  const size_t pool_count = machine.pools.size();
  std::vector<double> prices(pool_count, 1.0);
  std::vector<double> totals(pool_count, 0.0);
  double most = 0;  // The greatest load so far, which scales the steps.
  // Steps of 5 % converge to a load within some per cent in this number of
  // rounds (multiplicative weights).
  constexpr int kRounds = 3000;
  constexpr double kStep = 0.05;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> loads(pool_count, 0.0);
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (rates[i] > 0)
        AddCheapest(machine, kernels[i], rates[i], prices, &loads);
    }
    most = std::max(most, *std::max_element(loads.begin(), loads.end()));
    if (most <= 0) return 0;
    double sum = 0;
    for (size_t p = 0; p < pool_count; ++p) {
      totals[p] += loads[p];
      prices[p] *= 1 + kStep * loads[p] / most;
      sum += prices[p];
    }
    TAKT_DCHECK(sum > 0);
    for (double& price : prices) price /= sum;
  }
  return *std::max_element(totals.begin(), totals.end()) / kRounds;
}

absl::StatusOr<sched::Machine> MachineOf(const topology::Topology& topology) {
  sched::Machine machine;
  for (const topology::Cluster& cluster : topology.clusters) {
    sched::Pool pool;
    pool.name = cluster.name;
    pool.count = cluster.cpus.count();
    machine.pools.push_back(pool);
  }
  for (const topology::NpuInfo& npu : topology.npus) {
    sched::Pool pool;
    pool.name = npu.name;
    pool.kind = sched::ResourceKind::kNpu;
    pool.count = 1;
    pool.feeder_pool = npu.cluster;
    pool.feeder_count = npu.cluster >= 0 ? 1 : 0;
    machine.pools.push_back(pool);
  }
  TAKT_RETURN_IF_ERROR(machine.Validate());
  return machine;
}

sched::KernelKey Workload::KeyOf(uint32_t kernel) const {
  TAKT_DCHECK(kernel < kernels.size());
  return kernels[kernel].key.value_or(sched::KernelKey{0, kernel, {1, 1, 1}});
}

absl::StatusOr<sched::ProfileReport> Workload::ApplyProfile(
    absl::string_view bytes) {
  sched::CostModel costs(&machine);
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    const absl::Status status =
        costs.Add(KeyOf(i), kernels[i].alternatives).status();
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(kernels[i].name, ": ", status.message()));
    }
  }
  TAKT_ASSIGN_OR_RETURN(const sched::ProfileReport report,
                        sched::ReadProfile(bytes, &costs));
  for (uint32_t i = 0; i < kernels.size(); ++i) {
    for (const auto& learned : costs.kernel(i).alternatives) {
      if (!learned.duration.measured()) continue;
      for (sched::AlternativeOptions& mine : kernels[i].alternatives) {
        if (mine.pool != learned.pool || mine.shards != learned.shards) {
          continue;
        }
        mine.guess_ns = std::max<int64_t>(learned.duration.q50_ns(), 1);
        mine.sample_count = 0;
        mine.sensitivity_ppm = learned.slowdown.sensitivity_ppm;
        mine.pressure_ppm = learned.slowdown.pressure_ppm;
        mine.tile_ns = std::min(mine.tile_ns, mine.guess_ns);
      }
    }
  }
  return report;
}

std::string TopologyHash(const topology::Topology& topology) {
  return ContentHashText(ContentHash(topology.ToJson()));
}

}  // namespace takt::plan
