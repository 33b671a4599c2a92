// Modes adapt the scheduler to unplanned conditions. Each mode is a set of
// settings; a ModeController chooses the mode.
//
//   nominal    none of the conditions below
//   burst      jobs are late or dropped: the demand exceeds the machine
//   hot        a pool runs well below its nominal speed
//   degraded   a resource is lost
//
// The controller checks the conditions every 50 ms. A mode is entered when its
// condition has held for two checks in a row, which takes at most 250 ms. It is
// left when the condition has not held for some time. That time doubles if the
// mode is entered again soon after it was left, so that the mode does not
// change to and fro.
#ifndef TAKT_SCHED_MODE_H_
#define TAKT_SCHED_MODE_H_

#include <cstdint>

namespace takt::sched {

enum class Mode : uint8_t { kNominal, kBurst, kHot, kDegraded };
inline constexpr uint32_t kModeCount = 4;

const char* ModeName(Mode mode);

struct ModeSettings {
  // Soft jobs with the least demand go first, so that as many streams as
  // possible get all their jobs done.
  bool densest_first = false;
  // Work stays on few clusters as long as deadlines allow.
  bool fewest_clusters = false;
  // The part of a duration kept free before a deadline, in thousandths.
  uint32_t guard_permille = 100;
};

// The measurements from which a controller decides.
struct Indicators {
  uint32_t ended_count = 0;   // Jobs with a deadline, since the last look.
  uint32_t missed_count = 0;  // Of the ended ones, those late.
  uint32_t speed_permille_min = 1000;
  uint32_t lost_count = 0;  // Resources.
  bool is_hot = false;      // By a sensor or the application.
};

class ModeController {
 public:
  static constexpr int64_t kIntervalNs = 50'000'000;

  Mode mode() const { return mode_; }
  // The time of the next check.
  int64_t next_look_ns() const { return next_look_ns_; }
  // Checks the conditions at `now_ns`, at or after next_look_ns(). Returns
  // whether the mode changed.
  bool Look(int64_t now_ns, const Indicators& indicators);

 private:
  struct Condition {
    bool is_on = false;
    uint32_t looks_on = 0;
    int64_t off_since_ns = 0;
    int64_t left_ns = -1;  // When it was last left; -1: never.
    int64_t dwell_ns = 0;
  };

  static void Update(Condition* condition, bool enters, bool stays,
                     int64_t now_ns);

  Condition conditions_[kModeCount];
  Mode mode_ = Mode::kNominal;
  int64_t next_look_ns_ = 0;
  uint32_t ended_count_ = 0;
  uint32_t missed_count_ = 0;
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_MODE_H_
