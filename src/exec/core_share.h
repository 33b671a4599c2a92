// How processes share cores: the order of their claims, and what each may take.
// Every process computes this from the same claims (core_file.h).
//
// Thread-safety: none. The caller passes the time.
#ifndef TAKT_EXEC_CORE_SHARE_H_
#define TAKT_EXEC_CORE_SHARE_H_

#include <array>
#include <cstdint>

#include "absl/types/span.h"
#include "base/clock.h"
#include "exec/lane_mask.h"

namespace takt::exec {

// Where a process stands with its share of the cores. One that had less than
// its share goes before the best-effort work of others, whatever its own work
// is; one that had more counts as best effort. Without a share, urgency alone
// decides.
enum class CoreStanding : uint8_t { kNoShare = 0, kBehind = 1, kOver = 2 };

// The lane of best-effort work, and those below.
inline constexpr uint32_t kBestEffortLane = 1;

// What a process asks for.
struct CoreClaims {
  // By lane: the threads that its unfinished jobs are worth, and the earliest
  // deadline among them.
  std::array<uint32_t, kLaneCount> counts{};
  std::array<int64_t, kLaneCount> deadlines_ns{};
  CoreStanding standing = CoreStanding::kNoShare;
  // Its cores that are not shared here; it takes those first.
  uint32_t outside_count = 0;
};

struct CoreGrant {
  static constexpr uint32_t kNoLimit = UINT32_MAX;

  // The threads that may run; kNoLimit if the process gets all it asks for.
  uint32_t limit = kNoLimit;
  // The most urgent lane that did not get all it asked for.
  uint32_t lane = 0;

  friend bool operator==(const CoreGrant&, const CoreGrant&) = default;
};

// The grant of process `own` among those that claim some of `core_count` cores;
// at most kCoreProcessMax. All processes show the claims in one order. The more
// urgent lane goes first, then the earlier deadline. Equals divide what is
// left; what cannot be divided goes around with the time, by kCoreTurnNs.
inline constexpr uint32_t kCoreProcessMax = 32;
inline constexpr int64_t kCoreTurnNs = 4'000'000;
CoreGrant ShareCores(absl::Span<const CoreClaims> claims, size_t own,
                     uint32_t core_count, int64_t now_ns);

// Counts what a process used of its share: a bucket that fills with the share,
// up to what it is for kWindowNs, and that what runs empties. So in any
// window the process goes first for at most twice its share of it.
// Source: a token bucket; the server of Abeni and Buttazzo (RTSS 1998) without
// deadlines.
class CoreQuota {
 public:
  static constexpr int64_t kWindowNs = 100'000'000;

  // `permille` of `core_count` cores, at most 1000; 0: no share.
  CoreQuota(uint32_t permille, uint32_t core_count)
      : rate_(uint64_t{permille} * core_count),
        bucket_(static_cast<int64_t>(rate_) * kWindowNs) {}

  // `used_count` cores were used since the last call. Times never go back.
  CoreStanding Update(uint32_t used_count, int64_t now_ns);

 private:
  const uint64_t rate_;  // Of the bucket, in core-ns per 1000 ns.
  int64_t bucket_;       // In thousandths of core-ns.
  int64_t counted_ns_ = -1;
  bool is_over_ = false;
};

}  // namespace takt::exec

#endif  // TAKT_EXEC_CORE_SHARE_H_
