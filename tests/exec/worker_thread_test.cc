#include "exec/worker_thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "topology/topology.h"

namespace {

// While it is not 0, pthread_setschedparam() fails with it.
std::atomic<int> scheduling_error{0};

}  // namespace

extern "C" int pthread_setschedparam(pthread_t thread, int policy,
                                     const sched_param* parameters) noexcept {
  using Function = int (*)(pthread_t, int, const sched_param*);
  static const auto real =
      reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_setschedparam"));
  const int error = scheduling_error.load();
  return error != 0 ? error : real(thread, policy, parameters);
}

namespace takt::exec {
namespace {

// A thread's view of itself.
struct Look {
  std::string name;
  size_t stack_bytes = 0;
  bool is_this_thread = false;
  WorkerThread* thread = nullptr;

  static void Run(void* argument) {
    auto* look = static_cast<Look*>(argument);
    char text[16];
    pthread_getname_np(pthread_self(), text, sizeof(text));
    look->name = text;
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &look->stack_bytes);
    pthread_attr_destroy(&attributes);
    look->is_this_thread = look->thread->IsThisThread();
  }
};

Look RunOne(const WorkerThread::Options& options,
            WorkerThread::Report* report) {
  WorkerThread thread;
  Look look;
  look.thread = &thread;
  EXPECT_TRUE(thread.Start(options, &Look::Run, &look).ok());
  thread.Join();
  EXPECT_FALSE(thread.IsThisThread());
  *report = thread.report();
  return look;
}

// Takes CAP_SYS_NICE from this thread and those that it will start.
void WithoutSysNice() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  ASSERT_EQ(syscall(SYS_capget, &header, data), 0);
  data[0].effective &= ~(1u << CAP_SYS_NICE);
  data[0].permitted &= ~(1u << CAP_SYS_NICE);
  data[0].inheritable &= ~(1u << CAP_SYS_NICE);
  ASSERT_EQ(syscall(SYS_capset, &header, data), 0);
}

CpuSet OneCpu() {
  CpuSet cpus;
  cpus.Add(static_cast<uint32_t>(topology::AllowedCpus().Next(0)));
  return cpus;
}

TEST(WorkerThreadTest, HasANameAndAStack) {
  WorkerThread::Options options;
  options.name = "a-name-that-is-too-long";
  options.stack_bytes = 1 << 20;
  WorkerThread::Report report;
  const Look look = RunOne(options, &report);
  EXPECT_EQ(look.name, "a-name-that-is-");
  EXPECT_GE(look.stack_bytes, size_t{1} << 20);
  EXPECT_TRUE(look.is_this_thread);
  EXPECT_TRUE(report.is_running);
  EXPECT_NE(report.thread_id, 0u);
  EXPECT_TRUE(report.cpus == topology::AllowedCpus());
}

TEST(WorkerThreadTest, AffinityIsReadFromTheKernel) {
  WorkerThread::Options options;
  options.cpus = OneCpu();
  WorkerThread::Report report;
  RunOne(options, &report);
  EXPECT_EQ(report.affinity_error, 0);
  EXPECT_EQ(report.cpus.ToString(), options.cpus.ToString());
}

TEST(WorkerThreadTest, ARefusedAffinityIsReportedAndTheThreadRuns) {
  WorkerThread::Options options;
  options.name = "still-here";
  options.cpus.Add(CpuSet::kMaxCpus - 1);
  WorkerThread::Report report;
  EXPECT_EQ(RunOne(options, &report).name, "still-here");
  EXPECT_EQ(report.affinity_error, EINVAL);
  EXPECT_TRUE(report.cpus == topology::AllowedCpus());
}

// The processors of a thread after MoveOff(), and after ComeBack().
std::pair<CpuSet, CpuSet> Move(const CpuSet& own, int cpu) {
  struct Mover {
    WorkerThread thread;
    int cpu = -1;
    CpuSet moved, back;
    static void Run(void* argument) {
      auto* self = static_cast<Mover*>(argument);
      self->thread.MoveOff(self->cpu);
      self->moved = topology::AllowedCpus();
      self->thread.ComeBack();
      self->back = topology::AllowedCpus();
    }
  };
  Mover mover;
  mover.cpu = cpu;
  WorkerThread::Options options;
  options.cpus = own;
  EXPECT_TRUE(mover.thread.Start(options, &Mover::Run, &mover).ok());
  mover.thread.Join();
  return {mover.moved, mover.back};
}

TEST(WorkerThreadTest, AThreadIsKeptOffAProcessorForAWhile) {
  const CpuSet all = topology::AllowedCpus();
  const int cpu = all.Next(0);
  const auto [moved, back] = Move({}, cpu);
  EXPECT_TRUE(back == all);
  if (all.count() < 2) {
    EXPECT_TRUE(moved == all);
  } else {
    EXPECT_FALSE(moved.Contains(static_cast<uint32_t>(cpu)));
    EXPECT_EQ(moved.count() + 1, all.count());
  }
}

TEST(WorkerThreadTest, AThreadStaysOnProcessorsOfItsOwn) {
  const auto [moved, back] = Move(OneCpu(), topology::AllowedCpus().Next(0));
  EXPECT_EQ(moved.ToString(), OneCpu().ToString());
  EXPECT_EQ(back.ToString(), OneCpu().ToString());
}

