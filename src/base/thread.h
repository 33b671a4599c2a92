// A Thread has a name and a stack of a given size with a wide guard below it.
// The application may supply the thread itself. Takt starts no other threads.
//
// Thread-safety: Start(), Join() and Detach() by the owner.
#ifndef TAKT_BASE_THREAD_H_
#define TAKT_BASE_THREAD_H_

#include <pthread.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace takt {

// Functions of an application that supplies the threads itself.
struct ThreadHooks {
  void* user_data = nullptr;
  // Arranges that run(argument) is called once on a thread of its own, and
  // stores the argument for join() in `*thread`. Returns false if there is no
  // thread. Null: Takt starts threads itself.
  bool (*create)(void* user_data, uint32_t worker, const char* name,
                 void (*run)(void* argument), void* argument,
                 void** thread) = nullptr;
  // Waits until that run() has returned. May be null.
  void (*join)(void* user_data, void* thread) = nullptr;
};

// The address space below a stack that is never mapped. Compiled kernels do not
// touch each page of their frame, so they may jump over a guard of one page.
inline constexpr size_t kStackGuardBytes = size_t{1} << 20;

// The stack of a thread without a size of its own: the soft limit of the main
// thread's stack (RLIMIT_STACK), for which compiled code is made, and at least
// kStackMinBytes. Without a limit it is kStackUnlimitedBytes, eight times the
// usual limit. A stack takes memory only as it is used.
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
    // A message names the kernel that overran the stack (base/fault_report.h).
    bool reports_faults = false;
    ThreadHooks hooks = {};
  };

  Thread() = default;
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  // Starts a thread that calls run(argument). Called once. The thread is an
  // ordinary one, also where the calling thread has a real-time priority.
  // RESOURCE_EXHAUSTED, with the system's reason, if no thread starts.
  absl::Status Start(const Options& options, void (*run)(void*),
                     void* argument);
  bool is_started() const { return is_started_; }
  // While run() has not returned, or on the thread itself.
  bool IsThisThread() const;
  // No effect in a child of fork(), which does not have the thread.
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
  pid_t process_ = 0;  // That started it.
  pthread_t handle_{};
  // Written by the thread before run(), since Start() may still be writing
  // handle_ at that time. 0, which is no thread's: run() has not begun.
  std::atomic<pthread_t> self_{0};
  void* hooked_thread_ = nullptr;
  void* pin_ = nullptr;  // Of the library; the thread's end releases it.
};

}  // namespace takt

#endif  // TAKT_BASE_THREAD_H_
