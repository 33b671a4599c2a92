// takt-check-module: runs every test of self-checking modules, which is every
// exported function without arguments and results, each in a context of its
// own, and counts those that pass.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/common/drivers.h"
#include "tools/common/flags.h"
#include "tools/common/main.h"
#include "tools/common/session.h"

namespace takt::tools {
namespace {

ToolInfo Info() {
  ToolInfo info;
  info.name = "takt-check-module";
  info.summary = "Runs the tests in a compiled module.";
  info.text =
      "  takt-check-module --device=local-task tests.vmfb\n\n"
      "Tests are the exported functions without arguments and results; each\n"
      "runs in a fresh context. Modules are named as arguments or by "
      "--module;\n"
      "the last has the tests. A module without tests is an error.\n";
  return info;
}

struct Outcome {
  std::string name;
  std::vector<std::string> faults;  // None: passed.
};

// Collects what the check module reports.
void OnFault(void* user_data, const char* message) {
  static_cast<std::vector<std::string>*>(user_data)->emplace_back(message);
}

Result<Module> CreateCheckModule(const Session& session,
                                 std::vector<std::string>* faults) {
  takt_module_t* module = nullptr;
  takt_status_t status = takt_check_module_create(session.instance.get(),
                                                  OnFault, faults, &module);
  return TakeResult<Module>(status, module);
}

Status RunTest(const Session& session, const Module& check,
               const std::string& name) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Context context,
                              session.CreateContext(check));
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Function function,
                              context.FindFunction(name));
  const takt_invoke_options_t options = session.InvokeOptions();
  return function.Invoke({}, {}, &options);
}

Result<std::vector<std::string>> FindTests(const Module& module) {
  std::vector<std::string> names;
  for (size_t i = 0; i < module.export_count(); ++i) {
    const std::string name(module.export_name(i));
    TAKT_TOOLS_ASSIGN_OR_RETURN(const Signature signature,
                                module.export_signature(i));
    if (IsCallable(name) && signature.argument_count() == 0 &&
        signature.result_count() == 0) {
      names.push_back(name);
    }
  }
  if (names.empty()) {
    return InvalidArgument("module " + std::string(module.name()) +
                           " exports no function without arguments and "
                           "results");
  }
  return names;
}

void PrintOutcome(const Outcome& outcome) {
  std::printf("[%s] %s\n", outcome.faults.empty() ? "PASSED" : "FAILED",
              outcome.name.c_str());
  for (const std::string& fault : outcome.faults) {
    std::string text = "  " + fault;
    for (size_t at = text.find('\n'); at != std::string::npos;
         at = text.find('\n', at + 1)) {
      text.insert(at + 1, "  ");
    }
    std::printf("%s\n", text.c_str());
  }
  std::fflush(stdout);  // A test that ends the process is the next one.
}

void PrintJson(const std::vector<Outcome>& outcomes, size_t failed_count) {
  nlohmann::json tests = nlohmann::json::array();
  for (const Outcome& outcome : outcomes) {
    tests.push_back({{"name", outcome.name},
                     {"passed", outcome.faults.empty()},
                     {"faults", outcome.faults}});
  }
  const nlohmann::json document = {{"tests", tests},
                                   {"passed", outcomes.size() - failed_count},
                                   {"failed", failed_count}};
  // Faults may quote any bytes.
  std::printf(
      "%s\n",
      document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
          .c_str());
}

Result<int> RunTests(const Session& session, bool is_json) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                              FindTests(session.main_module()));
  std::vector<std::string> faults;
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Module check,
                              CreateCheckModule(session, &faults));
  std::vector<Outcome> outcomes;
  size_t failed_count = 0;
  for (const std::string& name : names) {
    faults.clear();
    Status status = RunTest(session, check, name);
    if (!status.ok()) faults.push_back(status.ToString());
    outcomes.push_back({name, faults});
    if (!faults.empty()) ++failed_count;
    if (!is_json) PrintOutcome(outcomes.back());
  }
  if (is_json) {
    PrintJson(outcomes, failed_count);
  } else {
    std::printf("%zu passed, %zu failed\n", outcomes.size() - failed_count,
                failed_count);
  }
  return failed_count == 0 ? kSuccess : kFailure;
}

Result<int> Run(int argc, char** argv, Flags* flags) {
  SessionFlags session_flags;
  bool is_json = false;
  session_flags.AddTo(flags);
  flags->AddSwitch("json", &is_json, "Print the outcomes as JSON.");
  TAKT_TOOLS_ASSIGN_OR_RETURN(const bool goes_on,
                              flags->ParseCommandLine(argc, argv));
  if (!goes_on) return kSuccess;
  for (const std::string& path : flags->positional()) {
    session_flags.modules.push_back(path);
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const bool has_listed,
                              ListDevices(session_flags));
  if (has_listed) return kSuccess;
  if (session_flags.modules.empty()) {
    return flags->Misuse("no module; name a .vmfb with tests");
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Session session,
                              Session::Open(session_flags));
  Result<int> code = RunTests(session, is_json);
  if (!code.ok()) return Annotate(code.status(), session_flags.modules.back());
  TAKT_TOOLS_RETURN_IF_ERROR(session.End(session_flags));
  return code;
}

}  // namespace
}  // namespace takt::tools

int main(int argc, char** argv) {
  return takt::tools::RunTool(takt::tools::Info(),
                              [&](takt::tools::Flags* flags) {
                                return takt::tools::Run(argc, argv, flags);
                              });
}
