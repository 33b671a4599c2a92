// takt-benchmark-module: measures functions of a compiled module with Google
// Benchmark; rows are named as those of iree-benchmark-module. What is
// measured is one C call and the release of its results.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/common/flags.h"
#include "tools/common/input.h"
#include "tools/common/main.h"
#include "tools/common/number.h"
#include "tools/common/session.h"

namespace takt::tools {
namespace {

constexpr char kUsage[] =
    "Measures a function of a compiled module.\n\n"
    "  takt-benchmark-module --module=model.vmfb --function=main \\\n"
    "      --input=2x3xf32=1 --benchmark_min_time=0.5s\n\n"
    "The flags of Google Benchmark (--benchmark_*) go with these, and\n"
    "--benchmark_min_time takes seconds (0.5s) or iterations (100x).\n"
    "Exit code: 0; 1 if something fails.";

struct BenchmarkFlags {
  SessionFlags session;
  std::string function;
  std::vector<std::string> inputs;
  int64_t batch_size = 1;
  int64_t batch_concurrency = 1;
  std::string time_unit = "ms";

  void AddTo(Flags* flags) {
    session.AddTo(flags);
    flags->AddText("function", &function,
                   "The exported function to measure. Default: all without "
                   "arguments.");
    flags->AddTexts("input", &inputs,
                    "An argument, as takt-run-module --help tells.");
    flags->AddNumber("batch_size", 1, int64_t{1} << 30, &batch_size,
                     "Invocations an iteration.");
    flags->AddNumber("batch_concurrency", 1, 1, &batch_concurrency,
                     "Invocations of a batch at a time; only 1 so far.");
    flags->AddChoice("time_unit", {"ms", "us", "ns"}, &time_unit,
                     "The unit that rows are printed in.");
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
};

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
      const takt_status_t status = takt_function_invoke(
          function, nullptr, argument_count, arguments, result_count, results);
      takt_values_release(result_count, results);
      if (status != nullptr) {
        const std::string text = Status(status).ToString();
        std::fprintf(stderr, "takt-benchmark-module: %s: %s\n",
                     subject->name.c_str(), text.c_str());
        state.SkipWithError(text.c_str());
        *has_failed = true;
        return;
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
    subject->results.resize(signature.result_count());
    for (Input& input : *inputs) {
      subject->arguments.push_back(std::move(input.value));
    }
    subjects_.push_back(std::move(subject));
    return Status();
  }

  void Register(const BenchmarkFlags& flags, int64_t iterations) {
    for (const std::unique_ptr<Subject>& subject : subjects_) {
      auto* row = benchmark::RegisterBenchmark(("BM_" + subject->name).c_str(),
                                               Measure, subject.get(),
                                               flags.batch_size, &has_failed_);
      row->MeasureProcessCPUTime()->UseRealTime()->Unit(flags.unit());
      if (iterations > 0) row->Iterations(iterations);
    }
  }

  bool has_failed() const { return has_failed_; }

 private:
  std::vector<std::unique_ptr<Subject>> subjects_;
  bool has_failed_ = false;
};

// The usual reporter, without "iterations:3" in the names of rows: newer
// libraries than the packaged one, and so the peer, leave it out.
class Reporter : public benchmark::BenchmarkReporter {
 public:
  explicit Reporter(benchmark::BenchmarkReporter* reporter)
      : reporter_(reporter) {
    reporter_->SetOutputStream(&GetOutputStream());
    reporter_->SetErrorStream(&GetErrorStream());
  }

  bool ReportContext(const Context& context) override {
    reporter_->SetOutputStream(&GetOutputStream());
    reporter_->SetErrorStream(&GetErrorStream());
    return reporter_->ReportContext(context);
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> renamed = runs;
    for (Run& run : renamed) run.run_name.iterations.clear();
    reporter_->ReportRuns(renamed);
  }
  void Finalize() override { reporter_->Finalize(); }

 private:
  std::unique_ptr<benchmark::BenchmarkReporter> reporter_;
};

// The packaged library knows --benchmark_min_time as a bare number of seconds.
// Turns "0.5s" into that; takes "100x" out and returns it.
Result<int64_t> TakeMinTime(std::vector<std::string>* arguments) {
  constexpr std::string_view kMinTime = "--benchmark_min_time=";
  int64_t iterations = 0;
  std::vector<std::string> kept;
  for (std::string& argument : *arguments) {
    if (argument.starts_with(kMinTime) && argument.ends_with('x')) {
      const std::string text = argument.substr(kMinTime.size());
      const Result<int64_t> number =
          ParseInteger(std::string_view(text).substr(0, text.size() - 1));
      if (!number.ok() || *number < 1) {
        return InvalidArgument(argument +
                               ": expected seconds (0.5s) or "
                               "iterations (100x)");
      }
      iterations = *number;
      continue;
    }
    if (argument.starts_with(kMinTime) && argument.ends_with('s')) {
      argument.pop_back();
    }
    kept.push_back(std::move(argument));
  }
  *arguments = std::move(kept);
  return iterations;
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

Status AddSubjects(const BenchmarkFlags& flags, const Session& session,
                   const Context& context, Suite* suite) {
  if (!flags.function.empty()) {
    return suite->Add(flags, session, context, flags.function);
  }
  const Module& module = session.main_module();
  for (size_t i = 0; i < module.export_count(); ++i) {
    const std::string name(module.export_name(i));
    TAKT_TOOLS_ASSIGN_OR_RETURN(const Signature signature,
                                module.export_signature(i));
    if (!IsCallable(name) || signature.argument_count() != 0) continue;
    TAKT_TOOLS_RETURN_IF_ERROR(suite->Add(flags, session, context, name));
  }
  return Status();
}

Result<int> RunSession(const BenchmarkFlags& flags, int64_t iterations) {
  TAKT_TOOLS_ASSIGN_OR_RETURN(const Session session,
                              Session::Open(flags.session));
  const std::string& file = flags.session.modules.back();
  const Result<Context> context = session.CreateContext();
  if (!context.ok()) return Annotate(context.status(), file);
  Suite suite;
  Status status = AddSubjects(flags, session, *context, &suite);
  if (!status.ok()) return Annotate(status, file);
  suite.Register(flags, iterations);
  Reporter reporter(benchmark::CreateDefaultDisplayReporter());
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  TAKT_TOOLS_RETURN_IF_ERROR(session.End(flags.session));
  return suite.has_failed() ? kFailure : kSuccess;
}

Result<int> Run(int argc, char** argv) {
  BenchmarkFlags benchmark_flags;
  Flags flags(kUsage);
  benchmark_flags.AddTo(&flags);
  TAKT_TOOLS_ASSIGN_OR_RETURN(std::vector<std::string> arguments,
                              ExpandArguments(argc, argv));
  for (const std::string& argument : arguments) {
    if (argument != "--help") continue;  // Google Benchmark would take it.
    std::fputs(flags.HelpText().c_str(), stdout);
    return kSuccess;
  }
  TAKT_TOOLS_ASSIGN_OR_RETURN(const int64_t iterations,
                              TakeMinTime(&arguments));
  TakeBenchmarkFlags(&arguments);
  TAKT_TOOLS_RETURN_IF_ERROR(flags.Parse(arguments));
  TAKT_TOOLS_RETURN_IF_ERROR(flags.RefusePositional());
  return RunSession(benchmark_flags, iterations);
}

}  // namespace
}  // namespace takt::tools

int main(int argc, char** argv) {
  return takt::tools::RunTool("takt-benchmark-module",
                              [&] { return takt::tools::Run(argc, argv); });
}
