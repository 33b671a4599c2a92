// Traces of the jobs of one stream, for the tests of accounts and explanations.
#ifndef TAKT_TESTS_TRACE_JOB_TRACE_H_
#define TAKT_TESTS_TRACE_JOB_TRACE_H_

#include <cstdint>
#include <map>
#include <string>

#include "tests/trace/sample_trace.h"

namespace takt::trace {

// Two workers, and the stream "policy". Times are in ns.
class JobTrace {
 public:
  uint64_t Job(uint64_t sequence) const {
    return StreamJobId(stream_, sequence);
  }
  void Release(uint64_t sequence, int64_t time_ns, int64_t deadline_ns) {
    Event& event = maker_.Add(EventKind::kJobReleased, stream_, time_ns);
    event.id = Job(sequence);
    event.name = Name("policy");
    event.value = deadline_ns;
  }
  // Invocation `call` runs for the job; 0: for no job.
  void Call(uint64_t call, uint64_t job) {
    Event& event = maker_.Add(EventKind::kInvocationBegin, workers_[0], 0);
    event.id = call;
    event.parent = job;
    event.name = Name(job != 0 ? "policy" : "call");
  }
  void Work(int worker, const std::string& kernel, uint64_t call,
            int64_t begin_ns, int64_t end_ns, uint64_t operation = 0) {
    Event& event = maker_.Add(EventKind::kDispatch, workers_[worker], begin_ns,
                              end_ns - begin_ns);
    event.name = Name(kernel);
    event.parent = call;
    event.id = operation;
  }
  void End(EventKind outcome, uint64_t sequence, int64_t time_ns,
           int64_t response_ns) {
    Event& event = maker_.Add(outcome, stream_, time_ns);
    event.id = Job(sequence);
    event.value = response_ns;
  }
  // Events that ended until `complete_ns` may be lost.
  void Lose(uint64_t count, int64_t complete_ns) {
    maker_.recording.lost_count = count;
    maker_.recording.complete_ns = complete_ns;
  }
  Ref<Trace> Make() const { return Trace::Create(maker_.recording, false); }

 private:
  uint32_t Name(const std::string& name) {
    const auto [place, is_new] = names_.emplace(name, 0);
    if (is_new) place->second = maker_.Name(name);
    return place->second;
  }

  RecordingMaker maker_;
  const uint16_t workers_[2] = {maker_.Track(TrackKind::kWorker, "w0"),
                                maker_.Track(TrackKind::kWorker, "w1")};
  const uint16_t stream_ = maker_.Track(TrackKind::kStream, "policy");
  std::map<std::string, uint32_t> names_;
};

}  // namespace takt::trace

#endif  // TAKT_TESTS_TRACE_JOB_TRACE_H_
