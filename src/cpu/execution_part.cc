#include "cpu/execution_part.h"

#include <algorithm>
#include <new>

#include "base/cancellation.h"
#include "base/check.h"
#include "base/exceptions.h"
#include "base/lean_error.h"
#include "base/status.h"
#include "cpu/execution.h"
#include "cpu/float_environment.h"
#include "cpu/tile_run.h"

namespace takt::cpu {

void ExecutionPart::Init(Execution* execution, const exec::JobTraits& traits) {
  TAKT_DCHECK(execution_ == nullptr);
  execution_ = execution;
  static_cast<exec::JobTraits&>(*this) = traits;
  can_be_raised = traits.borrower != nullptr;
}

absl::Status ExecutionPart::PrepareTransfer(const TransferCommand& command) {
  is_dispatch_ = false;
  is_offered_ = false;
  TAKT_RETURN_IF_ERROR(Resolve(command, execution_->bases_, &transfer_));
  executor = execution_->device().executor();
  allowed = execution_->traits_.allowed;  // A dispatch may have changed it.
  tile_count = transfer_.tile_count();
  local_bytes = 0;
  // One core copies some 8 bytes a nanosecond.
  expected_tile_ns = ResolvedTransfer::kTileBytes / 8;
  sequential = false;
  if (execution_->tag().is_traced()) {
    trace_name = execution_->device().trace().TransferName();
  }
  kernel = {shop::kTransferHash,
            static_cast<uint32_t>(command.kind),
            {tile_count, 1, 1}};
  pools = 0;
  npu_ns = 0;
  return absl::OkStatus();
}

absl::Status ExecutionPart::PrepareDispatch(const DispatchCommand& recorded,
                                            const Region& region,
                                            const BindingRoom& room) {
  is_dispatch_ = true;
  is_offered_ = false;
  has_begun_.store(false, std::memory_order_relaxed);
  begin_ns_.store(kInfiniteFuture, std::memory_order_relaxed);
  recorded_ = &recorded;
  route_ = recorded.route();
  region_ = &region;
  room_ = room;
  if (route_ == nullptr) return Bind(RouteTarget::kOnly);
  if (IsLeftToShop()) {
    TAKT_RETURN_IF_ERROR(Bind(RouteTarget::kCpu));
    if (tile_count > 0 && execution_->IsWorthDeciding(*this)) {
      const Device& device = execution_->device();
      route_->Offer(device.shop_pools(), device.shop()->core_pools(), this);
      is_offered_ = true;
      return absl::OkStatus();
    }
  }
  return Bind(
      route_->Choose(execution_->traits_, CpuExecutor()->max_concurrency()));
}

exec::Executor* ExecutionPart::CpuExecutor() const {
  exec::Executor* const other = route_->cpu_executor();
  return other != nullptr ? other : execution_->device().executor();
}

bool ExecutionPart::IsLeftToShop() const {
  const shop::JobShop* const shop = execution_->device().shop();
  // A shop that schedules everything follows a plan, which names a target even
  // for a dispatch that was never measured.
  return shop != nullptr && CpuExecutor() == &shop->executor() &&
         (shop->schedules_all() || route_->IsMeasured());
}

absl::Status ExecutionPart::Bind(RouteTarget target) {
  TAKT_DCHECK((target == RouteTarget::kOnly) == (route_ == nullptr));
  const Device& device = execution_->device();
  const bool is_cpu = target == RouteTarget::kCpu;
  const DispatchCommand& command =
      route_ != nullptr ? route_->CommandFor(target) : *recorded_;
  target_ = target;
  executor = is_cpu ? CpuExecutor() : device.executor();
  // The workers that the job may run on are workers of the device's executor.
  allowed =
      executor == device.executor() ? execution_->traits_.allowed : nullptr;
  TAKT_RETURN_IF_ERROR(Resolve(command, execution_->bases_, room_.pointers,
                               room_.lengths, executor->max_concurrency(),
                               &dispatch_));
  dispatch_.arguments.traits = &execution_->traits_;
  dispatch_.arguments.faults = &execution_->fault_policy_;
  dispatch_.arguments.cancellation = execution_->cancellation();
  const LoadedExecutable& executable = *command.executable;
  const bool is_traced = execution_->tag().is_traced();
  if (is_traced) {
    trace_name =
        executable.trace_name(command.function, device.trace().tracer());
  }
  is_learned_ = device.learns_costs() || target != RouteTarget::kOnly;
  is_timed_ = is_learned_ || is_traced || static_cast<bool>(device.observer());
  tile_count = dispatch_.workgroup_total;
  local_bytes =
      static_cast<uint32_t>(executable.local_memory_bytes(command.function));
  expected_tile_ns = is_learned_ ? command.cost().SharedNs() : 0;
  sequential = executable.is_sequential(command.function);
  pools = is_cpu ? 0 : device.shop_pools();
  const auto& grid = dispatch_.arguments.workgroup_count;
  const sched::KernelKey key = {
      executable.content_hash(), command.function, {grid[0], grid[1], grid[2]}};
  kernel = key.OnPools(pools);
  npu_ns = 0;
  return absl::OkStatus();
}

void ExecutionPart::OnPlaced(bool on_npu) {
  if (!is_offered_ || has_begun_.load(std::memory_order_relaxed)) return;
  const uint32_t offered_count = tile_count;
  TAKT_CHECK(offered_count > 0);
  const RouteTarget target =
      on_npu ? RouteTarget::kExclusive : RouteTarget::kCpu;
  absl::Status status = OutOfMemory();
  TAKT_TRY { status = Bind(target); }
  TAKT_CATCH(const std::bad_alloc&) {}
  if (!status.ok()) execution_->Fail(status);
  route_->CountChoice(target);
  if (!on_npu) return;
  // The shop counts the tiles that it was offered, which are the CPU's.
  tile_count = offered_count;
  expected_tile_ns =
      std::max<int64_t>(route_->ExclusiveNs() / offered_count, 1);
}

void ExecutionPart::Raise(int32_t to) {
  // The shop may be binding an offered part to an executor now, and submits
  // shards of it, which take its lane.
  if (is_offered_) {
    SetRaised(to);
  } else {
    executor->Raise(this, to);
  }
}

uint32_t ExecutionPart::RunTiles(uint32_t begin, uint32_t end,
                                 exec::Worker& worker) {
  TAKT_DCHECK(begin < end);
  if (execution_->has_failed()) return end;
  if (execution_->is_cancelled()) {
    execution_->Fail(Cancellation::Error());
    return end;
  }
  if (!is_dispatch_) return RunTransferTiles(begin, end, worker);
  if (worker.local_bytes < local_bytes) {
    execution_->Fail(LeanError(absl::StatusCode::kResourceExhausted,
                               [] { return "no local memory for a kernel"; }));
    return end;
  }
  const ScopedFlushDenormals flush;
  if (is_offered_) {
    has_begun_.store(true, std::memory_order_relaxed);
    if (target_ == RouteTarget::kExclusive) {
      RunWhole(worker);
      return end;
    }
  }
  return RunRange(begin, end, worker);
}

uint32_t ExecutionPart::RunRange(uint32_t begin, uint32_t end,
                                 exec::Worker& worker) {
  const TileRun run(is_timed_);
  if (execution_->device().observer()) NoteBegin(run.start_ns());
  uint32_t reached = end;
  worker.reached = &reached;
  absl::Status status = OutOfMemory();
  TAKT_TRY { status = dispatch_.Run(begin, end, worker); }
  TAKT_CATCH(const std::bad_alloc&) {}
  worker.reached = nullptr;
  if (!status.ok()) {
    execution_->Fail(status);
    return end;
  }
  TAKT_DCHECK(begin < reached && reached <= end);
  Record(run, begin, reached);
  return reached;
}

// The tiles that the shop counts are those of the code for the CPU, and have
// come all at once. The exclusive code has other tiles, so it runs all of them:
// no thread could continue from the middle.
void ExecutionPart::RunWhole(exec::Worker& worker) {
  const TileRun run(is_timed_);
  if (execution_->device().observer()) NoteBegin(run.start_ns());
  TAKT_DCHECK(worker.reached == nullptr);
  absl::Status status = OutOfMemory();
  TAKT_TRY { status = dispatch_.Run(0, dispatch_.workgroup_total, worker); }
  TAKT_CATCH(const std::bad_alloc&) {}
  if (!status.ok()) {
    execution_->Fail(status);
    return;
  }
  Record(run, 0, dispatch_.workgroup_total);
}

void ExecutionPart::Record(const TileRun& run, uint32_t begin,
                           uint32_t end) const {
  const DispatchCommand& command = *dispatch_.command;
  if (is_learned_) {
    DispatchCost& cost = command.cost();
    const uint32_t count = end - begin;
    run.Learn(count == dispatch_.workgroup_total ? cost.alone : cost.shared,
              NowNs(), count);
  }
  if (__builtin_expect(execution_->tag().is_traced(), 0)) {
    const OperationTrace& trace = execution_->device().trace();
    trace.Ran(execution_->tag(), EventKind::kDispatch,
              command.executable->trace_name(command.function, trace.tracer()),
              run.start_ns(), PackTiles(begin, end), target_);
  }
}

// The first tile need not be the first to run: some threads take tiles from the
// last one back, and a thread may lose its processor before it runs what it
// has taken.
void ExecutionPart::NoteBegin(int64_t start_ns) {
  int64_t earliest_ns = begin_ns_.load(std::memory_order_relaxed);
  while (start_ns < earliest_ns &&
         !begin_ns_.compare_exchange_weak(earliest_ns, start_ns,
                                          std::memory_order_relaxed)) {
  }
}

uint32_t ExecutionPart::RunTransferTiles(uint32_t begin, uint32_t end,
                                         const exec::Worker& worker) const {
  const bool is_traced = execution_->tag().is_traced();
  const int64_t start_ns = is_traced ? NowNs() : 0;
  const uint32_t reached = transfer_.RunTiles(begin, end, worker);
  if (__builtin_expect(is_traced, 0)) {
    const OperationTrace& trace = execution_->device().trace();
    trace.Ran(execution_->tag(), EventKind::kTransfer, trace.TransferName(),
              start_ns, transfer_.BytesOf(begin, reached));
  }
  return reached;
}

void ExecutionPart::Finish(exec::Worker& worker) {
  const DispatchObserver& observer = execution_->device().observer();
  const int64_t first_ns = begin_ns_.load(std::memory_order_relaxed);
  if (observer && is_dispatch_ && first_ns != kInfiniteFuture) {
    NotifyObserver(observer, dispatch_, region_, first_ns, NowNs());
  }
  execution_->EndPart();
}

void ExecutionPart::GiveUp() {
  execution_->Fail(LeanError(absl::StatusCode::kCancelled,
                             [] { return "its job was dropped, being late"; }));
  execution_->EndPart();
}

}  // namespace takt::cpu
