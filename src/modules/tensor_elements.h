// TensorElements reads the elements of a buffer view of any type one by one: as
// bits, as a number, as text. If the host cannot see the bytes, a device copies
// them.
//
// Thread-safety: none; the bytes must not change meanwhile.
#ifndef TAKT_MODULES_TENSOR_ELEMENTS_H_
#define TAKT_MODULES_TENSOR_ELEMENTS_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hal/buffer_view.h"
#include "hal/device.h"

namespace takt::modules {

class TensorElements {
 public:
  // The bits of one element in its low bytes, the rest zero: up to 255 bits.
  using Bits = std::array<uint8_t, 32>;
  // A number, complex if the type is; `imaginary` 0 if it is not.
  struct Number {
    double real = 0;
    double imaginary = 0;
  };

  // Waits for a copy if `view` is not in memory that the host can see. Errors:
  // of mapping or copying; OUT_OF_RANGE if the buffer is too short.
  static absl::StatusOr<TensorElements> Read(hal::Device& device,
                                             const hal::BufferView& view);

  uint64_t size() const { return size_; }
  Bits BitsAt(uint64_t index) const;
  // False for types without a numerical meaning known here.
  bool NumberAt(uint64_t index, Number* number) const;
  // As the tools print it.
  std::string TextAt(uint64_t index) const;
  // "[1, 2]": the index of an element in each dimension.
  std::string IndexText(uint64_t index) const;

 private:
  TensorElements(Ref<hal::Buffer> buffer, absl::Span<const uint8_t> bytes,
                 const hal::BufferView& view, uint64_t size)
      : buffer_(std::move(buffer)), bytes_(bytes), view_(view), size_(size) {}

  Ref<hal::Buffer> buffer_;
  absl::Span<const uint8_t> bytes_;  // Of buffer_.
  const hal::BufferView& view_;
  uint64_t size_;
};

}  // namespace takt::modules

#endif  // TAKT_MODULES_TENSOR_ELEMENTS_H_
