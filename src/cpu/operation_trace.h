// An OperationTrace records the queue operations of a device: when each was
// issued, became ready and was done, and which command ran on which thread.
//
// Thread-safety: every method may run on any thread.
#ifndef TAKT_CPU_OPERATION_TRACE_H_
#define TAKT_CPU_OPERATION_TRACE_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/clock.h"
#include "base/tracer.h"
#include "cpu/dispatch_route.h"
#include "hal/device.h"

namespace takt::cpu {

// The identity of an operation in the trace. An operation without an id is not
// recorded.
struct OperationTag {
  uint64_t id = 0;
  uint64_t parent = 0;  // Its invocation's.
  uint32_t name = 0;

  bool is_traced() const { return id != 0; }
};

class OperationTrace {
 public:
  enum Kind : uint8_t {
    kAlloca,
    kDealloca,
    kFill,
    kUpdate,
    kCopy,
    kRead,
    kWrite,
    kExecute,
    kBarrier,
    kHostCall,
    kKindCount,
  };

  // Null: a tracer of its own, which is off.
  explicit OperationTrace(Ref<Tracer> tracer);

  Tracer& tracer() const { return *tracer_; }

  // A tag for an operation that begins here: none while the tracer is off.
  OperationTag NewTag(Kind kind, const hal::QueueTicket& ticket) const {
    return __builtin_expect(tracer_->is_on(), 0) ? NewTracedTag(kind, ticket)
                                                 : OperationTag();
  }
  // The operation is submitted: Done() follows, whatever happens.
  void Issued(const OperationTag& tag) const {
    if (__builtin_expect(tag.is_traced(), 0)) {
      Record(tag, EventKind::kOperationIssued, 0);
    }
  }
  void Ready(const OperationTag& tag) const {
    if (__builtin_expect(tag.is_traced(), 0)) {
      Record(tag, EventKind::kOperationReady, 0);
    }
  }
  // Called before `signal`, which may be null, is signalled.
  void Done(const OperationTag& tag, const hal::Fence* signal,
            const absl::Status& outcome) const {
    if (__builtin_expect(tag.is_traced(), 0)) DoneTraced(tag, signal, outcome);
  }
  // Records that memory was allocated (kAlloca) or freed (kDealloca).
  void Memory(const OperationTag& tag, EventKind kind,
              const hal::Storage& storage) const {
    if (__builtin_expect(tag.is_traced(), 0)) MemoryTraced(tag, kind, storage);
  }
  // A part of the operation has run since `start_ns`, as a `span` of the trace.
  // `target`: of a dispatch.
  void Ran(const OperationTag& tag, EventKind span, uint32_t name,
           int64_t start_ns, int64_t value,
           RouteTarget target = RouteTarget::kOnly) const;
  uint32_t TransferName() const { return names_[kCopy]; }

 private:
  OperationTag NewTracedTag(Kind kind, const hal::QueueTicket& ticket) const;
  void DoneTraced(const OperationTag& tag, const hal::Fence* signal,
                  const absl::Status& outcome) const;
  void MemoryTraced(const OperationTag& tag, EventKind kind,
                    const hal::Storage& storage) const;
  void Record(const OperationTag& tag, EventKind kind, int64_t value) const;

  const Ref<Tracer> tracer_;
  std::array<uint32_t, kKindCount> names_;
};

// Identifies the operation for code that runs and records a part of it.
struct PartTrace {
  const OperationTrace& trace;
  const OperationTag& tag;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_OPERATION_TRACE_H_
