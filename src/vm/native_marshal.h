// Makes a native function of a C++ member function: its calling convention and
// the conversion of arguments and results follow from its signature at compile
// time. native_module.h lists the types and shows the use.
#ifndef TAKT_VM_NATIVE_MARSHAL_H_
#define TAKT_VM_NATIVE_MARSHAL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/object.h"
#include "base/ref.h"
#include "vm/call.h"

namespace takt::vm {

// The repetitions of a span argument. Each element is what a parameter of type
// T would get, or a tuple of them. Valid during the call.
template <typename... Ts>
class VarArgs;

namespace marshal {

// A calling convention, or a part of one, such as Text<'r', 'i'>.
template <char... kLetters>
struct Text {
  static constexpr char kValue[] = {kLetters..., '\0'};
};
template <char... kFirst, char... kSecond>
constexpr Text<kFirst..., kSecond...> operator+(Text<kFirst...>,
                                                Text<kSecond...>) {
  return {};
}
// No parameters, or no results.
template <typename... Texts>
constexpr auto Join(Texts... texts) {
  if constexpr (sizeof...(Texts) == 0) {
    return Text<'v'>();
  } else {
    return (texts + ...);
  }
}

// What the refs of a signature have to be, in the order of their letters.
struct RefRule {
  const ObjectType* type;  // Null: any.
  bool may_be_null;
};

// INVALID_ARGUMENT naming the first operand that breaks its rule, its type and
// the type wanted. At least one operand breaks its rule.
absl::Status RefError(const NativeCall& call, const char* convention,
                      const RefRule* rules);

// Param<T>: how a parameter of type T is read. Each has
//   kLetter     in the calling convention
//   kRules      of its refs: one or none
//   IsFine()    whether the slot holds a T
//   Get()       the T in a slot that is fine
template <typename T>
struct Param;

template <typename T, char kLetterValue, auto kMember>
struct ScalarParam {
  static constexpr char kLetter = kLetterValue;
  static constexpr std::array<RefRule, 0> kRules{};
  static bool IsFine(const Slot&) { return true; }
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
  static constexpr std::array<RefRule, 1> kRules{{{&T::kType, false}}};
  static bool IsFine(const Slot& slot) {
    return slot.ref != nullptr && slot.ref->type() == &T::kType;
  }
  static T& Get(const Slot& slot) { return *static_cast<T*>(slot.ref); }
};

template <typename T>
struct Param<T*> {
  static constexpr char kLetter = 'r';
  static constexpr std::array<RefRule, 1> kRules{{{&T::kType, true}}};
  static bool IsFine(const Slot& slot) {
    return slot.ref == nullptr || slot.ref->type() == &T::kType;
  }
  static T* Get(const Slot& slot) { return static_cast<T*>(slot.ref); }
};

template <>
struct Param<Object*> {
  static constexpr char kLetter = 'r';
  static constexpr std::array<RefRule, 1> kRules{{{nullptr, true}}};
  static bool IsFine(const Slot&) { return true; }
  static Object* Get(const Slot& slot) { return slot.ref; }
};

// The rules of parameters, one after the other.
template <typename... Params>
constexpr auto RulesOf() {
  std::array<RefRule, (Params::kRules.size() + ... + 0)> all{};
  [[maybe_unused]] size_t count = 0;
  [[maybe_unused]] const auto append = [&](const auto& rules) {
    for (const RefRule& rule : rules) all[count++] = rule;
  };
  (append(Params::kRules), ...);
  return all;
}

// Argument<T>: one top-level parameter, which is a Param or a span.
template <typename T>
struct Argument {
  using Stored = const Slot*;
  static constexpr auto kText = Text<Param<T>::kLetter>();
  static constexpr auto kRules = Param<T>::kRules;
  // Passes over the slots of the argument.
  static Stored Take(const Slot*& next) { return next++; }
  static bool IsFine(Stored stored) { return Param<T>::IsFine(*stored); }
  static T Get(Stored stored) { return Param<T>::Get(*stored); }
};

template <typename... Ts>
struct Argument<VarArgs<Ts...>> {
  using Stored = VarArgs<Ts...>;
  static constexpr auto kText = Text<'C', Param<Ts>::kLetter..., 'D'>();
  static constexpr auto kRules = RulesOf<Param<Ts>...>();
  static Stored Take(const Slot*& next) {
    const auto count = static_cast<uint32_t>((next++)->i32);
    const Slot* const first = next;
    next += size_t{count} * sizeof...(Ts);
    return Stored(first, count);
  }
  static bool IsFine(const Stored& stored) {
    for (const Slot* slot = stored.slots_;
         slot != stored.slots_ + stored.size_ * sizeof...(Ts);) {
      if (!(Param<Ts>::IsFine(*slot++) && ...)) return false;
    }
    return true;
  }
  static Stored Get(const Stored& stored) { return stored; }
};

// Results<T>: how a value of type T becomes result slots.
template <typename T>
struct Results;

template <typename T>
requires std::is_arithmetic_v<T>
struct Results<T> {
  static constexpr auto kText = Text<Param<T>::kLetter>();
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
  static constexpr auto kText = Text<'r'>();
  static void Store(Ref<T> value, Slot*& next) {
    *next++ = Slot{.ref = value.release()};
  }
};

template <typename... Ts>
struct Results<std::tuple<Ts...>> {
  static constexpr auto kText = Join(Results<Ts>::kText...);
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
  static constexpr auto kText = Text<'v'>();
};

template <typename T>
struct Return<absl::StatusOr<T>> {
  static constexpr auto kText = Results<T>::kText;
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
  static constexpr absl::string_view Convention() { return AllText::kValue; }

  static absl::Status Call(void*, NativeCall& call) {
    return Invoke(call, std::index_sequence_for<Ts...>());
  }

 private:
  using AllText = decltype(Text<'0'>() + Join(Argument<Ts>::kText...) +
                           Text<'_'>() + Return<R>::kText);

  template <size_t... kIndex>
  static absl::Status Invoke(NativeCall& call, std::index_sequence<kIndex...>) {
    [[maybe_unused]] const Slot* next = call.arguments();
    // The elements of a list in braces are evaluated in their order.
    const std::tuple<typename Argument<Ts>::Stored...> stored{
        Argument<Ts>::Take(next)...};
    if (!(Argument<Ts>::IsFine(std::get<kIndex>(stored)) && ...)) {
      static constexpr auto kRules = RulesOf<Argument<Ts>...>();
      return RefError(call, AllText::kValue, kRules.data());
    }
    const auto invoke = [&] {
      auto* state = static_cast<State*>(call.state());
      if constexpr (kTakesCall) {
        return (state->*kMethod)(
            call, Argument<Ts>::Get(std::get<kIndex>(stored))...);
      } else {
        return (state->*kMethod)(
            Argument<Ts>::Get(std::get<kIndex>(stored))...);
      }
    };
    if constexpr (std::is_same_v<R, absl::Status>) {
      return invoke();
    } else {
      return Return<R>::Store(invoke(), call);
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
  friend marshal::Argument<VarArgs>;

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

  friend marshal::Argument<VarArgs>;

  const Slot* slots_ = nullptr;
  size_t size_ = 0;
};

// The native function made of a member function of a module's state.
template <auto kMethod>
using NativeMethod = marshal::MethodOf<kMethod>;

}  // namespace takt::vm

#endif  // TAKT_VM_NATIVE_MARSHAL_H_
