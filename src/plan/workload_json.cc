// The JSON form of a workload.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "base/content_hash.h"
#include "base/cpu_set.h"
#include "base/json.h"
#include "base/status.h"
#include "plan/workload.h"
#include "topology/topology.h"

namespace takt::plan {
namespace {

using Json = nlohmann::json;

constexpr double kMaxSeconds = 1e6;
constexpr uint32_t kMaxListLength = 100'000;

using Place = JsonPlace;

absl::StatusOr<double> Real(const Place& place, const char* key, double least,
                            double most, double fallback) {
  const Json* member = place.Find(key);
  if (member == nullptr) return fallback;
  if (!member->is_number() || !(member->get<double>() >= least) ||
      !(member->get<double>() <= most)) {
    return place.ErrorAt(
        key, absl::StrCat("expected a number from ", least, " to ", most,
                          ", got ", member->dump()));
  }
  return member->get<double>();
}

// A time given as <name>_us, <name>_ms or <name>_s; `fallback` if absent.
absl::StatusOr<int64_t> Time(const Place& place, const std::string& name,
                             int64_t fallback_ns) {
  const std::pair<const char*, double> units[] = {
      {"_us", 1e3}, {"_ms", 1e6}, {"_s", 1e9}};
  for (const auto& [suffix, unit_ns] : units) {
    const std::string key = name + suffix;
    if (place.Find(key) == nullptr) continue;
    TAKT_ASSIGN_OR_RETURN(
        const double value,
        Real(place, key.c_str(), 0, kMaxSeconds * 1e9 / unit_ns, 0));
    return std::llround(value * unit_ns);
  }
  return fallback_ns;
}

absl::StatusOr<bool> Bool(const Place& place, const char* key) {
  const Json* member = place.Find(key);
  if (member == nullptr) return false;
  if (!member->is_boolean()) {
    return place.ErrorAt(key, "expected true or false");
  }
  return member->get<bool>();
}

// The choice's index.
absl::StatusOr<uint32_t> Choice(const Place& place, const char* key,
                                std::initializer_list<const char*> choices) {
  TAKT_ASSIGN_OR_RETURN(const std::string text,
                        place.Text(key, *choices.begin()));
  uint32_t index = 0;
  std::string list;
  for (const char* choice : choices) {
    if (text == choice) return index;
    absl::StrAppend(&list, index++ > 0 ? ", " : "", choice);
  }
  return place.ErrorAt(
      key, absl::StrCat("expected one of ", list, ", got \"", text, "\""));
}

// Calls read(Place) for each element of a list.
template <typename Read>
absl::Status ForEach(const Place& place, const char* key, Read read) {
  const Json* member = place.Find(key);
  if (member == nullptr) return absl::OkStatus();
  if (!member->is_array()) return place.ErrorAt(key, "expected a list");
  if (member->size() > kMaxListLength) {
    return place.ErrorAt(key, absl::StrCat("expected at most ", kMaxListLength,
                                           " elements, got ", member->size()));
  }
  for (size_t i = 0; i < member->size(); ++i) {
    TAKT_RETURN_IF_ERROR(read(place.Element(key, i, (*member)[i])));
  }
  return absl::OkStatus();
}

template <typename T>
int32_t FindNamed(const std::vector<T>& list, absl::string_view name) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].name == name) return static_cast<int32_t>(i);
  }
  return -1;
}

// The members of each kind of object, so that an unknown one is found without
// a machine, too.
absl::Status CheckModule(const Place& place) {
  return place.CheckKeys({"name", "file", "parameters"});
}

absl::Status CheckFunction(const Place& place) {
  return place.CheckKeys({"function", "inputs"});
}

absl::Status CheckKernel(const Place& place) {
  return place.CheckKeys({"name", "alternatives", "module", "export", "grid",
                          "module_name", "function"});
}

absl::Status CheckAlternative(const Place& place) {
  return place.CheckKeys({"pool", "shards", "duration_us", "duration_ms",
                          "duration_s", "tile_us", "tile_ms", "tile_s",
                          "samples", "measured", "q50_us", "q90_us", "q99_us",
                          "contended"});
}

absl::Status CheckProgram(const Place& place) {
  return place.CheckKeys({"name", "operations"});
}

absl::Status CheckOperation(const Place& place) {
  return place.CheckKeys({"kernel", "after", "count"});
}

