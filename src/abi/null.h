// Pointers that must not be NULL (takt/base.h has the rule). The first
// statement of an exported function names them:
//
//   TAKT_REQUIRE(list, Items(count, values), Optional(out_index), out_value);
//
// This costs one comparison for each pointer. TAKT_REQUIRE is for functions
// that return a status, TAKT_REQUIRE_OR for functions that return a value, and
// TAKT_IGNORE_NULL for functions that return nothing.
#ifndef TAKT_ABI_NULL_H_
#define TAKT_ABI_NULL_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "absl/base/optimization.h"
#include "takt/status.h"

// Returns INVALID_ARGUMENT with the name of the first pointer that is NULL.
// Out-parameters then receive zeros.
#define TAKT_REQUIRE(...)                                                 \
  do {                                                                    \
    using ::takt::abi::Items;                                             \
    using ::takt::abi::Optional;                                          \
    if (ABSL_PREDICT_FALSE(::takt::abi::FindNull(__VA_ARGS__) >= 0)) {    \
      ::takt::abi::ClearAll(__VA_ARGS__);                                 \
      return ::takt::abi::RefuseNull(__func__, #__VA_ARGS__,              \
                                     ::takt::abi::FindNull(__VA_ARGS__)); \
    }                                                                     \
  } while (false)

// The same for a function that returns a value: returns `result`.
#define TAKT_REQUIRE_OR(result, ...)                                   \
  do {                                                                 \
    using ::takt::abi::Items;                                          \
    using ::takt::abi::Optional;                                       \
    if (ABSL_PREDICT_FALSE(::takt::abi::FindNull(__VA_ARGS__) >= 0)) { \
      ::takt::abi::ClearAll(__VA_ARGS__);                              \
      return result;                                                   \
    }                                                                  \
  } while (false)

#define TAKT_IGNORE_NULL(...) TAKT_REQUIRE_OR(, __VA_ARGS__)

namespace takt::abi {

// An array that may be NULL if it is empty.
template <typename T>
struct Items {
  Items(size_t n, T* array) : count(n), pointer(array) {}
  size_t count;
  T* pointer;
};

// An out-parameter that may be NULL. It is listed so that it receives zeros.
template <typename T>
struct Optional {
  explicit Optional(T* target) : pointer(target) {}
  T* pointer;
};

template <typename T>
constexpr bool IsNull(T* pointer) {
  return pointer == nullptr;
}
template <typename T>
constexpr bool IsNull(const Items<T>& items) {
  return items.pointer == nullptr && items.count != 0;
}
template <typename T>
constexpr bool IsNull(const Optional<T>&) {
  return false;
}

// The index of the first argument that is NULL; -1 if none is.
template <typename... Arguments>
constexpr int FindNull(const Arguments&... arguments) {
  int index = 0;
  const bool found = ((IsNull(arguments) || (++index, false)) || ...);
  return found ? index : -1;
}

template <typename T>
concept Complete = !std::is_void_v<T> && !std::is_function_v<T> && requires {
  sizeof(T);
};
template <typename T>
concept Sized = requires(T value) {
  value.struct_size;
};

// Writes zeros into `count` results, and -1 into a file descriptor (int).
// Pointers to const objects, handles and untyped memory are no results. A
// struct keeps its struct_size, which limits how much of it is written.
template <typename T>
void Clear(size_t count, T* target) {
  if constexpr (!std::is_const_v<T> && Complete<T>) {
    if (target == nullptr) return;
    if constexpr (Sized<T>) {
      constexpr size_t kBegin = sizeof(target->struct_size);
      const size_t end = std::min(target->struct_size, sizeof(T));
      if (end > kBegin) {
        std::memset(reinterpret_cast<char*>(target) + kBegin, 0, end - kBegin);
      }
    } else if constexpr (std::is_same_v<T, int>) {
      *target = -1;
    } else {
      std::memset(static_cast<void*>(target), 0, count * sizeof(T));
    }
  }
}
template <typename T>
void ClearOne(T* pointer) {
  Clear(1, pointer);
}
template <typename T>
void ClearOne(const Items<T>& items) {
  Clear(items.count, items.pointer);
}
template <typename T>
void ClearOne(const Optional<T>& optional) {
  Clear(1, optional.pointer);
}
template <typename... Arguments>
void ClearAll(const Arguments&... arguments) {
  (ClearOne(arguments), ...);
}

// `names` is the text of the macro's arguments, `index` the one that is NULL.
takt_status_t RefuseNull(const char* source, const char* names, int index);

}  // namespace takt::abi

#endif  // TAKT_ABI_NULL_H_
