// Modes adapt the scheduler to conditions that were not planned. Each mode is a
// set of settings; a ModeController chooses the mode.
//
//   nominal    none of the conditions below
//   burst      jobs are late or dropped: the demand exceeds the machine
//   hot        a pool runs well below its nominal speed
//   degraded   a resource is lost
//
// A mode is entered when its condition has held for two looks in a row, and
// left when it has not held for a while. That while doubles each time the mode
// comes back soon after it was left, so a condition on the edge does not make
// the mode flap. The looks are 50 ms apart: a mode is entered within 250 ms.
#ifndef TAKT_SCHED_MODE_H_
#define TAKT_SCHED_MODE_H_

#include <cstdint>

namespace takt::sched {

enum class Mode : uint8_t { kNominal, kBurst, kHot, kDegraded };
inline constexpr uint32_t kModeCount = 4;

const char* ModeName(Mode mode);

struct ModeSettings {
  // Soft jobs that ask for least go first, so that as many streams as can be
  // are served whole.
  bool densest_first = false;
  // Work is kept on few clusters as long as deadlines allow.
  bool fewest_clusters = false;
  // The part of a duration kept free before a deadline, in thousandths.
  uint32_t guard_permille = 100;
};

// The measurements that a controller decides by.
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
  // When to look next.
  int64_t next_look_ns() const { return next_look_ns_; }
  // A look at `now_ns`, at or after next_look_ns(). True if the mode changed.
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
