// The scheduler of an instance in Python.
#ifndef TAKT_PYTHON_SCHEDULER_H_
#define TAKT_PYTHON_SCHEDULER_H_

#include <nanobind/nanobind.h>

namespace takt::python {

// Adds functions whose first argument is an Instance.
void BindScheduler(nanobind::module_& module);

}  // namespace takt::python

#endif  // TAKT_PYTHON_SCHEDULER_H_
