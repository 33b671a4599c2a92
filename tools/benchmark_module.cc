// takt-benchmark-module: measures functions of a compiled module with Google
// Benchmark. Rows have the names of iree-benchmark-module. A measurement is one
// C call and the release of its results.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "takt/async.hpp"
#include "tools/common/drivers.h"
#include "tools/common/flags.h"
#include "tools/common/input.h"
#include "tools/common/main.h"
#include "tools/common/number.h"
#include "tools/common/output.h"
#include "tools/common/result_flags.h"
#include "tools/common/session.h"

namespace takt::tools {
namespace {

ToolInfo Info() {
  ToolInfo info;
  info.name = "takt-benchmark-module";
  info.summary = "Measures functions of a compiled module.";
  info.text =
      "  takt-benchmark-module --module=model.vmfb --function=main \\\n"
      "      --input=2x3xf32=1 --benchmark_min_time=0.5s\n\n"
      "The flags of Google Benchmark (--benchmark_*) go with these, and\n"
      "--benchmark_min_time takes seconds (0.5s) or iterations (100x).\n";
  info.has_peer = true;
  return info;
}

struct BenchmarkFlags {
  SessionFlags session;
  std::string function;
  std::vector<std::string> inputs;
  int64_t batch_size = 1;
  int64_t batch_concurrency = 1;
  std::string time_unit = "ms";
  bool process_outputs = false;
  ResultFlags results;
  bool dispatch_statistics = false;

  void AddTo(Flags* flags) {
    session.AddTo(flags);
    flags->AddText("function", &function,
                   "The exported function to measure. Default: all without "
                   "arguments; if\nnone is, the only one with the arguments of "
                   "--input.");
    flags->AddTexts("input", &inputs,
                    "An argument, as takt-run-module --help describes.");
    flags->AddNumber("batch_size", 1, int64_t{1} << 30, &batch_size,
                     "Invocations an iteration.");
    flags->AddNumber("batch_concurrency", 1, int64_t{1} << 16,
                     &batch_concurrency,
                     "Invocations of a batch that are in flight at a time; "
                     "above 1 they are\nasynchronous.");
    flags->AddChoice("time_unit", {"ms", "us", "ns"}, &time_unit,
                     "The unit that rows are printed in.");
    flags->AddSwitch("enable_output_processing", &process_outputs,
                     "Print, write or compare the results of the last "
                     "invocation, as --output= and\n--expected_output= say, "
                     "which imply it.");
    results.AddTo(flags);
    flags->AddSwitch("dispatch_statistics", &dispatch_statistics,
                     "Add a row for each kernel of a function: how long it "
                     "takes in an invocation.\nThey are measured apart, "
                     "without influence on the other rows.");
  }

