// Each fault is made in a process of its own, which ends as it would without
// the report.
#include "base/fault_report.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/thread.h"
#include "gtest/gtest.h"

namespace takt {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasOtherHandlers = true;  // The sanitizer's say more.
#else
constexpr bool kHasOtherHandlers = false;
#endif

// Writes to the far end of a frame, as a kernel with a large buffer on its
// stack may: nothing in between is touched. As a kernel, it is code that the
// compiler does not know here.
__attribute__((noipa)) void UseStack(size_t bytes) {
  auto* buffer = static_cast<volatile char*>(__builtin_alloca(bytes));
  buffer[0] = 1;
}

void RunOnThread(void (*run)(void*), size_t stack_bytes) {
  Thread thread;
  if (!thread
           .Start({.name = "takt-7",
                   .stack_bytes = stack_bytes,
                   .reports_faults = true},
                  run, nullptr)
           .ok()) {
    std::abort();
  }
  thread.Join();
}

void OverrunStack(void*) {
  const ScopedKernelName here("act$dispatch_3 of executable policy");
  UseStack(size_t{1} << 20);
}

void ReadNowhere(void*) {
  const ScopedKernelName here("act$dispatch_4");
  *reinterpret_cast<volatile int*>(uintptr_t{0xabc0}) = 1;
}

void FaultElsewhere(void*) {
  { const ScopedKernelName here("act$dispatch_5"); }
  *reinterpret_cast<volatile int*>(uintptr_t{0xabc0}) = 1;
}

class FaultReportDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    if (kHasOtherHandlers) GTEST_SKIP();
    testing::FLAGS_gtest_death_test_style = "threadsafe";
  }
};

TEST_F(FaultReportDeathTest, NamesTheKernelThatOverrunsItsStack) {
  EXPECT_EXIT(
      {
        FaultReports reports;
        RunOnThread(&OverrunStack, 512 << 10);
      },
      testing::KilledBySignal(SIGSEGV),
      "takt: kernel act.dispatch_3 of executable policy needs a larger stack "
      "than that of thread takt-7, [0-9]+ bytes; set worker_stack_bytes");
}

TEST_F(FaultReportDeathTest, NamesTheKernelAndTheAddress) {
  EXPECT_EXIT(
      {
        FaultReports reports;
        RunOnThread(&ReadNowhere, 512 << 10);
      },
      testing::KilledBySignal(SIGSEGV),
      "takt: kernel act.dispatch_4 used address 0xabc0, which is not there, on "
      "thread takt-7");
}

// qemu-user says that the signal ended the program.
constexpr const char* kNoReport = "^(qemu: uncaught [^\n]*\n)?$";

TEST_F(FaultReportDeathTest, FaultsOutsideOfKernelsAreNotReported) {
  EXPECT_EXIT(
      {
        FaultReports reports;
        RunOnThread(&FaultElsewhere, 512 << 10);
      },
      testing::KilledBySignal(SIGSEGV), kNoReport);
}

void SayAndExit(int, siginfo_t* info, void*) {
  char text[64];
  const int length = std::snprintf(text, sizeof(text),
                                   "the host's handler: %p\n", info->si_addr);
  if (write(STDERR_FILENO, text, static_cast<size_t>(length)) < 0) _exit(4);
  _exit(3);
}

TEST_F(FaultReportDeathTest, PassesOnToTheHandlerThatWasThere) {
  EXPECT_EXIT(
      {
        struct sigaction action {};
        action.sa_sigaction = &SayAndExit;
        action.sa_flags = SA_SIGINFO;
        sigaction(SIGSEGV, &action, nullptr);
        FaultReports reports;
        RunOnThread(&ReadNowhere, 512 << 10);
      },
      testing::ExitedWithCode(3),
      "takt: kernel act.dispatch_4 used address 0xabc0.*\nthe host's handler: "
      "0xabc0");
}

TEST_F(FaultReportDeathTest, ASignalThatIsSentEndsTheProcess) {
  EXPECT_EXIT(
      {
        FaultReports reports;
        raise(SIGSEGV);
      },
      testing::KilledBySignal(SIGSEGV), kNoReport);
}

struct sigaction HandlerOf(int number) {
  struct sigaction action {};
  sigaction(number, nullptr, &action);
  return action;
}

TEST(FaultReportTest, HandlersExistOnlyWhileRequested) {
  const struct sigaction before = HandlerOf(SIGSEGV);
  {
    const FaultReports first;
    const struct sigaction with_one = HandlerOf(SIGSEGV);
    EXPECT_NE(with_one.sa_sigaction, before.sa_sigaction);
    {
      const FaultReports second;
      EXPECT_EQ(HandlerOf(SIGSEGV).sa_sigaction, with_one.sa_sigaction);
    }
    EXPECT_EQ(HandlerOf(SIGSEGV).sa_sigaction, with_one.sa_sigaction);
    EXPECT_NE(HandlerOf(SIGBUS).sa_sigaction, nullptr);
  }
  EXPECT_EQ(HandlerOf(SIGSEGV).sa_sigaction, before.sa_sigaction);
}

TEST(FaultReportTest, AnExistingStackForHandlersIsKept) {
  struct Look {
    void* own = nullptr;
    void* during = nullptr;
    void* after = nullptr;
    static void* Run(void* argument) {
      auto* look = static_cast<Look*>(argument);
      static char block[64 << 10];
      stack_t stack{};
      stack.ss_sp = block;
      stack.ss_size = sizeof(block);
      sigaltstack(&stack, nullptr);
      look->own = block;
      {
        const FaultStack fault_stack;
        sigaltstack(nullptr, &stack);
        look->during = stack.ss_sp;
      }
      sigaltstack(nullptr, &stack);
      look->after = stack.ss_sp;
      stack.ss_flags = SS_DISABLE;
      sigaltstack(&stack, nullptr);
      return nullptr;
    }
  } look;
  if (kHasOtherHandlers) GTEST_SKIP() << "it has a stack of its own";
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, nullptr, &Look::Run, &look), 0);
  pthread_join(thread, nullptr);
  EXPECT_EQ(look.during, look.own);
  EXPECT_EQ(look.after, look.own);
}

}  // namespace
}  // namespace takt
