// A WorkloadReader reads a workload from its JSON form (docs/planning.md), with
// what a profile adds to it.
//
// Thread-safety: none; it reads one workload.
#ifndef TAKT_PLAN_WORKLOAD_READER_H_
#define TAKT_PLAN_WORKLOAD_READER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/json.h"
#include "plan/json_fields.h"
#include "plan/workload.h"
#include "sched/cost_model.h"
#include "sched/machine.h"

namespace takt::plan {

class WorkloadReader {
 public:
  WorkloadReader() : costs_(&workload_.machine) {}

  // Reads the workload; called once. `profile` may be null. `machine`, unless
  // null, replaces the topologies of the workload and the profile.
  absl::StatusOr<Workload> Read(const nlohmann::json& root,
                                const nlohmann::json* profile,
                                const sched::Machine* machine);

 private:
  // workload_json.cc
  // Finds unknown members without a machine.
  static absl::Status CheckMembers(const JsonPlace& place);
  absl::Status ReadAims(const JsonPlace& place);

  // workload_json_machine.cc
  absl::StatusOr<uint32_t> PoolNamed(const JsonPlace& place, const char* key);
  absl::Status ReadTopology(const JsonPlace& place);
  absl::Status ReadMachine(const JsonPlace& place,
                           const nlohmann::json* profile,
                           const sched::Machine* machine);
  absl::Status ReadPower(const JsonPlace& place);
  absl::Status ReadNpuCores(const JsonPlace& place);
  absl::Status ReadFault(const JsonPlace& place);
  absl::Status ReadSpeed(const JsonPlace& place);
  absl::Status ReadThermal(const JsonPlace& place);
  absl::Status ReadBudget(const JsonPlace& place);

  // workload_json_programs.cc
  absl::Status ReadModule(const JsonPlace& place);
  // The index of the named function. It is added if its module is known; -1:
  // the module is not known.
  int32_t FunctionNamed(const std::string& name);
  absl::StatusOr<int32_t> ReadFunctionName(const JsonPlace& place);
  absl::Status ReadFunction(const JsonPlace& place);
  // Adds the kernels and programs of a profile to the workload.
  absl::Status ReadProfile(const JsonPlace& place);
  absl::Status ReadProfiledModule(const JsonPlace& place);
  absl::Status ReadAttributes(const JsonPlace& place);
  absl::Status ReadAlternative(const JsonPlace& place, WorkloadKernel* kernel);
  // "module" is the hash of its content, in hexadecimal digits.
  absl::Status ReadKey(const JsonPlace& place, WorkloadKernel* kernel);
  absl::Status ReadKernel(const JsonPlace& place);
  absl::Status ReadOperation(const JsonPlace& place, WorkloadProgram* program);
  absl::Status ReadProgram(const JsonPlace& place);

  // workload_json_streams.cc
  // Reads the options that a module's annotations ask for; members of the
  // stream override them.
  absl::Status ReadAnnotations(const JsonPlace& place, WorkloadStream* stream);
  absl::Status ReadPools(const JsonPlace& place, WorkloadStream* stream);
  absl::Status ReadAffinity(const JsonPlace& place, WorkloadStream* stream);
  absl::Status SetAffinity(const std::string& text, WorkloadStream* stream);
  absl::Status ReadArrival(const JsonPlace& place, WorkloadStream* stream);
  // Reads the work of its jobs: a program, or a function that the profile has
  // measured.
  absl::Status ReadWork(const JsonPlace& place, WorkloadStream* stream);
  absl::Status ReadStream(const JsonPlace& place);

  // The name of a new element of `list`, which must be unique.
  template <typename T>
  absl::StatusOr<std::string> NewName(const JsonPlace& place,
                                      const std::vector<T>& list) {
    TAKT_ASSIGN_OR_RETURN(const std::string name, place.Text("name", ""));
    if (name.empty()) return place.Error("\"name\" is missing");
    if (FindNamed(list, name) >= 0) {
      return place.ErrorAt("name", absl::StrCat("a second ", name));
    }
    return name;
  }

  Workload workload_;
  sched::CostModel costs_;  // Checks kernels and programs.
  // Annotations, by function and key.
  std::map<std::string, std::map<std::string, std::string>> attributes_;
};

}  // namespace takt::plan

#endif  // TAKT_PLAN_WORKLOAD_READER_H_
