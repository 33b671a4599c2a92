#include "cpu/execution.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/math.h"
#include "base/status.h"
#include "cpu/dispatch_choice.h"
#include "cpu/float_environment.h"

namespace takt::cpu {
namespace {

constexpr uint64_t kHashFactor = 0x9e3779b97f4a7c15;

}  // namespace

bool IsDecided(const shop::JobShop* shop, const shop::Job* job) {
  return shop != nullptr &&
         (shop->schedules_all() ||
          (job != nullptr && job->release_ns() > shop->now_ns()));
}

Execution::Layout Execution::LayoutOf(const CommandBuffer& command_buffer) {
  Layout layout;
  const auto next = [](size_t offset, size_t bytes) {
    return AlignUp(offset + bytes, 16);
  };
  layout.bindings = next(0, sizeof(Execution));
  layout.bases = next(layout.bindings,
                      command_buffer.binding_capacity() * sizeof(hal::Binding));
  layout.parts = next(layout.bases, command_buffer.base_count() * sizeof(Base));
  layout.pointers =
      next(layout.parts, command_buffer.command_count_max() * sizeof(Part));
  layout.lengths =
      next(layout.pointers, command_buffer.binding_count_max() * sizeof(void*));
  layout.end =
      next(layout.lengths, command_buffer.binding_count_max() * sizeof(size_t));
  return layout;
}

Execution* Execution::Create(Device& device, const exec::JobTraits& traits,
                             const JobAttributes* job, hal::Fence* signal,
                             CommandBuffer* command_buffer,
                             absl::Span<const hal::Binding> bindings) {
  void* block = device.blocks().Allocate(LayoutOf(*command_buffer).end);
  return ::new (block)
      Execution(device, traits, job, signal, command_buffer, bindings);
}

Execution::Execution(Device& device, const exec::JobTraits& traits,
                     const JobAttributes* job, hal::Fence* signal,
                     CommandBuffer* command_buffer,
                     absl::Span<const hal::Binding> bindings)
    : Operation(device, signal),
      traits_(traits),
      command_buffer_(Ref<CommandBuffer>::Retain(command_buffer)),
      job_(Ref<shop::Job>::Retain(job != nullptr && device.shop() != nullptr
                                      ? shop::Job::From(job->context)
                                      : nullptr)),
      priority_(job != nullptr ? job->priority : kNormalPriority),
      faults_(job != nullptr ? job->fault_policy : JobFaultPolicy()) {
  const Layout layout = LayoutOf(*command_buffer);
  auto* block = reinterpret_cast<uint8_t*>(this);
  const size_t binding_count = command_buffer->binding_capacity();
  bindings_ = absl::MakeSpan(
      reinterpret_cast<hal::Binding*>(block + layout.bindings), binding_count);
  for (size_t i = 0; i < binding_count; ++i) {
    new (&bindings_[i]) hal::Binding(bindings[i]);
    if (bindings[i].buffer != nullptr) bindings[i].buffer->Retain();
  }
  bases_ = absl::MakeSpan(reinterpret_cast<Base*>(block + layout.bases),
                          command_buffer->base_count());
  for (Base& base : bases_) new (&base) Base;
  parts_ = reinterpret_cast<Part*>(block + layout.parts);
  for (uint32_t i = 0; i < command_buffer->command_count_max(); ++i) {
    new (&parts_[i]) Part;
    parts_[i].execution = this;
    static_cast<exec::JobTraits&>(parts_[i]) = traits;
  }
  pointers_ = reinterpret_cast<void**>(block + layout.pointers);
  lengths_ = reinterpret_cast<size_t*>(block + layout.lengths);
}

Execution::~Execution() {
  if (is_pinned_) CommandBuffer::UnpinBases(bases_);
  for (hal::Binding& binding : bindings_) {
    if (binding.buffer != nullptr) binding.buffer->Release();
  }
}

void Execution::Run() {
  const absl::Status status = command_buffer_->PinBases(bindings_, bases_);
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
    Advance();
  }
}

