#include "action_slot.h"

#include <algorithm>

namespace takt_ros2 {

ActionSlot::ActionSlot(const ActionSlotOptions& options)
    : options_(options), chunk_(options.action_count * options.chunk_length) {
  options_.safe_action.resize(options_.action_count, 0);
}

void ActionSlot::Commit(int64_t origin_ns, int64_t arrival_ns) {
  origin_ns_ = origin_ns;
  arrival_ns_ = arrival_ns;
  ++chunk_count_;
}

ActionSource ActionSlot::Read(int64_t now_ns, std::span<float> action) {
  if (chunk_count_ == 0 || now_ns - arrival_ns_ > options_.heartbeat_ns) {
    ++safe_count_;
    std::copy_n(options_.safe_action.begin(), options_.action_count,
                action.begin());
    return ActionSource::kSafe;
  }
  const int64_t last = int64_t(options_.chunk_length) - 1;
  const int64_t step = (now_ns - origin_ns_) / options_.step_ns;
  const size_t from = size_t(std::clamp<int64_t>(step, 0, last));
  std::copy_n(chunk_.begin() + std::ptrdiff_t(from * options_.action_count),
              options_.action_count, action.begin());
  if (step <= last) return ActionSource::kChunk;
  ++held_count_;
  return ActionSource::kHeld;
}

int64_t ActionSlot::age_ns(int64_t now_ns) const {
  return chunk_count_ == 0 ? -1 : now_ns - arrival_ns_;
}

}  // namespace takt_ros2