absl::Status CheckStream(const Place& place) {
  return place.CheckKeys(
      {"name",       "program",   "function",    "count",       "period_us",
       "period_ms",  "period_s",  "offset_us",   "offset_ms",   "offset_s",
       "jitter_us",  "jitter_ms", "jitter_s",    "deadline_us", "deadline_ms",
       "deadline_s", "priority",  "criticality", "late",        "lease",
       "pools",      "affinity",  "shards",      "probability", "arrival",
       "after",      "admission", "dynamic"});
}

absl::Status CheckFault(const Place& place) {
  return place.CheckKeys({"at_us", "at_ms", "at_s", "length_us", "length_ms",
                          "length_s", "pool", "index"});
}

absl::Status CheckSpeed(const Place& place) {
  return place.CheckKeys({"at_us", "at_ms", "at_s", "pool", "speed"});
}

absl::Status CheckThermal(const Place& place) {
  return place.CheckKeys({"pool", "ambient_c", "heating_c", "time_constant_us",
                          "time_constant_ms", "time_constant_s", "trip_c",
                          "hysteresis_c", "speed"});
}

absl::Status CheckWholeKernel(const Place& place) {
  TAKT_RETURN_IF_ERROR(CheckKernel(place));
  return ForEach(place, "alternatives", CheckAlternative);
}

absl::Status CheckWholeProgram(const Place& place) {
  TAKT_RETURN_IF_ERROR(CheckProgram(place));
  return ForEach(place, "operations", CheckOperation);
}

class Reader {
 public:
  Reader() : costs_(&workload_.machine) {}

  absl::StatusOr<Workload> Read(const Json& root, const Json* profile,
                                const sched::Machine* machine) {
    const Place place(root, "workload");
    TAKT_RETURN_IF_ERROR(place.CheckKeys(
        {"$schema", "name", "description", "topology", "noise", "npu_cores",
         "modules", "functions", "kernels", "programs", "streams", "objectives",
         "power_mw", "planned_quantile", "handover_us", "faults", "speeds",
         "thermal"}));
    TAKT_ASSIGN_OR_RETURN(workload_.name, place.Text("name", "workload"));
    TAKT_RETURN_IF_ERROR(ReadMachine(place, profile, machine));
    TAKT_ASSIGN_OR_RETURN(workload_.noise, Real(place, "noise", 0, 2, 0));
    TAKT_RETURN_IF_ERROR(ReadNpuCores(place));
    TAKT_RETURN_IF_ERROR(ReadAims(place));
    TAKT_RETURN_IF_ERROR(ForEach(
        place, "modules", [&](const Place& p) { return ReadModule(p); }));
    TAKT_RETURN_IF_ERROR(ForEach(
        place, "functions", [&](const Place& p) { return ReadFunction(p); }));
    if (profile != nullptr) {
      TAKT_RETURN_IF_ERROR(ReadProfile(Place(*profile, "profile")));
    }
    TAKT_RETURN_IF_ERROR(ForEach(
        place, "kernels", [&](const Place& p) { return ReadKernel(p); }));
    TAKT_RETURN_IF_ERROR(ForEach(
        place, "programs", [&](const Place& p) { return ReadProgram(p); }));
    TAKT_RETURN_IF_ERROR(ForEach(
        place, "streams", [&](const Place& p) { return ReadStream(p); }));
    TAKT_RETURN_IF_ERROR(
        ForEach(place, "faults", [&](const Place& p) { return ReadFault(p); }));
    TAKT_RETURN_IF_ERROR(
        ForEach(place, "speeds", [&](const Place& p) { return ReadSpeed(p); }));
    TAKT_RETURN_IF_ERROR(ForEach(
        place, "thermal", [&](const Place& p) { return ReadThermal(p); }));
    if (workload_.streams.empty())
      return place.ErrorAt("streams", "there is none");
    return std::move(workload_);
  }

 private:
  absl::StatusOr<uint32_t> PoolNamed(const Place& place, const char* key) {
    TAKT_ASSIGN_OR_RETURN(const std::string name, place.Text(key, ""));
    const int32_t pool = workload_.machine.FindPool(name);
    if (pool >= 0) return static_cast<uint32_t>(pool);
    return place.ErrorAt(
        key, absl::StrCat("the machine has no pool \"", name, "\""));
  }

  absl::Status ReadTopology(const Place& place) {
    const auto topology = topology::Topology::FromJson(place.json().dump());
    if (!topology.ok()) return place.Error(topology.status().message());
    const auto machine = MachineOf(*topology);
    if (!machine.ok()) return place.Error(machine.status().message());
    workload_.machine = *machine;
    workload_.topology_hash = TopologyHash(*topology);
    return absl::OkStatus();
  }

