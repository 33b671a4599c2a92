#include "trace/perfetto_reader.h"

#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/hash_map.h"
#include "base/narrow.h"
#include "base/status.h"
#include "protozero/pbf_message.hpp"
#include "trace/perfetto_format.h"

namespace takt::trace {
namespace {

using namespace perfetto;  // NOLINT(google-build-using-namespace)

constexpr size_t kTrackCountMax = 1u << 14;

// Tags with the type that they have.
template <typename Tag>
constexpr uint32_t Number(Tag tag) {
  return protozero::tag_and_type(tag, protozero::pbf_wire_type::varint);
}
template <typename Tag>
constexpr uint32_t Bytes(Tag tag) {
  return protozero::tag_and_type(tag,
                                 protozero::pbf_wire_type::length_delimited);
}

// The fields of an event, as they are in the file.
struct Raw {
  uint64_t timestamp = 0;
  int32_t type = 0;
  uint64_t category = 0;
  uint64_t name = 0;
  uint64_t track = 0;
  int64_t counter_value = 0;
  uint64_t fields[std::size(kAnnotations) + 1] = {};

  uint64_t field(Field which) const { return fields[Narrow<size_t>(which)]; }
};

std::string Text(const protozero::data_view& view) {
  return std::string(view.data(), view.size());
}

class Reader {
 public:
  Reader() { recording_.names.emplace_back(); }

  // Throws protozero's exceptions for bytes that are no protobuf.
  absl::Status Read(absl::string_view bytes) {
    protozero::pbf_message<TraceFile> file(bytes.data(), bytes.size());
    while (file.next()) {
      if (file.tag_and_type() != Bytes(TraceFile::kPacket)) {
        file.skip();
        continue;
      }
      const protozero::data_view packet = file.get_view();
      offset_ = Narrow<size_t>(packet.data() - bytes.data());
      TAKT_RETURN_IF_ERROR(ReadPacket(packet));
    }
    if (has_header_) return absl::OkStatus();
    return absl::InvalidArgumentError("no trace of takt's: it has no header");
  }

  size_t offset() const { return offset_; }
  Ref<Trace> Take() {
    return Trace::Create(std::move(recording_), is_simulated_);
  }

 private:
  absl::Status ReadPacket(const protozero::data_view& bytes) {
    Raw raw;
    protozero::data_view event(nullptr, 0);
    bool has_event = false;
    protozero::pbf_message<Packet> packet(bytes);
    while (packet.next()) {
      switch (packet.tag_and_type()) {
        case Number(Packet::kTimestamp):
          raw.timestamp = packet.get_uint64();
          break;
        case Bytes(Packet::kInternedData):
          TAKT_RETURN_IF_ERROR(ReadNames(packet.get_view()));
          break;
        case Bytes(Packet::kTrackDescriptor):
          TAKT_RETURN_IF_ERROR(ReadTrack(packet.get_view()));
          break;
        case Bytes(Packet::kTrackEvent):
          event = packet.get_view();
          has_event = true;
          break;
        default:
          packet.skip();
      }
    }
    // Last, since the names that it uses may be in the same packet.
    return has_event ? ReadEvent(event, raw) : absl::OkStatus();
  }

  absl::Status ReadNames(const protozero::data_view& bytes) {
    protozero::pbf_message<Interned> interned(bytes);
    while (interned.next()) {
      if (interned.tag_and_type() != Bytes(Interned::kEventNames)) {
        interned.skip();
        continue;
      }
      uint64_t iid = 0;
      std::string name;
      protozero::pbf_message<InternedName> entry(interned.get_view());
      while (entry.next()) {
        switch (entry.tag_and_type()) {
          case Number(InternedName::kIid):
            iid = entry.get_uint64();
            break;
          case Bytes(InternedName::kName):
            name = Text(entry.get_view());
            break;
          default:
            entry.skip();
        }
      }
      if (iid == 0 || iid >= kFirstKindName) continue;
      if (recording_.names.size() > std::numeric_limits<uint32_t>::max() - 1) {
        return absl::DataLossError("too many names");
      }
      if (!names_.emplace(iid, recording_.names.size()).second) {
        return absl::DataLossError(absl::StrCat("two names ", iid));
      }
      recording_.names.push_back(std::move(name));
    }
    return absl::OkStatus();
  }

  absl::Status ReadTrack(const protozero::data_view& bytes) {
    uint64_t uuid = 0;
    uint64_t parent = 0;
    TrackInfo info;
    protozero::pbf_message<Descriptor> track(bytes);
    while (track.next()) {
      switch (track.tag_and_type()) {
        case Number(Descriptor::kUuid):
          uuid = track.get_uint64();
          break;
        case Number(Descriptor::kParentUuid):
          parent = track.get_uint64();
          break;
        case Bytes(Descriptor::kName):
          info.name = Text(track.get_view());
          break;
        default:
          track.skip();
      }
    }
    if (uuid < kFirstTrackUuid) return absl::OkStatus();  // Not one of Takt's.
    if (parent < kFirstGroupUuid || parent > GroupUuid(kLastTrack)) {
      return absl::DataLossError(
          absl::StrCat("track ", uuid, " is of no kind: ", parent));
    }
    info.kind = static_cast<TrackKind>(parent - kFirstGroupUuid);
    if (recording_.tracks.size() == kTrackCountMax) {
      return absl::DataLossError("too many tracks");
    }
    if (!tracks_.emplace(uuid, recording_.tracks.size()).second) {
      return absl::DataLossError(absl::StrCat("two tracks ", uuid));
    }
    recording_.tracks.push_back(std::move(info));
    return absl::OkStatus();
  }

