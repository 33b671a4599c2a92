// What a control loop does between two results of its policy: it goes through
// the steps of a chunk of actions, holds the last one for a while, and falls
// back to a safe action if the policy gives no sign of life. Pure logic: times
// are arguments.
#ifndef TAKT_INTEGRATIONS_ROS2_ACTION_SLOT_H_
#define TAKT_INTEGRATIONS_ROS2_ACTION_SLOT_H_

#include <cstdint>
#include <span>
#include <vector>

namespace takt_ros2 {

struct ActionSlotOptions {
  size_t action_count = 1;   // Numbers of one control step.
  size_t chunk_length = 1;   // Control steps of one result.
  int64_t step_ns = 0;       // The length of a control step.
  int64_t heartbeat_ns = 0;  // Without a result for longer: the safe action.
  // What is safe; empty: zeros. Else of `action_count` numbers.
  std::vector<float> safe_action = {};
};

enum class ActionSource {
  kChunk,  // A step of the newest chunk.
  kHeld,   // The chunk is over: its last step.
  kSafe,   // No result, or none for longer than the heartbeat.
};

// Thread-safety: one thread uses it at a time. Only the constructor allocates.
class ActionSlot {
 public:
  // The numbers of `options` must be above 0.
  explicit ActionSlot(const ActionSlotOptions& options);

  size_t chunk_size() const { return chunk_.size(); }
  // Memory to write the next chunk into, step by step; see Commit().
  std::span<float> next_chunk() { return chunk_; }
  // The chunk was computed from an observation of `origin_ns`: its step 0 is
  // for the control step that begins then. It arrived at `arrival_ns`.
  void Commit(int64_t origin_ns, int64_t arrival_ns);

  // The action for the control step at `now_ns`. Steps that passed while the
  // policy ran are skipped.
  ActionSource Read(int64_t now_ns, std::span<float> action);

  // Since the last result; -1: there was none.
  int64_t age_ns(int64_t now_ns) const;
  uint64_t chunk_count() const { return chunk_count_; }
  uint64_t held_count() const { return held_count_; }
  uint64_t safe_count() const { return safe_count_; }

 private:
  ActionSlotOptions options_;
  std::vector<float> chunk_;
  int64_t origin_ns_ = 0, arrival_ns_ = 0;
  uint64_t chunk_count_ = 0, held_count_ = 0, safe_count_ = 0;
};

}  // namespace takt_ros2

#endif  // TAKT_INTEGRATIONS_ROS2_ACTION_SLOT_H_
