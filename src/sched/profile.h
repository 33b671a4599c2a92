// A profile holds the durations that the cost model has learned, as bytes, so
// that the next run starts with them. The key of a duration is the kernel, the
// pool's name and the number of shards. A kernel is identified by the content
// hash of its module, so a profile of another module has no effect.
//
// Format, little-endian:
//   0   8  "TAKTPROF"
//   8   4  version, 2; version 1 has 0 in the place of the last two
//   12  4  number of names
//   16  4  number of records
//   then the names: each 4 bytes of length (at most 255) and the bytes,
//   then the records, 64 bytes each:
//       0   8  hash of the module     8   4  export ordinal    12 12  grid
//       24  4  name of the pool       28  4  shards            32  8  q50
//       40  8  q90                    48  8  q99               56  4  count
//       60  2  sensitivity    62  2  pressure (slowdown.h), in thousandths
//   then 8 bytes: FNV-1a, 64 bits, of all before it.
#ifndef TAKT_SCHED_PROFILE_H_
#define TAKT_SCHED_PROFILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/hash_map.h"
#include "sched/cost_model.h"

namespace takt::sched {

struct ProfileReport {
  uint32_t applied_count = 0;
  // Records of kernels, pools or shards that do not exist here.
  uint32_t unknown_count = 0;
};

// A profile that was read, for kernels that are added later.
class ProfileData {
 public:
  // The bytes may be hostile. DATA_LOSS with the offset for a damaged profile,
  // UNIMPLEMENTED for a version that is not known.
  static absl::StatusOr<ProfileData> Parse(absl::string_view bytes);

  // Replaces the durations of all kernels, or of one, by those of the profile.
  ProfileReport ApplyTo(CostModel* costs) const;
  void ApplyTo(KernelId kernel, CostModel* costs) const;

  bool empty() const { return records_.empty(); }

 private:
  friend std::string WriteProfile(const CostModel&, const ProfileData&);
  struct Record {
    std::string pool;
    uint32_t shards;
    DurationEstimate duration;
    int32_t sensitivity_ppm;
    int32_t pressure_ppm;
  };
  bool Apply(const Record& record, const KernelKey& key,
             CostModel* costs) const;

  HashMap<KernelKey, std::vector<Record>> records_;
};

// Writes the measured durations. With `others`, it also writes the durations
// that `others` has for kernels that do not exist here, so that a profile keeps
// them when it is read and written again.
std::string WriteProfile(const CostModel& costs);
std::string WriteProfile(const CostModel& costs, const ProfileData& others);

// Puts the profile's durations in the place of those of `costs`. The bytes may
// be hostile. DATA_LOSS with the offset for a damaged profile, UNIMPLEMENTED
// for a version that is not known; `costs` is as it was then.
absl::StatusOr<ProfileReport> ReadProfile(absl::string_view bytes,
                                          CostModel* costs);

}  // namespace takt::sched

#endif  // TAKT_SCHED_PROFILE_H_
