#include "plan/xpu_rt_schedule.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/hash_map.h"
#include "base/json.h"
#include "base/narrow.h"
#include "base/stable_sort.h"
#include "base/status.h"
#include "solve/problem.h"

namespace takt::plan {
namespace {

using Json = nlohmann::json;

constexpr double kNsPerMs = 1e6;
// "-0.0", and a solver's rounding, are zero.
constexpr double kRoundingMs = 1e-6;

absl::Status Fault(absl::string_view entry, absl::string_view member,
                   absl::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrCat("schedule: \"", entry, "\": ", member, ": ", reason));
}

class Importer {
 public:
  absl::StatusOr<Plan> Import(const Json& dispatches) {
    plan_.name = "imported";
    // Numbers them in the order of their starts, so that a reader of the plan
    // sees what the schedule does.
    std::vector<std::pair<int64_t, const std::string*>> order;
    for (const auto& item : dispatches.items()) {
      TAKT_ASSIGN_OR_RETURN(const int64_t start,
                            ReadTime(item.key(), item.value(), "start_time"));
      order.emplace_back(start, &names_.emplace_back(item.key()));
    }
    StableSort(order,
               [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [start, name] : order) {
      indices_.emplace(*name, Narrow<uint32_t>(indices_.size()));
    }
    for (const auto& [start, name] : order) {
      TAKT_RETURN_IF_ERROR(AddOperation(*name, dispatches[*name], start));
    }
    TAKT_RETURN_IF_ERROR(ValidatePlan(plan_));
    return std::move(plan_);
  }

 private:
  static absl::StatusOr<int64_t> ReadTime(const std::string& entry,
                                          const Json& dispatch,
                                          const char* member) {
    const auto found =
        dispatch.is_object() ? dispatch.find(member) : dispatch.end();
    if (found == dispatch.end() || !found->is_number()) {
      return Fault(entry, member, "expected a number of milliseconds");
    }
    const double ms = found->get<double>();
    if (!(ms >= -kRoundingMs &&
          ms <= static_cast<double>(solve::Problem::kMaxTime) / kNsPerMs)) {
      return Fault(entry, member, absl::StrCat("is ", ms));
    }
    return std::max<int64_t>(0, std::llround(ms * kNsPerMs));
  }

  static absl::StatusOr<std::string> ReadText(const std::string& entry,
                                              const Json& dispatch,
                                              const char* member) {
    const auto found = dispatch.find(member);
    if (found == dispatch.end() || !found->is_string()) {
      return Fault(entry, member, "expected text");
    }
    return found->get<std::string>();
  }

  // The index of `name` among `items`, where it is added if it is new.
  template <typename Item>
  static uint32_t IndexOf(const std::string& name, std::vector<Item>& items,
                          HashMap<std::string, uint32_t>& known) {
    const auto [found, is_new] =
        known.emplace(name, Narrow<uint32_t>(items.size()));
    if (is_new) items.emplace_back().name = name;
    return found->second;
  }

  absl::StatusOr<uint32_t> ReadResource(const std::string& entry,
                                        absl::string_view target) {
    const size_t hash = target.find('#');
    uint32_t number = 0;
    if (hash == 0 || hash == absl::string_view::npos ||
        !absl::SimpleAtoi(target.substr(hash + 1), &number)) {
      return Fault(entry, "hardware_target",
                   absl::StrCat("expected KIND#number, got \"", target, "\""));
    }
    const absl::string_view kind = target.substr(0, hash);
    const auto cluster = Narrow<uint32_t>(
        clusters_.emplace(kind, clusters_.size()).first->second);
    const uint32_t index =
        IndexOf(std::string(target), plan_.resources, resources_);
    plan_.resources[index].cluster = cluster;
    if (absl::StrContains(kind, "NPU")) {
      plan_.resources[index].kind = PlannedResource::Kind::kNpu;
    }
    return index;
  }

  absl::Status ReadResources(const std::string& entry, const Json& dispatch,
                             PlannedOperation& operation) {
    TAKT_ASSIGN_OR_RETURN(const std::string targets,
                          ReadText(entry, dispatch, "hardware_target"));
    for (const absl::string_view target : absl::StrSplit(targets, '+')) {
      TAKT_ASSIGN_OR_RETURN(const uint32_t resource,
                            ReadResource(entry, target));
      operation.resources.push_back(resource);
    }
    std::sort(operation.resources.begin(), operation.resources.end());
    const auto twice = std::adjacent_find(operation.resources.begin(),
                                          operation.resources.end());
    if (twice == operation.resources.end()) return absl::OkStatus();
    return Fault(
        entry, "hardware_target",
        absl::StrCat("\"", plan_.resources[*twice].name, "\" is there twice"));
  }

  absl::Status ReadDependencies(const std::string& entry, const Json& dispatch,
                                PlannedOperation& operation) {
    const auto found = dispatch.find("dependencies");
    if (found == dispatch.end()) return absl::OkStatus();
    if (!found->is_array()) {
      return Fault(entry, "dependencies", "expected a list of names");
    }
    for (const Json& name : *found) {
      const auto before = name.is_string()
                              ? indices_.find(name.get<std::string>())
                              : indices_.end();
      if (before == indices_.end()) {
        return Fault(entry, "dependencies",
                     absl::StrCat("there is no dispatch ", name.dump()));
      }
      operation.after.push_back(before->second);
    }
    return absl::OkStatus();
  }

  absl::Status AddOperation(const std::string& entry, const Json& dispatch,
                            int64_t start) {
    PlannedOperation operation;
    operation.name = entry;
    operation.start = start;
    TAKT_ASSIGN_OR_RETURN(operation.duration,
                          ReadTime(entry, dispatch, "duration"));
    if (operation.duration == 0) return Fault(entry, "duration", "is 0");
    TAKT_ASSIGN_OR_RETURN(const std::string job,
                          ReadText(entry, dispatch, "job_name"));
    TAKT_ASSIGN_OR_RETURN(operation.kernel,
                          ReadText(entry, dispatch, "module_name"));
    operation.job = IndexOf(job, plan_.jobs, jobs_);
    operation.module =
        IndexOf(operation.kernel.substr(0, operation.kernel.find('$')),
                plan_.modules, modules_);
    if (const auto id = dispatch.find("id"); id != dispatch.end()) {
      if (!id->is_number_unsigned() || id->get<uint64_t>() > kPlanItemsMax) {
        return Fault(entry, "id", "expected a small whole number");
      }
      operation.ordinal = id->get<uint32_t>();
    }
    TAKT_RETURN_IF_ERROR(ReadResources(entry, dispatch, operation));
    TAKT_RETURN_IF_ERROR(ReadDependencies(entry, dispatch, operation));
    plan_.operations.push_back(std::move(operation));
    return absl::OkStatus();
  }

  Plan plan_;
  std::deque<std::string> names_;
  HashMap<std::string, uint32_t> indices_;
  HashMap<std::string, uint32_t> resources_, jobs_, modules_;
  HashMap<std::string, size_t> clusters_;
};

}  // namespace

absl::StatusOr<Plan> ImportLooseSchedule(absl::string_view text) {
  TAKT_ASSIGN_OR_RETURN(const Json json, ParseJson(text, "schedule"));
  const auto dispatches =
      json.is_object() ? json.find("dispatches") : json.end();
  if (dispatches == json.end() || !dispatches->is_object()) {
    return absl::InvalidArgumentError(
        "schedule: expected a JSON object with an object \"dispatches\"");
  }
  return Importer().Import(*dispatches);
}

std::string ExportLooseSchedule(const Plan& plan) {
  nlohmann::ordered_json dispatches = nlohmann::ordered_json::object();
  for (const PlannedOperation& operation : plan.operations) {
    std::string targets;
    for (const uint32_t resource : operation.resources) {
      absl::StrAppend(&targets, targets.empty() ? "" : "+",
                      plan.resources[resource].name);
    }
    std::vector<std::string> dependencies;
    for (const uint32_t before : operation.after) {
      dependencies.push_back(plan.operations[before].name);
    }
    dispatches[operation.name] = {
        {"id", operation.ordinal},
        {"ordinal", 1},
        {"total", 1},
        {"dependencies", dependencies},
        {"hardware_target", targets},
        {"start_time", static_cast<double>(operation.start) / kNsPerMs},
        {"duration", static_cast<double>(operation.duration) / kNsPerMs},
        {"job_name", plan.jobs[operation.job].name},
        {"module_name", operation.kernel}};
  }
  const nlohmann::ordered_json json = {{"dispatches", dispatches}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace takt::plan
