// The modules, functions, kernels and programs of a workload or a profile.
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "base/check.h"
#include "base/narrow.h"
#include "base/status.h"
#include "plan/workload_keys.h"
#include "plan/workload_reader.h"

namespace takt::plan {

using Json = nlohmann::json;

absl::Status WorkloadReader::ReadModule(const JsonPlace& place) {
  TAKT_RETURN_IF_ERROR(CheckModuleKeys(place));
  WorkloadModule module;
  TAKT_ASSIGN_OR_RETURN(module.name, NewName(place, workload_.modules));
  TAKT_ASSIGN_OR_RETURN(module.file, place.Text("file", ""));
  if (module.file.empty()) return place.Error("\"file\" is missing");
  TAKT_ASSIGN_OR_RETURN(module.parameters, ReadTexts(place, "parameters"));
  workload_.modules.push_back(std::move(module));
  return absl::OkStatus();
}

int32_t WorkloadReader::FunctionNamed(const std::string& name) {
  const int32_t known = FindNamed(workload_.functions, name);
  if (known >= 0) return known;
  const size_t dot = name.find('.');
  if (dot == std::string::npos || dot + 1 == name.size()) return -1;
  const int32_t module = FindNamed(workload_.modules, name.substr(0, dot));
  if (module < 0) return -1;
  workload_.functions.push_back({name, Narrow<uint32_t>(module), {}});
  return Narrow<int32_t>(workload_.functions.size() - 1);
}

absl::StatusOr<int32_t> WorkloadReader::ReadFunctionName(
    const JsonPlace& place) {
  TAKT_ASSIGN_OR_RETURN(const std::string name, place.Text("function", ""));
  const int32_t index = FunctionNamed(name);
  if (index >= 0) return index;
  return place.ErrorAt("function",
                       absl::StrCat("expected \"module.function\" of a module "
                                    "listed, got \"",
                                    name, "\""));
}

absl::Status WorkloadReader::ReadFunction(const JsonPlace& place) {
  TAKT_RETURN_IF_ERROR(CheckFunctionKeys(place));
  const size_t count = workload_.functions.size();
  TAKT_ASSIGN_OR_RETURN(const int32_t index, ReadFunctionName(place));
  if (workload_.functions.size() == count) {
    return place.ErrorAt("function", "is listed twice");
  }
  TAKT_ASSIGN_OR_RETURN(workload_.functions[Narrow<size_t>(index)].inputs,
                        ReadTexts(place, "inputs"));
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadProfile(const JsonPlace& place) {
  TAKT_RETURN_IF_ERROR(
      place.CheckKeys({"$schema", "format", "version", "topology", "conditions",
                       "modules", "functions", "kernels", "programs"}));
  TAKT_ASSIGN_OR_RETURN(const std::string format, place.Text("format", ""));
  if (format != "takt-profile") {
    return place.ErrorAt("format", "expected \"takt-profile\"");
  }
  TAKT_ASSIGN_OR_RETURN(const double version,
                        ReadReal(place, "version", 0, 1e6, 0));
  if (version != 1) {
    return place.ErrorAt("version",
                         absl::StrCat("version 1 is read, this is ", version));
  }
  TAKT_RETURN_IF_ERROR(ForEachElement(
      place, "modules",
      [&](const JsonPlace& p) { return ReadProfiledModule(p); }));
  TAKT_RETURN_IF_ERROR(
      ForEachElement(place, "functions",
                     [&](const JsonPlace& p) { return ReadAttributes(p); }));
  TAKT_RETURN_IF_ERROR(ForEachElement(
      place, "kernels", [&](const JsonPlace& p) { return ReadKernel(p); }));
  TAKT_RETURN_IF_ERROR(ForEachElement(
      place, "programs", [&](const JsonPlace& p) { return ReadProgram(p); }));
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadProfiledModule(const JsonPlace& place) {
  TAKT_RETURN_IF_ERROR(place.CheckKeys({"name", "content_hash"}));
  TAKT_ASSIGN_OR_RETURN(const std::string name, place.Text("name", ""));
  TAKT_ASSIGN_OR_RETURN(const std::string hash, place.Text("content_hash", ""));
  const int32_t index = FindNamed(workload_.modules, name);
  if (index >= 0) {
    workload_.modules[Narrow<size_t>(index)].content_hash = hash;
  }
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadAttributes(const JsonPlace& place) {
  TAKT_RETURN_IF_ERROR(place.CheckKeys({"name", "attributes", "calls"}));
  TAKT_ASSIGN_OR_RETURN(const std::string name, place.Text("name", ""));
  const Json* attributes = place.Find("attributes");
  if (attributes == nullptr) return absl::OkStatus();
  if (!attributes->is_object()) {
    return place.ErrorAt("attributes", "expected an object");
  }
  for (const auto& [key, value] : attributes->items()) {
    if (!value.is_string()) {
      return place.ErrorAt("attributes", "expected texts");
    }
    attributes_[name][key] = value.get<std::string>();
  }
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadAlternative(const JsonPlace& place,
                                             WorkloadKernel* kernel) {
  TAKT_RETURN_IF_ERROR(CheckAlternativeKeys(place));
  sched::AlternativeOptions alternative;
  TAKT_ASSIGN_OR_RETURN(alternative.pool, PoolNamed(place, "pool"));
  TAKT_ASSIGN_OR_RETURN(
      const double shards,
      ReadReal(place, "shards", 1, sched::ResourceSet::kMaxResources, 1));
  alternative.shards = Narrow<uint32_t>(shards);
  TAKT_ASSIGN_OR_RETURN(alternative.guess_ns, ReadTime(place, "duration", -1));
  TAKT_ASSIGN_OR_RETURN(alternative.guess_ns,
                        ReadTime(place, "q50", alternative.guess_ns));
  if (alternative.guess_ns < 0) {
    return place.Error("\"duration_us\" is missing");
  }
  TAKT_ASSIGN_OR_RETURN(alternative.q90_ns,
                        ReadTime(place, "q90", alternative.guess_ns));
  TAKT_ASSIGN_OR_RETURN(alternative.q99_ns,
                        ReadTime(place, "q99", alternative.q90_ns));
  TAKT_ASSIGN_OR_RETURN(const double samples,
                        ReadReal(place, "samples", 0, 4e9, 0));
  alternative.sample_count = Narrow<uint32_t>(samples);
  TAKT_ASSIGN_OR_RETURN(alternative.tile_ns, ReadTime(place, "tile", 0));
  constexpr double kPpm = 1e6;
  TAKT_ASSIGN_OR_RETURN(
      const double sensitivity,
      ReadReal(place, "sensitivity", 0,
               sched::Slowdown::kSensitivityMaxPpm / kPpm, 1));
  alternative.sensitivity_ppm =
      Narrow<int32_t>(std::llround(sensitivity * kPpm));
  TAKT_ASSIGN_OR_RETURN(const double pressure,
                        ReadReal(place, "pressure", 0,
                                 sched::Slowdown::kPressureMaxPpm / kPpm, 0));
  alternative.pressure_ppm = Narrow<int32_t>(std::llround(pressure * kPpm));
  kernel->alternatives.push_back(alternative);
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadKey(const JsonPlace& place,
                                     WorkloadKernel* kernel) {
  TAKT_ASSIGN_OR_RETURN(const std::string hash, place.Text("module", ""));
  if (hash.empty()) return absl::OkStatus();
  sched::KernelKey key;
  if (!absl::SimpleHexAtoi(hash, &key.module_hash)) {
    return place.ErrorAt("module", "expected 16 hexadecimal digits");
  }
  constexpr double kMost = 4294967295;
  TAKT_ASSIGN_OR_RETURN(const double ordinal,
                        ReadReal(place, "export", 0, kMost, 0));
  key.export_ordinal = Narrow<uint32_t>(ordinal);
  uint32_t count = 0;
  TAKT_RETURN_IF_ERROR(ForEachElement(place, "grid", [&](const JsonPlace& p) {
    if (count == 3 || !p.json().is_number_unsigned() ||
        p.json().get<uint64_t>() > kMost) {
      return p.Error("expected at most 3 sizes");
    }
    key.grid[count++] = p.json().get<uint32_t>();
    return absl::OkStatus();
  }));
  kernel->key = key;
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadKernel(const JsonPlace& place) {
  TAKT_RETURN_IF_ERROR(CheckKernelKeys(place));
  WorkloadKernel kernel;
  TAKT_ASSIGN_OR_RETURN(const std::string module,
                        place.Text("module_name", ""));
  kernel.module = FindNamed(workload_.modules, module);
  TAKT_ASSIGN_OR_RETURN(kernel.name, NewName(place, workload_.kernels));
  TAKT_RETURN_IF_ERROR(ForEachElement(
      place, "alternatives",
      [&](const JsonPlace& p) { return ReadAlternative(p, &kernel); }));
  TAKT_RETURN_IF_ERROR(ReadKey(place, &kernel));
  TAKT_ASSIGN_OR_RETURN(kernel.memory_gbps,
                        ReadReal(place, "memory_gbps", 0, 1e6, 0));
  TAKT_ASSIGN_OR_RETURN(kernel.memory_part,
                        ReadReal(place, "memory_part", 0, 1, 0));
  workload_.kernels.push_back(std::move(kernel));
  const auto index = Narrow<uint32_t>(workload_.kernels.size() - 1);
  const absl::Status status =
      costs_.Add(workload_.KeyOf(index), workload_.kernels.back().alternatives)
          .status();
  if (!status.ok()) return place.Error(status.message());
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadOperation(const JsonPlace& place,
                                           WorkloadProgram* program) {
  TAKT_RETURN_IF_ERROR(CheckOperationKeys(place));
  if (program->operations.size() > kMaxListLength) {
    return place.Error("the program has too many operations");
  }
  TAKT_ASSIGN_OR_RETURN(const std::string name, place.Text("kernel", ""));
  const int32_t kernel = FindNamed(workload_.kernels, name);
  if (kernel < 0) {
    return place.ErrorAt("kernel",
                         absl::StrCat("there is no kernel \"", name, "\""));
  }
  TAKT_ASSIGN_OR_RETURN(const double count,
                        ReadReal(place, "count", 1, 10'000, 1));
  sched::ProgramOperation operation;
  operation.kernel = Narrow<uint32_t>(kernel);
  if (const Json* after = place.Find("after"); after != nullptr) {
    if (!after->is_array()) return place.ErrorAt("after", "expected a list");
    for (const Json& index : *after) {
      if (!index.is_number_unsigned() ||
          index.get<uint64_t>() >= kMaxListLength) {
        return place.ErrorAt(
            "after",
            absl::StrCat("expected indexes of operations, got ", index.dump()));
      }
      operation.after.push_back(Narrow<uint32_t>(index.get<uint64_t>()));
    }
  } else if (!program->operations.empty()) {
    operation.after.push_back(Narrow<uint32_t>(program->operations.size() - 1));
  }
  for (int i = 0; i < Narrow<int>(count); ++i) {
    if (i > 0) {
      operation.after = {Narrow<uint32_t>(program->operations.size() - 1)};
    }
    program->operations.push_back(operation);
  }
  return absl::OkStatus();
}

absl::Status WorkloadReader::ReadProgram(const JsonPlace& place) {
  TAKT_RETURN_IF_ERROR(CheckProgramKeys(place));
  WorkloadProgram program;
  TAKT_ASSIGN_OR_RETURN(program.name, NewName(place, workload_.programs));
  TAKT_RETURN_IF_ERROR(ForEachElement(
      place, "operations",
      [&](const JsonPlace& p) { return ReadOperation(p, &program); }));
  const absl::Status status =
      sched::JobProgram::Create(program.operations, costs_).status();
  if (!status.ok()) return place.Error(status.message());
  workload_.programs.push_back(std::move(program));
  return absl::OkStatus();
}

}  // namespace takt::plan
