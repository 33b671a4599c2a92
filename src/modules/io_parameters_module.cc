#include "modules/io_parameters_module.h"

#include <memory>
#include <utility>

#include "base/math.h"
#include "base/status.h"
#include "base/unaligned.h"
#include "modules/hal_module.h"
#include "modules/parameter_request.h"
#include "modules/queue_group.h"
#include "modules/queue_ticket.h"
#include "vm/bytecode_version.h"
#include "vm/list.h"
#include "vm/native_module.h"

namespace takt::modules {
namespace {

using Requests = std::vector<ParameterRequest>;
using ScopesPtr = std::shared_ptr<const std::vector<ParameterScope>>;

absl::string_view ScopeName(const vm::ByteBuffer* scope) {
  return scope == nullptr ? absl::string_view() : scope->text();
}

absl::Status CheckAccess(const ParameterRequest& request,
                         hal::MemoryAccess access) {
  const Parameter& parameter = *request.parameter;
  const bool granted = parameter.kind == Parameter::Kind::kData
                           ? (parameter.file->access() & access) == access
                           : access == hal::kAccessRead;
  if (granted) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("parameter '", parameter.key, "' cannot be ",
                   access == hal::kAccessRead ? "read" : "written"));
}

absl::Status CheckTarget(const ParameterRequest& request,
                         const hal::Buffer& buffer) {
  if (RangeFits(request.buffer_offset, request.length, buffer.byte_length())) {
    return absl::OkStatus();
  }
  return absl::OutOfRangeError(
      absl::StrCat("parameter '", request.parameter->key, "': ", request.length,
                   " bytes at ", request.buffer_offset,
                   " are not within the buffer of ", buffer.byte_length()));
}

// The pattern of a splat from an offset on: its pattern, rotated.
std::array<uint8_t, Parameter::kMaxPatternBytes> PatternAt(
    const Parameter& splat, uint64_t offset) {
  const size_t size = splat.pattern_bytes;
  std::array<uint8_t, Parameter::kMaxPatternBytes> rotated{};
  for (size_t i = 0; i < size; ++i) {
    rotated[i] = splat.pattern[(offset % size + i) % size];
  }
  return rotated;
}

// Fills with a pattern that the devices' own fill does not support.
absl::Status FillByHost(
    hal::Buffer& target, const ParameterRequest& request, size_t pattern_bytes,
    const std::array<uint8_t, Parameter::kMaxPatternBytes>& pattern) {
  TAKT_ASSIGN_OR_RETURN(
      absl::Span<uint8_t> bytes,
      target.Map(request.buffer_offset, request.length, hal::kAccessWrite));
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = pattern[i % pattern_bytes];
  }
  return absl::OkStatus();
}

absl::Status QueueSplat(hal::Device& device, const hal::QueueTicket& ticket,
                        const ParameterRequest& request, hal::Buffer& target) {
  const size_t size = request.parameter->pattern_bytes;
  const auto pattern = PatternAt(*request.parameter, request.parameter_offset);
  if ((size == 1 || size == 2 || size == 4) &&
      request.buffer_offset % size == 0 && request.length % size == 0) {
    const auto value = LoadUnaligned<uint32_t>(pattern.data());
    return device.QueueFill(ticket, &target, request.buffer_offset,
                            request.length, value, size);
  }
  return device.QueueHostCall(ticket,
                              [buffer = Ref<hal::Buffer>::Retain(&target),
                               request, size, pattern]() -> absl::Status {
                                return FillByHost(*buffer, request, size,
                                                  pattern);
                              });
}

// Submits the transfer of one parameter's bytes into `target`.
absl::Status QueueParameter(hal::Device& device, const hal::QueueTicket& ticket,
                            const ParameterRequest& request,
                            hal::Buffer& target) {
  const Parameter& parameter = *request.parameter;
  if (parameter.kind == Parameter::Kind::kSplat) {
    return QueueSplat(device, ticket, request, target);
  }
  return device.QueueRead(ticket, parameter.file.get(),
                          parameter.file_offset + request.parameter_offset,
                          &target, request.buffer_offset, request.length);
}

