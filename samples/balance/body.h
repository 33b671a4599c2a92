// What the two robots differ in: how they stand, what pushes them, when they
// have fallen, and what they sense. The state of both is six numbers: the place
// along the rail in m, two angles in rad, and the velocities of the three.
#ifndef TAKT_SAMPLES_BALANCE_BODY_H_
#define TAKT_SAMPLES_BALANCE_BODY_H_

#include <mujoco/mujoco.h>

#include <memory>
#include <random>
#include <span>

class Body {
 public:
  virtual ~Body() = default;

  // Values of one reading of the sensors.
  virtual int reading_size() const = 0;
  virtual double force_max() const = 0;  // Of each motor: N or Nm.
  // Upright and at rest at this place; the data was just reset.
  virtual void StandAt(double place, mjData& data) const = 0;
  // Knocks it over if nothing is done: a random velocity. Takes the same number
  // of random values each time.
  virtual void Push(mjData* data, std::mt19937& random) const = 0;
  virtual bool HasFallen(const mjData& data) const = 0;
  virtual void Read(const mjData& data, std::mt19937& random,
                    std::span<double> reading) const = 0;
  // The angle from upright that shows whether it stands, in rad.
  virtual double Angle(const mjData& data) const = 0;
};

// The body that the name of the model says: "balance" is a double inverted
// pendulum on a cart, "two_wheeled" a robot on two wheels. NULL for another.
std::unique_ptr<Body> MakeBody(const mjModel& model);

#endif  // TAKT_SAMPLES_BALANCE_BODY_H_
