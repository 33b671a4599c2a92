"""Exceptions: one class for each status code of the C API, all of them `takt.Error`."""

from __future__ import annotations


class Error(Exception):
    """The error of a function of Takt.

    `code` is the status code's name, such as "INVALID_ARGUMENT", and `source`
    the function of the C API that returned it, or "".
    """

    code = "UNKNOWN"

    def __init__(self, message: str, source: str = ""):
        super().__init__(message)
        self.source = source


class Cancelled(Error):
    code = "CANCELLED"


class InvalidArgument(Error, ValueError):
    code = "INVALID_ARGUMENT"


class DeadlineExceeded(Error, TimeoutError):
    code = "DEADLINE_EXCEEDED"


class NotFound(Error, LookupError):
    code = "NOT_FOUND"


class AlreadyExists(Error):
    code = "ALREADY_EXISTS"


class PermissionDenied(Error, PermissionError):
    code = "PERMISSION_DENIED"


class ResourceExhausted(Error, MemoryError):
    code = "RESOURCE_EXHAUSTED"


class FailedPrecondition(Error):
    code = "FAILED_PRECONDITION"


class Aborted(Error):
    code = "ABORTED"


class OutOfRange(Error, IndexError):
    code = "OUT_OF_RANGE"


class Unimplemented(Error, NotImplementedError):
    code = "UNIMPLEMENTED"


class Internal(Error):
    code = "INTERNAL"


class Unavailable(Error):
    code = "UNAVAILABLE"


class DataLoss(Error):
    code = "DATA_LOSS"


class Incompatible(Error):
    code = "INCOMPATIBLE"


class CompileError(Error):
    """The compiler or an importer failed; the message has its output."""

    code = "COMPILE_ERROR"


_CLASSES = {
    cls.code: cls
    for cls in (
        Cancelled, InvalidArgument, DeadlineExceeded, NotFound, AlreadyExists,
        PermissionDenied, ResourceExhausted, FailedPrecondition, Aborted,
        OutOfRange, Unimplemented, Internal, Unavailable, DataLoss,
        Incompatible,
    )
}


def make_error(code: str, message: str, source: str) -> Error:
    """The exception of a status; the extension module calls this."""
    cls = _CLASSES.get(code)
    if cls is not None:
        return cls(message or code, source)
    error = Error(message or code, source)
    error.code = code
    return error
