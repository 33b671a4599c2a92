// Shows the effect of priorities and deadlines. A policy every 5 ms and an
// estimator every 2 ms share the machine with a perception network that runs
// back to back. The same streams run twice: first come, first served, and then
// with Takt's job-shop scheduler. The program compares the missed deadlines.
//
//   contention DIRECTORY [SECONDS [PAGES]]
//
// DIRECTORY holds perception.cpu.vmfb, estimator.cpu.vmfb and policy.cpu.vmfb
// (tests/testdata/workload). Each run takes SECONDS (default: 5). With PAGES
// the runs are traced into PAGES/first_come.html and PAGES/takt.html.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <takt/takt.hpp>
#include <thread>

namespace {

constexpr int64_t kMs = 1'000'000;

void Check(const takt::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "contention: %s\n", status.ToString().c_str());
  std::exit(1);
}

template <typename T>
T Take(takt::Result<T> result) {
  Check(result.status());
  return std::move(result).value();
}

// Processor time in seconds: of this process, and of the whole machine while it
// was not idle.
struct ProcessorTime {
  double own = 0;
  std::optional<double> machine;

  static ProcessorTime Now() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    ProcessorTime time;
    for (const timeval& part : {usage.ru_utime, usage.ru_stime}) {
      time.own += double(part.tv_sec) + double(part.tv_usec) / 1e6;
    }
    std::FILE* file = std::fopen("/proc/stat", "r");
    if (file == nullptr) return time;
    // user, nice, system, idle, iowait, irq, softirq, steal; in clock ticks.
    long long t[8];
    if (std::fscanf(file, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &t[0],
                    &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) == 8) {
      time.machine = double(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) /
                     double(sysconf(_SC_CLK_TCK));
    }
    std::fclose(file);
    return time;
  }
};

struct Outcome {
  takt_stream_statistics_t perception, estimator, policy;
  // Cores that other processes used meanwhile; 0 if unknown.
  double foreign_cores = 0;
};

// A stream of a module's function, with an input of ones.
takt::Stream MakeStream(const takt::Instance& instance,
                        const takt::Device& device, const std::string& path,
                        const char* function,
                        const takt::StreamOptions& options) {
  auto module = Take(takt::Module::Load(instance, path));
  auto context = Take(takt::Context::Create(instance, {module}, {device}));
  auto stream =
      Take(takt::Stream::Create(Take(context.FindFunction(function)), options));
  std::ranges::fill(Take(stream.MapInput<float>(0)), 1.0f);
  Check(stream.PublishInput());
  return stream;
}

Outcome Run(const std::string& directory, double seconds, bool with_takt,
            const std::string& page) {
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = with_takt ? "job-shop" : "off";
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.scheduler = &scheduler;
  auto instance = Take(takt::Instance::Create(&options));
  auto device = Take(takt::Device::Create(instance, "local-task"));

  // First come, first served: all are of the same class.
  const auto control =
      with_takt ? TAKT_CRITICALITY_HARD : TAKT_CRITICALITY_SOFT;
  const auto background =
      with_takt ? TAKT_CRITICALITY_BEST_EFFORT : TAKT_CRITICALITY_SOFT;
  auto perception = MakeStream(
      instance, device, directory + "/perception.cpu.vmfb", "detect",
      {.arrival = TAKT_STREAM_ARRIVAL_CLOSED, .criticality = background});
  auto estimator = MakeStream(
      instance, device, directory + "/estimator.cpu.vmfb", "update",
      {.period_ns = 2 * kMs, .deadline_ns = 2 * kMs, .criticality = control});
  auto policy = MakeStream(
      instance, device, directory + "/policy.cpu.vmfb", "act",
      {.period_ns = 5 * kMs, .deadline_ns = 5 * kMs, .criticality = control});

  if (!page.empty()) {
    Check(takt::StartTracing(instance, {.event_count_max = 1 << 18}));
  }
  const ProcessorTime before = ProcessorTime::Now();
  const int64_t start_ns = takt_clock_now_ns() + 50 * kMs;
  for (const takt::Stream* stream : {&perception, &estimator, &policy}) {
    Check(stream->Start(start_ns));
  }
  usleep(useconds_t(seconds * 1e6));
  for (const takt::Stream* stream : {&perception, &estimator, &policy}) {
    stream->Stop();
  }
  for (const takt::Stream* stream : {&perception, &estimator, &policy}) {
    Check(stream->WaitIdle());
  }
  const ProcessorTime after = ProcessorTime::Now();
  if (!page.empty()) {
    Check(Take(takt::CollectTrace(instance))
              .WriteFile(page, TAKT_TRACE_FORMAT_HTML));
  }

  Outcome outcome{perception.statistics(), estimator.statistics(),
                  policy.statistics()};
  if (before.machine && after.machine) {
    outcome.foreign_cores = std::max(
        0.0, (*after.machine - *before.machine - (after.own - before.own)) /
                 seconds);
  }
  return outcome;
}

