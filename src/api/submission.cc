#include "api/submission.h"

#include <new>

#include "api/handle.h"
#include "base/exceptions.h"

namespace takt::api {

Submission SubmissionOf(takt_device_t* device, takt_fence_t* wait,
                        takt_fence_t* signal) {
  return {device != nullptr ? Unwrap(device) : nullptr,
          wait != nullptr ? Unwrap(wait) : nullptr,
          signal != nullptr ? Unwrap(signal) : nullptr};
}

absl::Status Submit(
    const Submission& submission,
    absl::FunctionRef<absl::Status(const hal::QueueTicket&)> submit) {
  Ref<hal::Fence> share;
  absl::Status status = OutOfMemory();
  TAKT_TRY {
    if (submission.signal != nullptr) {
      TAKT_ASSIGN_OR_RETURN(share, submission.signal->TakeShare());
    }
    hal::QueueTicket ticket;
    ticket.wait = submission.wait;
    ticket.signal = share.get();
    status = submit(ticket);
  }
  TAKT_CATCH(const std::bad_alloc&) {}
  // A share cannot be given back, so waiters of the barrier get the error.
  if (!status.ok() && share != nullptr && submission.signal->is_barrier()) {
    share->Fail(status);
  }
  return status;
}

}  // namespace takt::api
