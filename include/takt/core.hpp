// takt/core.hpp - the base of the C++ interface: statuses, results and handles.
// Rules for errors and ownership are in takt/takt.hpp.
#ifndef TAKT_CORE_HPP_
#define TAKT_CORE_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "takt/status.h"

namespace takt {
inline namespace cxx {

// The outcome of a call. Owns its takt_status_t.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // Takes `status`.
  explicit Status(takt_status_t status) : status_(status) {}
  Status(takt_status_code_t code, const std::string& message)
      : status_(takt_status_create(code, message.c_str())) {}
  Status(const Status& other) : status_(takt_status_clone(other.status_)) {}
  Status(Status&& other) noexcept
      : status_(std::exchange(other.status_, nullptr)) {}
  Status& operator=(Status other) noexcept {
    std::swap(status_, other.status_);
    return *this;
  }
  ~Status() { takt_status_free(status_); }

  bool ok() const { return status_ == nullptr; }
  takt_status_code_t code() const { return takt_status_code(status_); }
  std::string_view message() const { return takt_status_message(status_); }
  std::string_view source() const { return takt_status_source(status_); }
  // "NOT_FOUND: model.vmfb: ..."; "OK".
  std::string ToString() const {
    std::string text = takt_status_code_name(code());
    if (!message().empty()) text.append(": ").append(message());
    return text;
  }
  // Hands the C status to the caller.
  takt_status_t release() { return std::exchange(status_, nullptr); }

 private:
  takt_status_t status_ = nullptr;
};

// A T, or an error.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: implicit, as a T.
  Result(Status error) : status_(std::move(error)) {}  // NOLINT: likewise.

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }

  // The value. Prints the error and aborts the process if there is no value.
  T& value() & {
    RequireValue();
    return *value_;
  }
  const T& value() const& {
    RequireValue();
    return *value_;
  }
  T value() && {
    RequireValue();
    return *std::move(value_);
  }
  // The value of an ok() result.
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  void RequireValue() const {
    if (ok()) return;
    std::fprintf(stderr, "%s\n", status_.ToString().c_str());
    std::abort();
  }

  std::optional<T> value_;
  Status status_;
};

// One reference of a C object.
template <typename T, void (*kRetain)(T*), void (*kRelease)(T*)>
class Handle {
 public:
  using CType = T;

  Handle() = default;
  Handle(const Handle& other) : pointer_(other.pointer_) { kRetain(pointer_); }
  Handle(Handle&& other) noexcept
      : pointer_(std::exchange(other.pointer_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~Handle() { kRelease(pointer_); }

  // Borrowed.
  T* get() const { return pointer_; }
  // Hands the reference to the caller.
  T* release() { return std::exchange(pointer_, nullptr); }
  explicit operator bool() const { return pointer_ != nullptr; }

 protected:
  // Takes the reference.
  explicit Handle(T* pointer) : pointer_(pointer) {}

 private:
  T* pointer_ = nullptr;
};

// Returns an `Object` that owns the reference from a C function, or the error.
template <typename Object>
Result<Object> TakeResult(takt_status_t status,
                          typename Object::CType* pointer) {
  if (status != nullptr) return Status(status);
  return Object::Take(pointer);
}

// The base of all classes of objects. Take() makes an object that owns the
// caller's reference, Retain() one with a reference of its own.
template <typename Self, typename T, void (*kRetain)(T*), void (*kRelease)(T*)>
class Object : public Handle<T, kRetain, kRelease> {
 public:
  using Handle<T, kRetain, kRelease>::Handle;
  static Self Take(T* pointer) { return Self(pointer); }
  static Self Retain(T* pointer) {
    kRetain(pointer);
    return Self(pointer);
  }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_CORE_HPP_
