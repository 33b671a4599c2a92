#include "follow/plan_alignment.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace takt::follow {
namespace {

using Kind = plan::PlannedResource::Kind;

constexpr uint32_t kNone = UINT32_MAX;

class Aligner {
 public:
  Aligner(const plan::Plan& plan, const sched::Machine& machine,
          const sched::ResourceSet& gone)
      : plan_(plan),
        machine_(machine),
        gone_(gone),
        place_of_(plan.resources.size(), kNone) {
    for (uint32_t p = 0; p < machine.pools.size(); ++p) {
      const bool is_core = machine.pools[p].kind == sched::ResourceKind::kCore;
      for (uint32_t i = 0; i < machine.pools[p].count; ++i) {
        resources_.push_back({absl::StrCat(machine.pools[p].name, "#", i),
                              is_core ? Kind::kCore : Kind::kNpu, p});
      }
    }
    for (uint32_t i = 0; i < resources_.size(); ++i) {
      is_taken_.push_back(gone.Contains(i));
    }
  }

  absl::StatusOr<plan::Plan> Align() {
    FindByName();
    TAKT_RETURN_IF_ERROR(FindByCluster());
    plan::Plan aligned = plan_;
    aligned.resources = resources_;
    for (plan::PlannedJob& job : aligned.jobs) Renumber(&job.allowed);
    for (plan::PlannedOperation& operation : aligned.operations) {
      Renumber(&operation.resources);
      TAKT_RETURN_IF_ERROR(CheckPools(operation));
      AlignAlternatives(&operation);
    }
    return aligned;
  }

 private:
  absl::Status Fault(absl::string_view reason) const {
    return absl::InvalidArgumentError(
        absl::StrCat("plan \"", plan_.name, "\": ", reason));
  }

  void Take(uint32_t resource, uint32_t place) {
    place_of_[resource] = place;
    is_taken_[place] = true;
  }

  void FindByName() {
    std::map<std::string, uint32_t> places;
    for (uint32_t i = 0; i < resources_.size(); ++i) {
      places[resources_[i].name] = i;
    }
    for (uint32_t i = 0; i < plan_.resources.size(); ++i) {
      const auto found = places.find(plan_.resources[i].name);
      if (found == places.end()) continue;
      if (resources_[found->second].kind != plan_.resources[i].kind ||
          gone_.Contains(found->second)) {
        continue;
      }
      Take(i, found->second);
    }
  }

  absl::Status FindByCluster() {
    std::map<std::pair<Kind, uint32_t>, std::vector<uint32_t>> clusters;
    for (uint32_t i = 0; i < plan_.resources.size(); ++i) {
      if (place_of_[i] != kNone) continue;
      clusters[{plan_.resources[i].kind, plan_.resources[i].cluster}].push_back(
          i);
    }
    for (const auto& [cluster, members] : clusters) {
      TAKT_RETURN_IF_ERROR(Place(cluster.first, members));
    }
    return absl::OkStatus();
  }

  absl::Status Place(Kind kind, const std::vector<uint32_t>& members) {
    for (uint32_t pool = 0; pool < machine_.pools.size(); ++pool) {
      std::vector<uint32_t> free;
      for (uint32_t i = 0; i < resources_.size(); ++i) {
        if (resources_[i].cluster == pool && resources_[i].kind == kind &&
            !is_taken_[i]) {
          free.push_back(i);
        }
      }
      if (free.size() < members.size()) continue;
      for (size_t i = 0; i < members.size(); ++i) Take(members[i], free[i]);
      return absl::OkStatus();
    }
    std::string there;
    for (uint32_t pool = 0; pool < machine_.pools.size(); ++pool) {
      const sched::ResourceSet left = machine_.ResourcesOf(pool) - gone_;
      absl::StrAppend(&there, there.empty() ? "" : ", ", left.count(), " of ",
                      machine_.pools[pool].name);
    }
    return Fault(absl::StrCat(kind == Kind::kNpu ? "NPU \"" : "core \"",
                              plan_.resources[members[0]].name,
                              "\": no pool has room for the ", members.size(),
                              " of its cluster; there are ", there));
  }

  void Renumber(std::vector<uint32_t>* resources) const {
    for (uint32_t& resource : *resources) resource = place_of_[resource];
    std::sort(resources->begin(), resources->end());
  }

  // Of `operation`, which is aligned.
  absl::Status CheckPools(const plan::PlannedOperation& operation) const {
    uint32_t pool = kNone;
    bool has_npu = false;
    bool has_two = false;
    for (const uint32_t resource : operation.resources) {
      has_npu |= resources_[resource].kind == Kind::kNpu;
      has_two |= pool != kNone && pool != resources_[resource].cluster;
      pool = resources_[resource].cluster;
    }
    if (!has_two || has_npu) return absl::OkStatus();
    return Fault(absl::StrCat("operation \"", operation.name,
                              "\" takes cores of two pools at once"));
  }

  // Clusters of alternatives become pools: those that members went to.
  void AlignAlternatives(plan::PlannedOperation* operation) const {
    for (plan::PlannedAlternative& alternative : operation->alternatives) {
      for (uint32_t i = 0; i < plan_.resources.size(); ++i) {
        if (plan_.resources[i].kind != alternative.kind ||
            plan_.resources[i].cluster != alternative.cluster) {
          continue;
        }
        alternative.cluster = resources_[place_of_[i]].cluster;
        break;
      }
    }
  }

  const plan::Plan& plan_;
  const sched::Machine& machine_;
  const sched::ResourceSet gone_;
  std::vector<plan::PlannedResource> resources_;  // The machine's.
  std::vector<bool> is_taken_;
  std::vector<uint32_t> place_of_;
};

}  // namespace

absl::StatusOr<plan::Plan> AlignPlan(const plan::Plan& plan,
                                     const sched::Machine& machine,
                                     const sched::ResourceSet& gone) {
  return Aligner(plan, machine, gone).Align();
}

}  // namespace takt::follow