// The parameter's own bytes as a buffer; null if they have to be copied.
Ref<hal::Buffer> TryMap(hal::Device& device, const hal::BufferParams& params,
                        const ParameterRequest& request) {
  const Parameter& parameter = *request.parameter;
  if (parameter.kind != Parameter::Kind::kData || request.length == 0 ||
      (params.usage & hal::kUsageImmutable) == 0) {
    return nullptr;
  }
  hal::BufferParams read_only = params;
  read_only.access = hal::kAccessRead;
  absl::StatusOr<Ref<hal::Buffer>> buffer = device.Import(
      read_only, parameter.file,
      parameter.file->data() + parameter.file_offset + request.parameter_offset,
      request.length);
  return buffer.ok() ? *std::move(buffer) : nullptr;
}

class IoParametersState final : public vm::ModuleState {
 public:
  explicit IoParametersState(ScopesPtr scopes) : scopes_(std::move(scopes)) {}

  absl::StatusOr<Ref<vm::List>> LoadParameters(
      vm::NativeCall& call, hal::Device& device, uint64_t affinity,
      hal::Fence* wait, hal::Fence* signal, vm::ByteBuffer* scope,
      uint64_t target_affinity, uint32_t memory_types, uint32_t usage,
      vm::ByteBuffer& key_table, vm::ByteBuffer& key_data,
      vm::ByteBuffer& spans);
  absl::Status GatherParameters(vm::NativeCall& call, hal::Device& device,
                                uint64_t affinity, hal::Fence* wait,
                                hal::Fence* signal, vm::ByteBuffer* scope,
                                hal::Buffer& target, vm::ByteBuffer& key_table,
                                vm::ByteBuffer& key_data,
                                vm::ByteBuffer& spans);
  absl::Status ScatterParameters(vm::NativeCall& call, hal::Device& device,
                                 uint64_t affinity, hal::Fence* wait,
                                 hal::Fence* signal, hal::Buffer& source,
                                 vm::ByteBuffer* scope,
                                 vm::ByteBuffer& key_table,
                                 vm::ByteBuffer& key_data,
                                 vm::ByteBuffer& spans);

 private:
  const ScopesPtr scopes_;
};

absl::StatusOr<Ref<vm::List>> IoParametersState::LoadParameters(
    vm::NativeCall& call, hal::Device& device, uint64_t affinity,
    hal::Fence* wait, hal::Fence* signal, vm::ByteBuffer* scope,
    uint64_t target_affinity, uint32_t memory_types, uint32_t usage,
    vm::ByteBuffer& key_table, vm::ByteBuffer& key_data,
    vm::ByteBuffer& spans) {
  TAKT_ASSIGN_OR_RETURN(Requests requests,
                        ResolveParameters(*scopes_, ScopeName(scope),
                                          {key_table, key_data, spans}));
  const hal::BufferParams params{.memory_type = memory_types, .usage = usage};
  // Each parameter has a buffer of its own, so the rows' buffer offsets are
  // ignored.
  for (ParameterRequest& request : requests) {
    request.buffer_offset = 0;
    TAKT_RETURN_IF_ERROR(CheckAccess(request, hal::kAccessRead));
  }
  Ref<vm::List> list = vm::List::Create(
      {vm::ValueKind::kRef, &hal::Buffer::kType}, requests.size());
  TAKT_RETURN_IF_ERROR(list->Resize(requests.size()));
  QueueGroup group(device, TicketOf(call, affinity, wait, signal));
  for (size_t i = 0; i < requests.size(); ++i) {
    const ParameterRequest& request = requests[i];
    Ref<hal::Buffer> buffer = TryMap(device, params, request);
    if (buffer == nullptr) {
      TAKT_ASSIGN_OR_RETURN(buffer, device.Allocate(params, request.length));
      TAKT_RETURN_IF_ERROR(group.Add([&](const hal::QueueTicket& ticket) {
        return QueueParameter(device, ticket, request, *buffer);
      }));
    }
    TAKT_RETURN_IF_ERROR(list->SetRef(i, std::move(buffer)));
  }
  TAKT_RETURN_IF_ERROR(group.Finish());
  return list;
}

