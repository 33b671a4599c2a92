#include "exec/core_file.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/shared_file.h"
#include "base/status.h"

namespace takt::exec {
namespace {

constexpr uint64_t kMagic = 0x313045524f434b54;  // "TKCORE01"
constexpr off_t kSlotsOffset = 64;
// The bytes that are locked lie behind the contents.
constexpr off_t kAliveBytes = 1 << 20;

static_assert(std::is_trivially_copyable_v<CoreFile::Slot>);
static_assert(sizeof(CoreFile::Slot) == 192);

}  // namespace

absl::StatusOr<CoreFile> CoreFile::Join(const std::string& path) {
  TAKT_ASSIGN_OR_RETURN(UniqueFd file, OpenSharedFile("cores", path, kMagic));
  for (uint32_t slot = 0; slot < kSlotCount; ++slot) {
    if (!SetByteLock(file.get(), kAliveBytes + slot, true)) continue;
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
  // What cannot be asked counts as alive: its claims end by themselves.
  return slot == slot_ || AreBytesLocked(file_.get(), kAliveBytes + slot, 1);
}

bool CoreFile::HasPeers() const {
  // The own lock is of this open file, so it does not count.
  return AreBytesLocked(file_.get(), kAliveBytes, kSlotCount);
}

}  // namespace takt::exec
