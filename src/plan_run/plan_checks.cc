#include "plan_run/plan_checks.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash_map.h"
#include "base/status.h"

namespace takt::plan_run {
namespace {

const BoundStream& Find(const plan::Plan& plan, uint32_t job,
                        const BoundStreams& bound) {
  TAKT_CHECK(job < plan.jobs.size());
  const auto found = bound.find(plan.jobs[job].stream);
  TAKT_CHECK(found != bound.end());
  return found->second;
}

absl::Status CheckPeriod(const plan::Plan& plan, const std::string& name,
                         const BoundStream& stream) {
  TAKT_CHECK(stream.released_by == ReleasedBy::kClock && stream.period_ns > 0);
  const int64_t period_ns = stream.period_ns;
  const int64_t first_ns = FirstRelease(plan, name);
  int64_t count = 0;
  for (const plan::PlannedJob& job : plan.jobs) {
    if (job.stream != name) continue;
    if (job.release != first_ns + count * period_ns) {
      return StreamError(name, absl::StrCat("its period of ", period_ns,
                                            " ns is not the plan's: ", job.name,
                                            " is released at ", job.release));
    }
    ++count;
  }
  if (count * period_ns == plan.period) return absl::OkStatus();
  return StreamError(
      name, absl::StrCat("it releases ", plan.period / period_ns,
                         " jobs in the plan's period, which has ", count));
}

absl::Status CheckStream(const plan::Plan& plan, const std::string& name,
                         const BoundStreams& bound) {
  const auto found = bound.find(name);
  if (found == bound.end()) return StreamError(name, "it is not bound");
  const BoundStream& stream = found->second;
  if (stream.released_by == ReleasedBy::kRun) return absl::OkStatus();
  if (plan.period == 0) {
    return StreamError(name, "a single shot is bound to functions");
  }
  return stream.released_by == ReleasedBy::kClock
             ? CheckPeriod(plan, name, stream)
             : absl::OkStatus();
}

}  // namespace

absl::Status StreamError(absl::string_view stream, absl::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("stream \"", stream, "\": ", reason));
}

plan::Plan WithStreams(plan::Plan plan) {
  for (plan::PlannedJob& job : plan.jobs) {
    if (!job.stream.empty()) continue;
    job.stream = job.name;
    job.instance = 0;
  }
  return plan;
}

int64_t FirstRelease(const plan::Plan& plan, const std::string& stream) {
  for (const plan::PlannedJob& job : plan.jobs) {
    if (job.stream == stream) return job.release;
  }
  return -1;
}

absl::Status CheckStreams(const plan::Plan& plan, const BoundStreams& bound) {
  HashSet<absl::string_view> seen;
  for (const plan::PlannedJob& job : plan.jobs) {
    TAKT_CHECK(!job.stream.empty());
    if (!seen.insert(job.stream).second) continue;
    TAKT_RETURN_IF_ERROR(CheckStream(plan, job.stream, bound));
  }
  return absl::OkStatus();
}

absl::Status CheckModules(const plan::Plan& plan, const BoundStreams& bound) {
  for (const plan::PlannedOperation& operation : plan.operations) {
    const plan::PlannedModule& planned = plan.modules[operation.module];
    if (planned.content_hash.empty()) continue;
    const BoundStream& stream = Find(plan, operation.job, bound);
    const std::string& actual = stream.content_hash;
    if (actual == planned.content_hash) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "stream \"", plan.jobs[operation.job].stream, "\": ", stream.function,
        " is of a module with the content ", actual.empty() ? "(none)" : actual,
        ", and the plan was made for ", planned.name, " with the content ",
        planned.content_hash));
  }
  return absl::OkStatus();
}

absl::Status CheckDevices(const plan::Plan& plan, const BoundStreams& bound) {
  for (const plan::PlannedOperation& operation : plan.operations) {
    const BoundStream& stream = Find(plan, operation.job, bound);
    for (const uint32_t index : operation.resources) {
      const plan::PlannedResource& resource = plan.resources[index];
      if (resource.kind != plan::PlannedResource::Kind::kNpu) continue;
      if ((stream.npu_pools >> resource.cluster & 1) != 0) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          "stream \"", plan.jobs[operation.job].stream, "\": operation \"",
          operation.name, "\" is planned for the NPU \"", resource.name,
          "\", and the context of ", stream.function, " has no device of it"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTakeOver(const plan::Plan& current, const plan::Plan& next,
                           const BoundStreams& bound) {
  const bool is_cyclic = next.period > 0;
  if ((current.period > 0) != is_cyclic) {
    return absl::InvalidArgumentError(absl::StrCat(
        "plan \"", next.name, "\": a ",
        is_cyclic ? "cyclic plan" : "single shot", " cannot take over from a ",
        is_cyclic ? "single shot" : "cyclic plan"));
  }
  for (const auto& [name, stream] : bound) {
    if (stream.released_by == ReleasedBy::kRun) continue;
    const int64_t current_ns = FirstRelease(current, name);
    const int64_t next_ns = FirstRelease(next, name);
    if (current_ns == next_ns) continue;
    return StreamError(name,
                       absl::StrCat("its first release is at ", current_ns,
                                    ", and of the new plan at ", next_ns));
  }
  return absl::OkStatus();
}

}  // namespace takt::plan_run
