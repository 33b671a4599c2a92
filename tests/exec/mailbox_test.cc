#include "exec/mailbox.h"

#include "gtest/gtest.h"

namespace takt::exec {
namespace {

// A job that nobody runs.
class Letter final : public Job {
 public:
  explicit Letter(uint8_t its_lane, uint32_t tiles = 1) {
    lane = its_lane;
    tile_count = tiles;
  }
  uint32_t RunTiles(uint32_t, uint32_t end, Worker&) override { return end; }
  void Finish(Worker&) override {}
};

TEST(MailboxTest, ALaneIsFirstComeFirstServed) {
  Mailbox mailbox;
  Letter first(3), second(3), urgent(7);
  bool left = false;
  EXPECT_EQ(mailbox.Enter(3, Mailbox::kAnyWorker, &left), nullptr);
  mailbox.Post(&first);
  mailbox.Post(&second);
  mailbox.Post(&urgent);
  EXPECT_EQ(mailbox.lanes(), 1u << 3 | 1u << 7);
  EXPECT_EQ(mailbox.size(), 3u);
  EXPECT_EQ(mailbox.Enter(7, Mailbox::kAnyWorker, &left), &urgent);
  EXPECT_EQ(mailbox.Enter(3, Mailbox::kAnyWorker, &left), &first);
  EXPECT_EQ(mailbox.Enter(3, Mailbox::kAnyWorker, &left), &second);
  EXPECT_TRUE(left);
  EXPECT_EQ(mailbox.lanes(), 0u);
}

TEST(MailboxTest, ALaneHasTheEarliestDeadlineFirst) {
  Mailbox mailbox;
  Letter none(3), late(3), early(3), early_too(3), other(4), none_too(3);
  late.deadline_ns = 20;
  early.deadline_ns = early_too.deadline_ns = 10;
  other.deadline_ns = 5;
  EXPECT_EQ(mailbox.EarliestNs(3), kInfiniteFuture);
  for (Letter* letter : {&none, &late, &early, &early_too, &other, &none_too}) {
    mailbox.Post(letter);
  }
  EXPECT_EQ(mailbox.EarliestNs(3), 10);
  EXPECT_EQ(mailbox.EarliestNs(4), 5);
  EXPECT_TRUE(mailbox.Unlist(&early));
  EXPECT_EQ(mailbox.EarliestNs(3), 10);
  bool left = false;
  for (Letter* letter : {&early_too, &late, &none, &none_too}) {
    EXPECT_EQ(mailbox.Enter(3, Mailbox::kAnyWorker, &left), letter);
  }
  EXPECT_EQ(mailbox.EarliestNs(3), kInfiniteFuture);
  EXPECT_EQ(mailbox.size(), 1u);
}

TEST(MailboxTest, SeveralMayEnterAJobOfSeveralTiles) {
  Mailbox mailbox;
  Letter job(0, 10);
  mailbox.Post(&job);
  bool left = true;
  EXPECT_EQ(mailbox.Enter(0, Mailbox::kAnyWorker, &left), &job);
  EXPECT_FALSE(left);
  EXPECT_EQ(mailbox.Enter(0, Mailbox::kAnyWorker, &left), &job);
  EXPECT_EQ(mailbox.size(), 1u);
  EXPECT_TRUE(mailbox.Unlist(&job));
  EXPECT_FALSE(mailbox.Unlist(&job));
  EXPECT_EQ(mailbox.Enter(0, Mailbox::kAnyWorker, &left), nullptr);
}

TEST(MailboxTest, GivesAWorkerOnlyWhatItMayRun) {
  Mailbox mailbox;
  WorkerSet two;
  two.Add(2);
  Letter limited(1), open(1);
  limited.allowed = &two;
  mailbox.Post(&limited);
  EXPECT_TRUE(mailbox.HasFor(1u << 1, 2));
  EXPECT_FALSE(mailbox.HasFor(1u << 1, 0));
  EXPECT_FALSE(mailbox.HasFor(1u << 0, 2));
  EXPECT_FALSE(mailbox.HasFor(1u << 1, Mailbox::kNoWorker));
  EXPECT_TRUE(mailbox.HasFor(1u << 1, Mailbox::kAnyWorker));
  mailbox.Post(&open);
  bool left = false;
  EXPECT_EQ(mailbox.Enter(1, Mailbox::kNoWorker, &left), &open);
  EXPECT_EQ(mailbox.Enter(1, 1, &left), nullptr);
  EXPECT_EQ(mailbox.Enter(1, 2, &left), &limited);
}

}  // namespace
}  // namespace takt::exec
