// A trace consists of Events. An Event is a plain value. It stands for a
// moment, or for a span of time. The meaning of its fields depends on its kind.
#ifndef TAKT_BASE_EVENT_H_
#define TAKT_BASE_EVENT_H_

#include <cstddef>
#include <cstdint>

namespace takt {

// Trace files have these numbers, so they do not change.
enum class EventKind : uint8_t {
  kNone = 0,

  // Spans, which last from time_ns on for duration_ns.
  //
  // Workgroups ran on the thread. name: the export; id: the queue operation;
  // parent: its invocation; value: PackTiles(); detail: 0 if only one unit
  // could run the dispatch, 1 if the NPU was chosen, 2 if the CPU was.
  kDispatch = 1,
  // Bytes were moved. name: how; id and parent as above; value: bytes.
  kTransfer = 2,
  // A program ran until it ended or parked. name: the function; id:
  // the invocation; detail: 1 if it parked.
  kProgram = 3,
  // A batch ran on an NPU. name: the driver; id: the batch; detail: the
  // driver's result; value: the number of operations.
  kNpuBatch = 4,
  // A client held an NPU. id: the grant; value: the time that it waited.
  kNpuLease = 5,
  // A scheduler's operation had a resource. name: the kernel; id: the job;
  // parent: the operation's index; value: part done, of a million; detail: the
  // number of shards.
  kSlot = 6,
  // A resource was planned for an operation. name, id and parent as for kSlot.
  kPlannedSlot = 7,

  // Events that are moments.
  //
  // name: the function; id: the invocation; parent: the stream's job, or 0;
  // value: the deadline (INT64_MAX: none); detail: the priority.
  kInvocationBegin = 16,
  kInvocationPark = 17,
  kInvocationResume = 18,
  // The invocation has ended, and so has its device work. value: the code of
  // its status.
  kInvocationEnd = 19,
  // A queue operation. name: which; id: its number; parent: the invocation.
  kOperationIssued = 20,
  kOperationReady = 21,
  // value: the code of its status.
  kOperationDone = 22,
  // id: the fence; parent: the operation. kFenceFailed: value is the code.
  kFenceSignaled = 23,
  kFenceFailed = 24,
  // id: the storage; parent: the operation; value: bytes.
  kAlloca = 25,
  kDealloca = 26,
  // A job of a stream; on the stream's track. id: StreamJobId(); value: the
  // deadline, of the trace's clock (INT64_MAX: none).
  kJobReleased = 27,
  // value: the response time.
  kJobMet = 28,
  kJobMissed = 29,
  kJobDropped = 30,
  kJobFailed = 31,
  // Decisions of a scheduler. name: the kernel, or the mode; id: the job;
  // parent: the operation's index; value: the resource, if one is named.
  kDecisionStart = 32,
  kDecisionYield = 33,
  kDecisionCancel = 34,
  kDecisionMode = 35,
  // A resource changed. value: 0 or 1; or its speed in thousandths.
  kResourceAvailable = 36,
  kResourceSpeed = 37,
  // A worker slept or woke. value: the job's lane.
  kWorkerPark = 38,
  kWorkerWake = 39,
  kPreemption = 40,
  // A number that changes, on a track of its own. value: the number from now
  // on.
  kCounter = 41,
  // The action after a failure of an NPU, on its track. name: the driver;
  // detail: NpuFaultAction; value: ns, of a quarantine.
  kNpuFault = 42,
  // A scheduler's answer to a stream. name: the stream; value: the bound of the
  // response (INT64_MAX: none); detail: the verdict.
  kDecisionAdmission = 43,
  // The decision about a job that is late. name: "demote" or "drop"; id: the
  // job; value: its deadline.
  kDecisionLate = 44,
};

enum class NpuFaultAction : uint8_t {
  kRetry = 1,
  kReset = 2,
  kQuarantine = 3,
  kProbe = 4,
  kFallBack = 5,  // The CPU runs the dispatch.
  kFail = 6,      // The dispatch fails.
};

// Where a viewer shows an event.
enum class TrackKind : uint8_t {
  kThread = 0,     // Of a caller.
  kWorker = 1,     // Of an executor.
  kCore = 2,       // Of a board, as a scheduler sees it.
  kNpu = 3,        // One batch at a time.
  kStream = 4,     // Releases jobs.
  kScheduler = 5,  // Its decisions.
  kCounter = 6,    // A number.
  kPlan = 7,       // The plan of a resource.
};

struct Event {
  int64_t time_ns = 0;  // Of NowNs(), or of a simulation.
  int64_t duration_ns = 0;
  EventKind kind = EventKind::kNone;
  uint8_t detail = 0;
  uint16_t track = 0;  // Tracer::AddNewTrack(). 0: the recording thread's.
  uint32_t name = 0;   // Tracer::Intern(). 0: none.
  uint64_t id = 0;
  uint64_t parent = 0;
  int64_t value = 0;

  int64_t end_ns() const { return time_ns + duration_ns; }
};
static_assert(sizeof(Event) == 48);

// The last kinds of each sort.
inline constexpr EventKind kLastSpan = EventKind::kPlannedSlot;
inline constexpr EventKind kLastEvent = EventKind::kDecisionLate;
inline constexpr TrackKind kLastTrack = TrackKind::kPlan;

inline constexpr bool IsSpan(EventKind kind) { return kind <= kLastSpan; }

// [begin, end) of a dispatch's workgroups.
inline constexpr int64_t PackTiles(uint32_t begin, uint32_t end) {
  return static_cast<int64_t>(uint64_t{begin} << 32 | end);
}
inline constexpr uint32_t TilesBegin(int64_t value) {
  return static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32);
}
inline constexpr uint32_t TilesEnd(int64_t value) {
  return static_cast<uint32_t>(value);
}

// One number for the job of a stream, whose track is `track`.
inline constexpr uint64_t StreamJobId(uint16_t track, uint64_t sequence) {
  return uint64_t{track} << 48 | (sequence & ((uint64_t{1} << 48) - 1));
}

// The number of the job within its stream: `sequence` of above.
inline constexpr uint64_t StreamJobNumber(uint64_t id) {
  return id & ((uint64_t{1} << 48) - 1);
}

// Such as "dispatch"; the empty text for a number that is no kind.
const char* EventKindName(EventKind kind);
const char* TrackKindName(TrackKind kind);
// kNone for a text that is no name.
EventKind FindEventKind(const char* name);

}  // namespace takt

#endif  // TAKT_BASE_EVENT_H_
