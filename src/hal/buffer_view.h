// A BufferView describes a buffer as a tensor: element type, encoding, shape.
// Exported functions take and return views. A view is immutable.
#ifndef TAKT_HAL_BUFFER_VIEW_H_
#define TAKT_HAL_BUFFER_VIEW_H_

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/object.h"
#include "hal/buffer.h"
#include "hal/element_type.h"

namespace takt::hal {

class BufferView final : public Object {
 public:
  // A view of the clone of its buffer.
  static Object* Clone(Object& object, CloneMap& clones);
  static constexpr ObjectType kType{"hal.buffer_view", &BufferView::Clone};

  // INVALID_ARGUMENT for a negative dimension, a rank beyond kMaxRank, or an
  // element type of 0 bits that is not opaque. OUT_OF_RANGE if a dense tensor
  // of that shape does not fit the buffer.
  static absl::StatusOr<Ref<BufferView>> Create(Ref<Buffer> buffer,
                                                ElementType element_type,
                                                EncodingType encoding,
                                                absl::Span<const int64_t> shape,
                                                BlockPool* pool = nullptr);

  Buffer* buffer() const { return buffer_.get(); }
  ElementType element_type() const { return element_type_; }
  EncodingType encoding() const { return encoding_; }
  absl::Span<const int64_t> shape() const { return shape_; }
  // Such as "2x3xf32".
  std::string ShapeAndTypeString() const;

 private:
  BufferView(Ref<Buffer> buffer, ElementType element_type,
             EncodingType encoding, absl::Span<const int64_t> shape)
      : Object(&kType),
        buffer_(std::move(buffer)),
        element_type_(element_type),
        encoding_(encoding),
        shape_(shape.begin(), shape.end()) {}

  const Ref<Buffer> buffer_;
  const ElementType element_type_;
  const EncodingType encoding_;
  const absl::InlinedVector<int64_t, 6> shape_;
};

// A shape as text: "2x3", "" for rank 0.
std::string ShapeString(absl::Span<const int64_t> shape);

// The elements as text in the form of the iree-* tools, without the leading
// "shape x type =": a pair of brackets for each level, at most
// `max_element_count` elements, then "...". The buffer must have memory. Every
// element type has a text.
absl::StatusOr<std::string> FormatElements(const BufferView& view,
                                           size_t max_element_count);
// "2x3xf32=[1 2 3][4 5 6]".
absl::StatusOr<std::string> FormatBufferView(const BufferView& view,
                                             size_t max_element_count);

}  // namespace takt::hal

#endif  // TAKT_HAL_BUFFER_VIEW_H_
