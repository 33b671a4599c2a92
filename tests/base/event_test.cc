#include "base/event.h"

#include <limits>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace takt {
namespace {

TEST(EventTest, EveryKindHasItsOwnName) {
  std::set<std::string> names;
  for (int i = 1; i <= static_cast<int>(kLastEvent); ++i) {
    const auto kind = static_cast<EventKind>(i);
    const std::string name = EventKindName(kind);
    if (name.empty()) continue;  // A number between spans and moments.
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(FindEventKind(name.c_str()), kind);
  }
  EXPECT_TRUE(names.count("dispatch"));
  EXPECT_TRUE(names.count("counter"));
  EXPECT_NE(std::string(EventKindName(kLastSpan)), "");
  EXPECT_NE(std::string(EventKindName(kLastEvent)), "");
}

TEST(EventTest, AnUnknownKindHasNoName) {
  EXPECT_STREQ(EventKindName(EventKind::kNone), "");
  EXPECT_STREQ(EventKindName(static_cast<EventKind>(200)), "");
  EXPECT_EQ(FindEventKind("dispatches"), EventKind::kNone);
  EXPECT_EQ(FindEventKind(""), EventKind::kNone);
}

TEST(EventTest, EveryTrackKindHasAName) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(kLastTrack); ++i) {
    EXPECT_TRUE(names.insert(TrackKindName(static_cast<TrackKind>(i))).second);
  }
  EXPECT_FALSE(names.count(""));
  EXPECT_STREQ(TrackKindName(static_cast<TrackKind>(77)), "");
}

TEST(EventTest, TilesSurvivePackingAndUnpacking) {
  constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max();
  EXPECT_EQ(TilesBegin(PackTiles(kMost - 1, kMost)), kMost - 1);
  EXPECT_EQ(TilesEnd(PackTiles(kMost - 1, kMost)), kMost);
  EXPECT_EQ(TilesBegin(PackTiles(0, 7)), 0u);
  EXPECT_EQ(TilesEnd(PackTiles(0, 7)), 7u);
}

TEST(EventTest, JobsOfTwoStreamsHaveDifferentNumbers) {
  EXPECT_NE(StreamJobId(1, 5), StreamJobId(2, 5));
  EXPECT_NE(StreamJobId(1, 5), StreamJobId(1, 6));
}

}  // namespace
}  // namespace takt
