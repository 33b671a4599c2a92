#include "runtime/call_batch.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/exceptions.h"
#include "base/status.h"
#include "hal/buffer.h"
#include "hal/element_type.h"

namespace takt::runtime {
namespace {

hal::BufferView* ViewOf(const vm::Value& value) {
  return DynCast<hal::BufferView>(value.ref());
}

// Bytes of one row of a tensor of that shape; 0 if rows are not whole bytes.
uint64_t RowBytes(const hal::BufferView& view) {
  uint64_t bits = hal::BitCount(view.element_type());
  for (size_t i = 1; i < view.shape().size(); ++i) {
    bits *= static_cast<uint64_t>(view.shape()[i]);
  }
  return bits % 8 == 0 ? bits / 8 : 0;
}

// A buffer like `model`'s, of that many bytes.
absl::StatusOr<Ref<hal::Buffer>> AllocateLike(const hal::Buffer& model,
                                              uint64_t byte_length) {
  TAKT_ASSIGN_OR_RETURN(Ref<hal::Storage> storage,
                        hal::CreateHeapStorage(byte_length));
  return hal::Buffer::Create(std::move(storage), model.memory_type(),
                             model.usage(), hal::kAccessAll);
}

absl::StatusOr<Ref<hal::BufferView>> ViewOfRows(Ref<hal::Buffer> buffer,
                                                const hal::BufferView& model,
                                                int64_t row_count) {
  std::vector<int64_t> shape(model.shape().begin(), model.shape().end());
  shape[0] = row_count;
  return hal::BufferView::Create(std::move(buffer), model.element_type(),
                                 model.encoding(), shape);
}

absl::Status CheckStackable(const Function& function, absl::string_view what,
                            size_t index, const ValueType& type) {
  if (type.is_tensor && type.rank > 0 &&
      type.shape[0] == Declaration::kDynamic &&
      !absl::StrContains(type.attributes, "iree.abi.output")) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      function.name(), ": cannot be batched: ", what, " ", index,
      " is no tensor of its own with a dynamic outermost dimension"));
}

}  // namespace

absl::StatusOr<bool> CallBatch::IsBatchable(const Function& function) {
  const std::string* dimension =
      function.info().FindAttribute("takt.batch_dim");
  if (dimension == nullptr) return false;
  if (*dimension != "0") {
    return absl::FailedPreconditionError(absl::StrCat(
        function.name(), ": takt.batch_dim: expected 0, got ", *dimension));
  }
  const auto arguments = function.signature().arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    TAKT_RETURN_IF_ERROR(CheckStackable(function, "input", i, arguments[i]));
  }
  const auto results = function.signature().results();
  for (size_t i = 0; i < results.size(); ++i) {
    TAKT_RETURN_IF_ERROR(CheckStackable(function, "result", i, results[i]));
  }
  return !arguments.empty();
}

bool CallBatch::CanStack(absl::Span<const vm::Value> arguments) {
  int64_t row_count = 0;
  for (const vm::Value& argument : arguments) {
    const hal::BufferView* const view = ViewOf(argument);
    if (view == nullptr || RowBytes(*view) == 0) return false;
    const int64_t rows = view->shape()[0];
    if (rows == 0 || (row_count != 0 && rows != row_count)) return false;
    row_count = rows;
  }
  return row_count > 0;
}

bool CallBatch::Fits(AsyncCall& member) const {
  const JobAttributes& job = members_[0]->job().attributes;
  if (job.cpus != member.job().attributes.cpus ||
      job.fault_policy != member.job().attributes.fault_policy) {
    return false;
  }
  const size_t count = function_->signature().arguments().size();
  for (size_t i = 0; i < count; ++i) {
    const hal::BufferView& model = *ViewOf(members_[0]->slots()[i]);
    const hal::BufferView& view = *ViewOf(member.slots()[i]);
    if (view.element_type() != model.element_type() ||
        view.encoding() != model.encoding() ||
        view.shape().subspan(1) != model.shape().subspan(1)) {
      return false;
    }
  }
  return true;
}

CallBatch* CallBatch::Join(AsyncCall& member) {
  Function& function = member.function();
  MutexLock lock(&function.batch_mutex());
  CallBatch*& open = function.open_batch();
  // A call that does not fit the open batch opens the next one.
  Ref<CallBatch> opened;
  if (open == nullptr || !open->Fits(member)) {
    opened = Ref<CallBatch>::Adopt(new CallBatch(function));
  }
  CallBatch& batch = opened != nullptr ? *opened : *open;
  batch.members_.push_back(&member);
  batch.Urge(member.job());
  if (opened != nullptr) open = opened.get();
  return opened.release();
}

