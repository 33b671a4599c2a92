#include "plan/solved_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace takt::plan {
namespace {

constexpr uint32_t kLeftOut = UINT32_MAX;

class Converter {
 public:
  Converter(const solve::Problem& problem, const solve::Schedule& schedule)
      : problem_(problem),
        schedule_(schedule),
        before_(problem.operations.size()),
        parent_(problem.operations.size()) {
    TAKT_CHECK(schedule.entries.size() == problem.operations.size());
    std::iota(parent_.begin(), parent_.end(), 0u);
    for (const auto& [before, after] : problem.precedences) {
      before_[after].push_back(before);
      parent_[Root(before)] = Root(after);
    }
  }

  Plan Convert(int64_t lower_bound) {
    plan_.lower_bound = lower_bound;
    plan_.modules.push_back({"problem", ""});
    for (uint32_t machine = 0; machine < problem_.machine_count; ++machine) {
      plan_.resources.push_back({absl::StrCat("machine ", machine),
                                 PlannedResource::Kind::kCore, machine});
    }
    NumberOperations();
    for (uint32_t i = 0; i < problem_.operations.size(); ++i) {
      if (indices_[i] != kLeftOut) AddOperation(i);
    }
    return std::move(plan_);
  }

 private:
  uint32_t Root(uint32_t operation) {
    while (parent_[operation] != operation) {
      parent_[operation] = parent_[parent_[operation]];
      operation = parent_[operation];
    }
    return operation;
  }

  const solve::Alternative& Chosen(uint32_t operation) const {
    return problem_.operations[operation]
        .alternatives[schedule_.entries[operation].alternative];
  }

  void NumberOperations() {
    uint32_t count = 0;
    for (uint32_t i = 0; i < problem_.operations.size(); ++i) {
      indices_.push_back(Chosen(i).duration > 0 ? count++ : kLeftOut);
    }
  }

  uint32_t JobOf(uint32_t operation) {
    const uint32_t root = Root(operation);
    if (jobs_.size() <= root) jobs_.resize(root + 1, kLeftOut);
    if (jobs_[root] == kLeftOut) {
      jobs_[root] = static_cast<uint32_t>(plan_.jobs.size());
      plan_.jobs.push_back(
          {absl::StrCat("job ", jobs_[root]), 0, kNoDeadline, {}});
      ordinals_.push_back(0);
    }
    return jobs_[root];
  }

  // The predecessors of `operation`, also through operations left out.
  std::vector<uint32_t> Predecessors(uint32_t operation) const {
    std::vector<uint32_t> found, open = before_[operation];
    while (!open.empty()) {
      const uint32_t before = open.back();
      open.pop_back();
      if (indices_[before] != kLeftOut) {
        TAKT_DCHECK(indices_[before] < problem_.operations.size());
        found.push_back(indices_[before]);
      } else {
        open.insert(open.end(), before_[before].begin(), before_[before].end());
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  void AddOperation(uint32_t index) {
    PlannedOperation operation;
    TAKT_CHECK(plan_.operations.size() == indices_[index]);
    operation.name = absl::StrCat("operation ", index);
    operation.kernel = operation.name;
    operation.job = JobOf(index);
    TAKT_CHECK(operation.job < plan_.jobs.size() &&
               ordinals_.size() == plan_.jobs.size());
    operation.ordinal = ordinals_[operation.job]++;
    operation.start = schedule_.entries[index].start;
    operation.duration = Chosen(index).duration;
    operation.resources = Chosen(index).machines;
    operation.after = Predecessors(index);
    for (const solve::Alternative& way :
         problem_.operations[index].alternatives) {
      // A set of several machines cannot be expressed as a width of one
      // cluster.
      if (way.machines.size() != 1) {
        operation.alternatives.clear();
        break;
      }
      operation.alternatives.push_back(
          {PlannedResource::Kind::kCore, way.machines[0], 1, way.duration});
    }
    plan_.operations.push_back(std::move(operation));
  }

  const solve::Problem& problem_;
  const solve::Schedule& schedule_;
  std::vector<std::vector<uint32_t>> before_;
  std::vector<uint32_t> parent_;    // Union-find over precedences.
  std::vector<uint32_t> indices_;   // In the plan, by operation.
  std::vector<uint32_t> jobs_;      // By root.
  std::vector<uint32_t> ordinals_;  // The next of each job.
  Plan plan_;
};

}  // namespace

Plan PlanOfSchedule(const solve::Problem& problem,
                    const solve::Schedule& schedule, int64_t lower_bound) {
  return Converter(problem, schedule).Convert(lower_bound);
}

}  // namespace takt::plan
