// The CPU as a device. Its memory is the process's memory; a command buffer
// runs when its wait fence is reached.
//
//   "local-sync" has no executor: an operation runs to its end on the thread
//                 that submits it, or on the thread that reaches its wait
//                 fence.
//   "local-task" spreads the workgroups over the threads of an executor, and
//                 runs very small work as local-sync does.
//
// Thread-safety: see hal/device.h.
#ifndef TAKT_CPU_DEVICE_H_
#define TAKT_CPU_DEVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/cpu_set.h"
#include "cpu/dispatch_observer.h"
#include "cpu/executable_loader.h"
#include "cpu/import_resolver.h"
#include "cpu/memory_pool.h"
#include "cpu/operation_trace.h"
#include "exec/executor.h"
#include "hal/device.h"
#include "shop/job_shop.h"

namespace takt::cpu {

class CommandSubmission;
class CpuCommandBuffer;
class Transfer;

class Device final : public hal::Device {
 public:
  struct Options {
    // Resolves the imports of kernels. Borrowed; outlives the device. NULL:
    // there are no imports.
    ImportResolver* imports = nullptr;
    // More executable formats; NULL: none.
    std::shared_ptr<CodeLoader> formats;
    // Whether only this device uses the executor; then it is shut down with the
    // device.
    bool owns_executor = false;
    // An object of a device of another kind, which this device keeps alive.
    Ref<Object> companion;
    // The options of the pool that provides the memory of buffers.
    MemoryPool::Options memory;
    // The queues: for each queue the processors on which its work may run, if
    // the work names none. An operation of several queues may run on the
    // processors of all of them. Empty: one queue, on all processors.
    std::vector<CpuSet> queues;
    // Whether dispatches are measured. If not, no dispatch runs at once on the
    // thread that submits it, and each is spread as if its cost were unknown.
    bool learn_costs = true;
    // The code that flushes and invalidates memory (CpuCommandBuffer::Create).
    // Null: memory is coherent.
    Ref<LoadedExecutable> memory_sync;
    // Records the operations. Null: nothing does.
    Ref<Tracer> tracer;
    DispatchObserver observer;  // May be empty.
    // Whether it takes libraries of the system's own format.
    bool allows_system_libraries = false;
    // Decides when, and on how many threads, a dispatch runs that is worth a
    // decision; of the same executor. Null: the executor's lanes alone order
    // the work.
    Ref<shop::JobShop> shop;
    // The pools of its machine in which the device's dispatches may run; 0: all
    // cores.
    uint32_t shop_pools = 0;
  };

  // A device named `id`, such as "local-sync". `executor` may be null: then
  // everything runs inline. The device retains it; its creator shuts it down.
  static absl::StatusOr<Ref<Device>> Create(absl::string_view id,
                                            Ref<exec::Executor> executor,
                                            const Options& options);

  exec::Executor* executor() const { return executor_.get(); }
  // The name of this device's operations in diagnoses of fences.
  const Ref<const hal::Signaller>& signaller() const { return signaller_; }
  // Whether a transfer of `length` bytes runs at once, on this thread.
  bool RunsTransferHere(const exec::JobTraits& traits, uint64_t length) const;
  MemoryPool& memory() const { return *memory_; }
  Object* companion() const { return companion_.get(); }  // May be null.
  bool learns_costs() const { return learns_costs_; }
  const OperationTrace& trace() const { return trace_; }
  const DispatchObserver& observer() const { return observer_; }
  shop::JobShop* shop() const { return shop_.get(); }  // May be null.
  uint32_t shop_pools() const { return shop_pools_; }