absl::Status IoParametersState::GatherParameters(
    vm::NativeCall& call, hal::Device& device, uint64_t affinity,
    hal::Fence* wait, hal::Fence* signal, vm::ByteBuffer* scope,
    hal::Buffer& target, vm::ByteBuffer& key_table, vm::ByteBuffer& key_data,
    vm::ByteBuffer& spans) {
  TAKT_ASSIGN_OR_RETURN(Requests requests,
                        ResolveParameters(*scopes_, ScopeName(scope),
                                          {key_table, key_data, spans}));
  for (const ParameterRequest& request : requests) {
    TAKT_RETURN_IF_ERROR(CheckAccess(request, hal::kAccessRead));
    TAKT_RETURN_IF_ERROR(CheckTarget(request, target));
  }
  QueueGroup group(device, TicketOf(call, affinity, wait, signal));
  for (const ParameterRequest& request : requests) {
    TAKT_RETURN_IF_ERROR(group.Add([&](const hal::QueueTicket& ticket) {
      return QueueParameter(device, ticket, request, target);
    }));
  }
  return group.Finish();
}

absl::Status IoParametersState::ScatterParameters(
    vm::NativeCall& call, hal::Device& device, uint64_t affinity,
    hal::Fence* wait, hal::Fence* signal, hal::Buffer& source,
    vm::ByteBuffer* scope, vm::ByteBuffer& key_table, vm::ByteBuffer& key_data,
    vm::ByteBuffer& spans) {
  TAKT_ASSIGN_OR_RETURN(Requests requests,
                        ResolveParameters(*scopes_, ScopeName(scope),
                                          {key_table, key_data, spans}));
  for (const ParameterRequest& request : requests) {
    TAKT_RETURN_IF_ERROR(CheckAccess(request, hal::kAccessWrite));
    TAKT_RETURN_IF_ERROR(CheckTarget(request, source));
  }
  QueueGroup group(device, TicketOf(call, affinity, wait, signal));
  for (const ParameterRequest& request : requests) {
    const Parameter& parameter = *request.parameter;
    TAKT_RETURN_IF_ERROR(group.Add([&](const hal::QueueTicket& ticket) {
      return device.QueueWrite(
          ticket, &source, request.buffer_offset, parameter.file.get(),
          parameter.file_offset + request.parameter_offset, request.length);
    }));
  }
  return group.Finish();
}

}  // namespace

absl::StatusOr<Ref<vm::Module>> CreateIoParametersModule(
    vm::TypeRegistry& registry, std::vector<ParameterScope> scopes) {
  for (const ParameterScope& scope : scopes) {
    if (scope.provider == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "io_parameters: scope '", scope.name, "' has no provider"));
    }
  }
  TAKT_RETURN_IF_ERROR(RegisterHalTypes(registry));
  vm::NativeModule::Builder builder("io_parameters", 0);
  builder.SetCompilers(vm::kSupportedCompilers);
  auto shared =
      std::make_shared<const std::vector<ParameterScope>>(std::move(scopes));
  builder.SetStateFactory(
      [shared]() -> absl::StatusOr<std::unique_ptr<vm::ModuleState>> {
        return std::make_unique<IoParametersState>(shared);
      });
  // The parameters that initializers load never change, so contexts share them.
  builder.SetInitializersRepeatable(true);
  builder.Export<&IoParametersState::LoadParameters>("load");
  builder.Export<&IoParametersState::GatherParameters>("gather");
  builder.Export<&IoParametersState::ScatterParameters>("scatter");
  TAKT_ASSIGN_OR_RETURN(Ref<vm::NativeModule> module,
                        std::move(builder).Build());
  return Ref<vm::Module>(std::move(module));
}

}  // namespace takt::modules