void Execution::RunInline(exec::Worker& worker) {
  if (!worker.ReserveLocalMemory(command_buffer_->local_memory_bytes())) {
    Complete(absl::ResourceExhaustedError("no local memory for a kernel"));
    return;
  }
  const PartTrace trace{device().trace(), tag()};
  Complete(RunRegions(
      region_, bases_, traits_, worker,
      {false, device().observer(), tag().is_traced() ? &trace : nullptr,
       &faults_, cancellation()}));
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
        worker->MayRun(traits_) &&
        EstimateNs(*region_, kInlineNs) <= kInlineNs &&
        worker->ReserveLocalMemory(command_buffer_->local_memory_bytes())) {
      const ScopedFlushDenormals flush;
      const PartTrace trace{device().trace(), tag()};
      const absl::Status status = RunRegion(
          *region_, bases_, traits_, *worker,
          {true, device().observer(), tag().is_traced() ? &trace : nullptr,
           &faults_, cancellation()});
      if (!status.ok()) Fail(status);
      if (job_ != nullptr) job_->CountUnseen(region_->dispatch_count);
      region_ = region_->next;
      continue;
    }
    uint32_t part_count = 0;
    const absl::Status status = PrepareParts(&part_count);
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

// Small ones, whose jobs the shop need not know of, are left to the executor.
bool Execution::IsWorthDeciding(const Part& part) const {
  return part.expected_tile_ns <= 0 ||
         part.expected_tile_ns > kInlineNs / part.tile_count ||
         (part.is_dispatch && IsDecided(device().shop(), job_.get()));
}

void Execution::Submit(uint32_t part_count) {
  parts_left_.store(part_count, std::memory_order_release);
  // Once the last part is submitted, this may be gone.
  Part* const parts = parts_;
  const Ref<Device> hold = Ref<Device>::Retain(&device());
  shop::JobShop* const shop = hold->shop();
  if (shop == nullptr) {
    for (uint32_t i = 0; i < part_count; ++i) {
      parts[i].executor->Submit(&parts[i]);
    }
    return;
  }
  // The workers that are allowed are those of the device.
  const bool is_shops = device().executor() == &shop->executor();
  Ref<shop::Job> job = job_;
  for (uint32_t i = 0; i < part_count; ++i) {
    if (!IsWorthDeciding(parts[i])) {
      if (job != nullptr) job->CountUnseen(parts[i].is_dispatch ? 1 : 0);
      parts[i].executor->Submit(&parts[i]);
      continue;
    }
    if (job == nullptr) {
      job = job_ = shop->ReleaseJob(
          *shop->StreamOf(priority_, is_shops ? traits_.allowed : nullptr),
          shop->now_ns(), traits_.deadline_ns, /*is_counted=*/false);
    }
    shop->Submit(*job, &parts[i]);
  }
  shop->Flush();
}

exec::Executor* Execution::CpuExecutor() const {
  exec::Executor* const other = command_buffer_->other_executor();
  return other != nullptr ? other : device().executor();
}

absl::Status Execution::Part::Take(DispatchWay which) {
  exec::Executor* const own = execution->device().executor();
  const bool is_cpu = which == DispatchWay::kCpu;
  const DispatchCommand& command = is_cpu ? *recorded->other() : *recorded;
  way = which;
  executor = is_cpu ? execution->CpuExecutor() : own;
  // Those that are allowed are the device's.
  allowed = executor == own ? execution->traits_.allowed : nullptr;
  TAKT_RETURN_IF_ERROR(Resolve(command, execution->bases_, pointers, lengths,
                               executor->max_concurrency(), &dispatch));
  dispatch.arguments.traits = &execution->traits_;
  dispatch.arguments.faults = &execution->faults_;
  const Executable& executable = *command.executable;
  if (execution->tag().is_traced()) {
    trace_name = executable.trace_name(command.function,
                                       execution->device().trace().tracer());
  }
  tile_count = dispatch.workgroup_total;
  local_bytes =
      static_cast<uint32_t>(executable.local_memory_bytes(command.function));
  expected_tile_ns =
      execution->device().learns_costs() || which != DispatchWay::kOnly
          ? command.cost().SharedNs()
          : 0;
  sequential = executable.is_sequential(command.function);
  const auto& grid = dispatch.arguments.workgroup_count;
  kernel = {
      executable.content_hash(), command.function, {grid[0], grid[1], grid[2]}};
  pools = is_cpu ? 0 : execution->device().shop_pools();
  // The same code may be another NPU's.
  kernel.module_hash ^= pools * kHashFactor;
  npu_ns = 0;
  return absl::OkStatus();
}

