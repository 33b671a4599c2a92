// An Execution is a submitted command buffer that cannot run at once on the
// thread that submits it. Its regions run one after the other: each as jobs of
// the executor, one a command, of which the last to finish goes on with the
// next region; or, where that is quicker or there is no executor, inline.
#ifndef TAKT_CPU_EXECUTION_H_
#define TAKT_CPU_EXECUTION_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "cpu/command_buffer.h"
#include "cpu/command_runner.h"
#include "cpu/operation.h"
#include "exec/executor.h"

namespace takt::cpu {

// What a thread that could run it at once does not hand to others: waking one
// takes about as long.
inline constexpr int64_t kInlineNs = 25'000;

// Whether small dispatches of the job (null: of none) wait for a decision as
// large ones do: all do now, or it has not been released.
bool IsDecided(const shop::JobShop* shop, const shop::Job* job);

class Execution final : public Operation {
 public:
  // `bindings` are what CheckBindings() has found right; they are retained.
  // `job` may be null.
  static Execution* Create(Device& device, const exec::JobTraits& traits,
                           const JobAttributes* job, hal::Fence* signal,
                           CommandBuffer* command_buffer,
                           absl::Span<const hal::Binding> bindings);

 private:
  // One command of the region that runs.
  class Part final : public shop::Work {
   public:
    uint32_t RunTiles(uint32_t begin, uint32_t end,
                      exec::Worker& worker) override;
    void Finish(exec::Worker& worker) override;
    uint32_t RunTransferTiles(uint32_t begin, uint32_t end,
                              const exec::Worker& worker) const;
    void GiveUp() override;
    void NoteBegin(int64_t start_ns);
    void Place(bool on_npu) override;
    // The unit's or the CPU's way of it, of `recorded`. INVALID_ARGUMENT as
    // Resolve().
    absl::Status Take(DispatchWay which);
    // The shop decides which way it goes.
    void OfferBothWays();

    Execution* execution = nullptr;
    bool is_dispatch = false;
    DispatchWay way = DispatchWay::kOnly;
    // As it was recorded, of one that may go either way.
    const DispatchCommand* recorded = nullptr;
    void** pointers = nullptr;  // Room for its bindings.
    size_t* lengths = nullptr;
    bool is_left_to_shop = false;  // Which way it goes.
    std::atomic<bool> has_begun{false};
    ResolvedDispatch dispatch;
    ResolvedTransfer transfer;
    // For an observer: the region that it is of, and when the first of its
    // tiles to run began. Each range that runs lowers it.
    const Region* group = nullptr;
    std::atomic<int64_t> begin_ns{kInfiniteFuture};
  };

  // Arrays behind the object, in its block.
  struct Layout {
    size_t bindings, bases, parts, pointers, lengths, end;
  };
  static Layout LayoutOf(const CommandBuffer& command_buffer);

  Execution(Device& device, const exec::JobTraits& traits,
            const JobAttributes* job, hal::Fence* signal,
            CommandBuffer* command_buffer,
            absl::Span<const hal::Binding> bindings);
  ~Execution() override;

  void Run() override;
  void RunInline(exec::Worker& worker);
  // Runs regions from region_ on until one has been handed to the executor or
  // all are done.
  void Advance();
  void Submit(uint32_t part_count);
  // Of the region's parts one has ended.
  void EndPart();
  bool IsWorthDeciding(const Part& part) const;
  absl::Status PrepareDispatch(const DispatchCommand& recorded, Part& part,
                               size_t* binding);
  // Whose threads run the CPU's way, and whether they are others than the
  // device's.
  exec::Executor* CpuExecutor() const;
  // Resolves the commands of region_ that have something to do.
  absl::Status PrepareParts(uint32_t* part_count);
  void Fail(const absl::Status& error) ABSL_LOCKS_EXCLUDED(error_mutex_);
  void End();

  const exec::JobTraits traits_;
  const Ref<CommandBuffer> command_buffer_;
  absl::Span<hal::Binding> bindings_;  // Buffers retained.
  absl::Span<Base> bases_;
  Part* parts_;
  void** pointers_;
  size_t* lengths_;
  bool is_pinned_ = false;
  // What the device's shop knows it as; null until it has work for it.
  Ref<shop::Job> job_;
  const uint8_t priority_;
  const JobFaultPolicy faults_;

  const Region* region_ = nullptr;
  std::atomic<uint32_t> parts_left_{0};
  std::atomic<bool> failed_{false};
  Mutex error_mutex_;
  absl::Status error_ ABSL_GUARDED_BY(error_mutex_);  // The first.
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_EXECUTION_H_
