// A JobProgram holds the operations of a job if they are known in advance, as a
// graph of kernels. Jobs of the same program share it.
#ifndef TAKT_SCHED_JOB_PROGRAM_H_
#define TAKT_SCHED_JOB_PROGRAM_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "sched/cost_model.h"

namespace takt::sched {

struct ProgramOperation {
  KernelId kernel = 0;
  std::vector<uint32_t> after;  // Operations that it waits for, by index.
};

class JobProgram {
 public:
  static constexpr uint32_t kMaxOperations = 1u << 20;

  // INVALID_ARGUMENT naming the operation: none or too many, a kernel or a
  // predecessor that does not exist, one named twice, a cycle.
  static absl::StatusOr<JobProgram> Create(
      absl::Span<const ProgramOperation> operations, const CostModel& costs);

  uint32_t size() const { return static_cast<uint32_t>(kernels_.size()); }
  KernelId kernel(uint32_t index) const { return kernels_[index]; }
  uint32_t predecessor_count(uint32_t index) const {
    return predecessor_counts_[index];
  }
  absl::Span<const uint32_t> predecessor_counts() const {
    return predecessor_counts_;
  }
  absl::Span<const uint32_t> successors(uint32_t index) const {
    return absl::MakeConstSpan(successors_)
        .subspan(successor_starts_[index],
                 successor_starts_[index + 1] - successor_starts_[index]);
  }

  // The longest path from the start of the operation to the end of the job,
  // each operation at its fastest median. As of the last Update().
  int64_t tail_ns(uint32_t index) const { return tails_ns_[index]; }
  // The longest path of all.
  int64_t path_ns() const { return path_ns_; }
  // Resource time of all operations at their cheapest.
  int64_t work_ns() const { return work_ns_; }

  // Recomputes the paths from the present durations.
  void Update(const CostModel& costs);
  uint64_t version() const { return version_; }

 private:
  std::vector<KernelId> kernels_;
  std::vector<uint32_t> predecessor_counts_;
  std::vector<uint32_t> successor_starts_;  // size() + 1 of them.
  std::vector<uint32_t> successors_;
  std::vector<uint32_t> order_;  // Topological.
  std::vector<int64_t> tails_ns_;
  int64_t path_ns_ = 0;
  int64_t work_ns_ = 0;
  uint64_t version_ = 0;  // The version of the costs at the last Update().
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_JOB_PROGRAM_H_
