// Runs recorded commands against resolved bases: whole on one thread, or in
// pieces that several threads take.
//
// Thread-safety: a resolved command may run on several threads at once, each
// with its own range.
#ifndef TAKT_CPU_COMMAND_RUNNER_H_
#define TAKT_CPU_COMMAND_RUNNER_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/cancellation.h"
#include "cpu/command.h"
#include "cpu/dispatch_observer.h"
#include "cpu/loaded_executable.h"
#include "cpu/operation_trace.h"
#include "exec/executor.h"

namespace takt::cpu {

// A transfer with its addresses.
struct ResolvedTransfer {
  Command::Kind kind = Command::Kind::kFill;
  uint8_t* target = nullptr;
  const uint8_t* source = nullptr;  // Not for kFill.
  uint64_t length = 0;
  uint32_t pattern = 0;
  uint32_t pattern_length = 1;

  // The part that one thread transfers at a time.
  static constexpr uint64_t kTileBytes = 128 * 1024;
  // At least 1 unless there is nothing to do.
  uint32_t tile_count() const {
    return static_cast<uint32_t>((length + kTileBytes - 1) / kTileBytes);
  }
  void RunTiles(uint32_t begin, uint32_t end) const;
  // The same as part of a job: see exec::Job::RunTiles().
  uint32_t RunTiles(uint32_t begin, uint32_t end,
                    const exec::Worker& worker) const {
    do RunTiles(begin, begin + 1);
    while (++begin < end && !worker.IsToYield());
    return begin;
  }
  void Run() const { RunTiles(0, tile_count()); }
  int64_t BytesOf(uint32_t begin, uint32_t end) const {
    return static_cast<int64_t>(std::min(end * kTileBytes, length) -
                                begin * kTileBytes);
  }
};

// A dispatch with its addresses, which are in arrays of the caller.
struct ResolvedDispatch {
  const DispatchCommand* command = nullptr;
  DispatchArguments arguments;
  uint32_t workgroup_total = 0;

  // See LoadedExecutable::RunWorkgroups(). If the cancellation of the call
  // stops all work, it fails with CANCELLED at the next workgroup.
  absl::Status Run(uint32_t begin, uint32_t end, exec::Worker& worker) const {
    if (arguments.cancellation != nullptr &&
        arguments.cancellation->stops_all_work()) {
      return RunCancellable(begin, end, worker);
    }
    return command->executable->RunWorkgroups(command->function, arguments,
                                              begin, end, worker);
  }

 private:
  absl::Status RunCancellable(uint32_t begin, uint32_t end,
                              exec::Worker& worker) const;
};

// OUT_OF_RANGE if a range does not lie in its base; INVALID_ARGUMENT for a
// copy onto itself, or a fill of a length that its pattern does not divide.
absl::Status Resolve(const TransferCommand& command,
                     absl::Span<const Base> bases, ResolvedTransfer* resolved);
// OK if `transfer` is one that can run, else as above.
absl::Status Check(const ResolvedTransfer& transfer);

// `pointers` and `lengths` have room for the command's bindings.
// INVALID_ARGUMENT for indirect counts of a grid that is too large.
absl::Status Resolve(const DispatchCommand& command,
                     absl::Span<const Base> bases, void** pointers,
                     size_t* lengths, uint32_t max_concurrency,
                     ResolvedDispatch* resolved);

// Calls `observer`, which is not empty, for a dispatch that has ended. `group`:
// see DispatchEvent.
void NotifyObserver(const DispatchObserver& observer,
                    const ResolvedDispatch& dispatch, const void* group,
                    int64_t begin_ns, int64_t end_ns);

// The expected duration of `region` on one thread. INT64_MAX if a function has
// not been measured, if it is not known before the region runs, or if it is
// more than `limit_ns`.
int64_t EstimateNs(const Region& region, int64_t limit_ns);
// The same for all regions from `first` on.
int64_t EstimateAllNs(const Region* first, int64_t limit_ns);
// Whether two threads can run the region together.
bool HasParts(const Region& region);
// The sum of the expected durations, on one thread, of the regions from `first`
// on that have parts and take more than `least_ns`; `limit_ns` if it is more
// than that, or is not known.
int64_t EstimateSharedNs(const Region* first, int64_t least_ns,
                         int64_t limit_ns);

// The common parameters of runs of whole dispatches on one thread.
struct RunTerms {
  bool learns = false;  // Costs of functions are measured.
  const DispatchObserver& observer;
  const PartTrace* trace = nullptr;  // What runs is recorded; may be null.
  const JobFaultPolicy* faults = nullptr;  // Of the job; may be null.
  Cancellation* cancellation = nullptr;    // Likewise.
};

// Runs the regions from `first` on, on this thread, in order. `end` is the one
// behind the last; null: all.
absl::Status RunRegions(const Region* first, const Region* end,
                        absl::Span<const Base> bases,
                        const exec::JobTraits& traits, exec::Worker& worker,
                        const RunTerms& terms);

}  // namespace takt::cpu

#endif  // TAKT_CPU_COMMAND_RUNNER_H_
