#include "trace/trace.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace takt::trace {
namespace {

bool IsKnown(const Event& event, size_t track_count) {
  return event.track < track_count && EventKindName(event.kind)[0] != '\0';
}

void Repair(Event& event, size_t name_count) {
  if (event.name >= name_count) event.name = 0;
  if (!IsSpan(event.kind)) event.duration_ns = 0;
  event.duration_ns = std::max<int64_t>(event.duration_ns, 0);
  if (event.time_ns > 0) {
    event.duration_ns = std::min(
        event.duration_ns, std::numeric_limits<int64_t>::max() - event.time_ns);
  }
}

// Removes the tracks without events.
void DropTracks(Recording& recording) {
  std::vector<bool> is_used(recording.tracks.size(), false);
  for (const Event& event : recording.events) is_used[event.track] = true;
  std::vector<uint16_t> numbers(recording.tracks.size(), 0);
  std::vector<TrackInfo> kept;
  for (size_t i = 0; i < recording.tracks.size(); ++i) {
    if (!is_used[i]) continue;
    numbers[i] = static_cast<uint16_t>(kept.size());
    kept.push_back(std::move(recording.tracks[i]));
  }
  recording.tracks = std::move(kept);
  for (Event& event : recording.events) event.track = numbers[event.track];
}

Recording Order(Recording recording) {
  std::vector<Event>& events = recording.events;
  const size_t track_count = recording.tracks.size();
  if (recording.names.empty()) recording.names.emplace_back();
  events.erase(std::remove_if(events.begin(), events.end(),
                              [track_count](const Event& event) {
                                return !IsKnown(event, track_count);
                              }),
               events.end());
  for (Event& event : events) Repair(event, recording.names.size());
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) {
                     return std::tuple(a.time_ns, -a.duration_ns) <
                            std::tuple(b.time_ns, -b.duration_ns);
                   });
  DropTracks(recording);
  return recording;
}

}  // namespace

Ref<Trace> Trace::Create(Recording recording, bool is_simulated) {
  return Ref<Trace>::Adopt(
      new Trace(Order(std::move(recording)), is_simulated));
}

Trace::Trace(Recording recording, bool is_simulated)
    : Object(&kType),
      recording_(std::move(recording)),
      is_simulated_(is_simulated) {
  if (events().empty()) return;
  begin_ns_ = events().front().time_ns;
  for (const Event& event : events()) {
    end_ns_ = std::max(end_ns_, event.end_ns());
  }
}

}  // namespace takt::trace
