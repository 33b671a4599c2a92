// Staging runs products on a unit that does not see host memory: operands are
// copied to two halves of a buffer in the unit's memory, so that one is filled
// while the other is worked on, and results are copied back. Each copy is
// checked by its checksum.
//
// Thread-safety: every method may run on any thread. One panel of one product
// has the buffer at a time, the most urgent that waits next.
#ifndef TAKT_NPU_STAGING_H_
#define TAKT_NPU_STAGING_H_

#include <cstdint>
#include <vector>

#include "npu/lease.h"
#include "npu/npu_unit.h"

namespace takt::npu {

class Staging {
 public:
  // `unit` outlives it.
  explicit Staging(NpuUnit& unit) : unit_(unit) {}
  ~Staging();

  // Runs `product`, whose ranges are host memory; `request` has neither check
  // nor restore. After an error some rows of the output have their results,
  // others what they had before. UNIMPLEMENTED if not even one panel of each
  // operand fits into the unit's memory; other errors as NpuUnit::Run().
  absl::Status Run(const takt_npu_mmt4d_t& product, const NpuRequest& request);

 private:
  // What is to be moved, and the checksum that came of it.
  struct Move {
    const uint8_t* host;
    uint64_t byte_length;
    uint64_t checksum;
  };
  struct Blocks;

  // With the turn:
  absl::StatusOr<Blocks> Plan(const takt_npu_mmt4d_t& product);
  absl::Status RunPanel(const takt_npu_mmt4d_t& product, const Blocks& blocks,
                        int64_t panel, const NpuRequest& request);
  void AddMove(uint8_t* host, uint64_t offset, uint64_t byte_length,
               bool is_to_unit);

  NpuUnit& unit_;
  Lease turn_;
  uint64_t buffer_ = 0;
  uint64_t buffer_bytes_ = 0;
  // Of the batch that is being made.
  std::vector<takt_npu_operation_t> operations_;
  std::vector<Move> moves_;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_STAGING_H_
