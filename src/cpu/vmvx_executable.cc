#include "cpu/vmvx_executable.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "vm/byte_buffer.h"
#include "vm/invocation.h"

namespace takt::cpu {
namespace {

constexpr absl::string_view kEntryConvention = "0rrriiiiiiiii_v";
constexpr absl::string_view kSetConstants = "__set_constants";
// The prefix of the module's own functions. Names of kernels may have it, too.
constexpr absl::string_view kReservedPrefix = "__";
constexpr absl::string_view kReserved[] = {"__init", "__deinit", "__notify",
                                           kSetConstants};

constexpr uint32_t kMaxLocalMemoryBytes = 16 << 20;
constexpr uint32_t kMaxConstantCount = 256;
static_assert(kMaxBindings == 256);
// The step limit of an initializer and of a destructor of the kernels' module:
// some 0.1 s. Those that a compiler writes run a few dozen steps.
constexpr uint64_t kInitializerSteps = 1 << 24;

// The attribute as a number of at most `most`; 0 if it is missing.
absl::StatusOr<uint32_t> ReadAttribute(const vm::ExportInfo& function,
                                       absl::string_view key, uint32_t most) {
  const std::string* const text = function.FindAttribute(key);
  uint32_t value = 0;
  if (text != nullptr && (!absl::SimpleAtoi(*text, &value) || value > most)) {
    return absl::DataLossError(
        absl::StrCat("vmvx executable: ", function.name, ": ", key, " is ",
                     *text, ", expected a number of at most ", most));
  }
  return value;
}

// Whether no dispatch can name `function`.
bool IsReserved(const vm::ExportInfo& function) {
  if (!absl::StartsWith(function.name, kReservedPrefix)) return false;
  return function.convention.text != kEntryConvention ||
         std::find(std::begin(kReserved), std::end(kReserved), function.name) !=
             std::end(kReserved);
}

// `bytes` as an object that keeps them, aligned as rodata must be.
absl::StatusOr<Ref<vm::ByteBuffer>> CopyBytes(absl::Span<const uint8_t> bytes) {
  constexpr uint32_t kAlignment = 64;
  TAKT_ASSIGN_OR_RETURN(auto copy,
                        vm::ByteBuffer::Allocate(bytes.size(), kAlignment));
  if (!bytes.empty()) std::memcpy(copy->data(), bytes.data(), bytes.size());
  return copy;
}

}  // namespace

struct VmvxExecutable::Operands {
  Ref<vm::ByteBuffer> local_memory;
  Ref<vm::ByteBuffer> constants;
};

bool VmvxExecutable::IsAvailable() { return true; }

absl::StatusOr<std::shared_ptr<ExecutableCode>> VmvxExecutable::Load(
    absl::Span<const uint8_t> data, Ref<Object> owner,
    absl::Span<const uint32_t> constants, Ref<vm::NativeModule> vmvx_module,
    bool is_sequential) {
  if (owner == nullptr) {
    TAKT_ASSIGN_OR_RETURN(auto copy, CopyBytes(data));
    data = copy->bytes();
    owner = std::move(copy);
  }
  std::shared_ptr<VmvxExecutable> code(new VmvxExecutable);
  // Executables know no types but the VM's own.
  const vm::TypeRegistry types;
  TAKT_ASSIGN_OR_RETURN(code->module_,
                        vm::BytecodeModule::Load(types, data, std::move(owner),
                                                 "vmvx executable"));
  code->vmvx_module_ = std::move(vmvx_module);
  code->constants_.assign(constants.begin(), constants.end());
  TAKT_RETURN_IF_ERROR(code->ReadFunctions(is_sequential));
  // A module that cannot be linked fails now.
  TAKT_ASSIGN_OR_RETURN(auto instance, code->CreateInstance());
  code->ReleaseInstance(std::move(instance), 0);
  return code;
}

VmvxExecutable::~VmvxExecutable() {
  for (std::atomic<Instance*>& slot : idle_) {
    delete slot.load(std::memory_order_acquire);
  }
}

absl::Status VmvxExecutable::ReadFunctions(bool is_sequential) {
  std::vector<Function> functions;
  const std::vector<vm::ExportInfo>& exports = module_->exports();
  for (size_t i = 0; i < exports.size(); ++i) {
    const vm::ExportInfo& info = exports[i];
    if (IsReserved(info)) continue;
    if (info.convention.text != kEntryConvention) {
      return absl::DataLossError(
          absl::StrCat("vmvx executable: ", info.name, ": signature ",
                       info.convention.text, ", expected ", kEntryConvention));
    }
    Function function;
    function.name = info.name;
    function.is_sequential = is_sequential;
    TAKT_ASSIGN_OR_RETURN(
        function.local_memory_bytes,
        ReadAttribute(info, "local_memory", kMaxLocalMemoryBytes));
    TAKT_ASSIGN_OR_RETURN(
        function.constant_count,
        ReadAttribute(info, "constant_count", kMaxConstantCount));
    TAKT_ASSIGN_OR_RETURN(function.binding_count,
                          ReadAttribute(info, "binding_count", kMaxBindings));
    functions.push_back(std::move(function));
    entries_.push_back({1, static_cast<uint32_t>(i)});
  }
  SetFunctions(std::move(functions));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<VmvxExecutable::Instance>>
VmvxExecutable::CreateInstance() const {
  auto instance = std::make_unique<Instance>();
  const Ref<vm::Module> modules[] = {vmvx_module_, module_};
  TAKT_ASSIGN_OR_RETURN(
      instance->context,
      vm::Context::Create(modules, /*waiter=*/nullptr, kInitializerSteps));
  TAKT_RETURN_IF_ERROR(SetConstants(*instance->context));
  instance->bindings =
      vm::List::Create({vm::ValueKind::kRef, &vm::ByteBuffer::kType}, 0);
  return instance;
}

absl::Status VmvxExecutable::SetConstants(vm::Context& context) const {
  const auto setter = module_->FindExport(kSetConstants);
  if (!setter.has_value()) {
    if (constants_.empty()) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        "vmvx executable: expected 0 constants, got ", constants_.size()));
  }
  // The module gets a copy of its own, because it may keep it.
  TAKT_ASSIGN_OR_RETURN(
      auto buffer,
      CopyBytes({reinterpret_cast<const uint8_t*>(constants_.data()),
                 constants_.size() * sizeof(uint32_t)}));
  vm::Value arguments[] = {vm::Value::FromRef(std::move(buffer))};
  const vm::FunctionRef function = {1, static_cast<uint32_t>(*setter)};
  TAKT_ASSIGN_OR_RETURN(
      const Ref<vm::Invocation> invocation,
      vm::Invocation::Create(context, function, absl::MakeSpan(arguments)));
  invocation->SetStepLimit(kInitializerSteps);
  return invocation->RunToEnd();
}

