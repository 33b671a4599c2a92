// A SimProfile describes the NPU that the driver "sim" simulates: its
// capabilities, speed, heat and faults. It is read from JSON; docs/npu.md has
// the schema.
#ifndef TAKT_NPU_SIM_PROFILE_H_
#define TAKT_NPU_SIM_PROFILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace takt::npu {

// The probabilities of the kinds of faults of a batch, from 0 to 1.
struct SimFaults {
  uint64_t seed = 1;
  double error = 0;     // Ends with FAILED, its outputs half written.
  double time_out = 0;  // Never ends.
  double late = 0;      // The same, but completes after it was cancelled.
  double twice = 0;     // Completes, and completes again.
  double lost = 0;      // Ends with LOST; so does all until a reset.
  double bit_flip = 0;  // Of a transfer: a bit arrives wrong.
  double overheat = 0;  // Ends with OVERHEATED.
  // Of cancels that are needed: only a reset helps.
  double stuck = 0;
  uint32_t reset_failures = 0;  // Resets after a loss that do not help.

  bool any() const {
    return error + time_out + late + twice + lost + bit_flip + overheat > 0;
  }
};

struct SimProfile {
  std::string name = "a unit of one MAC a ns";
  bool in_host_memory = true;
  uint64_t memory_bytes = 64 << 20;  // Of its own, if it has some.
  uint64_t scratchpad_bytes = 512 << 10;
  int64_t launch_ns = 1000;  // Of each batch.
  // MACs for each cycle by type (takt_npu_type_t); other types are not
  // supported.
  std::map<uint32_t, double> macs_per_cycle = {{1, 1.0}, {2, 1.0}};
  bool packs = true;  // Whether it does PACK, UNPACK, FILL and COPY, too.
  double dma_bytes_per_s = 1e9;
  int64_t dma_latency_ns = 0;                  // Of each operand.
  bool dma_overlaps = true;                    // Moves while it computes.
  std::vector<double> frequencies_hz = {1e9};  // Ascending; starts highest.
  // Heat: the temperature of a busy unit at the highest frequency tends to
  // ambient + rise, and in proportion at lower frequencies, with this time
  // constant. At `throttle` the unit goes down by one frequency, below
  // `recover` up again; at `critical` it stops.
  double ambient_celsius = 25;
  double rise_celsius = 0;
  double time_constant_s = 1;
  double throttle_celsius = 1000;
  double recover_celsius = 1000;
  double critical_celsius = 2000;
  uint32_t tile_max[3] = {0, 0, 0};
  uint32_t tile_multiple[3] = {1, 1, 1};
  uint32_t alignment = 1;
  uint32_t batch_max = 0;
  std::vector<uint32_t> cpus;
  std::string path;  // The file that stands for the unit.
  bool computes = true;  // If not, it only takes time; results are undefined.
  SimFaults faults;

  // INVALID_ARGUMENT, naming the place. "" is the default.
  static absl::StatusOr<SimProfile> Parse(absl::string_view json);
};

}  // namespace takt::npu

#endif  // TAKT_NPU_SIM_PROFILE_H_