void Execution::Part::OfferBothWays() {
  // To the shop it is the CPU's way, which an NPU may take as a whole.
  pools = execution->device().shop_pools();
  kernel.module_hash ^=
      (recorded->executable->content_hash() ^ pools) * kHashFactor;
  pools |= execution->device().shop()->core_pools();
  npu_ns = EstimateWays(*recorded, 1).unit_ns;
  is_left_to_shop = true;
}

void Execution::Part::Place(bool on_npu) {
  if (!is_left_to_shop || has_begun.load(std::memory_order_relaxed)) return;
  const uint32_t offered_count = tile_count;
  const absl::Status status =
      Take(on_npu ? DispatchWay::kUnit : DispatchWay::kCpu);
  if (!status.ok()) execution->Fail(status);
  recorded->executable->exclusive_unit()->CountChoice(on_npu);
  if (!on_npu) return;
  // The shop counts the tiles of the CPU's way.
  tile_count = offered_count;
  expected_tile_ns =
      std::max<int64_t>(EstimateWays(*recorded, 1).unit_ns / offered_count, 1);
}

absl::Status Execution::PrepareDispatch(const DispatchCommand& recorded,
                                        Part& part, size_t* binding) {
  part.recorded = &recorded;
  part.pointers = pointers_ + *binding;
  part.lengths = lengths_ + *binding;
  part.is_left_to_shop = false;
  part.has_begun.store(false, std::memory_order_relaxed);
  part.begin_ns.store(kInfiniteFuture, std::memory_order_relaxed);
  part.group = region_;
  *binding += recorded.binding_count;
  if (recorded.other() == nullptr) return part.Take(DispatchWay::kOnly);
  const uint32_t core_count = CpuExecutor()->max_concurrency();
  const WayEstimates ways = EstimateWays(recorded, core_count);
  shop::JobShop* const shop = device().shop();
  // A plan that is followed knows what to do with what was never measured.
  const bool is_known = ways.unit_ns != 0 && ways.cpu_ns != 0;
  if (shop != nullptr && (is_known || shop->schedules_all()) &&
      CpuExecutor() == &shop->executor()) {
    TAKT_RETURN_IF_ERROR(part.Take(DispatchWay::kCpu));
    if (part.tile_count > 0 && IsWorthDeciding(part)) {
      part.OfferBothWays();
      return absl::OkStatus();
    }
  }
  return part.Take(ChooseWay(recorded, traits_, core_count));
}

absl::Status Execution::PrepareParts(uint32_t* part_count) {
  uint32_t count = 0;
  size_t binding = 0;
  for (const Command* command = region_->first; command != nullptr;
       command = command->next) {
    Part& part = parts_[count];
    part.is_dispatch = command->kind == Command::Kind::kDispatch;
    if (!part.is_dispatch) {
      part.executor = device().executor();
      part.npu_ns = 0;
      part.is_left_to_shop = false;
      TAKT_RETURN_IF_ERROR(
          Resolve(*static_cast<const TransferCommand*>(command), bases_,
                  &part.transfer));
      part.tile_count = part.transfer.tile_count();
      part.local_bytes = 0;
      // At some 8 bytes a ns; a tile may be cut short, but never much more.
      part.expected_tile_ns = ResolvedTransfer::kTileBytes / 8;
      part.sequential = false;
      if (tag().is_traced()) part.trace_name = device().trace().TransferName();
      part.kernel = {shop::kTransferHash,
                     static_cast<uint32_t>(command->kind),
                     {part.tile_count, 1, 1}};
      part.pools = 0;
    } else {
      TAKT_RETURN_IF_ERROR(PrepareDispatch(
          *static_cast<const DispatchCommand*>(command), part, &binding));
    }
    if (part.tile_count > 0) ++count;
  }
  *part_count = count;
  return absl::OkStatus();
}

