#include "exec/mailbox.h"

#include "base/check.h"

namespace takt::exec {

void Mailbox::Post(Job* job) {
  TAKT_DCHECK(job->lane < kLaneCount);
  MutexLock lock(&mutex_);
  TAKT_CHECK(!job->is_listed_);
  List& list = lists_[job->lane];
  // From the end: mostly no job has a deadline, or they come in order.
  Job* before = list.last;
  while (before != nullptr && before->deadline_ns > job->deadline_ns) {
    before = before->previous_;
  }
  job->previous_ = before;
  job->next_ = before != nullptr ? before->next_ : list.first;
  (before != nullptr ? before->next_ : list.first) = job;
  (job->next_ != nullptr ? job->next_->previous_ : list.last) = job;
  if (job->has_deadline()) NoteEarliest(job->lane);
  job->mailbox_ = this;
  job->is_listed_ = true;
  // Sequentially consistent, and after the job is listed: see work_deque.h.
  job->is_posted_.store(true, std::memory_order_seq_cst);
  lanes_.Write(lanes_.Read(std::memory_order_relaxed).With(job->lane));
  size_.store(size_.load(std::memory_order_relaxed) + 1,
              std::memory_order_relaxed);
}

FoundJob Mailbox::Enter(uint32_t lane, uint32_t worker) {
  MutexLock lock(&mutex_);
  for (Job* job = lists_[lane].first; job != nullptr; job = job->next_) {
    if (!MayRun(*job, worker)) continue;
    const bool stays = !job->is_single() && job->HasUnclaimed();
    if (stays) {
      // Relaxed: the mailbox's own ticket keeps the job.
      job->tickets_.fetch_add(1, std::memory_order_relaxed);
    } else {
      Remove(job);
    }
    return {job, stays};
  }
  return {};
}

bool Mailbox::Unlist(Job* job) {
  MutexLock lock(&mutex_);
  if (!job->is_listed_) return false;
  Remove(job);
  return true;
}

bool Mailbox::HasFor(LaneMask lanes, uint32_t worker) {
  if (!this->lanes().Intersects(lanes)) return false;
  MutexLock lock(&mutex_);
  for (uint32_t lane = 0; lane < kLaneCount; ++lane) {
    if (!lanes.Contains(lane)) continue;
    for (Job* job = lists_[lane].first; job != nullptr; job = job->next_) {
      if (MayRun(*job, worker)) return true;
    }
  }
  return false;
}

void Mailbox::Remove(Job* job) {
  TAKT_DCHECK(job->is_listed_ && job->mailbox_ == this);
  List& list = lists_[job->lane];
  (job->previous_ != nullptr ? job->previous_->next_ : list.first) = job->next_;
  (job->next_ != nullptr ? job->next_->previous_ : list.last) = job->previous_;
  job->is_listed_ = false;
  if (job->has_deadline()) NoteEarliest(job->lane);
  if (list.first == nullptr) {
    lanes_.Write(lanes_.Read(std::memory_order_relaxed).Without(job->lane));
  }
  size_.store(size_.load(std::memory_order_relaxed) - 1,
              std::memory_order_relaxed);
}

void Mailbox::NoteEarliest(uint32_t lane) {
  const Job* const first = lists_[lane].first;
  earliest_ns_[lane].store(
      first != nullptr ? first->deadline_ns : kInfiniteFuture,
      std::memory_order_relaxed);
}

}  // namespace takt::exec
