// A CommandBuffer is a recorded list of transfers and dispatches. Commands
// between two barriers may run in any order and at the same time. A command
// after a barrier starts when all commands before it have ended, and sees what
// they wrote.
//
// Reusable ones may be submitted any number of times, also concurrently, each
// time with its own binding table.
//
// Thread-safety: recording belongs to one thread; once finalized the object is
// immutable.
#ifndef TAKT_HAL_COMMAND_BUFFER_H_
#define TAKT_HAL_COMMAND_BUFFER_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/object.h"
#include "hal/buffer.h"
#include "hal/executable.h"

namespace takt::hal {

// Bits of the compiler's ABI (spec: enums 2.4).
inline constexpr uint32_t kCommandBufferOneShot = 0x1;
inline constexpr uint32_t kCommandBufferAllowInline = 0x10;

// A buffer range, either direct (buffer) or by slot of the binding table that
// comes with the submission. Borrowed; recording retains what it keeps.
struct BufferRef {
  Buffer* buffer = nullptr;  // nullptr: indirect.
  uint32_t slot = 0;
  uint64_t offset = 0;
  uint64_t length = 0;  // kWholeBuffer: what remains.
};

// One entry of a submission's binding table. Borrowed for the call; the
// submission retains what it keeps.
struct Binding {
  Buffer* buffer = nullptr;
  uint64_t offset = 0;
  uint64_t length = 0;
};

class CommandBuffer : public Object {
 public:
  // The same one if nothing that it names can change, else none.
  static Object* Clone(Object& object, CloneMap& clones);
  static constexpr ObjectType kType{"hal.command_buffer",
                                    &CommandBuffer::Clone};
  static constexpr size_t kMaxDispatchBindings = 64;
  static constexpr size_t kMaxDispatchConstants = 64;

  // Identifies the implementation, so that a device recognizes its own command
  // buffers. The address is only compared.
  virtual const void* implementation() const = 0;

  uint32_t mode() const { return mode_; }
  bool one_shot() const { return (mode_ & kCommandBufferOneShot) != 0; }
  size_t binding_capacity() const { return binding_capacity_; }
  bool finalized() const { return finalized_; }
  // True if it names a buffer directly that is not immutable.
  bool has_direct_mutable_buffers() const {
    return has_direct_mutable_buffers_;
  }

  // Every recording call fails with FAILED_PRECONDITION after Finalize().
  // Ranges of direct buffers are checked now, of indirect ones on submission.
  virtual absl::Status ExecutionBarrier() = 0;
  // `pattern_length` 1, 2 or 4; target range a multiple of it.
  virtual absl::Status FillBuffer(const BufferRef& target, uint32_t pattern,
                                  size_t pattern_length) = 0;
  // Source bytes are captured now.
  virtual absl::Status UpdateBuffer(absl::Span<const uint8_t> source,
                                    const BufferRef& target) = 0;
  // Both lengths are equal; the ranges must not overlap.
  virtual absl::Status CopyBuffer(const BufferRef& source,
                                  const BufferRef& target) = 0;
  // Makes what was written to the range visible to other devices, such as a
  // camera. It needs no barrier: it runs after all commands recorded before it
  // and before all recorded after it. Does nothing where memory is coherent.
  virtual absl::Status FlushBuffer(const BufferRef& target) = 0;
  // Makes what other devices have written to the range visible to the device.
  // Ordered as FlushBuffer().
  virtual absl::Status InvalidateBuffer(const BufferRef& target) = 0;
  // Constants are captured now. INVALID_ARGUMENT if their count or that of the
  // bindings is not what the function declares.
  virtual absl::Status Dispatch(Executable* executable, uint64_t function,
                                const std::array<uint32_t, 3>& workgroups,
                                absl::Span<const uint32_t> constants,
                                absl::Span<const BufferRef> bindings) = 0;
  // The workgroup counts are three u32 at `workgroups`, read on execution.
  virtual absl::Status DispatchIndirect(
      Executable* executable, uint64_t function, const BufferRef& workgroups,
      absl::Span<const uint32_t> constants,
      absl::Span<const BufferRef> bindings) = 0;
  virtual absl::Status Finalize() = 0;

 protected:
  CommandBuffer(uint32_t mode, size_t binding_capacity)
      : Object(&kType), mode_(mode), binding_capacity_(binding_capacity) {}

  bool finalized_ = false;
  bool has_direct_mutable_buffers_ = false;

 private:
  const uint32_t mode_;
  const size_t binding_capacity_;
};

}  // namespace takt::hal

#endif  // TAKT_HAL_COMMAND_BUFFER_H_
