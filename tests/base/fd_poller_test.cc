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

namespace takt {
namespace {

using Event = FdPoller::Event;

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

// What this thread waits for another to do.
class Done {
 public:
  void Notify() { sleeper_.Raise(1); }
  void Wait() {
    while (sleeper_.raised() == 0) sleeper_.Sleep(kInfiniteFuture);
  }

 private:
  Sleeper sleeper_;
};

// What a callback was given, and that it came once.
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

std::unique_ptr<FdPoller> MakePoller() {
  auto poller = FdPoller::Create();
  EXPECT_TRUE(poller.ok()) << poller.status();
  return *std::move(poller);
}

TEST(FdPollerTest, CallsBackOnceReadable) {
  Pipe pipe;
  Outcome outcome;
  auto poller = MakePoller();
  auto id =
      poller->Watch(pipe.read_end.get(), Event::kReadable, outcome.Callback());
  ASSERT_TRUE(id.ok()) << id.status();
  EXPECT_EQ(outcome.call_count, 0);
  pipe.Write();
  EXPECT_TRUE(outcome.Wait().ok());
  EXPECT_FALSE(poller->Cancel(*id));
  pipe.Write();
  poller.reset();
  EXPECT_EQ(outcome.call_count, 1);
  char left[4];
  EXPECT_EQ(read(pipe.read_end.get(), left, sizeof(left)), 2);
}

TEST(FdPollerTest, CallsBackOnceWritable) {
  Pipe pipe;
  Outcome outcome;
  auto poller = MakePoller();
  ASSERT_TRUE(
      poller->Watch(pipe.write_end.get(), Event::kWritable, outcome.Callback())
          .ok());
  EXPECT_TRUE(outcome.Wait().ok());
}

TEST(FdPollerTest, TheCallersDescriptorMayBeClosed) {
  Pipe pipe;
  Outcome outcome;
  auto poller = MakePoller();
  ASSERT_TRUE(
      poller->Watch(pipe.read_end.get(), Event::kReadable, outcome.Callback())
          .ok());
  pipe.read_end = UniqueFd();
  pipe.Write();
  EXPECT_TRUE(outcome.Wait().ok());
}

TEST(FdPollerTest, OneDescriptorCanBeWatchedManyTimes) {
  UniqueFd event(eventfd(0, EFD_CLOEXEC));
  std::vector<std::unique_ptr<Outcome>> outcomes;
  auto poller = MakePoller();
  for (int i = 0; i < 100; ++i) {
    outcomes.push_back(std::make_unique<Outcome>());
    ASSERT_TRUE(
        poller
            ->Watch(event.get(), Event::kReadable, outcomes.back()->Callback())
            .ok());
  }
  const uint64_t one = 1;
  ASSERT_EQ(write(event.get(), &one, sizeof(one)), 8);
  for (auto& outcome : outcomes) EXPECT_TRUE(outcome->Wait().ok());
}

TEST(FdPollerTest, AHangUpIsAborted) {
  Pipe pipe;
  Outcome outcome;
  auto poller = MakePoller();
  ASSERT_TRUE(
      poller->Watch(pipe.read_end.get(), Event::kReadable, outcome.Callback())
          .ok());
  pipe.write_end = UniqueFd();
  EXPECT_EQ(outcome.Wait().code(), absl::StatusCode::kAborted);
}

TEST(FdPollerTest, DataBeforeAHangUpIsReadable) {
  Pipe pipe;
  Outcome outcome;
  pipe.Write();
  pipe.write_end = UniqueFd();
  auto poller = MakePoller();
  ASSERT_TRUE(
      poller->Watch(pipe.read_end.get(), Event::kReadable, outcome.Callback())
          .ok());
  EXPECT_TRUE(outcome.Wait().ok());
}

TEST(FdPollerTest, APipeThatNobodyReadsIsAborted) {
  Pipe pipe;
  Outcome outcome;
  pipe.read_end = UniqueFd();
  auto poller = MakePoller();
  ASSERT_TRUE(
      poller->Watch(pipe.write_end.get(), Event::kWritable, outcome.Callback())
          .ok());
  EXPECT_EQ(outcome.Wait().code(), absl::StatusCode::kAborted);
}

TEST(FdPollerTest, CancelTakesTheCallbackBack) {
  Pipe pipe;
  Outcome outcome;
  auto poller = MakePoller();
  auto id =
      poller->Watch(pipe.read_end.get(), Event::kReadable, outcome.Callback());
  ASSERT_TRUE(id.ok());
  EXPECT_TRUE(poller->Cancel(*id));
  EXPECT_FALSE(poller->Cancel(*id));
  pipe.Write();
  poller.reset();
  EXPECT_EQ(outcome.call_count, 0);
}

TEST(FdPollerTest, DestructionCancelsWhatIsLeft) {
  Pipe pipe;
  Outcome outcome;
  auto poller = MakePoller();
  ASSERT_TRUE(
      poller->Watch(pipe.read_end.get(), Event::kReadable, outcome.Callback())
          .ok());
  poller.reset();
  EXPECT_EQ(outcome.call_count, 1);
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kCancelled);
}

TEST(FdPollerTest, ACallbackMayDestroyThePoller) {
  Pipe pipe;
  Outcome other;
  Pipe silent;
  Done destroyed;
  auto poller = MakePoller();
  ASSERT_TRUE(
      poller->Watch(silent.read_end.get(), Event::kReadable, other.Callback())
          .ok());
  ASSERT_TRUE(poller
                  ->Watch(pipe.read_end.get(), Event::kReadable,
                          [&](const absl::Status&) {
                            poller.reset();
                            destroyed.Notify();
                          })
                  .ok());
  pipe.Write();
  destroyed.Wait();
  EXPECT_EQ(other.status.code(), absl::StatusCode::kCancelled);
}

TEST(FdPollerTest, ACallbackMayWatchAgain) {
  Pipe pipe;
  Outcome second;
  auto poller = MakePoller();
  ASSERT_TRUE(poller
                  ->Watch(pipe.read_end.get(), Event::kReadable,
                          [&](const absl::Status&) {
                            EXPECT_TRUE(poller
                                            ->Watch(pipe.read_end.get(),
                                                    Event::kReadable,
                                                    second.Callback())
                                            .ok());
                          })
                  .ok());
  pipe.Write();
  EXPECT_TRUE(second.Wait().ok());
}

TEST(FdPollerTest, RefusesWhatIsNoDescriptor) {
  auto poller = MakePoller();
  Outcome outcome;
  EXPECT_EQ(
      poller->Watch(-1, Event::kReadable, outcome.Callback()).status().code(),
      absl::StatusCode::kInvalidArgument);
  Pipe pipe;
  const int closed = pipe.read_end.get();
  pipe.read_end = UniqueFd();
  EXPECT_EQ(poller->Watch(closed, Event::kReadable, outcome.Callback())
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(outcome.call_count, 0);
}

TEST(FdPollerTest, RefusesAFileOnDisk) {
  UniqueFd file(open(TAKT_TESTDATA_DIR "/regenerate.py", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file.valid());
  auto poller = MakePoller();
  Outcome outcome;
  const absl::Status status =
      poller->Watch(file.get(), Event::kReadable, outcome.Callback()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("cannot be polled"), std::string::npos);
}

}  // namespace
}  // namespace takt
