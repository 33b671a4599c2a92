// A LeaseFile is the file in which processes that share an NPU agree on whose
// turn it is. There is no daemon. Each process that may write the file takes
// part.
//
// The file is read and written, not mapped: a peer that truncates a mapped file
// would end every process that maps it. The content may be anything, and is
// brought into bounds. A process is alive as long as it holds the lock of its
// slot's byte, which the kernel releases when the process ends, in whatever
// way. Changes happen under the lock of byte 0.
//
// Locks belong to the open file, so a child of fork() that does not call exec()
// keeps its parent's slot alive.
//
// Thread-safety: one thread at a time.
#ifndef TAKT_NPU_LEASE_FILE_H_
#define TAKT_NPU_LEASE_FILE_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace takt::npu {

class LeaseFile {
 public:
  static constexpr uint32_t kSlotCount = 64;
  static constexpr uint32_t kNone = kSlotCount;

  // The request of a process; the file has one for each slot.
  struct Slot {
    uint64_t ticket;  // 0: it does not wait. The smaller one came first.
    int64_t deadline_ns;
    int64_t turn_max_ns;  // The longest turn that the process may take.
    uint32_t priority;    // At most 255.
    uint32_t passed_over;
    uint32_t pid;  // For messages.
    uint32_t reserved;
  };
  struct Contents {
    uint64_t magic;
    uint64_t turn;  // Raised whenever the lease changes hands.
    uint64_t last_ticket;
    uint64_t beat;    // Raised by a holder that is at work.
    uint32_t holder;  // A slot; kNone: none.
    uint32_t reserved;
    std::array<Slot, kSlotCount> slots;
  };

  // Opens the file, or makes it with the mode 0660 and the process's mask, and
  // takes a slot. Errors:
  //   FAILED_PRECONDITION  the path is no regular file, or a file of another
  //                        kind; the system does not report changes of it.
  //   RESOURCE_EXHAUSTED   all slots are taken.
  //   UNAVAILABLE          another process holds the file's lock.
  //   and those of opening, with the path.
  static absl::StatusOr<LeaseFile> Join(const std::string& path);

  LeaseFile(LeaseFile&&) = default;

  uint32_t slot() const { return slot_; }
  const std::string& path() const { return path_; }

  // Takes and releases the lock under which the contents may change.
  // UNAVAILABLE if it cannot be had for kLockLimitNs.
  static constexpr int64_t kLockLimitNs = 1'000'000'000;
  absl::Status Lock();
  void Unlock();

  // Reads everything. A file that is too short, or of another kind, is as new.
  Contents Read() const;
  // Write under the lock. The write of the rest wakes every process that waits.
  void WriteSlot(const Contents& contents, uint32_t slot);
  void WriteRest(const Contents& contents);

  // Whether a process has this slot. The own one counts as alive.
  bool IsAlive(uint32_t slot) const;

  // Waits until the file may have changed, or `deadline_ns` has passed.
  void WaitForChange(int64_t deadline_ns);

 private:
  LeaseFile(std::string path, UniqueFd file, UniqueFd changes)
      : path_(std::move(path)),
        file_(std::move(file)),
        changes_(std::move(changes)) {}
  absl::Status TakeSlot();

  std::string path_;
  UniqueFd file_;
  UniqueFd changes_;  // Of inotify.
  uint32_t slot_ = kNone;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_LEASE_FILE_H_
