// A function of a module that takes one picture: how frames become its input.
#ifndef TAKT_INTEGRATIONS_GSTREAMER_INFERENCE_H_
#define TAKT_INTEGRATIONS_GSTREAMER_INFERENCE_H_

#include <memory>
#include <string>
#include <takt/takt.hpp>
#include <vector>

#include "shared_instance.h"

class Inference {
 public:
  struct Settings {
    std::string module;
    std::string function;  // "": the module's only one.
    // Of floating-point inputs: byte * scale + offset.
    float scale = 1.0f / 255;
    float offset = 0;
  };

  // Errors: INVALID_ARGUMENT, NOT_FOUND  the module, the function, or its
  // input, which must be 1xHxWx3, 1x3xHxW or HxWx3 of f32 or bytes.
  static takt::Result<std::unique_ptr<Inference>> Create(
      std::shared_ptr<SharedInstance> shared, const Settings& settings);

  int width() const { return width_; }
  int height() const { return height_; }
  // The types of the results, such as "1x16xf32;4xi32"; known before a call if
  // the module declares them, else "".
  const std::string& result_types() const { return result_types_; }
  // Frames that could not be used where they lie.
  uint64_t copied_count() const { return copied_count_; }

  // Calls the function with a frame of RGB rows, `stride` bytes apart. The
  // results do not refer to the frame's memory.
  takt::Result<std::vector<takt::Value>> Run(const uint8_t* pixels,
                                             size_t stride, int32_t priority,
                                             int64_t deadline_ns);

  // "1x16xf32".
  static std::string TypeOf(const takt::BufferView& view);

 private:
  Inference() = default;
  takt::Status ReadInput(const takt_value_type_t* type);
  takt::Result<takt::Value> MakeInput(const uint8_t* pixels, size_t stride);
  takt::Result<takt::Value> CopyInput(const uint8_t* pixels, size_t stride);
  takt::Status Own(const takt::Value& input, takt::Value& result) const;
  void Fill(const uint8_t* row, float* to, int y) const;

  std::shared_ptr<SharedInstance> shared_;
  takt::Context context_;
  takt::Function function_;
  float scale_ = 1, offset_ = 0;
  bool is_float_ = false;
  bool is_planar_ = false;  // 1x3xHxW.
  takt_element_type_t element_type_ = {};
  std::vector<int64_t> shape_;
  int width_ = 0, height_ = 0;
  std::string result_types_;
  takt::Buffer buffer_;  // For frames that must be copied.
  takt::BufferView copy_;
  uint64_t copied_count_ = 0;
};

#endif  // TAKT_INTEGRATIONS_GSTREAMER_INFERENCE_H_
