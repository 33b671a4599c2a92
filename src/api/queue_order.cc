#include "api/queue_order.h"

#include "api/handle.h"

namespace takt::api {

Order OrderOf(takt_device_t* device, takt_fence_t* wait, takt_fence_t* signal) {
  return {device != nullptr ? Unwrap(device) : nullptr,
          wait != nullptr ? Unwrap(wait) : nullptr,
          signal != nullptr ? Unwrap(signal) : nullptr};
}

absl::Status Submit(
    const Order& order,
    absl::FunctionRef<absl::Status(const hal::QueueTicket&)> submit) {
  Ref<hal::Fence> share;
  if (order.signal != nullptr) {
    TAKT_ASSIGN_OR_RETURN(share, order.signal->TakeShare());
  }
  hal::QueueTicket ticket;
  ticket.wait = order.wait;
  ticket.signal = share.get();
  absl::Status status = submit(ticket);
  // A share cannot be given back; who waits for the barrier must not hang.
  if (!status.ok() && share != nullptr && order.signal->is_barrier()) {
    share->Fail(status);
  }
  return status;
}

}  // namespace takt::api
