#include "exec/core_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace takt::exec {
namespace {

constexpr uint64_t kMagic = 0x313045524f434b54;  // "TKCORE01"
constexpr off_t kSlotsOffset = 64;
// The bytes that are locked lie behind the contents.
constexpr off_t kAliveBytes = 1 << 20;

static_assert(std::is_trivially_copyable_v<CoreFile::Slot>);
static_assert(sizeof(CoreFile::Slot) == 192);

struct flock LockOf(off_t byte, off_t length = 1) {
  struct flock lock;
  std::memset(&lock, 0, sizeof(lock));
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = length;
  return lock;
}

absl::Status PathError(int error, const std::string& path) {
  return absl::ErrnoToStatus(error, absl::StrCat("cores file ", path));
}

}  // namespace

absl::StatusOr<CoreFile> CoreFile::Join(const std::string& path) {
  UniqueFd file(
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0660));
  if (!file.valid()) return PathError(errno, path);
  struct stat status;
  if (fstat(file.get(), &status) != 0) return PathError(errno, path);
  if (!S_ISREG(status.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("cores file ", path, ": not a regular file"));
  }
  uint64_t magic = 0;
  if (pread(file.get(), &magic, sizeof(magic), 0) < 0) {
    return PathError(errno, path);
  }
  // 0: it is new, or was cut off.
  if (magic != 0 && magic != kMagic) {
    return absl::FailedPreconditionError(absl::StrCat(
        "cores file ", path, ": a file of another kind or version"));
  }
  if (pwrite(file.get(), &kMagic, sizeof(kMagic), 0) !=
      static_cast<ssize_t>(sizeof(kMagic))) {
    return PathError(errno, path);
  }
  for (uint32_t slot = 0; slot < kSlotCount; ++slot) {
    struct flock lock = LockOf(kAliveBytes + slot);
    if (fcntl(file.get(), F_OFD_SETLK, &lock) != 0) continue;
    CoreFile joined(std::move(file), slot);
    joined.Write(Slot());  // Not what a process that died has left.
    return joined;
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "cores file ", path, ": ", kSlotCount, " executors use it already"));
}

void CoreFile::Read(Slots* slots) const {
  static_assert(sizeof(Slots) == sizeof(Slot) * kSlotCount);
  std::memset(slots, 0, sizeof(*slots));
  (void)!pread(file_.get(), slots, sizeof(*slots), kSlotsOffset);
  for (Slot& slot : *slots) {
    if (slot.standing > static_cast<uint32_t>(CoreStanding::kOver)) {
      slot.standing = static_cast<uint32_t>(CoreStanding::kNoShare);
    }
    for (uint32_t& count : slot.counts) count = std::min(count, kCountMax);
  }
}

void CoreFile::Write(const Slot& slot) {
  (void)!pwrite(file_.get(), &slot, sizeof(slot),
                kSlotsOffset + static_cast<off_t>(slot_ * sizeof(Slot)));
}

bool CoreFile::IsAlive(uint32_t slot) const {
  TAKT_CHECK(slot < kSlotCount);
  if (slot == slot_) return true;
  struct flock lock = LockOf(kAliveBytes + slot);
  // What cannot be asked counts as alive: its claims end by themselves.
  return fcntl(file_.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

bool CoreFile::HasPeers() const {
  // The own lock is of this open file, so it does not count.
  struct flock lock = LockOf(kAliveBytes, kSlotCount);
  return fcntl(file_.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

}  // namespace takt::exec
