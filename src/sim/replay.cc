#include "sim/replay.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "nlohmann/json.hpp"
#include "trace/summary.h"

namespace takt::sim {
namespace {

constexpr uint32_t kCoresMax = 64;
// A job that is released because the one before it is done comes within this
// time, or within this part of that one's duration.
constexpr int64_t kClosedGapNs = 200'000;
constexpr double kClosedPart = 0.05;
// Real workers join an operation and leave it between any two tiles, but a
// simulated operation keeps its cores. So a long operation is replayed in
// pieces of about this duration.
constexpr int64_t kPieceNs = 1'000'000;
constexpr int64_t kPieceCountMax = 1000;
// A stream has a property if this part of its jobs has it.
constexpr double kMost = 0.8;
// A period is the median of the gaps, and the mean as well.
constexpr double kPeriodSlack = 0.05;
// A caller's thread that wakes up gets a core at once: the operation on that
// core stops within this time, whatever its tiles.
constexpr int64_t kSystemTileNs = 20'000;
// Beyond these factors the record of a job is an accident (a preempted thread,
// a job cut off).
constexpr double kDurationFactorMin = 0.05;
constexpr double kDurationFactorMax = 20;

int64_t Median(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  return trace::Quantile(values, 0.5);
}

bool IsClosed(const std::vector<RecordedRunJob>& jobs) {
  size_t count = 0;
  for (size_t i = 1; i < jobs.size(); ++i) {
    const int64_t gap_ns = jobs[i].release_ns - jobs[i - 1].end_ns;
    const double response_ns = static_cast<double>(jobs[i - 1].response_ns());
    const int64_t most_ns = std::max<int64_t>(
        kClosedGapNs, std::llround(kClosedPart * response_ns));
    count += gap_ns >= 0 && gap_ns <= most_ns;
  }
  return jobs.size() > 2 && static_cast<double>(count) >=
                                kMost * static_cast<double>(jobs.size() - 1);
}

// 0 if there is none.
int64_t FindPeriod(const std::vector<RecordedRunJob>& jobs) {
  std::vector<int64_t> gaps_ns;
  for (size_t i = 1; i < jobs.size(); ++i) {
    gaps_ns.push_back(jobs[i].release_ns - jobs[i - 1].release_ns);
  }
  if (gaps_ns.size() < 2) return 0;
  const int64_t period_ns = Median(gaps_ns);
  const double mean_ns =
      static_cast<double>(jobs.back().release_ns - jobs.front().release_ns) /
      static_cast<double>(gaps_ns.size());
  return std::abs(mean_ns - static_cast<double>(period_ns)) <=
                 kPeriodSlack * static_cast<double>(period_ns)
             ? period_ns
             : 0;
}

// The job that models all jobs: of the jobs with the most frequent number of
// operations, the one with the median work.
const RecordedRunJob& Typical(const std::vector<RecordedRunJob>& jobs) {
  std::map<size_t, std::vector<const RecordedRunJob*>> by_length;
  for (const RecordedRunJob& job : jobs) {
    by_length[job.operations.size()].push_back(&job);
  }
  auto most = by_length.begin();
  for (auto it = by_length.begin(); it != by_length.end(); ++it) {
    if (it->second.size() > most->second.size()) most = it;
  }
  std::vector<const RecordedRunJob*>& like = most->second;
  const auto middle = like.begin() + static_cast<ptrdiff_t>(like.size() / 2);
  std::nth_element(like.begin(), middle, like.end(),
                   [](const RecordedRunJob* a, const RecordedRunJob* b) {
                     return a->work_ns() < b->work_ns();
                   });
  return **middle;
}

// The part of a response outside its operations, in the fastest tenth.
int64_t Overhead(const std::vector<RecordedRunJob>& jobs) {
  std::vector<int64_t> rest_ns;
  for (const RecordedRunJob& job : jobs) {
    int64_t covered_ns = 0;
    int64_t until_ns = job.release_ns;
    for (const RecordedOperation& operation : job.operations) {
      const int64_t begin_ns = std::max(operation.start_ns, until_ns);
      covered_ns += std::max<int64_t>(operation.end_ns - begin_ns, 0);
      until_ns = std::max(until_ns, operation.end_ns);
    }
    rest_ns.push_back(job.response_ns() - covered_ns);
  }
  std::sort(rest_ns.begin(), rest_ns.end());
  return std::max<int64_t>(trace::Quantile(rest_ns, 0.1), 0);
}

// Whether callers' threads do most of the work, so that the system decides when
// it runs.
bool RunsOnCallers(const RecordedStream& stream) {
  int64_t work_ns = 0;
  int64_t caller_work_ns = 0;
  for (const RecordedRunJob& job : stream.jobs) {
    work_ns += job.work_ns();
    caller_work_ns += job.caller_work_ns;
  }
  return 2 * caller_work_ns > work_ns;
}

class Maker {
 public:
  Maker(const RecordedRun& run, uint32_t core_count)
      : run_(run), core_count_(core_count) {}

