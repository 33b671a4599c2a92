#include "trace/check.h"

#include <array>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/hash_map.h"
#include "trace/listing.h"

namespace takt::trace {
namespace {

class Checker {
 public:
  Checker(const Trace& trace, size_t findings_max)
      : trace_(trace), findings_max_(findings_max) {}

  CheckResult Run() {
    CheckExclusive();
    CheckNesting();
    CheckOrder();
    return std::move(result_);
  }

 private:
  void Find(const Event& event, const std::string& what) {
    if (++result_.finding_count > findings_max_) return;
    result_.findings.push_back(absl::StrCat(
        "at ", event.time_ns, " ns on ", trace_.TrackOf(event).name, ": ",
        DescribeEvent(trace_, event), ": ", what));
  }

  static bool IsExclusive(EventKind kind) {
    return kind == EventKind::kNpuBatch || kind == EventKind::kNpuLease ||
           kind == EventKind::kSlot;
  }

  // One at a time of each exclusive kind on each track.
  void CheckExclusive() {
    std::vector<std::array<const Event*, 256>> last(trace_.tracks().size());
    for (auto& kinds : last) kinds.fill(nullptr);
    for (const Event& event : trace_.events()) {
      if (!IsExclusive(event.kind)) continue;
      const Event*& before = last[event.track][static_cast<size_t>(event.kind)];
      if (before != nullptr && before->end_ns() > event.time_ns) {
        Find(event, absl::StrCat("while ", DescribeEvent(trace_, *before),
                                 " goes on to ", before->end_ns(), " ns"));
      }
      if (before == nullptr || before->end_ns() < event.end_ns()) {
        before = &event;
      }
    }
  }

  // Parts on one thread nest, or follow one another.
  void CheckNesting() {
    std::vector<std::vector<const Event*>> open(trace_.tracks().size());
    for (const Event& event : trace_.events()) {
      const TrackKind kind = trace_.TrackOf(event).kind;
      const bool is_thread =
          kind == TrackKind::kThread || kind == TrackKind::kWorker;
      if (!is_thread || (event.kind != EventKind::kDispatch &&
                         event.kind != EventKind::kTransfer)) {
        continue;
      }
      std::vector<const Event*>& stack = open[event.track];
      while (!stack.empty() && stack.back()->end_ns() <= event.time_ns) {
        stack.pop_back();
      }
      if (!stack.empty() && stack.back()->end_ns() < event.end_ns()) {
        Find(event,
             absl::StrCat("ends after ", DescribeEvent(trace_, *stack.back()),
                          ", in which it began"));
      }
      stack.push_back(&event);
    }
  }

  struct Operation {
    static constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
    int64_t issued_ns = kNever;
    int64_t ready_ns = kNever;
    int64_t done_ns = kNever;
  };

  void CheckOrder() {
    HashMap<uint64_t, Operation> operations;
    HashMap<uint64_t, int64_t> begins;
    for (const Event& event : trace_.events()) {
      switch (event.kind) {
        case EventKind::kOperationIssued:
          operations[event.id].issued_ns = event.time_ns;
          break;
        case EventKind::kOperationReady:
          operations[event.id].ready_ns = event.time_ns;
          break;
        case EventKind::kOperationDone:
          operations[event.id].done_ns = event.time_ns;
          break;
        case EventKind::kInvocationBegin:
          begins.emplace(event.id, event.time_ns);
          break;
        default:
          break;
      }
    }
    for (const Event& event : trace_.events()) {
      CheckOperation(event, operations);
      if (event.kind != EventKind::kInvocationEnd) continue;
      const auto begin = begins.find(event.id);
      if (begin != begins.end() && begin->second > event.time_ns) {
        Find(event, absl::StrCat("began at ", begin->second, " ns"));
      }
    }
  }

  void CheckOperation(const Event& event,
                      const HashMap<uint64_t, Operation>& operations) {
    const auto found = operations.find(event.id);
    if (found == operations.end()) return;
    const Operation& times = found->second;
    const auto is_before = [](int64_t time_ns, int64_t cause_ns) {
      return cause_ns != Operation::kNever && time_ns < cause_ns;
    };
    switch (event.kind) {
      case EventKind::kOperationReady:
        if (is_before(event.time_ns, times.issued_ns)) {
          Find(event, absl::StrCat("issued at ", times.issued_ns, " ns"));
        }
        break;
      case EventKind::kOperationDone:
        if (is_before(event.time_ns, times.issued_ns) ||
            is_before(event.time_ns, times.ready_ns)) {
          Find(event, "done before it was ready");
        }
        break;
      case EventKind::kDispatch:
      case EventKind::kTransfer:
        if (is_before(event.time_ns, times.issued_ns) ||
            is_before(event.time_ns, times.ready_ns)) {
          Find(event, "ran before its operation was ready");
        }
        if (times.done_ns != Operation::kNever &&
            event.end_ns() > times.done_ns) {
          Find(event, absl::StrCat("its operation was done at ", times.done_ns,
                                   " ns"));
        }
        break;
      default:
        break;
    }
  }

  const Trace& trace_;
  const size_t findings_max_;
  CheckResult result_;
};

}  // namespace

CheckResult CheckTrace(const Trace& trace, size_t findings_max) {
  return Checker(trace, findings_max).Run();
}

}  // namespace takt::trace
