// The simulated world: a double inverted pendulum on a cart, in MuJoCo, with
// its encoders, the pushes that it gets and the ball that it follows. Used by
// one thread.
#ifndef TAKT_SAMPLES_BALANCE_ROBOT_H_
#define TAKT_SAMPLES_BALANCE_ROBOT_H_

#include <mujoco/mujoco.h>

#include <array>
#include <memory>
#include <random>
#include <string>

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
  std::array<double, 3> joints = {};  // Cart in m; lower, upper link in rad.
  double ball = 0;                    // Place on the rail, in m.
};

class Robot {
 public:
  static constexpr int kReadings = 8;  // Of each encoder, 2 ms apart.
  static constexpr int kSensors = kReadings * 4;
  static constexpr double kForceMax = 12;  // N.

  // The pushes and the noise follow from `seed`.
  Robot(const mjModel* model, unsigned seed);

  // A millisecond with this force on the cart.
  void Step(double force);

  double time() const { return time_; }
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
  void Read(double force);
  void MoveBall();
  void Push();
  void StandUp();
  bool HasFallen() const;

  const mjModel* model_;
  DataPtr data_;
  std::mt19937 random_;
  std::array<std::array<double, 3>, kReadings> readings_ = {};
  std::array<double, kReadings> forces_ = {};
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
