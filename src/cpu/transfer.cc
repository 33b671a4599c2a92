#include "cpu/transfer.h"

#include <algorithm>
#include <cstring>

#include "base/math.h"
#include "base/status.h"

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

absl::StatusOr<Transfer> Transfer::Fill(hal::Buffer* target, uint64_t offset,
                                        uint64_t length, uint32_t pattern,
                                        size_t pattern_length) {
  if (pattern_length != 1 && pattern_length != 2 && pattern_length != 4) {
    return absl::InvalidArgumentError(absl::StrCat(
        "fill pattern of ", pattern_length, " bytes: only 1, 2 and 4 are"));
  }
  TAKT_RETURN_IF_ERROR(
      CheckBuffer(target, offset, &length, hal::kAccessWrite, kTarget));
  if (offset % pattern_length != 0 || length % pattern_length != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("fill of ", length, " bytes at ", offset,
                     " is no multiple of its pattern's ", pattern_length));
  }
  Transfer transfer(Command::Kind::kFill, length);
  transfer.pattern_ = pattern;
  transfer.pattern_length_ = static_cast<uint32_t>(pattern_length);
  transfer.SetTarget(target, offset);
  return transfer;
}

absl::StatusOr<Transfer> Transfer::Update(absl::Span<const uint8_t> source,
                                          hal::Buffer* target,
                                          uint64_t offset) {
  uint64_t length = source.size();
  TAKT_RETURN_IF_ERROR(
      CheckBuffer(target, offset, &length, hal::kAccessWrite, kTarget));
  Transfer transfer(Command::Kind::kUpdate, length);
  transfer.source_bytes_ = source.data();
  transfer.SetTarget(target, offset);
  return transfer;
}

absl::StatusOr<Transfer> Transfer::Copy(hal::Buffer* source,
                                        uint64_t source_offset,
                                        hal::Buffer* target,
                                        uint64_t target_offset,
                                        uint64_t length) {
  TAKT_RETURN_IF_ERROR(
      CheckBuffer(target, target_offset, &length, hal::kAccessWrite, kTarget));
  TAKT_RETURN_IF_ERROR(
      CheckBuffer(source, source_offset, &length, hal::kAccessRead, kSource));
  Transfer transfer(Command::Kind::kCopy, length);
  transfer.SetSource(source, source_offset);
  transfer.SetTarget(target, target_offset);
  const uint64_t from = transfer.source_offset_;
  const uint64_t to = transfer.target_offset_;
  if (source->storage() == target->storage() && from < to + length &&
      to < from + length) {
    return absl::InvalidArgumentError(
        absl::StrCat("copy of ", length, " bytes overlaps itself"));
  }
  return transfer;
}

absl::StatusOr<Transfer> Transfer::Read(hal::File* source,
                                        uint64_t source_offset,
                                        hal::Buffer* target,
                                        uint64_t target_offset,
                                        uint64_t length) {
  TAKT_RETURN_IF_ERROR(
      CheckBuffer(target, target_offset, &length, hal::kAccessWrite, kTarget));
  TAKT_RETURN_IF_ERROR(
      CheckFile(source, source_offset, length, hal::kAccessRead));
  Transfer transfer(Command::Kind::kCopy, length);
  transfer.source_bytes_ = source->data() + source_offset;
  transfer.owner_ = Ref<Object>::Retain(source);
  transfer.SetTarget(target, target_offset);
  return transfer;
}

absl::StatusOr<Transfer> Transfer::Write(hal::Buffer* source,
                                         uint64_t source_offset,
                                         hal::File* target,
                                         uint64_t target_offset,
                                         uint64_t length) {
  TAKT_RETURN_IF_ERROR(
      CheckBuffer(source, source_offset, &length, hal::kAccessRead, kSource));
  TAKT_RETURN_IF_ERROR(
      CheckFile(target, target_offset, length, hal::kAccessWrite));
  Transfer transfer(Command::Kind::kCopy, length);
  transfer.SetSource(source, source_offset);
  transfer.target_bytes_ = target->data() + target_offset;
  transfer.owner_ = Ref<Object>::Retain(target);
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

void Transfer::SetSource(hal::Buffer* buffer, uint64_t offset) {
  source_storage_ = Ref<hal::Storage>::Retain(buffer->storage());
  source_offset_ = buffer->byte_offset() + offset;
}

void Transfer::SetTarget(hal::Buffer* buffer, uint64_t offset) {
  target_storage_ = Ref<hal::Storage>::Retain(buffer->storage());
  target_offset_ = buffer->byte_offset() + offset;
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
  absl::StatusOr<ResolvedTransfer> resolved = transfer_.Pin();
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
  device().executor()->Submit(this);
}

}  // namespace takt::cpu
