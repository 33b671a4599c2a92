#include "trace/explanation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/stable_sort.h"
#include "nlohmann/json.hpp"
#include "trace/summary.h"

namespace takt::trace {
namespace {

// A span was slowed down if it takes this many times its kernel's median, and a
// job has more work if it has this many times the operations.
constexpr double kSlowRatio = 2;

double Ms(int64_t ns) { return static_cast<double>(ns) / 1e6; }

std::string MsText(int64_t ns) { return absl::StrFormat("%.3f ms", Ms(ns)); }

// The accounts of one stream's jobs.
using StreamJobs = std::vector<const JobAccount*>;

void FindUsual(const StreamJobs& jobs, ExplainedStream& stream) {
  const bool any_met = std::any_of(
      jobs.begin(), jobs.end(),
      [](const JobAccount* job) { return job->outcome == EventKind::kJobMet; });
  const auto median = [&](auto value_of) {
    std::vector<int64_t> values;
    for (const JobAccount* job : jobs) {
      if (any_met && job->outcome != EventKind::kJobMet) continue;
      values.push_back(value_of(*job));
    }
    std::sort(values.begin(), values.end());
    return Quantile(values, 0.5);
  };
  stream.usual_response_ns =
      median([](const JobAccount& job) { return job.response_ns(); });
  stream.usual_operation_count = median([](const JobAccount& job) {
    return static_cast<int64_t>(job.operation_count);
  });
  for (size_t use = 0; use < kTimeUseCount; ++use) {
    stream.usual_ns[use] =
        median([use](const JobAccount& job) { return job.use_ns[use]; });
  }
}

TimeUse CauseOf(const JobAccount& job, const ExplainedStream& stream) {
  size_t cause = 0;
  for (size_t use = 1; use < kTimeUseCount; ++use) {
    if (job.use_ns[use] - stream.usual_ns[use] >
        job.use_ns[cause] - stream.usual_ns[cause]) {
      cause = use;
    }
  }
  return static_cast<TimeUse>(cause);
}

bool IsSlowedDown(const JobAccount& job) {
  return static_cast<double>(job.slowest.time_ns) >
         kSlowRatio * static_cast<double>(job.slowest.median_ns);
}

bool HasMoreWork(const JobAccount& job, const ExplainedStream& stream) {
  return static_cast<double>(job.operation_count) >
         kSlowRatio * static_cast<double>(stream.usual_operation_count);
}

// The deadline is too short for the work, whatever else runs.
bool IsDeadlineTooShort(const JobAccount& job, const ExplainedStream& stream) {
  return job.deadline_ns != INT64_MAX &&
         stream.usual_ns[static_cast<size_t>(TimeUse::kOwnWork)] >
             job.deadline_ns - job.origin_ns;
}

std::string NameOfOther(const JobAccount& job) {
  if (job.others.empty()) return "other work";
  const std::string& name = job.others.front().name;
  return name.empty() ? "work of an unknown call" : name;
}

void ExplainOwnWork(const ExplainedStream& stream, ExplainedJob& job) {
  const JobAccount& account = job.account;
  if (IsDeadlineTooShort(account, stream)) {
    job.reason = absl::StrCat(
        "Its own work alone usually takes ",
        MsText(stream.usual_ns[static_cast<size_t>(TimeUse::kOwnWork)]),
        ", and the deadline is ",
        MsText(account.deadline_ns - account.origin_ns), " after the release.");
    job.advice = "Use a faster model, more cores for it, or a later deadline.";
  } else if (HasMoreWork(account, stream)) {
    job.reason = absl::StrCat("It had more work: ", account.operation_count,
                              " operations, where a job usually has ",
                              stream.usual_operation_count, ".");
    job.advice =
        "Its input made a loop or a branch of the function do more: limit that "
        "in the model, end the call by a step limit, or set a later deadline.";
  } else if (IsSlowedDown(account)) {
    job.reason = absl::StrCat(
        "Its own work took longer: ", account.slowest.name, " took ",
        MsText(account.slowest.time_ns), ", and usually takes ",
        MsText(account.slowest.median_ns), ".");
    job.advice =
        "It ran on fewer cores than usual, the core was slower, or the system "
        "took the core away. Compare the cores that it had; give the workers a "
        "real-time priority (worker_fifo_priority); look for throttling and "
        "for other work that uses the memory.";
  } else {
    job.reason = "Its own work took longer, in many small steps.";
    job.advice =
        "See whether it had fewer threads than usual, because other work had "
        "them.";
  }
}

void Say(const ExplainedStream& stream, ExplainedJob& job) {
  const JobAccount& account = job.account;
  const std::string time = MsText(account.used_ns(job.cause));
  switch (job.cause) {
    case TimeUse::kOwnWork:
      ExplainOwnWork(stream, job);
      return;
    case TimeUse::kReleasedLate:
      job.reason = absl::StrCat("It was released ", time, " late.");
      job.advice =
          "The thread that releases jobs woke late: set timer_spin_ns or "
          "timer_fifo_priority.";
      return;
    case TimeUse::kJobBefore:
      job.reason = absl::StrCat("It waited ", time,
                                " for the stream's job before it, which was "
                                "not over.");
      job.advice =
          "Explain that job first; a longer period, or a late policy that "
          "drops late jobs, keeps one late job from delaying the next.";
      return;
    case TimeUse::kOtherWork:
      job.reason = absl::StrCat("It waited ", time, " while ",
                                NameOfOther(account), " ran.");
      job.advice = absl::StrCat(
          "Give ", stream.name, " a higher criticality or priority than ",
          NameOfOther(account),
          "; if it has one, shorten the tiles of that work.");
      return;
    case TimeUse::kNoWork:
      break;
  }
  job.reason =
      absl::StrCat("Nothing that the trace knows ran for ", time, " of it.");
  job.advice =
      "The system ran something else, or threads woke late: give the workers a "
      "real-time priority (worker_fifo_priority), or CPUs of their own.";
}

ExplainedStream ExplainStream(const std::string& name, StreamJobs jobs,
                              size_t job_count_max) {
  ExplainedStream stream;
  stream.name = name;
  stream.job_count = jobs.size();
  FindUsual(jobs, stream);
  for (const JobAccount* job : jobs) {
    if (!job->is_late()) continue;
    ++stream.late_count;
    ++stream.cause_count[static_cast<size_t>(CauseOf(*job, stream))];
  }
  const bool any_late = stream.late_count > 0;
  StableSort(jobs, [](const JobAccount* a, const JobAccount* b) {
    return std::pair(a->is_late(), a->response_ns()) >
           std::pair(b->is_late(), b->response_ns());
  });
  const size_t count = any_late ? static_cast<size_t>(stream.late_count) : 1;
  jobs.resize(std::min({jobs.size(), count, job_count_max}));
  for (const JobAccount* account : jobs) {
    ExplainedJob job;
    job.account = *account;
    job.cause = CauseOf(*account, stream);
    Say(stream, job);
    stream.jobs.push_back(std::move(job));
  }
  return stream;
}

const char* LabelOf(TimeUse use) {
  switch (use) {
    case TimeUse::kOwnWork:
      return "its own work";
    case TimeUse::kReleasedLate:
      return "released late";
    case TimeUse::kJobBefore:
      return "waited for the job before it";
    case TimeUse::kOtherWork:
      return "waited while other work ran";
    case TimeUse::kNoWork:
      break;
  }
  return "nothing ran";
}

std::string OutcomeText(const JobAccount& job) {
  const std::string response = MsText(job.response_ns());
  if (job.outcome == EventKind::kJobDropped) {
    return absl::StrCat("dropped after ", response);
  }
  std::string text = absl::StrCat("took ", response);
  if (job.deadline_ns == INT64_MAX) return text;
  const int64_t late_ns = job.end_ns - job.deadline_ns;
  absl::StrAppend(&text, ", ", MsText(late_ns < 0 ? -late_ns : late_ns),
                  late_ns > 0 ? " too long" : " before its deadline");
  return text;
}

void AppendJob(const ExplainedStream& stream, const ExplainedJob& job,
               std::string* text) {
  const JobAccount& account = job.account;
  absl::StrAppendFormat(text, "\n  job %d, due at %.3f ms: %s\n",
                        account.sequence, Ms(account.origin_ns),
                        OutcomeText(account));
  for (size_t use = 0; use < kTimeUseCount; ++use) {
    if (account.use_ns[use] == 0) continue;
    absl::StrAppendFormat(
        text, "    %10.3f ms  %-30s (usually %.3f ms)", Ms(account.use_ns[use]),
        LabelOf(static_cast<TimeUse>(use)), Ms(stream.usual_ns[use]));
    if (static_cast<TimeUse>(use) == TimeUse::kOtherWork) {
      const char* separator = ": ";
      for (const OtherWork& other : account.others) {
        absl::StrAppend(text, std::exchange(separator, ", "),
                        other.name.empty() ? "unknown" : other.name, " ",
                        MsText(other.time_ns));
      }
    }
    absl::StrAppend(text, "\n");
  }
  absl::StrAppend(text, "    cause: ", job.reason, "\n");
  if (!job.advice.empty()) {
    absl::StrAppend(text, "    to avoid it: ", job.advice, "\n");
  }
}

}  // namespace

Explanation Explain(const Trace& trace, size_t job_count_max) {
  const JobAccounts accounts = AccountForJobs(trace);
  Explanation explanation;
  explanation.is_simulated = trace.is_simulated();
  explanation.lost_count = trace.lost_count();
  explanation.skipped_count = accounts.skipped_count;
  explanation.incomplete_count = accounts.incomplete_count;
  std::vector<StreamJobs> streams(trace.tracks().size());
  for (const JobAccount& job : accounts.jobs) {
    streams[job.track].push_back(&job);
  }
  for (size_t i = 0; i < streams.size(); ++i) {
    if (streams[i].empty()) continue;
    explanation.streams.push_back(ExplainStream(
        trace.tracks()[i].name, std::move(streams[i]), job_count_max));
  }
  return explanation;
}

std::string ExplanationText(const Explanation& explanation) {
  std::string text;
  if (explanation.lost_count > 0) {
    absl::StrAppendFormat(&text,
                          "%d events were lost; what they were is missing "
                          "below\n",
                          explanation.lost_count);
  }
  if (explanation.incomplete_count > 0) {
    absl::StrAppendFormat(&text,
                          "%d jobs are left out, since events of their time "
                          "were lost: record more events of each thread\n",
                          explanation.incomplete_count);
  }
  if (explanation.skipped_count > 0) {
    absl::StrAppendFormat(&text, "%d jobs were left out\n",
                          explanation.skipped_count);
  }
  if (explanation.streams.empty()) {
    absl::StrAppend(&text, "the trace has no ",
                    explanation.incomplete_count > 0 ? "other " : "",
                    "job of a stream that ended\n");
  }
  for (const ExplainedStream& stream : explanation.streams) {
    absl::StrAppendFormat(
        &text, "%s%s: %d of %d jobs late; usually done in %.3f ms\n",
        text.empty() ? "" : "\n", stream.name, stream.late_count,
        stream.job_count, Ms(stream.usual_response_ns));
    for (size_t use = 0; use < kTimeUseCount; ++use) {
      if (stream.cause_count[use] == 0) continue;
      absl::StrAppendFormat(&text, "  %8d late mostly because of: %s\n",
                            stream.cause_count[use],
                            LabelOf(static_cast<TimeUse>(use)));
    }
    for (const ExplainedJob& job : stream.jobs) AppendJob(stream, job, &text);
  }
  return text;
}

namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json ByUse(const std::array<T, kTimeUseCount>& values) {
  Json json;
  for (size_t use = 0; use < kTimeUseCount; ++use) {
    json[TimeUseName(static_cast<TimeUse>(use))] = values[use];
  }
  return json;
}

Json JobJson(const ExplainedJob& job) {
  const JobAccount& account = job.account;
  Json json = {{"sequence", account.sequence},
               {"outcome", EventKindName(account.outcome)},
               {"origin_ns", account.origin_ns},
               {"end_ns", account.end_ns},
               {"use_ns", ByUse(account.use_ns)},
               {"cause", TimeUseName(job.cause)},
               {"reason", job.reason},
               {"advice", job.advice}};
  if (account.deadline_ns != INT64_MAX) {
    json["deadline_ns"] = account.deadline_ns;
  }
  json["other_work"] = Json::array();
  for (const OtherWork& other : account.others) {
    json["other_work"].push_back({{"name", other.name}, {"ns", other.time_ns}});
  }
  return json;
}

}  // namespace

std::string ExplanationJson(const Explanation& explanation) {
  Json json;
  json["simulated"] = explanation.is_simulated;
  json["lost"] = explanation.lost_count;
  json["skipped"] = explanation.skipped_count;
  json["incomplete"] = explanation.incomplete_count;
  json["streams"] = Json::array();
  for (const ExplainedStream& stream : explanation.streams) {
    Json jobs = Json::array();
    for (const ExplainedJob& job : stream.jobs) jobs.push_back(JobJson(job));
    json["streams"].push_back({{"name", stream.name},
                               {"jobs", stream.job_count},
                               {"late", stream.late_count},
                               {"usual_response_ns", stream.usual_response_ns},
                               {"usual_ns", ByUse(stream.usual_ns)},
                               {"causes", ByUse(stream.cause_count)},
                               {"explained", std::move(jobs)}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace takt::trace
