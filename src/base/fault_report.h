// Before a memory fault ends the process, writes to stderr which compiled
// kernel caused it, such as one that overruns its thread's stack.
//
// A fault is a signal, and a process has one handler for each signal. So this
// is the only global state: while a FaultReports exists, a handler is
// installed. It writes to stderr, by calls that a handler may make, and then
// calls the handler that was installed before.
//
// Thread-safety: FaultReports from any thread; the rest is of its own thread.
#ifndef TAKT_BASE_FAULT_REPORT_H_
#define TAKT_BASE_FAULT_REPORT_H_

#include <cstddef>
#include <cstdint>

namespace takt {

// The state of a thread that its handler reads.
struct FaultPlace {
  const char* kernel = nullptr;  // The running kernel; null: none.
  // The end of the stack, and of the guard below it; 0: unknown.
  uintptr_t stack_begin = 0;
  size_t stack_bytes = 0;
  size_t guard_bytes = 0;
};

inline FaultPlace& FaultPlaceHere() {
  // This model of thread-local storage needs no call of the loader, which a
  // signal handler must not make.
  [[gnu::tls_model("initial-exec")]] thread_local FaultPlace place;
  return place;
}

// States that the calling thread runs `kernel` (borrowed) while this object
// lives.
class ScopedKernelName {
 public:
  explicit ScopedKernelName(const char* kernel)
      : place_(FaultPlaceHere()), outer_(place_.kernel) {
    place_.kernel = kernel;
  }
  ~ScopedKernelName() { place_.kernel = outer_; }
  ScopedKernelName(const ScopedKernelName&) = delete;
  ScopedKernelName& operator=(const ScopedKernelName&) = delete;

 private:
  FaultPlace& place_;
  const char* const outer_;
};

// The handlers of SIGSEGV and SIGBUS are installed while an object of this
// class exists. Handlers that the program installs later stay when the last
// object is destroyed.
class FaultReports {
 public:
  FaultReports();
  ~FaultReports();
  FaultReports(const FaultReports&) = delete;
  FaultReports& operator=(const FaultReports&) = delete;
};

// A stack for signal handlers on the calling thread: a thread that has overrun
// its own stack cannot run a handler on it. The object also fills in the
// thread's FaultPlace. It is created on its thread and lives as long as the
// thread runs. A thread that already has a stack for handlers keeps it.
class FaultStack {
 public:
  FaultStack();
  ~FaultStack();
  FaultStack(const FaultStack&) = delete;
  FaultStack& operator=(const FaultStack&) = delete;

 private:
  void* block_ = nullptr;  // Null: it has one.
  size_t bytes_ = 0;
};

}  // namespace takt

#endif  // TAKT_BASE_FAULT_REPORT_H_