  // hal::Device.
  absl::optional<int64_t> QueryI64(absl::string_view category,
                                   absl::string_view key) const override;
  absl::StatusOr<Ref<hal::Buffer>> Allocate(const hal::BufferParams& params,
                                            uint64_t byte_length) override;
  absl::StatusOr<Ref<hal::Buffer>> Import(const hal::BufferParams& params,
                                          Ref<Object> owner, uint8_t* data,
                                          uint64_t byte_length) override;
  hal::AllocationStatistics allocation_statistics() const override;
  void VisitDispatchCosts(
      absl::FunctionRef<void(const hal::DispatchCostInfo&)> visit) override;
  void Trim() override;
  bool has_memory_groups() const override {
    return memory_->budget() != nullptr;
  }
  Ref<hal::MemoryGroup> CreateMemoryGroup(uint64_t claim_bytes) override;
  std::string ExplainMemory() const override;
  absl::Status PrepareMemory(absl::Span<const uint64_t> byte_lengths) override;
  absl::StatusOr<Ref<hal::Executable>> LoadExecutable(
      absl::string_view format, absl::Span<const uint8_t> data,
      Ref<Object> owner, absl::Span<const uint32_t> constants) override;
  absl::StatusOr<Ref<hal::CommandBuffer>> CreateCommandBuffer(
      uint32_t mode, uint32_t categories, size_t binding_capacity) override;
  absl::StatusOr<Ref<hal::Buffer>> QueueAlloca(const hal::QueueTicket& ticket,
                                               const hal::BufferParams& params,
                                               uint64_t byte_length) override;
  absl::Status QueueDealloca(const hal::QueueTicket& ticket,
                             hal::Buffer* buffer) override;
  absl::Status QueueTransfer(const hal::QueueTicket& ticket,
                             const hal::TransferRequest& transfer) override;
  absl::Status QueueExecute(const hal::QueueTicket& ticket,
                            hal::CommandBuffer* command_buffer,
                            absl::Span<const hal::Binding> bindings) override;
  absl::Status QueueBarrier(const hal::QueueTicket& ticket) override;
  absl::Status QueueHostCall(
      const hal::QueueTicket& ticket,
      absl::AnyInvocable<absl::Status() &&>&& call) override;
  void QueueFlush() override;

 private:
  Device(absl::string_view id, Ref<exec::Executor> executor,
         const Options& options);
  ~Device() override {
    memory_->Retire();
    loader_.Retire();
    // The caller may be one of its threads, so this happens while there is a
    // reference.
    if (owns_executor_) executor_->Shutdown();
  }

  struct WaitState;

  // Runs `step`, a callable that returns a status, when the wait fence is
  // reached: before this function returns, if it is reached already. `wait`
  // says how the fence stands.
  template <typename Step>
  void RunStep(const hal::QueueTicket& ticket, const OperationTag& tag,
               const WaitState& wait, Step step);
  // Runs a step whose wait fence is reached.
  template <typename Step>
  void RunNow(const hal::QueueTicket& ticket, const OperationTag& tag,
              Step&& step);
  // Ends an operation that was issued and ran on this thread.
  void End(const hal::QueueTicket& ticket, const OperationTag& tag,
           const absl::Status& outcome);
  // Issues and ends an operation whose wait fence has failed with `error`.
  void Fail(const hal::QueueTicket& ticket, const OperationTag& tag,
            const absl::Status& error);
  // Gives a reserved storage its memory.
  absl::Status Commit(PooledStorage& storage, const OperationTag& tag);
  // Runs a checked command buffer on this thread if it is small enough. Returns
  // whether it did, and has kept `submission` then.
  bool TryExecuteInline(const hal::QueueTicket& ticket, const OperationTag& tag,
                        const exec::JobTraits& traits,
                        const CpuCommandBuffer& command_buffer,
                        absl::Span<const hal::Binding> bindings,
                        CommandSubmission& submission);
  Ref<hal::Buffer> CreateBuffer(Ref<PooledStorage> storage,
                                const hal::BufferParams& params);

  // Finds the traits of the operation's jobs. INVALID_ARGUMENT for processors
  // without workers, and for queues that do not exist.
  absl::StatusOr<exec::JobTraits> FindTraits(
      const hal::QueueTicket& ticket) const;

  const Ref<exec::Executor> executor_;  // Null: everything runs inline.
  const bool learns_costs_;
  const DispatchObserver observer_;
  const Ref<shop::JobShop> shop_;
  const uint32_t shop_pools_;
  const std::vector<CpuSet> queues_;
  const CpuSet all_queues_;
  const Ref<MemoryPool> memory_;
  const Ref<LoadedExecutable> memory_sync_;
  const Ref<const hal::Signaller> signaller_;
  const bool owns_executor_;
  const Ref<Object> companion_;
  const OperationTrace trace_;
  ExecutableLoader loader_;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_DEVICE_H_
