#include "tools/profile_recorder.h"

#include <algorithm>
#include <utility>

namespace takt::tools {

std::string Dispatch::Name() const {
  return function + " " + std::to_string(grid[0]) + "x" +
         std::to_string(grid[1]) + "x" + std::to_string(grid[2]);
}

takt_device_options_t ProfileRecorder::OptionsOf(int32_t npu) {
  taps_.push_back({this, npu});
  takt_device_options_t options;
  takt_device_options_init(&options);
  options.on_dispatch = &ProfileRecorder::Observe;
  options.on_dispatch_user_data = &taps_.back();
  return options;
}

std::vector<Dispatch> ProfileRecorder::Take() {
  std::vector<Dispatch> taken;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    taken.swap(dispatches_);
  }
  std::stable_sort(taken.begin(), taken.end(),
                   [](const Dispatch& a, const Dispatch& b) {
                     return a.begin_ns < b.begin_ns;
                   });
  return taken;
}

void ProfileRecorder::Observe(void* user_data,
                              const takt_dispatch_event_t* event) {
  const auto* const tap = static_cast<const Tap*>(user_data);
  ProfileRecorder* const self = tap->recorder;
  Dispatch dispatch;
  dispatch.npu = tap->npu;
  dispatch.function = event->function;
  std::copy_n(event->workgroup_count, 3, dispatch.grid);
  dispatch.begin_ns = event->begin_ns;
  dispatch.end_ns = event->end_ns;
  dispatch.group = event->group;
  const std::lock_guard<std::mutex> lock(self->mutex_);
  self->dispatches_.push_back(std::move(dispatch));
}

}  // namespace takt::tools
