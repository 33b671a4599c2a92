#include "base/tracer.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/exceptions.h"
#include "base/status.h"

namespace takt {
namespace {

// Far above the functions and kernels of a program, and a few MiB in all.
constexpr size_t kNameCountMax = 1u << 16;
// Event::track has 16 bits, and Collect() adds a track for each thread.
constexpr size_t kTrackCountMax = 1u << 14;
static_assert(kTrackCountMax + Tracer::kThreadCountMax < 1u << 16);

// The ring that this thread has used last, and its tracer.
struct Cached {
  uint64_t identity = 0;
  uint32_t generation = 0;
  EventRing* ring = nullptr;
};
Cached& CachedHere() {
  // This model spares a library the call of its loader at each access.
  [[gnu::tls_model("initial-exec")]] thread_local Cached cached;
  return cached;
}

struct Label {
  TrackKind kind = TrackKind::kThread;
  char name[48] = "";
};
Label& LabelHere() {
  thread_local Label label;
  return label;
}

TrackInfo TrackHere() {
  const Label& label = LabelHere();
  if (label.name[0] != '\0') return {label.kind, label.name};
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof(name));
  return {TrackKind::kThread, name};
}

}  // namespace

Tracer::Tracer()
    : Object(&kType),
      // Two tracers at one address were not made in the same ns.
      identity_(static_cast<uint64_t>(NowNs()) * 0x9e3779b97f4a7c15u ^
                reinterpret_cast<uintptr_t>(this)),
      names_{""},
      tracks_{{}} {}

void Tracer::NameThisThread(TrackKind kind, absl::string_view name) {
  Label& label = LabelHere();
  label.kind = kind;
  const size_t length = std::min(name.size(), sizeof(label.name) - 1);
  std::memcpy(label.name, name.data(), length);
  label.name[length] = '\0';
}

uint32_t Tracer::Intern(absl::string_view name) {
  if (name.empty()) return 0;
  MutexLock lock(&mutex_);
  TAKT_TRY {
    const auto found = name_numbers_.find(std::string(name));
    if (found != name_numbers_.end()) return found->second;
    if (names_.size() == kNameCountMax) return 0;
    const auto number = static_cast<uint32_t>(names_.size());
    names_.emplace_back(name);
    name_numbers_.emplace(names_.back(), number);
    return number;
  }
  TAKT_CATCH(const std::bad_alloc&) { return 0; }
}

uint32_t TraceName::FindSlow(Tracer& tracer, absl::string_view name) const {
  const uint32_t number = tracer.Intern(name);
  number_.store(number, std::memory_order_relaxed);
  return number;
}

uint16_t Tracer::FindTrack(TrackKind kind, absl::string_view name) const {
  for (size_t i = 1; i < tracks_.size(); ++i) {
    if (tracks_[i].kind == kind && tracks_[i].name == name) {
      return static_cast<uint16_t>(i);
    }
  }
  return 0;
}

uint16_t Tracer::PushTrack(TrackKind kind, std::string name) {
  if (tracks_.size() == kTrackCountMax) return 0;
  tracks_.push_back({kind, std::move(name)});
  return static_cast<uint16_t>(tracks_.size() - 1);
}

uint16_t Tracer::AddNewTrack(TrackKind kind, absl::string_view name) {
  MutexLock lock(&mutex_);
  TAKT_TRY {
    std::string numbered(name);
    for (int i = 2;; ++i) {
      const uint16_t found = FindTrack(kind, numbered);
      if (found == 0) return PushTrack(kind, std::move(numbered));
      if (std::exchange(tracks_[found].is_free, false)) return found;
      numbered = absl::StrCat(name, " #", i);
    }
  }
  TAKT_CATCH(const std::bad_alloc&) { return 0; }
}

void Tracer::FreeTrack(uint16_t track) {
  MutexLock lock(&mutex_);
  tracks_[track].is_free = true;
}

