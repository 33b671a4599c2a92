#include "kernels/select_boxes.h"

namespace takt::kernels {
namespace {

struct Box {
  float low[2], high[2];
  float area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

Box BoxAt(const float* numbers, bool is_centered) {
  Box box;
  for (int i = 0; i < 2; ++i) {
    const float a = numbers[i], b = numbers[i + 2];
    box.low[i] = is_centered ? a - b / 2 : std::min(a, b);
    box.high[i] = is_centered ? a + b / 2 : std::max(a, b);
  }
  return box;
}

bool Overlap(const Box& a, const Box& b, float most) {
  float intersection = 1;
  for (int i = 0; i < 2; ++i) {
    const float size =
        std::min(a.high[i], b.high[i]) - std::max(a.low[i], b.low[i]);
    if (!(size > 0)) return false;
    intersection *= size;
  }
  const float all = a.area() + b.area() - intersection;
  return a.area() > 0 && b.area() > 0 && all > 0 && intersection / all > most;
}

}  // namespace

void SelectBoxes(const BoxesShape& shape, const BoxesOperands& operands) {
  uint16_t order[kBoxesMax];
  int32_t* row = operands.output + 3;
  for (int64_t image = 0; image < shape.batch; ++image) {
    const float* const boxes = operands.boxes + image * shape.boxes * 4;
    const auto box_at = [&](int64_t i) {
      return BoxAt(boxes + 4 * i, shape.is_centered);
    };
    for (int64_t c = 0; c < shape.classes; ++c) {
      const float* const scores =
          operands.scores + (image * shape.classes + c) * shape.boxes;
      int64_t count = 0;
      for (int64_t i = 0; i < shape.boxes; ++i) {
        if (scores[i] > operands.score_min) {
          order[count++] = static_cast<uint16_t>(i);
        }
      }
      std::sort(order, order + count, [scores](uint16_t a, uint16_t b) {
        return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
      });
      const int32_t* const first = row;
      for (int64_t i = 0; i < count && row - first < 3 * shape.most; ++i) {
        const Box box = box_at(order[i]);
        const int32_t* taken = first;
        while (taken < row &&
               !Overlap(box_at(taken[2]), box, operands.overlap_max)) {
          taken += 3;
        }
        if (taken < row) continue;
        row[0] = static_cast<int32_t>(image);
        row[1] = static_cast<int32_t>(c);
        row[2] = order[i];
        row += 3;
      }
    }
  }
  operands.output[0] = static_cast<int32_t>((row - operands.output) / 3 - 1);
  operands.output[1] = operands.output[2] = 0;
  std::fill(row, operands.output + 3 * (1 + shape.rows()), 0);
}

}  // namespace takt::kernels
