// The lease among processes: its order, and what happens when one dies, hangs,
// or damages the file. Members of one process stand for processes where none
// has to die.
#include "npu/shared_lease.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "npu/lease_file.h"

namespace takt::npu {
namespace {

constexpr int64_t kTurnMaxNs = 10'000'000'000;

class SharedLeaseTest : public ::testing::Test {
 protected:
  SharedLeaseTest()
      : path_(::testing::TempDir() + "/takt_lease_" +
              std::to_string(getpid())) {
    unlink(path_.c_str());
  }
  ~SharedLeaseTest() override { unlink(path_.c_str()); }

  std::unique_ptr<SharedLease> Join(int64_t turn_max_ns = kTurnMaxNs,
                                    int64_t (*now_ns)() = &NowNs) {
    auto lease = SharedLease::Join(path_, turn_max_ns, now_ns);
    EXPECT_TRUE(lease.ok()) << lease.status();
    return lease.ok() ? *std::move(lease) : nullptr;
  }
  absl::Status JoinStatus() {
    return SharedLease::Join(path_, kTurnMaxNs).status();
  }
  static void Acquire(SharedLease& lease, const Urgency& urgency = Urgency()) {
    lease.Acquire([&] { return urgency; });
  }
  // Waits until `count` members wait for the lease.
  void AwaitRequests(int64_t count) {
    auto file = LeaseFile::Join(path_);
    ASSERT_TRUE(file.ok()) << file.status();
    const auto waits = [](const LeaseFile::Slot& slot) {
      return slot.ticket != 0;
    };
    for (auto slots = file->Read().slots;
         std::count_if(slots.begin(), slots.end(), waits) != count;
         slots = file->Read().slots) {
      std::this_thread::yield();
    }
  }

