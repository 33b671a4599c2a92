#include "cpu/transfer.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/exceptions.h"
#include "base/math.h"
#include "base/status.h"
#include "hal/fill_pattern.h"

namespace takt::cpu {
namespace {

absl::Status CheckAccess(hal::MemoryAccess allowed, hal::MemoryAccess wanted,
                         absl::string_view what) {
  if ((allowed & wanted) == wanted) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("the ", what, " does not allow to be ",
                   wanted == hal::kAccessWrite ? "written" : "read"));
}

// Resolves *length by the target, checks both ends.
absl::Status CheckBuffer(const hal::Buffer* buffer, uint64_t offset,
                         uint64_t* length, hal::MemoryAccess access,
                         absl::string_view what) {
  if (buffer == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("the ", what, " is null"));
  }
  absl::Status status = buffer->ResolveRange(offset, length);
  if (!status.ok()) return Annotate(status, what);
  return CheckAccess(buffer->access(), access, what);
}

absl::Status CheckFile(const hal::File* file, uint64_t offset, uint64_t length,
                       hal::MemoryAccess access) {
  if (file == nullptr) return absl::InvalidArgumentError("the file is null");
  if (!RangeFits(offset, length, file->byte_length())) {
    return absl::OutOfRangeError(absl::StrCat("range of ", length, " bytes at ",
                                              offset, " is not in a file of ",
                                              file->byte_length()));
  }
  return CheckAccess(file->access(), access, "file");
}

constexpr char kSource[] = "source buffer";
constexpr char kTarget[] = "target buffer";

}  // namespace

absl::StatusOr<Transfer> Transfer::Create(
    const hal::TransferRequest& requested) {
  using Kind = hal::TransferRequest::Kind;
  Transfer transfer(Command::Kind::kCopy, requested.length);
  switch (requested.kind) {
    case Kind::kFill:
      TAKT_RETURN_IF_ERROR(hal::CheckPatternLength(requested.pattern_length));
      TAKT_RETURN_IF_ERROR(transfer.SetTarget(requested));
      TAKT_RETURN_IF_ERROR(transfer.SetPattern(requested));
      break;
    case Kind::kUpdate:
      transfer.kind_ = Command::Kind::kUpdate;
      transfer.length_ = requested.bytes.size();
      transfer.source_bytes_ = requested.bytes.data();
      TAKT_RETURN_IF_ERROR(transfer.SetTarget(requested));
      break;
    case Kind::kCopy:
      TAKT_RETURN_IF_ERROR(transfer.SetTarget(requested));
      TAKT_RETURN_IF_ERROR(transfer.SetSource(requested));
      TAKT_RETURN_IF_ERROR(transfer.CheckOverlap());
      break;
    case Kind::kRead:
      TAKT_RETURN_IF_ERROR(transfer.SetTarget(requested));
      TAKT_RETURN_IF_ERROR(CheckFile(requested.file, requested.source_offset,
                                     transfer.length_, hal::kAccessRead));
      transfer.source_bytes_ = requested.file->data() + requested.source_offset;
      transfer.owner_ = Ref<Object>::Retain(requested.file);
      break;
    case Kind::kWrite:
      TAKT_RETURN_IF_ERROR(transfer.SetSource(requested));
      TAKT_RETURN_IF_ERROR(CheckFile(requested.file, requested.target_offset,
                                     transfer.length_, hal::kAccessWrite));
      transfer.target_bytes_ = requested.file->data() + requested.target_offset;
      transfer.owner_ = Ref<Object>::Retain(requested.file);
      break;
  }
  return transfer;
}

Transfer::Transfer(Transfer&& other) noexcept
    : kind_(other.kind_),
      length_(other.length_),
      pattern_(other.pattern_),
      pattern_length_(other.pattern_length_),
      source_storage_(std::move(other.source_storage_)),
      target_storage_(std::move(other.target_storage_)),
      source_offset_(other.source_offset_),
      target_offset_(other.target_offset_),
      source_bytes_(other.source_bytes_),
      target_bytes_(other.target_bytes_),
      owner_(std::move(other.owner_)),
      owned_source_(std::exchange(other.owned_source_, nullptr)),
      source_is_pinned_(std::exchange(other.source_is_pinned_, false)),
      target_is_pinned_(std::exchange(other.target_is_pinned_, false)) {}

