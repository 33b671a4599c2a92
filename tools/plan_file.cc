#include "tools/plan_file.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/tools/module_contents.hpp"
#include "takt/tools/plan_contents.hpp"
#include "tools/common/file.h"
#include "tools/common/session.h"

namespace takt::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string Take(char* text) {
  const std::string copy = text != nullptr ? text : "";
  takt_string_free(text);
  return copy;
}

Json TimeJson(int64_t time_ns) {
  return time_ns == TAKT_INFINITE_FUTURE ? Json(nullptr) : Json(time_ns);
}

Json NamesOf(const takt_plan_contents_t* plan, const uint32_t* indices,
             size_t count, bool are_resources) {
  Json names = Json::array();
  for (size_t i = 0; i < count; ++i) {
    names.push_back(are_resources
                        ? takt_plan_contents_resource(plan, indices[i]).name
                        : takt_plan_contents_operation(plan, indices[i]).name);
  }
  return names;
}

Json OperationJson(const takt_plan_contents_t* plan, size_t index) {
  const takt_planned_operation_t operation =
      takt_plan_contents_operation(plan, index);
  return {{"name", operation.name},
          {"job", takt_plan_contents_job(plan, operation.job).name},
          {"module", takt_plan_contents_module(plan, operation.module).name},
          {"kernel", operation.kernel},
          {"ordinal", operation.ordinal},
          {"resources",
           NamesOf(plan, operation.resources, operation.resource_count, true)},
          {"start_ns", operation.start_ns},
          {"duration_ns", operation.duration_ns},
          {"after", NamesOf(plan, operation.predecessors,
                            operation.predecessor_count, false)}};
}

Json PlanJson(const takt_plan_contents_t* plan) {
  const takt_plan_info_t info = takt_plan_contents_info(plan);
  Json json = {{"name", info.name},
               {"period_ns", info.period_ns},
               {"makespan_ns", info.makespan_ns},
               {"lower_bound_ns", info.lower_bound_ns},
               {"topology_hash", info.topology_hash},
               {"profile_hash", info.profile_hash}};
  for (const char* list : {"modules", "resources", "jobs", "operations"}) {
    json[list] = Json::array();
  }
  for (size_t i = 0; i < info.module_count; ++i) {
    const takt_planned_module_t module = takt_plan_contents_module(plan, i);
    json["modules"].push_back(
        {{"name", module.name}, {"content_hash", module.content_hash}});
  }
  for (size_t i = 0; i < info.resource_count; ++i) {
    const takt_planned_resource_t resource =
        takt_plan_contents_resource(plan, i);
    json["resources"].push_back({{"name", resource.name},
                                 {"kind", resource.is_npu ? "npu" : "core"},
                                 {"cluster", resource.cluster}});
  }
  for (size_t i = 0; i < info.job_count; ++i) {
    const takt_planned_job_t job = takt_plan_contents_job(plan, i);
    json["jobs"].push_back({{"name", job.name},
                            {"stream", job.stream},
                            {"instance", job.instance},
                            {"release_ns", job.release_ns},
                            {"deadline_ns", TimeJson(job.deadline_ns)}});
  }
  for (size_t i = 0; i < info.operation_count; ++i) {
    json["operations"].push_back(OperationJson(plan, i));
  }
  return json;
}

void PrintOperation(const takt_plan_contents_t* plan, size_t index) {
  const takt_planned_operation_t operation =
      takt_plan_contents_operation(plan, index);
  std::string resources;
  for (size_t i = 0; i < operation.resource_count; ++i) {
    if (i > 0) resources += " + ";
    resources += takt_plan_contents_resource(plan, operation.resources[i]).name;
  }
  std::printf("%14.3f %12.3f  %s: %s on %s\n",
              static_cast<double>(operation.start_ns) / 1e3,
              static_cast<double>(operation.duration_ns) / 1e3,
              takt_plan_contents_job(plan, operation.job).name, operation.name,
              resources.c_str());
}

void PrintPlan(const takt_plan_contents_t* plan) {
  const takt_plan_info_t info = takt_plan_contents_info(plan);
  std::printf(
      "plan \"%s\": %zu operations of %zu jobs on %zu resources, makespan "
      "%.3f us",
      info.name, info.operation_count, info.job_count, info.resource_count,
      static_cast<double>(info.makespan_ns) / 1e3);
  if (info.lower_bound_ns > 0) {
    std::printf(" (at least %.3f)",
                static_cast<double>(info.lower_bound_ns) / 1e3);
  }
  if (info.period_ns > 0) {
    std::printf(", every %.3f us", static_cast<double>(info.period_ns) / 1e3);
  }
  std::printf("\n%14s %12s\n", "start us", "duration us");
  std::vector<size_t> order(info.operation_count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return takt_plan_contents_operation(plan, a).start_ns <
           takt_plan_contents_operation(plan, b).start_ns;
  });
  for (const size_t index : order) PrintOperation(plan, index);
}

// Whether one of the module's executables has the kernel: the names of its
// exports are NUL-terminated texts in its bytes.
bool NamesKernel(const takt_module_contents_t* module,
                 const std::string& kernel) {
  const std::string sought = kernel + '\0';
  const size_t count = takt_module_contents_rodata_count(module);
  for (size_t i = 0; i < count; ++i) {
    const takt_rodata_info_t info = takt_module_contents_rodata(module, i);
    if (info.executable_format[0] == 0) continue;
    const std::string_view bytes(reinterpret_cast<const char*>(info.data),
                                 info.byte_length);
    for (size_t at = bytes.find(sought); at != std::string_view::npos;
         at = bytes.find(sought, at + 1)) {
      // Not the end of another name.
      const char before = at == 0 ? '\0' : bytes[at - 1];
      const bool is_within = before == '_' || before == '$' ||
                             std::isalnum(static_cast<unsigned char>(before));
      if (!is_within) return true;
    }
  }
  return false;
}

