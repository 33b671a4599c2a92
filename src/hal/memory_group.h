// A MemoryGroup is what allocations belong together by: those of one
// invocation. A device with a budget gives a group its memory as a whole, so
// that no group holds some while it waits for the rest behind another that
// does the same.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_HAL_MEMORY_GROUP_H_
#define TAKT_HAL_MEMORY_GROUP_H_

#include "base/object.h"

namespace takt::hal {

class MemoryGroup : public Object {
 public:
  static constexpr ObjectType kType{"hal.memory_group"};

  // Says whether whoever allocates for the group waits for a fence just now,
  // which work of others may have to reach.
  virtual void SetParked(bool is_parked) = 0;
  // No allocation of the group will be queued any more. Once.
  virtual void Close() = 0;

 protected:
  MemoryGroup() : Object(&kType) {}
};

}  // namespace takt::hal

#endif  // TAKT_HAL_MEMORY_GROUP_H_
