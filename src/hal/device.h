// A Device runs command buffers. It has queues, an allocator and a loader of
// executables. cpu/ and npu/ implement it.
//
// Queue operations return at once. An operation starts when its wait fence is
// reached, and signals its signal fence when all its effects are visible.
// Nothing else orders operations, not even a common queue. If the wait fence
// fails, the operation is skipped, and its signal fence fails with the same
// error. The device keeps alive what an operation uses until it is done. A null
// fence means no wait or no signal. A call with invalid arguments returns the
// error and touches no fence; a later error fails the signal fence.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_HAL_DEVICE_H_
#define TAKT_HAL_DEVICE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "base/job_attributes.h"
#include "base/object.h"
#include "hal/buffer.h"
#include "hal/command_buffer.h"
#include "hal/executable.h"
#include "hal/fence.h"
#include "hal/memory_group.h"

namespace takt::hal {

class Device;

// The object that compiled code calls !hal.allocator. It stands for its device.
class Allocator final : public Object {
 public:
  static constexpr ObjectType kType{"hal.allocator", &CloneIsSame};
  explicit Allocator(Device* device) : Object(&kType), device_(device) {}
  // Borrowed; NULL once the device is gone.
  Device* device() const { return device_.load(std::memory_order_acquire); }
  void Detach() { device_.store(nullptr, std::memory_order_release); }

 private:
  std::atomic<Device*> device_;
};

// A byte range that queue operations read or write: memory, or a mapped file.
class File final : public Object {
 public:
  static constexpr ObjectType kType{"hal.file", &CloneIsSame};
  static Ref<File> Wrap(Ref<Object> owner, uint8_t* data, uint64_t byte_length,
                        MemoryAccess access);
  uint8_t* data() const { return data_; }
  uint64_t byte_length() const { return byte_length_; }
  MemoryAccess access() const { return access_; }

 private:
  File(Ref<Object> owner, uint8_t* data, uint64_t byte_length,
       MemoryAccess access)
      : Object(&kType),
        owner_(std::move(owner)),
        data_(data),
        byte_length_(byte_length),
        access_(access) {}
  const Ref<Object> owner_;
  uint8_t* const data_;
  const uint64_t byte_length_;
  const MemoryAccess access_;
};

// The queue, the fences and the job of a queue operation. All are borrowed for
// the call.
struct QueueTicket {
  uint64_t affinity = ~uint64_t{0};
  Fence* wait = nullptr;
  Fence* signal = nullptr;
  // The group of an alloca: an open one of this device, or null.
  MemoryGroup* group = nullptr;
  // The job that the operation is part of, or null.
  const JobAttributes* job = nullptr;
};

// The bytes that a queue operation moves, with their source and target.
// Borrowed for the call.
struct TransferRequest {
  enum class Kind : uint8_t {
    kFill,    // A repeated pattern into a buffer.
    kUpdate,  // The caller's bytes, copied by the call, into a buffer.
    kCopy,    // From buffer to buffer.
    kRead,    // From a file into a buffer.
    kWrite,   // From a buffer into a file.
  };
  Kind kind;
  Buffer* source = nullptr;  // kCopy, kWrite.
  Buffer* target = nullptr;  // All but kWrite.
  File* file = nullptr;      // kRead, kWrite.
  uint64_t source_offset = 0;
  uint64_t target_offset = 0;
  uint64_t length = 0;                   // All but kUpdate.
  absl::Span<const uint8_t> bytes = {};  // kUpdate.
  uint32_t pattern = 0;                  // kFill: 1, 2 or 4 bytes of it.
  size_t pattern_length = 0;
};

struct BufferParams {
  MemoryType memory_type = kMemoryTypeDeviceLocal;
  BufferUsage usage = kUsageTransferAndStorage;
  MemoryAccess access = kAccessAll;
};

struct AllocationStatistics {
  uint64_t bytes_reserved = 0;   // Allocated and not yet freed.
  uint64_t bytes_committed = 0;  // Memory held, in use or idle.
  uint64_t bytes_peak = 0;       // The maximum of bytes_committed.
  uint64_t bytes_idle = 0;       // The unused part of bytes_committed.
  uint64_t allocation_count = 0;
  // 0 for a device without a budget.
  uint64_t bytes_budget = 0;
  uint64_t bytes_waiting = 0;  // Needed by waiting allocas.
  uint64_t waiting_count = 0;  // Allocas that wait now.
  uint64_t wait_count = 0;     // Allocas that have waited so far.
};

// The costs that a device has measured for the dispatches of one function.
struct DispatchCostInfo {
  const std::string& function;
  // All 0 stands for grids that are known only when they run, and for grids
  // beyond the number that a device keeps.
  std::array<uint32_t, 3> workgroup_count;
  // The time of a workgroup if one thread runs all of them, and if several
  // threads share them. 0 if not measured.
  int64_t alone_ns;
  uint64_t alone_count;  // Samples.
  int64_t shared_ns;
  uint64_t shared_count;
};

class Device : public Object {
 public:
  static constexpr ObjectType kType{"hal.device", &CloneIsSame};

  // Such as "local-sync"; compiled code matches it against "local*".
  const std::string& id() const { return id_; }
  Allocator* allocator() const { return allocator_.get(); }
  // The pool of objects that live as long as one operation.
  BlockPool& blocks() const { return *blocks_; }

  // Spec: device queries. nullopt where the pair is unknown.
  virtual absl::optional<int64_t> QueryI64(absl::string_view category,
                                           absl::string_view key) const = 0;

