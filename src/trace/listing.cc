#include "trace/listing.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "nlohmann/json.hpp"

namespace takt::trace {
namespace {

constexpr size_t kChunkBytes = 1 << 16;

// Passes the text to the sink in pieces.
class Chunks {
 public:
  explicit Chunks(Sink sink) : sink_(sink) {}
  std::string& text() { return text_; }
  absl::Status FlushIfLarge() {
    return text_.size() < kChunkBytes ? absl::OkStatus() : Flush();
  }
  absl::Status Flush() {
    const absl::Status status = sink_(text_);
    text_.clear();
    return status;
  }

 private:
  Sink sink_;
  std::string text_;
};

const char* NpuAnswerText(NpuFaultAction answer) {
  switch (answer) {
    case NpuFaultAction::kRetry:
      return " tried again";
    case NpuFaultAction::kReset:
      return " reset";
    case NpuFaultAction::kQuarantine:
      return " in quarantine";
    case NpuFaultAction::kProbe:
      return " probed";
    case NpuFaultAction::kFallBack:
      return " left to the CPU";
    case NpuFaultAction::kFail:
      return " failed";
  }
  return "";
}

// Names come from files, so bytes that are no UTF-8 are replaced.
std::string Quote(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

std::string Value(const Event& event) {
  switch (event.kind) {
    case EventKind::kDispatch:
      return absl::StrCat(" tiles ", TilesBegin(event.value), " to ",
                          TilesEnd(event.value));
    case EventKind::kTransfer:
    case EventKind::kAlloca:
    case EventKind::kDealloca:
      return absl::StrCat(" ", event.value, " bytes");
    case EventKind::kJobReleased:
    case EventKind::kInvocationBegin:
      return event.value == std::numeric_limits<int64_t>::max()
                 ? std::string()
                 : absl::StrCat(" due ", event.value, " ns");
    case EventKind::kJobMet:
    case EventKind::kJobMissed:
      return absl::StrCat(" after ", event.value, " ns");
    case EventKind::kNpuLease:
      return absl::StrCat(" waited ", event.value, " ns");
    case EventKind::kProgram:
      return event.detail != 0 ? " parks" : "";
    case EventKind::kNpuFault:
      return NpuAnswerText(static_cast<NpuFaultAction>(event.detail));
    default:
      return event.value != 0 ? absl::StrCat(" value ", event.value)
                              : std::string();
  }
}

// The number within its stream of the stream's job that the event is about.
std::optional<uint64_t> JobNumber(const Event& event) {
  uint64_t id = 0;
  switch (event.kind) {
    case EventKind::kJobReleased:
    case EventKind::kJobMet:
    case EventKind::kJobMissed:
    case EventKind::kJobDropped:
    case EventKind::kJobFailed:
      if (event.id == 0) return std::nullopt;
      return StreamJobNumber(event.id);
    case EventKind::kInvocationBegin:
      id = event.parent;
      break;
    case EventKind::kSlot:
    case EventKind::kPlannedSlot:
    case EventKind::kDecisionStart:
    case EventKind::kDecisionYield:
    case EventKind::kDecisionCancel:
    case EventKind::kDecisionLate:
      id = event.id;
      break;
    default:
      return std::nullopt;
  }
  // Calls outside of streams are jobs of the scheduler with other ids.
  if (id == StreamJobNumber(id)) return std::nullopt;
  return StreamJobNumber(id);
}

}  // namespace

std::string DescribeEvent(const Trace& trace, const Event& event) {
  std::string text = EventKindName(event.kind);
  if (event.name != 0) absl::StrAppend(&text, " ", trace.NameOf(event));
  absl::StrAppend(&text, Value(event));
  if (const auto job = JobNumber(event)) absl::StrAppend(&text, " job ", *job);
  if (event.id != 0) absl::StrAppend(&text, " id ", event.id);
  if (event.parent != 0) absl::StrAppend(&text, " of ", event.parent);
  return text;
}

absl::Status WriteText(const Trace& trace, Sink sink) {
  Chunks chunks(sink);
  absl::StrAppend(
      &chunks.text(), trace.is_simulated() ? "simulation" : "run", ", ",
      trace.events().size(), " events in ",
      absl::StrFormat("%.6f", static_cast<double>(trace.end_ns()) / 1e6 -
                                  static_cast<double>(trace.begin_ns()) / 1e6),
      " ms, ", trace.lost_count(), " lost\n");
  size_t width = 0;
  for (const TrackInfo& track : trace.tracks()) {
    width = std::max(width, std::min<size_t>(track.name.size(), 32));
  }
  for (const Event& event : trace.events()) {
    const TrackInfo& track = trace.TrackOf(event);
    absl::StrAppendFormat(
        &chunks.text(), "%14.6f %12s  %-9s %-*s  %s\n",
        static_cast<double>(event.time_ns - trace.begin_ns()) / 1e6,
        IsSpan(event.kind)
            ? absl::StrFormat("%.3f us",
                              static_cast<double>(event.duration_ns) / 1e3)
            : "",
        TrackKindName(track.kind), static_cast<int>(width), track.name,
        DescribeEvent(trace, event));
    TAKT_RETURN_IF_ERROR(chunks.FlushIfLarge());
  }
  return chunks.Flush();
}

absl::Status WriteJson(const Trace& trace, Sink sink) {
  Chunks chunks(sink);
  std::string& text = chunks.text();
  absl::StrAppend(&text, "{\"begin_ns\": ", trace.begin_ns(),
                  ", \"end_ns\": ", trace.end_ns(),
                  ", \"lost\": ", trace.lost_count(),
                  ", \"simulated\": ", trace.is_simulated() ? "true" : "false",
                  ",\n\"tracks\": [");
  const char* separator = "\n";
  for (const TrackInfo& track : trace.tracks()) {
    absl::StrAppend(&text, separator, "{\"kind\": \"",
                    TrackKindName(track.kind),
                    "\", \"name\": ", Quote(track.name), "}");
    separator = ",\n";
  }
  absl::StrAppend(&text, "],\n\"events\": [");
  separator = "\n";
  for (const Event& event : trace.events()) {
    absl::StrAppend(&text, separator, "{\"t\": ", event.time_ns);
    separator = ",\n";
    if (IsSpan(event.kind))
      absl::StrAppend(&text, ", \"ns\": ", event.duration_ns);
    absl::StrAppend(&text, ", \"kind\": \"", EventKindName(event.kind),
                    "\", \"track\": ", event.track);
    if (event.name != 0) {
      absl::StrAppend(&text, ", \"name\": ", Quote(trace.NameOf(event)));
    }
    if (const auto job = JobNumber(event)) {
      absl::StrAppend(&text, ", \"job\": ", *job);
    }
    if (event.id != 0) absl::StrAppend(&text, ", \"id\": ", event.id);
    if (event.parent != 0) absl::StrAppend(&text, ", \"of\": ", event.parent);
    if (event.value != 0) absl::StrAppend(&text, ", \"value\": ", event.value);
    if (event.detail != 0) {
      absl::StrAppend(&text, ", \"detail\": ", static_cast<int>(event.detail));
    }
    text += "}";
    TAKT_RETURN_IF_ERROR(chunks.FlushIfLarge());
  }
  text += "]}\n";
  return chunks.Flush();
}

}  // namespace takt::trace
