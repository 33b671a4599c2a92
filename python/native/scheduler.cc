#include "scheduler.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "errors.h"
#include "function.h"
#include "instance.h"
#include "options.h"
#include "quantiles.h"

namespace nb = nanobind;

namespace takt::python {
namespace {

constexpr const char* kModes[] = {"nominal", "burst", "hot", "degraded"};
constexpr const char* kCriticalities[] = {"hard", "soft", "best_effort"};

nb::list QueryResources(const Instance& instance) {
  size_t count = 0;
  Check(takt_scheduler_query_resources(instance.handle.get(), 0, nullptr,
                                       &count));
  std::vector<takt_resource_t> resources(count);
  Check(takt_scheduler_query_resources(instance.handle.get(), resources.size(),
                                       resources.data(), &count));
  resources.resize(std::min(count, resources.size()));
  nb::list result;
  for (const takt_resource_t& from : resources) {
    nb::dict resource;
    resource["pool"] = from.pool;
    resource["is_npu"] = from.is_npu;
    resource["is_available"] = from.is_available;
    resource["speed"] = from.speed_permille / 1000.0;
    result.append(resource);
  }
  return result;
}

void SetAvailable(const Instance& instance, uint32_t resource,
                  bool is_available) {
  Check(takt_scheduler_set_available(instance.handle.get(), resource,
                                     is_available));
}

void SetSpeed(const Instance& instance, const std::string& pool,
              nb::handle speed) {
  Check(takt_scheduler_set_speed(instance.handle.get(), ToCString(pool, "pool"),
                                 ToPermille(speed, "speed")));
}

void SetHot(const Instance& instance, bool is_hot) {
  Check(takt_scheduler_set_hot(instance.handle.get(), is_hot));
}

const char* QueryMode(const Instance& instance) {
  takt_scheduler_mode_t mode = TAKT_SCHEDULER_MODE_NOMINAL;
  Check(takt_scheduler_query_mode(instance.handle.get(), &mode));
  return static_cast<size_t>(mode) < std::size(kModes) ? kModes[mode] : "";
}

// By the name of each criticality.
nb::dict QueryClasses(const Instance& instance) {
  nb::dict result;
  for (size_t i = 0; i < std::size(kCriticalities); ++i) {
    takt_class_statistics_t from = {};
    from.struct_size = sizeof(from);
    Check(takt_scheduler_query_class(
        instance.handle.get(), static_cast<takt_criticality_t>(i), &from));
    nb::dict each;
    each["released"] = from.released_count;
    each["met"] = from.met_count;
    each["missed"] = from.missed_count;
    each["dropped"] = from.dropped_count;
    each["failed"] = from.failed_count;
    each["response"] = DescribeQuantiles(from.response);
    each["release_error"] = DescribeQuantiles(from.release_error);
    result[kCriticalities[i]] = each;
  }
  return result;
}

nb::dict QueryDurations(const Instance& instance) {
  takt_duration_statistics_t from = {};
  from.struct_size = sizeof(from);
  Check(takt_scheduler_query_durations(instance.handle.get(), &from));
  const double ran_ns = static_cast<double>(std::max<int64_t>(from.ran_ns, 1));
  nb::dict result;
  result["runs"] = from.run_count;
  result["error"] = static_cast<double>(from.error_ns) / ran_ns;
  result["plain_error"] = static_cast<double>(from.plain_error_ns) / ran_ns;
  return result;
}

nb::dict QueryWindows(const Instance& instance) {
  takt_window_statistics_t from = {};
  from.struct_size = sizeof(from);
  Check(takt_scheduler_query_windows(instance.handle.get(), &from));
  nb::dict result;
  result["planned"] = from.planned_count;
  result["failed"] = from.failed_count;
  result["broken"] = from.broken_count;
  result["started"] = from.started_count;
  result["in_place"] = from.in_place_count;
  result["planning"] = DescribeQuantiles(from.planning);
  return result;
}

void SaveProfile(const Instance& instance, const std::string& path) {
  Check(takt_scheduler_save_profile(instance.handle.get(),
                                    ToCString(path, "path")));
}

// The number of records.
size_t LoadProfile(const Instance& instance, const std::string& path) {
  size_t count = 0;
  Check(takt_scheduler_load_profile(instance.handle.get(),
                                    ToCString(path, "path"), &count));
  return count;
}

}  // namespace

void BindScheduler(nb::module_& module) {
  module.def("scheduler_resources", &QueryResources, nb::arg("instance"));
  module.def("scheduler_set_available", &SetAvailable, nb::arg("instance"),
             nb::arg("resource"), nb::arg("is_available"));
  module.def("scheduler_set_speed", &SetSpeed, nb::arg("instance"),
             nb::arg("pool"), nb::arg("speed"));
  module.def("scheduler_set_hot", &SetHot, nb::arg("instance"),
             nb::arg("is_hot"));
  module.def("scheduler_mode", &QueryMode, nb::arg("instance"));
  module.def("scheduler_classes", &QueryClasses, nb::arg("instance"));
  module.def("scheduler_durations", &QueryDurations, nb::arg("instance"));
  module.def("scheduler_windows", &QueryWindows, nb::arg("instance"));
  module.def("scheduler_save_profile", &SaveProfile, nb::arg("instance"),
             nb::arg("path"));
  module.def("scheduler_load_profile", &LoadProfile, nb::arg("instance"),
             nb::arg("path"));
}

}  // namespace takt::python
