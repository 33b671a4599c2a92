// Loads a module; if it loads, links it with stubs of its imports and calls
// every export with a step limit. Errors are expected, but no crash, no leak
// and no endless loop.
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "vm/byte_buffer.h"
#include "vm/bytecode_archive.h"
#include "vm/bytecode_module.h"
#include "vm/context.h"
#include "vm/disassembler.h"
#include "vm/invocation.h"
#include "vm/list.h"
#include "vm/native_module.h"
#include "vm/type_registry.h"

namespace takt::vm {
namespace {

constexpr uint64_t kStepLimit = 2000;

// The stubs return these objects as "!hal.buffer" and the like. There is one
// object for each type name, so that type checks work as in a real program.
class StubObject final : public Object {
 public:
  explicit StubObject(const ObjectType* type) : Object(type) {}
};
constexpr ObjectType kStubTypes[] = {
    {"hal.allocator"},      {"hal.buffer"}, {"hal.buffer_view"},
    {"hal.command_buffer"}, {"hal.device"}, {"hal.executable"},
    {"hal.fence"},          {"hal.file"},   {"stub.other"},
};

const TypeRegistry& Types() {
  static const TypeRegistry* const kTypes = [] {
    auto* types = new TypeRegistry;
    for (const ObjectType& type : kStubTypes) {
      if (!types->Register(&type).ok()) __builtin_trap();
    }
    return types;
  }();
  return *kTypes;
}

// A ref of some kind, by a number: null, buffers, a list, a stub.
Ref<Object> MakeRefFor(size_t choice) {
  switch (choice % 5) {
    case 0:
      return nullptr;
    case 1: {
      absl::StatusOr<Ref<ByteBuffer>> buffer = ByteBuffer::Allocate(64, 16);
      return buffer.ok() ? Ref<Object>(*std::move(buffer)) : nullptr;
    }
    case 2:
      return List::Create({ValueKind::kRef, nullptr}, 2);
    case 3:
      return List::Create({ValueKind::kI32, nullptr}, 2);
    default:
      return Ref<Object>::Adopt(new StubObject(
          &kStubTypes[choice % (sizeof(kStubTypes) / sizeof(ObjectType))]));
  }
}

// A native function of any convention: reads every argument, returns some
// result, and sometimes fails or parks.
struct Stub {
  CallingConvention convention;
  size_t calls = 0;
  uint64_t seen = 0;
};

absl::Status CallStub(void* self, NativeCall& call) {
  Stub& stub = *static_cast<Stub*>(self);
  const size_t number = stub.calls++;
  const Slot* slot = call.arguments();
  const auto look = [&stub, &slot](Letter letter) {
    const Slot& value = *slot++;
    if (letter == Letter::kRef) {
      stub.seen += value.ref != nullptr ? value.ref->reference_count() : 0;
    } else if (letter == Letter::kI32 || letter == Letter::kF32) {
      stub.seen += static_cast<uint32_t>(value.i32);
    } else {
      stub.seen += static_cast<uint64_t>(value.i64);
    }
  };
  for (const CallingConvention::Argument& argument :
       stub.convention.arguments) {
    const int32_t repetitions = argument.is_span ? (slot++)->i32 : 1;
    for (int32_t i = 0; i < repetitions; ++i) {
      for (Letter letter : argument.letters) look(letter);
    }
  }
  if (number % 16 == 15) return absl::DataLossError("stub");
  for (size_t i = 0; i < stub.convention.results.size(); ++i) {
    Slot& result = call.results()[i];
    result.i64 = static_cast<int64_t>(number % 3);
    if (stub.convention.results[i] == Letter::kRef) {
      result.ref = MakeRefFor(number + i).release();
    }
  }
  return absl::OkStatus();
}

// Modules that export what `archive` imports.
class Stubs {
 public:
  explicit Stubs(const Module& module) {
    std::set<std::string> names;
    for (const ImportInfo& import : module.imports()) {
      if (!names.insert(import.full_name).second) continue;
      const size_t dot = import.full_name.find('.');
      auto stub = std::make_unique<Stub>();
      stub->convention = import.convention;
      BuilderFor(import.full_name.substr(0, dot))
          .ExportRaw(import.full_name.substr(dot + 1), import.convention.text,
                     &CallStub, stub.get());
      stubs_.push_back(std::move(stub));
    }
    for (const Dependency& dependency : module.dependencies()) {
      BuilderFor(dependency.module_name);
    }
  }

  std::vector<Ref<Module>> Build() && {
    std::vector<Ref<Module>> modules;
    for (auto& [name, builder] : builders_) {
      absl::StatusOr<Ref<NativeModule>> module = std::move(builder).Build();
      if (module.ok()) modules.push_back(*std::move(module));
    }
    return modules;
  }

 private:
  NativeModule::Builder& BuilderFor(const std::string& name) {
    return builders_.try_emplace(name, name, 0xffffffffu).first->second;
  }

  std::map<std::string, NativeModule::Builder> builders_;
  std::vector<std::unique_ptr<Stub>> stubs_;
};

Value ArgumentFor(Letter letter, size_t index) {
  switch (letter) {
    case Letter::kI32:
      return Value::I32(static_cast<int32_t>(index) + 3);
    case Letter::kI64:
      return Value::I64(static_cast<int64_t>(index) + 20);
    case Letter::kF32:
      return Value::F32(1.5f);
    case Letter::kF64:
      return Value::F64(-2.5);
    case Letter::kRef:
      return Value::FromRef(MakeRefFor(index + 1));
  }
  return Value();
}

void CallExport(Context& context, FunctionRef function) {
  std::vector<Value> arguments;
  for (const auto& argument : context.info(function).convention.arguments) {
    if (argument.is_span || argument.letters.empty()) return;
    arguments.push_back(ArgumentFor(argument.letters[0], arguments.size()));
  }
  absl::StatusOr<Ref<Invocation>> invocation =
      Invocation::Create(context, function, absl::MakeSpan(arguments));
  if (!invocation.ok()) return;
  (*invocation)->SetStepLimit(kStepLimit);
  (*invocation)->RunToEnd().IgnoreError();
}

void Run(const Ref<BytecodeModule>& module) {
  Stubs stubs(*module);
  // Moved out of the same object that owns the stubs: both live to the end.
  std::vector<Ref<Module>> modules = std::move(stubs).Build();
  const auto index = static_cast<uint32_t>(modules.size());
  modules.push_back(module);
  absl::StatusOr<Ref<Context>> context =
      Context::Create(modules, nullptr, kStepLimit);
  if (!context.ok()) return;
  for (uint32_t i = 0; i < module->exports().size() && i < 64; ++i) {
    CallExport(**context, {index, i});
  }
}

}  // namespace
}  // namespace takt::vm

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace takt::vm;  // NOLINT(google-build-using-namespace)
  const absl::StatusOr<BytecodeArchive> archive =
      BytecodeArchive::Parse({data, size});
  if (!archive.ok()) return 0;
  archive->ReadSourceMaps();
  for (size_t i = 0; i < archive->functions.size(); ++i) {
    DisassembleFunction(*archive, i).IgnoreError();
  }
  absl::StatusOr<takt::Ref<BytecodeModule>> module =
      BytecodeModule::Load(Types(), {data, size}, nullptr, "fuzz");
  if (module.ok()) Run(*module);
  return 0;
}
