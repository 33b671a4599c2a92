#include "robot.h"

#include <algorithm>
#include <cmath>

namespace {

constexpr double kStep = 0.001;        // Seconds of a Step().
constexpr double kFallen = 0.6;        // Radians from upright.
constexpr double kRailEnd = 0.48;      // Metres.
constexpr double kDown = 1;            // Seconds until it is set up again.
constexpr double kPush = 1.5;          // Radians per second, at most.
constexpr int64_t kPushPeriod = 500;   // Steps.
constexpr int64_t kBallPeriod = 2500;  // Steps until the ball rolls on.
constexpr double kBallRange = 0.22;    // Metres from the middle.
constexpr double kBallSpeed = 0.3;     // Metres per second.
constexpr double kEncoderNoise[3] = {2e-5, 2e-4, 2e-4};  // As in train.py.

}  // namespace

Robot::Robot(const mjModel* model, unsigned seed)
    : model_(model), data_(mj_makeData(model)), random_(seed) {
  StandUp();
}

void Robot::StandUp() {
  mj_resetData(model_, data_.get());
  data_->qpos[0] = std::clamp(posture_.ball, -kBallRange, kBallRange);
  for (auto& reading : readings_) reading = {data_->qpos[0], 0, 0};
  forces_.fill(0);
  down_until_ = 0;
}

bool Robot::HasFallen() const {
  const double* q = data_->qpos;
  return std::abs(q[1]) > kFallen || std::abs(q[1] + q[2]) > kFallen ||
         std::abs(q[0]) > kRailEnd;
}

void Robot::MoveBall() {
  if (step_count_ % kBallPeriod == kBallPeriod - 1) {
    ball_goal_ =
        std::uniform_real_distribution(-kBallRange, kBallRange)(random_);
  }
  const double way = ball_goal_ - posture_.ball;
  posture_.ball += std::clamp(way, -kBallSpeed * kStep, kBallSpeed * kStep);
}

// The numbers are drawn also while the robot is down, so that each run with a
// seed has the same pushes.
void Robot::Push() {
  if (step_count_ % kPushPeriod != kPushPeriod - 1) return;
  const double strength = std::uniform_real_distribution(0.5, 1.0)(random_);
  const bool is_left = std::bernoulli_distribution(0.5)(random_);
  if (!is_down()) data_->qvel[2] += (is_left ? -kPush : kPush) * strength;
}

void Robot::Read(double force) {
  std::rotate(readings_.begin(), readings_.begin() + 1, readings_.end());
  std::rotate(forces_.begin(), forces_.begin() + 1, forces_.end());
  for (int i = 0; i < 3; ++i) {
    std::normal_distribution<double> noise(0, kEncoderNoise[i]);
    readings_.back()[i] = data_->qpos[i] + noise(random_);
  }
  forces_.back() = force;
}

void Robot::Step(double force) {
  Push();
  MoveBall();
  data_->ctrl[0] = is_down() ? 0 : std::clamp(force, -kForceMax, kForceMax);
  for (int i = 0; i < 2; ++i) mj_step(model_, data_.get());
  ++step_count_;
  time_ = static_cast<double>(step_count_) * kStep;
  if (is_down()) {
    if (time_ >= down_until_) StandUp();
  } else if (HasFallen()) {
    if (++fall_count_ == 1) first_fall_ = time_;
    down_until_ = time_ + kDown;
  } else {
    upright_seconds_ += kStep;
  }
  std::copy_n(data_->qpos, 3, posture_.joints.begin());
  if (has_reading()) Read(data_->ctrl[0]);
}

void Robot::CopySensors(float* out) const {
  for (const auto& reading : readings_) {
    out = std::copy(reading.begin(), reading.end(), out);
  }
  std::copy(forces_.begin(), forces_.end(), out);
}
