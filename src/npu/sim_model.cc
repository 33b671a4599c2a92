#include "npu/sim_model.h"

#include <algorithm>
#include <cmath>

#include "npu/operation.h"

namespace takt::npu {
namespace {

constexpr double kNsPerS = 1e9;
// The longest duration of an operation: nearly an hour.
constexpr double kDurationMaxNs = 3e12;

double Bytes(const takt_npu_range_t& range) {
  return static_cast<double>(range.byte_length);
}

}  // namespace

SimModel::SimModel(const SimProfile& profile)
    : profile_(profile),
      frequency_index_(profile.frequencies_hz.size() - 1),
      celsius_(profile.ambient_celsius) {}

SimModel::Cost SimModel::CostOf(const takt_npu_operation_t& operation) const {
  const double ns_per_byte = kNsPerS / profile_.dma_bytes_per_s;
  const auto latency = static_cast<double>(profile_.dma_latency_ns);
  Cost cost;
  switch (operation.kind) {
    case TAKT_NPU_KIND_MMT4D: {
      const takt_npu_mmt4d_t& p = operation.mmt4d;
      const auto rate = profile_.macs_per_cycle.find(p.type);
      if (rate == profile_.macs_per_cycle.end()) return cost;
      const double macs = static_cast<double>(p.m) * p.n * p.k * p.m0 * p.n0 *
                          static_cast<double>(p.k0);
      cost.cycles = std::ceil(macs / rate->second);
      if (!profile_.in_host_memory) return cost;  // Operands are there.
      const double half = static_cast<double>(profile_.scratchpad_bytes) / 2;
      const double left = Bytes(p.left), right = Bytes(p.right);
      // The smaller operand stays if it can; the other is fetched once for
      // each part of it.
      const double parts =
          std::max(1.0, std::ceil(std::min(left, right) / half));
      const double total =
          std::min(left, right) + parts * std::max(left, right) + Bytes(p.out);
      cost.dma_ns = total * ns_per_byte + 3 * latency;
      cost.first_dma_ns =
          std::min(left + right, half) * ns_per_byte + 2 * latency;
      return cost;
    }
    case TAKT_NPU_KIND_PACK:
    case TAKT_NPU_KIND_UNPACK:
      cost.dma_ns =
          (Bytes(operation.pack.matrix) + Bytes(operation.pack.tiles)) *
              ns_per_byte +
          2 * latency;
      return cost;
    case TAKT_NPU_KIND_FILL:
      cost.dma_ns = Bytes(operation.fill.out) * ns_per_byte + latency;
      return cost;
    case TAKT_NPU_KIND_COPY:
      cost.dma_ns =
          (Bytes(operation.copy.in) + Bytes(operation.copy.out)) * ns_per_byte +
          2 * latency;
      return cost;
    case TAKT_NPU_KIND_TRANSFER:
      cost.dma_ns = Bytes(operation.transfer.source) * ns_per_byte + latency;
      cost.first_dma_ns = cost.dma_ns;
      return cost;
    default:
      return cost;
  }
}

SimModel::Cost SimModel::CostOf(const CommandProgram::Work& work) const {
  Cost cost;
  const auto rate = profile_.macs_per_cycle.find(TAKT_NPU_TYPE_S8_S8_S32);
  if (rate != profile_.macs_per_cycle.end()) {
    cost.cycles = std::ceil(static_cast<double>(work.mac_count) / rate->second);
  }
  // Elementwise commands take a word a cycle.
  cost.cycles += static_cast<double>(work.bytes_touched) / 4;
  cost.dma_ns = static_cast<double>(work.bytes_moved) * kNsPerS /
                profile_.dma_bytes_per_s;
  cost.first_dma_ns = std::min(cost.dma_ns, 1e3);
  return cost;
}

void SimModel::Drift(double target_celsius, int64_t now_ns) {
  if (now_ns <= time_ns_) return;
  const double duration_s = static_cast<double>(now_ns - time_ns_) / kNsPerS;
  celsius_ =
      target_celsius + (celsius_ - target_celsius) *
                           std::exp(-duration_s / profile_.time_constant_s);
  time_ns_ = now_ns;
}

double SimModel::temperature_celsius(int64_t now_ns) {
  Drift(profile_.ambient_celsius, now_ns);
  return celsius_;
}

SimModel::Run SimModel::Start(absl::Span<const Cost> costs, int64_t start_ns) {
  Run run;
  Drift(profile_.ambient_celsius, start_ns);
  const size_t highest = profile_.frequencies_hz.size() - 1;
  if (celsius_ >= profile_.throttle_celsius && frequency_index_ > 0) {
    --frequency_index_;
  } else if (celsius_ < profile_.recover_celsius &&
             frequency_index_ < highest) {
    ++frequency_index_;
  }
  if (celsius_ >= profile_.critical_celsius) {
    run.is_critical = true;
    run.duration_ns = profile_.launch_ns;
    return run;
  }
  Cost sum;
  for (const Cost& cost : costs) {
    sum.cycles += cost.cycles;
    sum.dma_ns += cost.dma_ns;
    if (sum.first_dma_ns == 0) sum.first_dma_ns = cost.first_dma_ns;
  }
  const auto duration_at = [&](double hz) {
    const double compute_ns = sum.cycles * kNsPerS / hz;
    return profile_.dma_overlaps
               ? std::max(compute_ns + sum.first_dma_ns, sum.dma_ns)
               : compute_ns + sum.dma_ns;
  };
  const double hz = frequency_hz();
  const double hz_max = profile_.frequencies_hz[highest];
  const double duration =
      std::min(static_cast<double>(profile_.launch_ns) + duration_at(hz),
               kDurationMaxNs);
  run.duration_ns = static_cast<int64_t>(std::llround(duration));
  throttled_ns_ += static_cast<int64_t>(
      std::min(duration_at(hz) - duration_at(hz_max), kDurationMaxNs));
  busy_ns_ += run.duration_ns;
  Drift(profile_.ambient_celsius + profile_.rise_celsius * hz / hz_max,
        start_ns + run.duration_ns);
  return run;
}

}  // namespace takt::npu
