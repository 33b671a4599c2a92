#include "sim/recorded_run.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/event.h"
#include "base/hash_map.h"

namespace takt::sim {
namespace {

// Stops between the tiles of a simulated operation are not recorded.
constexpr int64_t kSimulatedTileNs = 50'000;

class RunReader {
 public:
  explicit RunReader(const trace::Trace& trace) : trace_(trace) {}

  RecordedRun Read() {
    FindJobs();
    FindWork();
    RecordedRun run;
    run.begin_ns = trace_.begin_ns();
    run.end_ns = trace_.end_ns();
    run.core_count = static_cast<uint32_t>(
        decided_cores_.empty() ? cores_.size() : decided_cores_.size());
    run.streams = std::move(streams_);
    for (RecordedStream& stream : run.streams) Finish(stream);
    run.streams.erase(std::remove_if(run.streams.begin(), run.streams.end(),
                                     [](const RecordedStream& stream) {
                                       return stream.jobs.empty();
                                     }),
                      run.streams.end());
    return run;
  }

 private:
  // The place of a job.
  struct Place {
    size_t stream;
    size_t job;
  };
  static constexpr int64_t kNotDone = -1;

  size_t FindStream(const std::string& name) {
    const auto found = stream_numbers_.find(name);
    if (found != stream_numbers_.end()) return found->second;
    stream_numbers_.emplace(name, streams_.size());
    streams_.emplace_back();
    streams_.back().name = name;
    return streams_.size() - 1;
  }

  // Calls of one function by one thread form a stream. Calls by workers are put
  // into streams so that the calls of a stream do not overlap.
  size_t FindCallStream(const takt::Event& event) {
    const std::string& name = trace_.NameOf(event);
    const uint64_t id = event.id;
    const bool is_caller = trace_.TrackOf(event).kind == TrackKind::kThread;
    const int32_t thread = is_caller ? event.track : -1;
    std::vector<Caller>& callers = callers_[name];
    size_t number = 0;
    while (number < callers.size() &&
           (callers[number].thread != thread ||
            (!is_caller && callers[number].call != 0))) {
      ++number;
    }
    if (number == callers.size()) callers.push_back({thread, 0});
    callers[number].call = id;
    caller_of_[id] = {name, number};
    return FindStream(number == 0 ? name
                                  : absl::StrCat(name, " #", number + 1));
  }

  void EndCall(uint64_t id) {
    const auto found = caller_of_.find(id);
    if (found == caller_of_.end()) return;
    callers_[found->second.first][found->second.second].call = 0;
    caller_of_.erase(found);
  }

  // `id` is a stream's job, or an invocation that is no part of one.
  void AddJob(size_t stream, uint64_t id, const takt::Event& event) {
    RecordedRunJob job;
    job.release_ns = event.time_ns;
    job.end_ns = kNotDone;
    job.deadline_ns = event.value;
    jobs_[id] = {stream, streams_[stream].jobs.size()};
    streams_[stream].jobs.push_back(std::move(job));
  }

  RecordedRunJob* FindJob(uint64_t id) {
    const auto found = jobs_.find(id);
    return found == jobs_.end()
               ? nullptr
               : &streams_[found->second.stream].jobs[found->second.job];
  }

  void EndJob(uint64_t id, int64_t end_ns) {
    RecordedRunJob* const job = FindJob(id);
    if (job != nullptr) job->end_ns = std::max(job->end_ns, end_ns);
  }

  // The job to which an invocation belongs.
  uint64_t JobOfCall(uint64_t invocation) const {
    const auto found = calls_.find(invocation);
    return found == calls_.end() ? 0 : found->second;
  }

