#include "camera.h"

#include <algorithm>
#include <cstdlib>

std::unique_ptr<Camera> Camera::Create(const mjModel* model) {
  // OSMesa starts no threads of its own beside the networks.
  setenv("LP_NUM_THREADS", "0", 1);
  OSMesaContext context =
      OSMesaCreateContextExt(OSMESA_RGBA, 24, 8, 0, nullptr);
  if (context == nullptr) return nullptr;
  return std::unique_ptr<Camera>(new Camera(model, context));
}

Camera::Camera(const mjModel* model, OSMesaContext context)
    : model_(model),
      data_(mj_makeData(model)),
      context_(context),
      screen_(size_t{4} * kHeight * kWidth),
      pixels_(kFloats) {
  OSMesaMakeCurrent(context_, screen_.data(), GL_UNSIGNED_BYTE, kWidth,
                    kHeight);
  mjv_defaultScene(&scene_);
  mjv_makeScene(model_, &scene_, 100);
  mjv_defaultCamera(&view_);
  view_.type = mjCAMERA_FIXED;
  view_.fixedcamid = mj_name2id(model_, mjOBJ_CAMERA, "front");
  mjv_defaultOption(&options_);
  mjr_defaultContext(&renderer_);
  mjr_makeContext(model_, &renderer_, mjFONTSCALE_50);
  mjr_resizeOffscreen(kWidth, kHeight, &renderer_);
  mjr_setBuffer(mjFB_OFFSCREEN, &renderer_);
}

Camera::~Camera() {
  mjr_freeContext(&renderer_);
  mjv_freeScene(&scene_);
  OSMesaDestroyContext(context_);
}

void Camera::Draw(const Posture& posture, std::span<float, kFloats> image) {
  std::copy_n(posture.joints.begin(), model_->nq, data_->qpos);
  data_->mocap_pos[0] = posture.ball;
  mj_forward(model_, data_.get());
  mjv_updateScene(model_, data_.get(), &options_, nullptr, &view_, mjCAT_ALL,
                  &scene_);
  const mjrRect all = {0, 0, kWidth, kHeight};
  mjr_render(all, &scene_, &renderer_);
  mjr_readPixels(pixels_.data(), nullptr, all, &renderer_);
  constexpr size_t kRow = size_t{3} * kWidth;
  for (size_t row = 0; row < kHeight; ++row) {  // OpenGL begins at the bottom.
    std::transform(pixels_.end() - std::ptrdiff_t((row + 1) * kRow),
                   pixels_.end() - std::ptrdiff_t(row * kRow),
                   image.begin() + std::ptrdiff_t(row * kRow),
                   [](unsigned char value) { return float(value) / 255; });
  }
}
