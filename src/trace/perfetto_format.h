// The part of Perfetto's trace format (protos/perfetto/trace/) that Takt writes
// and reads: the numbers of its fields, and the use that Takt makes of them.
//
// A file is a `Trace` of packets of one sequence. The first packet holds the
// interned names and the header, an instant of the process's track; then come
// the tracks' descriptors, then the events in order of time. A kind is an
// event's category. Data without a field in Perfetto is in debug annotations
// with the names of kAnnotations; annotations of 0 are left out. The begin of a
// span has its duration, so that a reader does not need the ends.
#ifndef TAKT_TRACE_PERFETTO_FORMAT_H_
#define TAKT_TRACE_PERFETTO_FORMAT_H_

#include <cstdint>

#include "base/event.h"

namespace takt::trace::perfetto {

// protozero's tags are enumerations of 32 bits.
enum class TraceFile : uint32_t { kPacket = 1 };
enum class Packet : uint32_t {
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kTrackDescriptor = 60,
};
enum class Interned : uint32_t {
  kCategories = 1,
  kEventNames = 2,
  kAnnotationNames = 3,
};
enum class InternedName : uint32_t { kIid = 1, kName = 2 };
enum class Descriptor : uint32_t {
  kUuid = 1,
  kName = 2,
  kProcess = 3,
  kParentUuid = 5,
  kCounter = 8,
};
enum class Process : uint32_t { kPid = 1, kName = 6 };
enum class TrackEvent : uint32_t {
  kCategoryIids = 3,
  kAnnotations = 4,
  kType = 9,
  kNameIid = 10,
  kTrackUuid = 11,
  kCounterValue = 30,
  kFlowIds = 47,
};
enum class Annotation : uint32_t { kNameIid = 1, kUint = 3, kInt = 4 };
enum class Type : int32_t {
  kSliceBegin = 1,
  kSliceEnd = 2,
  kInstant = 3,
  kCounter = 4,
};

inline constexpr uint32_t kStateCleared = 1;  // Of kSequenceFlags.
inline constexpr uint32_t kNeedsState = 2;

// The names of the annotations of events, by iid less one.
enum class Field : uint32_t {
  kId = 1,
  kParent,
  kValue,
  kDetail,
  kDuration,
  // Annotations of the header:
  kVersion,
  kLost,
  kSimulated,
  kComplete,
};
inline constexpr const char* kAnnotations[] = {
    "id",      "of",   "value",     "detail",  "ns",
    "version", "lost", "simulated", "complete"};
inline constexpr uint64_t kVersion = 1;

// Numbers in the file. Categories: an event's kind, and the header's.
inline constexpr uint64_t kHeaderCategory = 255;
inline constexpr const char* kHeaderName = "takt.trace";
// Event names: those of the trace, and, for events without one, their kinds'.
inline constexpr uint64_t kFirstKindName = uint64_t{1} << 32;
// Tracks: the process, above a group of each kind, above the tracks.
inline constexpr uint64_t kProcessUuid = 1;
inline constexpr uint64_t kFirstGroupUuid = 16;
inline constexpr uint64_t kFirstTrackUuid = 256;

inline uint64_t GroupUuid(TrackKind kind) {
  return kFirstGroupUuid + static_cast<uint64_t>(kind);
}

}  // namespace takt::trace::perfetto

#endif  // TAKT_TRACE_PERFETTO_FORMAT_H_
