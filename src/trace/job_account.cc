#include "trace/job_account.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/stable_sort.h"

namespace takt::trace {

namespace {

// Part of a track in which one piece of work ran.
struct Segment {
  int64_t begin_ns;
  int64_t end_ns;
  uint32_t owner;
};

// What work is done for: a job of a stream, or the calls of a function.
struct Owner {
  uint64_t job;   // 0: no job.
  uint32_t name;  // A name of the trace.
};

bool IsWork(const Trace& trace, const Event& event) {
  switch (event.kind) {
    case EventKind::kDispatch:
    case EventKind::kTransfer:
    case EventKind::kProgram:
      return true;
    case EventKind::kSlot:  // A real run has its dispatches.
      return trace.is_simulated();
    default:
      return false;
  }
}

// The owners of all work.
class Owners {
 public:
  explicit Owners(const Trace& trace) : trace_(trace) {
    owners_.push_back({0, 0});  // Work of no known call.
    for (const Event& event : trace.events()) {
      if (event.kind != EventKind::kInvocationBegin) continue;
      calls_.emplace(event.id, OwnerOf(event.parent, event.name));
    }
    for (const Event& event : trace.events()) {
      if (event.kind == EventKind::kJobReleased) OwnerOf(event.id, event.name);
    }
  }

  uint32_t OwnerOfWork(const Event& work) {
    if (work.kind == EventKind::kSlot) return Find(jobs_, work.id);
    return Find(calls_,
                work.kind == EventKind::kProgram ? work.id : work.parent);
  }
  const Owner& operator[](uint32_t index) const { return owners_[index]; }
  const std::string& NameOf(uint32_t index) const {
    return trace_.names()[owners_[index].name];
  }

 private:
  using Map = std::unordered_map<uint64_t, uint32_t>;

  static uint32_t Find(const Map& map, uint64_t id) {
    const auto found = map.find(id);
    return found != map.end() ? found->second : 0;
  }
  uint32_t OwnerOf(uint64_t job, uint32_t name) {
    Map& map = job != 0 ? jobs_ : functions_;
    const auto next = static_cast<uint32_t>(owners_.size());
    const auto [place, is_new] = map.emplace(job != 0 ? job : name, next);
    if (is_new) owners_.push_back({job, name});
    return place->second;
  }

  const Trace& trace_;
  std::vector<Owner> owners_;
  Map jobs_;       // By job.
  Map functions_;  // By name: calls that belong to no job.
  Map calls_;      // By invocation.
};

// Cuts the spans of one track, which may lie within each other, into segments
// that do not: the span that began last counts. Spans come in the order of a
// trace.
class Flattener {
 public:
  void Add(const Event& span, uint32_t owner) {
    EmitUntil(span.time_ns);
    open_.push_back({span.time_ns, span.end_ns(), owner});
    cursor_ns_ = span.time_ns;
  }
  std::vector<Segment> Finish() {
    EmitUntil(INT64_MAX);
    return std::move(segments_);
  }

 private:
  void EmitUntil(int64_t time_ns) {
    while (!open_.empty()) {
      const Segment& top = open_.back();
      const int64_t end_ns = std::min(top.end_ns, time_ns);
      if (end_ns > cursor_ns_) {
        segments_.push_back({cursor_ns_, end_ns, top.owner});
        cursor_ns_ = end_ns;
      }
      if (top.end_ns > time_ns) return;
      open_.pop_back();
    }
  }

  std::vector<Segment> open_;
  std::vector<Segment> segments_;
  int64_t cursor_ns_ = INT64_MIN;
};

// The part of a job's response time before its call could begin.
struct Waits {
  int64_t release_ns = 0;  // When it was released.
  int64_t before_ns = 0;   // When the job before it ended.
};

class Accountant {
 public:
  explicit Accountant(const Trace& trace) : trace_(trace), owners_(trace) {
    std::vector<Flattener> tracks(trace.tracks().size());
    for (const Event& event : trace.events()) {
      if (!IsWork(trace, event)) continue;
      tracks[event.track].Add(event, owners_.OwnerOfWork(event));
      if (event.kind != EventKind::kProgram) AddKernelSpan(event);
    }
    for (Flattener& track : tracks) {
      std::vector<Segment> segments = track.Finish();
      if (!segments.empty()) tracks_.push_back(std::move(segments));
    }
    for (auto& [name, durations] : kernel_ns_) {
      const auto middle = durations.begin() + durations.size() / 2;
      std::nth_element(durations.begin(), middle, durations.end());
      kernel_median_ns_[name] = *middle;
    }
  }

