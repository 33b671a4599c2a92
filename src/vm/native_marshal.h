// Makes a native function of a C++ member function: its calling convention and
// the conversion of arguments and results follow from its signature at compile
// time. native_module.h lists the types and shows the use.
#ifndef TAKT_VM_NATIVE_MARSHAL_H_
#define TAKT_VM_NATIVE_MARSHAL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/object.h"
#include "base/ref.h"
#include "vm/call.h"

namespace takt::vm {

// The repetitions of a span argument. Each element is what a parameter of type
// T would get, or a tuple of them. Valid during the call.
template <typename... Ts>
class VarArgs;

namespace marshal {

// INVALID_ARGUMENT naming the operand, its type and the type wanted.
absl::Status RefError(size_t operand, const ObjectType& expected,
                      const Object* actual);

// Walks the argument slots; keeps the first error.
struct Reader {
  const Slot* next;
  size_t operand = 0;
  absl::Status status;
};

// Param<T>: how a parameter of type T is read. Each has
//   kLetter     in the calling convention
//   Check()     false, and reader.status set, if the slot holds no T
//   Get()       the T in a slot that passed the check
template <typename T>
struct Param;

template <typename T, char kLetterValue, auto kMember>
struct ScalarParam {
  static constexpr char kLetter = kLetterValue;
  static bool Check(const Slot&, Reader&) { return true; }
  static T Get(const Slot& slot) { return static_cast<T>(slot.*kMember); }
};
template <>
struct Param<int32_t> : ScalarParam<int32_t, 'i', &Slot::i32> {};
template <>
struct Param<uint32_t> : ScalarParam<uint32_t, 'i', &Slot::i32> {};
template <>
struct Param<int64_t> : ScalarParam<int64_t, 'I', &Slot::i64> {};
template <>
struct Param<uint64_t> : ScalarParam<uint64_t, 'I', &Slot::i64> {};
template <>
struct Param<float> : ScalarParam<float, 'f', &Slot::f32> {};
template <>
struct Param<double> : ScalarParam<double, 'F', &Slot::f64> {};

template <typename T>
struct Param<T&> {
  static constexpr char kLetter = 'r';
  static bool Check(const Slot& slot, Reader& reader) {
    if (DynCast<T>(slot.ref) != nullptr) return true;
    reader.status = RefError(reader.operand, T::kType, slot.ref);
    return false;
  }
  static T& Get(const Slot& slot) { return *static_cast<T*>(slot.ref); }
};

template <typename T>
struct Param<T*> {
  static constexpr char kLetter = 'r';
  static bool Check(const Slot& slot, Reader& reader) {
    if (slot.ref == nullptr || slot.ref->type() == &T::kType) return true;
    reader.status = RefError(reader.operand, T::kType, slot.ref);
    return false;
  }
  static T* Get(const Slot& slot) { return static_cast<T*>(slot.ref); }
};

template <>
struct Param<Object*> {
  static constexpr char kLetter = 'r';
  static bool Check(const Slot&, Reader&) { return true; }
  static Object* Get(const Slot& slot) { return slot.ref; }
};

// Argument<T>: one top-level parameter, which is a Param or a span.
template <typename T>
struct Argument {
  using Stored = const Slot*;
  static void AppendLetters(std::string* text) {
    text->push_back(Param<T>::kLetter);
  }
  static bool Read(Reader& reader, Stored* stored) {
    *stored = reader.next++;
    const bool ok = Param<T>::Check(**stored, reader);
    ++reader.operand;
    return ok;
  }
  static T Get(const Stored& stored) { return Param<T>::Get(*stored); }
};

template <typename... Ts>
struct Argument<VarArgs<Ts...>> {
  using Stored = VarArgs<Ts...>;
  static void AppendLetters(std::string* text) {
    text->push_back('C');
    (text->push_back(Param<Ts>::kLetter), ...);
    text->push_back('D');
  }
  static bool Read(Reader& reader, Stored* stored) {
    const auto count = static_cast<uint32_t>((reader.next++)->i32);
    *stored = Stored(reader.next, count);
    for (uint32_t i = 0; i < count; ++i) {
      if (!(CheckNext<Ts>(reader) && ...)) return false;
    }
    ++reader.operand;
    return true;
  }
  static Stored Get(const Stored& stored) { return stored; }