absl::Status Tracer::Start(const Options& options) {
  if (options.event_count_max == 0 ||
      options.event_count_max > kEventCountMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("event_count_max: expected 1 to ", kEventCountMax,
                     ", got ", options.event_count_max));
  }
  if (options.thread_count_max == 0 ||
      options.thread_count_max > kThreadCountMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("thread_count_max: expected 1 to ", kThreadCountMax,
                     ", got ", options.thread_count_max));
  }
  MutexLock lock(&mutex_);
  if (is_on())
    return absl::FailedPreconditionError("the tracer records already");
  if (options.event_count_max != options_.event_count_max) {
    for (Thread& thread : threads_) {
      retired_.push_back(std::move(thread.ring));
    }
    threads_.clear();
    spares_.clear();
  }
  generation_.fetch_add(1, std::memory_order_relaxed);
  options_ = options;
  options_.reserved_count =
      std::min(options.reserved_count, options.thread_count_max);
  while (threads_.size() + spares_.size() < options_.reserved_count) {
    std::unique_ptr<EventRing> ring =
        EventRing::Create(options_.event_count_max);
    if (ring == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for ", options_.reserved_count, " times ",
                       options_.event_count_max, " events"));
    }
    ring->Touch();
    spares_.push_back(std::move(ring));
  }
  for (Thread& thread : threads_) thread.first = thread.ring->written_count();
  unwritten_first_ = unwritten_count_.load(std::memory_order_relaxed);
  is_on_.store(true, std::memory_order_relaxed);
  return absl::OkStatus();
}

Recording Tracer::Collect(bool take) {
  Recording recording;
  MutexLock lock(&mutex_);
  recording.names = names_;
  recording.tracks = tracks_;
  const size_t registered = tracks_.size();
  for (Thread& thread : threads_) {
    const size_t begin = recording.events.size();
    const uint64_t lost = thread.ring->Read(thread.first, &recording.events);
    const size_t count = recording.events.size() - begin;
    recording.lost_count += lost;
    if (take) thread.first += lost + count;
    if (count == 0) continue;
    if (lost > 0) {
      recording.complete_ns =
          std::max(recording.complete_ns, recording.events[begin].end_ns());
    }
    const auto own = static_cast<uint16_t>(recording.tracks.size());
    recording.tracks.push_back(thread.track);
    for (size_t i = begin; i < recording.events.size(); ++i) {
      Event& event = recording.events[i];
      if (event.track == 0 || event.track >= registered) event.track = own;
      if (event.name >= recording.names.size()) event.name = 0;
    }
  }
  const uint64_t unwritten = unwritten_count_.load(std::memory_order_relaxed);
  recording.lost_count += unwritten - unwritten_first_;
  TAKT_DCHECK(unwritten >= unwritten_first_);
  if (take) unwritten_first_ = unwritten;
  return recording;
}

void Tracer::Write(const Event& event) {
  EventRing* const ring = RingHere();
  if (__builtin_expect(ring == nullptr, 0)) {
    unwritten_count_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ring->Write(event);
}

EventRing* Tracer::RingHere() {
  Cached& cached = CachedHere();
  const uint32_t generation = generation_.load(std::memory_order_relaxed);
  if (__builtin_expect(
          cached.identity == identity_ && cached.generation == generation, 1)) {
    return cached.ring;
  }
  EventRing* const ring = FindRing();
  cached = {identity_, generation, ring};
  return ring;
}

EventRing* Tracer::FindRing() {
  TAKT_TRY { return FindOrMakeRing(); }
  TAKT_CATCH(const std::bad_alloc&) { return nullptr; }
}

EventRing* Tracer::FindOrMakeRing() {
  TrackInfo track = TrackHere();
  const pthread_t self = pthread_self();
  MutexLock lock(&mutex_);
  for (const Thread& thread : threads_) {
    // A thread with the same handle that is another one has ended.
    if (pthread_equal(thread.handle, self) != 0 &&
        thread.track.kind == track.kind && thread.track.name == track.name) {
      return thread.ring.get();
    }
  }
  if (threads_.size() == options_.thread_count_max) return nullptr;
  std::unique_ptr<EventRing> ring = TakeSpare();
  if (ring == nullptr) return nullptr;
  TAKT_CHECK(ring->written_count() == 0);
  threads_.push_back({self, std::move(track), 0, std::move(ring)});
  return threads_.back().ring.get();
}

std::unique_ptr<EventRing> Tracer::TakeSpare() {
  if (spares_.empty()) return EventRing::Create(options_.event_count_max);
  std::unique_ptr<EventRing> ring = std::move(spares_.back());
  spares_.pop_back();
  return ring;
}

}  // namespace takt
