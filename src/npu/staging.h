// Staging runs products on a unit that does not see host memory. A product runs
// panel by panel, each as one batch: operands are copied to two halves of a
// buffer on the unit, so that one half is filled while the unit works on the
// other, and results are copied back. Each copy is checked by its checksum.
//
// Thread-safety: every method may run on any thread. One panel of one product
// has the buffer at a time; the most urgent one that waits has it next.
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
  // One copy, and the checksum that the unit has taken of it.
  struct Move {
    const uint8_t* host;
    uint64_t byte_length;
    uint64_t checksum;
    bool is_to_unit;
  };
  struct Blocks;

  // With the turn:
  absl::StatusOr<Blocks> Plan(const takt_npu_mmt4d_t& product);
  absl::Status RunPanel(const takt_npu_mmt4d_t& product, const Blocks& blocks,
                        int64_t panel, const NpuRequest& request);
  // Builds the batch of a panel, in operations_ and moves_.
  void BuildBatch(const takt_npu_mmt4d_t& product, const Blocks& blocks,
                  int64_t panel);
  // Adds the columns [first, first + count) of the panel: the copies of their
  // operands, the product, and the copy of its result to `row`.
  void AddColumns(const takt_npu_mmt4d_t& product, const Blocks& blocks,
                  int64_t first, int64_t count, uint8_t* row);
  void AddMove(uint8_t* host, uint64_t offset, uint64_t byte_length,
               bool is_to_unit);
  uint64_t CountBytes(bool is_to_unit) const;
  // Stores the host's checksums of all moves of one direction.
  void SumMoves(bool is_to_unit, std::vector<uint64_t>* sums) const;

  NpuUnit& unit_;
  Lease turn_;
  uint64_t buffer_ = 0;
  uint64_t buffer_bytes_ = 0;
  // The batch of the panel that has the turn.
  std::vector<takt_npu_operation_t> operations_;
  std::vector<Move> moves_;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_STAGING_H_
