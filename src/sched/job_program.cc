#include "sched/job_program.h"

#include <algorithm>
#include <limits>

#include "base/status.h"

namespace takt::sched {
namespace {

absl::Status CheckOperation(absl::Span<const ProgramOperation> operations,
                            size_t index, const CostModel& costs) {
  const auto fault = [&](absl::string_view reason) {
    return absl::InvalidArgumentError(
        absl::StrCat("program: operation ", index, ": ", reason));
  };
  const ProgramOperation& operation = operations[index];
  if (operation.kernel >= costs.kernel_count()) {
    return fault(absl::StrCat("there is no kernel ", operation.kernel));
  }
  std::vector<uint32_t> after = operation.after;
  std::sort(after.begin(), after.end());
  if (!after.empty() && after.back() >= operations.size()) {
    return fault(
        absl::StrCat("there is no operation ", after.back(), " to wait for"));
  }
  const auto twice = std::adjacent_find(after.begin(), after.end());
  if (twice != after.end()) {
    return fault(absl::StrCat("waits for operation ", *twice, " twice"));
  }
  return absl::OkStatus();
}

// Far below overflow when a few are added.
int64_t SaturatingAdd(int64_t a, int64_t b) {
  return std::min(a + b, DurationEstimate::kMaxNs);
}

}  // namespace

absl::StatusOr<JobProgram> JobProgram::Create(
    absl::Span<const ProgramOperation> operations, const CostModel& costs) {
  if (operations.empty() || operations.size() > kMaxOperations) {
    return absl::InvalidArgumentError(
        absl::StrCat("program: expected 1 to ", kMaxOperations,
                     " operations, got ", operations.size()));
  }
  const auto count = static_cast<uint32_t>(operations.size());
  JobProgram program;
  program.successor_starts_.assign(count + 1, 0);
  for (uint32_t i = 0; i < count; ++i) {
    TAKT_RETURN_IF_ERROR(CheckOperation(operations, i, costs));
    program.kernels_.push_back(operations[i].kernel);
    program.predecessor_counts_.push_back(
        static_cast<uint32_t>(operations[i].after.size()));
    for (const uint32_t before : operations[i].after) {
      ++program.successor_starts_[before + 1];
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    program.successor_starts_[i + 1] += program.successor_starts_[i];
  }
  program.successors_.resize(program.successor_starts_[count]);
  std::vector<uint32_t> filled(program.successor_starts_.begin(),
                               program.successor_starts_.end() - 1);
  for (uint32_t i = 0; i < count; ++i) {
    for (const uint32_t before : operations[i].after) {
      program.successors_[filled[before]++] = i;
    }
  }
  std::vector<uint32_t> waiting = program.predecessor_counts_;
  for (uint32_t i = 0; i < count; ++i) {
    if (waiting[i] == 0) program.order_.push_back(i);
  }
  for (size_t next = 0; next < program.order_.size(); ++next) {
    for (const uint32_t after : program.successors(program.order_[next])) {
      if (--waiting[after] == 0) program.order_.push_back(after);
    }
  }
  if (program.order_.size() != count) {
    const auto stuck = std::find_if(waiting.begin(), waiting.end(),
                                    [](uint32_t n) { return n > 0; });
    return absl::InvalidArgumentError(
        absl::StrCat("program: operation ", stuck - waiting.begin(),
                     ": waits for itself, in a cycle"));
  }
  program.tails_ns_.resize(count);
  program.Update(costs);
  return program;
}

void JobProgram::Update(const CostModel& costs) {
  path_ns_ = 0;
  work_ns_ = 0;
  for (auto at = order_.rbegin(); at != order_.rend(); ++at) {
    int64_t after_ns = 0;
    for (const uint32_t next : successors(*at)) {
      after_ns = std::max(after_ns, tails_ns_[next]);
    }
    int64_t fastest_ns = std::numeric_limits<int64_t>::max();
    int64_t least_work_ns = std::numeric_limits<int64_t>::max();
    for (const auto& alternative : costs.kernel(kernels_[*at]).alternatives) {
      const int64_t duration_ns = alternative.expected_ns;
      fastest_ns = std::min(fastest_ns, duration_ns);
      least_work_ns = std::min(
          least_work_ns, std::min(duration_ns, DurationEstimate::kMaxNs / 256) *
                             alternative.shards);
    }
    tails_ns_[*at] = SaturatingAdd(after_ns, fastest_ns);
    path_ns_ = std::max(path_ns_, tails_ns_[*at]);
    work_ns_ = SaturatingAdd(work_ns_, least_work_ns);
  }
  version_ = costs.version();
}

}  // namespace takt::sched