TEST(WorkerThreadTest, APriorityIsGrantedOrItsErrorReported) {
  WorkerThread::Options options;
  options.fifo_priority = 1;
  WorkerThread::Report report;
  RunOne(options, &report);
  if (report.priority_error == 0) {
    EXPECT_EQ(report.fifo_priority, 1);
  } else {
    EXPECT_EQ(report.priority_error, EPERM);
    EXPECT_EQ(report.fifo_priority, 0);
  }
}

TEST(WorkerThreadTest, AnImpossiblePriorityIsReported) {
  WorkerThread::Options options;
  options.fifo_priority = 1000;
  WorkerThread::Report report;
  RunOne(options, &report);
  EXPECT_NE(report.priority_error, 0);
  EXPECT_EQ(report.fifo_priority, 0);
}

TEST(WorkerThreadTest, APriorityThatIsRefusedLaterIsReported) {
  struct Changes {
    WorkerThread thread;
    static void Run(void* argument) {
      auto* self = static_cast<Changes*>(argument);
      self->thread.SetRealTime(false);
      scheduling_error = EPERM;
      self->thread.SetRealTime(true);
      scheduling_error = 0;
    }
  };
  Changes changes;
  ASSERT_TRUE(changes.thread.Start({}, &Changes::Run, &changes).ok());
  changes.thread.Join();
  EXPECT_EQ(changes.thread.report().priority_error, EPERM);
}

constexpr ThreadReservation kReservation = {3'000'000, 20'000'000};

TEST(WorkerThreadTest, AReservationIsGrantedOrItsErrorReported) {
  WorkerThread::Options options;
  options.reservation = kReservation;
  WorkerThread::Report report;
  RunOne(options, &report);
  if (report.reservation_error == 0) {
    EXPECT_EQ(report.reservation.budget_ns, kReservation.budget_ns);
    EXPECT_EQ(report.reservation.period_ns, kReservation.period_ns);
  } else {
    EXPECT_EQ(report.reservation_error, EPERM);
    EXPECT_FALSE(report.reservation.is_set());
  }
}

TEST(WorkerThreadTest, WithoutTheRightAReservationIsRefusedAndTheThreadRuns) {
  std::thread([] {
    WithoutSysNice();
    WorkerThread::Options options;
    options.name = "still-here";
    options.reservation = kReservation;
    WorkerThread::Report report;
    EXPECT_EQ(RunOne(options, &report).name, "still-here");
    EXPECT_EQ(report.reservation_error, EPERM);
    EXPECT_FALSE(report.reservation.is_set());
  }).join();
}

// One of several CPUs is not a root domain, unless a cpuset makes it one.
TEST(WorkerThreadTest, AReservationOnOneOfSeveralCpusIsRefused) {
  if (topology::AllowedCpus().count() < 2) GTEST_SKIP() << "one CPU";
  WorkerThread::Options options;
  options.reservation = kReservation;
  options.cpus = OneCpu();
  WorkerThread::Report report;
  RunOne(options, &report);
  EXPECT_EQ(report.affinity_error, 0);
  EXPECT_EQ(report.reservation_error, EPERM);
  EXPECT_FALSE(report.reservation.is_set());
}

TEST(WorkerThreadTest, AStackThatIsTooLargeIsAnError) {
  WorkerThread::Options options;
  options.stack_bytes = size_t{1} << 50;
  WorkerThread thread;
  Look look;
  EXPECT_EQ(thread.Start(options, &Look::Run, &look).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(WorkerThreadTest, AffinityMayChangeWhileItRuns) {
  struct Waits {
    std::atomic<int> step{0};
    static void Run(void* argument) {
      auto* self = static_cast<Waits*>(argument);
      self->step.store(1);
      self->step.notify_all();
      self->step.wait(1);
    }
  };
  Waits waits;
  WorkerThread thread;
  ASSERT_TRUE(thread.Start({}, &Waits::Run, &waits).ok());
  waits.step.wait(0);
  thread.SetAffinity(OneCpu());
  EXPECT_TRUE(thread.report().cpus == OneCpu());
  waits.step.store(2);
  waits.step.notify_all();
  thread.Join();
}

TEST(WorkerThreadTest, AnApplicationMaySupplyTheThread) {
  struct Application {
    int created = 0, joined = 0;
    bool refuses = false;
    static bool Create(void* user_data, uint32_t worker, const char* name,
                       void (*run)(void*), void* argument, void** thread) {
      auto* self = static_cast<Application*>(user_data);
      EXPECT_EQ(worker, 5u);
      EXPECT_STREQ(name, "theirs");
      if (self->refuses) return false;
      ++self->created;
      *thread = new std::thread(run, argument);
      return true;
    }
    static void Join(void* user_data, void* thread) {
      ++static_cast<Application*>(user_data)->joined;
      auto* theirs = static_cast<std::thread*>(thread);
      theirs->join();
      delete theirs;
    }
  };
  Application application;
  WorkerThread::Options options;
  options.name = "theirs";
  options.worker = 5;
  options.hooks = {&application, &Application::Create, &Application::Join};
  WorkerThread::Report report;
  EXPECT_EQ(RunOne(options, &report).name, "theirs");
  EXPECT_TRUE(report.is_running);
  EXPECT_EQ(application.created, 1);
  EXPECT_EQ(application.joined, 1);
  application.refuses = true;
  WorkerThread thread;
  EXPECT_EQ(thread.Start(options, nullptr, nullptr).code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace takt::exec
