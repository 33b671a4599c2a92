#include "cpu/device.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "base/check.h"
#include "base/exceptions.h"
#include "base/glob.h"
#include "base/status.h"
#include "cpu/command_runner.h"
#include "cpu/cpu_command_buffer.h"
#include "cpu/execution.h"
#include "cpu/operation.h"
#include "cpu/transfer.h"
#include "hal/deferred.h"

namespace takt::cpu {
namespace {

constexpr size_t kQueueCountMax = 64;

CpuSet UnionOf(absl::Span<const CpuSet> queues, uint64_t affinity) {
  CpuSet all;
  for (size_t i = 0; i < queues.size(); ++i) {
    if ((affinity >> i & 1) != 0) all = all | queues[i];
  }
  return all;
}

// A call of the host. It may submit other operations, so it runs from the
// thread's list of deferred calls, and not within another such call.
class HostCallOperation final : public Operation, private hal::Deferred {
 public:
  HostCallOperation(Device& device, hal::Fence* signal,
                    absl::AnyInvocable<absl::Status() &&>&& call)
      : Operation(device, signal), call_(std::move(call)) {}

 private:
  void Run() override {
    hal::Deferred::run = [](hal::Deferred* deferred) {
      auto* self = static_cast<HostCallOperation*>(deferred);
      self->Complete(Attempt([self] { return std::move(self->call_)(); }));
    };
    hal::RunOrDefer(this);
  }

  absl::AnyInvocable<absl::Status() &&> call_;
};

OperationTrace::Kind TraceKindOf(hal::TransferRequest::Kind kind) {
  switch (kind) {
    case hal::TransferRequest::Kind::kFill:
      return OperationTrace::kFill;
    case hal::TransferRequest::Kind::kUpdate:
      return OperationTrace::kUpdate;
    case hal::TransferRequest::Kind::kCopy:
      return OperationTrace::kCopy;
    case hal::TransferRequest::Kind::kRead:
      return OperationTrace::kRead;
    case hal::TransferRequest::Kind::kWrite:
      return OperationTrace::kWrite;
  }
  TAKT_CHECK(false);
}

// Mapping and transfers are always possible in the process's own memory.
constexpr hal::BufferUsage kImpliedUsage =
    hal::kUsageTransferSource | hal::kUsageTransferTarget |
    hal::kUsageMappingScoped | hal::kUsageMappingPersistent |
    hal::kUsageMappingRandom;

}  // namespace

// How the fence stands that an operation waits for: reached if it is null.
struct Device::WaitState {
  explicit WaitState(const hal::Fence* fence) {
    if (fence == nullptr) return;
    error = fence->Query(&is_reached);
    if (has_failed()) is_reached = false;
  }

  bool has_failed() const { return !error.ok(); }