// Includes jobs that were not released, because the timer ran too late.
uint64_t JobCount(const takt_stream_statistics_t& s) {
  return s.met_count + s.missed_count + s.dropped_count + s.failed_count +
         s.skipped_count;
}

uint64_t LateCount(const takt_stream_statistics_t& s) {
  return JobCount(s) - s.met_count;
}

// The share of the control jobs that were late, 0 to 1.
double LateShare(const Outcome& outcome) {
  const uint64_t jobs = JobCount(outcome.estimator) + JobCount(outcome.policy);
  const uint64_t late =
      LateCount(outcome.estimator) + LateCount(outcome.policy);
  return jobs == 0 ? 0 : double(late) / double(jobs);
}

void PrintRow(const char* name, const takt_stream_statistics_t& first_come,
              const takt_stream_statistics_t& with_takt) {
  std::printf("%-22s", name);
  for (const auto* s : {&first_come, &with_takt}) {
    std::printf(" | %6llu of %5llu %9.1f ms",
                static_cast<unsigned long long>(LateCount(*s)),
                static_cast<unsigned long long>(JobCount(*s)),
                double(s->response.max) / 1e6);
  }
  std::printf("\n");
}

void PrintTable(const Outcome& first_come, const Outcome& with_takt,
                double seconds) {
  std::printf("%-22s | %-28s | %s\n", "", "first come, first served",
              "with Takt");
  std::printf("%-22s | %15s %12s | %15s %12s\n", "control job", "late",
              "slowest", "late", "slowest");
  PrintRow("estimator, every 2 ms", first_come.estimator, with_takt.estimator);
  PrintRow("policy, every 5 ms", first_come.policy, with_takt.policy);
  std::printf("%-22s", "perception");
  for (const Outcome* outcome : {&first_come, &with_takt}) {
    std::printf(" | %19.1f images/s",
                double(JobCount(outcome->perception)) / seconds);
  }
  std::printf("\n");
}

// The result of both runs in a sentence, and warnings if they are not valid.
void PrintVerdict(const Outcome& first_come, const Outcome& with_takt) {
  const double before = LateShare(first_come), after = LateShare(with_takt);
  const double foreign =
      std::max(first_come.foreign_cores, with_takt.foreign_cores);
  const unsigned cores = std::thread::hardware_concurrency();
  const bool is_busy = foreign > 0.1 * cores;
  if (before > 2 * after && before - after > 0.01) {
    std::printf(
        "Late control jobs: %.1f %% first come, first served, %.1f %% "
        "with Takt.\n",
        100 * before, 100 * after);
  } else if (is_busy) {
    std::printf("This machine is too busy to tell.\n");
  } else {
    std::printf(
        "No difference: here are cores to spare. \"taskset -c 0,1\" "
        "leaves two.\n");
  }
  if (is_busy) {
    std::printf(
        "Other processes used %.1f of %u cores: both are worse than on an "
        "idle machine.\n",
        foreign, cores);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : ".";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 5;
  const std::string pages = argc > 3 ? argv[3] : "";
  if (!(seconds > 0 && seconds <= 600)) {
    std::fprintf(
        stderr, "usage: contention DIRECTORY [SECONDS [PAGES]], up to 600 s\n");
    return 1;
  }
  const std::string first_page =
      pages.empty() ? "" : pages + "/first_come.html";
  const std::string takt_page = pages.empty() ? "" : pages + "/takt.html";
  const Outcome first_come = Run(directory, seconds, false, first_page);
  const Outcome with_takt = Run(directory, seconds, true, takt_page);

  PrintTable(first_come, with_takt, seconds);
  PrintVerdict(first_come, with_takt);
  if (!pages.empty()) {
    std::printf("What ran when, to open in a browser:\n  %s\n  %s\n",
                takt_page.c_str(), first_page.c_str());
  }
  return 0;
}
