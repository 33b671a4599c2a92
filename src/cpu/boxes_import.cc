#include "cpu/boxes_import.h"

#include <cstddef>
#include <cstdint>

#include "cpu/buffer_parameter.h"
#include "kernels/select_boxes.h"

namespace takt::cpu {
namespace {

using kernels::BoxesShape;

struct BoxesParameters {
  BufferParameter<const float> boxes, scores;
  BufferParameter<int32_t> output;
  int32_t batch, classes, count, most;
  int32_t is_centered;
  RowTileParameters tile;  // The rows are lists; SelectBoxesImport() has one.
  float overlap_max, score_min;
};
static_assert(offsetof(BoxesParameters, overlap_max) == 104);

struct JoinParameters {
  BufferParameter<const int32_t> lists;
  BufferParameter<int32_t> output;
  int32_t batch, classes, count, most;
  RowTileParameters tile;  // Not read: one workgroup computes everything.
};
static_assert(offsetof(JoinParameters, batch) == 48);

// False if a size is out of range. Otherwise no product of the shape overflows:
// batches and classes are below 2^31, lists 2^24 at most, and boxes 2^16.
template <typename Parameters>
bool FindShape(const Parameters& p, bool is_centered, BoxesShape* shape) {
  constexpr int32_t kListsMax = 1 << 24;
  if (p.batch < 0 || p.classes < 0 || p.count < 0 || p.most < 0 ||
      p.count > kernels::kBoxesMax ||
      int64_t{p.batch} * p.classes > kListsMax) {
    return false;
  }
  *shape = {p.batch, p.classes, p.count, p.most, is_centered};
  return true;
}

bool FindInputs(const BoxesParameters& p, BoxesShape* shape) {
  return FindShape(p, p.is_centered != 0, shape) &&
         p.boxes.size >= 4 * shape->batch * shape->boxes &&
         p.scores.size >= shape->lists() * shape->boxes;
}

kernels::BoxesOperands OperandsOf(const BoxesParameters& p) {
  return {p.boxes.data(), p.scores.data(), p.output.data(), p.overlap_max,
          p.score_min};
}

}  // namespace

int SelectBoxesImport(void* parameters, void*, void*) {
  const auto& p = *static_cast<const BoxesParameters*>(parameters);
  BoxesShape shape;
  if (!FindInputs(p, &shape) || p.output.size < shape.output_numbers()) {
    return kImportInvalid;
  }
  kernels::SelectBoxes(shape, OperandsOf(p));
  return 0;
}

int SelectBoxListsImport(void* parameters, void*, void*) {
  const auto& p = *static_cast<const BoxesParameters*>(parameters);
  BoxesShape shape;
  int64_t begin, end;
  if (!FindInputs(p, &shape) || p.output.size < shape.list_numbers() ||
      !FindRange(p.tile.first_row, p.tile.row_count, shape.lists(), &begin,
                 &end)) {
    return kImportInvalid;
  }
  kernels::SelectBoxLists(shape, OperandsOf(p), begin, end);
  return 0;
}

int JoinBoxListsImport(void* parameters, void*, void*) {
  const auto& p = *static_cast<const JoinParameters*>(parameters);
  BoxesShape shape;
  if (!FindShape(p, false, &shape) || p.lists.size < shape.list_numbers() ||
      p.output.size < shape.output_numbers()) {
    return kImportInvalid;
  }
  kernels::JoinBoxLists(shape, p.lists.data(), p.output.data());
  return 0;
}

}  // namespace takt::cpu
