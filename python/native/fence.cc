#include "fence.h"

#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "errors.h"
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
      .def_prop_ro("reached", &IsReached)
      .def("signal",
           [](const Fence& fence) {
             Check(takt_fence_signal(fence.handle.get()));
           })
      .def("fail", &Fail, nb::arg("message"))
      .def("wait", &Wait, nb::arg("timeout").none() = nb::none());
}

}  // namespace takt::python
