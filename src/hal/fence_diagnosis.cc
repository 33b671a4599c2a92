#include "hal/fence_diagnosis.h"

#include <cstddef>

#include "absl/strings/str_cat.h"

namespace takt::hal {
namespace {

constexpr size_t kPointLinesMax = 20;

bool IsReached(const TimelinePoint& point) {
  return point.timeline->value() >= point.value;
}

std::string TimelineName(const TimelinePoint& point, size_t index) {
  const std::string name = point.timeline->name();
  return name.empty() ? absl::StrCat("timeline ", index)
                      : absl::StrCat("timeline \"", name, "\"");
}

// Describes the signaller of the point: its name if it is known, and whether
// there can still be one.
std::string DescribeSignaller(const Fence& fence, const TimelinePoint& point,
                              size_t index) {
  std::string text;
  if (fence.is_barrier()) {
    text = index < fence.shares_taken() ? "; a signaller has its share"
                                        : "; no signaller has come for it yet";
  }
  if (const auto signaller = point.timeline->FindSignaller(point.value)) {
    absl::StrAppend(&text, "; to be signaled by ", signaller->text());
  }
  // Shares that were taken, and other fences over the timeline, hold it too.
  if (point.timeline->reference_count() == 1 && fence.reference_count() == 1) {
    absl::StrAppend(&text, "; only the holder of this fence can signal it");
  }
  return text;
}

}  // namespace

std::string ExplainFence(const Fence& fence) {
  bool reached = false;
  const absl::Status status = fence.Query(&reached);
  if (!status.ok()) return absl::StrCat("failed: ", status.ToString());
  if (reached) return "reached";
  const absl::Span<const TimelinePoint> points = fence.points();
  size_t pending_count = 0;
  std::string lines;
  for (size_t i = 0; i < points.size(); ++i) {
    if (IsReached(points[i])) continue;
    if (++pending_count > kPointLinesMax) continue;
    absl::StrAppend(&lines, "\n  ", TimelineName(points[i], i), " is at ",
                    points[i].timeline->value(), " and must reach ",
                    points[i].value, DescribeSignaller(fence, points[i], i));
  }
  // The last point may have been reached meanwhile.
  if (pending_count == 0) return "reached";
  if (pending_count > kPointLinesMax) {
    absl::StrAppend(&lines, "\n  and ", pending_count - kPointLinesMax,
                    " more");
  }
  return absl::StrCat(fence.is_barrier() ? "barrier: " : "", "waits for ",
                      pending_count, " of ", points.size(),
                      points.size() == 1 ? " point" : " points", lines);
}

}  // namespace takt::hal
