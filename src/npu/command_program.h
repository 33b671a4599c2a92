// A CommandProgram is Takt's own form of a program for an NPU: a list of
// commands over a scratchpad. docs/npu.md describes the bytes:
//
//   header     32 bytes: "TNPC", u32 version 1, u32 functions, u32 commands,
//              u32 bytes of names, three u32 0
//   functions  16 bytes each: u32 name (offset), u32 first command, u32
//              commands, u16 constants, u16 bindings
//   commands   64 bytes each: u16 opcode, u16 0, u32 mask, u32 fields[14]
//   names      NUL-terminated
//
// A field is a number, or, if its bit of the mask is set, the index of one of
// the dispatch's constants. Numbers are little-endian.
//
// The bytes may be hostile: Parse() checks all that does not depend on
// constants, and Run() checks every address before it uses it.
//
// Thread-safety: immutable.
#ifndef TAKT_NPU_COMMAND_PROGRAM_H_
#define TAKT_NPU_COMMAND_PROGRAM_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "takt/npu_driver.h"

namespace takt::npu {

// Fields, by position, of each command. Addresses, pitches and lengths are in
// bytes; addresses are of the scratchpad.
enum class Opcode : uint16_t {
  kBarrier = 0,  // Commands after it start when those before it have ended.
  kLoad = 1,     // binding, offset, pitch, rows, row bytes, to, to pitch
  kStore = 2,    // binding, offset, pitch, rows, row bytes, from, from pitch
  kFill = 3,     // to, words, pattern
  kMatmul = 4,   // left, right, out, m, n, k, accumulate: s8 s8 -> s32,
                 // [m][k] [k][n] [m][n]
  kElementwise = 5,  // operation, left, right, out, words
  kRequantize = 6,  // from (s32), to (s8), count, multiplier, shift, zero point
};
inline constexpr uint16_t kOpcodeCount = 7;

// Operation of kElementwise on s32; all wrap.
enum class Elementwise : uint32_t {
  kAdd = 0,
  kSubtract = 1,
  kMultiply = 2,
  kMaximum = 3,
  kMinimum = 4,
};
inline constexpr uint32_t kElementwiseCount = 5;

struct Command {
  static constexpr size_t kFieldCount = 14;
  uint16_t opcode = 0;
  uint16_t reserved = 0;
  uint32_t mask = 0;
  std::array<uint32_t, kFieldCount> fields = {};
};
static_assert(sizeof(Command) == 64);

class CommandProgram {
 public:
  static constexpr uint32_t kVersion = 1;
  static constexpr size_t kHeaderBytes = 32;
  static constexpr size_t kFunctionBytes = 16;
  static constexpr uint32_t kScratchpadBytes = 1 << 20;
  // The most multiplications and moved bytes of one run: they take some seconds
  // on the slowest machine.
  static constexpr uint64_t kStepCountMax = uint64_t{1} << 32;

  struct Function {
    std::string name;
    uint32_t first_command = 0;
    uint32_t command_count = 0;
    uint32_t constant_count = 0;
    uint32_t binding_count = 0;
  };
  // The work of a run, for a model of time.
  struct Work {
    uint64_t mac_count = 0;
    uint64_t bytes_moved = 0;    // Between bindings and scratchpad.
    uint64_t bytes_touched = 0;  // In the scratchpad, by other commands.
  };

  // DATA_LOSS, with the fault; UNIMPLEMENTED for another version.
  static absl::StatusOr<std::unique_ptr<CommandProgram>> Parse(
      absl::Span<const uint8_t> data);

  const std::vector<Function>& functions() const { return functions_; }

  // Runs a function in the scratchpad, whose earlier contents have no effect.
  // INVALID for an address, a binding or a constant out of range; bindings may
  // have been written by then.
  takt_npu_result_t Run(const takt_npu_program_t& dispatch,
                        absl::Span<uint8_t> scratchpad, Work* work) const;

 private:
  absl::Status ReadFunctions(absl::Span<const uint8_t> data,
                             uint32_t function_count,
                             absl::Span<const uint8_t> names);
  absl::Status CheckCommands() const;

  std::vector<Function> functions_;
  std::vector<Command> commands_;
};

}  // namespace takt::npu

#endif  // TAKT_NPU_COMMAND_PROGRAM_H_
