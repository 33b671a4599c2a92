// A Tracer collects the events of one instance. Each thread writes events into
// its own ring, and a caller collects them. A new tracer is off; an event then
// costs a load and a branch.
//
//   if (tracer.is_on()) {
//     tracer.Record({.time_ns = start_ns,
//                    .duration_ns = NowNs() - start_ns,
//                    .kind = EventKind::kDispatch,
//                    .name = name_.Find(tracer, function.name),
//                    .id = operation_id});
//   }
//
// Names, tracks and rings live as long as the tracer, so their number is
// bounded. Beyond the bounds, or if memory runs out, an event has no name, or
// is on the thread's own track, or is counted as lost.
//
// Thread-safety: every method may run on any thread. Lock order: mutex_ is a
// leaf; Record() takes it for the first event of a thread only.
#ifndef TAKT_BASE_TRACER_H_
#define TAKT_BASE_TRACER_H_

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/event.h"
#include "base/event_ring.h"
#include "base/hash_map.h"
#include "base/mutex.h"
#include "base/object.h"

namespace takt {

struct TrackInfo {
  TrackKind kind = TrackKind::kThread;
  std::string name;
  bool is_free = false;  // In a tracer: FreeTrack().
};

// The collected events. Their names and tracks are indices of these lists.
struct Recording {
  std::vector<std::string> names;  // The first is the empty one.
  std::vector<TrackInfo> tracks;   // The first is that of no track.
  std::vector<Event> events;       // Thread by thread, in order of recording.
  uint64_t lost_count = 0;  // Overwritten, or of a thread without a ring.
  int64_t complete_ns = 0;  // No event that ended later was overwritten.
};

class Tracer final : public Object {
 public:
  static constexpr ObjectType kType{"takt.tracer"};
  static constexpr uint32_t kEventCountMax = 1u << 24;
  static constexpr uint32_t kThreadCountMax = 1024;

  struct Options {
    uint32_t event_count_max = 1u << 15;  // For each thread.
    uint32_t thread_count_max = 64;
    // Rings that are made by Start() rather than by the first event of a
    // thread.
    uint32_t reserved_count = 0;
  };

  Tracer();

  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  // Records `event` if the tracer is on. An event without a track is on that of
  // this thread. Callers ask is_on() before they make the event.
  void Record(const Event& event) {
    if (__builtin_expect(is_on(), 0)) Write(event);
  }

  // A new number for Event::id; 0 while the tracer is off.
  uint64_t NewId() {
    return is_on() ? next_id_.fetch_add(1, std::memory_order_relaxed) : 0;
  }
  // The number of a name, for Event::name; 0: it gets none. Locks: see
  // TraceName.
  uint32_t Intern(absl::string_view name) ABSL_LOCKS_EXCLUDED(mutex_);
  // The number of a track of its own, for Event::track. If the name is taken,
  // it gets a number.
  uint16_t AddNewTrack(TrackKind kind, absl::string_view name)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // Another owner may have the track and its name.
  void FreeTrack(uint16_t track) ABSL_LOCKS_EXCLUDED(mutex_);
  // Names this thread's track, in every tracer that has no event of it yet. The
  // default is the name of the thread.
  static void NameThisThread(TrackKind kind, absl::string_view name);

  // Starts to record, and drops earlier events. FAILED_PRECONDITION if the
  // tracer is on; INVALID_ARGUMENT for counts of 0 or above the maxima;
  // RESOURCE_EXHAUSTED.
  absl::Status Start(const Options& options) ABSL_LOCKS_EXCLUDED(mutex_);
  // Stops to record. Threads that are recording an event finish that.
  void Stop() { is_on_.store(false, std::memory_order_relaxed); }
  // The events since Start(), or since the last Collect() with `take`. The
  // tracer may be on.
  Recording Collect(bool take = false) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Thread {
    pthread_t handle;
    TrackInfo track;
    uint64_t first;  // The first event of the ring to collect.
    std::unique_ptr<EventRing> ring;
  };
  void Write(const Event& event);
  // This thread's ring; nullptr if there is no room for one.
  EventRing* RingHere();
  EventRing* FindRing() ABSL_LOCKS_EXCLUDED(mutex_);
  EventRing* FindOrMakeRing() ABSL_LOCKS_EXCLUDED(mutex_);
  uint16_t FindTrack(TrackKind kind, absl::string_view name) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint16_t PushTrack(TrackKind kind, std::string name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::unique_ptr<EventRing> TakeSpare() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Differs from that of an earlier tracer at the same address.
  const uint64_t identity_;
  std::atomic<bool> is_on_{false};
  std::atomic<uint64_t> next_id_{1};
  std::atomic<uint64_t> unwritten_count_{0};
  // Changes when threads may get another ring.
  std::atomic<uint32_t> generation_{0};

  Mutex mutex_;
  Options options_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> names_ ABSL_GUARDED_BY(mutex_);
  HashMap<std::string, uint32_t> name_numbers_ ABSL_GUARDED_BY(mutex_);
  std::vector<TrackInfo> tracks_ ABSL_GUARDED_BY(mutex_);
  std::vector<Thread> threads_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<EventRing>> spares_ ABSL_GUARDED_BY(mutex_);
  // Rings of an earlier size. A thread may still write to them.
  std::vector<std::unique_ptr<EventRing>> retired_ ABSL_GUARDED_BY(mutex_);
  uint64_t unwritten_first_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The number of a name that is recorded often, looked up once. Its owner uses
// one tracer only.
class TraceName {
 public:
  uint32_t Find(Tracer& tracer, absl::string_view name) const {
    const uint32_t known = number_.load(std::memory_order_relaxed);
    return known != 0 ? known : FindSlow(tracer, name);
  }

 private:
  uint32_t FindSlow(Tracer& tracer, absl::string_view name) const;
  mutable std::atomic<uint32_t> number_{0};
};

}  // namespace takt

#endif  // TAKT_BASE_TRACER_H_
