// Loads modules made by module_builder.h, links them and calls their functions.
#ifndef TAKT_TESTS_VM_VM_TEST_UTIL_H_
#define TAKT_TESTS_VM_VM_TEST_UTIL_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/object.h"
#include "tests/vm/module_builder.h"
#include "vm/bytecode_module.h"
#include "vm/context.h"
#include "vm/invocation.h"
#include "vm/type_registry.h"

#define TAKT_ASSERT_OK(expression)                        \
  do {                                                    \
    const absl::Status takt_assert_ok_ = (expression);    \
    ASSERT_TRUE(takt_assert_ok_.ok()) << takt_assert_ok_; \
  } while (false)

namespace takt::vm {

// The bytes of a module, aligned as a mapped file is.
class ModuleBytes final : public Object {
 public:
  static constexpr ObjectType kType{"test.module_bytes"};
  explicit ModuleBytes(const std::vector<uint8_t>& bytes)
      : Object(&kType), size_(bytes.size()), storage_(bytes.size() / 64 + 1) {
    std::memcpy(storage_.data(), bytes.data(), bytes.size());
  }
  absl::Span<const uint8_t> bytes() const {
    return {reinterpret_cast<const uint8_t*>(storage_.data()), size_};
  }

 private:
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  const size_t size_;
  std::vector<Line> storage_;
};

inline absl::StatusOr<Ref<BytecodeModule>> TryLoad(
    const ModuleBuilder& builder) {
  TypeRegistry types;
  auto bytes = MakeRef<ModuleBytes>(builder.Build());
  return BytecodeModule::Load(types, bytes->bytes(), bytes, "test.vmfb");
}

inline Ref<Module> Load(const ModuleBuilder& builder) {
  absl::StatusOr<Ref<BytecodeModule>> module = TryLoad(builder);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? Ref<Module>(*std::move(module)) : nullptr;
}

inline Ref<Context> Link(const std::vector<Ref<Module>>& modules) {
  absl::StatusOr<Ref<Context>> context = Context::Create(modules, nullptr);
  EXPECT_TRUE(context.ok()) << context.status();
  return context.ok() ? *std::move(context) : nullptr;
}

inline absl::StatusOr<std::vector<Value>> Call(Context& context,
                                               const std::string& function,
                                               std::vector<Value> arguments) {
  absl::StatusOr<FunctionRef> ref = context.FindFunction(function);
  if (!ref.ok()) return ref.status();
  return Invoke(context, *ref, absl::MakeSpan(arguments));
}

// A module of one exported function "f", called once.
inline absl::StatusOr<std::vector<Value>> RunBody(
    const std::string& convention, const BodyBuilder& body,
    uint16_t value_registers, uint16_t ref_registers,
    std::vector<Value> arguments, ModuleBuilder builder = ModuleBuilder("m")) {
  builder.Export("f", static_cast<int32_t>(builder.AddFunction(
                          convention, body, value_registers, ref_registers)));
  absl::StatusOr<Ref<BytecodeModule>> module = TryLoad(builder);
  if (!module.ok()) return module.status();
  std::vector<Ref<Module>> modules{*module};
  absl::StatusOr<Ref<Context>> context = Context::Create(modules, nullptr);
  if (!context.ok()) return context.status();
  return Call(**context, "f", std::move(arguments));
}

// Values are the same, bit for bit.
inline bool SameBits(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case ValueKind::kI32:
    case ValueKind::kF32:
      return a.slot().i32 == b.slot().i32;
    default:
      return a.slot().i64 == b.slot().i64;
  }
}

inline std::string Describe(const Value& value) {
  switch (value.kind()) {
    case ValueKind::kI32:
      return "i32=" + std::to_string(value.i32());
    case ValueKind::kI64:
      return "i64=" + std::to_string(value.i64());
    case ValueKind::kF32:
      return "f32=" + std::to_string(value.f32());
    case ValueKind::kF64:
      return "f64=" + std::to_string(value.f64());
    default:
      return ValueKindName(value.kind());
  }
}

}  // namespace takt::vm

#endif  // TAKT_TESTS_VM_VM_TEST_UTIL_H_
