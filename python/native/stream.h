// Streams in Python.
#ifndef TAKT_PYTHON_STREAM_H_
#define TAKT_PYTHON_STREAM_H_

#include <nanobind/nanobind.h>

namespace takt::python {

void BindStream(nanobind::module_& module);

}  // namespace takt::python

#endif  // TAKT_PYTHON_STREAM_H_
