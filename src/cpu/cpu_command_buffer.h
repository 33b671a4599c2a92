// The CPU's command buffer: records commands by region, and what has to be
// known about the binding table, so that a submission is checked by slot and
// not by command.
#ifndef TAKT_CPU_CPU_COMMAND_BUFFER_H_
#define TAKT_CPU_CPU_COMMAND_BUFFER_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cpu/block_arena.h"
#include "cpu/command.h"
#include "hal/command_buffer.h"

namespace takt::cpu {

// Workgroups of a grid, for kernels: INVALID_ARGUMENT if z has more than 16
// bits or all of them do not fit 32.
absl::StatusOr<uint32_t> WorkgroupTotal(const std::array<uint32_t, 3>& counts);

class CpuCommandBuffer final : public hal::CommandBuffer {
 public:
  static constexpr size_t kMaxBindingCapacity = 65536;

  // Functions of `memory_sync`, each of one binding.
  static constexpr size_t kFlushFunction = 0;
  static constexpr size_t kInvalidateFunction = 1;

  // `blocks` outlives it; `owner`, held, may see to that. `memory_sync` is
  // what flushes and invalidates ranges; null: memory is coherent.
  static absl::StatusOr<Ref<CpuCommandBuffer>> Create(
      uint32_t mode, size_t binding_capacity, Ref<Object> owner,
      BlockPool& blocks, Ref<LoadedExecutable> memory_sync = nullptr);

  // `command_buffer` if it is one of these, else nullptr.
  static CpuCommandBuffer* From(hal::CommandBuffer* command_buffer);
  const void* implementation() const override { return &kImplementation; }

  // hal::CommandBuffer.
  absl::Status ExecutionBarrier() override;
  absl::Status FillBuffer(const hal::BufferRef& target, uint32_t pattern,
                          size_t pattern_length) override;
  absl::Status UpdateBuffer(absl::Span<const uint8_t> source,
                            const hal::BufferRef& target) override;
  absl::Status CopyBuffer(const hal::BufferRef& source,
                          const hal::BufferRef& target) override;
  absl::Status FlushBuffer(const hal::BufferRef& target) override {
    return RecordSync(target, kFlushFunction);
  }
  absl::Status InvalidateBuffer(const hal::BufferRef& target) override {
    return RecordSync(target, kInvalidateFunction);
  }
  absl::Status Dispatch(hal::Executable* executable, uint64_t function,
                        const std::array<uint32_t, 3>& workgroups,
                        absl::Span<const uint32_t> constants,
                        absl::Span<const hal::BufferRef> bindings) override;
  absl::Status DispatchIndirect(
      hal::Executable* executable, uint64_t function,
      const hal::BufferRef& workgroups, absl::Span<const uint32_t> constants,
      absl::Span<const hal::BufferRef> bindings) override;
  absl::Status Finalize() override;

  // Below: once finalized.

  // OK if a submission may come with `bindings`.
  absl::Status CheckBindings(absl::Span<const hal::Binding> bindings) const;
  const Region* first_region() const { return first_region_; }
  uint32_t dispatch_count() const { return dispatch_count_; }
  // Commands and bindings of the largest region.
  uint32_t command_count_max() const { return command_count_max_; }
  uint32_t binding_count_max() const { return binding_count_max_; }
  // Local memory of the function that needs most.
  size_t local_memory_bytes() const { return local_memory_bytes_; }
  size_t base_count() const { return binding_capacity() + direct_count_; }

  // Retains the owner of the routes that its dispatches were given
  // (DispatchCommand::SetRoute()). At most once.
  void SetRouteOwner(Ref<Object> owner) {
    TAKT_CHECK(finalized_ && route_owner_ == nullptr);
    route_owner_ = std::move(owner);
  }

  // Fills `bases`, base_count() of them, with pinned memory. Errors leave
  // nothing pinned: FAILED_PRECONDITION for a buffer without memory.
  absl::Status PinBases(absl::Span<const hal::Binding> bindings,
                        absl::Span<Base> bases) const;
  static void UnpinBases(absl::Span<Base> bases);

 private:
  friend class CommandSubmission;
  static constexpr char kImplementation = 0;
  static constexpr uint32_t kCommandsCompared = 64;

  CpuCommandBuffer(uint32_t mode, size_t binding_capacity, Ref<Object> owner,
                   BlockPool& blocks, Ref<LoadedExecutable> memory_sync);
  ~CpuCommandBuffer() override;

  enum class Use { kTransferRead, kTransferWrite, kDispatch, kCounts, kSync };
  absl::Status CheckRecording() const;
  // Checks `ref` for that use, and notes it.
  absl::StatusOr<Range> Record(const hal::BufferRef& ref, Use use);
  absl::StatusOr<Range> RecordDirect(const hal::BufferRef& ref, Use use);
  absl::StatusOr<Range> RecordSlot(const hal::BufferRef& ref, Use use);
  absl::StatusOr<DispatchCommand*> RecordDispatch(
      hal::Executable* executable, uint64_t function,
      absl::Span<const uint32_t> constants,
      absl::Span<const hal::BufferRef> bindings, Use use = Use::kDispatch);
  absl::Status RecordSync(const hal::BufferRef& target, size_t function);
  // Whether a copy of these bytes must wait for a command of the region that is
  // being recorded. iree-compile 3.13 leaves out the barrier between commands
  // that write parts of a small tensor and a copy of one part. Programs rely on
  // runtimes that begin the commands in their order. So that recording takes
  // linear time, a copy behind many commands is not compared with them.
  bool ReadsWhatIsWrittenBeside(const Range& source) const;
  void Append(Command* command, uint32_t binding_count);
  void KeepAlive(const Object* object);

  const Ref<Object> owner_;
  const Ref<LoadedExecutable> memory_sync_;
  BlockArena arena_;
  SlotUse* const slots_;  // One per entry of the binding table.
  Region* first_region_ = nullptr;
  Region* last_region_ = nullptr;
  bool starts_region_ = true;  // The next command does.
  DirectStorage* first_direct_ = nullptr;
  DirectStorage* last_direct_ = nullptr;
  uint32_t direct_count_ = 0;
  RetainedObject* retained_ = nullptr;
  uint32_t dispatch_count_ = 0;
  uint32_t command_count_max_ = 0;
  uint32_t binding_count_max_ = 0;
  size_t local_memory_bytes_ = 0;
  std::atomic<bool> submitted_{false};
  Ref<Object> route_owner_;
};

// One submission of a finalized command buffer. Unless it is kept, it leaves no
// trace: a one-shot command buffer can be submitted again.
class CommandSubmission {
 public:
  explicit CommandSubmission(CpuCommandBuffer& commands)
      : commands_(commands),
        is_taken_(
            !commands.one_shot() ||
            !commands.submitted_.exchange(true, std::memory_order_relaxed)) {}
  CommandSubmission(const CommandSubmission&) = delete;
  CommandSubmission& operator=(const CommandSubmission&) = delete;
  ~CommandSubmission() {
    if (!is_taken_ || is_kept_) return;
    commands_.submitted_.store(false, std::memory_order_relaxed);
  }

  // False if the command buffer is one-shot and has been submitted.
  bool is_taken() const { return is_taken_; }
  void Keep() { is_kept_ = true; }

 private:
  CpuCommandBuffer& commands_;
  const bool is_taken_;
  bool is_kept_ = false;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_CPU_COMMAND_BUFFER_H_