  benchmark::TimeUnit unit() const {
    if (time_unit == "ns") return benchmark::kNanosecond;
    return time_unit == "us" ? benchmark::kMicrosecond
                             : benchmark::kMillisecond;
  }
};

// One function with its arguments, ready to be called.
struct Subject {
  std::string name;
  Function function;
  std::vector<Value> arguments;
  std::vector<Value> results;
  std::vector<Input> expected;    // The results that it should have.
  takt_invoke_options_t options;  // The limits of a call.
};

void Fail(benchmark::State& state, const Subject& subject, const Status& status,
          bool* has_failed) {
  const std::string text = status.ToString();
  std::fprintf(stderr, "takt-benchmark-module: %s: %s\n", subject.name.c_str(),
               text.c_str());
  state.SkipWithError(text.c_str());
  *has_failed = true;
}

// Keeps up to `concurrency` invocations in flight.
void MeasureConcurrent(benchmark::State& state, Subject* subject,
                       int64_t batch_size, int64_t concurrency,
                       bool* has_failed) {
  std::deque<Invocation> in_flight;
  const auto end_oldest = [&] {
    Result<std::vector<Value>> results = in_flight.front().Get();
    in_flight.pop_front();
    if (!results.ok()) return results.status();
    subject->results = *std::move(results);
    return Status();
  };
  while (state.KeepRunningBatch(batch_size)) {
    for (int64_t i = 0; i < batch_size; ++i) {
      Status status;
      if (static_cast<int64_t>(in_flight.size()) == concurrency) {
        status = end_oldest();
      }
      if (status.ok()) {
        Result<Invocation> call =
            AsyncInvoke(subject->function, subject->arguments,
                        {.step_limit = subject->options.step_limit,
                         .memory_limit = subject->options.memory_limit,
                         .timeout_ns = subject->options.timeout_ns});
        status = call.status();
        if (call.ok()) in_flight.push_back(*std::move(call));
      }
      if (!status.ok()) return Fail(state, *subject, status, has_failed);
    }
    while (!in_flight.empty()) {
      Status status = end_oldest();
      if (!status.ok()) return Fail(state, *subject, status, has_failed);
    }
  }
  state.SetItemsProcessed(state.iterations());
}

void Measure(benchmark::State& state, Subject* subject, int64_t batch_size,
             bool* has_failed) {
  takt_function_t* const function = subject->function.get();
  const size_t argument_count = subject->arguments.size();
  const auto* arguments =
      reinterpret_cast<const takt_value_t*>(subject->arguments.data());
  const size_t result_count = subject->results.size();
  auto* results = reinterpret_cast<takt_value_t*>(subject->results.data());
  while (state.KeepRunningBatch(batch_size)) {
    for (int64_t i = 0; i < batch_size; ++i) {
      // Those of the last invocation stay.
      takt_values_release(result_count, results);
      const takt_status_t status =
          takt_function_invoke(function, &subject->options, argument_count,
                               arguments, result_count, results);
      if (status != nullptr) {
        return Fail(state, *subject, Status(status), has_failed);
      }
    }
  }
  state.SetItemsProcessed(state.iterations());
}

// What the user asked for; in the end, whether all of it worked.
class Suite {
 public:
  Status Add(const BenchmarkFlags& flags, const Session& session,
             const Context& context, const std::string& name) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(Function function, context.FindFunction(name));
    const Signature signature = function.signature();
    InputFiles files;
    Result<std::vector<Input>> inputs = ParseInputs(
        session.devices[0], ArgumentKinds(signature), flags.inputs, &files);
    if (!inputs.ok()) return Annotate(inputs.status(), name + ": input");
    auto subject = std::make_unique<Subject>();
    subject->name = name;
    subject->function = std::move(function);
    subject->options = session.InvokeOptions();
    subject->results.resize(signature.result_count());
    for (Input& input : *inputs) {
      subject->arguments.push_back(std::move(input.value));
    }
    subjects_.push_back(std::move(subject));
    return Status();
  }

  // Reads what the results are compared with or where they go.
  Status ReadExpected(const BenchmarkFlags& flags, const Session& session) {
    for (const std::unique_ptr<Subject>& subject : subjects_) {
      Result<std::vector<Input>> expected = flags.results.ReadExpected(
          session.devices[0], subject->function.signature());
      if (!expected.ok()) return Annotate(expected.status(), subject->name);
      subject->expected = *std::move(expected);
    }
    return Status();
  }

  void Register(const BenchmarkFlags& flags, int64_t iterations) {
    for (const std::unique_ptr<Subject>& subject : subjects_) {
      const std::string name = "BM_" + subject->name;
      auto* row =
          flags.batch_concurrency == 1
              ? benchmark::RegisterBenchmark(name.c_str(), Measure,
                                             subject.get(), flags.batch_size,
                                             &has_failed_)
              : benchmark::RegisterBenchmark(
                    name.c_str(), MeasureConcurrent, subject.get(),
                    flags.batch_size, flags.batch_concurrency, &has_failed_);
      row->MeasureProcessCPUTime()->UseRealTime()->Unit(flags.unit());
      if (iterations > 0) row->Iterations(iterations);
    }
  }

  bool has_failed() const { return has_failed_; }
  const std::vector<std::unique_ptr<Subject>>& subjects() const {
    return subjects_;
  }

 private:
  std::vector<std::unique_ptr<Subject>> subjects_;
  bool has_failed_ = false;
};

// What kernels take, by the names of benchmarks ("BM_main").
class DispatchStatistics {
 public:
  using Run = benchmark::BenchmarkReporter::Run;

