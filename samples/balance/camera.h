// The robot's camera: draws the world off screen with MuJoCo and OSMesa, which
// needs no display and no graphics processor. Used by one thread.
#ifndef TAKT_SAMPLES_BALANCE_CAMERA_H_
#define TAKT_SAMPLES_BALANCE_CAMERA_H_

#include <GL/osmesa.h>

#include <memory>
#include <span>
#include <vector>

#include "robot.h"

class Camera {
 public:
  static constexpr int kHeight = 320;
  static constexpr int kWidth = 480;
  static constexpr size_t kFloats = size_t{3} * kHeight * kWidth;

  // NULL if there is no OSMesa context to be had.
  static std::unique_ptr<Camera> Create(const mjModel* model);
  ~Camera();
  Camera(const Camera&) = delete;
  Camera& operator=(const Camera&) = delete;

  // Rows from the top, red, green and blue from 0 to 1.
  void Draw(const Posture& posture, std::span<float, kFloats> image);

 private:
  Camera(const mjModel* model, OSMesaContext context);

  const mjModel* model_;
  DataPtr data_;
  OSMesaContext context_;
  std::vector<unsigned char> screen_;  // What OSMesa draws into by itself.
  std::vector<unsigned char> pixels_;
  mjvScene scene_;
  mjvCamera view_;
  mjvOption options_;
  mjrContext renderer_;
};

#endif  // TAKT_SAMPLES_BALANCE_CAMERA_H_
