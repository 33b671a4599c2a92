#include "sched/cost_model.h"

#include <algorithm>

#include "base/check.h"
#include "base/status.h"

namespace takt::sched {
namespace {

absl::Status CheckAlternative(const Machine& machine,
                              const AlternativeOptions& options, size_t index) {
  const auto fault = [&](absl::string_view reason) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel: alternative ", index, ": ", reason));
  };
  if (options.pool >= machine.pools.size()) {
    return fault(absl::StrCat("there is no pool ", options.pool));
  }
  const Pool& pool = machine.pools[options.pool];
  if (options.shards == 0 || options.shards > pool.count) {
    return fault(absl::StrCat("expected 1 to ", pool.count, " shards on ",
                              pool.name, ", got ", options.shards));
  }
  // One operation has one NPU.
  if (pool.kind == ResourceKind::kNpu && options.shards != 1) {
    return fault(absl::StrCat("an NPU takes no shards, got ", options.shards));
  }
  if (options.guess_ns < 0 || options.guess_ns > DurationEstimate::kMaxNs) {
    return fault(absl::StrCat("a duration of ", options.guess_ns, " ns"));
  }
  if (options.sample_count > 0 &&
      (options.q90_ns < options.guess_ns || options.q99_ns < options.q90_ns ||
       options.q99_ns > DurationEstimate::kMaxNs)) {
    return fault(absl::StrCat("quantiles of ", options.guess_ns, ", ",
                              options.q90_ns, " and ", options.q99_ns, " ns"));
  }
  if (options.tile_ns < 0 || options.tile_ns > DurationEstimate::kMaxNs) {
    return fault(absl::StrCat("a tile of ", options.tile_ns, " ns"));
  }
  if (options.sensitivity_ppm < 0 ||
      options.sensitivity_ppm > Slowdown::kSensitivityMaxPpm ||
      options.pressure_ppm < 0 ||
      options.pressure_ppm > Slowdown::kPressureMaxPpm) {
    return fault(absl::StrCat("a sensitivity of ", options.sensitivity_ppm,
                              " and a pressure of ", options.pressure_ppm,
                              " millionths"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<KernelId> CostModel::Add(
    const KernelKey& key, absl::Span<const AlternativeOptions> options) {
  if (options.empty() || options.size() > kMaxAlternatives) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel: expected 1 to ", kMaxAlternatives,
                     " alternatives, got ", options.size()));
  }
  if (ids_.contains(key)) {
    return absl::AlreadyExistsError("kernel: the key is known");
  }
  Kernel kernel{key, {}};
  for (size_t i = 0; i < options.size(); ++i) {
    TAKT_RETURN_IF_ERROR(CheckAlternative(machine_, options[i], i));
    const AlternativeOptions& given = options[i];
    kernel.alternatives.push_back(
        {given.pool,
         given.shards,
         given.tile_ns,
         given.guess_ns,
         given.sample_count == 0
             ? DurationEstimate::Guess(given.guess_ns)
             : DurationEstimate::Restore(given.guess_ns, given.q90_ns,
                                         given.q99_ns, given.sample_count),
         0,
         {}});
    Slowdown& slowdown = kernel.alternatives.back().slowdown;
    slowdown.sensitivity_ppm = given.sensitivity_ppm;
    slowdown.pressure_ppm = given.pressure_ppm;
  }
  std::sort(kernel.alternatives.begin(), kernel.alternatives.end(),
            [](const Alternative& a, const Alternative& b) {
              return a.pool != b.pool ? a.pool < b.pool : a.shards < b.shards;
            });
  for (size_t i = 1; i < kernel.alternatives.size(); ++i) {
    const Alternative& a = kernel.alternatives[i - 1];
    const Alternative& b = kernel.alternatives[i];
    if (a.pool == b.pool && a.shards == b.shards) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel: two alternatives of ", a.shards, " shards on ",
                       machine_.pools[a.pool].name));
    }
  }
  Expect(kernel);
  const auto id = static_cast<KernelId>(kernels_.size());
  kernels_.push_back(std::move(kernel));
  ids_[key] = id;
  NoteChange();
  return id;
}

absl::optional<KernelId> CostModel::FindId(const KernelKey& key) const {
  const auto found = ids_.find(key);
  if (found == ids_.end()) return absl::nullopt;
  return found->second;
}

void CostModel::SetTile(KernelId kernel, int64_t tile_ns) {
  TAKT_CHECK(tile_ns > 0);
  for (Alternative& alternative : kernels_[kernel].alternatives) {
    if (alternative.tile_ns > 0) alternative.tile_ns = tile_ns;
  }
}

void CostModel::SetGuess(KernelId kernel, uint32_t alternative,
                         int64_t guess_ns) {
  TAKT_CHECK(guess_ns >= 0 && guess_ns <= DurationEstimate::kMaxNs);
  Alternative& known = kernels_[kernel].alternatives[alternative];
  known.guess_ns = guess_ns;
  if (!known.duration.measured()) {
    known.duration = DurationEstimate::Guess(guess_ns);
  }
  Expect(kernels_[kernel]);
  NoteChange();
}

void CostModel::SetDuration(KernelId kernel, uint32_t alternative,
                            const DurationEstimate& duration) {
  kernels_[kernel].alternatives[alternative].duration = duration;
  Expect(kernels_[kernel]);
  NoteChange();
}

const CostModel::Alternative* CostModel::BestKnownSibling(
    const Kernel& kernel, const Alternative& alternative) {
  const Alternative* best = nullptr;
  for (const Alternative& other : kernel.alternatives) {
    if (other.pool != alternative.pool || other.guess_ns == 0 ||
        other.duration.count() <= alternative.duration.count()) {
      continue;
    }
    if (best == nullptr || best->duration.count() < other.duration.count()) {
      best = &other;
    }
  }
  return best;
}

void CostModel::Expect(Kernel& kernel) {
  for (Alternative& alternative : kernel.alternatives) {
    const DurationEstimate& duration = alternative.duration;
    alternative.expected_ns = duration.q50_ns();
    if (duration.count() >= kKnownCount) continue;
    const Alternative* const known = BestKnownSibling(kernel, alternative);
    if (known == nullptr) continue;
    const double ratio = static_cast<double>(known->duration.q50_ns()) /
                         static_cast<double>(known->guess_ns);
    const double hoped_ns =
        std::min(static_cast<double>(alternative.guess_ns) * ratio,
                 static_cast<double>(DurationEstimate::kMaxNs));
    if (!duration.measured() ||
        hoped_ns < static_cast<double>(duration.q50_ns())) {
      alternative.expected_ns = static_cast<int64_t>(hoped_ns);
    }
  }
}

void CostModel::Observe(KernelId kernel, uint32_t alternative,
                        int64_t duration_ns) {
  kernels_[kernel].alternatives[alternative].duration.Observe(duration_ns);
  Expect(kernels_[kernel]);
  NoteChange();
}

}  // namespace takt::sched
