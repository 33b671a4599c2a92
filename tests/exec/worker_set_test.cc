#include "exec/worker_set.h"

#include "gtest/gtest.h"

namespace takt::exec {
namespace {

TEST(WorkerSetTest, HoldsMoreThan64) {
  WorkerSet set;
  EXPECT_FALSE(set.Contains(0));
  set.Add(3);
  set.Add(200);
  set.Add(200);
  EXPECT_EQ(set.count(), 2u);
  EXPECT_TRUE(set.Contains(3));
  EXPECT_TRUE(set.Contains(200));
  EXPECT_FALSE(set.Contains(4));
  EXPECT_FALSE(set.Contains(100'000));
}

TEST(WorkerSetTest, ComparesMembersNotLengths) {
  WorkerSet a, b, c;
  a.Add(1);
  a.Add(70);
  b.Add(70);
  b.Add(1);
  c.Add(1);
  c.Add(2);
  EXPECT_TRUE(a == b);
  EXPECT_FALSE(a == c);
  EXPECT_FALSE(c == a);
}

}  // namespace
}  // namespace takt::exec