// Kernels are "MODULE$name", or the exports' own names.
bool HasKernel(const ModuleContents& module, const std::string& kernel) {
  return NamesKernel(module.get(), kernel) ||
         NamesKernel(module.get(), kernel.substr(kernel.find('$') + 1));
}

// The indices of the modules that have the kernel.
std::set<size_t> OwnersOf(const std::vector<ModuleContents>& modules,
                          const std::string& kernel) {
  std::set<size_t> owners;
  for (size_t i = 0; i < modules.size(); ++i) {
    if (HasKernel(modules[i], kernel)) owners.insert(i);
  }
  return owners;
}

// Binds the plan to the modules at `paths`, which together have all its
// kernels. A module of the plan that several files could be stays unbound.
Result<Plan> BindToModules(Plan plan, const std::vector<std::string>& paths) {
  if (paths.empty()) return plan;
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Instance instance, Instance::Create());
  std::vector<Module> modules;
  std::vector<ModuleContents> contents;
  for (const std::string& path : paths) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(
        Module module, LoadModule(instance, path, TAKT_MODULE_MODE_MMAP));
    TAKT_TOOLS_ASSIGN_OR_RETURN(ModuleContents read,
                                ModuleContents::Read(module));
    modules.push_back(std::move(module));
    contents.push_back(std::move(read));
  }
  std::map<std::string, std::set<size_t>> owners;  // By kernel.
  std::map<size_t, std::set<size_t>> candidates;   // By module of the plan.
  TAKT_TOOLS_ASSIGN_OR_RETURN(const PlanContents planned,
                              PlanContents::Read(plan));
  for (size_t i = 0; i < planned.info().operation_count; ++i) {
    const takt_planned_operation_t operation = planned.operation(i);
    const auto [known, is_new] = owners.try_emplace(operation.kernel);
    if (is_new) known->second = OwnersOf(contents, operation.kernel);
    const std::set<size_t>& having = known->second;
    if (having.empty()) {
      std::string reason("no module has the kernel of ");
      reason.append(operation.name).append(": ").append(operation.kernel);
      return Status(TAKT_STATUS_NOT_FOUND, std::move(reason));
    }
    const auto left = candidates.try_emplace(operation.module, having).first;
    std::erase_if(left->second, [&](size_t j) { return !having.contains(j); });
  }
  for (const auto& [index, left] : candidates) {
    if (left.size() != 1) continue;
    TAKT_TOOLS_ASSIGN_OR_RETURN(
        plan, BindModule(plan, index, modules[*left.begin()]));
  }
  return plan;
}

}  // namespace

Result<int> CheckPlan(const std::string& path, bool is_json) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Plan plan, Plan::Load(path));
  size_t count = 0;
  char* text = nullptr;
  const Status status(takt_plan_find_faults(plan.get(), &count, &text));
  if (!status.ok()) return status;
  const std::string faults = Take(text);
  if (is_json) {
    Json json = {{"valid", count == 0}, {"faults", Json::array()}};
    for (size_t begin = 0; begin < faults.size();) {
      const size_t end = faults.find('\n', begin);
      json["faults"].push_back(faults.substr(begin, end - begin));
      begin = end + 1;
    }
    std::printf("%s\n", json.dump(2).c_str());
  } else if (count == 0) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(const PlanContents contents,
                                PlanContents::Read(plan));
    std::printf("valid, makespan %lld ns\n",
                static_cast<long long>(contents.info().makespan_ns));
  } else {
    std::printf("%s%zu faults\n", faults.c_str(), count);
  }
  return count == 0 ? kSuccess : kFailure;
}

Result<int> ShowPlan(const std::string& path, bool is_json) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Plan plan, Plan::Load(path));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const PlanContents contents,
                              PlanContents::Read(plan));
  if (is_json) {
    std::printf("%s\n", PlanJson(contents.get())
                            .dump(2, ' ', false, Json::error_handler_t::replace)
                            .c_str());
  } else {
    PrintPlan(contents.get());
  }
  return kSuccess;
}

Result<int> ImportPlan(const std::string& path,
                       const std::vector<std::string>& modules,
                       const std::string& output, bool is_json) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Result<Plan> imported = ImportSchedule(text);
  if (!imported.ok()) return Annotate(imported.status(), path);
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Plan plan,
                              BindToModules(*std::move(imported), modules));
  TAKT_TOOLS_RETURN_IF_ERROR(AsWritten(SavePlan(plan, OutputPath(output))));
  if (!is_json) return kSuccess;
  TAKT_TOOLS_ASSIGN_OR_RETURN(const PlanContents contents,
                              PlanContents::Read(plan));
  std::printf("%s\n", PlanJson(contents.get()).dump(2).c_str());
  return kSuccess;
}

Result<int> ExportPlan(const std::string& path, const std::string& output) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Plan plan, Plan::Load(path));
  TAKT_TOOLS_ASSIGN_OR_RETURN(std::string json, ExportSchedule(plan));
  json += "\n";
  if (output.empty()) {
    std::fputs(json.c_str(), stdout);
    return kSuccess;
  }
  const Status written = WriteFile(OutputPath(output), json, /*append=*/false);
  if (!written.ok()) return written;
  return kSuccess;
}

}  // namespace takt::tools
