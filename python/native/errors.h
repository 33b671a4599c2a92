// Errors of the C API as Python exceptions (takt/errors.py has the classes).
#ifndef TAKT_PYTHON_ERRORS_H_
#define TAKT_PYTHON_ERRORS_H_

#include <nanobind/nanobind.h>
#include <takt/takt.h>

namespace takt::python {

// The exception that says what `status` says; takes `status`, which is not
// NULL. Needs the GIL.
nanobind::object MakeError(takt_status_t status);

// Throws the exception of `status`, which it takes; NULL: returns. Needs the
// GIL.
void Check(takt_status_t status);

// Throws takt.InvalidArgument.
[[noreturn]] void RaiseInvalidArgument(const std::string& message);

}  // namespace takt::python

#endif  // TAKT_PYTHON_ERRORS_H_
