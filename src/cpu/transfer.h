// A Transfer is a checked hal::TransferRequest that keeps alive what it uses.
// Its memory is resolved when it runs.
#ifndef TAKT_CPU_TRANSFER_H_
#define TAKT_CPU_TRANSFER_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "cpu/command_runner.h"
#include "cpu/operation.h"
#include "exec/executor.h"
#include "hal/buffer.h"
#include "hal/device.h"

namespace takt::cpu {

class Transfer {
 public:
  // Checks what can be checked now: OUT_OF_RANGE, PERMISSION_DENIED,
  // INVALID_ARGUMENT. A length of kWholeBuffer is the rest of the target, or
  // of the source of a write. The bytes of an update stay borrowed until
  // OwnSource().
  static absl::StatusOr<Transfer> Create(const hal::TransferRequest& requested);

  Transfer(Transfer&& other) noexcept;
  Transfer& operator=(Transfer&&) = delete;
  ~Transfer();

  uint64_t length() const { return length_; }
  // Makes the bytes of an update its own, for a transfer that runs later.
  void OwnSource(BlockPool& blocks);

  // Pins the memory and gives its addresses, until the transfer is destroyed.
  // FAILED_PRECONDITION for a buffer without memory. Once.
  absl::StatusOr<ResolvedTransfer> Pin();

 private:
  Transfer(Command::Kind kind, uint64_t length)
      : kind_(kind), length_(length) {}
  // Each checks its part of what is requested, and takes it over.
  absl::Status SetSource(const hal::TransferRequest& requested);
  absl::Status SetTarget(const hal::TransferRequest& requested);
  absl::Status SetPattern(const hal::TransferRequest& requested);
  absl::Status CheckOverlap() const;

  Command::Kind kind_;
  uint64_t length_;
  uint32_t pattern_ = 0;
  uint32_t pattern_length_ = 1;
  // Either an offset in a storage, or an address that owner_ keeps.
  Ref<hal::Storage> source_storage_;
  Ref<hal::Storage> target_storage_;
  uint64_t source_offset_ = 0;
  uint64_t target_offset_ = 0;
  const uint8_t* source_bytes_ = nullptr;
  uint8_t* target_bytes_ = nullptr;
  Ref<Object> owner_;
  void* owned_source_ = nullptr;  // A block.
  bool source_is_pinned_ = false;
  bool target_is_pinned_ = false;
};

// A transfer that waits, or that is worth several threads.
class TransferOperation final : public Operation, private exec::Job {
 public:
  TransferOperation(Device& device, const exec::JobTraits& traits,
                    hal::Fence* signal, Transfer transfer)
      : Operation(device, signal), transfer_(std::move(transfer)) {
    static_cast<exec::JobTraits&>(*this) = traits;
  }

  // Below this, one thread is as good as several.
  static constexpr uint64_t kInlineBytes = 2 * ResolvedTransfer::kTileBytes;

 private:
  void Run() override;
  uint32_t RunTiles(uint32_t begin, uint32_t end,
                    exec::Worker& worker) override {
    if (is_cancelled()) return end;
    const int64_t start_ns = tag().is_traced() ? NowNs() : 0;
    const uint32_t reached = resolved_.RunTiles(begin, end, worker);
    if (tag().is_traced()) Note(start_ns, resolved_.BytesOf(begin, reached));
    return reached;
  }
  void Finish(exec::Worker& worker) override {
    Complete(is_cancelled() ? Cancellation::Error() : absl::OkStatus());
  }

  void Note(int64_t start_ns, int64_t byte_count) const {
    device().trace().Ran(tag(), EventKind::kTransfer, tag().name, start_ns,
                         byte_count);
  }

  Transfer transfer_;
  ResolvedTransfer resolved_;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_TRANSFER_H_