void CallBatch::Add(AsyncCall* member) {
  CallBatch* opened = nullptr;
  bool has_joined = false;
  TAKT_TRY {
    opened = Join(*member);
    has_joined = true;
  }
  TAKT_CATCH(const std::bad_alloc&) {}
  if (!has_joined) member->RunAlone();
  if (opened == nullptr) return;
  opened->run = &CallBatch::Close;
  opened->hal::Deferred::next = nullptr;
  hal::RunOrDefer(opened);
}

void CallBatch::Urge(const Function::Job& member) {
  TAKT_CHECK(!members_.empty());
  const bool is_first = members_.size() == 1;
  job_.cpus = member.attributes.cpus;
  job_.fault_policy = member.attributes.fault_policy;
  job_.priority = is_first
                      ? member.attributes.priority
                      : std::max(job_.priority, member.attributes.priority);
  job_.deadline_ns = std::min(job_.deadline_ns, member.attributes.deadline_ns);
  traits = {exec::LaneOf(job_.priority), job_.deadline_ns,
            member.traits.allowed};
}

void CallBatch::Close(hal::Deferred* deferred) {
  auto* const batch = static_cast<CallBatch*>(deferred);
  Function& function = *batch->function_;
  {
    MutexLock lock(&function.batch_mutex());
    TAKT_CHECK(!batch->members_.empty());
    if (function.open_batch() == batch) function.open_batch() = nullptr;
  }
  function.context().call_queue().Post(batch, CallQueue::Where::kWorker);
}

void CallBatch::OnWoken(void* self, vm::Invocation& invocation) {
  auto* const batch = static_cast<CallBatch*>(self);
  batch->function_->context().call_queue().Post(batch,
                                                CallQueue::Where::kWorker);
}

CallQueue::Turn::Progress CallBatch::Take() {
  if (program_ == nullptr) {
    // Calls that were cancelled in time do not take part.
    const auto kept = std::stable_partition(
        members_.begin(), members_.end(),
        [](AsyncCall* member) { return !member->is_cancelled(); });
    for (auto each = kept; each != members_.end(); ++each) (*each)->RunAlone();
    members_.erase(kept, members_.end());
    if (members_.size() == 1) members_.front()->RunAlone();
    if (members_.size() < 2) {
      Release();
      return Progress::kDone;
    }
    absl::StatusOr<Ref<vm::Invocation>> program = OutOfMemory();
    TAKT_TRY { program = CreateProgram(); }
    TAKT_CATCH(const std::bad_alloc&) {}
    if (!program.ok()) {
      Finish(program.status());
      return Progress::kDone;
    }
    program_ = *std::move(program);
  }
  // A second reference: once the program has parked, another thread may run
  // it to its end.
  const Ref<vm::Invocation> program = program_;
  if (program->Run() != vm::Invocation::State::kParked) EndProgram();
  return Progress::kDone;
}

absl::StatusOr<Ref<vm::Invocation>> CallBatch::CreateProgram() {
  std::vector<vm::Value> values;
  std::vector<hal::BufferView*> parts(members_.size());
  const size_t count = function_->signature().arguments().size();
  for (size_t i = 0; i < count; ++i) {
    for (size_t m = 0; m < members_.size(); ++m) {
      parts[m] = ViewOf(members_[m]->slots()[i]);
    }
    TAKT_ASSIGN_OR_RETURN(Ref<hal::BufferView> stacked, Stack(parts));
    row_count_ = stacked->shape()[0];
    values.push_back(vm::Value::FromRef(std::move(stacked)));
  }
  if (function_->signature().is_async()) {
    signal_ = hal::Fence::Create(function_->context().instance().blocks());
    values.push_back(vm::Value::FromRef(nullptr));
    values.push_back(vm::Value::FromRef(signal_));
  }
  TAKT_ASSIGN_OR_RETURN(
      Ref<vm::Invocation> program,
      vm::Invocation::Create(function_->context().vm(), function_->ref(),
                             absl::MakeSpan(values),
                             vm::Invocation::ArgumentRefs::kTake));
  program->SetJob(job_);
  program->SetOnWoken(&CallBatch::OnWoken, this);
  return program;
}

void CallBatch::EndProgram() {
  TAKT_CHECK(members_.size() >= 2 && results_.empty());
  absl::Status status = program_->status();
  TAKT_TRY {
    if (status.ok()) results_ = program_->TakeResults();
  }
  TAKT_CATCH(const std::bad_alloc&) { status = OutOfMemory(); }
  program_.reset();
  if (signal_ == nullptr || !status.ok()) {
    Finish(status);
    return;
  }
  const hal::Fence* const fences[] = {signal_.get()};
  if (FenceWaiter::Start(fences, &status)) return;
  Finish(Annotate(status, function_->name()));
}

