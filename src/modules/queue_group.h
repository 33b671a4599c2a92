// A QueueGroup makes several queue operations one for the caller. All of them
// start after the same wait fence. The signal fence is reached when all are
// done, or fails with the first that fails.
//
// Thread-safety: none; a group lives within one call.
#ifndef TAKT_MODULES_QUEUE_GROUP_H_
#define TAKT_MODULES_QUEUE_GROUP_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "hal/device.h"

namespace takt::modules {

class QueueGroup {
 public:
  // Fences of `ticket` are borrowed until Finish().
  QueueGroup(hal::Device& device, const hal::QueueTicket& ticket)
      : device_(device), ticket_(ticket) {}

  // Submits one operation by calling `submit` with its ticket.
  absl::Status Add(
      absl::FunctionRef<absl::Status(const hal::QueueTicket&)> submit);
  // Submits the operation that signals the group's fence.
  absl::Status Finish();

 private:
  hal::Device& device_;
  const hal::QueueTicket ticket_;
  std::vector<Ref<hal::Fence>> done_;
};

}  // namespace takt::modules

#endif  // TAKT_MODULES_QUEUE_GROUP_H_