  absl::Status ReadMachine(const Place& place, const Json* profile,
                           const sched::Machine* machine) {
    if (machine != nullptr) {
      workload_.machine = *machine;
      return absl::OkStatus();
    }
    if (const Json* own = place.Find("topology"); own != nullptr) {
      return ReadTopology(place.Member("topology", *own));
    }
    if (profile != nullptr && profile->is_object() &&
        profile->contains("topology")) {
      return ReadTopology(Place((*profile)["topology"], "profile.topology"));
    }
    TAKT_RETURN_IF_ERROR(CheckMembers(place));
    return place.Error("no \"topology\", here or in a profile");
  }

  // What is wrong with the workload whatever the machine is.
  static absl::Status CheckMembers(const Place& place) {
    TAKT_RETURN_IF_ERROR(ForEach(place, "modules", CheckModule));
    TAKT_RETURN_IF_ERROR(ForEach(place, "functions", CheckFunction));
    TAKT_RETURN_IF_ERROR(ForEach(place, "kernels", CheckWholeKernel));
    TAKT_RETURN_IF_ERROR(ForEach(place, "programs", CheckWholeProgram));
    TAKT_RETURN_IF_ERROR(ForEach(place, "streams", CheckStream));
    TAKT_RETURN_IF_ERROR(ForEach(place, "faults", CheckFault));
    TAKT_RETURN_IF_ERROR(ForEach(place, "speeds", CheckSpeed));
    return ForEach(place, "thermal", CheckThermal);
  }

  absl::Status ReadAims(const Place& place) {
    if (const Json* list = place.Find("objectives"); list != nullptr) {
      workload_.objectives.clear();
      const char* const kNames[] = {"misses", "makespan", "energy", "response"};
      if (!list->is_array() || list->size() > std::size(kNames)) {
        return place.ErrorAt("objectives", "expected a list of up to four");
      }
      for (const Json& item : *list) {
        const auto* found =
            std::find_if(std::begin(kNames), std::end(kNames),
                         [&](const char* name) { return item == Json(name); });
        if (found == std::end(kNames)) {
          return place.ErrorAt(
              "objectives", absl::StrCat("expected misses, makespan, energy or "
                                         "response, got ",
                                         item.dump()));
        }
        workload_.objectives.push_back(
            static_cast<Objective>(found - std::begin(kNames)));
      }
    }
    TAKT_ASSIGN_OR_RETURN(
        const uint32_t quantile,
        Choice(place, "planned_quantile", {"q90", "q50", "q99"}));
    const sched::Quantile quantiles[] = {
        sched::Quantile::k90, sched::Quantile::k50, sched::Quantile::k99};
    workload_.planned_quantile = quantiles[quantile];
    TAKT_ASSIGN_OR_RETURN(workload_.handover_ns, Time(place, "handover", 0));
    return ReadPower(place);
  }

  absl::Status ReadPower(const Place& place) {
    workload_.power_mw.assign(workload_.machine.pools.size(), 0.0);
    const Json* member = place.Find("power_mw");
    if (member == nullptr) return absl::OkStatus();
    const Place power = place.Member("power_mw", *member);
    if (!member->is_object()) return power.Error("expected an object");
    for (const auto& [name, value] : member->items()) {
      const int32_t pool = workload_.machine.FindPool(name);
      if (pool < 0) {
        return power.Error(
            absl::StrCat("the machine has no pool \"", name, "\""));
      }
      TAKT_ASSIGN_OR_RETURN(workload_.power_mw[static_cast<size_t>(pool)],
                            Real(power, name.c_str(), 0, 1e9, 0));
    }
    return absl::OkStatus();
  }

  // A list of texts.
  static absl::StatusOr<std::vector<std::string>> Texts(const Place& place,
                                                        const char* key) {
    std::vector<std::string> texts;
    TAKT_RETURN_IF_ERROR(ForEach(place, key, [&](const Place& p) {
      if (!p.json().is_string()) return p.Error("expected text");
      texts.push_back(p.json().get<std::string>());
      return absl::OkStatus();
    }));
    return texts;
  }

  absl::Status ReadModule(const Place& place) {
    TAKT_RETURN_IF_ERROR(CheckModule(place));
    Module module;
    TAKT_ASSIGN_OR_RETURN(module.name, NewName(place, workload_.modules));
    TAKT_ASSIGN_OR_RETURN(module.file, place.Text("file", ""));
    if (module.file.empty()) return place.Error("\"file\" is missing");
    TAKT_ASSIGN_OR_RETURN(module.parameters, Texts(place, "parameters"));
    workload_.modules.push_back(std::move(module));
    return absl::OkStatus();
  }

