// takt-npu-conformance: checks the driver of an NPU before an application
// relies on it. Prints one line a check.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "takt/npu.h"
#include "takt/takt.hpp"
#include "tools/common/file.h"
#include "tools/common/flags.h"
#include "tools/common/main.h"
#include "tools/common/npu_suite.h"

namespace takt::tools {
namespace {

ToolInfo Info() {
  ToolInfo info;
  info.name = "takt-npu-conformance";
  info.summary = "Checks the driver of an NPU.";
  info.text =
      "  takt-npu-conformance ./driver.so\n"
      "  takt-npu-conformance sim --options='{\"memory\": \"own\"}'\n\n"
      "The argument is a shared object that exports takt_npu_driver_query, or\n"
      "one of the built-in drivers, host and sim.\n";
  return info;
}

// Opens a device with the library itself, which checks the table.
Status OpenDevice(const std::string& name, const std::string& driver_options) {
  Result<Instance> instance = Instance::Create();
  if (!instance.ok()) return instance.status();
  takt_npu_options_t options;
  takt_npu_options_init(&options);
  options.driver_options = driver_options.c_str();
  takt_device_t* device = nullptr;
  takt_status_t status = nullptr;
  if (name == "host" || name == "sim") {
    status = takt_npu_device_create(
        instance->get(),
        name == "host" ? takt_npu_host_driver() : takt_npu_sim_driver(),
        &options, &device);
  } else {
    status =
        takt_npu_device_load(instance->get(), name.c_str(), &options, &device);
  }
  return TakeResult<Device>(status, device).status();
}

// The table; it stays loaded.
Result<const takt_npu_driver_t*> FindDriver(const std::string& name) {
  if (name == "host") return takt_npu_host_driver();
  if (name == "sim") return takt_npu_sim_driver();
  // As takt_npu_device_load() has it: a bare name is one of this directory.
  const bool is_here =
      name.find('/') == std::string::npos && access(name.c_str(), F_OK) == 0;
  void* const library =
      dlopen((is_here ? "./" + name : name).c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const symbol = library != nullptr
                           ? dlsym(library, TAKT_NPU_DRIVER_QUERY_SYMBOL)
                           : nullptr;
  if (symbol == nullptr) return Status(TAKT_STATUS_NOT_FOUND, name);
  takt_npu_driver_query_t query = nullptr;
  std::memcpy(&query, &symbol, sizeof(query));
  return query(TAKT_NPU_DRIVER_VERSION);
}

// The table as these headers know it.
takt_npu_driver_t Widen(const takt_npu_driver_t& table) {
  takt_npu_driver_t driver;
  std::memset(&driver, 0, sizeof(driver));
  std::memcpy(
      &driver, &table,
      table.struct_size < sizeof(driver) ? table.struct_size : sizeof(driver));
  return driver;
}

Result<int> Run(int argc, char** argv, Flags* flags) {
  std::string options;
  int64_t seed = 1;
  bool is_json = false;
  flags->AddText("options", &options,
                 "The options that the driver's open() is given.");
  flags->AddNumber("seed", 0, std::numeric_limits<int64_t>::max(), &seed,
                   "The seed of the random operands.");
  flags->AddSwitch("json", &is_json, "Print the outcomes as JSON.");
  TAKT_TOOLS_ASSIGN_OR_RETURN(const bool goes_on,
                              flags->ParseCommandLine(argc, argv));
  if (!goes_on) return kSuccess;
  if (flags->positional().size() != 1) {
    return flags->Misuse("expected one driver, got " +
                         std::to_string(flags->positional().size()));
  }
  const std::string name = LibraryPath(flags->positional()[0]);
  const Status opened = OpenDevice(name, options);
  if (!opened.ok()) return opened;
  TAKT_TOOLS_ASSIGN_OR_RETURN(const takt_npu_driver_t* const table,
                              FindDriver(name));
  size_t problem_count = 0;
  nlohmann::json checks = nlohmann::json::array();
  for (const NpuCheck& check :
       CheckNpuDriver(Widen(*table), options, static_cast<uint64_t>(seed))) {
    if (is_json) {
      nlohmann::json each = {{"name", check.name},
                             {"passed", check.problem.empty()}};
      if (!check.problem.empty()) {
        each["problem"] = check.problem;
        ++problem_count;
      }
      checks.push_back(std::move(each));
    } else if (check.problem.empty()) {
      std::printf("ok    %s\n", check.name.c_str());
    } else {
      std::printf("FAIL  %s: %s\n", check.name.c_str(), check.problem.c_str());
      ++problem_count;
    }
  }
  if (is_json) {
    const nlohmann::json document = {{"driver", name},
                                     {"passed", checks.size() - problem_count},
                                     {"failed", problem_count},
                                     {"checks", checks}};
    std::printf(
        "%s\n",
        document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
            .c_str());
  }
  return problem_count == 0 ? kSuccess : kFailure;
}

}  // namespace
}  // namespace takt::tools

int main(int argc, char** argv) {
  return takt::tools::RunTool(takt::tools::Info(),
                              [&](takt::tools::Flags* flags) {
                                return takt::tools::Run(argc, argv, flags);
                              });
}