void CallBatch::OnSignal(FenceWaiter* waiter, const absl::Status& status) {
  auto* const batch = static_cast<CallBatch*>(waiter);
  batch->Finish(Annotate(status, batch->function_->name()));
}

void CallBatch::Finish(const absl::Status& status) {
  absl::Status outcome = status;
  if (outcome.ok()) {
    outcome = Annotate(Attempt([this] { return Split(); }), function_->name());
  }
  results_.clear();
  {
    // The calls that wait for these members become ready together, and are
    // batched again.
    hal::DeferScope scope;
    for (AsyncCall* member : members_) member->EndInBatch(outcome);
  }
  Release();
}

absl::Status CallBatch::Split() {
  // All results are split before the first member receives one, so that an
  // error leaves every member without results.
  std::vector<Ref<hal::BufferView>> slices;
  for (size_t i = 0; i < results_.size(); ++i) {
    hal::BufferView* const whole = ViewOf(results_[i]);
    if (whole == nullptr || whole->shape().empty() ||
        whole->shape()[0] != row_count_) {
      return absl::FailedPreconditionError(absl::StrCat(
          "result ", i, " of a batch of ", row_count_, " rows is ",
          whole != nullptr ? whole->ShapeAndTypeString() : "no tensor"));
    }
    int64_t first_row = 0;
    for (const AsyncCall* member : members_) {
      const int64_t rows = member->batch_row_count();
      TAKT_ASSIGN_OR_RETURN(slices.emplace_back(),
                            Slice(*whole, first_row, rows));
      first_row += rows;
    }
  }
  TAKT_CHECK(slices.size() == results_.size() * members_.size());
  for (size_t m = 0; m < members_.size(); ++m) {
    // Release the arguments.
    for (vm::Value& slot : members_[m]->slots()) slot = vm::Value();
    for (size_t i = 0; i < results_.size(); ++i) {
      members_[m]->slots()[i] =
          vm::Value::FromRef(std::move(slices[i * members_.size() + m]));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Ref<hal::BufferView>> CallBatch::Stack(
    absl::Span<hal::BufferView* const> parts) {
  TAKT_CHECK(!parts.empty());
  const uint64_t row_bytes = RowBytes(*parts[0]);
  int64_t row_count = 0;
  for (const hal::BufferView* part : parts) row_count += part->shape()[0];
  TAKT_ASSIGN_OR_RETURN(
      Ref<hal::Buffer> buffer,
      AllocateLike(*parts[0]->buffer(),
                   row_bytes * static_cast<uint64_t>(row_count)));
  TAKT_ASSIGN_OR_RETURN(const absl::Span<uint8_t> target,
                        buffer->Map(0, hal::kWholeBuffer, hal::kAccessWrite));
  uint64_t offset = 0;
  for (const hal::BufferView* part : parts) {
    const uint64_t length = row_bytes * static_cast<uint64_t>(part->shape()[0]);
    TAKT_ASSIGN_OR_RETURN(const absl::Span<uint8_t> source,
                          part->buffer()->Map(0, length, hal::kAccessRead));
    std::memcpy(target.data() + offset, source.data(), length);
    offset += length;
  }
  return ViewOfRows(std::move(buffer), *parts[0], row_count);
}

absl::StatusOr<Ref<hal::BufferView>> CallBatch::Slice(hal::BufferView& whole,
                                                      int64_t first_row,
                                                      int64_t row_count) {
  const uint64_t row_bytes = RowBytes(whole);
  const uint64_t offset = row_bytes * static_cast<uint64_t>(first_row);
  const uint64_t length = row_bytes * static_cast<uint64_t>(row_count);
  Ref<hal::Buffer> buffer;
  if ((whole.buffer()->byte_offset() + offset) % hal::kBufferAlignment == 0) {
    TAKT_ASSIGN_OR_RETURN(buffer, whole.buffer()->Subspan(offset, length));
  } else {
    TAKT_ASSIGN_OR_RETURN(buffer, AllocateLike(*whole.buffer(), length));
    TAKT_ASSIGN_OR_RETURN(
        const absl::Span<uint8_t> source,
        whole.buffer()->Map(offset, length, hal::kAccessRead));
    TAKT_ASSIGN_OR_RETURN(const absl::Span<uint8_t> target,
                          buffer->Map(0, length, hal::kAccessWrite));
    std::memcpy(target.data(), source.data(), length);
  }
  return ViewOfRows(std::move(buffer), whole, row_count);
}

}  // namespace takt::runtime