  bool is_reached = true;  // False if it has failed.
  absl::Status error;
};

absl::StatusOr<Ref<Device>> Device::Create(absl::string_view id,
                                           Ref<exec::Executor> executor,
                                           const Options& options) {
  if (id.empty()) return absl::InvalidArgumentError("a device needs an id");
  if (options.queues.size() > kQueueCountMax) {
    return absl::InvalidArgumentError(absl::StrCat("queues: expected at most ",
                                                   kQueueCountMax, ", got ",
                                                   options.queues.size()));
  }
  auto device =
      Ref<Device>::Adopt(new Device(id, std::move(executor), options));
  // The affinities of the queues are looked up once here, so that later
  // look-ups allocate nothing.
  for (size_t i = 0; i < options.queues.size(); ++i) {
    const absl::Status found =
        device->FindTraits({.affinity = uint64_t{1} << i}).status();
    if (!found.ok()) return Annotate(found, absl::StrCat("queue ", i));
  }
  return device;
}

Device::Device(absl::string_view id, Ref<exec::Executor> executor,
               const Options& options)
    : hal::Device(std::string(id)),
      executor_(std::move(executor)),
      learns_costs_(options.learn_costs),
      observer_(options.observer),
      shop_(options.shop),
      shop_pools_(options.shop_pools),
      queues_(options.queues),
      all_queues_(UnionOf(options.queues, ~uint64_t{0})),
      memory_(MemoryPool::Create(options.memory)),
      memory_sync_(options.memory_sync),
      signaller_(
          hal::Signaller::Create(absl::StrCat("an operation queued on ", id))),
      owns_executor_(options.owns_executor && executor_ != nullptr),
      companion_(options.companion),
      trace_(options.tracer),
      loader_(options.imports, options.formats,
              options.allows_system_libraries) {}

absl::optional<int64_t> Device::QueryI64(absl::string_view category,
                                         absl::string_view key) const {
  if (category == "hal.device.id") return MatchesGlob(id(), key) ? 1 : 0;
  if (category == "hal.executable.format") {
    return loader_.SupportsFormat(key) ? 1 : 0;
  }
  if (category == "hal.device" && key == "concurrency") return 1;
  if (category == "hal.dispatch" && key == "concurrency") {
    return executor_ != nullptr ? executor_->max_concurrency() : 1;
  }
  return absl::nullopt;
}

Ref<hal::Buffer> Device::CreateBuffer(Ref<PooledStorage> storage,
                                      const hal::BufferParams& params) {
  return hal::Buffer::Create(std::move(storage), hal::kMemoryTypeAll,
                             params.usage | kImpliedUsage, params.access,
                             blocks());
}

absl::StatusOr<Ref<hal::Buffer>> Device::Allocate(
    const hal::BufferParams& params, uint64_t byte_length) {
  Ref<PooledStorage> storage = memory_->ReserveStorage(byte_length, blocks());
  TAKT_RETURN_IF_ERROR(memory_->CommitStorage(*storage));
  return CreateBuffer(std::move(storage), params);
}

absl::StatusOr<Ref<hal::Buffer>> Device::Import(const hal::BufferParams& params,
                                                Ref<Object> owner,
                                                uint8_t* data,
                                                uint64_t byte_length) {
  if (data == nullptr && byte_length > 0) {
    return absl::InvalidArgumentError("host memory to import is null");
  }
  const auto address = reinterpret_cast<uintptr_t>(data);
  if (address % hal::kBufferAlignment != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("host memory starts ", address % hal::kBufferAlignment,
                     " bytes past a multiple of ", hal::kBufferAlignment,
                     " and cannot be imported without a copy"));
  }
  return hal::Buffer::WrapHost(std::move(owner), data, byte_length,
                               hal::kMemoryTypeAll,
                               params.usage | kImpliedUsage, params.access);
}

hal::AllocationStatistics Device::allocation_statistics() const {
  return memory_->statistics();
}

void Device::VisitDispatchCosts(
    absl::FunctionRef<void(const hal::DispatchCostInfo&)> visit) {
  loader_.ForEachCode([&](const ExecutableCode& code) {
    for (size_t i = 0; i < code.functions().size(); ++i) {
      code.costs(i).ForEach(
          [&](const DispatchCosts::Grid& grid, const DispatchCost& cost) {
            if (cost.AloneNs() == 0) return;
            visit({code.functions()[i].name, grid, cost.alone.mean_ns(),
                   cost.alone.sample_count(), cost.shared.mean_ns(),
                   cost.shared.sample_count()});
          });
    }
  });
}

void Device::Trim() {
  memory_->Trim();
  blocks().Trim();
}

Ref<hal::MemoryGroup> Device::CreateMemoryGroup(uint64_t claim_bytes) {
  MemoryBudget* const budget = memory_->budget();
  if (budget == nullptr) return nullptr;
  return MakeRef<MemoryBudget::Group>(*budget, memory_, claim_bytes);
}

std::string Device::ExplainMemory() const {
  MemoryBudget* const budget = memory_->budget();
  return budget != nullptr ? budget->Explain() : std::string();
}

absl::Status Device::PrepareMemory(absl::Span<const uint64_t> byte_lengths) {
  return memory_->Prepare(byte_lengths);
}

absl::StatusOr<Ref<hal::Executable>> Device::LoadExecutable(
    absl::string_view format, absl::Span<const uint8_t> data, Ref<Object> owner,
    absl::Span<const uint32_t> constants) {
  TAKT_ASSIGN_OR_RETURN(
      Ref<LoadedExecutable> executable,
      loader_.Load(format, data, std::move(owner), constants));
  return Ref<hal::Executable>(std::move(executable));
}

