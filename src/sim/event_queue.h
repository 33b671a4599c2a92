// A SimulationEventQueue orders what will happen in virtual time. Events of
// the same time come in the order in which they were posted, so a run is the
// same each time.
#ifndef TAKT_SIM_EVENT_QUEUE_H_
#define TAKT_SIM_EVENT_QUEUE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace takt::sim {

enum class EventKind : uint8_t {
  kRelease,  // index: the stream.
  kStop,     // index: the run; void unless its epoch is this one.
  kPause,    // As kStop: its cores have used their budgets, or get new ones.
  kLost,     // index: the resource.
  kFound,    // index: the resource.
  kSpeed,    // index: the step.
  kThermal,  // index: the model.
  kDecide,   // The scheduler asked to be called.
};

struct SimulationEvent {
  int64_t at_ns = 0;
  uint64_t sequence = 0;
  EventKind kind = EventKind::kRelease;
  uint32_t index = 0;
  uint32_t epoch = 0;
};

class SimulationEventQueue {
 public:
  bool empty() const { return events_.empty(); }
  const SimulationEvent& top() const { return events_.front(); }
  uint64_t posted_count() const { return next_sequence_; }

  void Post(int64_t at_ns, EventKind kind, uint32_t index = 0,
            uint32_t epoch = 0) {
    events_.push_back({at_ns, next_sequence_++, kind, index, epoch});
    std::push_heap(events_.begin(), events_.end(), IsLater);
  }
  SimulationEvent Pop() {
    std::pop_heap(events_.begin(), events_.end(), IsLater);
    const SimulationEvent event = events_.back();
    events_.pop_back();
    return event;
  }

 private:
  static bool IsLater(const SimulationEvent& a, const SimulationEvent& b) {
    return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.sequence > b.sequence;
  }

  std::vector<SimulationEvent> events_;  // Binary heap, the first on top.
  uint64_t next_sequence_ = 0;
};

}  // namespace takt::sim

#endif  // TAKT_SIM_EVENT_QUEUE_H_
