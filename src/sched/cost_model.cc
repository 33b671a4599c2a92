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
        {given.pool, given.shards, given.tile_ns,
         given.sample_count == 0
             ? DurationEstimate::Guess(given.guess_ns)
             : DurationEstimate::Restore(given.guess_ns, given.q90_ns,
                                         given.q99_ns, given.sample_count)});
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
  const auto id = static_cast<KernelId>(kernels_.size());
  kernels_.push_back(std::move(kernel));
  ids_[key] = id;
  NoteChange();
  return id;
}

CostModel::Kernel* CostModel::Find(const KernelKey& key) {
  const auto found = ids_.find(key);
  return found == ids_.end() ? nullptr : &kernels_[found->second];
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
  DurationEstimate& duration =
      kernels_[kernel].alternatives[alternative].duration;
  if (duration.measured()) return;
  duration = DurationEstimate::Guess(guess_ns);
  NoteChange();
}

void CostModel::Observe(KernelId kernel, uint32_t alternative,
                        int64_t duration_ns) {
  kernels_[kernel].alternatives[alternative].duration.Observe(duration_ns);
  NoteChange();
}

}  // namespace takt::sched
