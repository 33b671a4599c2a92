#include "exec/mailbox.h"

#include "base/check.h"

namespace takt::exec {

int64_t Mailbox::DueNs(const Job& job) {
  return job.is_listed_raised_ ? 0 : job.deadline_ns;
}

bool Mailbox::Has(const Job* job) const {
  return job->mailbox_.load(std::memory_order_relaxed) == this;
}

uint32_t Mailbox::Post(Job* job) {
  MutexLock lock(&mutex_);
  TAKT_CHECK(job->mailbox_.load(std::memory_order_relaxed) == nullptr);
  Insert(job);
  // Sequentially consistent, and after the job is listed: see work_deque.h.
  job->is_posted_.store(true, std::memory_order_seq_cst);
  // Relist() stores the lane before it looks for the mailbox.
  if (job->lane_now() != job->listed_lane_ ||
      job->is_raised() != job->is_listed_raised_) {
    Unlink(job);
    Insert(job);
  }
  return job->listed_lane_;
}

void Mailbox::Insert(Job* job) {
  const uint32_t lane = job->lane_now();
  TAKT_DCHECK(lane < kLaneCount);
  job->listed_lane_ = static_cast<uint8_t>(lane);
  job->is_listed_raised_ = job->is_raised();
  List& list = lists_[lane];
  // The search begins at the end: mostly jobs have no deadline, or arrive in
  // the order of their deadlines.
  const int64_t due_ns = DueNs(*job);
  Job* before = list.last;
  while (before != nullptr && DueNs(*before) > due_ns) {
    before = before->previous_;
  }
  job->previous_ = before;
  job->next_ = before != nullptr ? before->next_ : list.first;
  (before != nullptr ? before->next_ : list.first) = job;
  (job->next_ != nullptr ? job->next_->previous_ : list.last) = job;
  if (due_ns != kInfiniteFuture) NoteEarliest(lane);
  job->mailbox_.store(this, std::memory_order_seq_cst);
  lanes_.Write(lanes_.Read(std::memory_order_relaxed).With(lane));
  size_.store(size_.load(std::memory_order_relaxed) + 1,
              std::memory_order_relaxed);
}

bool Mailbox::Relist(Job* job, JobTraits* traits) {
  Mailbox* const mailbox = job->mailbox_.load(std::memory_order_seq_cst);
  if (mailbox == nullptr) return false;
  MutexLock lock(&mailbox->mutex_);
  if (!mailbox->Has(job)) return false;
  // It stays in mailbox_, where Unlist() finds it.
  mailbox->Unlink(job);
  mailbox->Insert(job);
  *traits = *job;
  traits->lane = job->listed_lane_;
  return true;
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
  Mailbox* const mailbox = job->mailbox_.load(std::memory_order_seq_cst);
  if (mailbox == nullptr) return false;
  MutexLock lock(&mailbox->mutex_);
  if (!mailbox->Has(job)) return false;
  mailbox->Remove(job);
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
  Unlink(job);
  job->mailbox_.store(nullptr, std::memory_order_seq_cst);
}

void Mailbox::Unlink(Job* job) {
  TAKT_DCHECK(Has(job));
  const uint32_t lane = job->listed_lane_;
  List& list = lists_[lane];
  (job->previous_ != nullptr ? job->previous_->next_ : list.first) = job->next_;
  (job->next_ != nullptr ? job->next_->previous_ : list.last) = job->previous_;
  if (DueNs(*job) != kInfiniteFuture) NoteEarliest(lane);
  if (list.first == nullptr) {
    lanes_.Write(lanes_.Read(std::memory_order_relaxed).Without(lane));
  }
  size_.store(size_.load(std::memory_order_relaxed) - 1,
              std::memory_order_relaxed);
}

void Mailbox::NoteEarliest(uint32_t lane) {
  const Job* const first = lists_[lane].first;
  earliest_ns_[lane].store(first != nullptr ? DueNs(*first) : kInfiniteFuture,
                           std::memory_order_relaxed);
}

}  // namespace takt::exec
