#include "trace/gantt_page.h"

#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>

#include "absl/strings/escaping.h"
#include "base/status.h"
#include "nlohmann/json.hpp"
#include "trace/gantt_page_text.h"

namespace takt::trace {
namespace {

// Encodes the events for the page's script (class Numbers and readEvents() of
// gantt_page.js read them). Numbers are written in base 128, the lowest part
// first, with the highest bit set on all bytes of a number but the last; what
// may be negative is folded to 0, -1, 1, -2, ... first.
class EventEncoder {
 public:
  explicit EventEncoder(const Trace& trace) : last_ns_(trace.begin_ns()) {}

  void Add(const Event& event) {
    Number(Difference(event.time_ns, last_ns_));
    last_ns_ = event.time_ns;
    Number(static_cast<uint64_t>(event.kind));
    Number(event.track);
    Number(event.name);
    if (IsSpan(event.kind)) Number(static_cast<uint64_t>(event.duration_ns));
    Id(event.id);
    Id(event.parent);
    Number(event.detail);
    Value(event);
  }

  // Ids that a number of the script cannot hold, as texts.
  const nlohmann::json& ids() const { return ids_; }
  const std::string& bytes() const { return bytes_; }

  static uint64_t Difference(int64_t time_ns, int64_t before_ns) {
    return static_cast<uint64_t>(time_ns) - static_cast<uint64_t>(before_ns);
  }

 private:
  void Number(uint64_t value) {
    while (value >= 128) {
      bytes_ += static_cast<char>(value % 128 | 128);
      value /= 128;
    }
    bytes_ += static_cast<char>(value);
  }

  void Signed(int64_t value) {
    const auto bits = static_cast<uint64_t>(value);
    Number(value < 0 ? ~(bits << 1) : bits << 1);
  }

  // Small ids are even; the others are odd, and lead into the table.
  void Id(uint64_t id) {
    if (id <= std::numeric_limits<uint32_t>::max()) return Number(id * 2);
    const auto [found, is_new] = id_places_.try_emplace(id, ids_.size());
    if (is_new) ids_.push_back(std::to_string(id));
    Number(found->second * 2 + 1);
  }

  void Value(const Event& event) {
    switch (event.kind) {
      case EventKind::kDispatch:
        Number(TilesBegin(event.value));
        Number(TilesEnd(event.value));
        return;
      case EventKind::kJobReleased:
      case EventKind::kInvocationBegin:
      case EventKind::kDecisionLate:
        return Deadline(event);
      case EventKind::kDecisionAdmission: {
        const bool has_bound =
            event.value != std::numeric_limits<int64_t>::max();
        Number(has_bound);
        if (has_bound) Signed(event.value);
        return;
      }
      default:
        Signed(event.value);
    }
  }

  // After the event's time.
  void Deadline(const Event& event) {
    int64_t after_ns = 0;
    const bool has_deadline =
        event.value != std::numeric_limits<int64_t>::max() &&
        !__builtin_sub_overflow(event.value, event.time_ns, &after_ns);
    Number(has_deadline);
    if (has_deadline) Signed(after_ns);
  }

  int64_t last_ns_;
  std::string bytes_;
  nlohmann::json ids_ = nlohmann::json::array();
  std::unordered_map<uint64_t, size_t> id_places_;
};

// The script's data besides the events.
std::string Describe(const Trace& trace, const EventEncoder& encoder) {
  nlohmann::ordered_json json;
  json["length_ns"] =
      EventEncoder::Difference(trace.end_ns(), trace.begin_ns());
  json["event_count"] = trace.events().size();
  json["lost"] = trace.lost_count();
  json["simulated"] = trace.is_simulated();
  json["tracks"] = nlohmann::json::array();
  for (const TrackInfo& track : trace.tracks()) {
    json["tracks"].push_back(
        {{"kind", TrackKindName(track.kind)}, {"name", track.name}});
  }
  json["names"] = trace.names();
  json["kinds"] = nlohmann::json::array();  // By their numbers.
  for (int i = 0; i <= static_cast<int>(kLastEvent); ++i) {
    const auto kind = static_cast<EventKind>(i);
    json["kinds"].push_back(
        {{"name", EventKindName(kind)}, {"span", IsSpan(kind)}});
  }
  json["ids"] = encoder.ids();
  const std::string text =
      json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  // A name must not end the script. "<" is part of JSON's texts only.
  std::string escaped;
  for (const char c : text) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

absl::Status WriteGanttPage(const Trace& trace, Sink sink) {
  EventEncoder encoder(trace);
  for (const Event& event : trace.events()) encoder.Add(event);
  TAKT_RETURN_IF_ERROR(sink(kPageBegin));
  TAKT_RETURN_IF_ERROR(
      sink("<script id=\"trace\" type=\"application/json\">\n"));
  TAKT_RETURN_IF_ERROR(sink(Describe(trace, encoder)));
  TAKT_RETURN_IF_ERROR(
      sink("\n</script>\n<script id=\"events\" type=\"text/plain\">\n"));
  // Pieces of a multiple of 3 bytes need no padding in between.
  constexpr size_t kPieceBytes = 3 << 14;
  const absl::string_view bytes = encoder.bytes();
  for (size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    TAKT_RETURN_IF_ERROR(
        sink(absl::Base64Escape(bytes.substr(at, kPieceBytes))));
  }
  TAKT_RETURN_IF_ERROR(sink("\n</script>\n"));
  return sink(kPageEnd);
}

}  // namespace takt::trace