  // Opens a second session for it, so that the devices that are measured record
  // nothing.
  Status Open(const BenchmarkFlags& flags, const Suite& measured) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(session_, Session::Open(flags.session));
    TAKT_TOOLS_ASSIGN_OR_RETURN(context_, session_.CreateContext());
    for (const std::unique_ptr<Subject>& subject : measured.subjects()) {
      TAKT_TOOLS_RETURN_IF_ERROR(
          suite_.Add(flags, session_, context_, subject->name));
    }
    return Status();
  }

  // The rows behind `parent`; measured when first asked for.
  const std::vector<Run>& RowsOf(const Run& parent) {
    const std::string name = parent.run_name.function_name;
    const auto [found, is_new] = rows_.try_emplace(name);
    if (!is_new) return found->second;
    for (const std::unique_ptr<Subject>& subject : suite_.subjects()) {
      if ("BM_" + subject->name != name || !Call(subject.get())) continue;
      for (const DispatchRecorder::Row& row : session_.recorder->Take()) {
        Run run = parent;
        run.run_name.function_name = name + "/dispatch/" + row.function;
        run.run_type = Run::RT_Iteration;
        run.aggregate_name.clear();
        run.iterations = kCallCount;
        run.real_accumulated_time = static_cast<double>(row.total_ns) / 1e9;
        // The processor time of the workers is not counted.
        run.cpu_accumulated_time = 0;
        run.counters.clear();
        run.counters["dispatches"] =
            benchmark::Counter(static_cast<double>(row.count) / kCallCount);
        found->second.push_back(std::move(run));
      }
    }
    return found->second;
  }

 private:
  static constexpr int kCallCount = 16;

  bool Call(Subject* subject) {
    for (int i = 0; i <= kCallCount; ++i) {
      // The first call may make what later ones find ready.
      if (i == 1) session_.recorder->Take();
      const Status status = subject->function.Invoke(
          subject->arguments, subject->results, &subject->options);
      for (Value& result : subject->results) result = Value();
      if (!status.ok()) {
        std::fprintf(stderr, "takt-benchmark-module: %s: %s\n",
                     subject->name.c_str(), status.ToString().c_str());
        return false;
      }
    }
    return true;
  }

  Session session_;
  Context context_;
  Suite suite_;
  std::map<std::string, std::vector<Run>> rows_;
};

// The usual reporter, without "iterations:3" in the names of rows (newer
// libraries than the packaged one, and so the peer, leave it out), and with
// rows of kernels where `statistics` is not NULL.
class Reporter : public benchmark::BenchmarkReporter {
 public:
  Reporter(benchmark::BenchmarkReporter* reporter,
           DispatchStatistics* statistics)
      : reporter_(reporter), statistics_(statistics) {}

  // Debian builds Google Benchmark without NDEBUG, whose console reporter then
  // warns that "Library was built as DEBUG". That library is not what is
  // measured here: its part of a measurement is compiled into this file. The
  // line would be read as one about Takt, so it goes; RunBenchmarks() says it
  // of Takt where it is true.
  bool ReportContext(const Context& context) override {
    reporter_->SetOutputStream(&GetOutputStream());
    std::ostringstream notes;
    reporter_->SetErrorStream(&notes);
    errno = 0;
    const bool goes_on = reporter_->ReportContext(context);
    Flush();
    reporter_->SetErrorStream(&GetErrorStream());
    std::istringstream lines(notes.str());
    for (std::string line; std::getline(lines, line);) {
      if (line.find("Library was built as DEBUG") == std::string::npos) {
        GetErrorStream() << line << '\n';
      }
    }
    return goes_on;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> reported = runs;
    for (Run& run : reported) run.run_name.iterations.clear();
    if (statistics_ != nullptr && !runs.empty() && !runs[0].error_occurred) {
      const std::vector<Run>& rows = statistics_->RowsOf(reported[0]);
      reported.insert(reported.end(), rows.begin(), rows.end());
    }
    errno = 0;
    reporter_->ReportRuns(reported);
    Flush();
  }
  void Finalize() override {
    errno = 0;
    reporter_->Finalize();
    Flush();
  }