  void FindJobs() {
    for (const takt::Event& event : trace_.events()) {
      switch (event.kind) {
        case takt::EventKind::kJobReleased:
          AddJob(FindStream(trace_.TrackOf(event).name), event.id, event);
          break;
        case takt::EventKind::kJobMet:
        case takt::EventKind::kJobMissed:
          EndJob(event.id, event.time_ns);
          break;
        case takt::EventKind::kInvocationBegin: {
          const bool is_call = !jobs_.contains(event.parent);
          calls_[event.id] = is_call ? event.id : event.parent;
          if (is_call) {
            AddJob(FindCallStream(event), event.id, event);
          }
          const auto place = jobs_.find(calls_[event.id]);
          streams_[place->second.stream].priority = event.detail;
          break;
        }
        case takt::EventKind::kInvocationEnd:
          EndCall(event.id);
          // The work of a failed call is not replayed.
          if (event.value == 0 && JobOfCall(event.id) == event.id) {
            EndJob(event.id, event.time_ns);
          }
          break;
        case takt::EventKind::kOperationDone:
          // The fence of a call says that it is done, after its program.
          if (JobOfCall(event.parent) == event.parent) {
            EndJob(event.parent, event.time_ns);
          }
          break;
        default:
          break;
      }
    }
  }

  void FindWork() {
    for (const takt::Event& event : trace_.events()) {
      switch (event.kind) {
        case takt::EventKind::kDispatch:
          AddPart(JobOfCall(event.parent), event.id, event,
                  TilesEnd(event.value) - TilesBegin(event.value),
                  event.duration_ns);
          break;
        case takt::EventKind::kTransfer:
          AddPart(JobOfCall(event.parent), event.id, event, 1,
                  event.duration_ns);
          break;
        case takt::EventKind::kSlot:
          // In a real run the dispatches show the work.
          if (!trace_.is_simulated()) {
            if (trace_.TrackOf(event).kind == TrackKind::kCore) {
              decided_cores_.insert(event.track);
            }
            break;
          }
          AddPart(
              event.id, event.parent, event,
              static_cast<uint32_t>(1 + event.duration_ns / kSimulatedTileNs),
              event.duration_ns);
          break;
        default:
          break;
      }
    }
  }

  void AddPart(uint64_t job_id, uint64_t operation_id, const takt::Event& event,
               uint32_t tile_count, int64_t work_ns) {
    RecordedRunJob* const job = FindJob(job_id);
    if (job == nullptr || tile_count == 0) return;
    const TrackKind kind = trace_.TrackOf(event).kind;
    if (kind == TrackKind::kWorker || kind == TrackKind::kCore) {
      cores_.insert(event.track);
    } else {
      job->caller_work_ns += work_ns;
    }
    const auto [place, is_new] = operations_.emplace(
        std::tuple(job_id, operation_id, event.name), job->operations.size());
    if (is_new) {
      job->operations.emplace_back();
      job->operations.back().kernel = trace_.NameOf(event);
      job->operations.back().start_ns = event.time_ns;
    }
    RecordedOperation& operation = job->operations[place->second];
    operation.end_ns = std::max(operation.end_ns, event.end_ns());
    operation.work_ns += work_ns;
    operation.tile_count += tile_count;
    operation.tile_ns =
        std::max(operation.tile_ns, work_ns / static_cast<int64_t>(tile_count));
  }

  static void Finish(RecordedStream& stream) {
    stream.jobs.erase(std::remove_if(stream.jobs.begin(), stream.jobs.end(),
                                     [](const RecordedRunJob& job) {
                                       return job.end_ns < job.release_ns;
                                     }),
                      stream.jobs.end());
  }

  const trace::Trace& trace_;
  std::vector<RecordedStream> streams_;
  std::map<std::string, size_t> stream_numbers_;
  // A thread that calls a function.
  struct Caller {
    int32_t thread;  // Its track; -1: workers.
    uint64_t call;   // The present call; 0: none.
  };
  std::map<std::string, std::vector<Caller>> callers_;
  std::map<uint64_t, std::pair<std::string, size_t>> caller_of_;
  HashMap<uint64_t, Place> jobs_;
  HashMap<uint64_t, uint64_t> calls_;
  HashMap<std::tuple<uint64_t, uint64_t, uint32_t>, size_t> operations_;
  std::set<uint16_t> cores_;  // Tracks that something ran on.
  // Those of a real scheduler: several threads may have run in the place of one
  // core.
  std::set<uint16_t> decided_cores_;
};

}  // namespace

int64_t RecordedRunJob::work_ns() const {
  int64_t sum_ns = 0;
  for (const RecordedOperation& operation : operations) {
    sum_ns += operation.work_ns;
  }
  return sum_ns;
}

RecordedRun ReadRun(const trace::Trace& trace) {
  return RunReader(trace).Read();
}

}  // namespace takt::sim
