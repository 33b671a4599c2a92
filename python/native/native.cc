// The extension module takt._native: what the C API has, in Python's types.
// takt/__init__.py makes of it what people import.
#include <nanobind/nanobind.h>

#include "fence.h"
#include "function.h"
#include "instance.h"
#include "plan.h"
#include "scheduler.h"
#include "stream.h"
#include "tensors.h"

NB_MODULE(_native, module) {
  // Globals of a program may hold arrays and modules when it ends.
  nanobind::set_leak_warnings(false);
  takt::python::BindTensors(module);
  takt::python::BindFence(module);
  takt::python::BindFunction(module);
  takt::python::BindInstance(module);
  takt::python::BindStream(module);
  takt::python::BindPlan(module);
  takt::python::BindScheduler(module);
}