  // Why not all that was reported could be written; "" if it was.
  const std::string& failure() const { return failure_; }

 private:
  // Writes what is buffered, before the library does. Keeps the reason of the
  // first write that fails.
  void Flush() {
    GetOutputStream().flush();
    if (GetOutputStream().good() || !failure_.empty()) return;
    failure_ = errno != 0 ? std::strerror(errno) : "a write failed";
  }

  std::unique_ptr<benchmark::BenchmarkReporter> reporter_;
  DispatchStatistics* statistics_;
  std::string failure_;
};

// The reporter for --benchmark_out=, which the library would make itself: of
// the format that --benchmark_out_format= names.
benchmark::BenchmarkReporter* CreateFileReporter(const std::string& format) {
  if (format == "console") return new benchmark::ConsoleReporter();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  if (format == "csv") return new benchmark::CSVReporter();
#pragma GCC diagnostic pop
  return new benchmark::JSONReporter();
}

// The value of a flag of Google Benchmark; "" if it is not there.
std::string ValueOf(std::string_view flag,
                    const std::vector<std::string>& arguments) {
  std::string value;
  for (const std::string& argument : arguments) {
    if (argument.starts_with(flag)) value = argument.substr(flag.size());
  }
  return value;
}

// The packaged library knows --benchmark_min_time as a bare number of seconds.
// Turns "0.5s" into that; takes "100x" out and returns it.
Result<int64_t> TakeMinTime(std::vector<std::string>* arguments) {
  constexpr std::string_view kMinTime = "--benchmark_min_time=";
  int64_t iterations = 0;
  std::vector<std::string> kept;
  for (std::string& argument : *arguments) {
    if (!argument.starts_with(kMinTime)) {
      kept.push_back(std::move(argument));
      continue;
    }
    const auto wrong = [argument] {
      return InvalidArgument(argument +
                             ": expected seconds (0.5s) or iterations (100x)");
    };
    if (argument.ends_with('x')) {
      const std::string text = argument.substr(kMinTime.size());
      const Result<int64_t> number =
          ParseInteger(std::string_view(text).substr(0, text.size() - 1));
      if (!number.ok() || *number < 1) return wrong();
      iterations = *number;
      continue;
    }
    std::string kept_argument = argument;
    if (kept_argument.ends_with('s')) kept_argument.pop_back();
    const Result<double> seconds =
        ParseReal(std::string_view(kept_argument).substr(kMinTime.size()));
    if (!seconds.ok() || !std::isfinite(*seconds) || *seconds < 0) {
      return wrong();
    }
    kept.push_back(std::move(kept_argument));
  }
  *arguments = std::move(kept);
  return iterations;
}

// The flags of Google Benchmark. One that it takes is no longer among the
// arguments.
struct LibraryFlag {
  std::string_view name;
  // The values that it takes; "": the library checks them. For other values
  // than these the library prints its usage and exits with the code 0.
  std::string_view choices = "";
};
constexpr LibraryFlag kLibraryFlags[] = {
    {"--benchmark_list_tests"},
    {"--benchmark_filter"},
    {"--benchmark_min_time"},
    {"--benchmark_min_warmup_time"},
    {"--benchmark_repetitions"},
    {"--benchmark_enable_random_interleaving"},
    {"--benchmark_report_aggregates_only"},
    {"--benchmark_display_aggregates_only"},
    {"--benchmark_format", "console, json, csv"},
    {"--benchmark_out"},
    {"--benchmark_out_format", "console, json, csv"},
    {"--benchmark_color"},
    {"--benchmark_counters_tabular"},
    {"--benchmark_perf_counters"},
    {"--benchmark_context"},
    {"--benchmark_time_unit", "ns, us, ms, s"},
};

// Whether `list`, such as "ns, us", has the word.
bool HasChoice(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::string_view choice = list.substr(0, list.find(", "));
    if (choice == word) return true;
    list.remove_prefix(std::min(choice.size() + 2, list.size()));
  }
  return false;
}