  // The index of the function of that name, which is new if its module is
  // known; -1 if there can be none.
  int32_t FunctionNamed(const std::string& name) {
    const int32_t known = FindNamed(workload_.functions, name);
    if (known >= 0) return known;
    const size_t dot = name.find('.');
    if (dot == std::string::npos || dot + 1 == name.size()) return -1;
    const int32_t module = FindNamed(workload_.modules, name.substr(0, dot));
    if (module < 0) return -1;
    workload_.functions.push_back({name, static_cast<uint32_t>(module), {}});
    return static_cast<int32_t>(workload_.functions.size() - 1);
  }

  absl::StatusOr<int32_t> ReadFunctionName(const Place& place) {
    TAKT_ASSIGN_OR_RETURN(const std::string name, place.Text("function", ""));
    const int32_t index = FunctionNamed(name);
    if (index >= 0) return index;
    return place.ErrorAt(
        "function", absl::StrCat("expected \"module.function\" of a module "
                                 "listed, got \"",
                                 name, "\""));
  }

  absl::Status ReadFunction(const Place& place) {
    TAKT_RETURN_IF_ERROR(CheckFunction(place));
    const size_t count = workload_.functions.size();
    TAKT_ASSIGN_OR_RETURN(const int32_t index, ReadFunctionName(place));
    if (workload_.functions.size() == count) {
      return place.ErrorAt("function", "is listed twice");
    }
    TAKT_ASSIGN_OR_RETURN(
        workload_.functions[static_cast<size_t>(index)].inputs,
        Texts(place, "inputs"));
    return absl::OkStatus();
  }

  // The kernels and programs of a profile, as if they stood in the workload.
  absl::Status ReadProfile(const Place& place) {
    TAKT_RETURN_IF_ERROR(place.CheckKeys({"$schema", "format", "version",
                                          "topology", "conditions", "modules",
                                          "functions", "kernels", "programs"}));
    TAKT_ASSIGN_OR_RETURN(const std::string format, place.Text("format", ""));
    if (format != "takt-profile") {
      return place.ErrorAt("format", "expected \"takt-profile\"");
    }
    TAKT_ASSIGN_OR_RETURN(const double version,
                          Real(place, "version", 0, 1e6, 0));
    if (version != 1) {
      return place.ErrorAt(
          "version", absl::StrCat("version 1 is read, this is ", version));
    }
    TAKT_RETURN_IF_ERROR(ForEach(place, "modules", [&](const Place& p) {
      return ReadProfiledModule(p);
    }));
    TAKT_RETURN_IF_ERROR(ForEach(
        place, "functions", [&](const Place& p) { return ReadAttributes(p); }));
    TAKT_RETURN_IF_ERROR(ForEach(
        place, "kernels", [&](const Place& p) { return ReadKernel(p); }));
    TAKT_RETURN_IF_ERROR(ForEach(
        place, "programs", [&](const Place& p) { return ReadProgram(p); }));
    return absl::OkStatus();
  }

  absl::Status ReadProfiledModule(const Place& place) {
    TAKT_RETURN_IF_ERROR(place.CheckKeys({"name", "content_hash"}));
    TAKT_ASSIGN_OR_RETURN(const std::string name, place.Text("name", ""));
    TAKT_ASSIGN_OR_RETURN(const std::string hash,
                          place.Text("content_hash", ""));
    const int32_t index = FindNamed(workload_.modules, name);
    if (index >= 0) {
      workload_.modules[static_cast<size_t>(index)].content_hash = hash;
    }
    return absl::OkStatus();
  }

