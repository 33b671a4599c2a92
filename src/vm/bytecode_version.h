// The versions of the bytecode that Takt reads, and how the older ones differ
// from the newest. Decoding uses this table to turn instructions of every
// version into those of the newest one, so the code after the decoder does not
// know which compiler wrote a module.
//
// A code keeps its instruction for ever; an older version has fewer codes.
#ifndef TAKT_VM_BYTECODE_VERSION_H_
#define TAKT_VM_BYTECODE_VERSION_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "base/narrow.h"
#include "vm/opcodes.h"

namespace takt::vm {

// The compilers whose modules are read, for messages.
inline constexpr char kSupportedCompilers[] = "iree-compile 3.8 to 3.13";

struct BytecodeVersion {
  uint32_t number;  // major << 16 | minor
  // The highest code of each set, by OpSet.
  std::array<uint8_t, 3> last_codes;
  // The move bit of an operand that is a single ref has no meaning: the
  // register keeps its ref.
  bool ignores_single_moves;
  // Imports borrow their operands: a ref that a call of an import marks as
  // moved stays in its register.
  bool lends_to_imports;
  // There are no yieldable calls; any call of an import may have to wait.
  bool plain_calls_may_wait;

  bool Has(OpSet set, uint8_t code) const {
    return code <= last_codes[Narrow<size_t>(set)];
  }
};

const BytecodeVersion& NewestBytecode();

// INVALID_ARGUMENT for another version. The message names the compilers that
// may have written it, and those that are supported.
absl::StatusOr<const BytecodeVersion*> FindBytecodeVersion(uint32_t number);

// "17.0".
std::string BytecodeVersionText(uint32_t number);

}  // namespace takt::vm

#endif  // TAKT_VM_BYTECODE_VERSION_H_
