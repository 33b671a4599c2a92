#include "sim/report.h"

#include "base/check.h"
#include "base/clock.h"
#include "trace/summary.h"

namespace takt::sim {

void StreamReport::Add(const sched::Decision& end, int64_t deadline_ns) {
  TAKT_CHECK(end.kind == sched::DecisionKind::kJobDone);
  switch (end.outcome) {
    case sched::JobOutcome::kMet:
      ++met;
      break;
    case sched::JobOutcome::kMissed:
      ++missed;
      break;
    case sched::JobOutcome::kDropped:
      ++dropped;
      return;
    case sched::JobOutcome::kFailed:
      ++failed;
      return;
  }
  TAKT_CHECK(met + missed + dropped + failed <= released);
  responses_ns.push_back(end.response_ns);
  if (deadline_ns != kInfiniteFuture) {
    delays_ns.push_back(end.response_ns - deadline_ns);
  }
}

int64_t StreamReport::quantile_ns(double rank) const {
  return trace::Quantile(responses_ns, rank);
}

int64_t StreamReport::mean_ns() const { return trace::Mean(responses_ns); }

double StreamReport::miss_ratio() const {
  const uint64_t ended = released - unfinished;
  return ended == 0 ? 0
                    : static_cast<double>(missed + dropped + failed) /
                          static_cast<double>(ended);
}

uint64_t Report::MissCount(sched::Criticality criticality) const {
  uint64_t count = 0;
  for (const StreamReport& stream : streams) {
    if (stream.criticality == criticality) {
      count += stream.missed + stream.dropped + stream.failed;
    }
  }
  return count;
}

}  // namespace takt::sim