  // False if the work limit is reached.
  bool Account(uint64_t job, const Waits& waits, JobAccount* account);
  // Finds the span of the job that exceeds its kernel's median the most, and
  // counts its operations.
  void LookAtWork(uint64_t job, JobAccount* account);

 private:
  // A change of what runs, at a time.
  struct Change {
    int64_t time_ns;
    int32_t step;  // 1: begins; -1: ends.
    uint32_t owner;
  };
  // Each segment belongs to one job's time only if jobs of a stream do not
  // overlap. So 64 streams may look at a segment; a trace that asks for more
  // contradicts itself.
  static constexpr uint64_t kVisitsPerEvent = 64;

  void AddKernelSpan(const Event& span) {
    kernel_ns_[span.name].push_back(span.duration_ns);
    const uint64_t job = owners_[owners_.OwnerOfWork(span)].job;
    const bool is_slot = span.kind == EventKind::kSlot;
    const auto operation =
        is_slot ? static_cast<uint64_t>(span.value) : span.id;
    if (job != 0) {
      spans_.push_back({job, operation, span.name, span.duration_ns});
    }
    are_spans_sorted_ = false;
  }
  // Counts steps of work. True once they are too many.
  bool IsOverLimit(uint64_t count) {
    visit_count_ += count;
    return visit_count_ > kVisitsPerEvent * (trace_.events().size() + 1);
  }
  bool CollectChanges(int64_t begin_ns, int64_t end_ns);
  static TimeUse UseOf(int64_t time_ns, const Waits& waits, bool others_run);

  struct KernelSpan {
    uint64_t job;
    uint64_t operation;
    uint32_t name;
    int64_t duration_ns;
  };

