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

// Takes boxes of list `list`: their numbers are `stride` apart, from `taken`
// on. Returns how many.
int64_t SelectOfList(const BoxesShape& shape, const BoxesOperands& operands,
                     int64_t list, int32_t* taken, int64_t stride) {
  const float* const boxes =
      operands.boxes + list / shape.classes * shape.boxes * 4;
  const float* const scores = operands.scores + list * shape.boxes;
  const auto box_at = [&](int64_t i) {
    return BoxAt(boxes + 4 * i, shape.is_centered);
  };
  uint16_t order[kBoxesMax];
  int64_t count = 0;
  for (int64_t i = 0; i < shape.boxes; ++i) {
    if (scores[i] > operands.score_min) {
      order[count++] = static_cast<uint16_t>(i);
    }
  }
  std::sort(order, order + count, [scores](uint16_t a, uint16_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  int64_t taken_count = 0;
  for (int64_t i = 0; i < count && taken_count < shape.most; ++i) {
    const Box box = box_at(order[i]);
    int64_t k = 0;
    while (k < taken_count &&
           !Overlap(box_at(taken[k * stride]), box, operands.overlap_max)) {
      ++k;
    }
    if (k == taken_count) taken[taken_count++ * stride] = order[i];
  }
  return taken_count;
}

}  // namespace

void SelectBoxes(const BoxesShape& shape, const BoxesOperands& operands) {
  int32_t* row = operands.output + 3;
  for (int64_t list = 0; list < shape.lists(); ++list) {
    const int64_t count = SelectOfList(shape, operands, list, row + 2, 3);
    for (int64_t i = 0; i < count; ++i, row += 3) {
      row[0] = static_cast<int32_t>(list / shape.classes);
      row[1] = static_cast<int32_t>(list % shape.classes);
    }
  }
  operands.output[0] = static_cast<int32_t>((row - operands.output) / 3 - 1);
  operands.output[1] = operands.output[2] = 0;
  std::fill(row, operands.output + shape.output_numbers(), 0);
}

void SelectBoxLists(const BoxesShape& shape, const BoxesOperands& operands,
                    int64_t begin, int64_t end) {
  for (int64_t list = begin; list < end; ++list) {
    int32_t* const numbers =
        operands.output + list * (1 + shape.most_of_list());
    numbers[0] = static_cast<int32_t>(
        SelectOfList(shape, operands, list, numbers + 1, 1));
  }
}

void JoinBoxLists(const BoxesShape& shape, const int32_t* lists,
                  int32_t* output) {
  const int64_t most = shape.most_of_list();
  int32_t* row = output + 3;
  for (int64_t list = 0; list < shape.lists(); ++list) {
    const int32_t* const numbers = lists + list * (1 + most);
    const int64_t count = std::clamp<int64_t>(numbers[0], 0, most);
    for (int64_t i = 0; i < count; ++i, row += 3) {
      row[0] = static_cast<int32_t>(list / shape.classes);
      row[1] = static_cast<int32_t>(list % shape.classes);
      row[2] = numbers[1 + i];
    }
  }
  output[0] = static_cast<int32_t>((row - output) / 3 - 1);
  output[1] = output[2] = 0;
}

}  // namespace takt::kernels
