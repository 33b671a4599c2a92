// Streams in Python.
#ifndef TAKT_PYTHON_STREAM_H_
#define TAKT_PYTHON_STREAM_H_

#include <nanobind/nanobind.h>
#include <takt/takt.h>

namespace takt::python {

// The stream of a Stream object, which keeps it. Throws TypeError for another
// object.
takt_stream_t* StreamOf(nanobind::handle stream);

void BindStream(nanobind::module_& module);

}  // namespace takt::python

#endif  // TAKT_PYTHON_STREAM_H_
