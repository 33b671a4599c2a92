#include "cpu/cpu_command_buffer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/math.h"
#include "base/status.h"
#include "hal/fill_pattern.h"

namespace takt::cpu {
namespace {

constexpr hal::BufferUsage kDispatchUsage =
    hal::kUsageUniformRead | hal::kUsageStorageRead | hal::kUsageStorageWrite;

absl::Status CheckDispatchStart(const hal::Buffer& buffer, size_t index) {
  // Compiled kernels use aligned vector moves on what they are given.
  if (buffer.byte_offset() % hal::kBufferAlignment == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "binding ", index, ": the buffer starts ", buffer.byte_offset(),
      " bytes into its storage; kernels need a multiple of ",
      hal::kBufferAlignment));
}

absl::Status MissingMemory(absl::string_view what, size_t index) {
  return absl::FailedPreconditionError(absl::StrCat(
      what, " ", index,
      " has no memory: its allocation is pending or it has been deallocated"));
}

// A range without a length has no end here. No other one overflows.
uint64_t EndOf(const Range& range) {
  return range.length == hal::kWholeBuffer ? UINT64_MAX
                                           : range.offset + range.length;
}

// Whether a command may write some of these bytes. What a kernel does with its
// bindings is not known.
bool MayWrite(const Command& command, const Range& range) {
  const Range* written = nullptr;
  uint32_t count = 1;
  if (command.kind == Command::Kind::kDispatch) {
    const auto& dispatch = static_cast<const DispatchCommand&>(command);
    written = dispatch.bindings;
    count = dispatch.binding_count;
  } else {
    written = &static_cast<const TransferCommand&>(command).target;
  }
  for (; count > 0; --count, ++written) {
    if (written->base == range.base && written->offset < EndOf(range) &&
        range.offset < EndOf(*written)) {
      return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<uint32_t> WorkgroupTotal(const std::array<uint32_t, 3>& counts) {
  uint32_t total = 0;
  if (counts[2] > std::numeric_limits<uint16_t>::max() ||
      !CheckedMul(counts[0], counts[1], &total) ||
      !CheckedMul(total, counts[2], &total)) {
    return absl::InvalidArgumentError(absl::StrCat("a grid of ", counts[0], "x",
                                                   counts[1], "x", counts[2],
                                                   " workgroups is too large"));
  }
  return total;
}

absl::StatusOr<Ref<CpuCommandBuffer>> CpuCommandBuffer::Create(
    uint32_t mode, size_t binding_capacity, Ref<Object> owner,
    BlockPool& blocks, Ref<LoadedExecutable> memory_sync) {
  const bool one_shot = (mode & hal::kCommandBufferOneShot) != 0;
  if ((mode & hal::kCommandBufferAllowInline) != 0 &&
      (!one_shot || binding_capacity > 0)) {
    return absl::InvalidArgumentError(
        "a command buffer that may run inline must be one-shot and without a "
        "binding table");
  }
  if (binding_capacity > kMaxBindingCapacity) {
    return absl::InvalidArgumentError(
        absl::StrCat("a binding table of ", binding_capacity,
                     " entries is beyond ", kMaxBindingCapacity));
  }
  return Ref<CpuCommandBuffer>::Adopt(
      new (blocks) CpuCommandBuffer(mode, binding_capacity, std::move(owner),
                                    blocks, std::move(memory_sync)));
}

CpuCommandBuffer::CpuCommandBuffer(uint32_t mode, size_t binding_capacity,
                                   Ref<Object> owner, BlockPool& blocks,
                                   Ref<LoadedExecutable> memory_sync)
    : hal::CommandBuffer(mode, binding_capacity),
      owner_(std::move(owner)),
      memory_sync_(std::move(memory_sync)),
      arena_(blocks),
      slots_(arena_.NewArray<SlotUse>(binding_capacity)) {}

CpuCommandBuffer::~CpuCommandBuffer() {
  for (DirectStorage* direct = first_direct_; direct != nullptr;
       direct = direct->next) {
    direct->storage->Release();
  }
  for (RetainedObject* retained = retained_; retained != nullptr;
       retained = retained->next) {
    retained->object->Release();
  }
}

CpuCommandBuffer* CpuCommandBuffer::From(hal::CommandBuffer* command_buffer) {
  return command_buffer->implementation() == &kImplementation
             ? static_cast<CpuCommandBuffer*>(command_buffer)
             : nullptr;
}

absl::Status CpuCommandBuffer::CheckRecording() const {
  if (!finalized_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the command buffer is finalized and records no more");
}

absl::Status CpuCommandBuffer::ExecutionBarrier() {
  TAKT_RETURN_IF_ERROR(CheckRecording());
  starts_region_ = true;
  return absl::OkStatus();
}

absl::Status CpuCommandBuffer::FillBuffer(const hal::BufferRef& target,
                                          uint32_t pattern,
                                          size_t pattern_length) {
  TAKT_RETURN_IF_ERROR(CheckRecording());
  TAKT_RETURN_IF_ERROR(hal::CheckPatternLength(pattern_length));
  TAKT_ASSIGN_OR_RETURN(const Range range, Record(target, Use::kTransferWrite));
  TAKT_RETURN_IF_ERROR(
      hal::CheckFillRange(target.offset, range.length, pattern_length));
  auto* command = arena_.New<TransferCommand>();
  command->kind = Command::Kind::kFill;
  command->target = range;
  command->pattern = pattern;
  command->pattern_length = static_cast<uint32_t>(pattern_length);
  Append(command, 0);
  return absl::OkStatus();
}

absl::Status CpuCommandBuffer::UpdateBuffer(absl::Span<const uint8_t> source,
                                            const hal::BufferRef& target) {
  TAKT_RETURN_IF_ERROR(CheckRecording());
  hal::BufferRef exact = target;
  if (exact.length == hal::kWholeBuffer) exact.length = source.size();
  if (exact.length != source.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "update of ", exact.length, " bytes with ", source.size(), " bytes"));
  }
  TAKT_ASSIGN_OR_RETURN(const Range range, Record(exact, Use::kTransferWrite));
  auto* command = arena_.New<TransferCommand>();
  command->kind = Command::Kind::kUpdate;
  command->target = range;
  command->bytes = arena_.Copy(source);
  Append(command, 0);
  return absl::OkStatus();
}

absl::Status CpuCommandBuffer::CopyBuffer(const hal::BufferRef& source,
                                          const hal::BufferRef& target) {
  TAKT_RETURN_IF_ERROR(CheckRecording());
  if (source.length != target.length) {
    return absl::InvalidArgumentError(
        absl::StrCat("copy of ", source.length, " bytes to ", target.length));
  }
  TAKT_ASSIGN_OR_RETURN(Range from, Record(source, Use::kTransferRead));
  TAKT_ASSIGN_OR_RETURN(Range to, Record(target, Use::kTransferWrite));
  // If only one length is kWholeBuffer, the other length is used for both.
  if (from.length == hal::kWholeBuffer) from.length = to.length;
  if (to.length == hal::kWholeBuffer) to.length = from.length;
  if (from.length != to.length) {
    return absl::InvalidArgumentError(
        absl::StrCat("copy of ", from.length, " bytes to ", to.length));
  }
  if (ReadsWhatIsWrittenBeside(from)) starts_region_ = true;
  auto* command = arena_.New<TransferCommand>();
  command->kind = Command::Kind::kCopy;
  command->source = from;
  command->target = to;
  Append(command, 0);
  return absl::OkStatus();
}

absl::Status CpuCommandBuffer::Dispatch(
    hal::Executable* executable, uint64_t function,
    const std::array<uint32_t, 3>& workgroups,
    absl::Span<const uint32_t> constants,
    absl::Span<const hal::BufferRef> bindings) {
  TAKT_RETURN_IF_ERROR(WorkgroupTotal(workgroups).status());
  TAKT_ASSIGN_OR_RETURN(
      DispatchCommand * command,
      RecordDispatch(executable, function, constants, bindings));
  command->workgroup_count = workgroups;
  Append(command, command->binding_count);
  return absl::OkStatus();
}

absl::Status CpuCommandBuffer::DispatchIndirect(
    hal::Executable* executable, uint64_t function,
    const hal::BufferRef& workgroups, absl::Span<const uint32_t> constants,
    absl::Span<const hal::BufferRef> bindings) {
  TAKT_RETURN_IF_ERROR(CheckRecording());
  if (workgroups.offset % sizeof(uint32_t) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "workgroup counts at ", workgroups.offset, ", no multiple of 4"));
  }
  hal::BufferRef counts = workgroups;
  counts.length = 3 * sizeof(uint32_t);
  TAKT_ASSIGN_OR_RETURN(const Range range, Record(counts, Use::kCounts));
  TAKT_ASSIGN_OR_RETURN(
      DispatchCommand * command,
      RecordDispatch(executable, function, constants, bindings));
  command->is_indirect = true;
  command->counts = range;
  Append(command, command->binding_count);
  return absl::OkStatus();
}

absl::StatusOr<DispatchCommand*> CpuCommandBuffer::RecordDispatch(
    hal::Executable* executable, uint64_t function,
    absl::Span<const uint32_t> constants,
    absl::Span<const hal::BufferRef> bindings, Use use) {
  TAKT_RETURN_IF_ERROR(CheckRecording());
  const LoadedExecutable* code = LoadedExecutable::From(executable);
  if (code == nullptr) {
    return absl::InvalidArgumentError(
        "the executable was not loaded by a CPU device");
  }
  if (function >= code->function_count()) {
    return absl::InvalidArgumentError(absl::StrCat("function ", function,
                                                   " of an executable with ",
                                                   code->function_count()));
  }
  if (constants.size() != code->constant_count(function) ||
      bindings.size() != code->binding_count(function)) {
    return absl::InvalidArgumentError(
        absl::StrCat(code->function_name(function), " takes ",
                     code->constant_count(function), " constants and ",
                     code->binding_count(function), " bindings, got ",
                     constants.size(), " and ", bindings.size()));
  }
  auto* ranges = arena_.NewArray<Range>(bindings.size());
  for (size_t i = 0; i < bindings.size(); ++i) {
    absl::StatusOr<Range> range = Record(bindings[i], use);
    if (!range.ok()) {
      return Annotate(
          range.status(),
          absl::StrCat(code->function_name(function), ", binding ", i));
    }
    ranges[i] = *range;
  }
  auto* command = arena_.New<DispatchCommand>();
  command->kind = Command::Kind::kDispatch;
  command->executable = code;
  command->function = static_cast<uint32_t>(function);
  command->constant_count = static_cast<uint32_t>(constants.size());
  command->binding_count = static_cast<uint32_t>(bindings.size());
  command->constants = arena_.Copy(constants);
  command->bindings = ranges;
  KeepAlive(executable);
  local_memory_bytes_ =
      std::max(local_memory_bytes_, code->local_memory_bytes(function));
  return command;
}

absl::Status CpuCommandBuffer::RecordSync(const hal::BufferRef& target,
                                          size_t function) {
  TAKT_RETURN_IF_ERROR(CheckRecording());
  if (memory_sync_ == nullptr) {  // Nothing to do, but the range is checked.
    if (target.buffer == nullptr) {
      return RecordSlot(target, Use::kSync).status();
    }
    uint64_t length = target.length;
    return target.buffer->ResolveRange(target.offset, &length);
  }
  starts_region_ = true;
  TAKT_ASSIGN_OR_RETURN(DispatchCommand * command,
                        RecordDispatch(memory_sync_.get(), function, {},
                                       {&target, 1}, Use::kSync));
  command->workgroup_count = {1, 1, 1};
  Append(command, command->binding_count);
  starts_region_ = true;
  return absl::OkStatus();
}

absl::Status CpuCommandBuffer::Finalize() {
  TAKT_RETURN_IF_ERROR(CheckRecording());
  for (Region* region = first_region_; region != nullptr;
       region = region->next) {
    command_count_max_ = std::max(command_count_max_, region->command_count);
    binding_count_max_ = std::max(binding_count_max_, region->binding_count);
  }
  finalized_ = true;
  return absl::OkStatus();
}

absl::StatusOr<Range> CpuCommandBuffer::Record(const hal::BufferRef& ref,
                                               Use use) {
  return ref.buffer != nullptr ? RecordDirect(ref, use) : RecordSlot(ref, use);
}

absl::StatusOr<Range> CpuCommandBuffer::RecordDirect(const hal::BufferRef& ref,
                                                     Use use) {
  hal::Buffer& buffer = *ref.buffer;
  uint64_t length = ref.length;
  TAKT_RETURN_IF_ERROR(buffer.ResolveRange(ref.offset, &length));
  if (use == Use::kDispatch) {
    if ((buffer.usage() & kDispatchUsage) == 0) {
      return absl::PermissionDeniedError(
          "the buffer's usage does not allow dispatches");
    }
    if (buffer.byte_offset() % hal::kBufferAlignment != 0) {
      return CheckDispatchStart(buffer, 0);
    }
  } else if (use != Use::kSync) {
    const hal::MemoryAccess access =
        use == Use::kTransferWrite ? hal::kAccessWrite : hal::kAccessRead;
    if ((buffer.access() & access) == 0) {
      return absl::PermissionDeniedError(
          absl::StrCat("the buffer does not allow to be ",
                       use == Use::kTransferWrite ? "written" : "read"));
    }
  }
  if ((buffer.usage() & hal::kUsageImmutable) == 0) {
    has_direct_mutable_buffers_ = true;
  }
  uint32_t index = 0;
  DirectStorage* direct = first_direct_;
  while (direct != nullptr && direct->storage != buffer.storage()) {
    direct = direct->next;
    ++index;
  }
  if (direct == nullptr) {
    direct = arena_.New<DirectStorage>(buffer.storage(), nullptr);
    direct->storage->Retain();
    (last_direct_ != nullptr ? last_direct_->next : first_direct_) = direct;
    last_direct_ = direct;
    ++direct_count_;
  }
  if ((buffer.access() & hal::kAccessWrite) != 0) direct->is_writable = true;
  return Range{static_cast<uint32_t>(binding_capacity() + index),
               buffer.byte_offset() + ref.offset, length};
}

absl::StatusOr<Range> CpuCommandBuffer::RecordSlot(const hal::BufferRef& ref,
                                                   Use use) {
  if (ref.slot >= binding_capacity()) {
    return absl::OutOfRangeError(absl::StrCat("slot ", ref.slot,
                                              " of a binding table of ",
                                              binding_capacity(), " entries"));
  }
  const uint64_t length = ref.length == hal::kWholeBuffer ? 0 : ref.length;
  uint64_t end = 0;
  if (!CheckedAdd(ref.offset, length, &end)) {
    return absl::OutOfRangeError(
        absl::StrCat("range of ", length, " bytes at ", ref.offset));
  }
  SlotUse& slot = slots_[ref.slot];
  slot.is_used = true;
  slot.bytes_min = std::max(slot.bytes_min, end);
  slot.is_dispatched = slot.is_dispatched || use == Use::kDispatch;
  slot.is_read =
      slot.is_read || use == Use::kTransferRead || use == Use::kCounts;
  slot.is_written = slot.is_written || use == Use::kTransferWrite;
  return Range{ref.slot, ref.offset, ref.length};
}

void CpuCommandBuffer::Append(Command* command, uint32_t binding_count) {
  if (starts_region_) {
    auto* region = arena_.New<Region>();
    (last_region_ != nullptr ? last_region_->next : first_region_) = region;
    last_region_ = region;
    starts_region_ = false;
  }
  Region& region = *last_region_;
  (region.last != nullptr ? region.last->next : region.first) = command;
  region.last = command;
  ++region.command_count;
  if (command->kind == Command::Kind::kDispatch) {
    ++region.dispatch_count;
    ++dispatch_count_;
  }
  region.binding_count += binding_count;
}

bool CpuCommandBuffer::ReadsWhatIsWrittenBeside(const Range& source) const {
  if (starts_region_) return false;
  const Region& region = *last_region_;
  if (region.command_count > kCommandsCompared) return true;
  for (const Command* each = region.first; each != nullptr; each = each->next) {
    if (MayWrite(*each, source)) return true;
  }
  return false;
}

void CpuCommandBuffer::KeepAlive(const Object* object) {
  // Most dispatches use the executable of the one before, or one of a few.
  int looked_at = 0;
  for (RetainedObject* retained = retained_;
       retained != nullptr && looked_at < 8;
       retained = retained->next, ++looked_at) {
    if (retained->object == object) return;
  }
  object->Retain();
  retained_ = arena_.New<RetainedObject>(object, retained_);
}

absl::Status CpuCommandBuffer::CheckBindings(
    absl::Span<const hal::Binding> bindings) const {
  if (bindings.size() < binding_capacity()) {
    return absl::OutOfRangeError(absl::StrCat(
        "a binding table of ", bindings.size(),
        " entries, the command buffer needs ", binding_capacity()));
  }
  for (size_t i = 0; i < binding_capacity(); ++i) {
    const SlotUse& slot = slots_[i];
    if (!slot.is_used) continue;
    const hal::Buffer* buffer = bindings[i].buffer;
    if (buffer == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("binding ", i, " is used and null"));
    }
    uint64_t length = bindings[i].length;
    absl::Status status = buffer->ResolveRange(bindings[i].offset, &length);
    if (!status.ok()) return Annotate(status, absl::StrCat("binding ", i));
    if (slot.bytes_min > length) {
      return absl::OutOfRangeError(absl::StrCat("binding ", i, " has ", length,
                                                " bytes, the commands use ",
                                                slot.bytes_min));
    }
    if ((slot.is_read && (buffer->access() & hal::kAccessRead) == 0) ||
        (slot.is_written && (buffer->access() & hal::kAccessWrite) == 0)) {
      return absl::PermissionDeniedError(
          absl::StrCat("binding ", i, ": the buffer does not allow to be ",
                       slot.is_written ? "written" : "read"));
    }
    if (!slot.is_dispatched) continue;
    if ((buffer->usage() & kDispatchUsage) == 0) {
      return absl::PermissionDeniedError(absl::StrCat(
          "binding ", i, ": the buffer's usage does not allow dispatches"));
    }
    TAKT_RETURN_IF_ERROR(CheckDispatchStart(*buffer, i));
  }
  return absl::OkStatus();
}

