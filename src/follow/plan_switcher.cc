#include "follow/plan_switcher.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "sched/scheduler.h"

namespace takt::follow {

using sched::AdvisedOperation;
using sched::Prescription;

// Reports the resources that are lost already.
void PlanSwitcher::ReportLost(PlanFollower* follower, int64_t now_ns) const {
  if (scheduler_ == nullptr) return;
  const sched::ResourceSet all =
      sched::ResourceSet::Range(0, scheduler_->machine().resource_count());
  (all - scheduler_->available()).ForEach([&](uint32_t resource) {
    follower->OnAvailable(resource, false, now_ns);
  });
}

void PlanSwitcher::OnAttached(const sched::Scheduler& scheduler) {
  scheduler_ = &scheduler;
  if (current_ != nullptr) ReportLost(current_.get(), 0);
}

void PlanSwitcher::Follow(std::unique_ptr<PlanFollower> follower,
                          int64_t origin_ns) {
  TAKT_CHECK(follower != nullptr);
  next_.reset();
  current_ = std::move(follower);
  current_->Start(origin_ns);
  ReportLost(current_.get(), origin_ns);
}

void PlanSwitcher::TakeOver(std::unique_ptr<PlanFollower> follower,
                            int64_t at_ns) {
  TAKT_CHECK(next_ == nullptr && current_ != nullptr);
  TAKT_CHECK(follower != nullptr);
  follower->Start(at_ns);
  ReportLost(follower.get(), at_ns);
  // Nothing from here on needs memory.
  next_ = std::move(follower);
  switch_ns_ = at_ns;
  current_->EndAt(at_ns);
}

FollowReport PlanSwitcher::report() const {
  FollowReport sum = past_;
  if (current_ != nullptr) sum.Add(current_->report());
  if (next_ != nullptr) sum.Add(next_->report());
  return sum;
}

// The old plan ends when all of it is over.
void PlanSwitcher::EndTakeOver(int64_t now_ns) {
  if (next_ == nullptr || now_ns < switch_ns_) return;
  current_->GiveUpMissing(now_ns);
  if (!current_->is_over()) return;
  past_.Add(current_->report());
  current_ = std::move(next_);
  TAKT_CHECK(current_ != nullptr && !is_taking_over());
}

uint32_t PlanSwitcher::OrdinalOf(const AdvisedOperation& operation) {
  if (jobs_.size() <= operation.job.index) {
    jobs_.resize(operation.job.index + 1);
  }
  JobOrdinals& job = jobs_[operation.job.index];
  if (job.generation != operation.job.generation || job.ordinals.empty()) {
    job.generation = operation.job.generation;
    job.dispatch_count = 0;
    job.ordinals.clear();
  }
  // The scheduler asks about them in the order in which they are found.
  while (job.ordinals.size() <= operation.program_index) {
    const bool is_dispatch =
        is_dispatch_(scheduler_->costs().kernel(operation.kernel).key);
    job.ordinals.push_back(is_dispatch
                               ? operation.unseen_count + job.dispatch_count++
                               : kTransfer);
  }
  return job.ordinals[operation.program_index];
}

PlanFollower& PlanSwitcher::FollowerOf(sched::StreamId stream,
                                       int64_t release_ns) {
  const bool is_next = next_ != nullptr && (release_ns >= switch_ns_ ||
                                            !current_->has_stream(stream));
  return is_next ? *next_ : *current_;
}

bool PlanSwitcher::Translate(AdvisedOperation* operation) {
  if (!FollowerOf(*operation).has_stream(operation->stream)) return true;
  operation->program_index = OrdinalOf(*operation);
  return operation->program_index != kTransfer;
}

Prescription PlanSwitcher::Prescribe(const AdvisedOperation& operation,
                                     int64_t now_ns) {
  if (is_abandoned_) return {};
  EndTakeOver(now_ns);
  AdvisedOperation translated = operation;
  if (Translate(&translated)) {
    return FollowerOf(operation).Prescribe(translated, now_ns);
  }
  Prescription first;
  first.start_ns = now_ns;
  first.not_before_ns = operation.release_ns;
  return first;
}

sched::ResourceSet PlanSwitcher::MayHave(const AdvisedOperation& operation,
                                         int64_t now_ns) {
  AdvisedOperation translated = operation;
  if (is_abandoned_ || !Translate(&translated)) return {};
  return FollowerOf(operation).MayHave(translated, now_ns);
}

void PlanSwitcher::OnStarted(const AdvisedOperation& operation,
                             const sched::ResourceSet& resources,
                             int64_t now_ns) {
  AdvisedOperation translated = operation;
  if (is_abandoned_ || !Translate(&translated)) return;
  PlanFollower& follower = FollowerOf(operation);
  follower.OnStarted(translated, resources, now_ns);
  if (first_release_ns_ == 0 && follower.has_stream(operation.stream)) {
    first_release_ns_ = operation.release_ns;
  }
}

void PlanSwitcher::OnStopped(const AdvisedOperation& operation, bool is_done,
                             int64_t now_ns) {
  AdvisedOperation translated = operation;
  if (is_abandoned_ || !Translate(&translated)) return;
  PlanFollower& follower = FollowerOf(operation);
  follower.OnStopped(translated, is_done, now_ns);
  if (follower.has_stream(operation.stream)) {
    last_end_ns_ = std::max(last_end_ns_, now_ns);
  }
}

void PlanSwitcher::OnRan(const AdvisedOperation& operation, int64_t begin_ns,
                         int64_t end_ns) {
  AdvisedOperation translated = operation;
  if (is_abandoned_ || !Translate(&translated)) return;
  FollowerOf(operation).OnRan(translated, begin_ns, end_ns);
}

void PlanSwitcher::OnAvailable(uint32_t resource, bool is_available,
                               int64_t now_ns) {
  if (is_abandoned_) return;
  current_->OnAvailable(resource, is_available, now_ns);
  if (next_ != nullptr) next_->OnAvailable(resource, is_available, now_ns);
}

void PlanSwitcher::OnReleased(const sched::AdvisedJob& job, int64_t) {
  if (is_abandoned_) return;
  FollowerOf(job.stream, job.release_ns).NotifyReleased(job);
}

void PlanSwitcher::OnOver(sched::JobId job, int64_t) {
  if (is_abandoned_) return;
  current_->NotifyOver(job);
  if (next_ != nullptr) next_->NotifyOver(job);
}

int64_t PlanSwitcher::next_event_ns() const {
  int64_t next_ns = kInfiniteFuture;
  if (is_abandoned_) return next_ns;
  if (current_ != nullptr) next_ns = current_->next_event_ns();
  if (next_ != nullptr) next_ns = std::min(next_ns, next_->next_event_ns());
  return next_ns;
}

bool PlanSwitcher::OnTime(int64_t now_ns) {
  bool has_changed = false;
  if (current_ != nullptr) has_changed = current_->OnTime(now_ns);
  if (next_ != nullptr) has_changed |= next_->OnTime(now_ns);
  return has_changed;
}

}  // namespace takt::follow
