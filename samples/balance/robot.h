// The simulated world: a robot in MuJoCo with its sensors, the pushes that it
// gets and the ball that it follows. Used by one thread.
#ifndef TAKT_SAMPLES_BALANCE_ROBOT_H_
#define TAKT_SAMPLES_BALANCE_ROBOT_H_

#include <mujoco/mujoco.h>

#include <array>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "body.h"

struct ModelDeleter {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
};
struct DataDeleter {
  void operator()(mjData* data) const { mj_deleteData(data); }
};
using ModelPtr = std::unique_ptr<mjModel, ModelDeleter>;
using DataPtr = std::unique_ptr<mjData, DataDeleter>;

// What a camera needs to draw the world.
struct Posture {
  static constexpr int kJointsMax = 9;

  std::array<double, kJointsMax> joints = {};  // As many as the model has.
  double ball = 0;                             // Place on the rail, in m.
};

class Robot {
 public:
  static constexpr int kReadings = 8;  // Of the sensors, 2 ms apart.

  // The pushes and the noise follow from `seed`.
  Robot(const mjModel* model, std::unique_ptr<Body> body, unsigned seed);

  // A millisecond with these forces of the motors, `force_count()` of them.
  void Step(std::span<const float> forces);

  int force_count() const { return model_->nu; }
  // Values of CopySensors().
  int sensor_count() const {
    return kReadings * (body_->reading_size() + force_count());
  }
  double time() const { return time_; }
  double angle() const { return body_->Angle(*data_); }
  bool is_down() const { return down_until_ > 0; }
  const Posture& posture() const { return posture_; }
  int fall_count() const { return fall_count_; }
  double first_fall() const { return first_fall_; }  // In s; below 0: none.
  double upright_seconds() const { return upright_seconds_; }
  // True every 2 ms: the sensors were read.
  bool has_reading() const { return step_count_ % 2 == 0; }
  // The estimator's input: the last readings, then the last forces.
  void CopySensors(float* out) const;

 private:
  void Read();
  void MoveBall();
  void Push();
  void StandUp();

  const mjModel* model_;
  std::unique_ptr<Body> body_;
  DataPtr data_;
  // Two, so that each run with a seed has the same pushes.
  std::mt19937 push_random_, noise_random_;
  // The last kReadings, the oldest first.
  std::vector<double> readings_, forces_;
  Posture posture_;
  int64_t step_count_ = 0;
  double time_ = 0;
  double ball_goal_ = 0;
  double down_until_ = 0;
  int fall_count_ = 0;
  double first_fall_ = -1;
  double upright_seconds_ = 0;
};

#endif  // TAKT_SAMPLES_BALANCE_ROBOT_H_