  const std::string path_;
};

TEST_F(SharedLeaseTest, OneAtATimeHasIt) {
  std::atomic<int> holders{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto lease = Join();
      ASSERT_NE(lease, nullptr);
      for (int turn = 0; turn < 200; ++turn) {
        Acquire(*lease);
        EXPECT_EQ(holders.fetch_add(1), 0);
        holders.fetch_sub(1);
        lease->Release();
      }
      EXPECT_EQ(lease->statistics().grant_count, 200u);
      EXPECT_EQ(lease->statistics().lost_count, 0u);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A member that asks in a thread of its own.
class Asker {
 public:
  Asker(std::unique_ptr<SharedLease> lease, const Urgency& urgency, int name,
        std::vector<int>* order)
      : lease_(std::move(lease)), thread_([this, urgency, name, order] {
          lease_->Acquire([&] { return urgency; });
          order->push_back(name);  // Protected by the lease.
          lease_->Release();
        }) {}
  ~Asker() { thread_.join(); }

 private:
  std::unique_ptr<SharedLease> lease_;
  std::thread thread_;
};

TEST_F(SharedLeaseTest, GoesToTheMostUrgentProcess) {
  const auto holder = Join();
  std::vector<int> order;
  Acquire(*holder);
  {
    const Asker low(Join(), {.priority = 100}, 1, &order);
    const Asker high(Join(), {.priority = 200}, 2, &order);
    const Asker middle(Join(), {.priority = 128}, 3, &order);
    AwaitRequests(3);
    EXPECT_TRUE(holder->ShouldYieldTo({.priority = 199}));
    EXPECT_FALSE(holder->ShouldYieldTo({.priority = 201}));
    holder->Release();
  }
  EXPECT_EQ(order, (std::vector<int>{2, 3, 1}));
}

TEST_F(SharedLeaseTest, ARequestThatWaitsMayBecomeMoreUrgent) {
  const auto holder = Join();
  std::atomic<int> priority{10};
  std::vector<int> order;
  Acquire(*holder);
  const auto rising = Join();
  std::thread thread([&] {
    rising->Acquire([&] {
      return Urgency{.priority = static_cast<uint8_t>(priority.load())};
    });
    order.push_back(1);
    rising->Release();
  });
  {
    const Asker middle(Join(), {.priority = 100}, 2, &order);
    AwaitRequests(2);
    priority = 200;
    rising->Raise({.priority = 200});
    while (!holder->ShouldYieldTo({.priority = 150})) {
      std::this_thread::yield();
    }
    holder->Release();
    thread.join();
  }
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_F(SharedLeaseTest, AHolderThatDiesLosesIt) {
  const auto lease = Join();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    auto own = SharedLease::Join(path_, kTurnMaxNs);
    if (!own.ok()) _exit(1);
    (*own)->Acquire([] { return Urgency(); });
    (void)!write(ready[1], "x", 1);
    while (true) pause();
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    kill(child, SIGKILL);
  });
  Acquire(*lease);
  EXPECT_EQ(lease->statistics().taken_back_count, 1u);
  lease->Release();
  killer.join();
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(SharedLeaseTest, AHolderThatHangsLosesIt) {
  const auto hung = Join(/*turn_max_ns=*/30'000'000);
  const auto lease = Join();
  Acquire(*hung);
  Acquire(*lease);  // Without a Release() of the other.
  EXPECT_EQ(lease->statistics().taken_back_count, 1u);
  hung->Release();  // Too late; the other still has it.
  EXPECT_EQ(hung->statistics().lost_count, 1u);
  EXPECT_FALSE(lease->ShouldYieldTo({}));
  lease->Release();
  Acquire(*hung);
  hung->Release();
}

TEST_F(SharedLeaseTest, AHolderAtWorkKeepsIt) {
  constexpr int64_t kTurnNs = 200'000'000;
  // The time of the process that waits, and how often it has looked at it.
  static std::atomic<int64_t> now_ns;
  static std::atomic<int> look_count;
  now_ns = 1;
  look_count = 0;
  const auto busy = Join(kTurnNs);
  const auto lease = Join(kTurnMaxNs, [] {
    ++look_count;
    return now_ns.load();
  });
  Acquire(*busy);
  std::atomic<bool> is_granted{false};
  std::thread waits([&] {
    Acquire(*lease);
    is_granted = true;
    lease->Release();
  });
  for (int i = 0; i < 10; ++i) {
    busy->Beat();
    // The first of two looks may have begun before the beat.
    const int seen_count = look_count + 2;
    while (look_count < seen_count && !is_granted) std::this_thread::yield();
    EXPECT_FALSE(is_granted);
    now_ns += kTurnNs * 3 / 4;
  }
  busy->Release();
  waits.join();
  EXPECT_EQ(lease->statistics().taken_back_count, 0u);
  EXPECT_EQ(busy->statistics().lost_count, 0u);
}

TEST_F(SharedLeaseTest, AFileThatIsLockedForLongIsDoneWithout) {
  const auto lease = Join();
  const int fd = open(path_.c_str(), O_RDWR);
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;  // The whole file, and what is behind it.
  ASSERT_EQ(fcntl(fd, F_OFD_SETLK, &lock), -1) << "the slot is locked";
  lock.l_start = 1 << 20;
  lock.l_len = 1;
  ASSERT_EQ(fcntl(fd, F_OFD_SETLK, &lock), 0);
  Acquire(*lease);
  EXPECT_EQ(lease->statistics().unarbitrated_count, 1u);
  EXPECT_EQ(lease->statistics().grant_count, 0u);
  close(fd);
  lease->Release();
}

TEST_F(SharedLeaseTest, RefusesOtherFiles) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(JoinStatus().code(), absl::StatusCode::kFailedPrecondition);
  unlink(path_.c_str());
  const int fd = open(path_.c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_EQ(write(fd, "something else", 14), 14);
  close(fd);
  EXPECT_EQ(JoinStatus().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(JoinStatus().message().find(path_), std::string::npos);
  EXPECT_EQ(
      SharedLease::Join("/no/such/folder/lease", kTurnMaxNs).status().code(),
      absl::StatusCode::kNotFound);
}

// Another process is about to write the file's first words: it takes its slot
// before.
TEST_F(SharedLeaseTest, AFileThatIsBeingMadeIsJoined) {
  const std::string slot(100, '\0');
  const int file = open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  ASSERT_EQ(write(file, slot.data(), slot.size()), 100);
  close(file);
  const auto lease = Join();
  ASSERT_NE(lease, nullptr);
  Acquire(*lease);
  lease->Release();
}

TEST_F(SharedLeaseTest, SlotsAreUsedAgain) {
  {
    std::vector<std::unique_ptr<SharedLease>> all;
    for (uint32_t i = 0; i < LeaseFile::kSlotCount; ++i) all.push_back(Join());
    EXPECT_EQ(JoinStatus().code(), absl::StatusCode::kResourceExhausted);
  }
  EXPECT_TRUE(JoinStatus().ok());
}

// A peer that writes anything into the file, or cuts it off, delays the others
// and does no more.
TEST_F(SharedLeaseTest, ADamagedFileDelaysAndNoMore) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  std::atomic<int> turns{0};
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      const auto lease = Join(/*turn_max_ns=*/1'000'000);
      while (!ends) {
        Acquire(*lease);
        lease->Beat();
        (void)lease->ShouldYieldTo({});
        ++turns;
        lease->Release();
      }
    });
  }
  while (turns == 0) std::this_thread::yield();
  const int fd = open(path_.c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  std::mt19937 random(11);
  for (int i = 0; i < 500; ++i) {
    uint64_t word = random() % 2 == 0 ? random() : ~uint64_t{0};
    const off_t at = random() % (sizeof(LeaseFile::Contents) / 8) * 8;
    if (random() % 20 == 0) {
      ASSERT_EQ(ftruncate(fd, at), 0);
    } else {
      // Turns that never end would take kTurnMaxNs each to be taken back.
      if (word == ~uint64_t{0}) word = random() % 70;
      ASSERT_EQ(pwrite(fd, &word, sizeof(word), at), 8);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  // As at the start: what was asked for before is lost with the contents.
  ASSERT_EQ(ftruncate(fd, 0), 0);
  close(fd);
  const int before = turns;
  const int64_t limit_ns = NowNs() + 20'000'000'000;
  while (turns < before + 10 && NowNs() < limit_ns) std::this_thread::yield();
  EXPECT_GE(turns, before + 10);
  ends = true;
  for (std::thread& thread : threads) thread.join();
}

// Processes that are killed at any time. TAKT_STRESS_SECONDS: how long.
class SharedLeaseStressTest : public SharedLeaseTest,
                              public testing::WithParamInterface<int> {};

TEST_P(SharedLeaseStressTest, ProcessesAreKilledAtRandom) {
  const char* const given = std::getenv("TAKT_STRESS_SECONDS");
  const int64_t end_ns =
      NowNs() + (given != nullptr ? std::atoll(given) : 1) * 1'000'000'000;
  struct Shared {
    std::atomic<pid_t> holder;
    std::atomic<uint64_t> turn_count;
    std::atomic<uint64_t> clash_count;
  };
  auto* const shared =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(shared, MAP_FAILED);
  const auto run = [&](uint32_t seed) {
    auto lease = SharedLease::Join(path_, kTurnMaxNs);
    if (!lease.ok()) _exit(1);
    std::mt19937 random(seed);
    while (true) {
      const Urgency urgency = {.priority =
                                   static_cast<uint8_t>(random() % 256)};
      (*lease)->Acquire([&] { return urgency; });
      shared->holder = getpid();
      usleep(random() % 50);
      if (shared->holder != getpid()) ++shared->clash_count;
      ++shared->turn_count;
      (*lease)->Release();
    }
  };
  std::mt19937 random(5);
  std::vector<pid_t> children(static_cast<size_t>(GetParam()), 0);
  uint64_t kill_count = 0;
  while (NowNs() < end_ns) {
    for (pid_t& child : children) {
      if (child != 0) continue;
      const auto seed = static_cast<uint32_t>(random());
      child = fork();
      if (child == 0) run(seed);
    }
    usleep(random() % 4000);
    pid_t& victim = children[random() % children.size()];
    kill(victim, SIGKILL);
    waitpid(victim, nullptr, 0);
    victim = 0;
    ++kill_count;
  }
  const uint64_t before = shared->turn_count;
  for (pid_t& child : children) {
    if (child == 0) {
      child = fork();
      if (child == 0) run(1);
    }
  }
  // Those that are left go on.
  const int64_t limit_ns = NowNs() + 20'000'000'000;
  while (shared->turn_count < before + 100 && NowNs() < limit_ns) usleep(100);
  for (pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  EXPECT_GE(shared->turn_count, before + 100);
  EXPECT_EQ(shared->clash_count, 0u);
  RecordProperty("kills", static_cast<int>(kill_count));
  RecordProperty("turns", static_cast<int>(shared->turn_count.load()));
  std::printf("%llu kills, %llu turns\n",
              static_cast<unsigned long long>(kill_count),
              static_cast<unsigned long long>(shared->turn_count.load()));
  munmap(shared, sizeof(Shared));
}

INSTANTIATE_TEST_SUITE_P(Processes, SharedLeaseStressTest,
                         testing::Values(2, 4));

}  // namespace
}  // namespace takt::npu
