// The lock of the interpreter, given up or taken for a scope.
//
// Where the interpreter ends while a thread waits for its lock, Python before
// 3.14 ends that thread with pthread_exit(). This unwinds the stack through
// destructors, which ends the process. Such a thread stays here for ever
// instead, as with Python 3.14, until the process ends.
#ifndef TAKT_PYTHON_GIL_H_
#define TAKT_PYTHON_GIL_H_

#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

namespace takt::python {

// Calls `take`, which waits for the lock.
template <typename Take>
auto TakeGil(Take&& take) noexcept {
  try {
    return take();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
}

class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() {
    TakeGil([this] { PyEval_RestoreThread(state_); });
  }

 private:
  PyThreadState* const state_;
};

class WithGil {
 public:
  WithGil() : state_(TakeGil([] { return PyGILState_Ensure(); })) {}
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;
  ~WithGil() { PyGILState_Release(state_); }

 private:
  const PyGILState_STATE state_;
};

}  // namespace takt::python

#endif  // TAKT_PYTHON_GIL_H_
