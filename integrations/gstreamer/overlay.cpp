#include "overlay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "inference.h"

namespace {

using Colour = std::array<float, 3>;

constexpr Colour kRed = {230, 30, 30};
constexpr Colour kBlue = {40, 90, 220};
constexpr Colour kClasses[] = {{255, 150, 0},  {0, 190, 120},  {60, 130, 255},
                               {230, 60, 160}, {240, 220, 40}, {150, 90, 240}};

void Blend(Picture picture, int x, int y, const Colour& colour, float opacity) {
  uint8_t* pixel = picture.pixels + size_t(y) * picture.stride + 3 * size_t(x);
  for (size_t i = 0; i < 3; ++i) {
    pixel[i] =
        uint8_t(float(pixel[i]) * (1 - opacity) + colour[i] * opacity + 0.5f);
  }
}

float Bounded(float value) { return std::clamp(value, 0.0f, 1.0f); }

void DrawMap(const std::vector<float>& values, int64_t height, int64_t width,
             Picture picture) {
  for (int y = 0; y < picture.height; ++y) {
    const int64_t row = y * height / picture.height;
    for (int x = 0; x < picture.width; ++x) {
      const int64_t column = x * width / picture.width;
      const float value = values[size_t(row * width + column)];
      Blend(picture, x, y, kRed, 0.6f * Bounded(value));
    }
  }
}

void DrawPicture(const std::vector<float>& values, int64_t height,
                 int64_t width, bool is_planar, Picture picture) {
  const auto at = [&](int64_t place, int64_t channel) {
    const int64_t index =
        is_planar ? channel * height * width + place : 3 * place + channel;
    return 255 * Bounded(values[size_t(index)]);
  };
  for (int y = 0; y < picture.height; ++y) {
    const int64_t row = y * height / picture.height;
    for (int x = 0; x < picture.width; ++x) {
      const int64_t place = row * width + x * width / picture.width;
      Blend(picture, x, y, {at(place, 0), at(place, 1), at(place, 2)}, 0.5f);
    }
  }
}

// An outline of two pixels.
void DrawBox(const float* box, const Colour& colour, Picture picture) {
  const auto place = [](float value, int size) {
    return std::min(int(Bounded(value) * float(size)), size - 1);
  };
  const int left = place(box[0], picture.width);
  const int top = place(box[1], picture.height);
  const int right = place(box[2], picture.width);
  const int bottom = place(box[3], picture.height);
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      if (std::min({x - left, right - x, y - top, bottom - y}) < 2) {
        Blend(picture, x, y, colour, 1);
      }
    }
  }
}

void DrawBoxes(const std::vector<float>& values, int64_t count, int64_t size,
               Picture picture) {
  for (int64_t i = 0; i < count; ++i) {
    const float* box = values.data() + i * size;
    if (size > 4 && box[4] < 0.5f) continue;
    const float number = size > 5 ? std::clamp(box[5], 0.0f, 1e6f) : 0;
    DrawBox(box, kClasses[size_t(number) % std::size(kClasses)], picture);
  }
}

void DrawBars(const std::vector<float>& values, Picture picture) {
  float largest = 0;
  for (const float value : values) {
    largest = std::max(largest, std::abs(value));
  }
  if (largest == 0) return;
  const auto count = int64_t(values.size());
  const bool has_gaps = picture.width >= 3 * count;
  for (int x = 0; x < picture.width; ++x) {
    const int64_t i = x * count / picture.width;
    if (has_gaps && (x + 1) * count / picture.width != i) continue;
    const float value = values[size_t(i)];
    const int length =
        int(std::abs(value) / largest * float(picture.height) / 4);
    for (int y = picture.height - length; y < picture.height; ++y) {
      Blend(picture, x, y, value < 0 ? kBlue : kClasses[0], 0.8f);
    }
  }
}

// The values of a result as floats; false for an element type that is not
// drawn.
bool ReadValues(const takt::BufferView& result, std::span<const uint8_t> bytes,
                std::vector<float>& values) {
  const takt_element_type_t type = result.element_type();
  if (takt_element_type_fits(type, TAKT_ELEMENT_F32)) {
    values.resize(bytes.size() / sizeof(float));
    std::copy_n(bytes.data(), values.size() * sizeof(float),
                reinterpret_cast<uint8_t*>(values.data()));
    for (float& value : values) value = std::isfinite(value) ? value : 0;
    return true;
  }
  if (!takt_element_type_fits(type, TAKT_ELEMENT_UI8)) return false;
  values.resize(bytes.size());
  std::ranges::transform(bytes, values.begin(),
                         [](uint8_t value) { return float(value) / 255; });
  return true;
}

}  // namespace

takt::Status DrawOverlay(const takt::BufferView& result, Picture picture) {
  auto mapping = result.buffer().Map(TAKT_ACCESS_READ);
  if (!mapping.ok()) return mapping.status();
  const std::span<const uint8_t> all = mapping->bytes();
  std::vector<float> values;
  const bool has_values = ReadValues(
      result, all.first(std::min(all.size(), result.byte_length())), values);
  std::vector<int64_t> shape(result.shape().begin(), result.shape().end());
  if (shape.size() > 1 && shape[0] == 1) shape.erase(shape.begin());
  const size_t rank = shape.size();
  int64_t element_count = 1;
  for (const int64_t size : shape) element_count *= size;
  if (!has_values || rank < 1 || rank > 3 || element_count < 1 ||
      size_t(element_count) != values.size()) {
    return takt::Status(
        TAKT_STATUS_UNIMPLEMENTED,
        "a result that is no overlay: " + Inference::TypeOf(result));
  }
  if (rank == 1) {
    DrawBars(values, picture);
  } else if (rank == 2 && shape[1] >= 4 && shape[1] <= 6) {
    DrawBoxes(values, shape[0], shape[1], picture);
  } else if (rank == 2) {
    DrawMap(values, shape[0], shape[1], picture);
  } else if (shape[2] == 1) {
    DrawMap(values, shape[0], shape[1], picture);
  } else if (shape[2] == 3) {
    DrawPicture(values, shape[0], shape[1], false, picture);
  } else if (shape[0] == 1) {
    DrawMap(values, shape[1], shape[2], picture);
  } else if (shape[0] == 3) {
    DrawPicture(values, shape[1], shape[2], true, picture);
  } else {
    return takt::Status(
        TAKT_STATUS_UNIMPLEMENTED,
        "a result that is no overlay: " + Inference::TypeOf(result));
  }
  return takt::Status();
}
