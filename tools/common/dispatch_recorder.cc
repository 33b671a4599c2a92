#include "tools/common/dispatch_recorder.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace takt::tools {

takt_device_options_t DispatchRecorder::OptionsFor(const std::string& device) {
  taps_.push_back({this, device});
  takt_device_options_t options;
  takt_device_options_init(&options);
  options.on_dispatch = &DispatchRecorder::Observe;
  options.on_dispatch_user_data = &taps_.back();
  return options;
}

void DispatchRecorder::Observe(void* user_data,
                               const takt_dispatch_event_t* event) {
  const auto* const tap = static_cast<const Tap*>(user_data);
  DispatchRecorder* const self = tap->recorder;
  const int64_t length_ns = event->end_ns - event->begin_ns;
  const std::lock_guard<std::mutex> lock(self->mutex_);
  Row& row = self->rows_[{tap->device, event->function}];
  row.device = tap->device;
  row.function = event->function;
  row.minimum_ns =
      row.count == 0 ? length_ns : std::min(row.minimum_ns, length_ns);
  row.maximum_ns = std::max(row.maximum_ns, length_ns);
  row.total_ns += length_ns;
  ++row.count;
  if (!self->prints_each_) return;
  std::fprintf(stderr, "[%s] dispatch %s grid %ux%ux%u took %.3f us\n",
               tap->device.c_str(), event->function, event->workgroup_count[0],
               event->workgroup_count[1], event->workgroup_count[2],
               static_cast<double>(length_ns) / 1e3);
}

std::vector<DispatchRecorder::Row> DispatchRecorder::Take() {
  std::vector<Row> taken;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [key, row] : rows_) taken.push_back(std::move(row));
    rows_.clear();
  }
  std::stable_sort(taken.begin(), taken.end(), [](const Row& a, const Row& b) {
    return a.total_ns > b.total_ns;
  });
  return taken;
}

}  // namespace takt::tools
