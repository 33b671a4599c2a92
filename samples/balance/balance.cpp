// A robot that falls if its policy is late. A double inverted pendulum on a
// cart, or a robot on two wheels, simulated in real time, is balanced by a
// policy every 5 ms and an estimator every 2 ms, while a detector looks for a
// ball in the pictures of a camera, back to back. The robot follows the ball.
//
//   balance WAY DIRECTORY [SECONDS [SEED [OUTPUT.json]]]
//
// WAY is first-come, threads, threads-fifo or takt (networks.h). DIRECTORY
// holds the three compiled networks: models/ or two_wheeled/models/; the
// robot's model, robot.xml, lies beside it. The robot is pushed twice a second.
// If it falls, it lies for a second and is then set up again.
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <thread>

#include "camera.h"
#include "networks.h"
#include "robot.h"

namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kPicturePeriodNs = 33 * kMs;

void SleepUntil(int64_t time_ns) {
  const timespec time = {time_ns / 1'000'000'000, time_ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

// What the thread of the world and that of the camera exchange.
struct Shared {
  std::mutex mutex;
  Posture posture;
  std::atomic<bool> is_over = false;
  std::atomic<int64_t> picture_count = 0;
};

// Draws a picture 30 times a second and hands it to the detector.
void RunCamera(Camera& camera, const takt::Stream& detector, Shared& shared) {
  int64_t next_ns = takt_clock_now_ns();
  while (!shared.is_over) {
    Posture posture;
    {
      std::lock_guard lock(shared.mutex);
      posture = shared.posture;
    }
    const std::span<float> image = Take(detector.MapInput<float>(0));
    camera.Draw(posture, image.first<Camera::kFloats>());
    Check(detector.PublishInput());
    ++shared.picture_count;
    next_ns = std::max(next_ns + kPicturePeriodNs, takt_clock_now_ns());
    SleepUntil(next_ns);
  }
}

// One moment of the run, for the picture.
struct Moment {
  double time, angle, target;
  bool is_down;
  Posture posture;
};

// The loop of the world and of the robot's control, a millisecond each turn. It
// never waits for a network.
class Loop {
 public:
  Loop(Robot& robot, const Networks& networks, Shared& shared)
      : robot_(robot),
        networks_(networks),
        shared_(shared),
        forces_(size_t(robot.force_count())) {}

  void Run(int64_t start_ns, int64_t turn_count) {
    moments_.reserve(size_t(turn_count) / 10 + 1);
    for (int64_t i = 0; i < turn_count; ++i) {
      SleepUntil(start_ns + i * kMs);
      Turn();
      if (i % 10 == 0) Record();
    }
  }

  const std::vector<Moment>& moments() const { return moments_; }

 private:
  void Turn() {
    robot_.Step(forces_);
    if (std::unique_lock lock(shared_.mutex, std::try_to_lock); lock) {
      shared_.posture = robot_.posture();
    }
    if (robot_.has_reading()) {
      robot_.CopySensors(Take(networks_.estimator().MapInput<float>(0)).data());
      Check(networks_.estimator().PublishInput());
    }
    if (float seen; Read(networks_.detector(), {&seen, 1})) {
      if (std::isfinite(seen)) seen_ = std::clamp(double(seen), -0.3, 0.3);
    }
    target_ += 0.01 * (seen_ - target_);  // Over some 100 ms.
    if (Read(networks_.estimator(), state_)) Observe();
    Read(networks_.policy(), forces_);
  }

  // The policy's input: the state, with the distance to the target, and the
  // forces that act.
  void Observe() {
    const std::span<float> observation =
        Take(networks_.policy().MapInput<float>(0));
    std::ranges::copy(state_, observation.begin());
    observation[0] = std::clamp(state_[0] - float(target_), -0.1f, 0.1f);
    std::ranges::copy(forces_, observation.begin() + std::size(state_));
    Check(networks_.policy().PublishInput());
  }

  // The newest result of a stream; false if there is none that is new.
  bool Read(const takt::Stream& stream, std::span<float> to) {
    if (!stream.TakeOutput(result_)) return false;
    Check(result_[0].view().Read(to));
    result_[0] = takt::Value();
    return true;
  }

  void Record() {
    moments_.push_back({robot_.time(), robot_.angle(), target_,
                        robot_.is_down(), robot_.posture()});
  }

  Robot& robot_;
  const Networks& networks_;
  Shared& shared_;
  std::vector<takt::Value> result_{1};
  float state_[6] = {};
  std::vector<float> forces_;
  double seen_ = 0, target_ = 0;
  std::vector<Moment> moments_;
};

// Processor time in seconds: of this process, and of the machine while it was
// not idle.
struct ProcessorTime {
  double own = 0, machine = 0;

  static ProcessorTime Now() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    ProcessorTime time;
    for (const timeval& part : {usage.ru_utime, usage.ru_stime}) {
      time.own += double(part.tv_sec) + double(part.tv_usec) / 1e6;
    }
    std::FILE* file = std::fopen("/proc/stat", "r");
    if (file == nullptr) return time;
    long long t[8] = {};  // user nice system idle iowait irq softirq steal
    if (std::fscanf(file, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &t[0],
                    &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) == 8) {
      time.machine = double(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) /
                     double(sysconf(_SC_CLK_TCK));
    }
    std::fclose(file);
    return time;
  }
};

struct Result {
  std::string way;
  double seconds;
  unsigned seed;
  bool is_real_time;
  double foreign_cores;
  int64_t picture_count;
};

// Includes releases that were skipped because the timer ran too late.
uint64_t JobCount(const takt_stream_statistics_t& s) {
  return s.met_count + s.missed_count + s.dropped_count + s.failed_count +
         s.skipped_count;
}

void WriteStream(std::FILE* file, const char* name,
                 const takt_stream_statistics_t& s) {
  std::fprintf(file,
               "  \"%s\": {\"jobs\": %llu, \"late\": %llu, \"p50_ms\": %.3f, "
               "\"p99_ms\": %.3f, \"max_ms\": %.3f},\n",
               name, static_cast<unsigned long long>(JobCount(s)),
               static_cast<unsigned long long>(JobCount(s) - s.met_count),
               double(s.response.q50) / 1e6, double(s.response.q99) / 1e6,
               double(s.response.max) / 1e6);
}

bool WriteJson(const char* path, const Result& result, const Robot& robot,
               int joint_count, const Networks& networks,
               const std::vector<Moment>& moments) {
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return false;
  std::fprintf(file,
               "{\n  \"way\": \"%s\", \"seconds\": %g, \"seed\": %u,\n"
               "  \"upright_s\": %.3f, \"falls\": %d, \"first_fall_s\": %.3f,\n"
               "  \"pictures\": %lld, \"world_is_real_time\": %s, "
               "\"foreign_cores\": %.2f,\n",
               result.way.c_str(), result.seconds, result.seed,
               robot.upright_seconds(), robot.fall_count(), robot.first_fall(),
               static_cast<long long>(result.picture_count),
               result.is_real_time ? "true" : "false", result.foreign_cores);
  WriteStream(file, "detector", networks.detector().statistics());
  WriteStream(file, "estimator", networks.estimator().statistics());
  WriteStream(file, "policy", networks.policy().statistics());
  std::fprintf(file,
               "  \"columns\": [\"time\", \"angle\", \"target\", \"ball\", "
               "\"down\", \"joints\"],\n  \"moments\": [");
  const char* separator = "";
  for (const Moment& m : moments) {
    std::fprintf(file, "%s\n    [%.2f, %.4f, %.4f, %.4f, %d", separator, m.time,
                 m.angle, m.target, m.posture.ball, m.is_down);
    for (int i = 0; i < joint_count; ++i) {
      std::fprintf(file, ", %.4f", m.posture.joints[size_t(i)]);
    }
    std::fprintf(file, "]");
    separator = ",";
  }
  std::fprintf(file, "\n  ]\n}\n");
  return std::fclose(file) == 0;
}

void Print(const Result& result, const Robot& robot, const Networks& networks) {
  std::printf("%s: upright %.1f of %.1f s, %d falls\n", result.way.c_str(),
              robot.upright_seconds(), result.seconds, robot.fall_count());
  const auto print = [](const char* name, const takt_stream_statistics_t& s) {
    std::printf("  %-24s late %6llu of %6llu, slowest %7.1f ms\n", name,
                static_cast<unsigned long long>(JobCount(s) - s.met_count),
                static_cast<unsigned long long>(JobCount(s)),
                double(s.response.max) / 1e6);
  };
  print("estimator, every 2 ms", networks.estimator().statistics());
  print("policy, every 5 ms", networks.policy().statistics());
  std::printf(
      "  detector %.1f pictures/s\n",
      double(JobCount(networks.detector().statistics())) / result.seconds);
}

// A simulated world must not be late: its thread goes before all others.
bool BecomeRealTime() {
  sched_param parameters{};
  parameters.sched_priority = 80;
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0) {
    return true;
  }
  takt_thread_request_low_latency();
  return false;
}