Transfer::~Transfer() {
  if (source_is_pinned_) source_storage_->Unpin();
  if (target_is_pinned_) target_storage_->Unpin();
  BlockPool::Free(owned_source_);
}

absl::Status Transfer::SetSource(const hal::TransferRequest& requested) {
  TAKT_RETURN_IF_ERROR(CheckBuffer(requested.source, requested.source_offset,
                                   &length_, hal::kAccessRead, kSource));
  source_storage_ = Ref<hal::Storage>::Retain(requested.source->storage());
  source_offset_ = requested.source->byte_offset() + requested.source_offset;
  return absl::OkStatus();
}

absl::Status Transfer::SetTarget(const hal::TransferRequest& requested) {
  TAKT_RETURN_IF_ERROR(CheckBuffer(requested.target, requested.target_offset,
                                   &length_, hal::kAccessWrite, kTarget));
  target_storage_ = Ref<hal::Storage>::Retain(requested.target->storage());
  target_offset_ = requested.target->byte_offset() + requested.target_offset;
  return absl::OkStatus();
}

absl::Status Transfer::SetPattern(const hal::TransferRequest& requested) {
  TAKT_RETURN_IF_ERROR(hal::CheckFillRange(requested.target_offset, length_,
                                           requested.pattern_length));
  kind_ = Command::Kind::kFill;
  pattern_ = requested.pattern;
  pattern_length_ = static_cast<uint32_t>(requested.pattern_length);
  return absl::OkStatus();
}

absl::Status Transfer::CheckOverlap() const {
  if (source_storage_ == target_storage_ &&
      source_offset_ < target_offset_ + length_ &&
      target_offset_ < source_offset_ + length_) {
    return absl::InvalidArgumentError(
        absl::StrCat("copy of ", length_, " bytes overlaps itself"));
  }
  return absl::OkStatus();
}

void Transfer::OwnSource(BlockPool& blocks) {
  if (kind_ != Command::Kind::kUpdate || length_ == 0) return;
  owned_source_ = blocks.Allocate(length_);
  std::memcpy(owned_source_, source_bytes_, length_);
  source_bytes_ = static_cast<const uint8_t*>(owned_source_);
}

absl::StatusOr<ResolvedTransfer> Transfer::Pin() {
  ResolvedTransfer resolved;
  resolved.kind = kind_;
  resolved.length = length_;
  resolved.pattern = pattern_;
  resolved.pattern_length = pattern_length_;
  resolved.source = source_bytes_;
  resolved.target = target_bytes_;
  const auto no_memory = [](absl::string_view what) {
    return absl::FailedPreconditionError(
        absl::StrCat("the ", what,
                     " has no memory: its allocation is pending or it has been "
                     "deallocated"));
  };
  if (source_storage_ != nullptr) {
    const uint8_t* data = source_storage_->Pin();
    if (data == nullptr) return no_memory(kSource);
    source_is_pinned_ = true;
    resolved.source = data + source_offset_;
  }
  if (target_storage_ != nullptr) {
    uint8_t* data = target_storage_->Pin();
    if (data == nullptr) return no_memory(kTarget);
    target_is_pinned_ = true;
    resolved.target = data + target_offset_;
  }
  TAKT_RETURN_IF_ERROR(Check(resolved));
  return resolved;
}

void TransferOperation::Run() {
  absl::StatusOr<ResolvedTransfer> resolved = OutOfMemory();
  TAKT_TRY { resolved = transfer_.Pin(); }
  TAKT_CATCH(const std::bad_alloc&) {}
  if (!resolved.ok()) {
    Complete(resolved.status());
    return;
  }
  resolved_ = *resolved;
  if (device().RunsTransferHere(*this, resolved_.length)) {
    const int64_t start_ns = tag().is_traced() ? NowNs() : 0;
    resolved_.Run();
    if (tag().is_traced()) {
      Note(start_ns, static_cast<int64_t>(resolved_.length));
    }
    Complete(absl::OkStatus());
    return;
  }
  tile_count = std::max(resolved_.tile_count(), 1u);
  expected_tile_ns = ResolvedTransfer::kTileBytes / 8;
  // The operation may be gone before Submit() returns.
  const Ref<exec::Executor> executor =
      Ref<exec::Executor>::Retain(device().executor());
  executor->Submit(this);
}

}  // namespace takt::cpu
