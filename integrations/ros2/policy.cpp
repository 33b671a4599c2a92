#include "policy.h"

#include <algorithm>

namespace takt_ros2 {
namespace {

takt::Status Invalid(const std::string& message) {
  return takt::Status(TAKT_STATUS_INVALID_ARGUMENT, message);
}

// The number of elements of a static f32 tensor; 0: it is none.
size_t FloatCount(const takt_value_type_t* type) {
  if (type == nullptr || !type->is_tensor ||
      !takt_element_type_fits(type->element_type, TAKT_ELEMENT_F32)) {
    return 0;
  }
  size_t count = 1;
  for (size_t i = 0; i < type->rank; ++i) {
    count *= type->shape[i] > 0 ? size_t(type->shape[i]) : 0;
  }
  return count;
}

std::string Ms(int64_t ns) { return std::to_string(double(ns) / 1e6); }

takt::Status CheckOptions(const PolicyOptions& options) {
  const ActionSlotOptions& actions = options.actions;
  if (options.period_ns <= 0) return Invalid("period_ns: expected above 0");
  if (options.deadline_ns < 0)
    return Invalid("deadline_ns: expected 0 or more");
  if (actions.step_ns <= 0) return Invalid("step_ns: expected above 0");
  if (actions.heartbeat_ns <= 0) {
    return Invalid("heartbeat_ns: expected above 0");
  }
  if (actions.action_count == 0 || actions.chunk_length == 0) {
    return Invalid("action_count, chunk_length: expected above 0");
  }
  if (!actions.safe_action.empty() &&
      actions.safe_action.size() != actions.action_count) {
    return Invalid("safe_action: expected " +
                   std::to_string(actions.action_count) + " numbers, got " +
                   std::to_string(actions.safe_action.size()));
  }
  return takt::Status();
}

}  // namespace

Policy::Policy(const PolicyOptions& options)
    : options_(options), slot_(options.actions) {}

takt::Result<std::unique_ptr<Policy>> Policy::Create(
    const PolicyOptions& options) {
  takt::Status status = CheckOptions(options);
  if (!status.ok()) return status;
  std::unique_ptr<Policy> policy(new Policy(options));
  status = policy->Load();
  if (!status.ok()) return status;
  return policy;
}

Policy::~Policy() { Stop(); }

takt::Status Policy::Load() {
  takt_instance_options_t options;
  takt_instance_options_init(&options);
  options.worker_fifo_priority = options_.real_time_priority;
  options.timer_fifo_priority = options_.real_time_priority;
  auto instance = takt::Instance::Create(&options);
  if (!instance.ok()) return instance.status();
  auto device = takt::Device::Create(*instance, "local-task");
  if (!device.ok()) return device.status();
  auto module = takt::Module::Load(*instance, options_.module);
  if (!module.ok()) return module.status();
  auto context = takt::Context::Create(*instance, {*module}, {*device});
  if (!context.ok()) return context.status();
  auto function = context->FindFunction(options_.function);
  if (!function.ok()) return function.status();
  const takt_signature_t* signature = takt_function_signature(function->get());
  observation_count_ = FloatCount(takt_signature_argument(signature, 0));
  const size_t action_count = FloatCount(takt_signature_result(signature, 0));
  if (takt_signature_argument_count(signature) != 1 ||
      takt_signature_result_count(signature) != 1 || observation_count_ == 0) {
    return Invalid(options_.function +
                   ": expected one f32 tensor of static shape, and one result");
  }
  if (action_count != slot_.chunk_size()) {
    return Invalid(options_.function + ": expected a result of " +
                   std::to_string(slot_.chunk_size()) +
                   " f32 (chunk_length times action_count), got " +
                   std::to_string(action_count));
  }
  auto stream = takt::Stream::Create(
      *function, {.period_ns = options_.period_ns,
                  .deadline_ns = options_.deadline_ns > 0 ? options_.deadline_ns
                                                          : options_.period_ns,
                  .late = TAKT_STREAM_LATE_LATEST_ONLY,
                  .criticality = TAKT_CRITICALITY_HARD});
  if (!stream.ok()) return stream.status();
  stream_ = *stream;
  last_ = stream_.statistics();
  return takt::Status();
}

takt::Status Policy::Start(int64_t start_ns) { return stream_.Start(start_ns); }

void Policy::Stop() {
  if (stream_.get() == nullptr) return;
  stream_.Stop();
  // It fails only for a deadline, of which there is none.
  (void)stream_.WaitIdle().ok();
}

takt::Status Policy::Observe(std::span<const float> observation) {
  if (observation.size() != observation_count_) {
    return Invalid("observation: expected " +
                   std::to_string(observation_count_) + " numbers, got " +
                   std::to_string(observation.size()));
  }
  auto input = stream_.MapInput<float>(0);
  if (!input.ok()) return input.status();
  std::ranges::copy(observation, input->begin());
  return stream_.PublishInput();
}

takt::Result<ActionSource> Policy::Act(int64_t now_ns,
                                       std::span<float> action) {
  if (action.size() != options_.actions.action_count) {
    return Invalid("action: expected " +
                   std::to_string(options_.actions.action_count) +
                   " numbers, got " + std::to_string(action.size()));
  }
  takt_stream_job_t job;
  if (stream_.TakeOutput(results_, &job)) {
    takt::Status status = results_[0].view().Read(slot_.next_chunk());
    results_[0] = takt::Value();
    if (!status.ok()) return status;
    slot_.Commit(job.origin_ns, job.end_ns);
  }
  return slot_.Read(now_ns, action);
}

Report Policy::MakeReport(int64_t now_ns) {
  const takt_stream_statistics_t now = stream_.statistics();
  const uint64_t late = now.missed_count + now.dropped_count -
                        last_.missed_count - last_.dropped_count;
  const uint64_t failed = now.failed_count - last_.failed_count;
  const uint64_t safe = slot_.safe_count() - last_safe_count_;
  Report report;
  if (failed > 0 || safe > 0) {
    report.level = Level::kError;
    report.message = failed > 0 ? "calls failed" : "no result: safe action";
  } else if (late > 0) {
    report.level = Level::kWarn;
    report.message = "late";
  } else {
    report.message = "on time";
  }
  const int64_t age_ns = slot_.age_ns(now_ns);
  report.values = {
      {"met", std::to_string(now.met_count)},
      {"missed", std::to_string(now.missed_count)},
      {"dropped", std::to_string(now.dropped_count)},
      {"failed", std::to_string(now.failed_count)},
      {"response p99 (ms)", Ms(now.response.q99)},
      {"response max (ms)", Ms(now.response.max)},
      {"age of the last result (ms)", age_ns < 0 ? "none" : Ms(age_ns)},
      {"held steps", std::to_string(slot_.held_count())},
      {"safe steps", std::to_string(slot_.safe_count())},
  };
  last_ = now;
  last_safe_count_ = slot_.safe_count();
  return report;
}

}  // namespace takt_ros2
