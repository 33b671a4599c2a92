#include "base/memory_account.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "base/default_memory_limit.h"
#include "base/status.h"
#include "base/text_file.h"

namespace takt {

uint64_t MemoryAccount::DefaultLimit() {
  static const uint64_t limit = [] {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page_bytes <= 0) return kUnlimited;
    return DefaultMemoryLimit(
        static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes),
        ReadFirstLine(
            "/sys/fs/cgroup/memory.max"));  // Of a container, its own.
  }();
  return limit;
}

absl::Status MemoryAccount::Take(uint64_t bytes) {
  uint64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ - used) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the memory limit is reached: asked for ", bytes,
                       " bytes, ", limit_ - used, " of ", limit_, " are left"));
    }
  } while (!used_.compare_exchange_weak(used, used + bytes,
                                        std::memory_order_relaxed));
  return absl::OkStatus();
}

absl::StatusOr<MemoryCharge> MemoryCharge::Take(MemoryAccount* account,
                                                uint64_t bytes) {
  MemoryCharge charge;
  if (account == nullptr) return charge;
  TAKT_RETURN_IF_ERROR(account->Take(bytes));
  charge.account_ = Ref<MemoryAccount>::Retain(account);
  charge.bytes_ = bytes;
  return charge;
}

absl::Status MemoryCharge::GrowTo(uint64_t bytes) {
  if (account_ == nullptr || bytes <= bytes_) return absl::OkStatus();
  TAKT_RETURN_IF_ERROR(account_->Take(bytes - bytes_));
  bytes_ = bytes;
  return absl::OkStatus();
}

}  // namespace takt
