// A robot's control loop beside its networks. A 1 kHz loop reads sensors and
// drives motors. An estimator runs every 2 ms, the policy after it, and a
// detector in the remaining time. A watchdog stops the motors if the policy
// gives no more actions. The loop exchanges inputs and outputs through slots:
// it never waits for the runtime, takes no lock and allocates nothing.
//
//   robot_control DIRECTORY [SECONDS]
//   robot_control --bare [SECONDS]
//
// DIRECTORY holds perception.cpu.vmfb, estimator.cpu.vmfb and policy.cpu.vmfb
// (tests/testdata/workload). With the right to use SCHED_FIFO the loop runs at
// priority 80, the timer that releases jobs at 70 and the workers at 50. The
// detector's jobs still run on ordinary threads, because they are best effort.
// The first CPU is for the loop and the system; the workers have the others.
// --bare runs the loop alone, without Takt, to measure how late the machine
// itself makes it.
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <takt/takt.hpp>
#include <vector>

namespace {

constexpr int64_t kLoopPeriodNs = 1'000'000;
constexpr int64_t kEstimatorPeriodNs = 2'000'000;
constexpr int64_t kWatchdogNs = 20'000'000;  // Without a new action.

void Check(const takt::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

template <typename T>
T Take(takt::Result<T> result) {
  Check(result.status());
  return std::move(result).value();
}

bool BecomeRealTime(int priority) {
  sched_param parameters{};
  parameters.sched_priority = priority;
  return pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0;
}

// The CPUs that this process may use, as a list such as "0,1".
std::vector<int> AllowedCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

void KeepTo(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

// Sets up the thread of the loop, with Takt and with --bare. Returns false if
// it has no real-time priority.
bool PrepareLoop(const std::vector<int>& cpus) {
  if (cpus.size() > 1) KeepTo(cpus[0]);
  if (BecomeRealTime(80)) return true;
  takt_thread_request_low_latency();
  return false;
}

// A body that the actions move, so that the sensors have something to measure.
struct Plant {
  float position[12] = {};
  float velocity[12] = {};

  void Step(const float (&action)[12]) {
    for (int i = 0; i < 12; ++i) {
      velocity[i] += 0.001f * (std::tanh(action[i]) - position[i]);
      position[i] += 0.001f * velocity[i];
    }
  }
};

// How late each turn of the loop began, and how old its action was.
struct LoopRecord {
  std::vector<int64_t> release_error_ns;
  int64_t watchdog_count = 0;
  int64_t action_count = 0;
  int64_t overrun_count = 0;
};

// One turn: sensors in, action out. Returns the time of the last action.
int64_t Turn(const takt::Stream& estimator, const takt::Stream& policy,
             Plant& plant, float (&action)[12], std::vector<takt::Value>& out,
             int64_t last_action_ns, LoopRecord& record) {
  const std::span<float> sensors = Take(estimator.MapInput<float>(0));
  std::copy_n(plant.position, 12, sensors.begin());
  std::copy_n(plant.velocity, 12, sensors.begin() + 12);
  Check(estimator.PublishInput());
  takt_stream_job_t job;
  if (policy.TakeOutput(out, &job)) {
    Check(out[0].view().Read(std::span<float>(action)));
    out[0] = takt::Value();
    last_action_ns = job.end_ns;
    ++record.action_count;
  } else if (takt_clock_now_ns() - last_action_ns > kWatchdogNs) {
    std::fill(std::begin(action), std::end(action), 0.0f);  // Motors off.
    ++record.watchdog_count;
  }
  plant.Step(action);
  return last_action_ns;
}

// Calls `turn` each period, with the record to fill.
LoopRecord RunLoop(int64_t start_ns, int64_t turn_count,
                   const std::function<void(LoopRecord&)>& turn) {
  LoopRecord record;
  record.release_error_ns.reserve(static_cast<size_t>(turn_count));
  for (int64_t i = 0; i < turn_count; ++i) {
    const int64_t due_ns = start_ns + i * kLoopPeriodNs;
    const timespec due = {due_ns / 1'000'000'000, due_ns % 1'000'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) !=
           0) {
    }
    const int64_t late_ns = takt_clock_now_ns() - due_ns;
    record.release_error_ns.push_back(late_ns);
    record.overrun_count += late_ns > kLoopPeriodNs;
    turn(record);
  }
  return record;
}

LoopRecord ControlLoop(const takt::Stream& estimator,
                       const takt::Stream& policy, int64_t start_ns,
                       int64_t turn_count) {
  Plant plant;
  float action[12] = {};
  std::vector<takt::Value> out(1);
  int64_t last_action_ns = start_ns;
  return RunLoop(start_ns, turn_count, [&](LoopRecord& record) {
    last_action_ns =
        Turn(estimator, policy, plant, action, out, last_action_ns, record);
  });
}

LoopRecord BareLoop(int64_t turn_count) {
  Plant plant;
  const float action[12] = {};
  return RunLoop(takt_clock_now_ns() + 10'000'000, turn_count,
                 [&](LoopRecord&) { plant.Step(action); });
}

void Print(const char* name, int64_t q50, int64_t q99, int64_t q999,
           int64_t max) {
  std::printf("  %-28s %9.1f %9.1f %9.1f %9.1f\n", name, q50 / 1e3, q99 / 1e3,
              q999 / 1e3, max / 1e3);
}

void Print(const char* name, const takt_quantiles_t& q) {
  Print(name, q.q50, q.q99, q.q999, q.max);
}

void PrintHistogram(const std::vector<int64_t>& values) {
  std::vector<int64_t> counts;
  for (const int64_t value : values) {
    size_t bucket = 0;
    while (value >= int64_t{1000} << bucket) ++bucket;
    if (counts.size() <= bucket) counts.resize(bucket + 1);
    ++counts[bucket];
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    std::printf("  below %6lld us %8lld\n", 1LL << i,
                static_cast<long long>(counts[i]));
  }
}

void PrintStream(const char* name, const takt::Stream& stream) {
  const takt_stream_statistics_t s = stream.statistics();
  std::printf(
      "%s: %llu released, %llu met, %llu missed, %llu dropped, %llu failed\n",
      name, static_cast<unsigned long long>(s.released_count),
      static_cast<unsigned long long>(s.met_count),
      static_cast<unsigned long long>(s.missed_count),
      static_cast<unsigned long long>(s.dropped_count),
      static_cast<unsigned long long>(s.failed_count));
  Print("response", s.response);
  if (s.release_error.count > 0) Print("release error", s.release_error);
  if (s.predicted_count == 0) return;
  std::printf("  %.2f %% of %llu jobs ended by their 99 %% prediction\n",
              100.0 * static_cast<double>(s.kept_count) /
                  static_cast<double>(s.predicted_count),
              static_cast<unsigned long long>(s.predicted_count));
  Print("predicted response", s.predicted_response);
}

void PrintLoop(const LoopRecord& record, bool is_real_time) {
  std::printf("loop: %zu turns%s, %lld actions, %lld overruns, watchdog %lld\n",
              record.release_error_ns.size(),
              is_real_time ? "" : " (SCHED_FIFO is not permitted)",
              static_cast<long long>(record.action_count),
              static_cast<long long>(record.overrun_count),
              static_cast<long long>(record.watchdog_count));
  std::printf("  %-28s %9s %9s %9s %9s\n", "us", "p50", "p99", "p99.9", "max");
  std::vector<int64_t> errors = record.release_error_ns;
  std::sort(errors.begin(), errors.end());
  const auto at = [&](size_t permille) {
    return errors.empty() ? 0 : errors[(errors.size() - 1) * permille / 1000];
  };
  Print("release error", at(500), at(990), at(999), at(1000));
}

takt::Function Load(const takt::Instance& instance, const takt::Device& device,
                    const std::string& path, const char* function) {
  auto module = Take(takt::Module::Load(instance, path));
  auto context = Take(takt::Context::Create(instance, {module}, {device}));
  return Take(context.FindFunction(function));
}

// An instance whose workers leave the first CPU to the loop.
takt::Instance CreateInstance(const std::vector<int>& cpus) {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_fifo_priority = 50;
  options.timer_fifo_priority = 70;
  std::string worker_cpus;
  for (size_t i = 1; i < cpus.size(); ++i) {
    worker_cpus += (i > 1 ? "," : "") + std::to_string(cpus[i]);
  }
  if (!worker_cpus.empty()) options.worker_cpus = worker_cpus.c_str();
  options.timer_spin_ns = 50'000;
  return Take(takt::Instance::Create(&options));
}

// Gives perception its picture, and allocates the memory of the estimator's
// first inputs before the loop starts.
void FillInputs(const takt::Stream& perception, const takt::Stream& estimator) {
  const std::span<float> image = Take(perception.MapInput<float>(0));
  for (size_t i = 0; i < image.size(); ++i) image[i] = float(i % 255) / 255;
  Check(perception.PublishInput());
  for (int i = 0; i < 3; ++i) {
    const std::span<float> sensors = Take(estimator.MapInput<float>(0));
    std::fill(sensors.begin(), sensors.end(), 0.0f);
    Check(estimator.PublishInput());
  }
}

int RunBare(const std::vector<int>& cpus, int64_t turn_count) {
  const bool is_real_time = PrepareLoop(cpus);
  const LoopRecord record = BareLoop(turn_count);
  PrintLoop(record, is_real_time);
  PrintHistogram(record.release_error_ns);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : ".";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 5;
  const auto turn_count = static_cast<int64_t>(seconds * 1e9 / kLoopPeriodNs);
  const std::vector<int> cpus = AllowedCpus();
  if (directory == "--bare") return RunBare(cpus, turn_count);
  auto instance = CreateInstance(cpus);
  auto device = Take(takt::Device::Create(instance, "local-task"));

  auto perception = Take(takt::Stream::Create(
      Load(instance, device, directory + "/perception.cpu.vmfb", "detect"),
      {.arrival = TAKT_STREAM_ARRIVAL_CLOSED,
       .criticality = TAKT_CRITICALITY_BEST_EFFORT}));
  auto estimator = Take(takt::Stream::Create(
      Load(instance, device, directory + "/estimator.cpu.vmfb", "update"),
      {.period_ns = kEstimatorPeriodNs,
       .deadline_ns = kEstimatorPeriodNs,
       .criticality = TAKT_CRITICALITY_HARD}));
  auto policy = Take(takt::Stream::Create(
      Load(instance, device, directory + "/policy.cpu.vmfb", "act"),
      {.arrival = TAKT_STREAM_ARRIVAL_AFTER,
       .deadline_ns = kEstimatorPeriodNs,
       .criticality = TAKT_CRITICALITY_HARD,
       .after = &estimator,
       .takes_results = true}));

  FillInputs(perception, estimator);
  // The timer's thread starts with the first stream and inherits the CPUs of
  // this thread, so the streams start before the loop is bound to its own CPU.
  const int64_t start_ns = takt_clock_now_ns() + 200'000'000;
  Check(policy.Start(start_ns));
  Check(estimator.Start(start_ns));
  Check(perception.Start(start_ns));
  const bool is_real_time = PrepareLoop(cpus);
  const LoopRecord record =
      ControlLoop(estimator, policy, start_ns, turn_count);
  for (const takt::Stream* stream : {&perception, &estimator, &policy}) {
    stream->Stop();
    Check(stream->WaitIdle());
  }

  PrintLoop(record, is_real_time);
  PrintStream("estimator", estimator);
  PrintStream("policy", policy);
  PrintStream("perception", perception);
  std::printf("release error of the loop:\n");
  PrintHistogram(record.release_error_ns);
  return 0;
}
