#include "base/fault_report.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/library_pin.h"
#include "base/mutex.h"

namespace takt {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS};
constexpr size_t kSignalCount = sizeof(kSignals) / sizeof(kSignals[0]);
// For our handler and for the one that it passes a fault on to.
constexpr size_t kHandlerStackBytes = size_t{64} << 10;

// One for the process, because signal handlers belong to the process.
struct Handlers {
  Mutex mutex;
  int count ABSL_GUARDED_BY(mutex) = 0;
  bool is_installed ABSL_GUARDED_BY(mutex) = false;
  // Written before the handler is installed, and read by it.
  struct sigaction before[kSignalCount] = {};
};
constinit Handlers g_handlers;

// Text put together without memory, locks or stdio.
class Line {
 public:
  Line& operator<<(const char* text) {
    for (; *text != 0 && length_ < sizeof(text_); ++text) {
      text_[length_++] = *text;
    }
    return *this;
  }
  Line& AppendNumber(uint64_t number, unsigned base) {
    char digits[21];
    size_t begin = sizeof(digits);
    digits[--begin] = 0;
    do {
      digits[--begin] = "0123456789abcdef"[number % base];
      number /= base;
    } while (number != 0);
    return *this << digits + begin;
  }
  void Write() const {
    size_t done = 0;
    while (done < length_) {
      const ssize_t n = write(STDERR_FILENO, text_ + done, length_ - done);
      if (n <= 0) return;
      done += static_cast<size_t>(n);
    }
  }

 private:
  char text_[1024];
  size_t length_ = 0;
};

void Report(const FaultPlace& place, const siginfo_t& info) {
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  char thread[16] = "";
  prctl(PR_GET_NAME, thread);
  // A frame may begin above the stack's end, and reach beyond the guard.
  const bool is_overrun = place.stack_begin != 0 &&
                          address < place.stack_begin &&
                          place.stack_begin - address <= 2 * place.guard_bytes;
  Line line;
  line << "takt: kernel " << place.kernel;
  if (is_overrun) {
    line << " needs a larger stack than that of thread " << thread << ", ";
    line.AppendNumber(place.stack_bytes, 10);
    line << " bytes; set worker_stack_bytes (--task_worker_stack_size)\n";
  } else {
    line << " used address 0x";
    line.AppendNumber(address, 16)
        << ", which is not there, on thread " << thread << "\n";
  }
  line.Write();
}

void PassOn(const struct sigaction& before, int number, siginfo_t* info,
            void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) {
    const bool is_sent = info->si_code <= 0;
    if (is_sent && before.sa_handler == SIG_IGN) return;
    // The instruction faults again, and the system does what it would have
    // done. A signal that was sent must be sent again.
    sigaction(number, &before, nullptr);
    if (is_sent) raise(number);
  } else {
    before.sa_handler(number);
  }
}

void Handle(int number, siginfo_t* info, void* context) {
  const FaultPlace& place = FaultPlaceHere();
  // A signal that was sent (si_code 0 or less) is no fault.
  if (place.kernel != nullptr && info->si_code > 0) Report(place, *info);
  for (size_t i = 0; i < kSignalCount; ++i) {
    if (kSignals[i] != number) continue;
    PassOn(g_handlers.before[i], number, info, context);
  }
}

bool IsOurs(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == &Handle;
}

}  // namespace

FaultReports::FaultReports() {
  MutexLock lock(&g_handlers.mutex);
  if (++g_handlers.count > 1 || g_handlers.is_installed) return;
  g_handlers.is_installed = true;
  for (size_t i = 0; i < kSignalCount; ++i) {
    struct sigaction action {};
    action.sa_sigaction = &Handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(kSignals[i], nullptr, &g_handlers.before[i]);
    sigaction(kSignals[i], &action, nullptr);
  }
}

FaultReports::~FaultReports() {
  MutexLock lock(&g_handlers.mutex);
  if (--g_handlers.count > 0) return;
  bool are_all_ours = true;
  for (const int number : kSignals) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    are_all_ours = are_all_ours && IsOurs(now);
  }
  // Where the program has installed another one, that may pass faults on to
  // this one: it stays, and so does the library.
  if (!are_all_ours) {
    PinLibrary();
    return;
  }
  for (size_t i = 0; i < kSignalCount; ++i) {
    sigaction(kSignals[i], &g_handlers.before[i], nullptr);
  }
  g_handlers.is_installed = false;
}

FaultStack::FaultStack() {
  pthread_attr_t attributes;
  void* begin = nullptr;
  FaultPlace& place = FaultPlaceHere();
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &begin, &place.stack_bytes);
    pthread_attr_getguardsize(&attributes, &place.guard_bytes);
    pthread_attr_destroy(&attributes);
    place.stack_begin = reinterpret_cast<uintptr_t>(begin);
  }
  stack_t stack{};
  if (sigaltstack(nullptr, &stack) != 0 || (stack.ss_flags & SS_DISABLE) == 0) {
    return;
  }
  // Some processors save much at a signal.
  const long least = sysconf(_SC_SIGSTKSZ);
  bytes_ = std::max<size_t>(kHandlerStackBytes,
                            least > 0 ? static_cast<size_t>(least) * 2 : 0);
  void* const block = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) return;
  stack.ss_sp = block;
  stack.ss_size = bytes_;
  stack.ss_flags = 0;
  if (sigaltstack(&stack, nullptr) == 0) {
    block_ = block;
  } else {
    munmap(block, bytes_);
  }
}

FaultStack::~FaultStack() {
  FaultPlaceHere() = FaultPlace();
  if (block_ == nullptr) return;
  stack_t stack{};
  // A stack that the application has installed since then stays.
  if (sigaltstack(nullptr, &stack) != 0 || stack.ss_sp != block_) return;
  stack = {};
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
  munmap(block_, bytes_);
}

}  // namespace takt
