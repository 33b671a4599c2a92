#include "trace/perfetto_writer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/stable_sort.h"
#include "base/status.h"
#include "protozero/pbf_builder.hpp"
#include "protozero/pbf_writer.hpp"
#include "trace/perfetto_format.h"

namespace takt::trace {
namespace {

using namespace perfetto;  // NOLINT(google-build-using-namespace)

constexpr size_t kChunkBytes = 1 << 20;

// Begins and ends, in the order in which they are written.
struct Mark {
  int64_t time_ns;
  uint32_t event;
  bool is_end;
};

// The marks of each track. Slices must nest, so a slice that would end after
// the one in which it began is shown to end with it.
class Marks {
 public:
  explicit Marks(const Trace& trace)
      : trace_(trace), open_(trace.tracks().size()) {
    const std::vector<Event>& events = trace.events();
    marks_.reserve(events.size() * 2);
    for (size_t i = 0; i < events.size(); ++i) {
      Close(events[i].track, events[i].time_ns);
      marks_.push_back({events[i].time_ns, static_cast<uint32_t>(i), false});
      if (IsSpan(events[i].kind)) Open(static_cast<uint32_t>(i));
    }
    for (size_t track = 0; track < open_.size(); ++track) {
      Close(track, trace.end_ns());
    }
    StableSort(marks_, [](const Mark& a, const Mark& b) {
      return a.time_ns < b.time_ns;
    });
  }
  const std::vector<Mark>& list() const { return marks_; }

 private:
  struct Span {
    uint32_t event;
    int64_t end_ns;
  };
  void Open(uint32_t event) {
    std::vector<Span>& open = open_[trace_.events()[event].track];
    int64_t end_ns = trace_.events()[event].end_ns();
    if (!open.empty()) end_ns = std::min(end_ns, open.back().end_ns);
    if (end_ns == trace_.events()[event].time_ns) {
      marks_.push_back({end_ns, event, true});
    } else {
      open.push_back({event, end_ns});
    }
  }
  void Close(size_t track, int64_t until_ns) {
    std::vector<Span>& open = open_[track];
    while (!open.empty() && open.back().end_ns <= until_ns) {
      marks_.push_back({open.back().end_ns, open.back().event, true});
      open.pop_back();
    }
  }

  const Trace& trace_;
  std::vector<std::vector<Span>> open_;
  std::vector<Mark> marks_;
};

// One packet of the file.
class PacketBuilder {
 public:
  explicit PacketBuilder(std::string& bytes, uint32_t flags = kNeedsState)
      : file_(bytes), packet_(file_, TraceFile::kPacket) {
    packet_.add_uint32(Packet::kSequenceId, 1);
    packet_.add_uint32(Packet::kSequenceFlags, flags);
  }
  protozero::pbf_builder<Packet>& packet() { return packet_; }

