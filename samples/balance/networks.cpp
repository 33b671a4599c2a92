#include "networks.h"

#include <algorithm>

namespace {

constexpr int64_t kMs = 1'000'000;

takt::Instance MakeInstance(const char* policy, bool is_real_time) {
  takt_scheduler_options_t scheduler;
  takt_scheduler_options_init(&scheduler);
  scheduler.policy = policy;
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.scheduler = &scheduler;
  if (is_real_time) {
    options.worker_fifo_priority = 50;
    options.timer_fifo_priority = 70;
    options.timer_spin_ns = 50'000;
  }
  return Take(takt::Instance::Create(&options));
}

takt::Stream MakeStream(const takt::Instance& instance, const std::string& path,
                        const char* function,
                        const takt::StreamOptions& options) {
  auto device = Take(takt::Device::Create(instance, "local-task"));
  auto module = Take(takt::Module::Load(instance, path));
  auto context = Take(takt::Context::Create(instance, {module}, {device}));
  auto stream =
      Take(takt::Stream::Create(Take(context.FindFunction(function)), options));
  // The first three inputs allocate; so the robot's loop does not.
  for (int i = 0; i < 3; ++i) {
    std::ranges::fill(Take(stream.MapInput<float>(0)), 0.0f);
    Check(stream.PublishInput());
  }
  return stream;
}

}  // namespace

Networks::Networks(Way way, const std::string& directory) {
  const bool is_takt = way == Way::kTakt;
  const bool is_apart = way == Way::kThreads || way == Way::kFifoThreads;
  for (int i = 0; i < (is_apart ? 3 : 1); ++i) {
    instances_.push_back(
        MakeInstance(is_takt ? "job-shop" : "off",
                     is_takt || (way == Way::kFifoThreads && i > 0)));
  }
  const auto control = is_takt ? TAKT_CRITICALITY_HARD : TAKT_CRITICALITY_SOFT;
  const auto background =
      is_takt ? TAKT_CRITICALITY_BEST_EFFORT : TAKT_CRITICALITY_SOFT;
  detector_ = MakeStream(
      instances_.front(), directory + "/detector.vmfb", "detect",
      {.arrival = TAKT_STREAM_ARRIVAL_CLOSED, .criticality = background});
  estimator_ = MakeStream(
      instances_[instances_.size() / 2], directory + "/estimator.vmfb",
      "update",
      {.period_ns = 2 * kMs, .deadline_ns = 2 * kMs, .criticality = control});
  policy_ = MakeStream(
      instances_.back(), directory + "/policy.vmfb", "act",
      {.period_ns = 5 * kMs, .deadline_ns = 5 * kMs, .criticality = control});
}

bool Networks::Fit(int sensor_count, int force_count) const {
  constexpr int kStateSize = 6;
  return Take(estimator_.MapInput<float>(0)).size() == size_t(sensor_count) &&
         Take(policy_.MapInput<float>(0)).size() ==
             size_t(kStateSize + force_count);
}

void Networks::Start(int64_t start_ns) {
  Check(estimator_.Start(start_ns + 300'000));
  Check(policy_.Start(start_ns + 1'300'000));
  Check(detector_.Start(start_ns));
}

void Networks::Stop() {
  for (const takt::Stream* stream : {&detector_, &estimator_, &policy_}) {
    stream->Stop();
  }
  for (const takt::Stream* stream : {&detector_, &estimator_, &policy_}) {
    Check(stream->WaitIdle());
  }
}