  absl::StatusOr<Replay> Make() {
    sched::Pool cores;
    cores.name = "cores";
    cores.count = core_count_;
    replay_.workload.name = "replay";
    replay_.workload.machine.pools.push_back(cores);
    TAKT_RETURN_IF_ERROR(replay_.workload.machine.Validate());
    replay_.length_ns = run_.end_ns - run_.begin_ns;
    for (const RecordedStream& stream : run_.streams) {
      callers_preempt_ = callers_preempt_ || RunsOnCallers(stream);
    }
    for (const RecordedStream& stream : run_.streams) AddStream(stream);
    if (replay_.streams.empty()) {
      return absl::InvalidArgumentError(
          "the trace has no jobs that ended, with what they ran");
    }
    return std::move(replay_);
  }

 private:
  sched::KernelId AddKernel(const std::string& name, int64_t work_ns,
                            int64_t tile_ns, uint32_t shard_count_max) {
    if (callers_preempt_) tile_ns = std::min(tile_ns, kSystemTileNs);
    WorkloadKernel kernel;
    kernel.name = name;
    for (uint32_t shards = 1; shards <= shard_count_max; ++shards) {
      sched::AlternativeOptions alternative;
      alternative.shards = shards;
      alternative.guess_ns = std::max<int64_t>(
          std::max(work_ns / static_cast<int64_t>(shards), tile_ns), 1);
      alternative.tile_ns = std::max<int64_t>(tile_ns, 1);
      kernel.alternatives.push_back(alternative);
    }
    replay_.workload.kernels.push_back(std::move(kernel));
    return static_cast<sched::KernelId>(replay_.workload.kernels.size() - 1);
  }

  void AddOperation(sched::KernelId kernel, WorkloadProgram& program) {
    sched::ProgramOperation operation;
    operation.kernel = kernel;
    if (!program.operations.empty()) {
      operation.after.push_back(
          static_cast<uint32_t>(program.operations.size() - 1));
    }
    program.operations.push_back(std::move(operation));
  }

  void AddProgram(const RecordedStream& stream, const RecordedRunJob& typical,
                  int64_t* work_ns) {
    WorkloadProgram program;
    program.name = stream.name;
    const int64_t overhead_ns = Overhead(stream.jobs);
    if (overhead_ns > 0) {
      AddOperation(AddKernel("(overhead)", overhead_ns, overhead_ns, 1),
                   program);
    }
    *work_ns = 0;
    for (size_t i = 0; i < typical.operations.size(); ++i) {
      const RecordedOperation& like = typical.operations[i];
      std::vector<int64_t> works_ns;
      std::vector<int64_t> tiles_ns;
      for (const RecordedRunJob& job : stream.jobs) {
        if (job.operations.size() != typical.operations.size() ||
            job.operations[i].kernel != like.kernel) {
          continue;
        }
        works_ns.push_back(job.operations[i].work_ns);
        tiles_ns.push_back(job.operations[i].tile_ns);
      }
      const int64_t median_ns = Median(std::move(works_ns));
      *work_ns += median_ns;
      const uint32_t piece_count = PiecesOf(median_ns, like.tile_count);
      const sched::KernelId kernel =
          AddKernel(like.kernel, median_ns / piece_count, Median(tiles_ns),
                    std::min(core_count_, like.tile_count));
      for (uint32_t n = 0; n < piece_count; ++n) AddOperation(kernel, program);
    }
    replay_.workload.programs.push_back(std::move(program));
  }

  uint32_t PiecesOf(int64_t work_ns, uint32_t tile_count) const {
    const int64_t most = callers_preempt_
                             ? kPieceCountMax
                             : std::max(tile_count / core_count_, 1u);
    return static_cast<uint32_t>(
        std::clamp<int64_t>(work_ns / (kPieceNs * core_count_), 1, most));
  }

  void AddStream(const RecordedStream& recorded) {
    const RecordedRunJob& typical = Typical(recorded.jobs);
    if (typical.operations.empty()) return;
    ReplayStream summary;
    summary.name = recorded.name;
    summary.is_closed = IsClosed(recorded.jobs);
    if (!summary.is_closed) summary.period_ns = FindPeriod(recorded.jobs);
    summary.deadline_ns = DeadlineOf(typical, summary.period_ns);

    WorkloadStream stream;
    stream.name = recorded.name;
    stream.arrival = summary.is_closed ? Arrival::kClosed : Arrival::kRecorded;
    stream.offset_ns = recorded.jobs.front().release_ns - run_.begin_ns;
    stream.terms.program =
        static_cast<sched::ProgramId>(replay_.workload.programs.size());
    stream.terms.period_ns = summary.period_ns;
    stream.terms.deadline_ns = summary.deadline_ns;
    stream.terms.priority = recorded.priority;
    int64_t work_ns = 0;
    AddProgram(recorded, typical, &work_ns);
    for (const RecordedRunJob& job : recorded.jobs) {
      const double duration_factor =
          static_cast<double>(job.work_ns()) /
          static_cast<double>(std::max<int64_t>(work_ns, 1));
      stream.recorded.push_back({job.release_ns - run_.begin_ns,
                                 std::clamp(duration_factor, kDurationFactorMin,
                                            kDurationFactorMax)});
      summary.responses_ns.push_back(job.response_ns());
      summary.missed_count += job.response_ns() > summary.deadline_ns;
    }
    summary.job_count = recorded.jobs.size();
    std::sort(summary.responses_ns.begin(), summary.responses_ns.end());
    replay_.workload.streams.push_back(std::move(stream));
    replay_.streams.push_back(std::move(summary));
  }

