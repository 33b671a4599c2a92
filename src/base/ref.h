// Ref<T> owns one reference to a T that has Retain() and Release(): the
// intrusive smart pointer of the code base. A T made with `new` starts with
// one reference, which Adopt() takes over.
#ifndef TAKT_BASE_REF_H_
#define TAKT_BASE_REF_H_

#include <cstddef>
#include <type_traits>
#include <utility>

namespace takt {

template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT(google-explicit-constructor)
  Ref(const Ref& other) : pointer_(other.pointer_) {
    if (pointer_ != nullptr) pointer_->Retain();
  }
  Ref(Ref&& other) noexcept
      : pointer_(std::exchange(other.pointer_, nullptr)) {}
  template <typename U>
  requires std::is_convertible_v<U*, T*> Ref(
      Ref<U> other)  // NOLINT(google-explicit-constructor)
      : pointer_(other.release()) {}
  ~Ref() {
    if (pointer_ != nullptr) pointer_->Release();
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }

  // Takes over the reference that the caller owns.
  static Ref Adopt(T* pointer) {
    Ref result;
    result.pointer_ = pointer;
    return result;
  }
  // Makes a reference of its own.
  static Ref Retain(T* pointer) {
    if (pointer != nullptr) pointer->Retain();
    return Adopt(pointer);
  }

  T* get() const { return pointer_; }
  T* operator->() const { return pointer_; }
  T& operator*() const { return *pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) {
    return a.pointer_ == b.pointer_;
  }
  friend bool operator==(const Ref& a, std::nullptr_t) {
    return a.pointer_ == nullptr;
  }

  // Hands the reference to the caller.
  [[nodiscard]] T* release() { return std::exchange(pointer_, nullptr); }
  void reset() { Ref().swap(*this); }
  void swap(Ref& other) { std::swap(pointer_, other.pointer_); }

 private:
  T* pointer_ = nullptr;
};

template <typename T, typename... Args>
Ref<T> MakeRef(Args&&... args) {
  return Ref<T>::Adopt(new T(std::forward<Args>(args)...));
}

}  // namespace takt

#endif  // TAKT_BASE_REF_H_