absl::StatusOr<Ref<hal::CommandBuffer>> Device::CreateCommandBuffer(
    uint32_t mode, uint32_t categories, size_t binding_capacity) {
  TAKT_ASSIGN_OR_RETURN(Ref<CpuCommandBuffer> command_buffer,
                        CpuCommandBuffer::Create(mode, binding_capacity,
                                                 Ref<Object>::Retain(this),
                                                 blocks(), memory_sync_));
  return Ref<hal::CommandBuffer>(std::move(command_buffer));
}

void Device::End(const hal::QueueTicket& ticket, const OperationTag& tag,
                 const absl::Status& outcome) {
  trace_.Done(tag, ticket.signal, outcome);
  Tell(ticket.signal, outcome);
}

void Device::Fail(const hal::QueueTicket& ticket, const OperationTag& tag,
                  const absl::Status& error) {
  trace_.Issued(tag);
  End(ticket, tag, error);
}

template <typename Step>
void Device::RunNow(const hal::QueueTicket& ticket, const OperationTag& tag,
                    Step&& step) {
  trace_.Issued(tag);
  const WorkScope work(*this);
  End(ticket, tag, Attempt(step));
}

template <typename Step>
void Device::RunStep(const hal::QueueTicket& ticket, const OperationTag& tag,
                     const WaitState& wait, Step step) {
  if (wait.has_failed()) {
    Fail(ticket, tag, wait.error);
  } else if (wait.is_reached) {
    RunNow(ticket, tag, step);
  } else {
    auto* operation = new (blocks())
        StepOperation<Step>(*this, ticket.signal, std::move(step));
    operation->set_tag(tag);
    operation->SetBorrower(ticket.job);
    operation->Start(ticket.wait);
  }
}

absl::Status Device::Commit(PooledStorage& storage, const OperationTag& tag) {
  const absl::Status status = memory_->CommitStorage(storage);
  if (status.ok()) trace_.Memory(tag, EventKind::kAlloca, storage);
  return status;
}

absl::StatusOr<Ref<hal::Buffer>> Device::QueueAlloca(
    const hal::QueueTicket& ticket, const hal::BufferParams& params,
    uint64_t byte_length) {
  TAKT_RETURN_IF_ERROR(memory_->CheckLength(byte_length));
  Ref<PooledStorage> storage = memory_->ReserveStorage(byte_length, blocks());
  const OperationTag tag = trace_.NewTag(OperationTrace::kAlloca, ticket);
  const bool is_bounded = memory_->budget() != nullptr;
  const WaitState wait(ticket.wait);
  if (!is_bounded && wait.is_reached) {
    // The memory comes first, as long as only this thread knows the storage.
    RunNow(ticket, tag, [&] { return Commit(*storage, tag); });
    return CreateBuffer(std::move(storage), params);
  }
  Ref<hal::Buffer> buffer = CreateBuffer(storage, params);
  if (!is_bounded) {
    RunStep(ticket, tag, wait, [storage = std::move(storage), this, tag] {
      return Commit(*storage, tag);
    });
    return buffer;
  }
  auto group = Ref<MemoryBudget::Group>::Retain(
      static_cast<MemoryBudget::Group*>(ticket.group));
  auto* operation = new (blocks()) AllocaOperation(
      *this, ticket.signal, std::move(storage), std::move(group));
  operation->set_tag(tag);
  operation->SetBorrower(ticket.job);
  operation->Start(ticket.wait);
  return buffer;
}

absl::Status Device::QueueDealloca(const hal::QueueTicket& ticket,
                                   hal::Buffer* buffer) {
  if (buffer == nullptr) {
    return absl::InvalidArgumentError("the buffer to deallocate is null");
  }
  const Object* home = buffer->storage()->home();
  if (home != nullptr && home != memory_.get()) {
    return absl::InvalidArgumentError(
        "the buffer to deallocate was allocated by another device");
  }
  const OperationTag tag = trace_.NewTag(OperationTrace::kDealloca, ticket);
  auto storage = Ref<hal::Storage>::Retain(buffer->storage());
  const WaitState wait(ticket.wait);
  RunStep(ticket, tag, wait, [storage = std::move(storage), this, tag] {
    if (storage->HasSeveralOwners()) return absl::OkStatus();
    if (storage->Discard()) {
      trace_.Memory(tag, EventKind::kDealloca, *storage);
      return absl::OkStatus();
    }
    return absl::FailedPreconditionError(
        "the buffer to deallocate has no memory: it has been given back "
        "already, or its allocation is pending");
  });
  return absl::OkStatus();
}

