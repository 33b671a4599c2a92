// A SimModel computes the duration of a batch on the unit that a profile
// describes, and the temperature of the unit.
//
// A batch takes the launch cost, then its operations: each computes for its
// MACs at the current frequency and moves its operands by DMA. Where DMA
// overlaps, the longer of the two sums counts, plus what the first operands
// take to arrive. Operands that do not fit in half of the scratchpad (it is
// double-buffered) are fetched again for each part of the other.
//
// Deterministic: the same calls give the same numbers. Thread-safety: none.
#ifndef TAKT_NPU_SIM_MODEL_H_
#define TAKT_NPU_SIM_MODEL_H_

#include <cstdint>

#include "absl/types/span.h"
#include "npu/command_program.h"
#include "npu/sim_profile.h"
#include "takt/npu_driver.h"

namespace takt::npu {

class SimModel {
 public:
  // `profile` outlives it.
  explicit SimModel(const SimProfile& profile);

  // The cost of operations, independent of frequency and heat.
  struct Cost {
    double cycles = 0;
    double dma_ns = 0;
    double first_dma_ns = 0;  // Until it can begin to compute.
  };
  Cost CostOf(const takt_npu_operation_t& operation) const;
  // The same for a program that has run.
  Cost CostOf(const CommandProgram::Work& work) const;

  struct Run {
    int64_t duration_ns = 0;
    bool is_critical = false;  // Too hot to continue.
  };
  // Runs a batch from `start_ns` on, which is not before the end of the last
  // one.
  Run Start(absl::Span<const Cost> costs, int64_t start_ns);

  double temperature_celsius(int64_t now_ns);
  double frequency_hz() const {
    return profile_.frequencies_hz[frequency_index_];
  }
  int64_t throttled_ns() const { return throttled_ns_; }
  int64_t busy_ns() const { return busy_ns_; }

 private:
  // Lets the temperature tend to `target` until `now_ns`.
  void Drift(double target_celsius, int64_t now_ns);

  const SimProfile& profile_;
  size_t frequency_index_;
  double celsius_;
  int64_t time_ns_ = 0;  // Of celsius_.
  int64_t throttled_ns_ = 0;
  int64_t busy_ns_ = 0;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_SIM_MODEL_H_
