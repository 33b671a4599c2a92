// An Execution is a submitted command buffer that cannot run at once on the
// thread that submits it. It steps through the regions of the buffer, which run
// one after the other. A region runs as parts (execution_part.h), one a
// command, on the executor or through the job shop; the part that ends last
// steps to the next region. A region that takes less time than waking a thread
// runs inline, and so do all of them where there is no executor.
//
//   Run -> Advance -> PrepareParts -> Submit -> ... -> EndPart -> Advance ->
//   End
#ifndef TAKT_CPU_EXECUTION_H_
#define TAKT_CPU_EXECUTION_H_

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/borrower.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "cpu/command_runner.h"
#include "cpu/cpu_command_buffer.h"
#include "cpu/execution_part.h"
#include "cpu/operation.h"
#include "exec/executor.h"

namespace takt::cpu {

// Work that takes no longer than this runs on the thread that has it, because a
// wake-up of another thread takes about as long.
inline constexpr int64_t kInlineNs = 25'000;
// The same where another thread looks for work already.
inline constexpr int64_t kInlineBesideNs = 4'000;
// If the regions that threads can share take as long, a thread is woken before
// the first of them, and looks for the others.
inline constexpr int64_t kSeriesNs = 100'000;

// Whether small dispatches of the job wait for a decision of the shop, as large
// ones do: because the shop now decides about all dispatches, or because the
// job has not been released. Both may be null.
bool IsDecided(const shop::JobShop* shop, const shop::ScheduledJob* job);

class Execution final : public Operation, private Borrower::Observer {
 public:
  // `bindings` have passed CheckBindings(); they are retained.
  // `job` may be null.
  static Execution* Create(Device& device, const exec::JobTraits& traits,
                           const JobAttributes* job, hal::Fence* signal,
                           CpuCommandBuffer* command_buffer,
                           absl::Span<const hal::Binding> bindings);

 private:
  friend class ExecutionPart;

  // The offsets of the arrays behind the object, in its block.
  struct Layout {
    size_t bindings, bases, parts, pointers, lengths, block_bytes;
  };
  static Layout LayoutOf(const CpuCommandBuffer& command_buffer);

  Execution(Device& device, const exec::JobTraits& traits,
            const JobAttributes* job, hal::Fence* signal,
            CpuCommandBuffer* command_buffer,
            absl::Span<const hal::Binding> bindings);
  ~Execution() override;

  void Run() override;
  // Begins a series of the executor if several regions follow that threads can
  // share.
  void BeginSeries();
  bool HasShare() const;
  // Whether the region ends soonest on this thread alone.
  bool RunsInline(const Region& region) const;
  void RunInline(exec::Worker& worker);
  // Runs the regions up to `end` on this thread. `learns`: see RunTerms.
  absl::Status RunHere(const Region* end, bool learns, exec::Worker& worker);
  // Runs regions from region_ on until one has been handed to the executor or
  // all are done.
  void Advance();
  void Submit(uint32_t part_count);
  // Releases a job of the shop if one of the prepared parts needs it.
  void EnsureJob(uint32_t part_count);
  void ReleaseJob();  // Makes job_.
  void SubmitToShop(shop::ScheduledJob& job, ExecutionPart* part);
  // Reports that one of the region's parts has ended.
  void EndPart();
  // Raises the parts in flight; the region does not end meanwhile.
  void OnUrgency(const JobUrgency& urgency, Borrower::Calls* after) override;
  // The lane of the loan to its call; exec::Job::kNotRaised: there is none.
  int32_t LoanLane() const;
  exec::JobTraits TraitsNow() const;
  void RaiseParts(uint32_t part_count);
  // Whether the job shop decides when the part runs. The executor takes small
  // parts, of which the shop need not know.
  bool IsWorthDeciding(const ExecutionPart& part) const;
  // Prepares a part for each command of region_ that has something to do.
  absl::Status PrepareParts(uint32_t* part_count);
  bool has_failed() const { return failed_.load(std::memory_order_relaxed); }
  void Fail(const absl::Status& error) ABSL_LOCKS_EXCLUDED(error_mutex_);
  void End();

  const exec::JobTraits traits_;
  const Ref<CpuCommandBuffer> command_buffer_;
  absl::Span<hal::Binding> bindings_;  // Buffers retained.
  absl::Span<Base> bases_;
  absl::Span<ExecutionPart> parts_;
  // Room for the bindings of all dispatches of a region.
  absl::Span<void*> pointers_;
  absl::Span<size_t> lengths_;
  bool is_series_ = false;  // Its series has begun, and End() ends it.
  bool is_pinned_ = false;
  // The record of the device's job shop; null until it has work for the shop.
  Ref<shop::ScheduledJob> job_;
  const uint8_t priority_;
  const JobFaultPolicy fault_policy_;

  const Region* region_ = nullptr;
  // The parts of the region in flight, and those of them that have not ended,
  // with one more for each OnUrgency() under way.
  uint32_t part_count_ = 0;
  std::atomic<uint32_t> parts_left_{0};
  std::atomic<bool> failed_{false};
  Mutex error_mutex_;
  absl::Status error_ ABSL_GUARDED_BY(error_mutex_);  // The first.
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_EXECUTION_H_