absl::StatusOr<exec::JobTraits> Device::FindTraits(
    const hal::QueueTicket& ticket) const {
  JobAttributes job;
  if (ticket.job != nullptr) job = *ticket.job;
  if (executor_ == nullptr) {
    return exec::JobTraits{.lane = exec::LaneOf(job.priority),
                           .deadline_ns = job.deadline_ns};
  }
  CpuSet several;
  if (!queues_.empty()) {
    const uint64_t all = ~uint64_t{0} >> (kQueueCountMax - queues_.size());
    const uint64_t named = ticket.affinity & all;
    if (named == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("queue affinity 0x", absl::Hex(ticket.affinity),
                       ": the device has ", queues_.size(), " queues"));
    }
    // The processors of the job itself override those of the queue.
    if (job.cpus == nullptr) {
      if (named == all) {
        job.cpus = &all_queues_;
      } else if (std::has_single_bit(named)) {
        job.cpus = &queues_[static_cast<size_t>(std::countr_zero(named))];
      } else {
        several = UnionOf(queues_, named);
        job.cpus = &several;
      }
    }
  }
  return executor_->FindTraits(job);
}

bool Device::RunsTransferHere(const exec::JobTraits& traits,
                              uint64_t length) const {
  if (executor_ == nullptr) return true;
  if (length > TransferOperation::kInlineBytes) return false;
  if (traits.allowed == nullptr) return true;
  const exec::Worker* const worker = executor_->current_worker();
  return worker != nullptr && worker->MayRun(traits);
}

absl::Status Device::QueueTransfer(const hal::QueueTicket& ticket,
                                   const hal::TransferRequest& requested) {
  TAKT_ASSIGN_OR_RETURN(Transfer transfer, Transfer::Create(requested));
  TAKT_ASSIGN_OR_RETURN(const exec::JobTraits traits, FindTraits(ticket));
  const OperationTag tag = trace_.NewTag(TraceKindOf(requested.kind), ticket);
  const WaitState wait(ticket.wait);
  if (wait.has_failed()) {
    Fail(ticket, tag, wait.error);
    return absl::OkStatus();
  }
  if (wait.is_reached && RunsTransferHere(traits, transfer.length())) {
    trace_.Issued(tag);
    const WorkScope work(*this);
    const int64_t start_ns = tag.is_traced() ? NowNs() : 0;
    const absl::Status status = Attempt([&]() -> absl::Status {
      Transfer mine = std::move(transfer);  // Unpinned before the signal.
      TAKT_ASSIGN_OR_RETURN(ResolvedTransfer resolved, mine.Pin());
      resolved.Run();
      if (tag.is_traced()) {
        trace_.Ran(tag, EventKind::kTransfer, tag.name, start_ns,
                   static_cast<int64_t>(mine.length()));
      }
      return absl::OkStatus();
    });
    End(ticket, tag, status);
    return absl::OkStatus();
  }
  transfer.OwnSource(blocks());
  auto* operation = new (blocks())
      TransferOperation(*this, traits, ticket.signal, std::move(transfer));
  operation->set_tag(tag);
  operation->SetCancellation(ticket.job);
  operation->SetBorrower(ticket.job);
  operation->Start(ticket.wait);
  return absl::OkStatus();
}

