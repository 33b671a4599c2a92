#include "cpu/command_runner.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/clock.h"
#include "base/math.h"
#include "base/status.h"
#include "cpu/cpu_command_buffer.h"
#include "cpu/float_environment.h"
#include "cpu/tile_run.h"

namespace takt::cpu {
namespace {

constexpr int64_t kUnknownNs = std::numeric_limits<int64_t>::max();

struct Bytes {
  uint8_t* data = nullptr;
  uint64_t length = 0;
};

absl::Status ResolveRange(const Range& range, absl::Span<const Base> bases,
                          Bytes* bytes) {
  const Base& base = bases[range.base];
  const uint64_t length = range.length != hal::kWholeBuffer ? range.length
                          : range.offset <= base.length
                              ? base.length - range.offset
                              : 0;
  // Recording and submission have checked the range. A failure here is a bug of
  // Takt, which must not write to other memory.
  if (__builtin_expect(!RangeFits(range.offset, length, base.length), 0)) {
    return absl::OutOfRangeError(absl::StrCat(
        "range of ", length, " bytes at ", range.offset, " is not in binding ",
        range.base, " of ", base.length, " bytes"));
  }
  *bytes = {base.data + range.offset, length};
  return absl::OkStatus();
}

// `start` is a multiple of the pattern's length.
void Fill(uint8_t* target, uint64_t length, uint32_t pattern,
          uint32_t pattern_length) {
  if (pattern_length == 1 ||
      (pattern_length == 2 && (pattern & 0xff) == (pattern >> 8 & 0xff)) ||
      pattern == (pattern & 0xff) * 0x01010101u) {
    std::memset(target, static_cast<int>(pattern & 0xff), length);
    return;
  }
  const uint64_t whole = length / pattern_length * pattern_length;
  if (whole == 0) return;
  std::memcpy(target, &pattern, pattern_length);
  // Copies the part that is filled already, while that fits a fast cache.
  constexpr uint64_t kCopiedMax = 4096;
  for (uint64_t filled = pattern_length, count; filled < whole;
       filled += count) {
    count = std::min({filled, kCopiedMax, whole - filled});
    std::memcpy(target + filled, target, count);
  }
}

// Whether the duration of this run is measured. Reading the clock costs about
// as much as the smallest kernels, and a few runs are enough.
bool IsSampled(const WorkgroupCost& cost) {
  if (cost.mean_ns() == 0) return true;
  // Prime, so that a loop of several dispatches has each of them measured.
  constexpr uint32_t kPeriod = 17;
  thread_local uint32_t count = 0;
  return ++count % kPeriod == 0;
}

absl::Status RunDispatch(const DispatchCommand& recorded, const Region& region,
                         absl::Span<const Base> bases,
                         const exec::JobTraits& traits, exec::Worker& worker,
                         const RunTerms& terms) {
  RouteTarget target = RouteTarget::kOnly;
  const DispatchRoute* const route = recorded.route();
  if (route != nullptr) target = route->Choose(traits, /*core_count=*/1);
  const DispatchCommand& command =
      route != nullptr ? route->CommandFor(target) : recorded;
  if (target == RouteTarget::kCpu &&
      !worker.ReserveLocalMemory(
          command.executable->local_memory_bytes(command.function))) {
    return absl::ResourceExhaustedError("no local memory for a kernel");
  }
  void* pointers[kMaxBindings];
  size_t lengths[kMaxBindings];
  ResolvedDispatch dispatch;
  TAKT_RETURN_IF_ERROR(Resolve(command, bases, pointers, lengths,
                               /*max_concurrency=*/1, &dispatch));
  if (dispatch.workgroup_total == 0) return absl::OkStatus();
  dispatch.arguments.traits = &traits;
  dispatch.arguments.faults = terms.faults;
  dispatch.arguments.cancellation = terms.cancellation;
  WorkgroupCost& cost = command.cost().alone;
  const uint32_t total = dispatch.workgroup_total;
  const PartTrace* const trace = terms.trace;
  // A traced or routed dispatch reads the clock anyway, and is always measured.
  const bool is_sampled =
      (terms.learns && (trace != nullptr || IsSampled(cost))) ||
      target != RouteTarget::kOnly;
  if (!is_sampled && !terms.observer && trace == nullptr) {
    return dispatch.Run(0, total, worker);
  }
  const TileRun run(/*is_timed=*/true);
  const absl::Status status = dispatch.Run(0, total, worker);
  const int64_t end_ns = NowNs();
  if (status.ok() && is_sampled) run.Learn(cost, end_ns, total);
  if (status.ok() && terms.observer) {
    NotifyObserver(terms.observer, dispatch, &region, run.start_ns(), end_ns);
  }
  if (trace != nullptr) {
    trace->trace.Ran(
        trace->tag, EventKind::kDispatch,
        command.executable->trace_name(command.function, trace->trace.tracer()),
        run.start_ns(), PackTiles(0, total), target);
  }
  return status;
}

}  // namespace

void NotifyObserver(const DispatchObserver& observer,
                    const ResolvedDispatch& dispatch, const void* group,
                    int64_t begin_ns, int64_t end_ns) {
  const DispatchCommand& command = *dispatch.command;
  observer({command.executable->function_name(command.function),
            dispatch.arguments.workgroup_count, begin_ns, end_ns, group});
}

absl::Status ResolvedDispatch::RunCancellable(uint32_t begin, uint32_t end,
                                              exec::Worker& worker) const {
  const Cancellation& cancellation = *arguments.cancellation;
  const LoadedExecutable& executable = *command->executable;
  if (executable.is_sequential(command->function)) {
    if (cancellation.is_requested()) return Cancellation::Error();
    return executable.RunWorkgroups(command->function, arguments, begin, end,
                                    worker);
  }
  for (uint32_t i = begin; i < end; ++i) {
    if (cancellation.is_requested()) return Cancellation::Error();
    TAKT_RETURN_IF_ERROR(executable.RunWorkgroups(command->function, arguments,
                                                  i, i + 1, worker));
    if (i + 1 < end && worker.MustStop()) {
      *worker.reached = i + 1;
      break;
    }
  }
  return absl::OkStatus();
}

void ResolvedTransfer::RunTiles(uint32_t begin, uint32_t end) const {
  const uint64_t first = begin * kTileBytes;
  const uint64_t count = std::min(end * kTileBytes, length) - first;
  if (count == 0) return;
  if (kind == Command::Kind::kFill) {
    Fill(target + first, count, pattern, pattern_length);
  } else {
    std::memcpy(target + first, source + first, count);
  }
}

absl::Status Check(const ResolvedTransfer& transfer) {
  const uint64_t length = transfer.length;
  if (length >
      std::numeric_limits<uint32_t>::max() * ResolvedTransfer::kTileBytes) {
    return absl::OutOfRangeError(
        absl::StrCat("transfer of ", length, " bytes"));
  }
  if (transfer.kind == Command::Kind::kFill) {
    if (length % transfer.pattern_length == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "fill of ", length, " bytes is no multiple of its pattern's ",
        transfer.pattern_length));
  }
  const auto from = reinterpret_cast<uintptr_t>(transfer.source);
  const auto to = reinterpret_cast<uintptr_t>(transfer.target);
  if (length == 0 || from + length <= to || to + length <= from) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("copy of ", length, " bytes overlaps itself"));
}