  // Allocates memory at once. RESOURCE_EXHAUSTED if the system has none.
  virtual absl::StatusOr<Ref<Buffer>> Allocate(const BufferParams& params,
                                               uint64_t byte_length) = 0;
  // Host memory as a buffer of this device, without a copy. INVALID_ARGUMENT
  // if it cannot be (alignment).
  virtual absl::StatusOr<Ref<Buffer>> Import(const BufferParams& params,
                                             Ref<Object> owner, uint8_t* data,
                                             uint64_t byte_length) = 0;
  virtual AllocationStatistics allocation_statistics() const = 0;
  virtual void VisitDispatchCosts(
      absl::FunctionRef<void(const DispatchCostInfo&)> visit) {}
  // Gives idle memory back to the system.
  virtual void Trim() = 0;
  // True if the device uses memory groups.
  virtual bool has_memory_groups() const { return false; }
  // Makes a group for the allocations of one invocation, which may need
  // `claim_bytes` altogether (~0: unknown). Null if the device uses no groups.
  virtual Ref<MemoryGroup> CreateMemoryGroup(uint64_t claim_bytes) {
    return nullptr;
  }
  // Describes in one line why allocas wait; empty if none waits.
  virtual std::string ExplainMemory() const { return std::string(); }
  // Allocates idle memory, with its pages present, for simultaneous allocations
  // of these lengths. RESOURCE_EXHAUSTED.
  virtual absl::Status PrepareMemory(absl::Span<const uint64_t> byte_lengths) {
    return absl::OkStatus();
  }

  // NOT_FOUND if no loader supports `format`. `data` is only read during the
  // call unless `owner` keeps it. An executable of the same content and
  // constants is returned again while it lives.
  virtual absl::StatusOr<Ref<Executable>> LoadExecutable(
      absl::string_view format, absl::Span<const uint8_t> data,
      Ref<Object> owner, absl::Span<const uint32_t> constants) = 0;
  virtual absl::StatusOr<Ref<CommandBuffer>> CreateCommandBuffer(
      uint32_t mode, uint32_t categories, size_t binding_capacity) = 0;

  // Returns the buffer at once; it has memory once the signal fence is reached.
  virtual absl::StatusOr<Ref<Buffer>> QueueAlloca(const QueueTicket& ticket,
                                                  const BufferParams& params,
                                                  uint64_t byte_length) = 0;
  virtual absl::Status QueueDealloca(const QueueTicket& ticket,
                                     Buffer* buffer) = 0;
  virtual absl::Status QueueTransfer(const QueueTicket& ticket,
                                     const TransferRequest& transfer) = 0;
  virtual absl::Status QueueExecute(const QueueTicket& ticket,
                                    CommandBuffer* command_buffer,
                                    absl::Span<const Binding> bindings) = 0;
  virtual absl::Status QueueBarrier(const QueueTicket& ticket) = 0;
  // Runs `call` in queue order; its status is the operation's outcome. Where
  // this fails or throws, `call` stays the caller's.
  virtual absl::Status QueueHostCall(
      const QueueTicket& ticket,
      absl::AnyInvocable<absl::Status() &&>&& call) = 0;
  // Starts the operations that were kept for a waiting thread.
  virtual void QueueFlush() = 0;

  // The transfers by name.
  absl::Status QueueFill(const QueueTicket& ticket, Buffer* target,
                         uint64_t offset, uint64_t length, uint32_t pattern,
                         size_t pattern_length) {
    return QueueTransfer(ticket, {.kind = TransferRequest::Kind::kFill,
                                  .target = target,
                                  .target_offset = offset,
                                  .length = length,
                                  .pattern = pattern,
                                  .pattern_length = pattern_length});
  }
  absl::Status QueueUpdate(const QueueTicket& ticket,
                           absl::Span<const uint8_t> source, Buffer* target,
                           uint64_t offset) {
    return QueueTransfer(ticket, {.kind = TransferRequest::Kind::kUpdate,
                                  .target = target,
                                  .target_offset = offset,
                                  .bytes = source});
  }
  absl::Status QueueCopy(const QueueTicket& ticket, Buffer* source,
                         uint64_t source_offset, Buffer* target,
                         uint64_t target_offset, uint64_t length) {
    return QueueTransfer(ticket, {.kind = TransferRequest::Kind::kCopy,
                                  .source = source,
                                  .target = target,
                                  .source_offset = source_offset,
                                  .target_offset = target_offset,
                                  .length = length});
  }
  absl::Status QueueRead(const QueueTicket& ticket, File* source,
                         uint64_t source_offset, Buffer* target,
                         uint64_t target_offset, uint64_t length) {
    return QueueTransfer(ticket, {.kind = TransferRequest::Kind::kRead,
                                  .target = target,
                                  .file = source,
                                  .source_offset = source_offset,
                                  .target_offset = target_offset,
                                  .length = length});
  }
  absl::Status QueueWrite(const QueueTicket& ticket, Buffer* source,
                          uint64_t source_offset, File* target,
                          uint64_t target_offset, uint64_t length) {
    return QueueTransfer(ticket, {.kind = TransferRequest::Kind::kWrite,
                                  .source = source,
                                  .file = target,
                                  .source_offset = source_offset,
                                  .target_offset = target_offset,
                                  .length = length});
  }

 protected:
  explicit Device(std::string id)
      : Object(&kType),
        id_(std::move(id)),
        allocator_(MakeRef<Allocator>(this)),
        blocks_(BlockPool::Create()) {}
  ~Device() override { allocator_->Detach(); }

 private:
  const std::string id_;
  const Ref<Allocator> allocator_;
  const UniqueBlockPool blocks_;
};

}  // namespace takt::hal

#endif  // TAKT_HAL_DEVICE_H_
