#include "base/thread.h"

#include <limits.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "base/check.h"
#include "base/fault_report.h"
#include "base/library_pin.h"

namespace takt {
namespace {

// The kernel refuses names with more characters.
constexpr size_t kNameMax = 15;

// A thread has a real-time priority only if its owner asks for one. It inherits
// none from the thread that starts it.
void LeaveRealTime(pthread_attr_t* attributes) {
  int policy = SCHED_OTHER;
  sched_param parameters{};
  if (pthread_getschedparam(pthread_self(), &policy, &parameters) != 0 ||
      (policy != SCHED_FIFO && policy != SCHED_RR)) {
    return;
  }
  parameters.sched_priority = 0;
  pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(attributes, SCHED_OTHER);
  pthread_attr_setschedparam(attributes, &parameters);
}

// As pthread_create().
int CreateThread(size_t stack_bytes, void* (*main)(void*), void* argument,
                 pthread_t* handle) {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error != 0) return error;
  error = pthread_attr_setstacksize(
      &attributes, std::max<size_t>(stack_bytes, PTHREAD_STACK_MIN));
  pthread_attr_setguardsize(&attributes, kStackGuardBytes);
  LeaveRealTime(&attributes);
  if (error == 0) error = pthread_create(handle, &attributes, main, argument);
  pthread_attr_destroy(&attributes);
  return error;
}

}  // namespace

size_t DefaultStackBytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return kStackUnlimitedBytes;
  }
  return std::max<size_t>(limit.rlim_cur, kStackMinBytes);
}

absl::Status Thread::Start(const Options& options, void (*run)(void*),
                           void* argument) {
  TAKT_CHECK(!is_started_ && run != nullptr);
  options_ = options;
  options_.name.resize(std::min(options_.name.size(), kNameMax));
  run_ = run;
  argument_ = argument;
  process_ = getpid();
  if (options_.hooks.create != nullptr) {
    is_started_ = options_.hooks.create(options_.hooks.user_data,
                                        options_.worker, options_.name.c_str(),
                                        &HookedMain, this, &hooked_thread_);
    if (is_started_) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        absl::StrCat("the application gives no thread for ", options_.name));
  }
  const size_t stack_bytes =
      options_.stack_bytes != 0 ? options_.stack_bytes : DefaultStackBytes();
  pin_ = PinLibrary();
  const int error = CreateThread(stack_bytes, &Main, this, &handle_);
  is_started_ = error == 0;
  if (is_started_) return absl::OkStatus();
  UnpinLibrary(pin_);
  return absl::ResourceExhaustedError(
      absl::StrCat("thread ", options_.name, " with a stack of ", stack_bytes,
                   " bytes did not start: ", std::strerror(error)));
}

bool Thread::IsThisThread() const {
  return self_.load(std::memory_order_relaxed) == pthread_self();
}

void Thread::Join() {
  TAKT_CHECK(is_started_ && !IsThisThread());
  if (process_ != getpid()) return;
  if (options_.hooks.create == nullptr) {
    pthread_join(handle_, nullptr);
  } else if (options_.hooks.join != nullptr) {
    options_.hooks.join(options_.hooks.user_data, hooked_thread_);
  }
}

void Thread::Detach() {
  TAKT_CHECK(is_started_);
  if (process_ != getpid()) return;
  // The application joins its own threads.
  if (options_.hooks.create == nullptr) pthread_detach(handle_);
}

void* Thread::Main(void* argument) {
  auto* thread = static_cast<Thread*>(argument);
  thread->self_.store(pthread_self(), std::memory_order_relaxed);
  pthread_setname_np(pthread_self(), thread->options_.name.c_str());
  UnpinLibraryAtThreadEnd(thread->pin_);
  absl::optional<FaultStack> fault_stack;
  if (thread->options_.reports_faults) fault_stack.emplace();
  thread->run_(thread->argument_);  // The object may be gone.
  return nullptr;
}

}  // namespace takt
