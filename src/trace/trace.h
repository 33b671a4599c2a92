// A Trace is a recording in order. All code that shows or checks traces works
// on it. It is immutable.
//
// Invariants:
//   (1) Events are in order of their begin. Of events with one begin on one
//       track, the longer ones come first.
//   (2) Each event's track and name exist; the name 0 is the empty one.
//   (3) Durations are not negative, and nothing ends after INT64_MAX.
#ifndef TAKT_TRACE_TRACE_H_
#define TAKT_TRACE_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/object.h"
#include "base/tracer.h"

namespace takt::trace {

class Trace final : public Object {
 public:
  static constexpr ObjectType kType{"takt.trace"};

  // Sorts the events. Removes tracks without events, and events of an unknown
  // track or kind. An event with an unknown name gets none.
  static Ref<Trace> Create(Recording recording, bool is_simulated);

  const std::vector<Event>& events() const { return recording_.events; }
  const std::vector<TrackInfo>& tracks() const { return recording_.tracks; }
  const std::vector<std::string>& names() const { return recording_.names; }
  uint64_t lost_count() const { return recording_.lost_count; }
  // No event that ended later was overwritten; 0: none was.
  int64_t complete_ns() const { return recording_.complete_ns; }
  bool is_simulated() const { return is_simulated_; }

  const std::string& NameOf(const Event& event) const {
    return names()[event.name];
  }
  const TrackInfo& TrackOf(const Event& event) const {
    return tracks()[event.track];
  }
  // From the first event to the last end; 0 without events.
  int64_t begin_ns() const { return begin_ns_; }
  int64_t end_ns() const { return end_ns_; }

 private:
  Trace(Recording recording, bool is_simulated);

  const Recording recording_;
  const bool is_simulated_;
  int64_t begin_ns_ = 0;
  int64_t end_ns_ = 0;
};

}  // namespace takt::trace

#endif  // TAKT_TRACE_TRACE_H_
