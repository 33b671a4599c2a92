#include "base/ref.h"

#include <gtest/gtest.h>

#include <utility>

namespace takt {
namespace {

// Counts the references that a Ref takes and drops.
struct Counted {
  void Retain() { ++references; }
  void Release() { --references; }
  int references = 1;
};
struct Derived : Counted {};

TEST(RefTest, IsEmptyAtFirst) {
  Ref<Counted> ref;
  EXPECT_EQ(ref.get(), nullptr);
  EXPECT_FALSE(ref);
  EXPECT_TRUE(ref == nullptr);
  EXPECT_TRUE(Ref<Counted>(nullptr) == ref);
}

TEST(RefTest, AdoptTakesOverTheReference) {
  Counted counted;
  {
    const Ref<Counted> ref = Ref<Counted>::Adopt(&counted);
    EXPECT_EQ(counted.references, 1);
    EXPECT_EQ(ref.get(), &counted);
  }
  EXPECT_EQ(counted.references, 0);
}

TEST(RefTest, RetainMakesOneOfItsOwn) {
  Counted counted;
  {
    const Ref<Counted> ref = Ref<Counted>::Retain(&counted);
    EXPECT_EQ(counted.references, 2);
  }
  EXPECT_EQ(counted.references, 1);
  EXPECT_EQ(Ref<Counted>::Retain(nullptr), nullptr);
}

TEST(RefTest, CopiesCountAndMovesDoNot) {
  Counted counted;
  Ref<Counted> a = Ref<Counted>::Adopt(&counted);
  Ref<Counted> b = a;
  EXPECT_EQ(counted.references, 2);
  EXPECT_TRUE(a == b);
  Ref<Counted> c = std::move(a);
  EXPECT_EQ(counted.references, 2);
  EXPECT_EQ(a.get(), nullptr);  // NOLINT(bugprone-use-after-move)
  b = std::move(c);
  EXPECT_EQ(counted.references, 1);
}

TEST(RefTest, AssignmentToItselfKeepsTheObject) {
  Counted counted;
  Ref<Counted> ref = Ref<Counted>::Adopt(&counted);
  const Ref<Counted>& same = ref;
  ref = same;
  EXPECT_EQ(counted.references, 1);
  EXPECT_EQ(ref.get(), &counted);
}

TEST(RefTest, AssignmentDropsTheOldObject) {
  Counted first, second;
  Ref<Counted> ref = Ref<Counted>::Adopt(&first);
  ref = Ref<Counted>::Adopt(&second);
  EXPECT_EQ(first.references, 0);
  EXPECT_EQ(second.references, 1);
  ref.reset();
  EXPECT_EQ(second.references, 0);
}

TEST(RefTest, ConvertsToABase) {
  Derived derived;
  Ref<Counted> base = Ref<Derived>::Adopt(&derived);
  EXPECT_EQ(base.get(), &derived);
  EXPECT_EQ(derived.references, 1);
}

TEST(RefTest, ReleaseHandsTheReferenceOver) {
  Counted counted;
  Ref<Counted> ref = Ref<Counted>::Adopt(&counted);
  EXPECT_EQ(ref.release(), &counted);
  EXPECT_EQ(ref.get(), nullptr);
  EXPECT_EQ(counted.references, 1);
}

}  // namespace
}  // namespace takt
