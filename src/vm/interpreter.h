// Runs the frames of an invocation. Calls between bytecode functions, of one
// module or of two, never recurse on the C stack.
#ifndef TAKT_VM_INTERPRETER_H_
#define TAKT_VM_INTERPRETER_H_

#include <cstdint>

#include "vm/instance.h"
#include "vm/program.h"
#include "vm/run_guard.h"

namespace takt::vm {

class Invocation;

class Interpreter {
 public:
  enum class Outcome { kDone, kParked, kInterrupted, kFailed };

  // Runs the invocation from where it stopped last. kFailed leaves the frames
  // as they are and the error in the invocation's guard.
  static Outcome Execute(Invocation& invocation);

  // Releases every ref that the frames hold, the first one's too.
  static void Unwind(Invocation& invocation);
  // The same for all frames but the first, which stays.
  static void UnwindToFirst(Invocation& invocation);

  // The limit for all frames of one invocation: some ten thousand small
  // frames, where native code would have overflowed a thread's stack.
  static constexpr uint64_t kMaxStackBytes = uint64_t{1} << 20;

 private:
  static bool GrowStack(Invocation& invocation, uint32_t** base,
                        uint64_t frame_bytes);
  static uint32_t* PushFrame(Invocation& invocation, uint32_t** base,
                             uint64_t distance, const Function& callee);
  static Outcome CallNative(Invocation& invocation, const Callee& callee,
                            const Unit* pc, uint32_t* base);
  // Puts the place before the guard's error. Always returns false.
  static bool Describe(const Unit* pc, const uint32_t* base, RunGuard& guard);
};

}  // namespace takt::vm

#endif  // TAKT_VM_INTERPRETER_H_