  const Trace& trace_;
  Owners owners_;
  std::vector<std::vector<Segment>> tracks_;
  std::map<uint32_t, std::vector<int64_t>> kernel_ns_;
  std::map<uint32_t, int64_t> kernel_median_ns_;
  std::vector<KernelSpan> spans_;
  bool are_spans_sorted_ = false;
  std::vector<Change> changes_;
  uint64_t visit_count_ = 0;
};

bool Accountant::CollectChanges(int64_t begin_ns, int64_t end_ns) {
  changes_.clear();
  for (const std::vector<Segment>& segments : tracks_) {
    auto segment = std::partition_point(
        segments.begin(), segments.end(),
        [&](const Segment& s) { return s.end_ns <= begin_ns; });
    for (; segment != segments.end() && segment->begin_ns < end_ns; ++segment) {
      changes_.push_back(
          {std::max(segment->begin_ns, begin_ns), 1, segment->owner});
      changes_.push_back(
          {std::min(segment->end_ns, end_ns), -1, segment->owner});
      if (IsOverLimit(1)) return false;
    }
  }
  std::sort(changes_.begin(), changes_.end(),
            [](const Change& a, const Change& b) {
              return std::tie(a.time_ns, a.step) < std::tie(b.time_ns, b.step);
            });
  return true;
}

TimeUse Accountant::UseOf(int64_t time_ns, const Waits& waits,
                          bool others_run) {
  if (time_ns < waits.release_ns) return TimeUse::kReleasedLate;
  if (time_ns < waits.before_ns) return TimeUse::kJobBefore;
  return others_run ? TimeUse::kOtherWork : TimeUse::kNoWork;
}

bool Accountant::Account(uint64_t job, const Waits& waits,
                         JobAccount* account) {
  if (!CollectChanges(account->origin_ns, account->end_ns)) return false;
  // The ends of these parts are changes of what a moment counts as.
  for (const int64_t time_ns :
       {waits.release_ns, waits.before_ns, account->end_ns}) {
    const int64_t within_ns =
        std::clamp(time_ns, account->origin_ns, account->end_ns);
    changes_.push_back({within_ns, 0, 0});
  }
  std::stable_sort(
      changes_.begin(), changes_.end(),
      [](const Change& a, const Change& b) { return a.time_ns < b.time_ns; });
  std::map<uint32_t, int32_t> running;  // Other owners, with their threads.
  std::map<uint32_t, int64_t> others_ns;
  int32_t own_count = 0;
  int64_t cursor_ns = account->origin_ns;
  for (const Change& change : changes_) {
    const int64_t span_ns = change.time_ns - cursor_ns;
    if (span_ns > 0) {
      const TimeUse use = own_count > 0
                              ? TimeUse::kOwnWork
                              : UseOf(cursor_ns, waits, !running.empty());
      account->use_ns[static_cast<size_t>(use)] += span_ns;
      if (use == TimeUse::kOtherWork) {
        if (IsOverLimit(running.size())) return false;
        for (const auto& [owner, count] : running) {
          others_ns[owners_[owner].name] += span_ns;
        }
      }
      cursor_ns = change.time_ns;
    }
    if (change.step == 0) continue;
    if (job != 0 && owners_[change.owner].job == job) {
      own_count += change.step;
    } else if ((running[change.owner] += change.step) == 0) {
      running.erase(change.owner);
    }
  }
  for (const auto& [name, time_ns] : others_ns) {
    account->others.push_back({trace_.names()[name], time_ns});
  }
  StableSort(account->others, [](const OtherWork& a, const OtherWork& b) {
    return a.time_ns > b.time_ns;
  });
  return true;
}

void Accountant::LookAtWork(uint64_t job, JobAccount* account) {
  if (!std::exchange(are_spans_sorted_, true)) {
    std::stable_sort(spans_.begin(), spans_.end(),
                     [](const KernelSpan& a, const KernelSpan& b) {
                       return std::tie(a.job, a.operation) <
                              std::tie(b.job, b.operation);
                     });
  }
  SlowWork& slowest = account->slowest;
  auto span =
      std::partition_point(spans_.begin(), spans_.end(),
                           [&](const KernelSpan& s) { return s.job < job; });
  for (; span != spans_.end() && span->job == job; ++span) {
    if (IsOverLimit(1)) return;
    const bool is_first = account->operation_count == 0;
    if (is_first || span->operation != std::prev(span)->operation) {
      ++account->operation_count;
    }
    const int64_t median_ns = kernel_median_ns_.at(span->name);
    if (span->duration_ns - median_ns <= slowest.time_ns - slowest.median_ns) {
      continue;
    }
    slowest = {trace_.names()[span->name], span->duration_ns, median_ns};
  }
}

bool IsJobEnd(EventKind kind) {
  return kind == EventKind::kJobMet || kind == EventKind::kJobMissed ||
         kind == EventKind::kJobDropped || kind == EventKind::kJobFailed;
}

}  // namespace

const char* TimeUseName(TimeUse use) {
  switch (use) {
    case TimeUse::kOwnWork:
      return "own_work";
    case TimeUse::kReleasedLate:
      return "released_late";
    case TimeUse::kJobBefore:
      return "job_before";
    case TimeUse::kOtherWork:
      return "other_work";
    case TimeUse::kNoWork:
      break;
  }
  return "no_work";
}

JobAccounts AccountForJobs(const Trace& trace) {
  JobAccounts accounts;
  Accountant accountant(trace);
  std::unordered_map<uint64_t, const Event*> releases;
  std::vector<int64_t> last_end_ns(trace.tracks().size(), INT64_MIN);
  for (const Event& event : trace.events()) {
    if (event.kind == EventKind::kJobReleased) {
      releases.emplace(event.id, &event);
    }
    if (!IsJobEnd(event.kind)) continue;
    JobAccount account;
    account.track = event.track;
    account.sequence = StreamJobNumber(event.id);
    account.outcome = event.kind;
    account.end_ns = event.time_ns;
    const auto found = releases.find(event.id);
    const Event* const release =
        found != releases.end() ? found->second : nullptr;
    // A job that never began has no response time.
    const int64_t response_ns = std::max<int64_t>(event.value, 0);
    const bool has_response = response_ns > 0 && response_ns <= event.time_ns;
    const int64_t due_ns =
        has_response ? event.time_ns - response_ns : event.time_ns;
    const int64_t release_ns = release != nullptr ? release->time_ns : due_ns;
    account.origin_ns =
        has_response ? due_ns : std::min(release_ns, event.time_ns);
    if (release != nullptr) account.deadline_ns = release->value;
    const Waits waits = {
        std::max(release_ns, account.origin_ns),
        std::exchange(last_end_ns[event.track], event.time_ns)};
    if (account.origin_ns < trace.complete_ns()) {
      ++accounts.incomplete_count;
    } else if (accountant.Account(event.id, waits, &account)) {
      accountant.LookAtWork(event.id, &account);
      accounts.jobs.push_back(std::move(account));
    } else {
      ++accounts.skipped_count;
    }
  }
  return accounts;
}

}  // namespace takt::trace
