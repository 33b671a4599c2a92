#include "exec/core_share.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace takt::exec {
namespace {

struct Entry {
  uint32_t process;
  uint32_t own_lane;  // As the process counts it.
  uint32_t lane;      // As its standing makes it.
  int64_t deadline_ns;
  uint32_t wanted;
  uint32_t granted = 0;
};

uint32_t StandingLane(uint32_t lane, CoreStanding standing) {
  switch (standing) {
    case CoreStanding::kBehind:
      return std::max(lane, kBestEffortLane + 1);
    case CoreStanding::kOver:
      return std::min(lane, kBestEffortLane);
    case CoreStanding::kNoShare:
      break;
  }
  return lane;
}

bool ComesBefore(const Entry& a, const Entry& b) {
  if (a.lane != b.lane) return a.lane > b.lane;
  return a.deadline_ns < b.deadline_ns;
}

// The same, with an order among equals that all processes agree on.
bool IsSortedBefore(const Entry& a, const Entry& b) {
  if (ComesBefore(a, b) || ComesBefore(b, a)) return ComesBefore(a, b);
  if (a.process != b.process) return a.process < b.process;
  return a.own_lane > b.own_lane;
}

// Divides `left` cores among equals, one after the other and around.
void Divide(absl::Span<Entry> equals, uint64_t turn, uint32_t* left) {
  bool is_asking = true;
  while (*left > 0 && is_asking) {
    is_asking = false;
    for (size_t i = 0; i < equals.size() && *left > 0; ++i) {
      Entry& entry = equals[(i + turn) % equals.size()];
      if (entry.granted == entry.wanted) continue;
      ++entry.granted;
      --*left;
      is_asking = true;
    }
  }
}

}  // namespace

CoreGrant ShareCores(absl::Span<const CoreClaims> claims, size_t own,
                     uint32_t core_count, int64_t now_ns) {
  TAKT_CHECK(own < claims.size() && claims.size() <= kCoreProcessMax);
  std::array<Entry, kCoreProcessMax * kLaneCount> storage;
  size_t entry_count = 0;
  for (uint32_t process = 0; process < claims.size(); ++process) {
    const CoreClaims& claim = claims[process];
    uint32_t outside = claim.outside_count;
    for (uint32_t lane = kLaneCount; lane-- > 0;) {
      // No process takes more than there are; that also bounds the time of
      // this.
      uint32_t wanted = claim.counts[lane];
      const uint32_t there = std::min(wanted, outside);
      outside -= there;
      wanted = std::min(wanted - there, core_count);
      if (wanted == 0) continue;
      storage[entry_count++] = {process, lane,
                                StandingLane(lane, claim.standing),
                                claim.deadlines_ns[lane], wanted};
    }
  }
  const absl::Span<Entry> entries(storage.data(), entry_count);
  std::sort(entries.begin(), entries.end(), IsSortedBefore);
  uint32_t left = core_count;
  const auto turn = static_cast<uint64_t>(now_ns / kCoreTurnNs);
  for (size_t begin = 0; begin < entries.size();) {
    size_t end = begin + 1;
    while (end < entries.size() && !ComesBefore(entries[begin], entries[end])) {
      ++end;
    }
    Divide(entries.subspan(begin, end - begin), turn, &left);
    begin = end;
  }
  CoreGrant grant;
  uint32_t granted = 0;
  bool is_limited = false;
  for (const Entry& entry : entries) {
    if (entry.process != own) continue;
    granted += entry.granted;
    if (entry.granted == entry.wanted) continue;
    grant.lane =
        is_limited ? std::max(grant.lane, entry.own_lane) : entry.own_lane;
    is_limited = true;
  }
  if (is_limited) grant.limit = granted;
  return grant;
}

CoreStanding CoreQuota::Update(uint32_t used_count, int64_t now_ns) {
  if (rate_ == 0) return CoreStanding::kNoShare;
  const auto rate = static_cast<int64_t>(rate_);
  const int64_t size = rate * kWindowNs;
  if (counted_ns_ >= 0) {
    // Two windows fill or empty the bucket, whatever came before.
    const int64_t passed_ns =
        std::clamp<int64_t>(now_ns - counted_ns_, 0, 2 * kWindowNs);
    bucket_ += passed_ns * (rate - int64_t{1000} * used_count);
    bucket_ = std::clamp(bucket_, -size, size);
  }
  counted_ns_ = now_ns;
  // A tenth of the bucket keeps it from changing sides all the time.
  if (bucket_ <= 0) is_over_ = true;
  if (bucket_ >= size / 10) is_over_ = false;
  return is_over_ ? CoreStanding::kOver : CoreStanding::kBehind;
}

}  // namespace takt::exec