 private:
  template <typename T>
  static bool CheckNext(Reader& reader) {
    return Param<T>::Check(*reader.next++, reader);
  }
};

// Results<T>: how a value of type T becomes result slots.
template <typename T>
struct Results;

template <typename T>
requires std::is_arithmetic_v<T>
struct Results<T> {
  static void AppendLetters(std::string* text) {
    text->push_back(Param<T>::kLetter);
  }
  static void Store(T value, Slot*& next) {
    Slot slot{.i64 = 0};
    if constexpr (std::is_same_v<T, float>) {
      slot.f32 = value;
    } else if constexpr (std::is_same_v<T, double>) {
      slot.f64 = value;
    } else if constexpr (sizeof(T) == 4) {
      slot.i32 = static_cast<int32_t>(value);
    } else {
      slot.i64 = static_cast<int64_t>(value);
    }
    *next++ = slot;
  }
};

template <typename T>
struct Results<Ref<T>> {
  static void AppendLetters(std::string* text) { text->push_back('r'); }
  static void Store(Ref<T> value, Slot*& next) {
    *next++ = Slot{.ref = value.release()};
  }
};

template <typename... Ts>
struct Results<std::tuple<Ts...>> {
  static void AppendLetters(std::string* text) {
    (Results<Ts>::AppendLetters(text), ...);
    if (sizeof...(Ts) == 0) text->push_back('v');
  }
  static void Store(std::tuple<Ts...> values, Slot*& next) {
    std::apply(
        [&next](Ts&... value) {
          (Results<Ts>::Store(std::move(value), next), ...);
        },
        values);
  }
};

// Return<R>: what a method returns.
template <typename R>
struct Return;

template <>
struct Return<absl::Status> {
  static void AppendLetters(std::string* text) { text->push_back('v'); }
  static absl::Status Store(absl::Status status, NativeCall&) { return status; }
};

template <typename T>
struct Return<absl::StatusOr<T>> {
  static void AppendLetters(std::string* text) {
    Results<T>::AppendLetters(text);
  }
  // A parked call has no results yet; what it returned is dropped.
  static absl::Status Store(absl::StatusOr<T> value, NativeCall& call) {
    if (!value.ok()) return std::move(value).status();
    if (call.parked()) return absl::OkStatus();
    Slot* next = call.results();
    Results<T>::Store(*std::move(value), next);
    return absl::OkStatus();
  }
};

template <typename State, auto kMethod, bool kTakesCall, typename R,
          typename... Ts>
struct Method {
  // Such as "0rCiD_i".
  static std::string Convention() {
    std::string text = "0";
    (Argument<Ts>::AppendLetters(&text), ...);
    if (sizeof...(Ts) == 0) text.push_back('v');
    text.push_back('_');
    Return<R>::AppendLetters(&text);
    return text;
  }

  static absl::Status Call(void*, NativeCall& call) {
    return Invoke(call, std::index_sequence_for<Ts...>());
  }

 private:
  template <size_t... kIndex>
  static absl::Status Invoke(NativeCall& call, std::index_sequence<kIndex...>) {
    std::tuple<typename Argument<Ts>::Stored...> stored;
    Reader reader{call.arguments(), 0, {}};
    if (!(Argument<Ts>::Read(reader, &std::get<kIndex>(stored)) && ...)) {
      return std::move(reader.status);
    }
    auto* state = static_cast<State*>(call.state());
    if constexpr (kTakesCall) {
      return Return<R>::Store(
          (state->*kMethod)(call,
                            Argument<Ts>::Get(std::get<kIndex>(stored))...),
          call);
    } else {
      return Return<R>::Store(
          (state->*kMethod)(Argument<Ts>::Get(std::get<kIndex>(stored))...),
          call);
    }
  }
};

template <auto kMethod, typename Type = decltype(kMethod)>
struct MethodOf;

template <auto kMethod, typename S, typename R, typename... Ts>
struct MethodOf<kMethod, R (S::*)(Ts...)>
    : Method<S, kMethod, false, R, Ts...> {};
template <auto kMethod, typename S, typename R, typename... Ts>
struct MethodOf<kMethod, R (S::*)(Ts...) const>
    : Method<S, kMethod, false, R, Ts...> {};
template <auto kMethod, typename S, typename R, typename... Ts>
struct MethodOf<kMethod, R (S::*)(NativeCall&, Ts...)>
    : Method<S, kMethod, true, R, Ts...> {};
template <auto kMethod, typename S, typename R, typename... Ts>
struct MethodOf<kMethod, R (S::*)(NativeCall&, Ts...) const>
    : Method<S, kMethod, true, R, Ts...> {};

}  // namespace marshal

template <typename T>
class VarArgs<T> {
 public:
  VarArgs() = default;
  VarArgs(const Slot* slots, size_t size) : slots_(slots), size_(size) {}

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T operator[](size_t index) const {
    return marshal::Param<T>::Get(slots_[index]);
  }

 private:
  const Slot* slots_ = nullptr;
  size_t size_ = 0;
};

template <typename... Ts>
class VarArgs {
 public:
  VarArgs() = default;
  VarArgs(const Slot* slots, size_t size) : slots_(slots), size_(size) {}

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::tuple<Ts...> operator[](size_t index) const {
    return At(slots_ + index * sizeof...(Ts), std::index_sequence_for<Ts...>());
  }

 private:
  template <size_t... kIndex>
  static std::tuple<Ts...> At(const Slot* tuple,
                              std::index_sequence<kIndex...>) {
    return std::tuple<Ts...>(marshal::Param<Ts>::Get(tuple[kIndex])...);
  }

  const Slot* slots_ = nullptr;
  size_t size_ = 0;
};

// The native function made of a member function of a module's state.
template <auto kMethod>
using NativeMethod = marshal::MethodOf<kMethod>;

}  // namespace takt::vm

#endif  // TAKT_VM_NATIVE_MARSHAL_H_
