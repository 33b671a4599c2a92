#include "cpu/boxes_import.h"

#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/select_boxes.h"

namespace takt::cpu {
namespace {

struct BoxesParameters {
  BufferParameter<const float> boxes, scores;
  BufferParameter<int32_t> output;
  int32_t batch, classes, count, most;
  int32_t is_centered;
  RowTileParameters tile;  // One computes all.
  float overlap_max, score_min;
};
static_assert(offsetof(BoxesParameters, overlap_max) == 104);

}  // namespace

int SelectBoxesImport(void* parameters, void*, void*) {
  const auto& p = *static_cast<const BoxesParameters*>(parameters);
  // In this order, no product overflows.
  if (p.batch < 0 || p.classes < 0 || p.count < 0 || p.most < 0 ||
      p.count > kernels::kBoxesMax || p.boxes.size / 4 < p.count ||
      (p.count > 0 && p.boxes.size / 4 / p.count < p.batch)) {
    return kImportInvalid;
  }
  const int64_t lists = int64_t{p.batch} * p.classes;
  const kernels::BoxesShape shape = {p.batch, p.classes, p.count, p.most,
                                     p.is_centered != 0};
  if ((p.count > 0 && p.scores.size / p.count < lists) || p.output.size < 3 ||
      shape.rows() > (p.output.size - 3) / 3) {
    return kImportInvalid;
  }
  kernels::SelectBoxes(shape, {p.boxes.data(), p.scores.data(), p.output.data(),
                               p.overlap_max, p.score_min});
  return 0;
}

}  // namespace takt::cpu
