#include "modules/hal_loader_module.h"

#include <cstring>
#include <memory>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/math.h"
#include "base/status.h"
#include "modules/hal_arguments.h"
#include "modules/hal_module.h"
#include "modules/invocation_memory.h"
#include "modules/pending_await.h"
#include "modules/queue_ticket.h"
#include "vm/byte_buffer.h"
#include "vm/bytecode_version.h"
#include "vm/native_module.h"

namespace takt::modules {
namespace {

constexpr char kFormatCategory[] = "hal.executable.format";
constexpr uint32_t kDispatchCategory = 0x2;
constexpr uint64_t kAnyQueue = ~uint64_t{0};

// An executable, and the device that has loaded it. It has no device's
// identity, so it can run by executable.dispatch only.
class LoadedExecutable final : public hal::Executable {
 public:
  LoadedExecutable(Ref<hal::Device> device, Ref<hal::Executable> code)
      : device_(std::move(device)), code_(std::move(code)) {}

  // INVALID_ARGUMENT if another module made it.
  static absl::StatusOr<LoadedExecutable*> From(hal::Executable& executable) {
    if (executable.implementation() != &kImplementation) {
      return absl::InvalidArgumentError(
          "executable: expected one that hal_loader.executable.load returned");
    }
    return static_cast<LoadedExecutable*>(&executable);
  }

  hal::Device& device() const { return *device_; }
  hal::Executable& code() const { return *code_; }

  // hal::Executable.
  const void* implementation() const override { return &kImplementation; }
  size_t function_count() const override { return code_->function_count(); }
  absl::string_view function_name(size_t function) const override {
    return code_->function_name(function);
  }
  size_t constant_count(size_t function) const override {
    return code_->constant_count(function);
  }
  size_t binding_count(size_t function) const override {
    return code_->binding_count(function);
  }

 private:
  static constexpr char kImplementation = 0;

  const Ref<hal::Device> device_;
  const Ref<hal::Executable> code_;
};

using BindingArgs = vm::VarArgs<vm::ByteBuffer*, uint64_t, uint64_t>;

class HalLoaderState final : public vm::ModuleState {
 public:
  explicit HalLoaderState(
      std::shared_ptr<const HalLoaderModuleOptions> environment)
      : environment_(std::move(environment)) {}

  absl::StatusOr<int32_t> QuerySupport(vm::ByteBuffer& format);
  absl::StatusOr<Ref<hal::Executable>> Load(vm::ByteBuffer& format,
                                            vm::ByteBuffer& data,
                                            vm::ByteBuffer* constants);
  absl::StatusOr<uint64_t> LookupFunction(hal::Executable& executable,
                                          vm::ByteBuffer& name);
  absl::Status Dispatch(vm::NativeCall& call, hal::Executable& executable,
                        uint64_t function, uint32_t count_x, uint32_t count_y,
                        uint32_t count_z, vm::VarArgs<uint32_t> constants,
                        BindingArgs bindings);
  absl::Status DispatchOrdinal(vm::NativeCall& call,
                               hal::Executable& executable, uint32_t ordinal,
                               uint32_t count_x, uint32_t count_y,
                               uint32_t count_z,
                               vm::VarArgs<uint32_t> constants,
                               BindingArgs bindings) {
    return Dispatch(call, executable, ordinal, count_x, count_y, count_z,
                    constants, bindings);
  }

 private:
  // nullptr if no device takes the format.
  hal::Device* FindDevice(absl::string_view format) const;
  // Returns if `fence` is reached, else parks the call until then.
  absl::Status Await(vm::NativeCall& call, hal::Fence& fence);