absl::Status Resolve(const TransferCommand& command,
                     absl::Span<const Base> bases, ResolvedTransfer* resolved) {
  Bytes target;
  TAKT_RETURN_IF_ERROR(ResolveRange(command.target, bases, &target));
  resolved->kind = command.kind;
  resolved->target = target.data;
  resolved->length = target.length;
  resolved->pattern = command.pattern;
  if (command.kind == Command::Kind::kFill) {
    resolved->pattern_length = command.pattern_length;
  } else if (command.kind == Command::Kind::kUpdate) {
    resolved->source = command.bytes;
  } else {
    Bytes source;
    TAKT_RETURN_IF_ERROR(ResolveRange(command.source, bases, &source));
    if (source.length != target.length) {
      return absl::InvalidArgumentError(
          absl::StrCat("copy of ", source.length, " bytes to ", target.length));
    }
    resolved->source = source.data;
  }
  return Check(*resolved);
}

absl::Status Resolve(const DispatchCommand& command,
                     absl::Span<const Base> bases, void** pointers,
                     size_t* lengths, uint32_t max_concurrency,
                     ResolvedDispatch* resolved) {
  TAKT_DCHECK(command.binding_count <= kMaxBindings);
  DispatchArguments& arguments = resolved->arguments;
  arguments.read_only_bindings = {};
  for (uint32_t i = 0; i < command.binding_count; ++i) {
    const Range& range = command.bindings[i];
    Bytes bytes;
    TAKT_RETURN_IF_ERROR(ResolveRange(range, bases, &bytes));
    pointers[i] = bytes.data;
    lengths[i] = bytes.length;
    const uint64_t is_read_only = bases[range.base].is_writable ? 0 : 1;
    arguments.read_only_bindings[i / 64] |= is_read_only << i % 64;
  }
  arguments.workgroup_count = command.workgroup_count;
  if (command.is_indirect) {
    Bytes counts;
    TAKT_RETURN_IF_ERROR(ResolveRange(command.counts, bases, &counts));
    std::memcpy(arguments.workgroup_count.data(), counts.data,
                3 * sizeof(uint32_t));
  }
  absl::StatusOr<uint32_t> total = WorkgroupTotal(arguments.workgroup_count);
  TAKT_RETURN_IF_ERROR(total.status());
  arguments.constants = command.constants;
  arguments.constant_count = command.constant_count;
  arguments.bindings = pointers;
  arguments.binding_lengths = lengths;
  arguments.binding_count = command.binding_count;
  arguments.max_concurrency = max_concurrency;
  resolved->command = &command;
  resolved->workgroup_total = *total;
  return absl::OkStatus();
}

