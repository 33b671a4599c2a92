// A MemoryAccount counts the memory that one invocation has and bounds it. What
// allocates for the invocation takes a MemoryCharge first and keeps it as long
// as the memory. Memory that outlives the invocation, such as a result or a
// global, stays charged to its account, which lives as long.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_BASE_MEMORY_ACCOUNT_H_
#define TAKT_BASE_MEMORY_ACCOUNT_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/object.h"

namespace takt {

class MemoryAccount final : public Object {
 public:
  static constexpr ObjectType kType{"memory_account"};
  // No account is kept with this limit.
  static constexpr uint64_t kUnlimited = ~uint64_t{0};
  // Half of the machine's memory.
  static uint64_t DefaultLimit();

  static Ref<MemoryAccount> Create(BlockPool& pool, uint64_t limit) {
    return Ref<MemoryAccount>::Adopt(new (pool) MemoryAccount(limit));
  }

  // RESOURCE_EXHAUSTED saying how much was asked for and how much is left.
  absl::Status Take(uint64_t bytes);
  void GiveBack(uint64_t bytes) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  explicit MemoryAccount(uint64_t limit) : Object(&kType), limit_(limit) {}

  const uint64_t limit_;
  // Relaxed: it orders nothing.
  std::atomic<uint64_t> used_{0};
};

// Bytes of an account, given back when it dies. Empty: of none.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  MemoryCharge(MemoryCharge&& other) noexcept
      : account_(std::move(other.account_)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryCharge() {
    if (account_ != nullptr) account_->GiveBack(bytes_);
  }

  // `account` nullptr: empty.
  static absl::StatusOr<MemoryCharge> Take(MemoryAccount* account,
                                           uint64_t bytes);
  // Takes what is missing to `bytes`; on error nothing.
  absl::Status GrowTo(uint64_t bytes);

 private:
  Ref<MemoryAccount> account_;
  uint64_t bytes_ = 0;
};

}  // namespace takt

#endif  // TAKT_BASE_MEMORY_ACCOUNT_H_