// Refuses what the library would end the process for.
Status CheckChoices(const std::vector<std::string>& arguments) {
  for (const LibraryFlag& flag : kLibraryFlags) {
    if (flag.choices.empty()) continue;
    const std::string start = std::string(flag.name) + "=";
    for (const std::string& argument : arguments) {
      if (argument.starts_with(start) &&
          !HasChoice(flag.choices, argument.substr(start.size()))) {
        return InvalidArgument(argument + ": expected one of " +
                               std::string(flag.choices));
      }
    }
  }
  return Status();
}

// Refuses what the library has not taken because of its value.
Status CheckNoneIsLeft(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    const size_t length = std::min(argument.find('='), argument.size());
    const std::string_view name = std::string_view(argument).substr(0, length);
    for (const LibraryFlag& flag : kLibraryFlags) {
      if (flag.name != name) continue;
      return InvalidArgument(argument + (length == argument.size()
                                             ? ": needs a value"
                                             : ": not a value of this flag"));
    }
  }
  return Status();
}

// Lets Google Benchmark take its flags out of `arguments`.
void TakeBenchmarkFlags(std::vector<std::string>* arguments) {
  std::vector<char*> argv = {const_cast<char*>("takt-benchmark-module")};
  for (std::string& argument : *arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(argv.size()) - 1;
  benchmark::Initialize(&argc, argv.data());
  std::vector<std::string> rest(argv.begin() + 1, argv.begin() + argc);
  *arguments = std::move(rest);
}

// `others` are its functions: all of them take arguments.
Status NothingToMeasure(const Module& module,
                        const std::vector<std::string>& others) {
  const std::string prefix = "module " + std::string(module.name());
  if (others.empty()) return InvalidArgument(prefix + " exports no function");
  std::string names;
  for (const std::string& name : others) {
    names += (names.empty() ? "" : ", ") + name;
  }
  return InvalidArgument(
      prefix + " has no function without arguments; " +
      (others.size() == 1
           ? "give the arguments of the only one with --input=: "
           : "choose one with --function=, and give its arguments with "
             "--input=: ") +
      names);
}

Status AddSubjects(const BenchmarkFlags& flags, const Session& session,
                   const Context& context, Suite* suite) {
  if (!flags.function.empty()) {
    return suite->Add(flags, session, context, flags.function);
  }
  const Module& module = session.main_module();
  std::vector<std::string> others;  // Functions that take arguments.
  for (size_t i = 0; i < module.export_count(); ++i) {
    const std::string name(module.export_name(i));
    TAKT_TOOLS_ASSIGN_OR_RETURN(const Signature signature,
                                module.export_signature(i));
    if (!IsCallable(name)) continue;
    if (signature.argument_count() == 0) {
      TAKT_TOOLS_RETURN_IF_ERROR(suite->Add(flags, session, context, name));
    } else {
      others.push_back(name);
    }
  }
  if (!suite->subjects().empty()) return Status();
  if (others.size() == 1 && !flags.inputs.empty()) {
    return suite->Add(flags, session, context, others[0]);
  }
  return NothingToMeasure(module, others);
}

// What --output= and --expected_output= ask for; the exit code.
Result<int> ProcessResults(const BenchmarkFlags& flags,
                           const Subject& subject) {
  std::vector<Value> results = subject.results;
  TAKT_TOOLS_RETURN_IF_ERROR(
      TakeDeclaredSigns(subject.function.signature(), &results));
  if (!flags.results.expected.empty()) {
    return flags.results.PrintComparison(results, subject.expected);
  }
  TAKT_TOOLS_RETURN_IF_ERROR(flags.results.PrintOrWrite(results));
  return kSuccess;
}

// The flags of Google Benchmark that this tool reads, too.
struct LibraryFlags {
  int64_t iterations = 0;  // 0: as many as it likes.
  std::string out;         // --benchmark_out=
  std::string out_format;
};

Status RunBenchmarks(const BenchmarkFlags& flags, const LibraryFlags& library,
                     const Suite& suite) {
  std::optional<DispatchStatistics> statistics;
  if (flags.dispatch_statistics) {
    BenchmarkFlags recording = flags;
    recording.session.print_device_statistics = true;
    statistics.emplace();
    TAKT_TOOLS_RETURN_IF_ERROR(statistics->Open(recording, suite));
  }
  DispatchStatistics* const rows = statistics ? &*statistics : nullptr;
  Reporter reporter(benchmark::CreateDefaultDisplayReporter(), rows);
  std::optional<Reporter> file_reporter;
  if (!library.out.empty()) {
    file_reporter.emplace(CreateFileReporter(library.out_format), rows);
  }
#ifndef NDEBUG
  std::fputs(
      "***WARNING*** Takt was built as DEBUG. Timings may be affected.\n",
      stderr);
#endif
  benchmark::RunSpecifiedBenchmarks(&reporter,
                                    file_reporter ? &*file_reporter : nullptr);
  benchmark::Shutdown();
  std::cout.flush();
  if (file_reporter && !file_reporter->failure().empty()) {
    return Status(TAKT_STATUS_UNAVAILABLE,
                  library.out + ": " + file_reporter->failure());
  }
  return Status();
}

Result<int> RunSession(const BenchmarkFlags& flags,
                       const LibraryFlags& library) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Session session,
                              Session::Open(flags.session));
  const std::string& file = flags.session.modules.back();
  const Result<Context> context = session.CreateContext();
  if (!context.ok()) return Annotate(context.status(), file);
  Suite suite;
  Status status = AddSubjects(flags, session, *context, &suite);
  if (status.ok()) status = suite.ReadExpected(flags, session);
  if (!status.ok()) return Annotate(status, file);
  suite.Register(flags, library.iterations);
  TAKT_TOOLS_RETURN_IF_ERROR(RunBenchmarks(flags, library, suite));
  int code = suite.has_failed() ? kFailure : kSuccess;
  const bool processes = flags.process_outputs ||
                         !flags.results.outputs.empty() ||
                         !flags.results.expected.empty();
  for (const std::unique_ptr<Subject>& subject : suite.subjects()) {
    if (!processes || code != kSuccess) break;
    Result<int> processed = ProcessResults(flags, *subject);
    if (!processed.ok()) {
      return Annotate(processed.status(), file + ": " + subject->name);
    }
    code = *processed;
  }
  TAKT_TOOLS_RETURN_IF_ERROR(session.End(flags.session));
  return code;
}

