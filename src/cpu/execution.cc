#include "cpu/execution.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/exceptions.h"
#include "base/lean_error.h"
#include "base/status.h"
#include "cpu/block_layout.h"
#include "cpu/float_environment.h"

namespace takt::cpu {

bool IsDecided(const shop::JobShop* shop, const shop::ScheduledJob* job) {
  return shop != nullptr &&
         (shop->schedules_all() ||
          (job != nullptr && job->release_ns() > shop->now_ns()));
}

namespace {

exec::JobTraits WithBorrower(exec::JobTraits traits, const JobAttributes* job) {
  if (job != nullptr) traits.borrower = job->borrower;
  return traits;
}

}  // namespace

Execution::Layout Execution::LayoutOf(const CpuCommandBuffer& command_buffer) {
  const uint32_t binding_count = command_buffer.binding_count_max();
  BlockLayout block(sizeof(Execution));
  Layout layout;
  layout.bindings = block.Add<hal::Binding>(command_buffer.binding_capacity());
  layout.bases = block.Add<Base>(command_buffer.base_count());
  layout.parts = block.Add<ExecutionPart>(command_buffer.command_count_max());
  layout.pointers = block.Add<void*>(binding_count);
  layout.lengths = block.Add<size_t>(binding_count);
  layout.block_bytes = block.bytes();
  return layout;
}

Execution* Execution::Create(Device& device, const exec::JobTraits& traits,
                             const JobAttributes* job, hal::Fence* signal,
                             CpuCommandBuffer* command_buffer,
                             absl::Span<const hal::Binding> bindings) {
  void* block = device.blocks().Allocate(LayoutOf(*command_buffer).block_bytes);
  return ::new (block)
      Execution(device, traits, job, signal, command_buffer, bindings);
}

Execution::Execution(Device& device, const exec::JobTraits& traits,
                     const JobAttributes* job, hal::Fence* signal,
                     CpuCommandBuffer* command_buffer,
                     absl::Span<const hal::Binding> bindings)
    : Operation(device, signal),
      traits_(WithBorrower(traits, job)),
      command_buffer_(Ref<CpuCommandBuffer>::Retain(command_buffer)),
      job_(Ref<shop::ScheduledJob>::Retain(
          job != nullptr && device.shop() != nullptr
              ? shop::ScheduledJob::From(job->context)
              : nullptr)),
      priority_(job != nullptr ? job->priority : kNormalPriority),
      fault_policy_(job != nullptr ? job->fault_policy : JobFaultPolicy()) {
  const Layout layout = LayoutOf(*command_buffer);
  const uint32_t binding_count = command_buffer->binding_count_max();
  bindings_ = MakeArray<hal::Binding>(this, layout.bindings,
                                      command_buffer->binding_capacity());
  for (size_t i = 0; i < bindings_.size(); ++i) {
    bindings_[i] = bindings[i];
    if (bindings[i].buffer != nullptr) bindings[i].buffer->Retain();
  }
  bases_ = MakeArray<Base>(this, layout.bases, command_buffer->base_count());
  parts_ = MakeArray<ExecutionPart>(this, layout.parts,
                                    command_buffer->command_count_max());
  for (ExecutionPart& part : parts_) part.Init(this, traits_);
  pointers_ = MakeArray<void*>(this, layout.pointers, binding_count);
  lengths_ = MakeArray<size_t>(this, layout.lengths, binding_count);
}

Execution::~Execution() {
  if (is_pinned_) CpuCommandBuffer::UnpinBases(bases_);
  for (hal::Binding& binding : bindings_) {
    if (binding.buffer != nullptr) binding.buffer->Release();
  }
}

void Execution::Run() {
  TAKT_CHECK(!is_pinned_ && region_ == nullptr);
  absl::Status status = OutOfMemory();
  TAKT_TRY { status = command_buffer_->PinBases(bindings_, bases_); }
  TAKT_CATCH(const std::bad_alloc&) {}
  if (!status.ok()) {
    Complete(status);
    return;
  }
  is_pinned_ = true;
  region_ = command_buffer_->first_region();
  if (device().executor() == nullptr) {
    exec::Worker worker;
    RunInline(worker);
  } else {
    if (borrower() != nullptr) borrower()->Observe(this);
    BeginSeries();
    Advance();
  }
}

void Execution::BeginSeries() {
  exec::Executor& executor = *device().executor();
  if (executor.max_concurrency() == 1 || traits_.allowed != nullptr ||
      EstimateSharedNs(region_, kInlineBesideNs, kSeriesNs) < kSeriesNs) {
    return;
  }
  executor.BeginSeries(traits_.lane);
  is_series_ = true;
}

void Execution::RunInline(exec::Worker& worker) {
  if (!worker.ReserveLocalMemory(command_buffer_->local_memory_bytes())) {
    Complete(LeanError(absl::StatusCode::kResourceExhausted,
                       [] { return "no local memory for a kernel"; }));
    return;
  }
  Complete(RunHere(nullptr, /*learns=*/false, worker));
}

absl::Status Execution::RunHere(const Region* end, bool learns,
                                exec::Worker& worker) {
  const PartTrace trace{device().trace(), tag()};
  absl::Status status = OutOfMemory();
  TAKT_TRY {
    status = RunRegions(
        region_, end, bases_, traits_, worker,
        {learns, device().observer(), tag().is_traced() ? &trace : nullptr,
         &fault_policy_, cancellation()});
  }
  TAKT_CATCH(const std::bad_alloc&) {}
  return status;
}

bool Execution::HasShare() const {
  return job_ != nullptr && job_->stream().has_share();
}

bool Execution::RunsInline(const Region& region) const {
  // Only some threads run limited work, and each part of work with a share
  // takes a decision.
  const bool has_helper = HasParts(region) && traits_.allowed == nullptr &&
                          !HasShare() &&
                          device().executor()->IsSearching(traits_.lane);
  const int64_t limit_ns = has_helper ? kInlineBesideNs : kInlineNs;
  return EstimateNs(region, limit_ns) <= limit_ns;
}

void Execution::Advance() {
  exec::Executor& executor = *device().executor();
  exec::Worker* worker = executor.current_worker();
  const bool is_decided = IsDecided(device().shop(), job_.get());
  while (region_ != nullptr && !failed_.load(std::memory_order_acquire)) {
    if (is_cancelled()) {
      Fail(Cancellation::Error());
      break;
    }
    if (worker != nullptr && device().learns_costs() &&
        (!is_decided || region_->dispatch_count == 0) &&
        worker->MayRun(TraitsNow()) && RunsInline(*region_) &&
        worker->ReserveLocalMemory(command_buffer_->local_memory_bytes())) {
      const absl::Status status =
          RunHere(region_->next, /*learns=*/true, *worker);
      if (!status.ok()) Fail(status);
      if (job_ != nullptr) job_->CountUnseen(region_->dispatch_count);
      region_ = region_->next;
      continue;
    }
    uint32_t part_count = 0;
    absl::Status status = OutOfMemory();
    TAKT_TRY {
      absl::Status prepared = PrepareParts(&part_count);
      if (prepared.ok()) EnsureJob(part_count);
      status = std::move(prepared);
    }
    TAKT_CATCH(const std::bad_alloc&) {}
    if (!status.ok()) {
      Fail(status);
      break;
    }
    region_ = region_->next;
    if (part_count == 0) continue;
    Submit(part_count);
    return;
  }
  End();
}

bool Execution::IsWorthDeciding(const ExecutionPart& part) const {
  return part.expected_tile_ns <= 0 ||
         part.expected_tile_ns > kInlineNs / part.tile_count ||
         (part.is_dispatch() && IsDecided(device().shop(), job_.get()));
}

void Execution::EnsureJob(uint32_t part_count) {
  if (device().shop() == nullptr || job_ != nullptr) return;
  for (uint32_t i = 0; i < part_count; ++i) {
    if (IsWorthDeciding(parts_[i])) return ReleaseJob();
  }
}

void Execution::SubmitToShop(shop::ScheduledJob& job, ExecutionPart* part) {
  TAKT_TRY { return device().shop()->Submit(job, part); }
  TAKT_CATCH(const std::bad_alloc&) {}
  Fail(OutOfMemory());
  EndPart();
}

void Execution::Submit(uint32_t part_count) {
  TAKT_DCHECK(part_count > 0 && part_count <= parts_.size());
  TAKT_DCHECK(parts_left_.load(std::memory_order_relaxed) == 0);
  part_count_ = part_count;
  // Sequentially consistent: OnUrgency() sees them, or RaiseParts() the loan.
  parts_left_.store(part_count, std::memory_order_seq_cst);
  RaiseParts(part_count);
  // This object may be destroyed as soon as the last part is submitted.
  ExecutionPart* const parts = parts_.data();
  const Ref<Device> hold = Ref<Device>::Retain(&device());
  shop::JobShop* const shop = hold->shop();
  if (shop == nullptr) {
    for (uint32_t i = 0; i < part_count; ++i) {
      parts[i].executor->Submit(&parts[i]);
    }
    return;
  }
  const Ref<shop::ScheduledJob> job = job_;
  // Small work that cannot run here, too, if the stream has a share: in its
  // lane it might wait for good.
  const bool has_share = HasShare();
  for (uint32_t i = 0; i < part_count; ++i) {
    if (!has_share && !IsWorthDeciding(parts[i])) {
      if (job != nullptr) job->CountUnseen(parts[i].is_dispatch() ? 1 : 0);
      parts[i].executor->Submit(&parts[i]);
      continue;
    }
    SubmitToShop(*job, &parts[i]);
  }
  shop->Flush();
}

absl::Status Execution::PrepareParts(uint32_t* part_count) {
  uint32_t count = 0;
  size_t binding = 0;
  for (const Command* command = region_->first; command != nullptr;
       command = command->next) {
    ExecutionPart& part = parts_[count];
    if (command->kind == Command::Kind::kDispatch) {
      const auto& dispatch = *static_cast<const DispatchCommand*>(command);
      TAKT_DCHECK(binding + dispatch.binding_count <= pointers_.size());
      TAKT_RETURN_IF_ERROR(part.PrepareDispatch(
          dispatch, *region_,
          {pointers_.data() + binding, lengths_.data() + binding}));
      binding += dispatch.binding_count;
    } else {
      TAKT_RETURN_IF_ERROR(
          part.PrepareTransfer(*static_cast<const TransferCommand*>(command)));
    }
    // A part with nothing to do gives its place to the next command.
    if (part.tile_count > 0) ++count;
  }
  *part_count = count;
  return absl::OkStatus();
}

void Execution::ReleaseJob() {
  shop::JobShop& shop = *device().shop();
  // The workers that the job may run on are workers of the device's executor.
  const bool is_shops = device().executor() == &shop.executor();
  job_ = shop.ReleaseJob(
      *shop.StreamOf(priority_, is_shops ? traits_.allowed : nullptr),
      shop.now_ns(), traits_.deadline_ns, /*is_counted=*/false);
  job_->SetBorrower(borrower());
}

exec::JobTraits Execution::TraitsNow() const {
  exec::JobTraits traits = traits_;
  traits.lane =
      static_cast<uint8_t>(std::max<int32_t>(traits.lane, LoanLane()));
  return traits;
}

int32_t Execution::LoanLane() const {
  const Borrower* const own = borrower();
  return own != nullptr && Borrower::AnyHasLoan() && own->has_loan()
             ? exec::LaneOf(own->urgency().priority)
             : exec::Job::kNotRaised;
}

void Execution::RaiseParts(uint32_t part_count) {
  if (borrower() == nullptr) return;
  int32_t lane = exec::Job::kNotRaised;
  do {
    lane = LoanLane();
    for (uint32_t i = 0; i < part_count; ++i) parts_[i].SetRaised(lane);
  } while (lane != LoanLane());
}

void Execution::OnUrgency(const JobUrgency&, Borrower::Calls* after) {
  // The part that is added below must find memory for its end.
  after->reserve(after->size() + 1);
  uint32_t left = parts_left_.load(std::memory_order_seq_cst);
  do {
    if (left == 0) return;  // The next region sees the loan.
  } while (!parts_left_.compare_exchange_weak(left, left + 1,
                                              std::memory_order_seq_cst));
  const int32_t lane = LoanLane();
  for (uint32_t i = 0; i < part_count_; ++i) {
    parts_[i].Raise(lane);
  }
  after->push_back([this] {
    if (job_ != nullptr) device().shop()->ReviewLoan(*job_);
    EndPart();
  });
}

void Execution::EndPart() {
  // Acquire: the last part sees what the others have written.
  const uint32_t left = parts_left_.fetch_sub(1, std::memory_order_acq_rel);
  TAKT_DCHECK(left > 0);
  if (left == 1) Advance();
}

void Execution::Fail(const absl::Status& error) {
  MutexLock lock(&error_mutex_);
  if (error_.ok()) error_ = error;
  failed_.store(true, std::memory_order_release);
}

void Execution::End() {
  TAKT_CHECK(parts_left_.load(std::memory_order_relaxed) == 0);
  if (borrower() != nullptr) borrower()->Unobserve(this);
  if (is_series_) device().executor()->EndSeries();
  absl::Status outcome;
  {
    MutexLock lock(&error_mutex_);
    outcome = error_;
  }
  if (device().shop() != nullptr) {
    // Before Complete(), whose callbacks may take long.
    job_.reset();
    device().shop()->Flush();
  }
  Complete(outcome);
}

}  // namespace takt::cpu
