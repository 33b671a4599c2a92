// takt/tools/trace_contents.hpp - the contents of traces from C++; contracts
// are in takt/tools/trace_contents.h.
//
// Part of libtakt-tools. This interface may change with every release.
#ifndef TAKT_TOOLS_TRACE_CONTENTS_HPP_
#define TAKT_TOOLS_TRACE_CONTENTS_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <cstdint>
#include <string>

#include "takt/takt.hpp"
#include "takt/tools/trace_contents.h"
#include "takt/trace.hpp"

namespace takt {
inline namespace cxx {

// What is inside a trace. Texts of tracks and events are borrowed from it.
class TraceContents
    : public Object<TraceContents, takt_trace_contents_t,
                    takt_trace_contents_retain, takt_trace_contents_release> {
 public:
  using Object::Object;

  static Result<TraceContents> Read(const Trace& trace) {
    takt_trace_contents_t* contents = nullptr;
    takt_status_t status = takt_trace_contents_create(trace.get(), &contents);
    return TakeResult<TraceContents>(status, contents);
  }
  takt_trace_info_t info() const { return takt_trace_contents_info(get()); }
  takt_trace_track_t track(size_t index) const {
    return takt_trace_contents_track(get(), index);
  }
  takt_trace_event_t event(size_t index) const {
    return takt_trace_contents_event(get(), index);
  }

  Result<std::string> Summarize(bool as_json = false) const {
    char* text = nullptr;
    takt_status_t status = takt_trace_contents_summarize(get(), as_json, &text);
    return TakeText(status, text);
  }
  Result<std::string> Compare(bool as_json = false) const {
    char* text = nullptr;
    takt_status_t status = takt_trace_contents_compare(get(), as_json, &text);
    return TakeText(status, text);
  }
  Result<std::string> Explain(size_t job_count_max,
                              bool as_json = false) const {
    char* text = nullptr;
    takt_status_t status =
        takt_trace_contents_explain(get(), job_count_max, as_json, &text);
    return TakeText(status, text);
  }
  // The faults, a line each; "" if there is none.
  Result<std::string> Check(uint64_t* count = nullptr) const {
    char* text = nullptr;
    uint64_t found = 0;
    takt_status_t status = takt_trace_contents_check(get(), &found, &text);
    if (count != nullptr) *count = found;
    return TakeText(status, text);
  }

 private:
  static Result<std::string> TakeText(takt_status_t status, char* text) {
    if (status != nullptr) return Status(status);
    std::string result = text;
    takt_string_free(text);
    return result;
  }
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_TOOLS_TRACE_CONTENTS_HPP_
