#include "plan/plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash_map.h"
#include "base/stable_sort.h"
#include "base/status.h"
#include "solve/problem.h"

namespace takt::plan {
namespace {

absl::Status Malformed(absl::string_view what, size_t index,
                       absl::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("plan: ", what, " ", index, ": ", reason));
}

bool IsTime(int64_t time) {
  return time >= 0 && time <= solve::Problem::kMaxTime;
}

// Whether these are ascending indices below `count`.
bool AreIndices(const std::vector<uint32_t>& indices, size_t count) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= count) return false;
    if (i > 0 && indices[i] <= indices[i - 1]) return false;
  }
  return true;
}

template <typename Items>
absl::Status CheckNames(const Items& items, absl::string_view what) {
  if (items.size() > kPlanItemsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("plan: ", items.size(), " ", what, "s are too many"));
  }
  HashSet<absl::string_view> names;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!names.insert(items[i].name).second) {
      return Malformed(what, i,
                       absl::StrCat("\"", items[i].name, "\" is there twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateJob(const Plan& plan, size_t index) {
  const PlannedJob& job = plan.jobs[index];
  if (!IsTime(job.release)) {
    return Malformed("job", index, absl::StrCat("release is ", job.release));
  }
  if (job.deadline != kNoDeadline && !IsTime(job.deadline)) {
    return Malformed("job", index, absl::StrCat("deadline is ", job.deadline));
  }
  if (!AreIndices(job.allowed, plan.resources.size())) {
    return Malformed("job", index, "allowed are no resources in order");
  }
  return absl::OkStatus();
}

absl::Status ValidateOperation(const Plan& plan, size_t index) {
  const PlannedOperation& operation = plan.operations[index];
  const auto malformed = [&](absl::string_view reason) {
    return Malformed("operation", index, reason);
  };
  if (operation.job >= plan.jobs.size()) {
    return malformed(absl::StrCat("there is no job ", operation.job));
  }
  if (operation.module >= plan.modules.size()) {
    return malformed(absl::StrCat("there is no module ", operation.module));
  }
  if (!IsTime(operation.start)) {
    return malformed(absl::StrCat("start is ", operation.start));
  }
  if (!IsTime(operation.duration) || operation.duration == 0) {
    return malformed(absl::StrCat("duration is ", operation.duration));
  }
  if (operation.resources.empty() ||
      !AreIndices(operation.resources, plan.resources.size())) {
    return malformed("has no resources, or none that there are, in order");
  }
  for (const uint32_t before : operation.after) {
    if (before >= plan.operations.size() || before == index) {
      return malformed(absl::StrCat("cannot be after operation ", before));
    }
  }
  for (const PlannedAlternative& alternative : operation.alternatives) {
    if (!IsTime(alternative.duration) || alternative.width == 0) {
      return malformed("has an alternative of no time or width");
    }
  }
  return absl::OkStatus();
}

std::string Quoted(const PlannedOperation& operation) {
  return absl::StrCat("\"", operation.name, "\"");
}

int64_t EndOf(const PlannedOperation& operation) {
  return operation.start + operation.duration;
}

class FaultFinder {
 public:
  explicit FaultFinder(const Plan& plan) : plan_(plan) {}

  std::vector<PlanFault> Find() {
    for (uint32_t i = 0; i < plan_.operations.size(); ++i) {
      CheckPrecedence(i);
      CheckJob(i);
      CheckWidth(i);
    }
    CheckOverlaps();
    StableSort(faults_, [](const PlanFault& a, const PlanFault& b) {
      return a.operation < b.operation;
    });
    return std::move(faults_);
  }

 private:
  template <typename... Parts>
  void Add(PlanFault::Kind kind, uint32_t index, const Parts&... parts) {
    faults_.push_back(
        {kind, index,
         absl::StrCat(PlanFaultName(kind), ": ", Quoted(At(index)), parts...)});
  }
  const PlannedOperation& At(uint32_t index) const {
    return plan_.operations[index];
  }

  void CheckPrecedence(uint32_t index) {
    for (const uint32_t before : At(index).after) {
      if (At(index).start >= EndOf(At(before))) continue;
      Add(PlanFault::Kind::kPrecedence, index, " starts at ", At(index).start,
          " ns, before ", Quoted(At(before)), " ends at ", EndOf(At(before)));
    }
  }

  void CheckJob(uint32_t index) {
    const PlannedOperation& operation = At(index);
    const PlannedJob& job = plan_.jobs[operation.job];
    if (operation.start < job.release) {
      Add(PlanFault::Kind::kRelease, index, " starts at ", operation.start,
          " ns, but job \"", job.name, "\" is released at ", job.release);
    }
    if (EndOf(operation) > job.deadline) {
      Add(PlanFault::Kind::kDeadline, index, " ends at ", EndOf(operation),
          " ns, but job \"", job.name, "\" is due at ", job.deadline);
    }
    if (job.allowed.empty()) return;
    for (const uint32_t resource : operation.resources) {
      if (std::binary_search(job.allowed.begin(), job.allowed.end(),
                             resource)) {
        continue;
      }
      Add(PlanFault::Kind::kAffinity, index, " is on ",
          plan_.resources[resource].name, ", which job \"", job.name,
          "\" is not allowed");
    }
  }

  void CheckWidth(uint32_t index) {
    const PlannedOperation& operation = At(index);
    if (operation.alternatives.empty()) return;
    // The NPU counts, and not the cores that feed it.
    const PlannedResource* first = nullptr;
    for (const uint32_t index_of_one : operation.resources) {
      const PlannedResource& one = plan_.resources[index_of_one];
      if (first == nullptr || (one.kind == PlannedResource::Kind::kNpu &&
                               first->kind != one.kind)) {
        first = &one;
      }
    }
    TAKT_CHECK(first != nullptr);  // The plan is well formed.
    uint32_t width = 0;
    uint32_t feeders = 0;
    for (const uint32_t other : operation.resources) {
      const PlannedResource& resource = plan_.resources[other];
      if (resource.kind == first->kind && resource.cluster == first->cluster) {
        ++width;
      } else if (resource.kind == PlannedResource::Kind::kCore &&
                 first->kind == PlannedResource::Kind::kNpu) {
        ++feeders;
      } else {
        Add(PlanFault::Kind::kWidth, index, " is on ", first->name, " and ",
            resource.name, ", which are not of one cluster");
        return;
      }
    }
    for (const PlannedAlternative& alternative : operation.alternatives) {
      if (alternative.kind != first->kind ||
          alternative.cluster != first->cluster || alternative.width != width ||
          alternative.feeders != feeders) {
        continue;
      }
      if (operation.duration < alternative.duration) {
        Add(PlanFault::Kind::kDuration, index, " is given ", operation.duration,
            " ns, but takes ", alternative.duration);
      }
      return;
    }
    Add(PlanFault::Kind::kWidth, index, " is on ", operation.resources.size(),
        " of cluster ", first->cluster,
        first->kind == PlannedResource::Kind::kNpu ? " (NPU)" : "",
        ", which is none of its alternatives");
  }

  // An operation occupies a resource from `start` to `end` of a period.
  struct Span {
    uint32_t resource;
    int64_t start;
    int64_t end;
    uint32_t operation;
  };

  void AddSpans(uint32_t index, std::vector<Span>& spans) {
    const PlannedOperation& operation = At(index);
    int64_t start = operation.start;
    if (plan_.period > 0) {
      if (operation.duration > plan_.period) {
        Add(PlanFault::Kind::kPeriod, index, " takes ", operation.duration,
            " ns of a period of ", plan_.period);
        return;
      }
      start %= plan_.period;
    }
    const int64_t end = start + operation.duration;
    TAKT_DCHECK(end > start);
    for (const uint32_t resource : operation.resources) {
      if (plan_.period > 0 && end > plan_.period) {
        spans.push_back({resource, start, plan_.period, index});
        spans.push_back({resource, 0, end - plan_.period, index});
      } else {
        spans.push_back({resource, start, end, index});
      }
    }
  }

  void CheckOverlaps() {
    std::vector<Span> spans;
    for (uint32_t i = 0; i < plan_.operations.size(); ++i) AddSpans(i, spans);
    StableSort(spans, [](const Span& a, const Span& b) {
      return a.resource != b.resource ? a.resource < b.resource
             : a.start != b.start     ? a.start < b.start
                                      : a.operation < b.operation;
    });
    // The one that ends last among the spans that have begun.
    const Span* latest = nullptr;
    for (const Span& span : spans) {
      if (latest != nullptr && latest->resource == span.resource &&
          span.start < latest->end) {
        TAKT_DCHECK(latest->start <= span.start);
        Add(PlanFault::Kind::kOverlap, span.operation, " is on ",
            plan_.resources[span.resource].name, " from ", span.start,
            " ns, where ", Quoted(At(latest->operation)), " is until ",
            latest->end);
        if (span.end <= latest->end) continue;
      }
      latest = &span;
    }
  }

  const Plan& plan_;
  std::vector<PlanFault> faults_;
};

}  // namespace

int64_t Plan::makespan() const {
  int64_t latest = 0;
  for (const PlannedOperation& operation : operations) {
    latest = std::max(latest, EndOf(operation));
  }
  return latest;
}

absl::Status ValidatePlan(const Plan& plan) {
  if (!IsTime(plan.period) || !IsTime(plan.lower_bound)) {
    return absl::InvalidArgumentError(
        absl::StrCat("plan: period is ", plan.period, ", lower bound is ",
                     plan.lower_bound));
  }
  TAKT_RETURN_IF_ERROR(CheckNames(plan.modules, "module"));
  TAKT_RETURN_IF_ERROR(CheckNames(plan.resources, "resource"));
  TAKT_RETURN_IF_ERROR(CheckNames(plan.jobs, "job"));
  TAKT_RETURN_IF_ERROR(CheckNames(plan.operations, "operation"));
  for (size_t i = 0; i < plan.jobs.size(); ++i) {
    TAKT_RETURN_IF_ERROR(ValidateJob(plan, i));
  }
  for (size_t i = 0; i < plan.operations.size(); ++i) {
    TAKT_RETURN_IF_ERROR(ValidateOperation(plan, i));
  }
  return absl::OkStatus();
}

const char* PlanFaultName(PlanFault::Kind kind) {
  switch (kind) {
    case PlanFault::Kind::kPrecedence:
      return "precedence";
    case PlanFault::Kind::kOverlap:
      return "overlap";
    case PlanFault::Kind::kRelease:
      return "release";
    case PlanFault::Kind::kDeadline:
      return "deadline";
    case PlanFault::Kind::kAffinity:
      return "affinity";
    case PlanFault::Kind::kWidth:
      return "width";
    case PlanFault::Kind::kDuration:
      return "duration";
    case PlanFault::Kind::kPeriod:
      return "period";
  }
  return "?";
}

std::vector<PlanFault> FindPlanFaults(const Plan& plan) {
  return FaultFinder(plan).Find();
}

}  // namespace takt::plan
