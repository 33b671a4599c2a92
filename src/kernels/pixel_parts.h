// The pixels of a tile in equal parts for micro kernels, so that none of them
// computes few.
#ifndef TAKT_KERNELS_PIXEL_PARTS_H_
#define TAKT_KERNELS_PIXEL_PARTS_H_

#include <algorithm>
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
        count_(((end - begin + step - 1) / step * step + most - 1) / most) {
    const int64_t pixels = end - begin;
    const int64_t steps = (pixels + step - 1) / step;
    if (count_ == 1 && pixels > 1 && pixels % step != 0) count_ = 2;
    if (count_ == 0) return;
    each_ = steps / count_;
    larger_ = steps % count_;
  }

  int64_t count() const { return count_; }
  PixelPart operator[](int64_t part) const {
    const int64_t first = part * each_ + std::min(part, larger_);
    const int64_t count = (each_ + (part < larger_ ? 1 : 0)) * step_;
    const int64_t begin = begin_ + first * step_;
    if (begin + count <= end_) return {begin, count};
    if (end_ - begin_ == 1) return {begin_, 1};
    return {end_ - count, count};
  }
  // The end of the parts from `part` on, at most `end`, that follow each other
  // and have as many pixels.
  [[gnu::noinline]] int64_t EqualEnd(int64_t part, int64_t end) const {
    const PixelPart first = (*this)[part];
    int64_t next = part + 1;
    while (next < end) {
      const PixelPart other = (*this)[next];
      if (other.count != first.count ||
          other.begin != first.begin + (next - part) * first.count) {
        break;
      }
      ++next;
    }
    return next;
  }

 private:
  int64_t begin_, end_, step_;
  int64_t count_;
  // The steps of a part, and how many parts have one more. A part is found
  // without a division, which takes as long as some products.
  int64_t each_ = 0, larger_ = 0;
};

}  // namespace takt::kernels

#endif  // TAKT_KERNELS_PIXEL_PARTS_H_