  absl::Status ReadAttributes(const Place& place) {
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

  // Terms that a module's annotations ask for; what the stream says overrides
  // them.
  absl::Status TakeAnnotations(const Place& place, WorkloadStream* stream) {
    if (stream->function < 0) return absl::OkStatus();
    const std::string& name =
        workload_.functions[static_cast<size_t>(stream->function)].name;
    const auto found = attributes_.find(name);
    if (found == attributes_.end()) return absl::OkStatus();
    const auto fault = [&](const std::string& key) {
      return place.Error(absl::StrCat("attribute ", key, " of ", name, " is \"",
                                      found->second.at(key), "\""));
    };
    for (const auto& [key, value] : found->second) {
      int64_t number = 0;
      if (key == "takt.deadline_ns") {
        if (!absl::SimpleAtoi(value, &number) || number <= 0) return fault(key);
        stream->terms.deadline_ns = number;
      } else if (key == "takt.priority") {
        if (!absl::SimpleAtoi(value, &number) || number < 0 || number > 255) {
          return fault(key);
        }
        stream->terms.priority = static_cast<uint8_t>(number);
      } else if (key == "takt.affinity") {
        if (!SetAffinity(value, stream).ok()) return fault(key);
      } else if (key == "takt.resource") {
        if (value != "npu" && value != "cpu") return fault(key);
        const auto kind = value == "npu" ? sched::ResourceKind::kNpu
                                         : sched::ResourceKind::kCore;
        stream->terms.pools = 0;
        for (uint32_t i = 0; i < workload_.machine.pools.size(); ++i) {
          if (workload_.machine.pools[i].kind == kind) {
            stream->terms.pools |= 1u << i;
          }
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadNpuCores(const Place& place) {
    const Json* member = place.Find("npu_cores");
    if (member == nullptr) return absl::OkStatus();
    const Place cores = place.Member("npu_cores", *member);
    if (!member->is_object()) return cores.Error("expected an object");
    for (const auto& [name, value] : member->items()) {
      const int32_t index = workload_.machine.FindPool(name);
      if (index < 0) {
        return cores.Error(absl::StrCat("there is no NPU ", name));
      }
      TAKT_ASSIGN_OR_RETURN(
          const double count,
          Real(cores, name.c_str(), 0, sched::ResourceSet::kMaxResources, 0));
      workload_.machine.pools[static_cast<size_t>(index)].feeder_count =
          static_cast<uint32_t>(count);
    }
    const absl::Status status = workload_.machine.Validate();
    if (!status.ok()) return cores.Error(status.message());
    return absl::OkStatus();
  }

  template <typename T>
  absl::StatusOr<std::string> NewName(const Place& place,
                                      const std::vector<T>& list) {
    TAKT_ASSIGN_OR_RETURN(const std::string name, place.Text("name", ""));
    if (name.empty()) return place.Error("\"name\" is missing");
    if (FindNamed(list, name) >= 0) {
      return place.ErrorAt("name", absl::StrCat("a second ", name));
    }
    return name;
  }

  absl::Status ReadAlternative(const Place& place, Kernel* kernel) {
    TAKT_RETURN_IF_ERROR(CheckAlternative(place));
    sched::AlternativeOptions alternative;
    TAKT_ASSIGN_OR_RETURN(alternative.pool, PoolNamed(place, "pool"));
    TAKT_ASSIGN_OR_RETURN(
        const double shards,
        Real(place, "shards", 1, sched::ResourceSet::kMaxResources, 1));
    alternative.shards = static_cast<uint32_t>(shards);
    TAKT_ASSIGN_OR_RETURN(alternative.guess_ns, Time(place, "duration", -1));
    TAKT_ASSIGN_OR_RETURN(alternative.guess_ns,
                          Time(place, "q50", alternative.guess_ns));
    if (alternative.guess_ns < 0) {
      return place.Error("\"duration_us\" is missing");
    }
    TAKT_ASSIGN_OR_RETURN(alternative.q90_ns,
                          Time(place, "q90", alternative.guess_ns));
    TAKT_ASSIGN_OR_RETURN(alternative.q99_ns,
                          Time(place, "q99", alternative.q90_ns));
    TAKT_ASSIGN_OR_RETURN(const double samples,
                          Real(place, "samples", 0, 4e9, 0));
    alternative.sample_count = static_cast<uint32_t>(samples);
    TAKT_ASSIGN_OR_RETURN(alternative.tile_ns, Time(place, "tile", 0));
    kernel->alternatives.push_back(alternative);
    return absl::OkStatus();
  }

  // "module" is the hash of its content, in hexadecimal digits.
  absl::Status ReadKey(const Place& place, Kernel* kernel) {
    TAKT_ASSIGN_OR_RETURN(const std::string hash, place.Text("module", ""));
    if (hash.empty()) return absl::OkStatus();
    sched::KernelKey key;
    if (!absl::SimpleHexAtoi(hash, &key.module_hash)) {
      return place.ErrorAt("module", "expected 16 hexadecimal digits");
    }
    constexpr double kMost = 4294967295;
    TAKT_ASSIGN_OR_RETURN(const double ordinal,
                          Real(place, "export", 0, kMost, 0));
    key.export_ordinal = static_cast<uint32_t>(ordinal);
    uint32_t count = 0;
    TAKT_RETURN_IF_ERROR(ForEach(place, "grid", [&](const Place& p) {
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

  absl::Status ReadKernel(const Place& place) {
    TAKT_RETURN_IF_ERROR(CheckKernel(place));
    Kernel kernel;
    TAKT_ASSIGN_OR_RETURN(const std::string module,
                          place.Text("module_name", ""));
    kernel.module = FindNamed(workload_.modules, module);
    TAKT_ASSIGN_OR_RETURN(kernel.name, NewName(place, workload_.kernels));
    TAKT_RETURN_IF_ERROR(ForEach(place, "alternatives", [&](const Place& p) {
      return ReadAlternative(p, &kernel);
    }));
    TAKT_RETURN_IF_ERROR(ReadKey(place, &kernel));
    workload_.kernels.push_back(std::move(kernel));
    const auto index = static_cast<uint32_t>(workload_.kernels.size() - 1);
    const absl::Status status =
        costs_
            .Add(workload_.KeyOf(index), workload_.kernels.back().alternatives)
            .status();
    if (!status.ok()) return place.Error(status.message());
    return absl::OkStatus();
  }

  absl::Status ReadOperation(const Place& place, Program* program) {
    TAKT_RETURN_IF_ERROR(CheckOperation(place));
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
                          Real(place, "count", 1, 10'000, 1));
    sched::ProgramOperation operation;
    operation.kernel = static_cast<uint32_t>(kernel);
    if (const Json* after = place.Find("after"); after != nullptr) {
      if (!after->is_array()) return place.ErrorAt("after", "expected a list");
      for (const Json& index : *after) {
        if (!index.is_number_unsigned() ||
            index.get<uint64_t>() >= kMaxListLength) {
          return place.ErrorAt(
              "after", absl::StrCat("expected indexes of operations, got ",
                                    index.dump()));
        }
        operation.after.push_back(static_cast<uint32_t>(index.get<uint64_t>()));
      }
    } else if (!program->operations.empty()) {
      operation.after.push_back(
          static_cast<uint32_t>(program->operations.size() - 1));
    }
    for (int i = 0; i < static_cast<int>(count); ++i) {
      if (i > 0) {
        operation.after = {
            static_cast<uint32_t>(program->operations.size() - 1)};
      }
      program->operations.push_back(operation);
    }
    return absl::OkStatus();
  }

  absl::Status ReadProgram(const Place& place) {
    TAKT_RETURN_IF_ERROR(CheckProgram(place));
    Program program;
    TAKT_ASSIGN_OR_RETURN(program.name, NewName(place, workload_.programs));
    TAKT_RETURN_IF_ERROR(ForEach(place, "operations", [&](const Place& p) {
      return ReadOperation(p, &program);
    }));
    const absl::Status status =
        sched::JobProgram::Create(program.operations, costs_).status();
    if (!status.ok()) return place.Error(status.message());
    workload_.programs.push_back(std::move(program));
    return absl::OkStatus();
  }

  absl::Status ReadPools(const Place& place, WorkloadStream* stream) {
    const Json* pools = place.Find("pools");
    if (pools == nullptr) return absl::OkStatus();
    if (!pools->is_array()) return place.ErrorAt("pools", "expected a list");
    stream->terms.pools = 0;
    for (const Json& name : *pools) {
      const int32_t pool =
          name.is_string() ? workload_.machine.FindPool(name.get<std::string>())
                           : -1;
      if (pool < 0) {
        return place.ErrorAt(
            "pools", absl::StrCat("the machine has no pool ", name.dump()));
      }
      stream->terms.pools |= 1u << pool;
    }
    return absl::OkStatus();
  }

  absl::Status ReadAffinity(const Place& place, WorkloadStream* stream) {
    TAKT_ASSIGN_OR_RETURN(const std::string text, place.Text("affinity", ""));
    if (text.empty()) return absl::OkStatus();
    const absl::Status status = SetAffinity(text, stream);
    if (!status.ok()) return place.ErrorAt("affinity", status.message());
    return absl::OkStatus();
  }

  absl::Status SetAffinity(const std::string& text, WorkloadStream* stream) {
    TAKT_ASSIGN_OR_RETURN(const CpuSet set, CpuSet::Parse(text));
    const auto count = static_cast<int32_t>(workload_.machine.resource_count());
    stream->terms.affinity = {};
    for (int32_t i = set.Next(0); i >= 0; i = set.Next(i + 1)) {
      if (i >= count) {
        return absl::InvalidArgumentError(
            absl::StrCat("the machine has no resource ", i));
      }
      stream->terms.affinity.Add(static_cast<uint32_t>(i));
    }
    return absl::OkStatus();
  }

  absl::Status ReadArrival(const Place& place, WorkloadStream* stream) {
    TAKT_ASSIGN_OR_RETURN(
        const uint32_t arrival,
        Choice(place, "arrival", {"periodic", "poisson", "closed", "once"}));
    const Arrival arrivals[] = {Arrival::kPeriodic, Arrival::kPoisson,
                                Arrival::kClosed, Arrival::kOnce};
    stream->arrival = arrivals[arrival];
    TAKT_ASSIGN_OR_RETURN(const double count,
                          Real(place, "count", 1, 10'000, 1));
    stream->count = static_cast<uint32_t>(count);
    TAKT_ASSIGN_OR_RETURN(const std::string after, place.Text("after", ""));
    if (!after.empty()) {
      const int32_t index = FindNamed(workload_.streams, after);
      if (index < 0) {
        return place.ErrorAt(
            "after", absl::StrCat("no stream \"", after, "\" stands above"));
      }
      stream->arrival = Arrival::kAfter;
      stream->after = static_cast<uint32_t>(index);
    }
    if (stream->terms.period_ns <= 0 &&
        (stream->arrival == Arrival::kPeriodic ||
         stream->arrival == Arrival::kPoisson)) {
      return place.Error("\"period_ms\" is missing");
    }
    return absl::OkStatus();
  }

  // What its jobs do: a program, or what the profile has of a function.
  absl::Status ReadWork(const Place& place, WorkloadStream* stream) {
    std::string program;
    if (place.Find("function") != nullptr) {
      if (place.Find("program") != nullptr) {
        return place.Error("a program and a function");
      }
      TAKT_ASSIGN_OR_RETURN(stream->function, ReadFunctionName(place));
      program = workload_.functions[static_cast<size_t>(stream->function)].name;
    } else {
      TAKT_ASSIGN_OR_RETURN(program, place.Text("program", ""));
    }
    const int32_t index = FindNamed(workload_.programs, program);
    if (index >= 0) {
      stream->terms.program = static_cast<uint32_t>(index);
    } else if (stream->function < 0) {
      return place.ErrorAt(
          "program", absl::StrCat("there is no program \"", program, "\""));
    }
    return absl::OkStatus();
  }

  absl::Status ReadStream(const Place& place) {
    TAKT_RETURN_IF_ERROR(CheckStream(place));
    WorkloadStream stream;
    sched::StreamOptions& terms = stream.terms;
    TAKT_ASSIGN_OR_RETURN(stream.name, NewName(place, workload_.streams));
    TAKT_RETURN_IF_ERROR(ReadWork(place, &stream));
    TAKT_ASSIGN_OR_RETURN(terms.period_ns, Time(place, "period", 0));
    TAKT_ASSIGN_OR_RETURN(stream.offset_ns, Time(place, "offset", 0));
    TAKT_ASSIGN_OR_RETURN(stream.jitter_ns, Time(place, "jitter", 0));
    if (terms.period_ns > 0) terms.deadline_ns = terms.period_ns;
    TAKT_RETURN_IF_ERROR(TakeAnnotations(place, &stream));
    TAKT_ASSIGN_OR_RETURN(terms.deadline_ns,
                          Time(place, "deadline", terms.deadline_ns));
    TAKT_ASSIGN_OR_RETURN(const double priority,
                          Real(place, "priority", 0, 255, terms.priority));
    terms.priority = static_cast<uint8_t>(priority);
    TAKT_ASSIGN_OR_RETURN(
        const uint32_t criticality,
        Choice(place, "criticality", {"soft", "hard", "best-effort"}));
    const sched::Criticality criticalities[] = {
        sched::Criticality::kSoft, sched::Criticality::kHard,
        sched::Criticality::kBestEffort};
    terms.criticality = criticalities[criticality];
    TAKT_ASSIGN_OR_RETURN(
        const uint32_t late,
        Choice(place, "late", {"run-on", "demote", "drop", "latest-only"}));
    terms.late = static_cast<sched::LatePolicy>(late);
    TAKT_ASSIGN_OR_RETURN(const uint32_t lease,
                          Choice(place, "lease", {"operation", "job"}));
    terms.lease = static_cast<sched::LeaseScope>(lease);
    TAKT_ASSIGN_OR_RETURN(
        const double shards,
        Real(place, "shards", 0, sched::ResourceSet::kMaxResources, 0));
    terms.shards_preferred = static_cast<uint32_t>(shards);
    TAKT_ASSIGN_OR_RETURN(stream.probability,
                          Real(place, "probability", 0, 1, 1));
    TAKT_ASSIGN_OR_RETURN(stream.asks_admission, Bool(place, "admission"));
    TAKT_ASSIGN_OR_RETURN(stream.is_dynamic, Bool(place, "dynamic"));
    TAKT_RETURN_IF_ERROR(ReadPools(place, &stream));
    TAKT_RETURN_IF_ERROR(ReadAffinity(place, &stream));
    TAKT_RETURN_IF_ERROR(ReadArrival(place, &stream));
    workload_.streams.push_back(std::move(stream));
    return absl::OkStatus();
  }

  absl::Status ReadFault(const Place& place) {
    TAKT_RETURN_IF_ERROR(CheckFault(place));
    Fault fault;
    TAKT_ASSIGN_OR_RETURN(fault.at_ns, Time(place, "at", 0));
    TAKT_ASSIGN_OR_RETURN(fault.length_ns,
                          Time(place, "length", kInfiniteFuture));
    TAKT_ASSIGN_OR_RETURN(const uint32_t pool, PoolNamed(place, "pool"));
    TAKT_ASSIGN_OR_RETURN(
        const double index,
        Real(place, "index", 0, workload_.machine.pools[pool].count - 1, 0));
    fault.resource =
        workload_.machine.FirstOf(pool) + static_cast<uint32_t>(index);
    workload_.faults.push_back(fault);
    return absl::OkStatus();
  }

  absl::Status ReadSpeed(const Place& place) {
    TAKT_RETURN_IF_ERROR(CheckSpeed(place));
    SpeedStep step;
    TAKT_ASSIGN_OR_RETURN(step.at_ns, Time(place, "at", 0));
    TAKT_ASSIGN_OR_RETURN(step.pool, PoolNamed(place, "pool"));
    TAKT_ASSIGN_OR_RETURN(const double speed,
                          Real(place, "speed", 0.01, 100, 1));
    step.permille = static_cast<uint32_t>(std::lround(speed * 1000));
    workload_.speed_steps.push_back(step);
    return absl::OkStatus();
  }

  absl::Status ReadThermal(const Place& place) {
    TAKT_RETURN_IF_ERROR(CheckThermal(place));
    ThermalModel model;
    TAKT_ASSIGN_OR_RETURN(model.pool, PoolNamed(place, "pool"));
    TAKT_ASSIGN_OR_RETURN(model.ambient_c,
                          Real(place, "ambient_c", -100, 200, 40));
    TAKT_ASSIGN_OR_RETURN(model.heating_c,
                          Real(place, "heating_c", 0, 500, 60));
    TAKT_ASSIGN_OR_RETURN(model.time_constant_ns,
                          Time(place, "time_constant", 10'000'000'000));
    if (model.time_constant_ns <= 0) {
      return place.Error("\"time_constant_s\" must be above 0");
    }
    TAKT_ASSIGN_OR_RETURN(model.trip_c, Real(place, "trip_c", -100, 500, 85));
    TAKT_ASSIGN_OR_RETURN(model.hysteresis_c,
                          Real(place, "hysteresis_c", 0, 100, 5));
    TAKT_ASSIGN_OR_RETURN(const double speed,
                          Real(place, "speed", 0.01, 1, 0.6));
    model.permille = static_cast<uint32_t>(std::lround(speed * 1000));
    workload_.thermal_models.push_back(model);
    return absl::OkStatus();
  }

  Workload workload_;
  sched::CostModel costs_;  // To check kernels and programs with.
  // Annotations, by function and key.
  std::map<std::string, std::map<std::string, std::string>> attributes_;
};

}  // namespace

absl::StatusOr<Workload> ReadWorkload(absl::string_view json,
                                      const WorkloadSources& sources) {
  TAKT_ASSIGN_OR_RETURN(const Json root, ParseJson(json, "workload"));
  if (sources.profile.empty()) {
    return Reader().Read(root, nullptr, sources.machine);
  }
  TAKT_ASSIGN_OR_RETURN(const Json profile,
                        ParseJson(sources.profile, "profile"));
  TAKT_ASSIGN_OR_RETURN(Workload workload,
                        Reader().Read(root, &profile, sources.machine));
  workload.profile_hash = ContentHashText(ContentHash(sources.profile));
  return workload;
}

absl::StatusOr<Workload> ReadWorkload(absl::string_view json,
                                      const sched::Machine& machine) {
  return ReadWorkload(json, WorkloadSources{&machine, ""});
}

}  // namespace takt::plan
