// takt/buffer_view.hpp - buffer views from C++; contracts are in
// takt/buffer_view.h, rules for errors and ownership in takt/takt.hpp.
#ifndef TAKT_BUFFER_VIEW_HPP_
#define TAKT_BUFFER_VIEW_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "takt/buffer.hpp"
#include "takt/buffer_view.h"
#include "takt/device.hpp"
#include "takt/element_type.hpp"

namespace takt {
inline namespace cxx {

// A tensor; see takt/buffer_view.h.
class BufferView
    : public Object<BufferView, takt_buffer_view_t, takt_buffer_view_retain,
                    takt_buffer_view_release> {
 public:
  using Object::Object;
  using Shape = std::span<const int64_t>;

  static Result<BufferView> Create(const Buffer& buffer,
                                   takt_element_type_t element_type,
                                   Shape shape) {
    takt_buffer_view_t* view = nullptr;
    takt_status_t status = takt_buffer_view_create(
        buffer.get(), element_type, shape.size(), shape.data(), &view);
    return TakeResult<BufferView>(status, view);
  }
  // Copies elements of the host to a new buffer.
  static Result<BufferView> Copy(const Device& device,
                                 takt_element_type_t element_type, Shape shape,
                                 const void* data, size_t byte_length) {
    takt_buffer_view_t* view = nullptr;
    takt_status_t status = takt_buffer_view_copy_from_host(
        device.get(), element_type, shape.size(), shape.data(), data,
        byte_length, &view);
    return TakeResult<BufferView>(status, view);
  }
  template <typename T>
  static Result<BufferView> Copy(const Device& device, Shape shape,
                                 std::span<const T> elements) {
    return Copy(device, ElementTypeOf<T>(), shape, elements.data(),
                elements.size_bytes());
  }
  template <typename T>
  static Result<BufferView> Copy(const Device& device,
                                 std::initializer_list<int64_t> shape,
                                 std::span<const T> elements) {
    return Copy<T>(device, Shape(shape.begin(), shape.size()), elements);
  }

  // Returns the buffer, with a new reference.
  Buffer buffer() const {
    return Buffer::Retain(takt_buffer_view_buffer(get()));
  }
  takt_element_type_t element_type() const {
    return takt_buffer_view_element_type(get());
  }
  // Borrowed from the view.
  Shape shape() const {
    return {takt_buffer_view_shape(get()), takt_buffer_view_rank(get())};
  }
  // 0 for an empty view.
  size_t element_count() const {
    size_t count = get() != nullptr ? 1 : 0;
    for (const int64_t extent : shape()) count *= static_cast<size_t>(extent);
    return count;
  }
  size_t byte_length() const { return takt_buffer_view_byte_length(get()); }

  // Copies the elements out. INVALID_ARGUMENT if T is not the type of this
  // view's elements, or the target has another number of elements.
  template <typename T>
  Status Read(std::span<T> target) const {
    if (get() != nullptr) {
      Status status = CheckElementType<T>(element_type());
      if (!status.ok()) return status;
    }
    return Status(takt_buffer_view_copy_to_host(get(), target.data(),
                                                target.size_bytes()));
  }
  template <typename T>
  Result<std::vector<T>> ToVector() const {
    std::vector<T> elements(byte_length() / sizeof(T));
    Status status = Read(std::span<T>(elements));
    if (!status.ok()) return status;
    return elements;
  }
  // Returns "2x3xf32=[1 2 3][4 5 6]", or the text of the error if the buffer
  // cannot be read.
  std::string Format(size_t element_count_max = 1024) const {
    char* text = nullptr;
    Status status(takt_buffer_view_format(get(), element_count_max, &text));
    if (!status.ok()) return status.ToString();
    std::string result = text;
    takt_string_free(text);
    return result;
  }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_BUFFER_VIEW_HPP_
