// takt-run-module: runs one function of a compiled module and prints, writes
// or compares its results. Prints to stdout what iree-run-module prints.
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/common/capture.h"
#include "tools/common/drivers.h"
#include "tools/common/element.h"
#include "tools/common/file.h"
#include "tools/common/flags.h"
#include "tools/common/input.h"
#include "tools/common/main.h"
#include "tools/common/output.h"
#include "tools/common/replay.h"
#include "tools/common/result_flags.h"
#include "tools/common/session.h"
#include "tools/common/value_text.h"

namespace takt::tools {
namespace {

ToolInfo Info() {
  ToolInfo info;
  info.name = "takt-run-module";
  info.summary = "Runs a function of a compiled module and prints its results.";
  info.text =
      "  takt-run-module --module=model.vmfb --function=main \\\n"
      "      --input=2x3xf32=1,2,3,4,5,6 --input=@weights.npy\n";
  info.has_peer = true;
  return info;
}

struct RunFlags {
  SessionFlags session;
  ResultFlags results;
  std::string function;
  std::vector<std::string> inputs;
  bool user_fences = false;
  std::string replay;
  bool is_json = false;

  void AddTo(Flags* flags) {
    session.AddTo(flags);
    flags->AddText("function", &function,
                   "The exported function to run. Default: the only one.");
    flags->AddTexts("input", &inputs,
                    "An argument; one flag for each of them, in their order:\n"
                    "  3.14               a scalar\n"
                    "  2x2xf32=1 2 3 4    a tensor; one element fills it\n"
                    "  2x2xf32=@f.bin     its bytes from a file; +f.bin: the "
                    "next bytes\n"
                    "  @f.npy +f.npy *f.npy   the first, next, all arrays of "
                    "a numpy file\n"
                    "  &2x2xf32           a plain buffer of that size\n"
                    "  (null)             a null object");
    results.AddTo(flags);
    flags->AddSwitch(
        "user_fences", &user_fences,
        "Call without waiting, with a wait fence that is signaled "
        "once the call is\nissued, and wait for its signal fence.");
    flags->AddText(
        "replay", &replay,
        "Runs the jobs of a stream again, in order, from a file that "
        "a capture\nwrote (takt_stream_write_capture()), and "
        "compares the bytes of the results.\nExit code 1 if some "
        "differ.");
    flags->AddSwitch("json", &is_json,
                     "Print one JSON object: the function and its results, or "
                     "what is not as\nexpected.");
  }
};

using Json = nlohmann::ordered_json;

void Print(const Json& json) {
  std::printf("%s\n",
              json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

// A number where JSON has one for it, else the text.
Json ElementJson(takt_element_type_t type, std::span<const uint8_t> bytes,
                 size_t index) {
  std::string text = FormatElement(type, bytes, index);
  if (FormOf(type) == ElementForm::kFloat) {
    const double number = FloatElement(type, bytes, index);
    return std::isfinite(number) ? Json(number) : Json(std::move(text));
  }
  if (FormOf(type) == ElementForm::kInteger) {
    Json number = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (number.is_number()) return number;
  }
  return Json(std::move(text));
}

Result<Json> ResultJson(const Value& value, size_t element_count_max) {
  Json json = {{"type", ValueTypeText(value)}};
  const BufferView view = value.view();
  if (!view) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(json["value"],
                                FormatValue(value, element_count_max));
    return json;
  }
  const takt_element_type_t type = view.element_type();
  std::vector<uint8_t> bytes(view.byte_length());
  TAKT_TOOLS_RETURN_IF_ERROR(view.buffer().Read(0, bytes));
  size_t element_count = 1;
  json["element_type"] = TypeText(type);
  json["shape"] = Json::array();
  for (const int64_t extent : view.shape()) {
    json["shape"].push_back(extent);
    element_count *= static_cast<size_t>(extent);
  }
  json["elements"] = Json::array();
  for (size_t i = 0; i < std::min(element_count, element_count_max); ++i) {
    json["elements"].push_back(ElementJson(type, bytes, i));
  }
  return json;
}

Status PrintResultsJson(const std::string& name,
                        const std::vector<Value>& results,
                        size_t element_count_max) {
  Json json = {{"function", name}, {"results", Json::array()}};
  for (const Value& result : results) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(Json each,
                                ResultJson(result, element_count_max));
    json["results"].push_back(std::move(each));
  }
  Print(json);
  return Status();
}

// Compares with what is expected; the exit code.
Result<int> Compare(const RunFlags& flags, const std::string& name,
                    const std::vector<Value>& results,
                    const std::vector<Input>& expected) {
  if (!flags.is_json) return flags.results.PrintComparison(results, expected);
  TAKT_TOOLS_ASSIGN_OR_RETURN(const std::string differences,
                              flags.results.Compare(results, expected));
  Print({{"function", name},
         {"as_expected", differences.empty()},
         {"differences", differences}});
  return differences.empty() ? kSuccess : kFailure;
}

// Calls with fences of the caller's around.
Result<std::vector<Value>> InvokeWithFences(const Session& session,
                                            const Function& function,
                                            std::vector<Value> arguments) {
  AsyncOptions options;
  options.step_limit = session.step_limit;
  options.memory_limit = session.memory_limit;
  options.timeout_ns = session.timeout_ns;
  TAKT_TOOLS_ASSIGN_OR_RETURN(options.wait, Fence::Create());
  TAKT_TOOLS_ASSIGN_OR_RETURN(options.signal, Fence::Create());
  TAKT_TOOLS_ASSIGN_OR_RETURN(
      const Invocation call,
      AsyncInvoke(function, std::move(arguments), options));
  TAKT_TOOLS_RETURN_IF_ERROR(options.wait.Signal());
  TAKT_TOOLS_RETURN_IF_ERROR(options.signal.Wait(session.instance));
  return call.Get();
}

Result<int> Invoke(const RunFlags& flags, const Session& session,
                   const std::string& name, const Function& function) {
  const Signature signature = function.signature();
  InputFiles files;
  Result<std::vector<Input>> inputs = ParseInputs(
      session.devices[0], ArgumentKinds(signature), flags.inputs, &files);
  if (!inputs.ok()) return Annotate(inputs.status(), "input ", "");
  std::vector<Value> arguments;
  for (Input& input : *inputs) arguments.push_back(std::move(input.value));
  TAKT_TOOLS_ASSIGN_OR_RETURN(
      const std::vector<Input> expected,
      flags.results.ReadExpected(session.devices[0], signature));

  if (!flags.is_json) std::printf("EXEC @%s\n", name.c_str());
  std::vector<Value> results(signature.result_count());
  if (flags.user_fences) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(
        results, InvokeWithFences(session, function, std::move(arguments)));
  } else {
    const takt_invoke_options_t options = session.InvokeOptions();
    TAKT_TOOLS_RETURN_IF_ERROR(function.Invoke(arguments, results, &options));
  }
  TAKT_TOOLS_RETURN_IF_ERROR(TakeDeclaredSigns(signature, &results));
  if (!flags.results.expected.empty()) {
    return Compare(flags, name, results, expected);
  }
  const bool prints_json = flags.is_json && flags.results.outputs.empty();
  TAKT_TOOLS_RETURN_IF_ERROR(
      prints_json ? PrintResultsJson(name, results, flags.results.printed_max())
                  : flags.results.PrintOrWrite(results));
  return kSuccess;
}

// The function to call: of a capture, the one that it names.
Result<std::string> FunctionName(const RunFlags& flags, const Session& session,
                                 const Capture& capture) {
  if (!flags.function.empty() || capture.function.empty()) {
    return ChooseFunction(session.main_module(), flags.function);
  }
  const size_t dot = capture.function.rfind('.');
  return ChooseFunction(
      session.main_module(),
      capture.function.substr(dot == std::string::npos ? 0 : dot + 1));
}

Result<int> RunSession(const RunFlags& flags, const Session& session) {
  const std::string& file = flags.session.modules.back();
  std::string capture_bytes;
  Capture capture;
  if (!flags.replay.empty()) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(capture_bytes, ReadFile(flags.replay));
    Result<Capture> parsed = ParseCapture(capture_bytes);
    if (!parsed.ok()) return Annotate(parsed.status(), flags.replay);
    capture = *std::move(parsed);
  }
  const Result<std::string> name = FunctionName(flags, session, capture);
  if (!name.ok()) return Annotate(name.status(), file);
  const Result<Context> context = session.CreateContext();
  if (!context.ok()) return Annotate(context.status(), file);
  const Result<Function> function = context->FindFunction(*name);
  if (!function.ok()) return Annotate(function.status(), file);
  Result<int> code = flags.replay.empty()
                         ? Invoke(flags, session, *name, *function)
                         : Replay(session, *function, capture, flags.is_json);
  if (!code.ok()) return Annotate(code.status(), file + ": " + *name);
  return code;
}

Result<int> Run(int argc, char** argv, Flags* flags) {
  RunFlags run_flags;
  run_flags.AddTo(flags);
  TAKT_TOOLS_ASSIGN_OR_RETURN(const bool goes_on,
                              flags->ParseCommandLine(argc, argv));
  if (!goes_on) return kSuccess;
  TAKT_TOOLS_RETURN_IF_ERROR(flags->RefusePositional());
  TAKT_TOOLS_ASSIGN_OR_RETURN(const bool has_listed,
                              ListDevices(run_flags.session));
  if (has_listed) return kSuccess;
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Session session,
                              Session::Open(run_flags.session));
  Result<int> code = RunSession(run_flags, session);
  TAKT_TOOLS_RETURN_IF_ERROR(session.End(run_flags.session));
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
