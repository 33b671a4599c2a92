#include "modules/queue_group.h"

#include <utility>

#include "base/status.h"

namespace takt::modules {

absl::Status QueueGroup::Add(
    absl::FunctionRef<absl::Status(const hal::QueueTicket&)> submit) {
  Ref<hal::Fence> done = hal::Fence::Create(device_.blocks());
  hal::QueueTicket ticket = ticket_;
  ticket.signal = done.get();
  TAKT_RETURN_IF_ERROR(submit(ticket));
  done_.push_back(std::move(done));
  return absl::OkStatus();
}

absl::Status QueueGroup::Finish() {
  hal::QueueTicket ticket = ticket_;
  Ref<hal::Fence> joined;
  if (!done_.empty()) {
    std::vector<hal::Fence*> fences;
    fences.reserve(done_.size());
    for (const Ref<hal::Fence>& fence : done_) fences.push_back(fence.get());
    joined = hal::Fence::Join(fences, &device_.blocks());
    ticket.wait = joined.get();
  }
  return device_.QueueBarrier(ticket);
}

}  // namespace takt::modules
