// A ShareAccount says when a stream has had less than its share of some cores.
//
// It counts what the stream used in the last 88 to 90 ms. As long as that is
// less than its share of 100 ms, the stream is behind, and its jobs go before
// all that are not hard. The 10 ms between are the time in which it may wait.
//
// Invariant: let c be the cores that its share amounts to and a quarter more,
// to catch up, rounded up; but no more than there are. In any 100 ms in which
// the stream always has work for c cores it gets its share, less c times what
// `d` exceeds 10 ms by. Here d is how long it was behind and did not run on c
// cores: because of tiles that had to end, of hard jobs and of other shares.
// docs/scheduling.md has the proof.
//
// Thread-safety: none.
// Source: a constant bandwidth server (Abeni and Buttazzo, "Integrating
// Multimedia Applications in Hard Real-Time Systems", RTSS 1998) with a sliding
// window in place of its budget, so that the bound holds for any 100 ms.
#ifndef TAKT_SCHED_SHARE_ACCOUNT_H_
#define TAKT_SCHED_SHARE_ACCOUNT_H_

#include <cstdint>
#include <string>

#include "base/clock.h"

namespace takt::sched {

class ShareAccount {
 public:
  static constexpr int64_t kWindowNs = 100'000'000;
  static constexpr int64_t kLeewayNs = 10'000'000;
  static constexpr int64_t kSliceNs = 2'000'000;

  // No share.
  ShareAccount() = default;
  // `permille` is from 1 to 1000, of `core_count` cores.
  ShareAccount(uint32_t permille, uint32_t core_count) {
    Resize(permille, core_count);
  }
  // The share of another number of cores. What was used stays.
  void Resize(uint32_t permille, uint32_t core_count);

  bool is_set() const { return needed_ns_ != 0; }
  // The cores that it may take while it is behind.
  uint32_t core_count() const { return core_count_; }
  bool is_behind() const { return is_behind_; }
  // Among streams that are behind, the earliest goes first: when it fell
  // behind, or, since it has just begun to ask, when it must run at the latest.
  int64_t due_ns() const { return due_ns_; }

  // Times never go back.
  // The stream has jobs from now on, or none.
  void SetAsking(bool is_asking, int64_t now_ns);
  // It runs on that many cores from now on.
  void SetUsed(uint32_t count, int64_t now_ns);
  // Returns whether is_behind() has changed.
  bool Update(int64_t now_ns);
  // When is_behind() may change next if nothing else does; kInfiniteFuture:
  // never.
  int64_t next_change_ns() const;

 private:
  // Together 90 ms. The newest is not over, so at least 88 ms are counted.
  static constexpr int64_t kSliceCount = (kWindowNs - kLeewayNs) / kSliceNs;

  void Count(int64_t now_ns);

  int64_t needed_ns_ = 0;  // In the window, of all cores together.
  uint32_t core_count_ = 0;
  uint32_t used_count_ = 0;  // At most core_count_.
  bool is_behind_ = false;
  int64_t due_ns_ = 0;
  int64_t asking_since_ns_ = 0;
  int64_t asked_until_ns_ = 0;
  int64_t counted_ns_ = 0;  // Up to this time.
  int64_t sum_ns_ = 0;      // Of the slices.
  // What was used in each; by the number of the slice, in a ring.
  uint32_t slices_ns_[kSliceCount] = {};
};

// What is wrong with a stream's share, of a hard stream or another one; empty:
// nothing. 0 is none.
std::string CheckShare(uint32_t permille, uint32_t weight, bool is_hard);

}  // namespace takt::sched

#endif  // TAKT_SCHED_SHARE_ACCOUNT_H_
