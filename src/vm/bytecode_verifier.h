// Checks a function's bytecode once, at load, so that what passes can be
// interpreted without further checks of registers, ordinals, branch targets
// and call signatures. What depends on data (indices, ranges, nulls, types of
// refs, division) is left to run time. The rules are numbers 9-20 of
// docs/module_format.md; registers are checked exactly, one by one.
#ifndef TAKT_VM_BYTECODE_VERIFIER_H_
#define TAKT_VM_BYTECODE_VERIFIER_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "vm/bytecode_archive.h"

namespace takt::vm {

// INVALID_ARGUMENT naming function, pc, instruction, operand and value.
absl::Status VerifyFunction(const BytecodeArchive& archive, size_t function);

// Every function, and the rules between them (9: calling conventions fit the
// registers, internal ones have no spans).
absl::Status VerifyArchive(const BytecodeArchive& archive);

// How messages and listings call a function: "function 3 (main)", with the
// first name it is exported under, if any.
std::string FunctionTitle(const BytecodeArchive& archive, size_t function);

}  // namespace takt::vm

#endif  // TAKT_VM_BYTECODE_VERIFIER_H_
