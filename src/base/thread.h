// A Thread is a thread as Takt makes them all: with a name, a stack of a given
// size with a wide guard below it, and perhaps of the application's making.
//
// Thread-safety: Start(), Join() and Detach() by the owner.
#ifndef TAKT_BASE_THREAD_H_
#define TAKT_BASE_THREAD_H_

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace takt {

// Functions of an application that supplies the threads itself.
struct ThreadHooks {
  void* user_data = nullptr;
  // Arranges for run(argument) to be called, once, on a thread of its own, and
  // stores what join() shall get in `*thread`. False: there is no thread.
  // Null: Takt starts threads itself.
  bool (*create)(void* user_data, uint32_t worker, const char* name,
                 void (*run)(void* argument), void* argument,
                 void** thread) = nullptr;
  // Waits until that run() has returned.
  void (*join)(void* user_data, void* thread) = nullptr;
};

// The address space below a stack that nothing may touch. A kernel is not
// compiled to touch each page of its frame, so a page would not be enough.
inline constexpr size_t kStackGuardBytes = size_t{1} << 20;

// The stack of a thread that asks for none in particular: as large as that of
// the process's main thread may become (the soft limit RLIMIT_STACK), since
// compiled code is made for that; at least kStackMinBytes. Where that has no
// limit: kStackUnlimitedBytes. Memory is used as the stack is.
inline constexpr size_t kStackMinBytes = size_t{1} << 20;
inline constexpr size_t kStackUnlimitedBytes = size_t{64} << 20;
size_t DefaultStackBytes();

class Thread {
 public:
  // The number that hooks get for a thread that is no worker.
  static constexpr uint32_t kNoWorker = UINT32_MAX;

  struct Options {
    std::string name;  // The kernel keeps 15 characters.
    uint32_t worker = kNoWorker;
    size_t stack_bytes = 0;  // 0: DefaultStackBytes(). Not for hooks' threads.
    // The thread can say what it ran if that overruns its stack
    // (base/fault_report.h).
    bool reports_faults = false;
    ThreadHooks hooks = {};
  };

  Thread() = default;
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  // Starts a thread that calls run(argument). It is an ordinary one, also where
  // the calling thread has a real-time priority. RESOURCE_EXHAUSTED, with what
  // the system says, if there is none to be had.
  absl::Status Start(const Options& options, void (*run)(void*),
                     void* argument);
  bool is_started() const { return is_started_; }
  // From the thread itself, or where run() has not returned.
  bool IsThisThread() const;
  void Join();
  // Instead of Join(), on the thread itself. This object must live until run()
  // has been called.
  void Detach();

 private:
  static void* Main(void* argument);
  static void HookedMain(void* argument) { Main(argument); }

  Options options_;
  void (*run_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool is_started_ = false;
  pthread_t handle_{};
  // Written by the thread itself before it runs anything, as Start() may still
  // be writing handle_ then. 0, which no thread is: a hooked thread.
  std::atomic<pthread_t> self_{0};
  void* hooked_thread_ = nullptr;
};

}  // namespace takt

#endif  // TAKT_BASE_THREAD_H_
