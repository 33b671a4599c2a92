// Learning: how long operations take, alone and beside others.
#include <algorithm>
#include <cstdlib>

#include "sched/scheduler.h"

namespace takt::sched {
namespace {

// Longer runs do not count among the errors of predictions, whose sums could
// not hold many of them.
constexpr int64_t kPredictedMostNs = 1'000'000'000'000;

}  // namespace

// A job without a program is expected to have the operations of the job before
// it.
void Scheduler::Predict(OperationRecord* operation) {
  JobRecord* job = operation->job;
  const StreamRecord& stream = *job->stream;
  const uint32_t index = operation->program_index;
  job->follows_prediction = job->follows_prediction &&
                            index < stream.sequence.size() &&
                            stream.sequence[index] == operation->kernel;
  operation->facts.tail_ns =
      job->follows_prediction ? stream.sequence_tails_ns[index] : 0;
}

// Learns how much the neighbours of a whole run slowed it down.
void Scheduler::LearnBeside(const OperationRecord& operation, int64_t begin_ns,
                            int64_t end_ns, int64_t nominal_ns) {
  neighbours_.clear();
  const auto add = [&](KernelId kernel, uint32_t alternative, uint32_t count,
                       int64_t from_ns, int64_t to_ns) {
    const int64_t beside_ns =
        std::min(to_ns, end_ns) - std::max(from_ns, begin_ns);
    if (beside_ns <= 0) return;
    neighbours_.push_back({costs_.slowdown(kernel, alternative),
                           static_cast<double>(beside_ns) * count /
                               static_cast<double>(end_ns - begin_ns)});
  };
  for (uint32_t i = 0; i < running_on_.size(); ++i) {
    const OperationRecord* other = running_on_[i];
    const bool is_first =
        other != nullptr && other->resources.Lowest(1).Contains(i);
    if (!is_first || other == &operation) continue;
    add(other->kernel, other->alternative, other->resources.count(),
        other->start_ns, end_ns);
  }
  const bool is_complete =
      recent_runs_.VisitSince(begin_ns, [&](const KernelRun& run) {
        // What it gave back itself was not beside it.
        if (run.operation == operation.index) return;
        add(run.kernel, run.alternative, run.count, run.begin_ns, run.end_ns);
      });
  if (!is_complete) return;
  LearnSlowdown(nominal_ns, neighbours_, CostModel::kKnownCount,
                costs_.slowdown(operation.kernel, operation.alternative));
}

void Scheduler::Learn(const OperationRecord& operation, int64_t ran_ns,
                      int64_t now_ns) {
  if (operation.has_yielded) return;  // Only a part of it ran.
  const auto& alternative =
      costs_.kernel(operation.kernel).alternatives[operation.alternative];
  const int64_t took_ns = std::min(ran_ns, DurationEstimate::kMaxNs);
  const uint32_t permille = pools_[alternative.pool].permille;
  const int64_t nominal_ns =
      permille == 1000 ? took_ns : took_ns / 1000 * permille;
  costs_.Observe(operation.kernel, operation.alternative, nominal_ns);
  if (!options_.learns_slowdown || took_ns <= 0) return;
  if (operation.model_ns > 0 && took_ns <= kPredictedMostNs) {
    Slowdown* slowdown =
        costs_.slowdown(operation.kernel, operation.alternative);
    const int64_t expected_ns =
        slowdown->is_trusted() ? operation.model_ns : operation.plain_ns;
    ++errors_.run_count;
    errors_.ran_ns += took_ns;
    errors_.error_ns += std::abs(expected_ns - took_ns);
    errors_.plain_error_ns += std::abs(operation.plain_ns - took_ns);
    slowdown->Compare(operation.model_ns, operation.plain_ns, took_ns);
  }
  LearnBeside(operation, now_ns - took_ns, now_ns, nominal_ns);
}

}  // namespace takt::sched
