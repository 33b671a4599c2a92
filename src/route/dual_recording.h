// Two recordings of the same list of commands, one with exclusive code and one
// with code for the CPU, become one: each dispatch of the first that needs an
// exclusive resource gets a route to its counterpart in the second.
#ifndef TAKT_ROUTE_DUAL_RECORDING_H_
#define TAKT_ROUTE_DUAL_RECORDING_H_

#include <cstddef>

#include "base/ref.h"
#include "cpu/cpu_command_buffer.h"
#include "exec/executor.h"

namespace takt::route {

// Gives the dispatches of `recording` their routes and returns how many have
// one. 0, with nothing changed, if one of the two is not finalized or they are
// not lists of the same commands.
//
// `counterpart` is retained by `recording`, and its device with it. `executor`:
// the threads that run the code for the CPU; null: those of the device that
// runs `recording`. A recording is paired at most once, by one thread; others
// may run it meanwhile.
size_t PairRecordings(cpu::CpuCommandBuffer& recording,
                      Ref<cpu::CpuCommandBuffer> counterpart,
                      exec::Executor* executor);

}  // namespace takt::route

#endif  // TAKT_ROUTE_DUAL_RECORDING_H_
