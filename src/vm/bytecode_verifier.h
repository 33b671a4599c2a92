// Checks a function's bytecode once, at load. Verified bytecode is interpreted
// without further checks of registers, ordinals, branch targets and call
// signatures. The interpreter checks what depends on data: indices, ranges,
// nulls, types of refs, division. The rules are numbers 9-20 of
// docs/module_format.md. Every register operand is checked.
#ifndef TAKT_VM_BYTECODE_VERIFIER_H_
#define TAKT_VM_BYTECODE_VERIFIER_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "vm/bytecode_archive.h"

namespace takt::vm {

// INVALID_ARGUMENT naming function, pc, instruction, operand and value.
absl::Status VerifyFunction(const BytecodeArchive& archive, size_t function);

// Checks every function, and the rules between functions (9: calling
// conventions fit the registers, internal ones have no spans).
absl::Status VerifyArchive(const BytecodeArchive& archive);

// The name of a function in messages and listings: "function 3 (main)", with
// its first export's name, if it has one.
std::string FunctionTitle(const BytecodeArchive& archive, size_t function);

}  // namespace takt::vm

#endif  // TAKT_VM_BYTECODE_VERIFIER_H_
