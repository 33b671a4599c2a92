// The process in which an object was made. A child of fork() has the object,
// and not the threads that work for it.
#ifndef TAKT_PYTHON_PROCESS_H_
#define TAKT_PYTHON_PROCESS_H_

#include <takt/takt.h>
#include <unistd.h>

#include "errors.h"

namespace takt::python {

class Process {
 public:
  bool IsHere() const { return getpid() == id_; }
  // Throws takt.FailedPrecondition, with `message`, in a child.
  void CheckIsHere(const char* message) const {
    if (IsHere()) return;
    Check(takt_status_create(TAKT_STATUS_FAILED_PRECONDITION, message));
  }

 private:
  pid_t id_ = getpid();
};

}  // namespace takt::python

#endif  // TAKT_PYTHON_PROCESS_H_
