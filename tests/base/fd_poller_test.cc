#include "base/fd_poller.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/sleeper.h"
#include "base/unique_fd.h"
#include "gtest/gtest.h"
#include "tests/support/allocation_faults.h"

namespace takt {
namespace {

using Readiness = FdPoller::Readiness;

struct Pipe {
  Pipe() {
    int fds[2];
    EXPECT_EQ(pipe2(fds, O_CLOEXEC), 0);
    read_end = UniqueFd(fds[0]);
    write_end = UniqueFd(fds[1]);
  }
  void Write() { EXPECT_EQ(write(write_end.get(), "x", 1), 1); }

  UniqueFd read_end;
  UniqueFd write_end;
};

// This thread waits until another one notifies it.
class Done {
 public:
  void Notify() { sleeper_.Raise(1); }
  void Wait() {
    while (sleeper_.raised() == 0) sleeper_.Sleep(kInfiniteFuture);
  }

 private:
  Sleeper sleeper_;
};

// Counts the calls of a callback, and holds the status that it got.
struct Outcome {
  FdPoller::Callback Callback() {
    return [this](const absl::Status& given) {
      ++call_count;
      status = given;
      done.Notify();
    };
  }
  absl::Status Wait() {
    done.Wait();
    return status;
  }

  Done done;
  absl::Status status;
  std::atomic<int> call_count{0};
};

class FdPollerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto poller = FdPoller::Create();
    ASSERT_TRUE(poller.ok()) << poller.status();
    poller_ = *std::move(poller);
  }
  // Watches `fd` for `outcome`, and returns the number for Cancel().
  uint64_t Watch(int fd, Readiness wanted, Outcome& outcome) {
    const auto id = poller_->Watch(fd, wanted, outcome.Callback());
    EXPECT_TRUE(id.ok()) << id.status();
    return id.value_or(0);
  }
  uint64_t WatchReadable(Outcome& outcome) {
    return Watch(pipe_.read_end.get(), Readiness::kReadable, outcome);
  }

  // Before the poller, which calls them back as it is destroyed.
  Outcome outcome_;
  Outcome other_;
  Pipe pipe_;
  std::unique_ptr<FdPoller> poller_;
};

TEST_F(FdPollerTest, CallsBackOnceReadable) {
  const uint64_t id = WatchReadable(outcome_);
  EXPECT_EQ(outcome_.call_count, 0);
  pipe_.Write();
  EXPECT_TRUE(outcome_.Wait().ok());
  EXPECT_FALSE(poller_->Cancel(id));
  pipe_.Write();
  poller_.reset();
  EXPECT_EQ(outcome_.call_count, 1);
  char left[4];
  EXPECT_EQ(read(pipe_.read_end.get(), left, sizeof(left)), 2);
}

TEST_F(FdPollerTest, CallsBackOnceWritable) {
  Watch(pipe_.write_end.get(), Readiness::kWritable, outcome_);
  EXPECT_TRUE(outcome_.Wait().ok());
}

TEST_F(FdPollerTest, TheCallerMayCloseItsDescriptor) {
  WatchReadable(outcome_);
  pipe_.read_end = UniqueFd();
  pipe_.Write();
  EXPECT_TRUE(outcome_.Wait().ok());
}

TEST_F(FdPollerTest, WithoutMemoryNothingIsWatched) {
  pipe_.Write();
  poller_ = *FdPoller::Create({.has_no_thread = true});
  bool is_hit = true;
  for (int64_t fault = 0; is_hit; ++fault) {
    bool is_watched = false;
    try {
      const AllocationFault armed(fault);
      is_watched = poller_
                       ->Watch(pipe_.read_end.get(), Readiness::kReadable,
                               outcome_.Callback())
                       .ok();
    } catch (const std::bad_alloc&) {
    }
    is_hit = AllocationFault::is_hit();
    EXPECT_EQ(is_watched, !is_hit);
    // What nothing takes would be ready for ever.
    EXPECT_EQ(poller_->DispatchReady(), is_watched ? 1u : 0u) << fault;
  }
  EXPECT_EQ(outcome_.call_count, 1);
}

