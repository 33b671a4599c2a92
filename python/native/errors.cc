#include "errors.h"

namespace nb = nanobind;

namespace takt::python {
namespace {

nb::object MakeError(takt_status_code_t code, const char* message,
                     const char* source) {
  return nb::module_::import_("takt.errors")
      .attr("make_error")(takt_status_code_name(code), message, source);
}

[[noreturn]] void Raise(const nb::object& error) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())),
                  error.ptr());
  throw nb::python_error();
}

}  // namespace

nb::object MakeError(takt_status_t status) {
  nb::object error =
      MakeError(takt_status_code(status), takt_status_message(status),
                takt_status_source(status));
  takt_status_free(status);
  return error;
}

void Check(takt_status_t status) {
  if (status != nullptr) Raise(MakeError(status));
}

void RaiseInvalidArgument(const std::string& message) {
  Raise(MakeError(TAKT_STATUS_INVALID_ARGUMENT, message.c_str(), ""));
}

}  // namespace takt::python
