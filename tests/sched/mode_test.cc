#include "sched/mode.h"

#include "gtest/gtest.h"

namespace takt::sched {
namespace {

constexpr Indicators kQuiet = {10, 0, 1000, 0};
constexpr Indicators kMissing = {10, 5, 1000, 0};
constexpr Indicators kHotNow = {10, 0, 600, 0};
constexpr Indicators kLost = {10, 0, 1000, 1};

// Looks every 50 ms from `*now_ns` on until the mode is that one; how long it
// took, or -1 after a minute.
int64_t TimeTo(Mode mode, const Indicators& indicators,
               ModeController* controller, int64_t* now_ns) {
  const int64_t start_ns = *now_ns;
  while (*now_ns - start_ns < 60'000'000'000) {
    controller->Look(*now_ns, indicators);
    if (controller->mode() == mode) return *now_ns - start_ns;
    *now_ns = controller->next_look_ns();
  }
  return -1;
}

TEST(ModeTest, HasNames) {
  EXPECT_STREQ(ModeName(Mode::kNominal), "nominal");
  EXPECT_STREQ(ModeName(Mode::kDegraded), "degraded");
}

TEST(ModeTest, EntersEachWithin250Ms) {
  const std::pair<Mode, Indicators> cases[] = {{Mode::kBurst, kMissing},
                                               {Mode::kHot, kHotNow},
                                               {Mode::kDegraded, kLost}};
  for (const auto& [mode, indicators] : cases) {
    ModeController controller;
    int64_t now_ns = 0;
    EXPECT_FALSE(controller.Look(now_ns, kQuiet));
    now_ns = controller.next_look_ns();
    const int64_t took_ns = TimeTo(mode, indicators, &controller, &now_ns);
    EXPECT_GE(took_ns, 0) << ModeName(mode);
    EXPECT_LE(took_ns, 250'000'000) << ModeName(mode);
    EXPECT_GE(TimeTo(Mode::kNominal, kQuiet, &controller, &now_ns),
              500'000'000);
  }
}

TEST(ModeTest, OneBadLookIsNotEnough) {
  ModeController controller;
  int64_t now_ns = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(controller.Look(now_ns, i % 2 == 0 ? kMissing : kQuiet));
    now_ns = controller.next_look_ns();
  }
}

TEST(ModeTest, FewJobsChangeNothing) {
  ModeController controller;
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(controller.Look(i * 50'000'000, {1, 1, 1000, 0}));
  }
}

// A condition on the edge: on for 200 ms, off for 600, for two minutes.
TEST(ModeTest, DoesNotFlap) {
  ModeController controller;
  int64_t now_ns = 0;
  int changes = 0;
  for (int i = 0; i < 2400; ++i) {
    changes += controller.Look(now_ns, i % 16 < 4 ? kMissing : kQuiet);
    now_ns = controller.next_look_ns();
  }
  EXPECT_GE(changes, 1);
  EXPECT_LE(changes, 5);
}

TEST(ModeTest, ALostResourceComesBeforeHeat) {
  ModeController controller;
  int64_t now_ns = 0;
  EXPECT_GE(TimeTo(Mode::kHot, kHotNow, &controller, &now_ns), 0);
  EXPECT_GE(TimeTo(Mode::kDegraded, {10, 0, 600, 1}, &controller, &now_ns), 0);
}

}  // namespace
}  // namespace takt::sched
