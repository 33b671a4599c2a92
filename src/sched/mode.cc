#include "sched/mode.h"

#include <algorithm>

namespace takt::sched {
namespace {

constexpr uint32_t kLooksToEnter = 2;
constexpr int64_t kDwellMinNs = 500'000'000;
constexpr int64_t kDwellMaxNs = 16'000'000'000;
// The shares of ended jobs that were late, in thousandths.
constexpr uint32_t kBurstEnters = 100;
constexpr uint32_t kBurstStays = 20;
// Fewer ended jobs than this are too few to judge by.
constexpr uint32_t kJobsToJudge = 4;
// In thousandths of the nominal speed.
constexpr uint32_t kHotEnters = 900;
constexpr uint32_t kHotStays = 950;

}  // namespace

const char* ModeName(Mode mode) {
  switch (mode) {
    case Mode::kNominal:
      return "nominal";
    case Mode::kBurst:
      return "burst";
    case Mode::kHot:
      return "hot";
    case Mode::kDegraded:
      return "degraded";
  }
  return "";
}

void ModeController::Update(Condition* condition, bool enters, bool stays,
                            int64_t now_ns) {
  condition->looks_on = enters ? condition->looks_on + 1 : 0;
  if (!condition->is_on) {
    if (condition->looks_on < kLooksToEnter) return;
    const bool came_back =
        condition->left_ns >= 0 &&
        now_ns - condition->left_ns < 2 * condition->dwell_ns;
    condition->dwell_ns = came_back
                              ? std::min(2 * condition->dwell_ns, kDwellMaxNs)
                              : kDwellMinNs;
    condition->is_on = true;
    condition->off_since_ns = -1;
    return;
  }
  if (stays) {
    condition->off_since_ns = -1;
    return;
  }
  if (condition->off_since_ns < 0) condition->off_since_ns = now_ns;
  if (now_ns - condition->off_since_ns < condition->dwell_ns) return;
  condition->is_on = false;
  condition->left_ns = now_ns;
}

bool ModeController::Look(int64_t now_ns, const Indicators& indicators) {
  next_look_ns_ = now_ns + kIntervalNs;
  ended_count_ += indicators.ended_count;
  missed_count_ += indicators.missed_count;
  Condition& burst = conditions_[static_cast<uint32_t>(Mode::kBurst)];
  if (ended_count_ >= kJobsToJudge) {
    Update(&burst, missed_count_ * 1000 >= kBurstEnters * ended_count_,
           missed_count_ * 1000 >= kBurstStays * ended_count_, now_ns);
    ended_count_ = 0;
    missed_count_ = 0;
  }
  Update(&conditions_[static_cast<uint32_t>(Mode::kHot)],
         indicators.is_hot || indicators.speed_permille_min < kHotEnters,
         indicators.is_hot || indicators.speed_permille_min < kHotStays,
         now_ns);
  Update(&conditions_[static_cast<uint32_t>(Mode::kDegraded)],
         indicators.lost_count > 0, indicators.lost_count > 0, now_ns);
  Mode mode = Mode::kNominal;
  for (uint32_t i = 1; i < kModeCount; ++i) {
    if (conditions_[i].is_on) mode = static_cast<Mode>(i);
  }
  const bool changed = mode != mode_;
  mode_ = mode;
  return changed;
}

}  // namespace takt::sched
