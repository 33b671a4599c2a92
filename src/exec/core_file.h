// A CoreFile is the file in which processes that share cores tell each other
// what they ask for. There is no daemon. Each process that may write the file
// takes part.
//
// The file is read and written, not mapped: a peer that truncates a mapped file
// would end every process that maps it. What is read may be anything, and is
// brought into bounds. Each process writes its own slot only. It is alive as
// long as it holds the lock of its slot's byte, which the kernel releases when
// the process ends, in whatever way.
//
// Locks belong to the open file, so a child of fork() that does not call exec()
// keeps its parent's slot alive.
//
// Thread-safety: one thread at a time.
#ifndef TAKT_EXEC_CORE_FILE_H_
#define TAKT_EXEC_CORE_FILE_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "exec/core_share.h"
#include "exec/lane_mask.h"

namespace takt::exec {

class CoreFile {
 public:
  static constexpr uint32_t kSlotCount = kCoreProcessMax;

  // What a process asks for, as in CoreClaims.
  struct Slot {
    int64_t renewed_ns;  // On the clock of NowNs(); 0: it asks for nothing.
    uint32_t pid;        // For messages.
    uint32_t standing;
    std::array<uint64_t, 4> cpus;  // The first 256 of those that it uses.
    std::array<uint32_t, kLaneCount> counts;
    std::array<int64_t, kLaneCount> deadlines_ns;
    std::array<uint64_t, 6> reserved;
  };
  using Slots = std::array<Slot, kSlotCount>;

  // Opens the file, or makes it with the mode 0660 and the process's mask, and
  // takes a slot. Errors:
  //   FAILED_PRECONDITION  the path is no regular file, or a file of another
  //                        kind.
  //   RESOURCE_EXHAUSTED   all slots are taken.
  //   and those of opening, with the path.
  static absl::StatusOr<CoreFile> Join(const std::string& path);

  CoreFile(CoreFile&&) = default;

  uint32_t slot() const { return slot_; }

  // Reads all slots; what is missing is 0. Counts are at most kCountMax.
  static constexpr uint32_t kCountMax = 8192;
  void Read(Slots* slots) const;
  // Writes the own slot. A write that fails, such as on a full disk, loses the
  // claims until the next one.
  void Write(const Slot& slot);
  // Whether a process has this slot. The own one counts as alive.
  bool IsAlive(uint32_t slot) const;
  // Whether a process has any other slot.
  bool HasPeers() const;

 private:
  CoreFile(UniqueFd file, uint32_t slot)
      : file_(std::move(file)), slot_(slot) {}

  UniqueFd file_;
  uint32_t slot_;
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_CORE_FILE_H_
