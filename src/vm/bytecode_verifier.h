// Checks a function's bytecode once, at load, so that what passes can be
// interpreted without further checks of registers, ordinals, branch targets
// and call signatures. What depends on data (indices, ranges, nulls, types of
// refs, division) is left to run time. The rules are numbers 10-20 of
// docs/module_format.md; registers are checked exactly, one by one.
#ifndef TAKT_VM_BYTECODE_VERIFIER_H_
#define TAKT_VM_BYTECODE_VERIFIER_H_

#include "absl/status/status.h"
#include "vm/bytecode_archive.h"

namespace takt::vm {

// INVALID_ARGUMENT naming function, pc, instruction, operand and value.
absl::Status VerifyFunction(const BytecodeArchive& archive, size_t function);

// Every function, and the rules between them (9: calling conventions fit the
// registers, internal ones have no spans).
absl::Status VerifyArchive(const BytecodeArchive& archive);

// The text of a function, an instruction a line, for people.
absl::StatusOr<std::string> DisassembleFunction(const BytecodeArchive& archive,
                                                size_t function);

}  // namespace takt::vm

#endif  // TAKT_VM_BYTECODE_VERIFIER_H_
