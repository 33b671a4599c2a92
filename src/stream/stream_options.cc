#include "stream/stream_options.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status.h"
#include "hal/element_type.h"
#include "runtime/call_options.h"
#include "runtime/function.h"
#include "sched/met_window.h"
#include "sched/priority.h"
#include "sched/share_account.h"
#include "stream/stream.h"

namespace takt::stream {
namespace {

// The entries of a queue are made when the stream is: about 100 bytes each.
constexpr size_t kQueueLengthMax = 1 << 20;

// False if no value of the type `result` can be an argument of this type.
bool MayFit(const runtime::ValueType& result,
            const runtime::ValueType& argument) {
  if (result.kind != argument.kind) return false;
  if (!result.is_tensor || !argument.is_tensor) return true;
  const absl::Span<const int64_t> shape(result.shape, result.rank);
  return hal::ElementTypeFits(result.element_type, argument.element_type) &&
         argument.MayAdmitShape(shape);
}

absl::Status CheckResults(const runtime::Function& source,
                          const runtime::Function& target) {
  const auto results = source.signature().results();
  const auto arguments = target.signature().arguments();
  if (results.size() != arguments.size()) {
    return StreamOptionError(
        target, "takes_results",
        absl::StrCat(source.name(), " has ", results.size(), " results for ",
                     arguments.size(), " inputs"));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (MayFit(results[i], arguments[i])) continue;
    return StreamOptionError(
        target, "takes_results",
        absl::StrCat("result ", i, " of ", source.name(), " is ",
                     results[i].type_or_kind(), ", but input ", i, " expects ",
                     arguments[i].type_or_kind()));
  }
  return absl::OkStatus();
}

absl::Status CheckChain(const runtime::Function& function,
                        const StreamOptions& options) {
  if (options.arrival != Arrival::kAfter) {
    if (options.after == nullptr && !options.takes_results) {
      return absl::OkStatus();
    }
    return StreamOptionError(function, "after",
                             "is for the arrival AFTER only");
  }
  if (options.after == nullptr) {
    return StreamOptionError(function, "after", "is NULL");
  }
  const runtime::Function& source = options.after->function();
  if (&source.context().instance() != &function.context().instance()) {
    return StreamOptionError(function, "after", "is of another instance");
  }
  return options.takes_results ? CheckResults(source, function)
                               : absl::OkStatus();
}

absl::Status CheckTimes(const runtime::Function& function,
                        const StreamOptions& options) {
  const bool is_periodic = options.arrival == Arrival::kPeriodic;
  if (is_periodic ? options.period_ns <= 0 : options.period_ns != 0) {
    return StreamOptionError(
        function, "period_ns",
        absl::StrCat(options.period_ns,
                     is_periodic ? " is not above 0" : ", but not periodic"));
  }
  const int64_t deadline_ns = StreamDeadline(function, options);
  if (deadline_ns <= 0) {
    return StreamOptionError(function, "deadline_ns",
                             absl::StrCat(deadline_ns, " is not above 0"));
  }
  if (options.late != sched::LatePolicy::kRunOn &&
      deadline_ns == kInfiniteFuture) {
    return StreamOptionError(function, "late",
                             "nothing is late without a deadline");
  }
  const std::string window_fault =
      sched::CheckMetWindow(options.met_min, options.met_window,
                            /*has_deadline=*/deadline_ns != kInfiniteFuture);
  return window_fault.empty()
             ? absl::OkStatus()
             : StreamOptionError(function, "met_window", window_fault);
}

absl::Status CheckShares(const runtime::Function& function,
                         const StreamOptions& options) {
  if (options.share_permille == 0 && options.weight == 0) {
    return absl::OkStatus();
  }
  const char* const name = options.share_permille != 0 ? "share" : "weight";
  const std::string fault = sched::CheckShare(
      options.share_permille, options.weight,
      /*is_hard=*/options.criticality == sched::Criticality::kHard);
  if (!fault.empty()) return StreamOptionError(function, name, fault);
  if (function.context().shop() != nullptr) return absl::OkStatus();
  return StreamOptionError(function, name,
                           "nothing schedules the devices of its context");
}

absl::Status CheckQueues(const runtime::Function& function,
                         const StreamOptions& options) {
  const bool takes_latest = options.arrival == Arrival::kClosed;
  if (options.input_queue_length <= kQueueLengthMax &&
      options.release_queue_length <= kQueueLengthMax &&
      options.release_queue_length > 0 &&
      (!takes_latest || options.input_queue_length == 0)) {
    return absl::OkStatus();
  }
  return StreamOptionError(
      function, "queue length",
      absl::StrCat(options.input_queue_length, " inputs, ",
                   options.release_queue_length, " releases"));
}

}  // namespace

int32_t StreamPriority(const StreamOptions& options) {
  return options.priority.value_or(sched::PriorityOf(options.criticality));
}

int32_t LenientPriority(const StreamOptions& options) {
  const int32_t own = StreamPriority(options);
  switch (options.criticality) {
    case sched::Criticality::kHard:
      return std::min<int32_t>(own, sched::kSoftPriority + 31);
    case sched::Criticality::kSoft:
      return std::min<int32_t>(own, sched::kBestEffortPriority + 31);
    case sched::Criticality::kBestEffort:
      break;
  }
  return own;
}

int64_t StreamDeadline(const runtime::Function& function,
                       const StreamOptions& options) {
  return options.deadline_ns.value_or(
      function.annotations().deadline_after_ns());
}

absl::Status StreamOptionError(const runtime::Function& function,
                               absl::string_view option,
                               absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat(
      function.name(), ": stream options: ", option, ": ", reason));
}

absl::Status CheckStreamOptions(const runtime::Function& function,
                                const StreamOptions& options) {
  if (function.signature().is_variadic()) {
    return StreamOptionError(function, "function",
                             "takes a varying number of arguments");
  }
  TAKT_RETURN_IF_ERROR(CheckTimes(function, options));
  TAKT_RETURN_IF_ERROR(CheckShares(function, options));
  TAKT_RETURN_IF_ERROR(CheckQueues(function, options));
  // A call of the stream must not be refused later.
  runtime::CallOptions call;
  call.priority = StreamPriority(options);
  call.cpu_words = options.cpu_words;
  TAKT_RETURN_IF_ERROR(function.FindJob(call).status());
  return CheckChain(function, options);
}

}  // namespace takt::stream
