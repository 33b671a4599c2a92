#include "npu/lease_file.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/shared_file.h"
#include "base/status.h"

namespace takt::npu {
namespace {

constexpr uint64_t kMagic = 0x3130455341454c54;  // "TLEASE01"
// The bytes that are locked lie behind the contents.
constexpr off_t kMutexByte = 1 << 20;
constexpr off_t kAliveBytes = kMutexByte + 1;

absl::Status PathError(int error, const std::string& path) {
  return SharedFileError(error, "lease", path);
}

LeaseFile::Contents NewContents() {
  LeaseFile::Contents contents;
  std::memset(&contents, 0, sizeof(contents));
  contents.magic = kMagic;
  contents.holder = LeaseFile::kNone;
  return contents;
}

}  // namespace

absl::StatusOr<LeaseFile> LeaseFile::Join(const std::string& path) {
  TAKT_ASSIGN_OR_RETURN(UniqueFd file, OpenSharedFile("lease", path, kMagic));
  UniqueFd changes(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!changes.valid()) return PathError(errno, path);
  if (inotify_add_watch(changes.get(), path.c_str(), IN_MODIFY) < 0) {
    return PathError(errno, path);
  }
  LeaseFile joined(path, std::move(file), std::move(changes));
  TAKT_RETURN_IF_ERROR(joined.Lock());
  const absl::Status taken = joined.TakeSlot();
  joined.Unlock();
  TAKT_RETURN_IF_ERROR(taken);
  return joined;
}

absl::Status LeaseFile::TakeSlot() {
  TAKT_CHECK(slot_ == kNone);
  Contents contents = Read();
  for (uint32_t slot = 0; slot < kSlotCount; ++slot) {
    if (!SetByteLock(file_.get(), kAliveBytes + slot, true)) continue;
    slot_ = slot;
    contents.slots[slot] = {};
    contents.slots[slot].pid = static_cast<uint32_t>(getpid());
    // The process that had the slot has ended with the lease.
    if (contents.holder == slot) {
      contents.holder = kNone;
      ++contents.turn;
    }
    WriteSlot(contents, slot);
    WriteRest(contents);
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "lease file ", path_, ": ", kSlotCount, " processes use it already"));
}

absl::Status LeaseFile::Lock() {
  const int64_t deadline_ns = NowNs() + kLockLimitNs;
  for (int attempt = 0; !SetByteLock(file_.get(), kMutexByte, true);
       ++attempt) {
    if (NowNs() > deadline_ns) {
      return absl::UnavailableError(
          absl::StrCat("lease file ", path_,
                       ": another process has had the "
                       "file's lock for ",
                       kLockLimitNs / 1'000'000, " ms"));
    }
    // The others hold it for some microseconds.
    if (attempt < 20) {
      sched_yield();
    } else {
      const timespec pause = {0, 50'000};
      nanosleep(&pause, nullptr);
    }
  }
  return absl::OkStatus();
}

void LeaseFile::Unlock() { SetByteLock(file_.get(), kMutexByte, false); }

LeaseFile::Contents LeaseFile::Read() const {
  Contents contents;
  const ssize_t got = pread(file_.get(), &contents, sizeof(contents), 0);
  if (got != static_cast<ssize_t>(sizeof(contents)) ||
      contents.magic != kMagic) {
    return NewContents();
  }
  contents.holder = std::min(contents.holder, kNone);
  for (Slot& slot : contents.slots) {
    slot.priority = std::min<uint32_t>(slot.priority, 255);
  }
  return contents;
}

void LeaseFile::WriteSlot(const Contents& contents, uint32_t slot) {
  TAKT_CHECK(slot < kSlotCount);
  const off_t offset =
      static_cast<off_t>(offsetof(Contents, slots) + slot * sizeof(Slot));
  // A write that fails, such as on a full disk, loses a request or a grant; the
  // waits have time limits.
  (void)!pwrite(file_.get(), &contents.slots[slot], sizeof(Slot), offset);
}

void LeaseFile::WriteRest(const Contents& contents) {
  (void)!pwrite(file_.get(), &contents, offsetof(Contents, slots), 0);
  // A file that was just made gets all its slots.
  struct stat status;
  if (fstat(file_.get(), &status) == 0 &&
      status.st_size < static_cast<off_t>(sizeof(Contents))) {
    (void)!pwrite(file_.get(), &contents, sizeof(Contents), 0);
  }
}

bool LeaseFile::IsAlive(uint32_t slot) const {
  if (slot >= kSlotCount) return false;
  return slot == slot_ || AreBytesLocked(file_.get(), kAliveBytes + slot, 1);
}

void LeaseFile::WaitForChange(int64_t deadline_ns) {
  const int64_t left_ns = std::max<int64_t>(deadline_ns - NowNs(), 0);
  const timespec timeout = {left_ns / 1'000'000'000, left_ns % 1'000'000'000};
  pollfd poll_fd = {changes_.get(), POLLIN, 0};
  if (ppoll(&poll_fd, 1, &timeout, nullptr) <= 0) return;
  // What has changed is found by reading the file.
  alignas(inotify_event) char events[4096];
  (void)!read(changes_.get(), events, sizeof(events));
}

}  // namespace takt::npu
