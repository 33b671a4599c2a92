#include "sched/share_account.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "sched/stream.h"

namespace takt::sched {

void ShareAccount::Resize(uint32_t permille, uint32_t core_count) {
  TAKT_DCHECK(permille > 0 && permille <= 1000);
  const int64_t share = int64_t{permille} * core_count;
  needed_ns_ = std::max(share * (kWindowNs / 1000), int64_t{1});
  core_count_ =
      std::min(static_cast<uint32_t>((share * 5 / 4 + 999) / 1000), core_count);
  core_count_ = std::max(core_count_, 1u);
  used_count_ = std::min(used_count_, core_count_);
}

void ShareAccount::SetAsking(bool is_asking, int64_t now_ns) {
  if (!is_asking) {
    asked_until_ns_ = now_ns;
  } else if (now_ns - asked_until_ns_ > kLeewayNs) {
    asking_since_ns_ = now_ns;
  }
}

void ShareAccount::SetUsed(uint32_t count, int64_t now_ns) {
  Count(now_ns);
  used_count_ = std::min(count, core_count_);
}

// Counts what was used up to now, and drops what is too long ago.
void ShareAccount::Count(int64_t now_ns) {
  TAKT_DCHECK(now_ns >= counted_ns_);
  const int64_t first = counted_ns_ / kSliceNs;
  const int64_t last = now_ns / kSliceNs;
  // Slices before these would be dropped again.
  for (int64_t slice = std::max(first, last - kSliceCount); slice <= last;
       ++slice) {
    uint32_t& used_ns = slices_ns_[slice % kSliceCount];
    if (slice != first) {
      sum_ns_ -= used_ns;
      used_ns = 0;
    }
    const int64_t begin_ns = std::max(counted_ns_, slice * kSliceNs);
    const int64_t end_ns = std::min(now_ns, (slice + 1) * kSliceNs);
    const int64_t more_ns = std::max(end_ns - begin_ns, int64_t{0});
    used_ns += static_cast<uint32_t>(more_ns * used_count_);
    sum_ns_ += more_ns * used_count_;
  }
  counted_ns_ = now_ns;
}

bool ShareAccount::Update(int64_t now_ns) {
  Count(now_ns);
  const bool was_behind = is_behind_;
  is_behind_ = sum_ns_ < needed_ns_;
  if (is_behind_ == was_behind) return false;
  due_ns_ =
      std::max(now_ns, asking_since_ns_ + kWindowNs - needed_ns_ / core_count_);
  return true;
}

int64_t ShareAccount::next_change_ns() const {
  if (is_behind_) {
    if (used_count_ == 0) return kInfiniteFuture;
    const int64_t missing_ns = needed_ns_ - sum_ns_;
    return counted_ns_ + (missing_ns + used_count_ - 1) / used_count_;
  }
  // A slice is dropped when its place in the ring is used again.
  int64_t left_ns = sum_ns_;
  const int64_t last = counted_ns_ / kSliceNs;
  for (int64_t slice = last + 1; slice <= last + kSliceCount; ++slice) {
    left_ns -= slices_ns_[slice % kSliceCount];
    if (left_ns < needed_ns_) return slice * kSliceNs;
  }
  return (last + 1) * kSliceNs;  // Not reached: it needs something.
}

std::string CheckShare(uint32_t permille, uint32_t weight, bool is_hard) {
  if (permille > 1000) {
    return absl::StrCat("a share of ", permille, " thousandths");
  }
  if (permille > 0 && is_hard) {
    return "a hard stream goes before all shares, and has none";
  }
  if (weight > kWeightMax) {
    return absl::StrCat("a weight of ", weight, "; the most is ", kWeightMax);
  }
  return "";
}

}  // namespace takt::sched
