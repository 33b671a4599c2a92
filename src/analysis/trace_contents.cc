#include "takt/tools/trace_contents.h"

#include <string>
#include <utility>

#include "abi/guard.h"
#include "absl/strings/str_join.h"
#include "analysis/handle.h"
#include "analysis/libtakt.h"
#include "base/object.h"
#include "trace/check.h"
#include "trace/comparison.h"
#include "trace/explanation.h"
#include "trace/summary.h"
#include "trace/trace.h"

namespace takt::analysis {

static_assert(TAKT_TRACE_TRACK_PLAN == static_cast<int>(kLastTrack));

class TraceContents final : public Object {
 public:
  static constexpr ObjectType kType{"takt.trace_contents"};

  explicit TraceContents(Ref<trace::Trace> trace)
      : Object(&kType), trace_(std::move(trace)) {}

  const trace::Trace& trace() const { return *trace_; }

 private:
  const Ref<trace::Trace> trace_;
};

namespace {

absl::StatusOr<Ref<TraceContents>> ReadContents(const takt_trace_t* trace) {
  TAKT_ASSIGN_OR_RETURN(Ref<trace::Trace> read, ReadTrace(trace));
  return MakeRef<TraceContents>(std::move(read));
}

std::string Summarize(const trace::Trace& trace, bool as_json) {
  const trace::Summary summary = trace::Summarize(trace);
  return as_json ? trace::SummaryJson(summary) : trace::SummaryText(summary);
}

std::string Compare(const trace::Trace& trace, bool as_json) {
  const trace::Comparison comparison = trace::Compare(trace);
  return as_json ? trace::ComparisonJson(comparison)
                 : trace::ComparisonText(comparison);
}

std::string Explain(const trace::Trace& trace, size_t job_count_max,
                    bool as_json) {
  const trace::Explanation explanation = trace::Explain(trace, job_count_max);
  return as_json ? trace::ExplanationJson(explanation)
                 : trace::ExplanationText(explanation);
}

}  // namespace
}  // namespace takt::analysis

using takt::analysis::GiveText;
using takt::analysis::Unwrap;

takt_status_t takt_trace_contents_create(const takt_trace_t* trace,
                                         takt_trace_contents_t** out_contents) {
  TAKT_REQUIRE(trace, out_contents);
  TAKT_TRY {
    return takt::analysis::Give(__func__, takt::analysis::ReadContents(trace),
                                out_contents);
  }
  TAKT_CATCH_ALL(trace, out_contents);
}

void takt_trace_contents_retain(takt_trace_contents_t* contents) {
  takt::analysis::RetainHandle(contents);
}

void takt_trace_contents_release(takt_trace_contents_t* contents) {
  takt::analysis::ReleaseHandle(contents);
}

takt_trace_info_t takt_trace_contents_info(
    const takt_trace_contents_t* contents) {
  TAKT_REQUIRE_OR({}, contents);
  const takt::trace::Trace& from = Unwrap(contents)->trace();
  takt_trace_info_t info = {};
  info.track_count = from.tracks().size();
  info.event_count = from.events().size();
  info.lost_count = from.lost_count();
  info.begin_ns = from.begin_ns();
  info.end_ns = from.end_ns();
  info.is_simulated = from.is_simulated();
  return info;
}

takt_trace_track_t takt_trace_contents_track(
    const takt_trace_contents_t* contents, size_t index) {
  TAKT_REQUIRE_OR({}, contents);
  takt_trace_track_t track = {};
  const auto& tracks = Unwrap(contents)->trace().tracks();
  if (index >= tracks.size()) return track;
  track.kind = static_cast<takt_trace_track_kind_t>(tracks[index].kind);
  track.name = tracks[index].name.c_str();
  return track;
}

takt_trace_event_t takt_trace_contents_event(
    const takt_trace_contents_t* contents, size_t index) {
  TAKT_REQUIRE_OR({}, contents);
  takt_trace_event_t event = {};
  const takt::trace::Trace& from = Unwrap(contents)->trace();
  if (index >= from.events().size()) return event;
  const takt::Event& one = from.events()[index];
  event.kind = takt::EventKindName(one.kind);
  event.name = from.NameOf(one).c_str();
  event.track = one.track;
  event.time_ns = one.time_ns;
  event.duration_ns = one.duration_ns;
  event.id = one.id;
  event.parent = one.parent;
  event.value = one.value;
  event.detail = one.detail;
  return event;
}

takt_status_t takt_trace_contents_summarize(
    const takt_trace_contents_t* contents, bool as_json, char** out_text) {
  TAKT_REQUIRE(contents, out_text);
  TAKT_TRY {
    return GiveText(
        __func__, takt::analysis::Summarize(Unwrap(contents)->trace(), as_json),
        out_text);
  }
  TAKT_CATCH_ALL(contents, out_text);
}

takt_status_t takt_trace_contents_compare(const takt_trace_contents_t* contents,
                                          bool as_json, char** out_text) {
  TAKT_REQUIRE(contents, out_text);
  TAKT_TRY {
    return GiveText(__func__,
                    takt::analysis::Compare(Unwrap(contents)->trace(), as_json),
                    out_text);
  }
  TAKT_CATCH_ALL(contents, out_text);
}

takt_status_t takt_trace_contents_explain(const takt_trace_contents_t* contents,
                                          size_t job_count_max, bool as_json,
                                          char** out_text) {
  TAKT_REQUIRE(contents, out_text);
  TAKT_TRY {
    return GiveText(__func__,
                    takt::analysis::Explain(Unwrap(contents)->trace(),
                                            job_count_max, as_json),
                    out_text);
  }
  TAKT_CATCH_ALL(contents, out_text);
}

takt_status_t takt_trace_contents_check(const takt_trace_contents_t* contents,
                                        uint64_t* out_count, char** out_text) {
  TAKT_REQUIRE(contents, out_count, out_text);
  TAKT_TRY {
    const takt::trace::CheckResult result =
        takt::trace::CheckTrace(Unwrap(contents)->trace());
    *out_count = result.finding_count;
    return GiveText(__func__, absl::StrJoin(result.findings, "\n"), out_text);
  }
  TAKT_CATCH_ALL(contents, out_count, out_text);
}