uint32_t Execution::Part::RunTiles(uint32_t begin, uint32_t end,
                                   exec::Worker& worker) {
  if (execution->failed_.load(std::memory_order_relaxed)) return end;
  if (execution->is_cancelled()) {
    execution->Fail(Cancellation::Error());
    return end;
  }
  if (!is_dispatch) return RunTransferTiles(begin, end, worker);
  if (worker.local_bytes < local_bytes) {
    execution->Fail(
        absl::ResourceExhaustedError("no local memory for a kernel"));
    return end;
  }
  const ScopedFlushDenormals flush;
  uint32_t first = begin;
  uint32_t reached = end;
  if (is_left_to_shop) has_begun.store(true, std::memory_order_relaxed);
  // Its tiles are those of the CPU's way, and came all at once: so it does not
  // stop among its own, from where nobody could go on.
  const bool is_whole = is_left_to_shop && way == DispatchWay::kUnit;
  if (is_whole) {
    first = 0;
    reached = dispatch.workgroup_total;
  }
  const uint32_t last = reached;
  const bool learns = execution->device().learns_costs();
  const bool is_traced = execution->tag().is_traced();
  const bool is_observed = static_cast<bool>(execution->device().observer());
  const bool is_timed =
      learns || is_traced || is_observed || way != DispatchWay::kOnly;
  const int64_t start_ns = is_timed ? NowNs() : 0;
  const int64_t waited_ns = ExclusiveUnit::WaitedHere();
  if (is_observed) NoteBegin(start_ns);
  worker.reached = is_whole ? nullptr : &reached;
  const absl::Status status = dispatch.Run(
      first, last, worker, is_whole ? nullptr : execution->cancellation());
  worker.reached = nullptr;
  if (!status.ok()) {
    execution->Fail(status);
    return end;
  }
  if (learns || way != DispatchWay::kOnly) {
    DispatchCost& cost = dispatch.command->cost();
    const uint32_t count = reached - first;
    (count == dispatch.workgroup_total ? cost.alone : cost.shared)
        .Add(NowNs() - start_ns - (ExclusiveUnit::WaitedHere() - waited_ns),
             count);
  }
  if (__builtin_expect(is_traced, 0)) {
    const OperationTrace& trace = execution->device().trace();
    trace.Ran(execution->tag(), EventKind::kDispatch,
              dispatch.command->executable->trace_name(
                  dispatch.command->function, trace.tracer()),
              start_ns, PackTiles(first, reached), way);
  }
  return is_whole ? end : reached;
}

// The first tile need not be the first to run: some threads take tiles from the
// last one back, and a thread may lose its processor before it runs what it
// has taken.
void Execution::Part::NoteBegin(int64_t start_ns) {
  int64_t earliest_ns = begin_ns.load(std::memory_order_relaxed);
  while (start_ns < earliest_ns &&
         !begin_ns.compare_exchange_weak(earliest_ns, start_ns,
                                         std::memory_order_relaxed)) {
  }
}

uint32_t Execution::Part::RunTransferTiles(uint32_t begin, uint32_t end,
                                           const exec::Worker& worker) const {
  const bool is_traced = execution->tag().is_traced();
  const int64_t start_ns = is_traced ? NowNs() : 0;
  const uint32_t reached = transfer.RunTiles(begin, end, worker);
  if (__builtin_expect(is_traced, 0)) {
    const OperationTrace& trace = execution->device().trace();
    trace.Ran(execution->tag(), EventKind::kTransfer, trace.TransferName(),
              start_ns, transfer.BytesOf(begin, reached));
  }
  return reached;
}

void Execution::Part::Finish(exec::Worker& worker) {
  const DispatchObserver& observer = execution->device().observer();
  const int64_t first_ns = begin_ns.load(std::memory_order_relaxed);
  if (observer && is_dispatch && first_ns != kInfiniteFuture) {
    Tell(observer, dispatch, group, first_ns, NowNs());
  }
  execution->EndPart();
}

void Execution::Part::GiveUp() {
  execution->Fail(absl::CancelledError("its job was dropped, being late"));
  execution->EndPart();
}

void Execution::EndPart() {
  // Acquire: the last part sees what the others have written.
  if (parts_left_.fetch_sub(1, std::memory_order_acq_rel) == 1) Advance();
}

void Execution::Fail(const absl::Status& error) {
  MutexLock lock(&error_mutex_);
  if (error_.ok()) error_ = error;
  failed_.store(true, std::memory_order_release);
}

void Execution::End() {
  absl::Status outcome;
  {
    MutexLock lock(&error_mutex_);
    outcome = error_;
  }
  if (device().shop() != nullptr) {
    // Whoever is told may take its time.
    job_.reset();
    device().shop()->Flush();
  }
  Complete(outcome);
}

}  // namespace takt::cpu
