#include "robot.h"

#include <algorithm>

namespace {

constexpr double kStep = 0.001;        // Seconds of a Step().
constexpr double kDown = 1;            // Seconds until it is set up again.
constexpr int64_t kPushPeriod = 500;   // Steps.
constexpr int64_t kBallPeriod = 2500;  // Steps until the ball rolls on.
constexpr double kBallRange = 0.22;    // Metres from the middle.
constexpr double kBallSpeed = 0.3;     // Metres per second.

}  // namespace

Robot::Robot(const mjModel* model, std::unique_ptr<Body> body, unsigned seed)
    : model_(model),
      body_(std::move(body)),
      data_(mj_makeData(model)),
      push_random_(seed),
      noise_random_(seed),
      readings_(size_t{kReadings} * size_t(body_->reading_size())),
      forces_(size_t{kReadings} * size_t(model->nu)) {
  StandUp();
}

void Robot::StandUp() {
  mj_resetData(model_, data_.get());
  body_->StandAt(std::clamp(posture_.ball, -kBallRange, kBallRange), *data_);
  std::ranges::fill(forces_, 0.0);
  for (int i = 0; i < kReadings; ++i) Read();
  down_until_ = 0;
}

void Robot::MoveBall() {
  if (step_count_ % kBallPeriod == kBallPeriod - 1) {
    ball_goal_ =
        std::uniform_real_distribution(-kBallRange, kBallRange)(push_random_);
  }
  const double way = ball_goal_ - posture_.ball;
  posture_.ball += std::clamp(way, -kBallSpeed * kStep, kBallSpeed * kStep);
}

// The numbers are drawn also while the robot is down.
void Robot::Push() {
  if (step_count_ % kPushPeriod != kPushPeriod - 1) return;
  body_->Push(is_down() ? nullptr : data_.get(), push_random_);
}

// What is oldest goes.
void Robot::Read() {
  const auto size = size_t(body_->reading_size());
  std::rotate(readings_.begin(), readings_.begin() + std::ptrdiff_t(size),
              readings_.end());
  body_->Read(*data_, noise_random_, std::span(readings_).last(size));
  std::rotate(forces_.begin(), forces_.begin() + model_->nu, forces_.end());
  std::copy_n(data_->ctrl, model_->nu, forces_.end() - model_->nu);
}

void Robot::Step(std::span<const float> forces) {
  Push();
  MoveBall();
  const double limit = body_->force_max();
  for (size_t i = 0; i < size_t(model_->nu); ++i) {
    data_->ctrl[i] =
        is_down() ? 0 : std::clamp(double(forces[i]), -limit, limit);
  }
  for (int i = 0; i < 2; ++i) mj_step(model_, data_.get());
  ++step_count_;
  time_ = static_cast<double>(step_count_) * kStep;
  if (is_down()) {
    if (time_ >= down_until_) StandUp();
  } else if (body_->HasFallen(*data_)) {
    if (++fall_count_ == 1) first_fall_ = time_;
    down_until_ = time_ + kDown;
  } else {
    upright_seconds_ += kStep;
  }
  std::copy_n(data_->qpos, model_->nq, posture_.joints.begin());
  if (has_reading()) Read();
}

void Robot::CopySensors(float* out) const {
  for (const double value : readings_) *out++ = float(value);
  for (const double value : forces_) *out++ = float(value);
}
