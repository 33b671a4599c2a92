#include "body.h"

#include <cmath>
#include <string_view>

namespace {

// A double inverted pendulum on a cart. Its joints are the cart's place and the
// angles of the lower and the upper link, the latter from the former.
class CartPole final : public Body {
 public:
  int reading_size() const override { return 3; }
  double force_max() const override { return 12; }

  void StandAt(double place, mjData& data) const override {
    data.qpos[0] = place;
  }

  void Push(mjData* data, std::mt19937& random) const override {
    constexpr double kPush = 1.5;  // Radians per second, at most.
    const double strength = std::uniform_real_distribution(0.5, 1.0)(random);
    const bool is_left = std::bernoulli_distribution(0.5)(random);
    if (data == nullptr) return;
    data->qvel[2] += (is_left ? -kPush : kPush) * strength;
  }

  bool HasFallen(const mjData& data) const override {
    constexpr double kFallen = 0.6;    // Radians from upright.
    constexpr double kRailEnd = 0.48;  // Metres.
    return std::abs(data.qpos[1]) > kFallen ||
           std::abs(Angle(data)) > kFallen || std::abs(data.qpos[0]) > kRailEnd;
  }

  // Three encoders, with the noise of train.py.
  void Read(const mjData& data, std::mt19937& random,
            std::span<double> reading) const override {
    constexpr double kNoise[3] = {2e-5, 2e-4, 2e-4};
    for (size_t i = 0; i < 3; ++i) {
      std::normal_distribution<double> noise(0, kNoise[i]);
      reading[i] = data.qpos[i] + noise(random);
    }
  }

  double Angle(const mjData& data) const override {
    return data.qpos[1] + data.qpos[2];
  }
};

// A body on two wheels that rolls on a floor. Its joints are the place (3), the
// attitude (a quaternion) and the angles of the left and the right wheel, which
// are measured from the body.
class TwoWheeled final : public Body {
 public:
  int reading_size() const override { return 6; }
  double force_max() const override { return 0.02; }

  void StandAt(double place, mjData& data) const override {
    data.qpos[0] = place;
    data.qpos[kLeft] = data.qpos[kRight] = place / kRadius;
  }

  void Push(mjData* data, std::mt19937& random) const override {
    constexpr double kPush = 5, kTurn = 2;  // Radians per second, at most.
    const double strength = std::uniform_real_distribution(0.5, 1.0)(random);
    const bool is_left = std::bernoulli_distribution(0.5)(random);
    const double turn = std::uniform_real_distribution(-1.0, 1.0)(random);
    if (data == nullptr) return;
    data->qvel[4] += (is_left ? -kPush : kPush) * strength;
    data->qvel[5] += kTurn * turn;
  }

  bool HasFallen(const mjData& data) const override {
    constexpr double kFallen = 0.5;  // Radians from upright.
    constexpr double kEnd = 0.48;    // Metres from the middle.
    return std::abs(Angle(data)) > kFallen || std::abs(data.qpos[0]) > kEnd;
  }

  // The pitch and the yaw, their rates, and the encoders of the left and the
  // right wheel, with the noise of train_two_wheeled.py.
  void Read(const mjData& data, std::mt19937& random,
            std::span<double> reading) const override {
    constexpr double kNoise[6] = {5e-4, 1e-3, 5e-3, 5e-3, 1e-3, 1e-3};
    const double values[6] = {Angle(data),      Yaw(data),
                              data.qvel[4],     data.qvel[5],
                              data.qpos[kLeft], data.qpos[kRight]};
    for (size_t i = 0; i < 6; ++i) {
      std::normal_distribution<double> noise(0, kNoise[i]);
      reading[i] = values[i] + noise(random);
    }
  }

  // The pitch: where the body's upper end is, seen along its heading.
  double Angle(const mjData& data) const override {
    const double w = data.qpos[3], x = data.qpos[4], y = data.qpos[5],
                 z = data.qpos[6];
    const double yaw = Yaw(data);
    const double forward = 2 * (x * z + w * y) * std::cos(yaw) +
                           2 * (y * z - w * x) * std::sin(yaw);
    return std::atan2(forward, 1 - 2 * (x * x + y * y));
  }

 private:
  static constexpr int kLeft = 7, kRight = 8;
  static constexpr double kRadius = 0.025;  // Of a wheel, in metres.

  // The heading.
  static double Yaw(const mjData& data) {
    const double w = data.qpos[3], x = data.qpos[4], y = data.qpos[5],
                 z = data.qpos[6];
    return std::atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
  }
};

}  // namespace

std::unique_ptr<Body> MakeBody(const mjModel& model) {
  const std::string_view name = model.names;  // The model's own is the first.
  const auto has = [&](int joints, int motors) {
    return model.nq == joints && model.nu == motors;
  };
  if (name == "balance" && has(3, 1)) return std::make_unique<CartPole>();
  if (name == "two_wheeled" && has(9, 2)) {
    return std::make_unique<TwoWheeled>();
  }
  return nullptr;
}
