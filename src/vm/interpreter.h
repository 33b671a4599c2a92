// Runs the frames of an invocation. Calls between bytecode functions, of one
// module or of two, never recurse on the C stack.
#ifndef TAKT_VM_INTERPRETER_H_
#define TAKT_VM_INTERPRETER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "vm/instance.h"
#include "vm/program.h"

namespace takt::vm {

class Invocation;

class Interpreter {
 public:
  enum class Outcome { kDone, kParked, kFailed };

  // Goes on where the invocation stands. kFailed sets *status, and leaves the
  // frames as they are.
  static Outcome Execute(Invocation& invocation, absl::Status* status);

  // Releases every ref that the frames hold, the first one's too.
  static void Unwind(Invocation& invocation);
  // The same, but for the first frame, which stays.
  static void UnwindToFirst(Invocation& invocation);

  // The bytes of all frames of one invocation.
  static constexpr uint64_t kMaxStackBytes = uint64_t{1} << 20;

 private:
  // How often a running invocation looks whether it should stop: every so many
  // backward branches and calls.
  static constexpr int32_t kSliceSteps = 4096;

  // Steps until the next look; 0: none are left.
  static int32_t TakeSlice(Invocation& invocation);
  // The fuel to go on with; negative: *status says why not.
  static int32_t Poll(Invocation& invocation, int32_t fuel,
                      absl::Status* status);
  // Accounts for an instruction that touches so many bytes.
  static bool Charge(Invocation& invocation, uint64_t bytes,
                     absl::Status* status);

  static bool GrowStack(Invocation& invocation, uint32_t** base,
                        uint64_t frame_bytes);
  static uint32_t* PushFrame(Invocation& invocation, uint32_t** base,
                             uint32_t caller_bytes, const Function& callee);
  static Outcome CallNative(Invocation& invocation, const Callee& callee,
                            const Unit* pc, uint32_t* base,
                            absl::Status* status);
  static absl::Status Describe(const absl::Status& status, const Unit* pc,
                               const uint32_t* base);
};

}  // namespace takt::vm

#endif  // TAKT_VM_INTERPRETER_H_