int64_t EstimateNs(const Region& region, int64_t limit_ns) {
  // About the speed of one core's copies; more precision is not needed.
  constexpr uint64_t kTransferBytesPerNs = 8;
  int64_t total_ns = 0;
  for (const Command* command = region.first; command != nullptr;
       command = command->next) {
    if (command->kind != Command::Kind::kDispatch) {
      const auto& transfer = *static_cast<const TransferCommand*>(command);
      const uint64_t length = transfer.target.length;
      if (length == hal::kWholeBuffer) return kUnknownNs;
      total_ns += static_cast<int64_t>(
          std::min<uint64_t>(length / kTransferBytesPerNs, uint64_t{1} << 40));
    } else {
      const auto& dispatch = *static_cast<const DispatchCommand*>(command);
      if (dispatch.is_indirect) return kUnknownNs;
      const int64_t each_ns = dispatch.cost().AloneNs();
      if (each_ns == 0) return kUnknownNs;
      const absl::StatusOr<uint32_t> total =
          WorkgroupTotal(dispatch.workgroup_count);
      int64_t dispatch_ns = 0;
      if (!total.ok() || !CheckedMul(each_ns, int64_t{*total}, &dispatch_ns)) {
        return kUnknownNs;
      }
      total_ns += std::min(dispatch_ns, int64_t{1} << 40);
    }
    if (total_ns > limit_ns) return kUnknownNs;
  }
  return total_ns;
}

int64_t EstimateAllNs(const Region* first, int64_t limit_ns) {
  int64_t total_ns = 0;
  for (const Region* region = first; region != nullptr; region = region->next) {
    const int64_t region_ns = EstimateNs(*region, limit_ns - total_ns);
    if (region_ns == kUnknownNs) return kUnknownNs;
    total_ns += region_ns;
  }
  return total_ns;
}

bool HasParts(const Region& region) {
  const Command* const first = region.first;
  if (first == nullptr || first->next != nullptr ||
      first->kind != Command::Kind::kDispatch) {
    return first != nullptr;
  }
  const auto& dispatch = *static_cast<const DispatchCommand*>(first);
  return dispatch.is_indirect ||
         (dispatch.workgroup_count[0] | dispatch.workgroup_count[1] |
          dispatch.workgroup_count[2]) > 1;
}

int64_t EstimateSharedNs(const Region* first, int64_t least_ns,
                         int64_t limit_ns) {
  int64_t total_ns = 0;
  for (; first != nullptr && total_ns < limit_ns; first = first->next) {
    if (!HasParts(*first)) continue;
    const int64_t region_ns = std::min(EstimateNs(*first, limit_ns), limit_ns);
    if (region_ns > least_ns) total_ns += region_ns;
  }
  return std::min(total_ns, limit_ns);
}

namespace {

absl::Status RunRegion(const Region& region, absl::Span<const Base> bases,
                       const exec::JobTraits& traits, exec::Worker& worker,
                       const RunTerms& terms) {
  for (const Command* command = region.first; command != nullptr;
       command = command->next) {
    if (terms.cancellation != nullptr && terms.cancellation->stops_all_work() &&
        terms.cancellation->is_requested()) {
      return Cancellation::Error();
    }
    if (command->kind == Command::Kind::kDispatch) {
      TAKT_RETURN_IF_ERROR(
          RunDispatch(*static_cast<const DispatchCommand*>(command), region,
                      bases, traits, worker, terms));
      continue;
    }
    ResolvedTransfer transfer;
    TAKT_RETURN_IF_ERROR(Resolve(*static_cast<const TransferCommand*>(command),
                                 bases, &transfer));
    const PartTrace* const trace = terms.trace;
    const int64_t start_ns = trace != nullptr ? NowNs() : 0;
    transfer.Run();
    if (trace != nullptr) {
      trace->trace.Ran(trace->tag, EventKind::kTransfer,
                       trace->trace.TransferName(), start_ns,
                       static_cast<int64_t>(transfer.length));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunRegions(const Region* first, const Region* end,
                        absl::Span<const Base> bases,
                        const exec::JobTraits& traits, exec::Worker& worker,
                        const RunTerms& terms) {
  const ScopedFlushDenormals flush;
  for (const Region* region = first; region != end; region = region->next) {
    TAKT_RETURN_IF_ERROR(RunRegion(*region, bases, traits, worker, terms));
  }
  return absl::OkStatus();
}

}  // namespace takt::cpu
