// takt/scheduler.hpp - the scheduler from C++; contracts are in
// takt/scheduler.h.
//
//   takt::Scheduler scheduler(instance);
//   auto answer = scheduler.Admit(stream, /*promise=*/true).value();
//   if (answer.verdict != TAKT_ADMISSION_FITS) std::puts(answer.reason);
#ifndef TAKT_SCHEDULER_HPP_
#define TAKT_SCHEDULER_HPP_

#include "takt/cxx20.hpp"

#if TAKT_HAS_CXX20

#include <cstring>
#include <string>
#include <vector>

#include "takt/context.hpp"
#include "takt/scheduler.h"

namespace takt {
inline namespace cxx {

// The scheduler of an instance, which it borrows.
class Scheduler {
 public:
  explicit Scheduler(const Instance& instance) : instance_(instance.get()) {}

  static std::vector<std::string> PolicyNames() {
    const char* const* names = nullptr;
    const size_t count = takt_scheduler_policy_names(&names);
    return std::vector<std::string>(names, names + count);
  }
  std::string policy() const { return takt_scheduler_policy(instance_); }

  Result<std::vector<takt_resource_t>> QueryResources() const {
    size_t count = 0;
    Status status(
        takt_scheduler_query_resources(instance_, 0, nullptr, &count));
    if (!status.ok()) return status;
    std::vector<takt_resource_t> resources(count);
    status = Status(takt_scheduler_query_resources(instance_, resources.size(),
                                                   resources.data(), &count));
    if (!status.ok()) return status;
    return resources;
  }
  Status SetAvailable(uint32_t resource, bool is_available) const {
    return Status(
        takt_scheduler_set_available(instance_, resource, is_available));
  }
  Status SetHot(bool is_hot) const {
    return Status(takt_scheduler_set_hot(instance_, is_hot));
  }
  Status SetSpeed(const std::string& pool, uint32_t permille) const {
    return Status(takt_scheduler_set_speed(instance_, pool.c_str(), permille));
  }
  Result<takt_scheduler_mode_t> QueryMode() const {
    takt_scheduler_mode_t mode = TAKT_SCHEDULER_MODE_NOMINAL;
    Status status(takt_scheduler_query_mode(instance_, &mode));
    if (!status.ok()) return status;
    return mode;
  }
  // A template, because takt/stream.hpp may include this file before it defines
  // Stream.
  template <typename AnyStream>
  static Result<takt_admission_t> Admit(const AnyStream& stream, bool promise) {
    takt_admission_t admission = Sized<takt_admission_t>();
    Status status(takt_stream_admit(stream.get(), promise, &admission));
    if (!status.ok()) return status;
    return admission;
  }
  Result<takt_class_statistics_t> QueryClass(
      takt_criticality_t criticality) const {
    takt_class_statistics_t statistics = Sized<takt_class_statistics_t>();
    Status status(
        takt_scheduler_query_class(instance_, criticality, &statistics));
    if (!status.ok()) return status;
    return statistics;
  }
  Result<takt_duration_statistics_t> QueryDurations() const {
    takt_duration_statistics_t statistics = Sized<takt_duration_statistics_t>();
    Status status(takt_scheduler_query_durations(instance_, &statistics));
    if (!status.ok()) return status;
    return statistics;
  }
  Result<takt_window_statistics_t> QueryWindows() const {
    takt_window_statistics_t statistics = Sized<takt_window_statistics_t>();
    Status status(takt_scheduler_query_windows(instance_, &statistics));
    if (!status.ok()) return status;
    return statistics;
  }
  Status SetCallbacks(void (*on_miss)(void*, const takt_miss_t*),
                      void (*on_mode)(void*, takt_scheduler_mode_t),
                      void* user_data) const {
    return Status(
        takt_scheduler_set_callbacks(instance_, on_miss, on_mode, user_data));
  }
  Status SaveProfile(const std::string& path) const {
    return Status(takt_scheduler_save_profile(instance_, path.c_str()));
  }
  Result<size_t> LoadProfile(const std::string& path) const {
    size_t count = 0;
    Status status(takt_scheduler_load_profile(instance_, path.c_str(), &count));
    if (!status.ok()) return status;
    return count;
  }

 private:
  template <typename T>
  static T Sized() {
    T value;
    std::memset(&value, 0, sizeof(value));
    value.struct_size = sizeof(value);
    return value;
  }

  takt_instance_t* instance_;
};

}  // namespace cxx
}  // namespace takt

#endif  // TAKT_HAS_CXX20

#endif  // TAKT_SCHEDULER_HPP_
