// takt/value.hpp - values, byte buffers and lists from C++; contracts are in
// takt/byte_buffer.h, rules for errors and ownership in takt/takt.hpp.
#ifndef TAKT_VALUE_HPP_
#define TAKT_VALUE_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "takt/buffer.hpp"
#include "takt/buffer_view.hpp"
#include "takt/byte_buffer.h"
#include "takt/fence.hpp"
#include "takt/list.h"
#include "takt/value.h"

namespace takt {
inline namespace cxx {

// Host bytes of the VM; see takt/byte_buffer.h.
class ByteBuffer
    : public Object<ByteBuffer, takt_byte_buffer_t, takt_byte_buffer_retain,
                    takt_byte_buffer_release> {
 public:
  using Object::Object;
  static Result<ByteBuffer> Copy(std::span<const uint8_t> bytes) {
    takt_byte_buffer_t* buffer = nullptr;
    takt_status_t status =
        takt_byte_buffer_create(bytes.data(), bytes.size(), &buffer);
    return TakeResult<ByteBuffer>(status, buffer);
  }
  std::span<const uint8_t> bytes() const {
    return {takt_byte_buffer_data(get()), takt_byte_buffer_byte_length(get())};
  }
};

class List;

// One argument or result. It owns a reference if it is an object.
class Value {
 public:
  Value() : value_{} {}
  Value(int32_t value) : value_(takt_value_i32(value)) {}  // NOLINT: implicit,
  Value(int64_t value) : value_(takt_value_i64(value)) {}  // NOLINT: so that
  Value(float value) : value_(takt_value_f32(value)) {}    // NOLINT: arguments
  Value(double value) : value_(takt_value_f64(value)) {}   // NOLINT: read well.
  // Shares any object of this API, or null.
  template <typename Self, typename T, void (*kRetain)(T*),
            void (*kRelease)(T*)>
  Value(Object<Self, T, kRetain, kRelease> object)  // NOLINT: likewise.
      : value_(takt_value_ref(object.release())) {}
  // Takes over what `value` owns.
  static Value Take(takt_value_t value) {
    Value result;
    result.value_ = value;
    return result;
  }
  Value(const Value& other) : value_(other.value_) {
    if (kind() == TAKT_VALUE_REF) takt_object_retain(value_.ref);
  }
  Value(Value&& other) noexcept
      : value_(std::exchange(other.value_, takt_value_t{})) {}
  Value& operator=(Value other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Value() {
    if (kind() == TAKT_VALUE_REF) takt_object_release(value_.ref);
  }

  // Hands what the value owns to the caller.
  takt_value_t release() { return std::exchange(value_, takt_value_t{}); }
  takt_value_kind_t kind() const { return value_.kind; }
  const takt_value_t& get() const { return value_; }
  // The value, which must be of the matching kind.
  int32_t i32() const { return value_.i32; }
  int64_t i64() const { return value_.i64; }
  float f32() const { return value_.f32; }
  double f64() const { return value_.f64; }
  // The object, with a new reference; empty if the value is not of this type.
  BufferView view() const {
    return BufferView::Retain(takt_value_as_buffer_view(&value_));
  }
  Buffer buffer() const {
    return Buffer::Retain(takt_value_as_buffer(&value_));
  }
  ByteBuffer bytes() const {
    return ByteBuffer::Retain(takt_value_as_byte_buffer(&value_));
  }
  Fence fence() const { return Fence::Retain(takt_value_as_fence(&value_)); }
  inline List list() const;

 private:
  takt_value_t value_;
};
// An array of Value is used as an array of takt_value_t.
static_assert(sizeof(Value) == sizeof(takt_value_t));

// See takt/list.h.
class List
    : public Object<List, takt_list_t, takt_list_retain, takt_list_release> {
 public:
  using Object::Object;
  static Result<List> Create(takt_value_kind_t element_kind = TAKT_VALUE_NONE) {
    takt_list_t* list = nullptr;
    takt_status_t status = takt_list_create(element_kind, 0, &list);
    return TakeResult<List>(status, list);
  }
  size_t size() const { return takt_list_size(get()); }
  Result<Value> Get(size_t index) const {
    takt_value_t value;
    Status status(takt_list_get(get(), index, &value));
    if (!status.ok()) return status;
    return Value::Take(value);
  }
  Status Set(size_t index, const Value& value) const {
    return Status(takt_list_set(get(), index, &value.get()));
  }
  Status Append(const Value& value) const {
    return Status(takt_list_append(get(), &value.get()));
  }
};

inline List Value::list() const {
  return List::Retain(takt_value_as_list(&value_));
}

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_VALUE_HPP_
