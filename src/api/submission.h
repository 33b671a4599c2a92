// The common part of the queue functions: a device, two fences, and one share
// of the signal fence.
#ifndef TAKT_API_SUBMISSION_H_
#define TAKT_API_SUBMISSION_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "hal/device.h"
#include "takt/device.h"
#include "takt/fence.h"

namespace takt::api {

// The device and the fences of one call; borrowed. Null: not given.
struct Submission {
  hal::Device* device;
  hal::Fence* wait;
  hal::Fence* signal;
};

Submission SubmissionOf(takt_device_t* device, takt_fence_t* wait,
                        takt_fence_t* signal);

// Calls `submit`, which queues one operation that signals its share of the
// signal fence. INVALID_ARGUMENT without a device. Does not throw
// std::bad_alloc, but returns it as an error.
absl::Status Submit(
    const Submission& submission,
    absl::FunctionRef<absl::Status(const hal::QueueTicket&)> submit);

}  // namespace takt::api

#endif  // TAKT_API_SUBMISSION_H_