absl::Status Device::QueueExecute(const hal::QueueTicket& ticket,
                                  hal::CommandBuffer* command_buffer,
                                  absl::Span<const hal::Binding> bindings) {
  if (command_buffer == nullptr) {
    return absl::InvalidArgumentError("the command buffer is null");
  }
  CpuCommandBuffer* recorded = CpuCommandBuffer::From(command_buffer);
  if (recorded == nullptr) {
    return absl::InvalidArgumentError(
        "the command buffer was made by another kind of device");
  }
  if (!recorded->finalized()) {
    return absl::FailedPreconditionError("the command buffer still records");
  }
  TAKT_ASSIGN_OR_RETURN(const exec::JobTraits traits, FindTraits(ticket));
  TAKT_RETURN_IF_ERROR(recorded->CheckBindings(bindings));
  CommandSubmission submission(*recorded);
  if (!submission.is_taken()) {
    return absl::FailedPreconditionError(
        "the one-shot command buffer has been submitted before");
  }
  const OperationTag tag = trace_.NewTag(OperationTrace::kExecute, ticket);
  const WaitState wait(ticket.wait);
  if (wait.has_failed()) {
    submission.Keep();
    Fail(ticket, tag, wait.error);
  } else if (!wait.is_reached ||
             !TryExecuteInline(ticket, tag, traits, *recorded, bindings,
                               submission)) {
    Execution* const execution = Execution::Create(
        *this, traits, ticket.job, ticket.signal, recorded, bindings);
    submission.Keep();
    execution->set_tag(tag);
    execution->SetCancellation(ticket.job);
    execution->SetBorrower(ticket.job);
    execution->Start(ticket.wait);
  }
  return absl::OkStatus();
}

bool Device::TryExecuteInline(const hal::QueueTicket& ticket,
                              const OperationTag& tag,
                              const exec::JobTraits& traits,
                              const CpuCommandBuffer& command_buffer,
                              absl::Span<const hal::Binding> bindings,
                              CommandSubmission& submission) {
  exec::Worker own_worker;
  exec::Worker* worker = &own_worker;
  shop::ScheduledJob* const job =
      ticket.job != nullptr ? shop::ScheduledJob::From(ticket.job->context)
                            : nullptr;
  if (executor_ != nullptr) {
    worker = executor_->current_worker();
    if (worker == nullptr || !learns_costs_ || !worker->MayRun(traits) ||
        IsDecided(shop_.get(), job) ||
        EstimateAllNs(command_buffer.first_region(), kInlineNs) > kInlineNs) {
      return false;
    }
  }
  if (!worker->ReserveLocalMemory(command_buffer.local_memory_bytes())) {
    return false;  // The operation reports it.
  }
  const WorkScope work(*this);
  constexpr size_t kFewBases = 16;
  absl::InlinedVector<Base, kFewBases> bases(command_buffer.base_count());
  absl::Status status =
      command_buffer.PinBases(bindings, absl::MakeSpan(bases));
  submission.Keep();
  trace_.Issued(tag);
  if (status.ok()) {
    const PartTrace trace{trace_, tag};
    TAKT_TRY {
      status = RunRegions(
          command_buffer.first_region(), nullptr, bases, traits, *worker,
          {executor_ != nullptr, observer_, tag.is_traced() ? &trace : nullptr,
           ticket.job != nullptr ? &ticket.job->fault_policy : nullptr,
           ticket.job != nullptr ? ticket.job->cancellation : nullptr});
    }
    TAKT_CATCH(const std::bad_alloc&) { status = OutOfMemory(); }
    CpuCommandBuffer::UnpinBases(absl::MakeSpan(bases));
  }
  if (job != nullptr) job->CountUnseen(command_buffer.dispatch_count());
  End(ticket, tag, status);
  return true;
}

absl::Status Device::QueueBarrier(const hal::QueueTicket& ticket) {
  RunStep(ticket, trace_.NewTag(OperationTrace::kBarrier, ticket),
          WaitState(ticket.wait), [] { return absl::OkStatus(); });
  return absl::OkStatus();
}

absl::Status Device::QueueHostCall(
    const hal::QueueTicket& ticket,
    absl::AnyInvocable<absl::Status() &&>&& call) {
  const OperationTag tag = trace_.NewTag(OperationTrace::kHostCall, ticket);
  // From the constructor on nothing throws.
  auto* operation =
      new (blocks()) HostCallOperation(*this, ticket.signal, std::move(call));
  operation->set_tag(tag);
  operation->SetBorrower(ticket.job);
  operation->Start(ticket.wait);
  return absl::OkStatus();
}

void Device::QueueFlush() {
  hal::RunDeferred();
  if (executor_ != nullptr) executor_->Flush();
}

}  // namespace takt::cpu
