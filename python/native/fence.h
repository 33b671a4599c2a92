// Fences in Python.
#ifndef TAKT_PYTHON_FENCE_H_
#define TAKT_PYTHON_FENCE_H_

#include <nanobind/nanobind.h>

#include "handle.h"

namespace takt::python {

struct Fence {
  FenceHandle handle;
};

// NULL for None.
inline takt_fence_t* FenceOf(const Fence* fence) {
  return fence != nullptr ? fence->handle.get() : nullptr;
}

void BindFence(nanobind::module_& module);

}  // namespace takt::python

#endif  // TAKT_PYTHON_FENCE_H_