bool ParseWay(const std::string& name, Way& way) {
  const std::pair<const char*, Way> ways[] = {
      {"first-come", Way::kFirstCome},
      {"threads", Way::kThreads},
      {"threads-fifo", Way::kFifoThreads},
      {"takt", Way::kTakt},
  };
  for (const auto& [each, value] : ways) {
    if (name == each) {
      way = value;
      return true;
    }
  }
  return false;
}

// The robot's model lies beside the folder of the networks, or in it.
ModelPtr LoadModel(const std::string& directory) {
  char error[500] = "";
  for (const char* place : {"/robot.xml", "/../robot.xml"}) {
    const std::string path = directory + place;
    if (access(path.c_str(), R_OK) != 0) continue;
    ModelPtr model(mj_loadXML(path.c_str(), nullptr, error, sizeof(error)));
    if (model != nullptr) return model;
  }
  std::fprintf(stderr, "balance: %s/../robot.xml: %s\n", directory.c_str(),
               *error != '\0' ? error : "not found");
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  Way way;
  const double seconds = argc > 3 ? std::atof(argv[3]) : 10;
  if (argc < 3 || !ParseWay(argv[1], way) || !(seconds > 0 && seconds <= 600)) {
    std::fprintf(
        stderr,
        "usage: balance first-come|threads|threads-fifo|takt DIRECTORY "
        "[SECONDS [SEED [OUTPUT.json]]], up to 600 s\n");
    return 1;
  }
  const std::string directory = argv[2];
  Result result{.way = argv[1], .seconds = seconds};
  result.seed = argc > 4 ? unsigned(std::atoi(argv[4])) : 1;

  const ModelPtr model = LoadModel(directory);
  Networks networks(way, directory);
  std::unique_ptr<Body> body = MakeBody(*model);
  if (body == nullptr) {
    std::fprintf(stderr, "balance: %s: no robot that this program knows\n",
                 model->names);
    return 1;
  }
  Robot robot(model.get(), std::move(body), result.seed);
  if (!networks.Fit(robot.sensor_count(), robot.force_count())) {
    std::fprintf(stderr, "balance: %s: the networks are for another robot\n",
                 directory.c_str());
    return 1;
  }
  Shared shared;
  std::atomic<bool> has_camera = false, has_no_camera = false;
  std::thread camera_thread([&] {
    const auto camera = Camera::Create(model.get());
    if (camera == nullptr) {
      has_no_camera = true;
      return;
    }
    has_camera = true;
    RunCamera(*camera, networks.detector(), shared);
  });
  while (!has_camera && !has_no_camera) usleep(1000);
  if (has_no_camera) {
    std::fprintf(stderr, "balance: OSMesa gives no context\n");
    camera_thread.join();
    return 1;
  }

  const ProcessorTime before = ProcessorTime::Now();
  const int64_t start_ns = takt_clock_now_ns() + 200 * kMs;
  networks.Start(start_ns);
  Loop loop(robot, networks, shared);
  std::thread world([&] {
    result.is_real_time = BecomeRealTime();
    loop.Run(start_ns, int64_t(seconds * 1000));
  });
  world.join();
  networks.Stop();
  shared.is_over = true;
  camera_thread.join();
  const ProcessorTime after = ProcessorTime::Now();
  result.foreign_cores = std::max(
      0.0,
      (after.machine - before.machine - (after.own - before.own)) / seconds);
  result.picture_count = shared.picture_count;

  Print(result, robot, networks);
  if (argc > 5 &&
      !WriteJson(argv[5], result, robot, model->nq, networks, loop.moments())) {
    std::fprintf(stderr, "balance: %s cannot be written\n", argv[5]);
    return 1;
  }
  return 0;
}
