#include "trace/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/stable_sort.h"
#include "nlohmann/json.hpp"

namespace takt::trace {
namespace {

double Ms(int64_t ns) { return static_cast<double>(ns) / 1e6; }

// The time of a track that spans cover. Spans come in order of their begins.
class Cover {
 public:
  void Add(const Event& span) {
    const int64_t begin_ns = std::max(span.time_ns, end_ns_);
    if (span.end_ns() <= begin_ns && is_begun_) return;
    covered_ns_ += is_begun_ ? span.end_ns() - begin_ns : span.duration_ns;
    end_ns_ = span.end_ns();
    is_begun_ = true;
  }
  int64_t covered_ns() const { return covered_ns_; }

 private:
  bool is_begun_ = false;
  int64_t end_ns_ = 0;
  int64_t covered_ns_ = 0;
};

void SummarizeTracks(const Trace& trace, Summary& summary) {
  std::vector<Cover> covers(trace.tracks().size());
  for (const TrackInfo& track : trace.tracks()) {
    summary.tracks.push_back({track});
  }
  for (const Event& event : trace.events()) {
    if (!IsSpan(event.kind)) continue;
    covers[event.track].Add(event);
    ++summary.tracks[event.track].span_count;
  }
  for (size_t i = 0; i < covers.size(); ++i) {
    summary.tracks[i].busy_ns = covers[i].covered_ns();
  }
}

void SummarizeWork(const Trace& trace, Summary& summary) {
  std::map<std::pair<EventKind, uint32_t>, std::vector<int64_t>> durations;
  for (const Event& event : trace.events()) {
    if (!IsSpan(event.kind)) continue;
    durations[{event.kind, event.name}].push_back(event.duration_ns);
  }
  for (auto& [key, values] : durations) {
    std::sort(values.begin(), values.end());
    WorkSummary work;
    work.kind = key.first;
    work.name = trace.names()[key.second];
    work.count = values.size();
    for (const int64_t value : values) work.total_ns += value;
    work.q50_ns = Quantile(values, 0.5);
    work.q99_ns = Quantile(values, 0.99);
    work.max_ns = values.back();
    summary.work.push_back(std::move(work));
  }
  StableSort(summary.work, [](const WorkSummary& a, const WorkSummary& b) {
    return a.total_ns > b.total_ns;
  });
}

void Count(const Event& event, StreamSummary& stream) {
  stream.released += event.kind == EventKind::kJobReleased;
  stream.met += event.kind == EventKind::kJobMet;
  stream.missed += event.kind == EventKind::kJobMissed;
  stream.dropped += event.kind == EventKind::kJobDropped;
  stream.failed += event.kind == EventKind::kJobFailed;
}

void SummarizeStreams(const Trace& trace, Summary& summary) {
  std::vector<StreamSummary> streams(trace.tracks().size());
  std::vector<std::vector<int64_t>> responses(trace.tracks().size());
  for (const Event& event : trace.events()) {
    if (trace.TrackOf(event).kind != TrackKind::kStream) continue;
    Count(event, streams[event.track]);
    if (event.kind == EventKind::kJobMet ||
        event.kind == EventKind::kJobMissed) {
      responses[event.track].push_back(event.value);
    }
  }
  for (size_t i = 0; i < streams.size(); ++i) {
    if (trace.tracks()[i].kind != TrackKind::kStream) continue;
    StreamSummary& stream = streams[i];
    std::vector<int64_t>& values = responses[i];
    std::sort(values.begin(), values.end());
    stream.name = trace.tracks()[i].name;
    stream.mean_ns = Mean(values);
    if (!values.empty()) stream.max_ns = values.back();
    stream.q50_ns = Quantile(values, 0.5);
    stream.q99_ns = Quantile(values, 0.99);
    summary.streams.push_back(std::move(stream));
  }
}

}  // namespace

int64_t Quantile(const std::vector<int64_t>& values, double rank) {
  if (values.empty()) return 0;
  const double place = std::ceil(rank * static_cast<double>(values.size())) - 1;
  const auto index = static_cast<size_t>(std::max(place, 0.0));
  return values[std::min(index, values.size() - 1)];
}

int64_t Mean(const std::vector<int64_t>& values) {
  if (values.empty()) return 0;
  double sum = 0;
  for (const int64_t value : values) sum += static_cast<double>(value);
  return std::llround(sum / static_cast<double>(values.size()));
}

Summary Summarize(const Trace& trace) {
  Summary summary;
  summary.length_ns = trace.end_ns() - trace.begin_ns();
  summary.event_count = trace.events().size();
  summary.lost_count = trace.lost_count();
  summary.is_simulated = trace.is_simulated();
  SummarizeTracks(trace, summary);
  SummarizeWork(trace, summary);
  SummarizeStreams(trace, summary);
  return summary;
}

std::string SummaryText(const Summary& summary) {
  std::string text = absl::StrFormat(
      "%s of %.3f ms: %d events, %d lost\n",
      summary.is_simulated ? "simulation" : "run", Ms(summary.length_ns),
      summary.event_count, summary.lost_count);
  const double length_ns =
      static_cast<double>(std::max<int64_t>(summary.length_ns, 1));
  absl::StrAppendFormat(&text, "\n%-9s %-32s %8s %12s %6s\n", "track", "",
                        "spans", "busy ms", "busy");
  for (const TrackSummary& track : summary.tracks) {
    if (track.span_count == 0) continue;
    absl::StrAppendFormat(&text, "%-9s %-32s %8d %12.3f %5.1f%%\n",
                          TrackKindName(track.track.kind), track.track.name,
                          track.span_count, Ms(track.busy_ns),
                          100 * static_cast<double>(track.busy_ns) / length_ns);
  }
  absl::StrAppendFormat(&text, "\n%-12s %-40s %8s %12s %10s %10s %10s\n",
                        "work", "", "count", "total ms", "q50 us", "q99 us",
                        "max us");
  for (const WorkSummary& work : summary.work) {
    absl::StrAppendFormat(
        &text, "%-12s %-40s %8d %12.3f %10.3f %10.3f %10.3f\n",
        EventKindName(work.kind), work.name, work.count, Ms(work.total_ns),
        Ms(work.q50_ns) * 1e3, Ms(work.q99_ns) * 1e3, Ms(work.max_ns) * 1e3);
  }
  if (summary.streams.empty()) return text;
  absl::StrAppendFormat(&text, "\n%-24s %8s %8s %7s %7s %6s %9s %9s %9s\n",
                        "stream", "released", "met", "missed", "dropped",
                        "failed", "mean ms", "q99 ms", "max ms");
  for (const StreamSummary& stream : summary.streams) {
    absl::StrAppendFormat(
        &text, "%-24s %8d %8d %7d %7d %6d %9.3f %9.3f %9.3f\n", stream.name,
        stream.released, stream.met, stream.missed, stream.dropped,
        stream.failed, Ms(stream.mean_ns), Ms(stream.q99_ns),
        Ms(stream.max_ns));
  }
  return text;
}

std::string SummaryJson(const Summary& summary) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["simulated"] = summary.is_simulated;
  json["length_ns"] = summary.length_ns;
  json["events"] = summary.event_count;
  json["lost"] = summary.lost_count;
  json["tracks"] = Json::array();
  for (const TrackSummary& track : summary.tracks) {
    json["tracks"].push_back({{"kind", TrackKindName(track.track.kind)},
                              {"name", track.track.name},
                              {"spans", track.span_count},
                              {"busy_ns", track.busy_ns}});
  }
  json["work"] = Json::array();
  for (const WorkSummary& work : summary.work) {
    json["work"].push_back({{"kind", EventKindName(work.kind)},
                            {"name", work.name},
                            {"count", work.count},
                            {"total_ns", work.total_ns},
                            {"q50_ns", work.q50_ns},
                            {"q99_ns", work.q99_ns},
                            {"max_ns", work.max_ns}});
  }
  json["streams"] = Json::array();
  for (const StreamSummary& stream : summary.streams) {
    json["streams"].push_back({{"name", stream.name},
                               {"released", stream.released},
                               {"met", stream.met},
                               {"missed", stream.missed},
                               {"dropped", stream.dropped},
                               {"failed", stream.failed},
                               {"mean_ns", stream.mean_ns},
                               {"q50_ns", stream.q50_ns},
                               {"q99_ns", stream.q99_ns},
                               {"max_ns", stream.max_ns}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace takt::trace
