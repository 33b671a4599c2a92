#include "modules/hal_inline_module.h"

#include <cstring>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/math.h"
#include "base/status.h"
#include "modules/hal_arguments.h"
#include "modules/hal_module.h"
#include "vm/bytecode_version.h"
#include "vm/invocation.h"
#include "vm/native_module.h"

namespace takt::modules {
namespace {

constexpr uint64_t kMaxAlignment = 4096;

constexpr hal::BufferUsage kUsage =
    hal::kUsageTransferAndStorage | hal::kUsageMappingScoped |
    hal::kUsageMappingPersistent | hal::kUsageMappingRandom;

// Keeps a buffer and its memory alive while bytecode has a view of the bytes.
class PinnedBuffer final : public Object {
 public:
  static constexpr ObjectType kType{"takt.pinned_buffer"};

  // FAILED_PRECONDITION while there is no memory.
  static absl::StatusOr<Ref<PinnedBuffer>> Create(hal::Buffer& buffer) {
    if (buffer.storage()->Pin() == nullptr) {
      return absl::FailedPreconditionError(
          "buffer: it has no memory: its allocation is pending or it has been "
          "deallocated");
    }
    return Ref<PinnedBuffer>::Adopt(new PinnedBuffer(buffer));
  }

 private:
  explicit PinnedBuffer(hal::Buffer& buffer)
      : Object(&kType), buffer_(Ref<hal::Buffer>::Retain(&buffer)) {}
  ~PinnedBuffer() override { buffer_->storage()->Unpin(); }

  const Ref<hal::Buffer> buffer_;
};

absl::Status CheckAlignment(uint64_t alignment) {
  if (alignment <= kMaxAlignment && (alignment & (alignment - 1)) == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("minimum_alignment: expected a power of two of at most ",
                   kMaxAlignment, ", got ", alignment));
}

bool IsAligned(const uint8_t* data) {
  return reinterpret_cast<uintptr_t>(data) % hal::kBufferAlignment == 0;
}

using BufferAndStorage = std::tuple<Ref<hal::Buffer>, Ref<vm::ByteBuffer>>;

class HalInlineState final : public BufferState {
 public:
  explicit HalInlineState(
      std::shared_ptr<const HalInlineModuleOptions> environment)
      : BufferState(environment->devices, environment->trace_sink),
        environment_(std::move(environment)) {}

  absl::StatusOr<BufferAndStorage> BufferAllocate(vm::NativeCall& call,
                                                  uint32_t minimum_alignment,
                                                  uint64_t length);
  absl::StatusOr<BufferAndStorage> BufferAllocateInitialized(
      vm::NativeCall& call, uint32_t minimum_alignment, vm::ByteBuffer& source,
      uint64_t offset, uint64_t length);
  absl::StatusOr<Ref<hal::Buffer>> BufferWrap(vm::NativeCall& call,
                                              vm::ByteBuffer& source,
                                              uint64_t offset, uint64_t length);
  absl::StatusOr<Ref<vm::ByteBuffer>> BufferStorage(hal::Buffer& buffer);
  absl::StatusOr<std::tuple<int32_t, int64_t>> DeviceQueryI64(
      vm::ByteBuffer& category, vm::ByteBuffer& key);

 private:
  // Memory of the first device, or of the system if there is none.
  absl::StatusOr<Ref<hal::Buffer>> Allocate(vm::NativeCall& call,
                                            uint64_t alignment,
                                            uint64_t length);

