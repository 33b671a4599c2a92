// The ticket of a queue operation that a program submits.
#ifndef TAKT_MODULES_QUEUE_TICKET_H_
#define TAKT_MODULES_QUEUE_TICKET_H_

#include <cstdint>

#include "hal/device.h"
#include "hal/result_memory.h"
#include "vm/invocation.h"
#include "vm/native_module.h"

namespace takt::modules {

inline hal::QueueTicket TicketOf(const vm::NativeCall& call, uint64_t affinity,
                                 hal::Fence* wait, hal::Fence* signal) {
  if (auto* results =
          hal::ResultMemory::From(call.invocation().job().results)) {
    results->NoteWork(wait, signal);
  }
  return {.affinity = affinity,
          .wait = wait,
          .signal = signal,
          .job = &call.invocation().job()};
}

}  // namespace takt::modules

#endif  // TAKT_MODULES_QUEUE_TICKET_H_