 private:
  protozero::pbf_builder<TraceFile> file_;
  protozero::pbf_builder<Packet> packet_;
};

using EventBuilder = protozero::pbf_builder<TrackEvent>;

void AddNumber(EventBuilder& event, Field field, uint64_t value) {
  if (value == 0) return;
  protozero::pbf_builder<Annotation> annotation(event,
                                                TrackEvent::kAnnotations);
  annotation.add_uint64(Annotation::kNameIid, static_cast<uint64_t>(field));
  annotation.add_uint64(Annotation::kUint, value);
}

void AddSigned(EventBuilder& event, Field field, int64_t value) {
  if (value == 0) return;
  protozero::pbf_builder<Annotation> annotation(event,
                                                TrackEvent::kAnnotations);
  annotation.add_uint64(Annotation::kNameIid, static_cast<uint64_t>(field));
  annotation.add_int64(Annotation::kInt, value);
}

void AddName(protozero::pbf_builder<Interned>& interned, Interned list,
             uint64_t iid, const std::string& name) {
  protozero::pbf_builder<InternedName> entry(interned, list);
  entry.add_uint64(InternedName::kIid, iid);
  entry.add_string(InternedName::kName, name);
}

void AddHeader(const Trace& trace, std::string& bytes) {
  PacketBuilder builder(bytes, kStateCleared);
  builder.packet().add_uint64(Packet::kTimestamp,
                              static_cast<uint64_t>(trace.begin_ns()));
  {
    protozero::pbf_builder<Interned> interned(builder.packet(),
                                              Packet::kInternedData);
    AddName(interned, Interned::kCategories, kHeaderCategory, kHeaderName);
    for (int i = 1; i <= static_cast<int>(kLastEvent); ++i) {
      const std::string name = EventKindName(static_cast<EventKind>(i));
      if (name.empty()) continue;
      const auto iid = static_cast<uint64_t>(i);
      AddName(interned, Interned::kCategories, iid, name);
      AddName(interned, Interned::kEventNames, kFirstKindName + iid, name);
    }
    for (size_t i = 1; i < trace.names().size(); ++i) {
      AddName(interned, Interned::kEventNames, i, trace.names()[i]);
    }
    for (size_t i = 0; i < std::size(kAnnotations); ++i) {
      AddName(interned, Interned::kAnnotationNames, i + 1, kAnnotations[i]);
    }
  }
  EventBuilder event(builder.packet(), Packet::kTrackEvent);
  event.add_uint64(TrackEvent::kCategoryIids, kHeaderCategory);
  event.add_enum(TrackEvent::kType, static_cast<int32_t>(Type::kInstant));
  event.add_uint64(TrackEvent::kTrackUuid, kProcessUuid);
  AddNumber(event, Field::kVersion, kVersion);
  AddNumber(event, Field::kLost, trace.lost_count());
  AddNumber(event, Field::kSimulated, trace.is_simulated() ? 1 : 0);
  AddNumber(event, Field::kComplete,
            static_cast<uint64_t>(trace.complete_ns()));
}

void AddTracks(const Trace& trace, std::string& bytes) {
  {
    PacketBuilder builder(bytes);
    protozero::pbf_builder<Descriptor> track(builder.packet(),
                                             Packet::kTrackDescriptor);
    track.add_uint64(Descriptor::kUuid, kProcessUuid);
    protozero::pbf_builder<Process> process(track, Descriptor::kProcess);
    process.add_int32(Process::kPid, 1);
    process.add_string(Process::kName, "takt");
  }
  for (int i = 0; i <= static_cast<int>(kLastTrack); ++i) {
    const auto kind = static_cast<TrackKind>(i);
    const bool is_used = std::any_of(
        trace.tracks().begin(), trace.tracks().end(),
        [kind](const TrackInfo& track) { return track.kind == kind; });
    if (!is_used) continue;
    PacketBuilder builder(bytes);
    protozero::pbf_builder<Descriptor> group(builder.packet(),
                                             Packet::kTrackDescriptor);
    group.add_uint64(Descriptor::kUuid, GroupUuid(kind));
    group.add_uint64(Descriptor::kParentUuid, kProcessUuid);
    group.add_string(Descriptor::kName, TrackKindName(kind));
  }
  for (size_t i = 0; i < trace.tracks().size(); ++i) {
    const TrackInfo& info = trace.tracks()[i];
    PacketBuilder builder(bytes);
    protozero::pbf_builder<Descriptor> track(builder.packet(),
                                             Packet::kTrackDescriptor);
    track.add_uint64(Descriptor::kUuid, kFirstTrackUuid + i);
    track.add_uint64(Descriptor::kParentUuid, GroupUuid(info.kind));
    track.add_string(Descriptor::kName, info.name);
    if (info.kind == TrackKind::kCounter) {
      track.add_message(Descriptor::kCounter, std::string());
    }
  }
}

// The flows that join an event to others: that of its parent, and that of its
// own id.
void AddFlows(EventBuilder& builder, const Event& event) {
  switch (event.kind) {
    case EventKind::kJobReleased:
    case EventKind::kJobMet:
    case EventKind::kJobMissed:
    case EventKind::kProgram:
    case EventKind::kInvocationEnd:
    case EventKind::kOperationReady:
    case EventKind::kOperationDone:
    case EventKind::kDispatch:
    case EventKind::kTransfer:
      builder.add_fixed64(TrackEvent::kFlowIds, event.id);
      break;
    case EventKind::kInvocationBegin:
    case EventKind::kOperationIssued:
      builder.add_fixed64(TrackEvent::kFlowIds, event.id);
      if (event.parent != 0) {
        builder.add_fixed64(TrackEvent::kFlowIds, event.parent);
      }
      break;
    default:
      break;
  }
}

void AddEvent(const Event& event, std::string& bytes) {
  PacketBuilder packet(bytes);
  packet.packet().add_uint64(Packet::kTimestamp,
                             static_cast<uint64_t>(event.time_ns));
  EventBuilder builder(packet.packet(), Packet::kTrackEvent);
  const bool is_counter = event.kind == EventKind::kCounter;
  const Type type = is_counter           ? Type::kCounter
                    : IsSpan(event.kind) ? Type::kSliceBegin
                                         : Type::kInstant;
  const auto kind = static_cast<uint64_t>(event.kind);
  builder.add_enum(TrackEvent::kType, static_cast<int32_t>(type));
  builder.add_uint64(TrackEvent::kTrackUuid, kFirstTrackUuid + event.track);
  builder.add_uint64(TrackEvent::kCategoryIids, kind);
  builder.add_uint64(TrackEvent::kNameIid,
                     event.name != 0 ? event.name : kFirstKindName + kind);
  if (is_counter) builder.add_int64(TrackEvent::kCounterValue, event.value);
  AddNumber(builder, Field::kId, event.id);
  AddNumber(builder, Field::kParent, event.parent);
  if (!is_counter) AddSigned(builder, Field::kValue, event.value);
  AddNumber(builder, Field::kDetail, event.detail);
  AddSigned(builder, Field::kDuration, event.duration_ns);
  AddFlows(builder, event);
}

void AddEnd(const Event& event, int64_t time_ns, std::string& bytes) {
  PacketBuilder packet(bytes);
  packet.packet().add_uint64(Packet::kTimestamp,
                             static_cast<uint64_t>(time_ns));
  EventBuilder builder(packet.packet(), Packet::kTrackEvent);
  builder.add_enum(TrackEvent::kType, static_cast<int32_t>(Type::kSliceEnd));
  builder.add_uint64(TrackEvent::kTrackUuid, kFirstTrackUuid + event.track);
}

// What a message takes beside its names, at most.
constexpr size_t kMessageBytes = 512;

// At least what the header and the tracks take.
size_t HeaderBytes(const Trace& trace) {
  constexpr size_t kOwnNameBytes = 64;  // Of an event's or an argument's kind.
  size_t bytes = (static_cast<size_t>(kLastTrack) + 8) * kMessageBytes;
  bytes += 2 * (static_cast<size_t>(kLastEvent) + std::size(kAnnotations)) *
           kOwnNameBytes;
  for (const std::string& name : trace.names()) {
    bytes += name.size() + kOwnNameBytes;
  }
  for (const TrackInfo& track : trace.tracks()) {
    bytes += track.name.size() + kMessageBytes;
  }
  return bytes;
}

}  // namespace

absl::Status WritePerfetto(const Trace& trace, Sink sink) {
  std::string bytes;
  // At once, and here: builders of messages cannot fail.
  bytes.reserve(
      HeaderBytes(trace) +
      std::min(kChunkBytes, 2 * trace.events().size() * kMessageBytes) +
      kMessageBytes);
  AddHeader(trace, bytes);
  AddTracks(trace, bytes);
  const Marks marks(trace);
  for (const Mark& mark : marks.list()) {
    const Event& event = trace.events()[mark.event];
    if (mark.is_end) {
      AddEnd(event, mark.time_ns, bytes);
    } else {
      AddEvent(event, bytes);
    }
    if (bytes.size() < kChunkBytes) continue;
    TAKT_RETURN_IF_ERROR(sink(bytes));
    bytes.clear();
  }
  return sink(bytes);
}

}  // namespace takt::trace
