#include "exec/mailbox.h"

#include "gtest/gtest.h"

namespace takt::exec {
namespace {

// A job that no thread runs.
class Letter final : public Job {
 public:
  explicit Letter(uint8_t its_lane, uint32_t tiles = 1) {
    lane = its_lane;
    tile_count = tiles;
  }
  uint32_t RunTiles(uint32_t, uint32_t end, Worker&) override { return end; }
  void Finish(Worker&) override {}
};

TEST(MailboxTest, ALaneIsServedInTheOrderOfArrival) {
  Mailbox mailbox;
  Letter first(3), second(3), urgent(7);
  EXPECT_EQ(mailbox.Enter(3, Mailbox::kAnyWorker).job, nullptr);
  mailbox.Post(&first);
  mailbox.Post(&second);
  mailbox.Post(&urgent);
  EXPECT_EQ(mailbox.lanes(), LaneMask::Only(3).With(7));
  EXPECT_EQ(mailbox.size(), 3u);
  EXPECT_EQ(mailbox.Enter(7, Mailbox::kAnyWorker).job, &urgent);
  EXPECT_EQ(mailbox.Enter(3, Mailbox::kAnyWorker).job, &first);
  const FoundJob last = mailbox.Enter(3, Mailbox::kAnyWorker);
  EXPECT_EQ(last.job, &second);
  EXPECT_FALSE(last.is_listed);
  EXPECT_TRUE(mailbox.lanes().empty());
}

TEST(MailboxTest, AListedJobMovesToTheLaneToWhichItIsRaised) {
  Mailbox mailbox;
  Letter low(1), due(5), none(5);
  due.deadline_ns = 10;
  mailbox.Post(&none);
  mailbox.Post(&due);
  mailbox.Post(&low);
  low.SetRaised(5);
  JobTraits now;
  ASSERT_TRUE(Mailbox::Relist(&low, &now));
  EXPECT_EQ(now.lane, 5);
  EXPECT_EQ(mailbox.lanes(), LaneMask::Only(5));
  EXPECT_LT(mailbox.EarliestNs(5), 10);
  EXPECT_EQ(mailbox.Enter(5, Mailbox::kAnyWorker).job, &low);
  EXPECT_FALSE(Mailbox::Relist(&low, &now));  // It is in no mailbox.
  EXPECT_EQ(mailbox.Enter(5, Mailbox::kAnyWorker).job, &due);
  // A loan from before Post() counts as well.
  mailbox.Post(&low);
  EXPECT_EQ(mailbox.Enter(5, Mailbox::kAnyWorker).job, &low);
  EXPECT_EQ(mailbox.size(), 1u);
}

TEST(MailboxTest, ALaneIsServedByDeadlineFirst) {
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
  for (Letter* letter : {&early_too, &late, &none, &none_too}) {
    EXPECT_EQ(mailbox.Enter(3, Mailbox::kAnyWorker).job, letter);
  }
  EXPECT_EQ(mailbox.EarliestNs(3), kInfiniteFuture);
  EXPECT_EQ(mailbox.size(), 1u);
}

TEST(MailboxTest, SeveralThreadsMayEnterAJobOfSeveralTiles) {
  Mailbox mailbox;
  Letter job(0, 10);
  mailbox.Post(&job);
  for (int i = 0; i < 2; ++i) {
    const FoundJob found = mailbox.Enter(0, Mailbox::kAnyWorker);
    EXPECT_EQ(found.job, &job);
    EXPECT_TRUE(found.is_listed);
  }
  EXPECT_EQ(mailbox.size(), 1u);
  EXPECT_TRUE(mailbox.Unlist(&job));
  EXPECT_FALSE(mailbox.Unlist(&job));
  EXPECT_EQ(mailbox.Enter(0, Mailbox::kAnyWorker).job, nullptr);
}

TEST(MailboxTest, GivesAWorkerOnlyJobsThatItMayRun) {
  Mailbox mailbox;
  WorkerSet two;
  two.Add(2);
  Letter limited(1), open(1);
  limited.allowed = &two;
  mailbox.Post(&limited);
  EXPECT_TRUE(mailbox.HasFor(LaneMask::Only(1), 2));
  EXPECT_FALSE(mailbox.HasFor(LaneMask::Only(1), 0));
  EXPECT_FALSE(mailbox.HasFor(LaneMask::Only(0), 2));
  EXPECT_FALSE(mailbox.HasFor(LaneMask::Only(1), Mailbox::kNoWorker));
  EXPECT_TRUE(mailbox.HasFor(LaneMask::Only(1), Mailbox::kAnyWorker));
  mailbox.Post(&open);
  EXPECT_EQ(mailbox.Enter(1, Mailbox::kNoWorker).job, &open);
  EXPECT_EQ(mailbox.Enter(1, 1).job, nullptr);
  EXPECT_EQ(mailbox.Enter(1, 2).job, &limited);
}

}  // namespace
}  // namespace takt::exec