TEST_F(FdPollerTest, OneDescriptorCanBeWatchedManyTimes) {
  UniqueFd event(eventfd(0, EFD_CLOEXEC));
  std::vector<std::unique_ptr<Outcome>> outcomes;
  for (int i = 0; i < 100; ++i) {
    outcomes.push_back(std::make_unique<Outcome>());
    Watch(event.get(), Readiness::kReadable, *outcomes.back());
  }
  const uint64_t one = 1;
  ASSERT_EQ(write(event.get(), &one, sizeof(one)), 8);
  for (auto& outcome : outcomes) EXPECT_TRUE(outcome->Wait().ok());
}

TEST_F(FdPollerTest, AHangUpIsAborted) {
  WatchReadable(outcome_);
  pipe_.write_end = UniqueFd();
  EXPECT_EQ(outcome_.Wait().code(), absl::StatusCode::kAborted);
}

TEST_F(FdPollerTest, DataBeforeAHangUpIsReadable) {
  pipe_.Write();
  pipe_.write_end = UniqueFd();
  WatchReadable(outcome_);
  EXPECT_TRUE(outcome_.Wait().ok());
}

TEST_F(FdPollerTest, APipeWithoutAReaderIsAborted) {
  pipe_.read_end = UniqueFd();
  Watch(pipe_.write_end.get(), Readiness::kWritable, outcome_);
  EXPECT_EQ(outcome_.Wait().code(), absl::StatusCode::kAborted);
}

TEST_F(FdPollerTest, ACancelledCallbackDoesNotRun) {
  const uint64_t id = WatchReadable(outcome_);
  EXPECT_TRUE(poller_->Cancel(id));
  EXPECT_FALSE(poller_->Cancel(id));
  pipe_.Write();
  poller_.reset();
  EXPECT_EQ(outcome_.call_count, 0);
}

TEST_F(FdPollerTest, DestructionCancelsAllWatches) {
  WatchReadable(outcome_);
  poller_.reset();
  EXPECT_EQ(outcome_.call_count, 1);
  EXPECT_EQ(outcome_.status.code(), absl::StatusCode::kCancelled);
}

TEST_F(FdPollerTest, ACallbackMayDestroyThePoller) {
  Pipe silent;
  Watch(silent.read_end.get(), Readiness::kReadable, other_);
  Done destroyed;
  const auto destroy = [&](const absl::Status&) {
    poller_.reset();
    destroyed.Notify();
  };
  ASSERT_TRUE(
      poller_->Watch(pipe_.read_end.get(), Readiness::kReadable, destroy).ok());
  pipe_.Write();
  destroyed.Wait();
  EXPECT_EQ(other_.status.code(), absl::StatusCode::kCancelled);
}

TEST_F(FdPollerTest, ACallbackMayWatchAgain) {
  const auto watch_again = [&](const absl::Status&) { WatchReadable(other_); };
  ASSERT_TRUE(
      poller_->Watch(pipe_.read_end.get(), Readiness::kReadable, watch_again)
          .ok());
  pipe_.Write();
  EXPECT_TRUE(other_.Wait().ok());
}

TEST_F(FdPollerTest, RefusesANumberWithoutADescriptor) {
  const int closed = pipe_.read_end.get();
  pipe_.read_end = UniqueFd();
  for (const int fd : {-1, closed}) {
    EXPECT_EQ(poller_->Watch(fd, Readiness::kReadable, outcome_.Callback())
                  .status()
                  .code(),
              absl::StatusCode::kInvalidArgument)
        << fd;
  }
  EXPECT_EQ(outcome_.call_count, 0);
}

TEST_F(FdPollerTest, RefusesAFileOnDisk) {
  UniqueFd file(open(TAKT_TESTDATA_DIR "/regenerate.py", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file.valid());
  const absl::Status status =
      poller_->Watch(file.get(), Readiness::kReadable, outcome_.Callback())
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("cannot be polled"), std::string::npos);
}

}  // namespace
}  // namespace takt
