// A camera that follows a red disk: the detector on an NPU, the policy on the
// cores, both as streams. A loop of 200 Hz moves the disk and the camera, draws
// what the camera sees for the detector, which runs 30 times a second, and
// turns the camera as the policy says, which runs 100 times a second. The loop
// never waits for the runtime. If the detector is late or its NPU fails, the
// policy goes on with what was seen last.
//
//   tracker DRIVER.so[,OPTIONS] MODELS [SECONDS]
//
// for example
//
//   tracker libtakt_npu_openvino.so,device=NPU samples/npu/tracker/models 5
//
// The detector's module prepares the image on the cores; its network is an ONNX
// model in a program of the driver "openvino" (drivers/openvino), so one
// inference is one operation of the NPU's lease. make_models.py makes both
// modules.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <takt/npu.hpp>
#include <takt/takt.hpp>
#include <vector>

namespace {

constexpr int kSize = 96;       // Of the image, in pixels.
constexpr float kRadius = 6;    // Of the disk.
constexpr float kView = 1.0f;   // Radians from the middle of a picture.
constexpr float kSeen = 0.05f;  // The score of a disk in the picture.
constexpr int64_t kTurnNs = 5'000'000;
constexpr int64_t kDetectorPeriodNs = 33'333'333;
constexpr int64_t kPolicyPeriodNs = 10'000'000;

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

struct Direction {
  float pan = 0;
  float tilt = 0;
};

// Where the disk is, in radians.
Direction Disk(double seconds) {
  return {static_cast<float>(0.6 * std::sin(1.3 * seconds)),
          static_cast<float>(0.4 * std::sin(0.9 * seconds + 1))};
}

// Draws the disk as the camera sees it, before a grey background with noise.
void Draw(Direction disk, Direction camera, uint32_t& noise,
          std::span<int8_t> pixels) {
  const float half = kSize / 2.0f;
  const float x0 = half + (disk.pan - camera.pan) / kView * half;
  const float y0 = half + (disk.tilt - camera.tilt) / kView * half;
  for (int y = 0; y < kSize; ++y) {
    for (int x = 0; x < kSize; ++x) {
      noise = noise * 1664525u + 1013904223u;
      const float dx = static_cast<float>(x) + 0.5f - x0;
      const float dy = static_cast<float>(y) + 0.5f - y0;
      const auto grey = static_cast<uint8_t>(80 + (noise >> 27));
      const bool is_disk = dx * dx + dy * dy < kRadius * kRadius;
      int8_t* const pixel = &pixels[static_cast<size_t>(y * kSize + x) * 3];
      pixel[0] = static_cast<int8_t>(is_disk ? uint8_t{230} : grey);
      pixel[1] = static_cast<int8_t>(is_disk ? uint8_t{30} : grey);
      pixel[2] = pixel[1];
    }
  }
}

takt::Function Load(const takt::Instance& instance,
                    const std::vector<takt::Device>& devices,
                    const std::string& path, const char* function) {
  auto module = Take(takt::Module::Load(instance, path));
  auto context = Take(takt::Context::Create(instance, {module}, devices));
  return Take(context.FindFunction(function));
}

// What the loop has of the two streams and of the world.
struct Tracker {
  takt::Stream detector;
  takt::Stream policy;
  Direction camera;
  float target[3] = {};  // Place in the picture, and score.
  float speed[2] = {};   // Radians a second.
  uint32_t noise = 1;
  std::vector<takt::Value> out = std::vector<takt::Value>(1);
  std::vector<float> errors;  // Of the camera's direction, in radians.
  int64_t seen_count = 0;
  int64_t action_count = 0;

