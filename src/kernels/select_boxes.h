// Non-maximum suppression, as the operator NonMaxSuppression of ONNX defines
// it: of the boxes of a class, the one with the greatest score is taken, and
// all that overlap it by more than a share of their union are left out; then
// the next one.
#ifndef TAKT_KERNELS_SELECT_BOXES_H_
#define TAKT_KERNELS_SELECT_BOXES_H_

#include <algorithm>
#include <cstdint>

namespace takt::kernels {

inline constexpr int64_t kBoxesMax = 1 << 16;

struct BoxesShape {
  int64_t batch, classes;
  int64_t boxes;     // At most kBoxesMax.
  int64_t most;      // So many of a class of an image are taken, at most.
  bool is_centered;  // A box is a center and a size, not two corners.

  int64_t lists() const { return batch * classes; }
  int64_t most_of_list() const { return std::min(most, boxes); }
  int64_t rows() const { return lists() * most_of_list(); }
  // How many numbers there are in all lists, and in the output of all boxes.
  int64_t list_numbers() const { return rows() + lists(); }
  int64_t output_numbers() const { return 3 * (1 + rows()); }
};

struct BoxesOperands {
  const float* boxes;   // [batch][boxes][4]
  const float* scores;  // [batch][classes][boxes]
  // SelectBoxes() writes [1 + rows()][3]: how many boxes were taken, 0, 0; then
  // the image, the class and the number of each, and zeros. Images come in
  // their order, classes in theirs, boxes by falling scores, and those of equal
  // scores in their order. SelectBoxLists() writes
  // [lists()][1 + most_of_list()]: how many boxes were taken of a class of an
  // image, and their numbers. What follows stays as it is.
  int32_t* output;
  float overlap_max;  // Boxes that overlap by more, intersection by union, go.
  float score_min;    // Scores that are not greater are left out.
};

// Takes no memory but 128 KiB of the stack. At most classes * boxes * most
// steps for each image.
void SelectBoxes(const BoxesShape& shape, const BoxesOperands& operands);

// Makes the lists from `begin` on, below `end`; list i is of the image
// i / classes. As SelectBoxes().
void SelectBoxLists(const BoxesShape& shape, const BoxesOperands& operands,
                    int64_t begin, int64_t end);

// Makes the output of SelectBoxes() from the lists of SelectBoxLists(), but
// leaves what follows the boxes as it is. A list that says that it has more
// boxes than it can have has as many as it can have, or none below 0.
void JoinBoxLists(const BoxesShape& shape, const int32_t* lists,
                  int32_t* output);

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_SELECT_BOXES_H_
