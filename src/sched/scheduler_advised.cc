// Prescriptions of an advisor.
#include <algorithm>

#include "sched/scheduler.h"

namespace takt::sched {

AdvisedOperation Scheduler::AdvisedOf(const OperationRecord& operation) const {
  AdvisedOperation advised;
  advised.job = operation.job->id();
  advised.stream = operation.job->stream->id;
  advised.tag = operation.job->tag;
  advised.release_ns = operation.job->release_ns;
  advised.kernel = operation.kernel;
  advised.program_index = operation.program_index;
  advised.unseen_count = operation.unseen_count;
  return advised;
}

Prescription Scheduler::Ask(const OperationRecord& operation, int64_t now_ns) {
  if (options_.advisor == nullptr) return {};
  return options_.advisor->Prescribe(AdvisedOf(operation), now_ns);
}

void Scheduler::ReportStopped(const OperationRecord& operation, bool is_done,
                              int64_t now_ns) {
  if (options_.advisor == nullptr) return;
  has_stopped_ = true;
  options_.advisor->OnStopped(AdvisedOf(operation), is_done, now_ns);
}

void Scheduler::Ran(OperationId id, int64_t begin_ns, int64_t end_ns) {
  if (options_.advisor == nullptr) return;
  options_.advisor->OnRan(AdvisedOf(*FindOperation(id)), begin_ns, end_ns);
}

// Whether one of the operation's alternatives is within `there`.
bool Scheduler::HasPlace(const OperationRecord& operation,
                         const ResourceSet& there) const {
  for (const auto& a : costs_.kernel(operation.kernel).alternatives) {
    if ((pools_[a.pool].resources & there).count() >= a.shards) return true;
  }
  return false;
}

// Sets the resources that the operation's stream and its advisor allow.
void Scheduler::TakePlaces(OperationRecord* operation,
                           const Prescription& prescription) {
  operation->allowed = operation->job->stream->allowed;
  operation->feeders = {};
  if (prescription.resources.empty()) return;
  const ResourceSet there = operation->allowed & prescription.resources;
  if (!HasPlace(*operation, there)) return;
  operation->allowed = there;
  operation->feeders = prescription.feeders;
}

void Scheduler::Delay(OperationRecord* operation, int64_t not_before_ns) {
  operation->state = OperationRecord::State::kDelayed;
  operation->not_before_ns = not_before_ns;
  delayed_.push_back({not_before_ns, operation->id()});
  std::push_heap(delayed_.begin(), delayed_.end());
}

bool Scheduler::IsDelayed(const Delayed& entry) const {
  if (!IsLive(entry.operation)) return false;
  const OperationRecord& operation = operations_[entry.operation.index];
  return operation.state == OperationRecord::State::kDelayed &&
         operation.not_before_ns == entry.not_before_ns;
}

// Enqueues delayed operations whose time has come.
void Scheduler::EndDelays(int64_t now_ns) {
  while (!delayed_.empty() && delayed_.front().not_before_ns <= now_ns) {
    const Delayed entry = delayed_.front();
    std::pop_heap(delayed_.begin(), delayed_.end());
    delayed_.pop_back();
    if (IsDelayed(entry)) {
      Enqueue(&operations_[entry.operation.index], now_ns);
    }
  }
}

// Asks the advisor again about operations that wait until another one stops.
void Scheduler::ReviewDelayed(int64_t now_ns) {
  if (!has_stopped_) return;
  has_stopped_ = false;
  reviewed_.clear();
  const auto is_reviewed = [&](const Delayed& entry) {
    if (entry.not_before_ns != kInfiniteFuture) return false;
    if (IsDelayed(entry)) reviewed_.push_back(entry.operation);
    return true;
  };
  delayed_.erase(std::remove_if(delayed_.begin(), delayed_.end(), is_reviewed),
                 delayed_.end());
  std::make_heap(delayed_.begin(), delayed_.end());
  for (const OperationId id : reviewed_) {
    Enqueue(&operations_[id.index], now_ns);
  }
}

void Scheduler::ReviewAdvised(int64_t now_ns) {
  Advance(now_ns);
  delayed_.clear();
  reviewed_.clear();
  for (const auto& stream : streams_) {
    for (JobRecord* job = stream->oldest; job != nullptr;
         job = job->stream_next) {
      if (job->is_ending) continue;
      for (OperationRecord* operation = job->operations; operation != nullptr;
           operation = operation->job_next) {
        if (operation->state == OperationRecord::State::kRunning) continue;
        reviewed_.push_back(operation->id());
      }
    }
  }
  for (const OperationId id : reviewed_) {
    OperationRecord& operation = operations_[id.index];
    StopWaiting(&operation);
    Enqueue(&operation, now_ns);
  }
}

}  // namespace takt::sched
