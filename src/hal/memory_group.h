// A MemoryGroup identifies the allocations of one invocation. A device with a
// budget gives a group its memory as a whole. So no group holds part of its
// memory while it waits for the rest behind another group that does the same.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_HAL_MEMORY_GROUP_H_
#define TAKT_HAL_MEMORY_GROUP_H_

#include "base/object.h"

namespace takt::hal {

class MemoryGroup : public Object {
 public:
  static constexpr ObjectType kType{"hal.memory_group"};

  // Reports to the device whether the invocation is parked at a fence; work of
  // other groups may have to signal that fence.
  virtual void SetParked(bool is_parked) = 0;
  // Reports that the group will queue no further allocation. Called once.
  virtual void Close() = 0;

 protected:
  MemoryGroup() : Object(&kType) {}
};

}  // namespace takt::hal

#endif  // TAKT_HAL_MEMORY_GROUP_H_
