#include "fence.h"

#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "errors.h"
#include "gil.h"
#include "wait.h"

namespace nb = nanobind;

namespace takt::python {
namespace {

std::unique_ptr<Fence> Create() {
  auto fence = std::make_unique<Fence>();
  Check(takt_fence_create(fence->handle.out()));
  return fence;
}

// A fence that is reached when all of `fences` are.
std::unique_ptr<Fence> Join(const std::vector<const Fence*>& fences) {
  std::vector<takt_fence_t*> parts;
  for (const Fence* each : fences) parts.push_back(FenceOf(each));
  auto joined = std::make_unique<Fence>();
  Check(takt_fence_join(parts.size(), parts.data(), joined->handle.out()));
  return joined;
}

// Reached after `signallers` signals.
std::unique_ptr<Fence> CreateBarrier(uint32_t signallers) {
  auto fence = std::make_unique<Fence>();
  Check(takt_fence_create_barrier(signallers, fence->handle.out()));
  return fence;
}

struct Timeline {
  TimelineHandle handle;
};

std::unique_ptr<Timeline> CreateTimeline(uint64_t initial_value) {
  auto timeline = std::make_unique<Timeline>();
  Check(takt_timeline_create(initial_value, timeline->handle.out()));
  return timeline;
}

uint64_t TimelineValue(const Timeline& timeline) {
  uint64_t value = 0;
  Check(takt_timeline_query(timeline.handle.get(), &value));
  return value;
}

// Raises the timeline; callbacks that it wakes may need the GIL.
void SignalTimeline(const Timeline& timeline, uint64_t value) {
  takt_status_t status = nullptr;
  {
    const WithoutGil no_gil;
    status = takt_timeline_signal(timeline.handle.get(), value);
  }
  Check(status);
}

void FailTimeline(const Timeline& timeline, const char* message) {
  takt_status_t status = takt_status_create(TAKT_STATUS_UNKNOWN, message);
  const WithoutGil no_gil;
  takt_timeline_fail(timeline.handle.get(), status);
}

// A fence that is reached when the timeline has the value.
std::unique_ptr<Fence> FenceAt(const Timeline& timeline, uint64_t value) {
  const takt_timeline_point_t point = {timeline.handle.get(), value};
  auto fence = std::make_unique<Fence>();
  Check(takt_fence_create_from_points(1, &point, fence->handle.out()));
  return fence;
}

nb::str Explain(const Fence& fence) {
  char* text = nullptr;
  Check(takt_fence_explain(fence.handle.get(), &text));
  nb::str result(text);
  takt_string_free(text);
  return result;
}

// A descriptor that poll() finds readable once the fence is reached or has
// failed. The caller closes it.
int ExportFd(const Fence& fence) {
  int fd = -1;
  Check(takt_fence_export_fd(fence.handle.get(), &fd));
  return fd;
}

bool IsReached(const Fence& fence) {
  bool is_reached = false;
  Check(takt_fence_query(fence.handle.get(), &is_reached));
  return is_reached;
}

void Fail(const Fence& fence, const char* message) {
  takt_fence_fail(fence.handle.get(),
                  takt_status_create(TAKT_STATUS_UNKNOWN, message));
}

void Wait(const Fence& fence, nb::handle timeout) {
  WaitForSignals(
      DeadlineOf(timeout), "the fence is not reached yet",
      [&](int64_t slice_ns, bool* is_reached) {
        takt_status_t status =
            takt_fence_wait(fence.handle.get(), nullptr, slice_ns);
        if (takt_status_code(status) != TAKT_STATUS_DEADLINE_EXCEEDED) {
          return status;
        }
        // The wait's, or what the fence has failed with.
        takt_status_free(status);
        return takt_fence_query(fence.handle.get(), is_reached);
      });
}

}  // namespace

void BindFence(nb::module_& module) {
  nb::class_<Fence>(module, "Fence",
                    "A point in time that work waits for or brings about.")
      .def(nb::new_(&Create))
      .def_static("join", &Join, nb::arg("fences"))
      .def_static("barrier", &CreateBarrier, nb::arg("signallers"))
      .def("set_name",
           [](const Fence& fence, const char* name) {
             takt_fence_set_name(fence.handle.get(), name);
           })
      .def("explain", &Explain)
      .def("export_fd", &ExportFd)
      .def_prop_ro("reached", &IsReached)
      .def("signal",
           [](const Fence& fence) {
             Check(takt_fence_signal(fence.handle.get()));
           })
      .def("fail", &Fail, nb::arg("message"))
      .def("wait", &Wait, nb::arg("timeout").none() = nb::none());
  nb::class_<Timeline>(module, "Timeline",
                       "A value that only grows, for work to wait for.")
      .def(nb::new_(&CreateTimeline), nb::arg("initial_value") = 0)
      .def_prop_ro("value", &TimelineValue)
      .def("signal", &SignalTimeline, nb::arg("value"))
      .def("fail", &FailTimeline, nb::arg("message"))
      .def("set_name",
           [](const Timeline& timeline, const char* name) {
             takt_timeline_set_name(timeline.handle.get(), name);
           })
      .def("at", &FenceAt, nb::arg("value"));
}

}  // namespace takt::python