  const std::shared_ptr<const HalInlineModuleOptions> environment_;
};

absl::StatusOr<Ref<hal::Buffer>> HalInlineState::Allocate(vm::NativeCall& call,
                                                          uint64_t alignment,
                                                          uint64_t length) {
  TAKT_RETURN_IF_ERROR(CheckAlignment(alignment));
  // The most bytes that an alignment may skip at the start.
  const uint64_t slack = alignment <= hal::kBufferAlignment
                             ? 0
                             : alignment - hal::kBufferAlignment;
  uint64_t total = 0;
  if (!CheckedAdd(length, slack, &total)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("allocation_size: ", length, " bytes are too many"));
  }
  TAKT_ASSIGN_OR_RETURN(
      MemoryCharge charge,
      MemoryCharge::Take(call.invocation().memory_account(), total));
  Ref<hal::Buffer> buffer;
  if (devices().empty()) {
    TAKT_ASSIGN_OR_RETURN(Ref<hal::Storage> storage,
                          hal::CreateHeapStorage(total));
    buffer = hal::Buffer::Create(std::move(storage), hal::kMemoryTypeAll,
                                 kUsage, hal::kAccessAll);
  } else {
    TAKT_ASSIGN_OR_RETURN(
        buffer, devices().front()->Allocate({.usage = kUsage}, total));
  }
  buffer->storage()->SetCharge(std::move(charge));
  if (slack == 0) return buffer;
  const auto address = reinterpret_cast<uintptr_t>(buffer->data());
  return buffer->Subspan((alignment - address % alignment) % alignment, length);
}

absl::StatusOr<BufferAndStorage> HalInlineState::BufferAllocate(
    vm::NativeCall& call, uint32_t minimum_alignment, uint64_t length) {
  TAKT_ASSIGN_OR_RETURN(Ref<hal::Buffer> buffer,
                        Allocate(call, minimum_alignment, length));
  TAKT_ASSIGN_OR_RETURN(Ref<vm::ByteBuffer> storage, BufferStorage(*buffer));
  return BufferAndStorage(std::move(buffer), std::move(storage));
}

absl::StatusOr<BufferAndStorage> HalInlineState::BufferAllocateInitialized(
    vm::NativeCall& call, uint32_t minimum_alignment, vm::ByteBuffer& source,
    uint64_t offset, uint64_t length) {
  TAKT_ASSIGN_OR_RETURN(const absl::Span<const uint8_t> bytes,
                        BytesOf(source, offset, length));
  TAKT_ASSIGN_OR_RETURN(BufferAndStorage result,
                        BufferAllocate(call, minimum_alignment, bytes.size()));
  if (!bytes.empty()) {
    std::memcpy(std::get<0>(result)->data(), bytes.data(), bytes.size());
  }
  return result;
}

absl::StatusOr<Ref<hal::Buffer>> HalInlineState::BufferWrap(
    vm::NativeCall& call, vm::ByteBuffer& source, uint64_t offset,
    uint64_t length) {
  TAKT_ASSIGN_OR_RETURN(const absl::Span<const uint8_t> bytes,
                        BytesOf(source, offset, length));
  const bool is_mutable = source.is_mutable();
  if (!IsAligned(source.data())) {
    // Kernels that get the buffer rely on its alignment. An aligned copy can
    // replace a constant, but not memory that is written.
    if (is_mutable) {
      return absl::InvalidArgumentError(absl::StrCat(
          "source: expected bytes that start at a multiple of ",
          hal::kBufferAlignment, ", got ",
          reinterpret_cast<uintptr_t>(source.data()) % hal::kBufferAlignment,
          " bytes past one"));
    }
    TAKT_ASSIGN_OR_RETURN(
        BufferAndStorage copy,
        BufferAllocateInitialized(call, 0, source, offset, length));
    return std::get<0>(std::move(copy));
  }
  return hal::Buffer::WrapHost(
      Ref<Object>::Retain(&source), const_cast<uint8_t*>(bytes.data()),
      bytes.size(), hal::kMemoryTypeAll,
      is_mutable ? kUsage : kUsage | hal::kUsageImmutable,
      is_mutable ? hal::kAccessAll : hal::kAccessRead);
}

absl::StatusOr<Ref<vm::ByteBuffer>> HalInlineState::BufferStorage(
    hal::Buffer& buffer) {
  TAKT_ASSIGN_OR_RETURN(Ref<PinnedBuffer> pinned, PinnedBuffer::Create(buffer));
  TAKT_ASSIGN_OR_RETURN(const absl::Span<uint8_t> bytes,
                        buffer.Map(0, hal::kWholeBuffer, hal::kAccessRead));
  const bool is_mutable = (buffer.access() & hal::kAccessWrite) != 0;
  return vm::ByteBuffer::Wrap(std::move(pinned), bytes.data(), bytes.size(),
                              is_mutable, blocks());
}

absl::StatusOr<std::tuple<int32_t, int64_t>> HalInlineState::DeviceQueryI64(
    vm::ByteBuffer& category, vm::ByteBuffer& key) {
  if (devices().empty()) return std::make_tuple(int32_t{0}, int64_t{0});
  return QueryDevice(*devices().front(), category.text(), key.text());
}

}  // namespace

absl::StatusOr<Ref<vm::Module>> CreateHalInlineModule(
    vm::TypeRegistry& registry, HalInlineModuleOptions options) {
  TAKT_RETURN_IF_ERROR(CheckDevices("hal_inline", options.devices));
  TAKT_RETURN_IF_ERROR(RegisterHalTypes(registry));
  if (!options.trace_sink) options.trace_sink = TraceToStderr;
  vm::NativeModule::Builder builder("hal_inline", /*version=*/0);
  auto environment =
      std::make_shared<const HalInlineModuleOptions>(std::move(options));
  builder.SetStateFactory(
      [environment]() -> absl::StatusOr<std::unique_ptr<vm::ModuleState>> {
        return std::make_unique<HalInlineState>(environment);
      });
  builder.SetCompilers(vm::kSupportedCompilers);
  // Initializers are not repeatable: a buffer and its storage, which share
  // their memory, would be copied twice.
  BufferState::Export(builder);
  builder.Export<&HalInlineState::BufferAllocate>("buffer.allocate");
  builder.Export<&HalInlineState::BufferAllocateInitialized>(
      "buffer.allocate.initialized");
  builder.Export<&HalInlineState::BufferWrap>("buffer.wrap");
  builder.Export<&HalInlineState::BufferStorage>("buffer.storage");
  builder.Export<&HalInlineState::DeviceQueryI64>("device.query.i64");
  TAKT_ASSIGN_OR_RETURN(Ref<vm::NativeModule> module,
                        std::move(builder).Build());
  return Ref<vm::Module>(std::move(module));
}

}  // namespace takt::modules
