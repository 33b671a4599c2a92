// What a caller asks of a call, in C++ types. What the options leave open, the
// annotations of the function say (job_annotations.h).
#ifndef TAKT_RUNTIME_CALL_OPTIONS_H_
#define TAKT_RUNTIME_CALL_OPTIONS_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "base/job_attributes.h"
#include "hal/buffer_view.h"
#include "hal/fence.h"

namespace takt::shop {
class ScheduledJob;
}  // namespace takt::shop

namespace takt::runtime {

class AsyncCall;

// Memory of the caller for one result. The view is borrowed.
struct ResultBuffer {
  size_t index;
  hal::BufferView* view;
};

// A fence of one argument or result. Borrowed; null: none.
struct IndexedFence {
  size_t index;
  hal::Fence* fence;
};

// An argument that another call produces. The call is borrowed.
struct FutureArgument {
  size_t index;
  AsyncCall* producer;
  size_t result_index;
};

// Most calls have none of these, and few have more than two.
template <typename T>
using FewItems = absl::InlinedVector<T, 2>;

// Options of every call. takt/function.h documents them.
struct CallOptions {
  uint64_t step_limit = 0;              // 0: no limit.
  uint64_t memory_limit = 0;            // 0: the context's.
  absl::optional<int32_t> priority;     // 0 to 255; none: as annotated.
  absl::optional<int64_t> deadline_ns;  // Of NowNs(); none: as annotated.
  // Bit i of word w is CPU 64 w + i. Borrowed; empty: as annotated.
  absl::Span<const uint64_t> cpu_words;
  JobFaultPolicy fault_policy;
  int64_t timeout_ns = 0;  // From the call on; 0: never.
  FewItems<ResultBuffer> result_buffers;
};

// Options of a call that its caller does not wait for. takt/async.h documents
// those that it has too.
struct AsyncCallOptions : CallOptions {
  uint64_t moved_arguments = 0;  // Bit i: argument i is moved.
  // The call begins when `wait` and these are reached, and fails with the first
  // that fails. Borrowed; null: none.
  hal::Fence* wait = nullptr;
  FewItems<IndexedFence> argument_fences;
  // Signaled, or failed, at the end of the call. Borrowed; null: none.
  hal::Fence* signal = nullptr;
  FewItems<IndexedFence> result_fences;
  FewItems<FutureArgument> future_arguments;
  bool cancellable = true;
  bool batch = false;
  // The trace event that the call is a part of; 0: none.
  uint64_t trace_parent = 0;
  // The job that the scheduler knows the call as; null: the call makes one if
  // it needs one. Borrowed.
  shop::ScheduledJob* shop_job = nullptr;
};

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_CALL_OPTIONS_H_