absl::StatusOr<std::unique_ptr<VmvxExecutable::Instance>>
VmvxExecutable::AcquireInstance(uint32_t hint) {
  for (size_t i = 0; i < kIdleSlots; ++i) {
    std::atomic<Instance*>& slot = idle_[(hint + i) % kIdleSlots];
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    if (Instance* found = slot.exchange(nullptr, std::memory_order_acquire)) {
      return std::unique_ptr<Instance>(found);
    }
  }
  return CreateInstance();
}

void VmvxExecutable::ReleaseInstance(std::unique_ptr<Instance> instance,
                                     uint32_t hint) {
  for (size_t i = 0; i < kIdleSlots; ++i) {
    Instance* expected = nullptr;
    if (idle_[(hint + i) % kIdleSlots].compare_exchange_strong(
            expected, instance.get(), std::memory_order_release,
            std::memory_order_relaxed)) {
      (void)instance.release();
      return;
    }
  }
}

absl::Status VmvxExecutable::RunWorkgroups(size_t function,
                                           const DispatchArguments& arguments,
                                           uint32_t begin, uint32_t end,
                                           exec::Worker& worker) {
  const Function& info = functions()[function];
  TAKT_DCHECK(worker.local_bytes >= info.local_memory_bytes);
  TAKT_ASSIGN_OR_RETURN(auto instance, AcquireInstance(worker.index));
  vm::List& bindings = *instance->bindings;
  TAKT_RETURN_IF_ERROR(bindings.Resize(info.binding_count));
  for (size_t i = 0; i < info.binding_count; ++i) {
    TAKT_RETURN_IF_ERROR(bindings.SetRef(
        i, vm::ByteBuffer::Wrap(
               nullptr, static_cast<uint8_t*>(arguments.bindings[i]),
               arguments.binding_lengths[i],
               /*is_mutable=*/!arguments.is_read_only(i), blocks_.get())));
  }
  Operands operands;
  operands.local_memory = vm::ByteBuffer::Wrap(
      nullptr, worker.local_memory, info.local_memory_bytes,
      /*is_mutable=*/true, blocks_.get());
  // Never written through: the buffer is read-only.
  operands.constants = vm::ByteBuffer::Wrap(
      nullptr,
      const_cast<uint8_t*>(
          reinterpret_cast<const uint8_t*>(arguments.constants)),
      info.constant_count * sizeof(uint32_t), /*is_mutable=*/false,
      blocks_.get());
  absl::Status status = RunInInstance(*instance, function, arguments, begin,
                                      end, operands, worker);

  // The module must not keep a view of memory that others own.
  bool is_kept = !operands.local_memory->IsUnique() ||
                 !operands.constants->IsUnique() || !bindings.IsUnique() ||
                 bindings.size() != info.binding_count;
  for (size_t i = 0; i < bindings.size(); ++i) {
    const Object* const buffer = bindings[i].ref();
    is_kept = is_kept || buffer == nullptr || !buffer->IsUnique();
  }
  if (is_kept) return status;  // The context dies, and its references.
  TAKT_RETURN_IF_ERROR(bindings.Resize(0));
  ReleaseInstance(std::move(instance), worker.index);
  return status;
}

absl::Status VmvxExecutable::RunInInstance(Instance& instance, size_t function,
                                           const DispatchArguments& arguments,
                                           uint32_t begin, uint32_t end,
                                           const Operands& operands,
                                           const exec::Worker& worker) const {
  const auto word = [](uint32_t value) {
    return vm::Slot{.i32 = static_cast<int32_t>(value)};
  };
  const std::array<uint32_t, 3>& count = arguments.workgroup_count;
  vm::DirectCaller caller(*instance.context, entries_[function],
                          arguments.cancellation);
  caller.SetArgument(0, {.ref = operands.local_memory.get()});
  caller.SetArgument(1, {.ref = operands.constants.get()});
  caller.SetArgument(2, {.ref = instance.bindings.get()});
  for (size_t d = 0; d < 3; ++d) {
    caller.SetArgument(6 + d, word(1));
    caller.SetArgument(9 + d, word(count[d]));
  }
  for (uint32_t i = begin; i < end; ++i) {
    caller.SetArgument(3, word(i % count[0]));
    caller.SetArgument(4, word(i / count[0] % count[1]));
    caller.SetArgument(5, word(i / count[0] / count[1]));
    absl::Status status = caller.Call();
    if (!status.ok()) return status;
    if (worker.MustStop() && i + 1 < end) {
      *worker.reached = i + 1;
      break;
    }
  }
  return absl::OkStatus();
}

}  // namespace takt::cpu