absl::Status CpuCommandBuffer::PinBases(absl::Span<const hal::Binding> bindings,
                                        absl::Span<Base> bases) const {
  TAKT_DCHECK(bases.size() == base_count());
  for (size_t i = 0; i < binding_capacity(); ++i) {
    bases[i] = Base();
    if (!slots_[i].is_used) continue;
    const hal::Buffer& buffer = *bindings[i].buffer;
    uint8_t* data = buffer.storage()->Pin();
    if (data == nullptr) {
      UnpinBases(bases.subspan(0, i));
      return MissingMemory("binding", i);
    }
    const uint64_t offset = bindings[i].offset;
    bases[i].data = data + buffer.byte_offset() + offset;
    bases[i].length = bindings[i].length == hal::kWholeBuffer
                          ? buffer.byte_length() - offset
                          : bindings[i].length;
    bases[i].storage = buffer.storage();
    bases[i].is_writable = (buffer.access() & hal::kAccessWrite) != 0;
  }
  size_t i = binding_capacity();
  for (DirectStorage* direct = first_direct_; direct != nullptr;
       direct = direct->next, ++i) {
    uint8_t* data = direct->storage->Pin();
    if (data == nullptr) {
      UnpinBases(bases.subspan(0, i));
      return MissingMemory("directly recorded buffer", i - binding_capacity());
    }
    bases[i] = {data, direct->storage->byte_length(), direct->storage,
                direct->is_writable};
  }
  return absl::OkStatus();
}

void CpuCommandBuffer::UnpinBases(absl::Span<Base> bases) {
  for (Base& base : bases) {
    if (base.storage != nullptr) base.storage->Unpin();
  }
}

}  // namespace takt::cpu