  void ShowImage(Direction disk) {
    Draw(disk, camera, noise, Take(detector.MapInput<int8_t>(0)));
    Check(detector.PublishInput());
  }
  void ShowObservation() {
    const std::span<float> observation = Take(policy.MapInput<float>(0));
    const bool is_seen = target[2] > kSeen;
    observation[0] = is_seen ? target[0] : 0;
    observation[1] = is_seen ? target[1] : 0;
    observation[2] = target[2];
    observation[3] = 0;
    Check(policy.PublishInput());
  }
  // One turn of the loop.
  void Turn(double seconds) {
    const Direction disk = Disk(seconds);
    camera.pan += speed[0] * (kTurnNs * 1e-9f);
    camera.tilt += speed[1] * (kTurnNs * 1e-9f);
    errors.push_back(
        std::hypot(disk.pan - camera.pan, disk.tilt - camera.tilt));
    ShowImage(disk);
    if (detector.TakeOutput(out)) {
      Check(out[0].view().Read(std::span<float>(target)));
      seen_count += target[2] > kSeen;
    }
    ShowObservation();
    if (policy.TakeOutput(out)) {
      Check(out[0].view().Read(std::span<float>(speed)));
      ++action_count;
    }
  }
};

void RunLoop(int64_t start_ns, double seconds, Tracker& tracker) {
  const auto turn_count = static_cast<int64_t>(seconds * 1e9 / kTurnNs);
  for (int64_t i = 0; i < turn_count; ++i) {
    const int64_t due_ns = start_ns + i * kTurnNs;
    const timespec due = {due_ns / 1'000'000'000, due_ns % 1'000'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) !=
           0) {
    }
    tracker.Turn(static_cast<double>(i * kTurnNs) * 1e-9);
  }
}

void PrintStream(const char* name, const takt::Stream& stream) {
  const takt_stream_statistics_t s = stream.statistics();
  std::printf(
      "%-8s  %llu released, %llu met, %llu missed, %llu dropped, %llu failed; "
      "response p50 %.2f ms, p99 %.2f ms\n",
      name, static_cast<unsigned long long>(s.released_count),
      static_cast<unsigned long long>(s.met_count),
      static_cast<unsigned long long>(s.missed_count),
      static_cast<unsigned long long>(s.dropped_count),
      static_cast<unsigned long long>(s.failed_count),
      static_cast<double>(s.response.q50) * 1e-6,
      static_cast<double>(s.response.q99) * 1e-6);
}

void PrintNpu(const takt::Device& device) {
  const auto s = takt::Npu::Statistics(device);
  const auto telemetry = takt::Npu::Telemetry(device);
  if (!s || !telemetry) return;
  std::printf(
      "%-8s  %llu operations, %.2f ms each; %llu failed, %llu late, "
      "%llu resets, %llu quarantines",
      "npu", static_cast<unsigned long long>(s->operation_count),
      static_cast<double>(s->busy_ns) * 1e-6 /
          static_cast<double>(std::max<uint64_t>(s->batch_count, 1)),
      static_cast<unsigned long long>(s->failed_count),
      static_cast<unsigned long long>(s->time_out_count),
      static_cast<unsigned long long>(s->reset_count),
      static_cast<unsigned long long>(s->quarantine_count));
  if (telemetry->temperature_millicelsius != INT64_MIN) {
    std::printf(", %.1f C",
                static_cast<double>(telemetry->temperature_millicelsius) / 1e3);
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: tracker DRIVER.so[,OPTIONS] MODELS [SECONDS]\n");
    return 2;
  }
  const std::string driver = argv[1];
  const std::string models = argv[2];
  const double seconds = argc > 3 ? std::atof(argv[3]) : 5;
  const size_t comma = std::min(driver.find(','), driver.size());
  const std::string driver_options =
      comma < driver.size() ? driver.substr(comma + 1) : "";

  auto instance = Take(takt::Instance::Create());
  auto cpu = Take(takt::Device::Create(instance, "local-task"));
  takt::NpuOptions options;
  options->driver_options = driver_options.c_str();
  options->time_limit_ns = 3 * kDetectorPeriodNs;  // Then it is cancelled.
  auto npu = Take(takt::Npu::Load(instance, driver.substr(0, comma), options));
  std::printf("%-8s  %s: %s\n", "device", std::string(npu.name()).c_str(),
              takt::Npu::Capabilities(npu)->name);

  Tracker tracker;
  tracker.detector = Take(takt::Stream::Create(
      Load(instance, {cpu, npu}, models + "/detector.vmfb", "detect"),
      {.period_ns = kDetectorPeriodNs,
       .deadline_ns = kDetectorPeriodNs,
       .late = TAKT_STREAM_LATE_LATEST_ONLY}));
  tracker.policy = Take(takt::Stream::Create(
      Load(instance, {cpu}, models + "/policy.vmfb", "act"),
      {.period_ns = kPolicyPeriodNs,
       .deadline_ns = kPolicyPeriodNs,
       .criticality = TAKT_CRITICALITY_HARD}));
  tracker.ShowImage(Disk(0));
  tracker.ShowObservation();
  const int64_t start_ns = takt_clock_now_ns() + 50'000'000;
  Check(tracker.detector.Start(start_ns));
  Check(tracker.policy.Start(start_ns));
  RunLoop(start_ns, seconds, tracker);
  for (const takt::Stream* stream : {&tracker.detector, &tracker.policy}) {
    stream->Stop();
    Check(stream->WaitIdle());
  }

  PrintStream("detector", tracker.detector);
  PrintStream("policy", tracker.policy);
  PrintNpu(npu);
  // The second half: the camera has found the disk.
  std::vector<float> errors(
      tracker.errors.begin() +
          static_cast<std::ptrdiff_t>(tracker.errors.size() / 2),
      tracker.errors.end());
  std::sort(errors.begin(), errors.end());
  std::printf("%-8s  %lld detections, %lld actions", "tracker",
              static_cast<long long>(tracker.seen_count),
              static_cast<long long>(tracker.action_count));
  if (!errors.empty()) {
    std::printf("; the disk is %.3f rad from the middle (median), %.3f (max)",
                static_cast<double>(errors[errors.size() / 2]),
                static_cast<double>(errors.back()));
  }
  std::printf("\n");
  return 0;
}
