// Plans, workloads and runs of plans in Python.
#ifndef TAKT_PYTHON_PLAN_H_
#define TAKT_PYTHON_PLAN_H_

#include <nanobind/nanobind.h>

namespace takt::python {

void BindPlan(nanobind::module_& module);

}  // namespace takt::python

#endif  // TAKT_PYTHON_PLAN_H_