  static void ReadAnnotation(const protozero::data_view& bytes, Raw& raw) {
    uint64_t name = 0;
    uint64_t value = 0;
    protozero::pbf_message<Annotation> annotation(bytes);
    while (annotation.next()) {
      switch (annotation.tag_and_type()) {
        case Number(Annotation::kNameIid):
          name = annotation.get_uint64();
          break;
        case Number(Annotation::kUint):
        case Number(Annotation::kInt):
          value = annotation.get_uint64();
          break;
        default:
          annotation.skip();
      }
    }
    if (name < std::size(raw.fields)) raw.fields[name] = value;
  }

  absl::Status ReadEvent(const protozero::data_view& bytes, Raw& raw) {
    protozero::pbf_message<TrackEvent> event(bytes);
    while (event.next()) {
      switch (event.tag_and_type()) {
        case Number(TrackEvent::kType):
          raw.type = event.get_enum();
          break;
        case Number(TrackEvent::kCategoryIids):
          raw.category = event.get_uint64();
          break;
        case Number(TrackEvent::kNameIid):
          raw.name = event.get_uint64();
          break;
        case Number(TrackEvent::kTrackUuid):
          raw.track = event.get_uint64();
          break;
        case Number(TrackEvent::kCounterValue):
          raw.counter_value = event.get_int64();
          break;
        case Bytes(TrackEvent::kAnnotations):
          ReadAnnotation(event.get_view(), raw);
          break;
        default:
          event.skip();
      }
    }
    if (raw.category == kHeaderCategory) return TakeHeader(raw);
    if (raw.type == Narrow<int32_t>(Type::kSliceEnd)) {
      return absl::OkStatus();  // The begin had the duration.
    }
    return has_header_ ? TakeEvent(raw) : absl::OkStatus();
  }

  absl::Status TakeHeader(const Raw& raw) {
    const uint64_t version = raw.field(Field::kVersion);
    if (version != kVersion) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a trace of version ", version, "; this reads ", kVersion));
    }
    has_header_ = true;
    recording_.lost_count += raw.field(Field::kLost);
    is_simulated_ = raw.field(Field::kSimulated) != 0;
    recording_.complete_ns = std::max(
        recording_.complete_ns, Truncate<int64_t>(raw.field(Field::kComplete)));
    return absl::OkStatus();
  }

  absl::Status TakeEvent(const Raw& raw) {
    if (raw.category == 0 || raw.category > Narrow<uint64_t>(kLastEvent)) {
      return absl::OkStatus();  // From a later version.
    }
    const auto track = tracks_.find(raw.track);
    if (track == tracks_.end()) {
      return absl::DataLossError(absl::StrCat("no track ", raw.track));
    }
    Event event;
    event.kind = static_cast<EventKind>(raw.category);
    event.track = Narrow<uint16_t>(track->second);
    if (raw.name != 0 && raw.name < kFirstKindName) {
      const auto name = names_.find(raw.name);
      if (name == names_.end()) {
        return absl::DataLossError(absl::StrCat("no name ", raw.name));
      }
      event.name = Narrow<uint32_t>(name->second);
    }
    event.time_ns = Truncate<int64_t>(raw.timestamp);
    event.duration_ns = Truncate<int64_t>(raw.field(Field::kDuration));
    if (event.duration_ns < 0) return absl::DataLossError("it ends too early");
    event.detail = Truncate<uint8_t>(raw.field(Field::kDetail));
    event.id = raw.field(Field::kId);
    event.parent = raw.field(Field::kParent);
    event.value = event.kind == EventKind::kCounter
                      ? raw.counter_value
                      : Truncate<int64_t>(raw.field(Field::kValue));
    recording_.events.push_back(event);
    return absl::OkStatus();
  }

  size_t offset_ = 0;
  bool has_header_ = false;
  bool is_simulated_ = false;
  Recording recording_;
  HashMap<uint64_t, size_t> names_;
  HashMap<uint64_t, size_t> tracks_;
};

}  // namespace

absl::StatusOr<Ref<Trace>> ReadPerfetto(absl::string_view bytes) {
  constexpr char kFirst{Bytes(TraceFile::kPacket)};
  if (!bytes.empty() && bytes[0] != kFirst) {
    return absl::DataLossError(
        "trace: not a trace in Perfetto's format; traces that were written as "
        ".json, .html or .txt are for other programs, and cannot be read");
  }
  Reader reader;
  absl::Status status;
  // protozero throws for malformed messages; no other code here throws.
  try {
    status = reader.Read(bytes);
  } catch (const protozero::exception& error) {
    status = absl::DataLossError(error.what());
  }
  if (status.code() == absl::StatusCode::kDataLoss) {
    return absl::DataLossError(absl::StrCat(
        "trace: packet at byte ", reader.offset(), ": ", status.message()));
  }
  if (!status.ok()) return Annotate(status, "trace");
  return reader.Take();
}

}  // namespace takt::trace
