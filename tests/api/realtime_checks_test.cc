// What a real-time section may not do is seen, and a caller that works for a
// warm executor does none of it.
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/mutex.h"
#include "base/realtime_section.h"
#include "exec/executor.h"
#include "gtest/gtest.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#endif

namespace takt {

bool HasRealtimeChecks();

namespace {

#if !defined(HAS_SANITIZER)

std::atomic<int> counts[3];

void Count(const char* section, RealtimeViolation violation, uint64_t) {
  EXPECT_STREQ(section, "test");
  counts[static_cast<int>(violation)].fetch_add(1);
}
int CountOf(RealtimeViolation violation) {
  return counts[static_cast<int>(violation)].load();
}

class RealtimeChecksTest : public testing::Test {
 protected:
  RealtimeChecksTest() {
    EXPECT_TRUE(HasRealtimeChecks());
    for (auto& count : counts) count = 0;
    RealtimeSection::SetHandler(&Count);
  }
};

TEST_F(RealtimeChecksTest, SeesMemory) {
  void* volatile outside = malloc(100);
  EXPECT_EQ(CountOf(RealtimeViolation::kMemory), 0);
  RealtimeSection::Begin("test");
  free(outside);
  int* volatile inside = new int(1);
  RealtimeSection::End();
  delete inside;
  EXPECT_EQ(CountOf(RealtimeViolation::kMemory), 2);
  EXPECT_EQ(CountOf(RealtimeViolation::kLock), 0);
  EXPECT_GE(RealtimeSection::violation_count(), 2u);
}

TEST_F(RealtimeChecksTest, SeesAWaitForALockButNoLockThatIsFree) {
  Mutex mutex;
  pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
  RealtimeSection::Begin("test");
  mutex.Lock();
  mutex.Unlock();
  pthread_mutex_lock(&other);
  pthread_mutex_unlock(&other);
  RealtimeSection::End();
  EXPECT_EQ(CountOf(RealtimeViolation::kLock), 0);

  mutex.Lock();
  pthread_mutex_lock(&other);
  std::thread waits([&] {
    RealtimeSection::Begin("test");
    mutex.Lock();
    mutex.Unlock();
    pthread_mutex_lock(&other);
    pthread_mutex_unlock(&other);
    RealtimeSection::End();
  });
  while (CountOf(RealtimeViolation::kLock) < 1) std::this_thread::yield();
  mutex.Unlock();
  while (CountOf(RealtimeViolation::kLock) < 2) std::this_thread::yield();
  pthread_mutex_unlock(&other);
  waits.join();
}

TEST_F(RealtimeChecksTest, SeesAPageFault) {
  constexpr size_t kBytes = 16 * 4096;
  void* const block = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  RealtimeSection::Begin("test");
  static_cast<volatile char*>(block)[0] = 1;
  RealtimeSection::End();
  EXPECT_EQ(CountOf(RealtimeViolation::kPageFault), 1);
  munmap(block, kBytes);
}

TEST_F(RealtimeChecksTest, SectionsOfOtherThreadsAreTheirOwn) {
  RealtimeSection::Begin("test");
  std::atomic<bool> is_done{false};
  RealtimeSection::End();
  std::thread other([&] {
    free(malloc(10));
    is_done = true;
  });
  other.join();
  EXPECT_TRUE(is_done);
  EXPECT_EQ(CountOf(RealtimeViolation::kMemory), 0);
}

TEST(RealtimeChecksDeathTest, AbortsWithTheNameOfTheSection) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        RealtimeSection::Begin("control loop");
        void* volatile block = malloc(10);
        free(block);
      },
      "real-time section \"control loop\" takes or frees memory");
}

// Jobs of one tile and of several, on a warm executor.
class CountingJob final : public exec::Job {
 public:
  uint32_t RunTiles(uint32_t, uint32_t end, exec::Worker&) override {
    return end;
  }
  void Finish(exec::Worker&) override { caller->Notify(); }
  exec::Executor::HelpingCaller* caller = nullptr;
};

TEST_F(RealtimeChecksTest, TheHotPathOfTheExecutorDoesNone) {
  exec::Executor::Options options;
  options.worker_count = 1;
  auto executor = *exec::Executor::Create(options);
  CountingJob job;
  const auto run = [&](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      exec::Executor::HelpingCaller caller(*executor);
      job.caller = &caller;
      job.tile_count = 1 + static_cast<uint32_t>(i % 4);
      executor->Submit(&job);
      caller.WaitUntilNotified(kInfiniteFuture);
    }
  };
  run(1000);
  RealtimeSection::Begin("test");
  run(1000);
  RealtimeSection::End();
  EXPECT_EQ(CountOf(RealtimeViolation::kMemory), 0);
  // An emulator has page faults of its own.
  if (std::getenv("TAKT_EMULATED") == nullptr) {
    EXPECT_EQ(CountOf(RealtimeViolation::kPageFault), 0);
  }
  executor->Shutdown();
}

#endif

}  // namespace
}  // namespace takt
