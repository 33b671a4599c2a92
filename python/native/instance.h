// Instances, devices, modules and contexts in Python.
#ifndef TAKT_PYTHON_INSTANCE_H_
#define TAKT_PYTHON_INSTANCE_H_

#include <nanobind/nanobind.h>

#include "gil.h"
#include "handle.h"

namespace takt::python {

// Releases a handle that may be the last to hold an instance, whose workers
// may be in callbacks that wait for the GIL.
template <typename HandleType>
void ReleaseWithoutGil(HandleType& handle) {
  const WithoutGil no_gil;
  handle.Reset();
}

struct Device {
  DeviceHandle handle;
  ~Device() { ReleaseWithoutGil(handle); }
};

struct Parameters {
  ParametersHandle handle;
  ~Parameters() { ReleaseWithoutGil(handle); }
};

struct Module {
  ModuleHandle handle;
  ~Module() { ReleaseWithoutGil(handle); }
};

struct Instance {
  InstanceHandle handle;
  ~Instance() { ReleaseWithoutGil(handle); }
};

void BindInstance(nanobind::module_& module);

}  // namespace takt::python

#endif  // TAKT_PYTHON_INSTANCE_H_