  static int64_t DeadlineOf(const RecordedRunJob& job, int64_t period_ns) {
    if (job.deadline_ns != kInfiniteFuture &&
        job.deadline_ns > job.release_ns) {
      return job.deadline_ns - job.release_ns;
    }
    return period_ns > 0 ? period_ns : kInfiniteFuture;
  }

  const RecordedRun& run_;
  const uint32_t core_count_;
  bool callers_preempt_ = false;
  Replay replay_;
};

// The difference between the simulated and the recorded mean.
double Difference(const ReplayStream& recorded, const StreamReport& played) {
  const int64_t real_ns = trace::Mean(recorded.responses_ns);
  return real_ns == 0 ? 0
                      : static_cast<double>(played.mean_ns() - real_ns) /
                            static_cast<double>(real_ns);
}

double Us(int64_t ns) { return static_cast<double>(ns) / 1e3; }

}  // namespace

absl::StatusOr<Replay> MakeReplay(const RecordedRun& run, uint32_t core_count) {
  if (core_count == 0) core_count = std::max(run.core_count, 1u);
  if (core_count > kCoresMax) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cores: expected at most ", kCoresMax, ", got ", core_count));
  }
  return Maker(run, core_count).Make();
}

std::string ReplayTable(const Replay& replay, const Report& report) {
  std::string text = absl::StrFormat(
      "%.3f s on %d cores; response in us\n\n"
      "%-28s %-9s | %7s %7s %10s %10s %10s | %7s %7s %10s %10s %10s | %s\n",
      static_cast<double>(replay.length_ns) / 1e9,
      replay.workload.machine.resource_count(), "stream", "releases", "jobs",
      "missed", "mean", "q99", "max", "jobs", "missed", "mean", "q99", "max",
      "mean");
  for (size_t i = 0; i < replay.streams.size(); ++i) {
    const ReplayStream& real = replay.streams[i];
    const StreamReport& played = report.streams[i];
    absl::StrAppendFormat(
        &text,
        "%-28s %-9s | %7d %7d %10.1f %10.1f %10.1f | %7d %7d %10.1f %10.1f "
        "%10.1f | %+.1f %%\n",
        real.name,
        real.is_closed ? "closed"
        : real.period_ns != 0
            ? absl::StrFormat("%.1f ms", Us(real.period_ns) / 1e3)
            : "recorded",
        real.job_count, real.missed_count, Us(trace::Mean(real.responses_ns)),
        Us(trace::Quantile(real.responses_ns, 0.99)),
        Us(real.responses_ns.back()), played.responses_ns.size(), played.missed,
        Us(played.mean_ns()), Us(played.quantile_ns(0.99)),
        Us(played.quantile_ns(1)), 100 * Difference(real, played));
  }
  return text;
}

std::string ReplayJson(const Replay& replay, const Report& report) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["length_ns"] = replay.length_ns;
  json["cores"] = replay.workload.machine.resource_count();
  json["streams"] = Json::array();
  for (size_t i = 0; i < replay.streams.size(); ++i) {
    const ReplayStream& real = replay.streams[i];
    const StreamReport& played = report.streams[i];
    Json entry = {{"name", real.name},
                  {"closed", real.is_closed},
                  {"period_ns", real.period_ns}};
    entry["recorded"] = {{"jobs", real.job_count},
                         {"missed", real.missed_count},
                         {"mean_ns", trace::Mean(real.responses_ns)},
                         {"q99_ns", trace::Quantile(real.responses_ns, 0.99)},
                         {"max_ns", trace::Quantile(real.responses_ns, 1)}};
    entry["simulated"] = {{"jobs", played.responses_ns.size()},
                          {"missed", played.missed},
                          {"mean_ns", played.mean_ns()},
                          {"q99_ns", played.quantile_ns(0.99)},
                          {"max_ns", played.quantile_ns(1)}};
    entry["mean_difference"] = Difference(real, played);
    json["streams"].push_back(std::move(entry));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace takt::sim
