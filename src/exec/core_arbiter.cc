#include "exec/core_arbiter.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status.h"

namespace takt::exec {

absl::StatusOr<std::unique_ptr<CoreArbiter>> CoreArbiter::Join(
    const std::string& path, const CpuSet& cpus, uint32_t share_permille) {
  TAKT_CHECK(!cpus.empty() && share_permille <= 1000);
  TAKT_ASSIGN_OR_RETURN(CoreFile file, CoreFile::Join(path));
  return std::unique_ptr<CoreArbiter>(
      new CoreArbiter(std::move(file), cpus, share_permille));
}

CoreArbiter::CoreArbiter(CoreFile file, const CpuSet& cpus,
                         uint32_t share_permille)
    : cpus_(cpus),
      core_count_(cpus.count()),
      file_(std::move(file)),
      quota_(share_permille, core_count_) {
  MutexLock lock(&mutex_);
  own_.pid = static_cast<uint32_t>(getpid());
  for (size_t i = 0; i < own_.cpus.size() && i < cpus.words().size(); ++i) {
    own_.cpus[i] = cpus.words()[i];
  }
  own_.deadlines_ns.fill(kInfiniteFuture);
  for (auto& deadline_ns : deadlines_ns_) deadline_ns = kInfiniteFuture;
  file_.Write(own_);
}

void CoreArbiter::Add(uint32_t lane, uint32_t count, int64_t deadline_ns) {
  TAKT_DCHECK(lane < kLaneCount && count > 0);
  std::atomic<int64_t>& earliest = deadlines_ns_[lane];
  const uint32_t before =
      counts_[lane].fetch_add(count, std::memory_order_seq_cst);
  // The jobs of a lane that has never been empty since may be over long ago, so
  // a deadline in the past is forgotten.
  if (before == 0 || deadline_ns < earliest.load(std::memory_order_relaxed) ||
      (earliest.load(std::memory_order_relaxed) != kInfiniteFuture &&
       earliest.load(std::memory_order_relaxed) < NowNs())) {
    earliest.store(deadline_ns, std::memory_order_relaxed);
  }
  if (peer_count_.load(std::memory_order_relaxed) == 0) {
    Poll(/*running=*/0);  // There may be some by now.
    return;
  }
  if (before + count > told_counts_[lane].load(std::memory_order_relaxed)) {
    Look(/*running=*/0);
  }
}

void CoreArbiter::Remove(uint32_t lane, uint32_t count) {
  const uint32_t before =
      counts_[lane].fetch_sub(count, std::memory_order_seq_cst);
  TAKT_CHECK(before >= count);
}

bool CoreArbiter::HasOldClaims() const {
  for (uint32_t lane = 0; lane < kLaneCount; ++lane) {
    if (told_counts_[lane].load(std::memory_order_relaxed) >
        counts_[lane].load(std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void CoreArbiter::Look(uint32_t running, bool is_idle) {
  looks_again_.store(true, std::memory_order_seq_cst);
  while (looks_again_.load(std::memory_order_seq_cst) &&
         TryLook(running, is_idle)) {
  }
}

bool CoreArbiter::TryLook(uint32_t running, bool is_idle) {
  if (is_looking_.exchange(true, std::memory_order_seq_cst)) return false;
  looks_again_.store(false, std::memory_order_seq_cst);
  {
    MutexLock lock(&mutex_);
    const int64_t now_ns = NowNs();
    if (running > 0 || is_idle) running_ = running;
    Publish(is_idle, now_ns);
    CountPeers(now_ns);
    Decide(now_ns);
    next_look_ns_.store(
        now_ns + (peer_count_.load(std::memory_order_relaxed) > 0
                      ? kLookNs
                      : kLonelyLookNs),
        std::memory_order_relaxed);
  }
  is_looking_.store(false, std::memory_order_seq_cst);
  return true;
}

void CoreArbiter::Publish(bool is_idle, int64_t now_ns) {
  Slot slot = own_;
  bool is_asking = false;
  for (uint32_t lane = 0; lane < kLaneCount; ++lane) {
    const uint32_t needed = std::min(
        counts_[lane].load(std::memory_order_seq_cst), CoreFile::kCountMax);
    if (needed >= own_.counts[lane]) {
      needed_ns_[lane] = now_ns;
    } else if (!is_idle && now_ns - needed_ns_[lane] < kHoldNs) {
      is_asking = true;
      continue;
    }
    slot.counts[lane] = needed;
    told_counts_[lane].store(needed, std::memory_order_relaxed);
    slot.deadlines_ns[lane] =
        needed > 0 ? deadlines_ns_[lane].load(std::memory_order_relaxed)
                   : kInfiniteFuture;
    is_asking = is_asking || needed > 0;
  }
  // A caller that runs small work by itself does not say so.
  running_ = is_asking ? std::max(running_, 1u) : 0;
  slot.standing = static_cast<uint32_t>(quota_.Update(running_, now_ns));
  const bool is_same = slot.counts == own_.counts &&
                       slot.deadlines_ns == own_.deadlines_ns &&
                       slot.standing == own_.standing;
  if (is_same && (!is_asking || now_ns - own_.renewed_ns < kRenewNs)) return;
  slot.renewed_ns = is_asking ? now_ns : 0;
  own_ = slot;
  file_.Write(own_);
}

void CoreArbiter::CountPeers(int64_t now_ns) {
  if (!file_.HasPeers()) {
    peer_count_.store(0, std::memory_order_relaxed);
    return;
  }
  if (peer_count_.load(std::memory_order_relaxed) > 0 &&
      now_ns - peers_counted_ns_ < kCountPeersNs) {
    return;
  }
  peers_counted_ns_ = now_ns;
  uint32_t count = 0;
  for (uint32_t i = 0; i < CoreFile::kSlotCount; ++i) {
    if (i != file_.slot() && file_.IsAlive(i)) ++count;
  }
  peer_count_.store(count, std::memory_order_relaxed);
}

bool CoreArbiter::Counts(uint32_t index, const Slot& slot, int64_t now_ns) {
  if (index == file_.slot() || slot.renewed_ns == 0) return false;
  if (slot.renewed_ns == ended_ns_[index]) return false;
  const bool is_old = slot.renewed_ns < now_ns - kClaimLifeNs ||
                      slot.renewed_ns > now_ns + kClaimLifeNs;
  if (!is_old && file_.IsAlive(index)) return true;
  ended_ns_[index] = slot.renewed_ns;
  taken_back_count_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

CoreClaims CoreArbiter::ClaimsOf(const Slot& slot) const {
  CoreClaims claims;
  claims.counts = slot.counts;
  claims.deadlines_ns = slot.deadlines_ns;
  claims.standing = static_cast<CoreStanding>(slot.standing);
  uint32_t outside = 0;
  for (size_t i = 0; i < slot.cpus.size(); ++i) {
    const uint64_t own = i < cpus_.words().size() ? cpus_.words()[i] : 0;
    outside += static_cast<uint32_t>(__builtin_popcountll(slot.cpus[i] & ~own));
  }
  claims.outside_count = outside;
  return claims;
}

void CoreArbiter::Decide(int64_t now_ns) {
  CoreGrant grant;
  // Once more after the last peer has gone, to count what it had.
  const bool has_peers = peer_count_.load(std::memory_order_relaxed) > 0;
  if (std::exchange(had_peers_, has_peers) || has_peers) {
    file_.Read(&slots_);
    std::array<CoreClaims, CoreFile::kSlotCount> claims;
    size_t count = 0;
    size_t own = 0;
    for (uint32_t i = 0; i < CoreFile::kSlotCount; ++i) {
      if (i == file_.slot()) {
        own = count;
        claims[count++] = ClaimsOf(own_);
      } else if (Counts(i, slots_[i], now_ns)) {
        claims[count++] = ClaimsOf(slots_[i]);
      }
    }
    grant = ShareCores(absl::MakeConstSpan(claims).first(count), own,
                       core_count_, now_ns);
  }
  if (grant.limit != 0) {
    denied_since_ns_ = 0;
  } else if (denied_since_ns_ == 0) {
    denied_since_ns_ = now_ns;
  } else if (now_ns - denied_since_ns_ > kPatienceNs) {
    grant.limit = 1;
    if (now_ns - denied_since_ns_ > kPatienceNs + kPatienceTurnNs) {
      denied_since_ns_ = now_ns;
    }
  }
  lane_.store(grant.lane, std::memory_order_relaxed);
  limit_.store(grant.limit, std::memory_order_relaxed);
}

CoreArbiter::Statistics CoreArbiter::statistics() const {
  Statistics result;
  result.peer_count = peer_count_.load(std::memory_order_relaxed);
  result.yield_count = yield_count_.load(std::memory_order_relaxed);
  result.yield_ns = yield_ns_.load(std::memory_order_relaxed);
  result.taken_back_count = taken_back_count_.load(std::memory_order_relaxed);
  return result;
}

}  // namespace takt::exec
