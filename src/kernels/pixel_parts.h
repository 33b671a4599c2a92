// The pixels of a tile in equal parts for micro kernels, so that none of them
// computes few.
#ifndef TAKT_KERNELS_PIXEL_PARTS_H_
#define TAKT_KERNELS_PIXEL_PARTS_H_

#include <cstdint>

namespace takt::kernels {

struct PixelPart {
  int64_t begin, count;
};

// Parts of at most `most` pixels, each of a multiple of `step`, which is 1 or
// 2: fewer micro kernels are less code. If the pixels are no such multiple, the
// last part begins in the one before it, and both compute the same there. One
// pixel is one part. `most` is a multiple of `step`, `begin` at most `end`.
class PixelParts {
 public:
  PixelParts(int64_t begin, int64_t end, int64_t most, int64_t step)
      : begin_(begin),
        end_(end),
        step_(step),
        steps_((end - begin + step - 1) / step),
        count_((steps_ * step + most - 1) / most) {
    const int64_t pixels = end - begin;
    if (count_ == 1 && pixels > 1 && pixels % step != 0) count_ = 2;
  }

  int64_t count() const { return count_; }
  PixelPart operator[](int64_t part) const {
    const int64_t first = part * steps_ / count_;
    const int64_t last = (part + 1) * steps_ / count_;
    const int64_t count = (last - first) * step_;
    const int64_t begin = begin_ + first * step_;
    if (begin + count <= end_) return {begin, count};
    if (end_ - begin_ == 1) return {begin_, 1};
    return {end_ - count, count};
  }

 private:
  int64_t begin_, end_, step_;
  int64_t steps_, count_;
};

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_PIXEL_PARTS_H_
