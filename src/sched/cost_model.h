// The CostModel holds the kernels and their learned durations. A kernel has
// alternatives: a pool and a number of shards each, with a duration. Durations
// are at nominal speed; the scheduler scales them to the present speed of a
// resource.
//
// Thread-safety: none.
#ifndef TAKT_SCHED_COST_MODEL_H_
#define TAKT_SCHED_COST_MODEL_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "base/hash_map.h"
#include "base/spare_memory.h"
#include "sched/duration_estimate.h"
#include "sched/machine.h"
#include "sched/slowdown.h"

namespace takt::sched {

// Identifies a kernel, for which durations are learned. The hash covers the
// module's content, so that a profile of one module is never applied to
// another.
struct KernelKey {
  uint64_t module_hash = 0;
  uint32_t export_ordinal = 0;
  uint32_t grid[3] = {1, 1, 1};

  // The key of the same kernel in `pools` only, because the same code takes
  // another time on another NPU. 0: on any cores, which is this key.
  KernelKey OnPools(uint32_t pools) const { return Mixed(pools); }
  // The key of a choice between this kernel and one of code with the hash
  // `other_hash` in `pools`. Equal choices have equal keys, in each process.
  KernelKey OrElse(uint64_t other_hash, uint32_t pools) const {
    return Mixed(other_hash ^ pools);
  }

  friend bool operator==(const KernelKey&, const KernelKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const KernelKey& key) {
    return H::combine(std::move(h), key.module_hash, key.export_ordinal,
                      key.grid[0], key.grid[1], key.grid[2]);
  }

 private:
  KernelKey Mixed(uint64_t value) const {
    // 2^64 over the golden ratio, which is odd: different values give different
    // hashes, and 0 changes nothing.
    constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
    KernelKey key = *this;
    key.module_hash ^= value * kFactor;
    return key;
  }
};

using KernelId = uint32_t;

struct AlternativeOptions {
  uint32_t pool = 0;
  uint32_t shards = 1;   // Resources of the pool that it takes at once.
  int64_t guess_ns = 0;  // Until it is measured.
  // The longest piece that runs without a check for more urgent work; 0: the
  // operation runs to its end (as on most NPUs).
  int64_t tile_ns = 0;
  // If above 0: the number of measurements, and `guess_ns` is their median.
  uint32_t sample_count = 0;
  int64_t q90_ns = 0;
  int64_t q99_ns = 0;
  // How it and its neighbours slow each other down, as learned (slowdown.h).
  int32_t sensitivity_ppm = 1'000'000;
  int32_t pressure_ppm = 0;
};

class CostModel {
 public:
  static constexpr uint32_t kMaxAlternatives = 32;
  // The number of samples after which the duration of an alternative counts as
  // known: enough that one first run in a cold cache, however slow, is
  // forgotten by then (DurationEstimate starts again after eight that differ).
  static constexpr uint32_t kKnownCount = 16;

  struct Alternative {
    uint32_t pool;
    uint32_t shards;
    int64_t tile_ns;
    int64_t guess_ns;  // Before anything was measured.
    DurationEstimate duration;
    // The duration that decisions use: the median, once it is known. Until then
    // it is at most the duration that follows from the best known alternative
    // of its pool by the ratio of their guesses, so a slow first run does not
    // prevent further runs.
    int64_t expected_ns;
    // How much it slows its neighbours down, and they it.
    Slowdown slowdown;
  };
  struct Kernel {
    KernelKey key;
    // By pool, then ascending in shards.
    SpareVector<Alternative> alternatives;
  };

  explicit CostModel(const Machine* machine) : machine_(*machine) {}

  // INVALID_ARGUMENT naming what is wrong: no alternative, too many, one
  // twice, a pool that does not exist or is too small, a duration that is
  // negative or absurd. ALREADY_EXISTS for a key that is known.
  absl::StatusOr<KernelId> Add(const KernelKey& key,
                               absl::Span<const AlternativeOptions> options);

  uint32_t kernel_count() const {
    return static_cast<uint32_t>(kernels_.size());
  }
  const Kernel& kernel(KernelId id) const { return kernels_[id]; }
  absl::optional<KernelId> FindId(const KernelKey& key) const;

  // Learns from a run that took `duration_ns` at nominal speed.
  void Observe(KernelId kernel, uint32_t alternative, int64_t duration_ns);

  Slowdown* slowdown(KernelId kernel, uint32_t alternative) {
    return &kernels_[kernel].alternatives[alternative].slowdown;
  }
  // The duration that decisions use beside neighbours of that pressure.
  static int64_t ExpectedNs(const Alternative& alternative,
                            int64_t pressure_ppm) {
    return alternative.slowdown.is_trusted()
               ? ModelNs(alternative, pressure_ppm)
               : alternative.expected_ns;
  }
  // The same by the model of slowdown; expected_ns until the alternative is
  // known.
  static int64_t ModelNs(const Alternative& alternative, int64_t pressure_ppm) {
    const Slowdown& slowdown = alternative.slowdown;
    return slowdown.alone.count() < kKnownCount
               ? alternative.expected_ns
               : SlowedNs(slowdown.alone.q50_ns(), slowdown.sensitivity_ppm,
                          pressure_ppm);
  }

  // Sets the longest tile of all alternatives that have tiles. At least 1.
  void SetTile(KernelId kernel, int64_t tile_ns);
  // Sets the guess of an alternative. At least 0.
  void SetGuess(KernelId kernel, uint32_t alternative, int64_t guess_ns);
  // Sets a duration that was learned in an earlier run.
  void SetDuration(KernelId kernel, uint32_t alternative,
                   const DurationEstimate& duration);

  // A number that grows when durations change. Values derived from them are
  // then out of date.
  uint64_t version() const { return version_; }
  void NoteChange() { ++version_; }

  const Machine& machine() const { return machine_; }

 private:
  static void Expect(Kernel& kernel);
  static const Alternative* BestKnownSibling(const Kernel& kernel,
                                             const Alternative& alternative);

  const Machine& machine_;
  SpareVector<Kernel> kernels_;
  SpareHashMap<KernelKey, KernelId> ids_;
  uint64_t version_ = 0;
};

}  // namespace takt::sched

#endif  // TAKT_SCHED_COST_MODEL_H_
