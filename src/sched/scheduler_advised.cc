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
  delayed_.Push(not_before_ns, operation->id(), live_operation_count(),
                [this](const DelayEntry& entry) { return IsDelayed(entry); });
}

bool Scheduler::IsDelayed(const DelayEntry& entry) const {
  if (!IsLive(entry.id)) return false;
  const OperationRecord& operation = operations_[entry.id.index];
  return operation.state == OperationRecord::State::kDelayed &&
         operation.not_before_ns == entry.at_ns;
}

// Enqueues delayed operations whose time has come.
void Scheduler::EndDelays(int64_t now_ns) {
  while (const auto entry = delayed_.PopUntil(now_ns)) {
    if (IsDelayed(*entry)) Enqueue(&operations_[entry->id.index], now_ns);
  }
}

// Asks the advisor again about operations that wait until another one stops.
void Scheduler::ReviewDelayed(int64_t now_ns) {
  if (!has_stopped_) return;
  has_stopped_ = false;
  reviewed_.clear();
  delayed_.RemoveIf([&](const DelayEntry& entry) {
    if (entry.at_ns != kInfiniteFuture) return false;
    if (IsDelayed(entry)) reviewed_.push_back(entry.id);
    return true;
  });
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