  const std::shared_ptr<const HalLoaderModuleOptions> environment_;
};

hal::Device* HalLoaderState::FindDevice(absl::string_view format) const {
  for (const Ref<hal::Device>& device : environment_->devices) {
    if (device->QueryI64(kFormatCategory, format).value_or(0) != 0) {
      return device.get();
    }
  }
  return nullptr;
}

absl::StatusOr<int32_t> HalLoaderState::QuerySupport(vm::ByteBuffer& format) {
  return FindDevice(format.text()) != nullptr ? 1 : 0;
}

absl::StatusOr<Ref<hal::Executable>> HalLoaderState::Load(
    vm::ByteBuffer& format, vm::ByteBuffer& data, vm::ByteBuffer* constants) {
  if (environment_->devices.empty()) {
    return absl::FailedPreconditionError(
        "the context has no device that could run executables");
  }
  TAKT_ASSIGN_OR_RETURN(const std::vector<uint32_t> words,
                        ExecutableConstants(constants));
  hal::Device* device = FindDevice(format.text());
  // The device's error names the missing feature.
  if (device == nullptr) device = environment_->devices.front().get();
  TAKT_ASSIGN_OR_RETURN(
      Ref<hal::Executable> code,
      device->LoadExecutable(format.text(), data.bytes(),
                             Ref<Object>::Retain(&data), words));
  return Ref<hal::Executable>(MakeRef<LoadedExecutable>(
      Ref<hal::Device>::Retain(device), std::move(code)));
}

absl::StatusOr<uint64_t> HalLoaderState::LookupFunction(
    hal::Executable& executable, vm::ByteBuffer& name) {
  TAKT_RETURN_IF_ERROR(LoadedExecutable::From(executable).status());
  return executable.LookupFunction(name.text());
}

// The range as a buffer of the device. Unaligned constants are copied.
absl::StatusOr<Ref<hal::Buffer>> ImportBinding(hal::Device& device,
                                               vm::ByteBuffer& source) {
  const bool is_mutable = source.is_mutable();
  hal::BufferParams params;
  if (!is_mutable) {
    params.usage |= hal::kUsageImmutable;
    params.access = hal::kAccessRead;
  }
  absl::StatusOr<Ref<hal::Buffer>> buffer =
      device.Import(params, Ref<Object>::Retain(&source), source.data(),
                    source.byte_length());
  if (buffer.ok() || is_mutable) return buffer;
  TAKT_ASSIGN_OR_RETURN(Ref<hal::Buffer> copy,
                        device.Allocate({}, source.byte_length()));
  std::memcpy(copy->data(), source.data(), source.byte_length());
  return copy;
}

absl::Status HalLoaderState::Dispatch(vm::NativeCall& call,
                                      hal::Executable& executable,
                                      uint64_t function, uint32_t count_x,
                                      uint32_t count_y, uint32_t count_z,
                                      vm::VarArgs<uint32_t> constants,
                                      BindingArgs bindings) {
  if (call.resumed()) {
    InvocationMemory::SetParked(call.invocation(), false);
    return PendingAwait::Finish(call).status();
  }
  TAKT_ASSIGN_OR_RETURN(LoadedExecutable * loaded,
                        LoadedExecutable::From(executable));
  hal::Device& device = loaded->device();
  if (constants.size() > hal::CommandBuffer::kMaxDispatchConstants ||
      bindings.size() > hal::CommandBuffer::kMaxDispatchBindings) {
    return absl::OutOfRangeError(absl::StrCat(
        "expected at most ", hal::CommandBuffer::kMaxDispatchConstants,
        " constants and ", hal::CommandBuffer::kMaxDispatchBindings,
        " bindings, got ", constants.size(), " and ", bindings.size()));
  }
  absl::InlinedVector<uint32_t, 16> words(constants.size());
  for (size_t i = 0; i < words.size(); ++i) words[i] = constants[i];
  absl::InlinedVector<Ref<hal::Buffer>, 8> buffers(bindings.size());
  absl::InlinedVector<hal::BufferRef, 8> refs(bindings.size());
  for (size_t i = 0; i < refs.size(); ++i) {
    auto [source, offset, length] = bindings[i];
    if (source == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("bindings: expected a vm.buffer at ", i, ", got null"));
    }
    absl::StatusOr<Ref<hal::Buffer>> buffer = ImportBinding(device, *source);
    if (!buffer.ok()) {
      return Annotate(buffer.status(), absl::StrCat("binding ", i));
    }
    buffers[i] = *std::move(buffer);
    refs[i] = {buffers[i].get(), /*slot=*/0, offset, length};
  }
  TAKT_ASSIGN_OR_RETURN(
      Ref<hal::CommandBuffer> commands,
      device.CreateCommandBuffer(hal::kCommandBufferOneShot, kDispatchCategory,
                                 /*binding_capacity=*/0));
  TAKT_RETURN_IF_ERROR(commands->Dispatch(
      &loaded->code(), function, {count_x, count_y, count_z}, words, refs));
  TAKT_RETURN_IF_ERROR(commands->Finalize());
  const Ref<hal::Fence> fence = hal::Fence::Create(device.blocks());
  TAKT_RETURN_IF_ERROR(device.QueueExecute(
      TicketOf(call, kAnyQueue, nullptr, fence.get()), commands.get(), {}));
  return Await(call, *fence);
}

absl::Status HalLoaderState::Await(vm::NativeCall& call, hal::Fence& fence) {
  bool reached = false;
  TAKT_RETURN_IF_ERROR(fence.Query(&reached));
  if (reached) return absl::OkStatus();
  InvocationMemory::SetParked(call.invocation(), true);
  hal::Fence* const fences[] = {&fence};
  const absl::Status status =
      PendingAwait::Begin(call, fences, kInfiniteFuture, *environment_->timers)
          .status();
  if (!call.parked()) InvocationMemory::SetParked(call.invocation(), false);
  return status;
}

}  // namespace

absl::StatusOr<Ref<vm::Module>> CreateHalLoaderModule(
    vm::TypeRegistry& registry, HalLoaderModuleOptions options) {
  TAKT_RETURN_IF_ERROR(CheckDevices("hal_loader", options.devices));
  TAKT_CHECK(options.timers != nullptr);
  TAKT_RETURN_IF_ERROR(RegisterHalTypes(registry));
  vm::NativeModule::Builder builder("hal_loader", kHalLoaderModuleVersion);
  auto environment =
      std::make_shared<const HalLoaderModuleOptions>(std::move(options));
  builder.SetStateFactory(
      [environment]() -> absl::StatusOr<std::unique_ptr<vm::ModuleState>> {
        return std::make_unique<HalLoaderState>(environment);
      });
  builder.SetCompilers(vm::kSupportedCompilers);
  using S = HalLoaderState;
  builder.Export<&S::QuerySupport>("executable.query_support");
  builder.Export<&S::Load>("executable.load");
  builder.Export<&S::LookupFunction>("executable.lookup.function");
  builder.Export<&S::Dispatch>("executable.dispatch", kHandleCompilers);
  builder.Export<&S::DispatchOrdinal>("executable.dispatch", kOrdinalCompilers);
  TAKT_ASSIGN_OR_RETURN(Ref<vm::NativeModule> module,
                        std::move(builder).Build());
  return Ref<vm::Module>(std::move(module));
}

}  // namespace takt::modules
