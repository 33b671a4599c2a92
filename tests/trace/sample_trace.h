// A small trace with something of everything, for the tests of this folder.
#ifndef TAKT_TESTS_TRACE_SAMPLE_TRACE_H_
#define TAKT_TESTS_TRACE_SAMPLE_TRACE_H_

#include <limits>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/tracer.h"
#include "trace/trace.h"

namespace takt::trace {

// Puts a recording together.
class RecordingMaker {
 public:
  RecordingMaker() {
    recording.names.emplace_back();
    recording.tracks.emplace_back();
  }
  uint16_t Track(TrackKind kind, const std::string& name) {
    recording.tracks.push_back({kind, name});
    return static_cast<uint16_t>(recording.tracks.size() - 1);
  }
  uint32_t Name(const std::string& name) {
    recording.names.push_back(name);
    return static_cast<uint32_t>(recording.names.size() - 1);
  }
  Event& Add(EventKind kind, uint16_t track, int64_t time_ns,
             int64_t duration_ns = 0) {
    Event event;
    event.kind = kind;
    event.track = track;
    event.time_ns = time_ns;
    event.duration_ns = duration_ns;
    recording.events.push_back(event);
    return recording.events.back();
  }

  Recording recording;
};

// A job of a stream is released, and its call dispatches `axpy` on two workers
// and once on an NPU.
inline Recording SampleRecording() {
  RecordingMaker maker;
  const uint16_t worker = maker.Track(TrackKind::kWorker, "takt-0");
  const uint16_t other = maker.Track(TrackKind::kWorker, "takt-1");
  const uint16_t npu = maker.Track(TrackKind::kNpu, "NPU sim");
  const uint16_t stream = maker.Track(TrackKind::kStream, "policy.act");
  const uint16_t counter = maker.Track(TrackKind::kCounter, "ready");
  maker.Track(TrackKind::kThread, "unused");
  const uint32_t function = maker.Name("policy.act");
  const uint32_t axpy = maker.Name("axpy <&\"\xc3\xa9>");
  const uint32_t execute = maker.Name("execute");
  const auto job = StreamJobId(stream, 0);
  const auto add = [&](EventKind kind, uint16_t track, int64_t time_ns,
                       int64_t duration_ns, uint32_t name, uint64_t id,
                       uint64_t parent, int64_t value) {
    Event& event = maker.Add(kind, track, time_ns, duration_ns);
    event.name = name;
    event.id = id;
    event.parent = parent;
    event.value = value;
  };
  add(EventKind::kJobReleased, stream, 1000, 0, function, job, 0, 6000);
  add(EventKind::kInvocationBegin, worker, 1100, 0, function, 1, job, 0);
  // Recorded at its end, after what it began before.
  add(EventKind::kOperationIssued, worker, 1200, 0, execute, 2, 1, 0);
  add(EventKind::kOperationReady, worker, 1250, 0, execute, 2, 1, 0);
  add(EventKind::kDispatch, worker, 1300, 400, axpy, 2, 1, PackTiles(0, 4));
  add(EventKind::kDispatch, other, 1350, 300, axpy, 2, 1, PackTiles(4, 8));
  add(EventKind::kNpuBatch, npu, 1400, 100, 0, 9, 0, 3);
  add(EventKind::kOperationDone, worker, 1700, 0, execute, 2, 1, 0);
  add(EventKind::kProgram, worker, 1150, 600, function, 1, 0, 0);
  add(EventKind::kInvocationEnd, worker, 1800, 0, function, 1, 0, 0);
  add(EventKind::kJobMet, stream, 1900, 0, function, job, 0, 900);
  add(EventKind::kCounter, counter, 1250, 0, 0, 0, 0, -7);
  maker.recording.lost_count = 5;
  maker.recording.complete_ns = 7;
  return maker.recording;
}

inline std::string Collected(auto write, const Trace& trace) {
  std::string bytes;
  const absl::Status status = write(trace, [&](absl::string_view part) {
    bytes.append(part.data(), part.size());
    return absl::OkStatus();
  });
  return status.ok() ? bytes : "";
}

}  // namespace takt::trace

#endif  // TAKT_TESTS_TRACE_SAMPLE_TRACE_H_