// Google Benchmark would take these for itself.
bool IsRequest(const std::string& argument) {
  return argument == "--help" || argument == "--version";
}

Result<int> Run(int argc, char** argv, Flags* flags) {
  BenchmarkFlags benchmark_flags;
  benchmark_flags.AddTo(flags);
  TAKT_TOOLS_ASSIGN_OR_RETURN(std::vector<std::string> arguments,
                              ExpandArguments(argc, argv));
  LibraryFlags library;
  if (std::none_of(arguments.begin(), arguments.end(), IsRequest)) {
    TAKT_TOOLS_ASSIGN_OR_RETURN(library.iterations, TakeMinTime(&arguments));
    TAKT_TOOLS_RETURN_IF_ERROR(CheckChoices(arguments));
    library.out = ValueOf("--benchmark_out=", arguments);
    library.out_format = ValueOf("--benchmark_out_format=", arguments);
    TakeBenchmarkFlags(&arguments);
    TAKT_TOOLS_RETURN_IF_ERROR(CheckNoneIsLeft(arguments));
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const bool goes_on,
                              flags->ParseArguments(arguments));
  if (!goes_on) return kSuccess;
  TAKT_TOOLS_RETURN_IF_ERROR(flags->RefusePositional());
  TAKT_TOOLS_ASSIGN_OR_RETURN(const bool has_listed,
                              ListDevices(benchmark_flags.session));
  if (has_listed) return kSuccess;
  return RunSession(benchmark_flags, library);
}

}  // namespace
}  // namespace takt::tools

int main(int argc, char** argv) {
  return takt::tools::RunTool(takt::tools::Info(),
                              [&](takt::tools::Flags* flags) {
                                return takt::tools::Run(argc, argv, flags);
                              });
}
