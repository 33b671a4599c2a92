// A NativeModule exports functions written in C or C++ to other modules.
//
// C++ functions are exported with their own types. The calling convention
// follows from the signature at compile time:
//
//   class Counter : public ModuleState {
//    public:
//     absl::StatusOr<int32_t> Add(int32_t by);
//     absl::Status Append(hal::Buffer& target, vm::ByteBuffer* optional_text,
//                         VarArgs<int64_t> dims);
//   };
//   NativeModule::Builder builder("counter", /*version=*/1);
//   builder.SetStateFactory(
//       []() -> absl::StatusOr<std::unique_ptr<ModuleState>> {
//         return std::make_unique<Counter>();
//       });
//   builder.Export<&Counter::Add>("add");        // "0i_i"
//   builder.Export<&Counter::Append>("append");  // "0rrCID_v"
//   absl::StatusOr<Ref<NativeModule>> module = std::move(builder).Build();
//
// Parameter types and their letters:
//   int32_t uint32_t  i     int64_t uint64_t  I     float f     double F
//   T&                r     a ref that must be a T and not null, borrowed
//   T*                r     a ref that must be a T, or null, borrowed
//   Object*           r     any ref, or null
//   VarArgs<A, B...>  CabD  the repeated tuple
//   NativeCall&       -     (first, optional) the call itself, for parking
// Result types: absl::Status, or absl::StatusOr of a scalar, a Ref<T>, or a
// std::tuple of them. A wrong or null ref fails the call with INVALID_ARGUMENT
// that names the function, the operand's position, the types expected and got.
#ifndef TAKT_VM_NATIVE_MODULE_H_
#define TAKT_VM_NATIVE_MODULE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "vm/call.h"
#include "vm/module.h"
#include "vm/native_marshal.h"

namespace takt::vm {

class NativeModule final : public Module {
 public:
  static constexpr ObjectType kType{"vm.native_module"};
  using StateFactory =
      std::function<absl::StatusOr<std::unique_ptr<ModuleState>>()>;

  struct Function {
    NativeFunction function = nullptr;
    void* self = nullptr;  // Handed to `function`.
  };

  class Builder {
   public:
    Builder(std::string name, uint32_t version);

    // Kept alive with the module.
    void SetOwner(std::shared_ptr<void> owner);
    // Makes what each context holds. Default: nothing.
    void SetStateFactory(StateFactory factory);
    // Says that a call of this module by an initializer has no effect besides
    // its results. Then a second context may start from a copy of the state
    // that the first one's initializer left.
    void SetInitializersRepeatable(bool repeatable);
    // Names the compilers whose imports the module serves (module.h).
    void SetCompilers(std::string compilers);
    // Exports `function` under an explicit calling convention.
    void ExportRaw(absl::string_view name, absl::string_view convention,
                   NativeFunction function, void* self,
                   absl::string_view compilers = {});
    // Exports a member function of the module's state (see above). A name may
    // be exported again with another convention, and the `compilers` that
    // import that. The convention of today's compiler goes first: a lookup by
    // name alone finds it.
    template <auto kMethod>
    void Export(absl::string_view name, absl::string_view compilers = {}) {
      using M = NativeMethod<kMethod>;
      ExportRaw(name, M::Convention(), &M::Call, nullptr, compilers);
    }

    // INVALID_ARGUMENT for a malformed convention, or a name given twice with
    // the same one.
    absl::StatusOr<Ref<NativeModule>> Build() &&;

   private:
    friend class NativeModule;
    std::string name_;
    uint32_t version_;
    std::string compilers_;
    std::shared_ptr<void> owner_;
    StateFactory factory_;
    bool repeatable_ = false;
    struct Entry {
      std::string name;
      std::string convention;
      Function function;
      std::string compilers;
    };
    std::vector<Entry> entries_;
  };

  // Parallel to exports().
  const std::vector<Function>& functions() const { return functions_; }
  bool initializers_repeatable() const { return repeatable_; }

  absl::StatusOr<std::unique_ptr<ModuleState>> CreateState() const override;

 private:
  NativeModule() : Module(&kType, Kind::kNative) {}

  std::shared_ptr<void> owner_;
  StateFactory factory_;
  bool repeatable_ = false;
  std::vector<Function> functions_;
};

}  // namespace takt::vm

#endif  // TAKT_VM_NATIVE_MODULE_H_
