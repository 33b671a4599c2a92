#include "base/object.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/block_pool.h"

namespace takt {
namespace {

class Thing final : public Object {
 public:
  static constexpr ObjectType kType{"test.thing", CloneIsSame};
  explicit Thing(int* deaths) : Object(&kType), deaths_(deaths) {}

 private:
  ~Thing() override { ++*deaths_; }
  int* const deaths_;
};

class Other final : public Object {
 public:
  static constexpr ObjectType kType{"test.thing"};
  Other() : Object(&kType) {}
};

TEST(ObjectTest, DiesWithItsLastReference) {
  int deaths = 0;
  Ref<Thing> thing = MakeRef<Thing>(&deaths);
  EXPECT_TRUE(thing->IsUnique());
  Ref<Thing> second = thing;
  EXPECT_EQ(thing->reference_count(), 2);
  EXPECT_FALSE(thing->IsUnique());
  thing.reset();
  EXPECT_EQ(deaths, 0);
  second.reset();
  EXPECT_EQ(deaths, 1);
}

TEST(ObjectTest, PoolsAndTheSystemFreeInOneWay) {
  int deaths = 0;
  UniqueBlockPool pool(BlockPool::Create());
  Ref<Thing> pooled = Ref<Thing>::Adopt(new (*pool) Thing(&deaths));
  Ref<Thing> plain = Ref<Thing>::Adopt(new Thing(&deaths));
  pooled.reset();
  plain.reset();
  EXPECT_EQ(deaths, 2);
}

TEST(ObjectTest, TypesAreComparedByAddress) {
  int deaths = 0;
  const Ref<Thing> thing = MakeRef<Thing>(&deaths);
  const Ref<Other> other = MakeRef<Other>();
  EXPECT_EQ(DynCast<Thing>(thing.get()), thing.get());
  EXPECT_EQ(DynCast<Thing>(other.get()), nullptr);
  EXPECT_EQ(DynCast<Thing>(nullptr), nullptr);
}

TEST(ObjectTest, ReferencesFromManyThreads) {
  int deaths = 0;
  Ref<Thing> thing = MakeRef<Thing>(&deaths);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([copy = thing] {
      for (int j = 0; j < 1'000; ++j) Ref<Thing> another = copy;
    });
  }
  thing.reset();
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  EXPECT_EQ(deaths, 1);
}

TEST(ObjectTest, AnUnchangingObjectIsItsOwnClone) {
  int deaths = 0;
  const Ref<Thing> thing = MakeRef<Thing>(&deaths);
  CloneMap clones;
  const Ref<Object> clone =
      Ref<Object>::Adopt(Thing::kType.clone(*thing, clones));
  EXPECT_EQ(clone.get(), thing.get());
  EXPECT_EQ(thing->reference_count(), 2);
}

TEST(CloneMapTest, FindsAddedParameters) {
  int deaths = 0;
  CloneMap clones;
  const int storage = 0;
  EXPECT_EQ(clones.Find(&storage), nullptr);
  const Ref<Thing> copy = MakeRef<Thing>(&deaths);
  clones.Add(&storage, copy);
  EXPECT_EQ(clones.Find(&storage), copy.get());
  EXPECT_EQ(clones.Find(&deaths), nullptr);
}

}  // namespace
}  // namespace takt
