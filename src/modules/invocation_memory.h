// The memory groups of an invocation: one on each device on which it allocates,
// from its first allocation there until it is done.
#ifndef TAKT_MODULES_INVOCATION_MEMORY_H_
#define TAKT_MODULES_INVOCATION_MEMORY_H_

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "base/hash_map.h"
#include "base/mutex.h"
#include "base/object.h"
#include "hal/device.h"
#include "hal/memory_group.h"
#include "vm/invocation.h"

namespace takt::modules {

// The memory that the functions of one context claim, computed on first use.
//
// Thread-safety: every method may run on any thread.
class MemoryClaims {
 public:
  // The most that the invocation can allocate; ~0 if that is not known.
  uint64_t ClaimOf(const vm::Invocation& invocation)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  Mutex mutex_;
  HashMap<const vm::Function*, uint64_t> claims_ ABSL_GUARDED_BY(mutex_);
};

// The attachment of an invocation that has allocated on a device with groups.
//
// Thread-safety: none; it belongs to the thread that runs the invocation.
class InvocationMemory final : public Object {
 public:
  static constexpr ObjectType kType{"hal.invocation_memory"};

  // Borrowed from the invocation; nullptr if the device uses no groups.
  static hal::MemoryGroup* GroupOf(vm::Invocation& invocation,
                                   hal::Device& device, MemoryClaims& claims);
  // Says so to all groups of the invocation.
  static void SetParked(vm::Invocation& invocation, bool is_parked);

 private:
  InvocationMemory() : Object(&kType) {}
  ~InvocationMemory() override;

  struct Member {
    Ref<hal::Device> device;
    Ref<hal::MemoryGroup> group;
  };
  absl::InlinedVector<Member, 1> members_;
};

}  // namespace takt::modules

#endif  // TAKT_MODULES_INVOCATION_MEMORY_H_
