// Instances, devices, modules and contexts in Python.
#ifndef TAKT_PYTHON_INSTANCE_H_
#define TAKT_PYTHON_INSTANCE_H_

#include <nanobind/nanobind.h>

namespace takt::python {

void BindInstance(nanobind::module_& module);

}  // namespace takt::python

#endif  // TAKT_PYTHON_INSTANCE_H_
