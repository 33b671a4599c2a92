// A Tracer collects what happens in one instance: each thread writes events
// into a ring of its own, and whoever wants to know collects them. While it is
// off, which is how it begins, an event costs a load and a branch.
//
//   if (tracer.is_on()) {
//     tracer.Record({.time_ns = start_ns,
//                    .duration_ns = NowNs() - start_ns,
//                    .kind = EventKind::kDispatch,
//                    .name = name_.Find(tracer, function.name),
//                    .id = operation_id});
//   }
//
// Names, tracks and rings are never taken back: their number is bounded, and
// what is beyond is recorded without a name, on the thread's own track, or not
// at all, and counted.
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
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/event.h"
#include "base/event_ring.h"
#include "base/mutex.h"
#include "base/object.h"

namespace takt {

struct TrackInfo {
  TrackKind kind = TrackKind::kThread;
  std::string name;
};

// What was collected. The indices in the events are those of these lists.
struct Recording {
  std::vector<std::string> names;  // The first is the empty one.
  std::vector<TrackInfo> tracks;   // The first is of what has no track.
  std::vector<Event> events;       // Thread by thread, in order of recording.
  uint64_t lost_count = 0;         // Overwritten, or of threads without a ring.
};

class Tracer final : public Object {
 public:
  static constexpr ObjectType kType{"takt.tracer"};
  static constexpr uint32_t kEventCountMax = 1u << 24;
  static constexpr uint32_t kThreadCountMax = 1024;

  struct Options {
    uint32_t event_count_max = 1u << 15;  // That each thread keeps.
    uint32_t thread_count_max = 64;
    // Threads whose rings are there before their first event.
    uint32_t reserved_count = 0;
  };

  Tracer();

  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  // Where an event has no track, it gets that of this thread. Nothing if the
  // tracer is off. Ask is_on() before making the event.
  void Record(const Event& event) {
    if (__builtin_expect(is_on(), 0)) Write(event);
  }

  // A number that no other event's `id` has, but 0 while it is off.
  uint64_t NewId() {
    return is_on() ? next_id_.fetch_add(1, std::memory_order_relaxed) : 0;
  }
  // The number of a name, for Event::name. Locks: see TraceName.
  uint32_t Intern(absl::string_view name) ABSL_LOCKS_EXCLUDED(mutex_);
  // The number of the track of that kind and name, for Event::track.
  uint16_t AddTrack(TrackKind kind, absl::string_view name)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // The same, but never one that there is: the name gets a number if it must.
  uint16_t AddNewTrack(TrackKind kind, absl::string_view name)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // How this thread's track is called from now on, in every tracer that has
  // no event of it yet. Without this it is the thread's own name.
  static void NameThisThread(TrackKind kind, absl::string_view name);

  // From now on events are recorded; those of an earlier time are forgotten.
  // FAILED_PRECONDITION if it is on; INVALID_ARGUMENT for counts of 0 or above
  // the above; RESOURCE_EXHAUSTED.
  absl::Status Start(const Options& options) ABSL_LOCKS_EXCLUDED(mutex_);
  // Events that are being recorded may still be.
  void Stop() { is_on_.store(false, std::memory_order_relaxed); }
  // What is there since Start(), or since the last Collect() that takes.
  // `take`: the next one goes on behind it. While the tracer is on, too.
  Recording Collect(bool take = false) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Thread {
    pthread_t handle;
    TrackInfo track;
    uint64_t first;  // The ring's event to be collected first.
    std::unique_ptr<EventRing> ring;
  };
  void Write(const Event& event);
  // This thread's ring; nullptr if it gets none.
  EventRing* RingHere();
  EventRing* FindRing() ABSL_LOCKS_EXCLUDED(mutex_);
  uint16_t FindTrack(TrackKind kind, absl::string_view name) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint16_t PushTrack(TrackKind kind, std::string name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::unique_ptr<EventRing> TakeSpare() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Says that it is this one, though another has been at its address.
  const uint64_t identity_;
  std::atomic<bool> is_on_{false};
  std::atomic<uint64_t> next_id_{1};
  std::atomic<uint64_t> unwritten_count_{0};
  // Changes when a thread may have another ring than before.
  std::atomic<uint32_t> generation_{0};

  Mutex mutex_;
  Options options_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> names_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, uint32_t> name_numbers_
      ABSL_GUARDED_BY(mutex_);
  std::vector<TrackInfo> tracks_ ABSL_GUARDED_BY(mutex_);
  std::vector<Thread> threads_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<EventRing>> spares_ ABSL_GUARDED_BY(mutex_);
  // Of another capacity: a thread may still write to them.
  std::vector<std::unique_ptr<EventRing>> retired_ ABSL_GUARDED_BY(mutex_);
  uint64_t unwritten_first_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The number of a name that is recorded often, looked up once. Belongs to
// something that knows one tracer only.
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
