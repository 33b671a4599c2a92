// Prints a function's bytecode as text.
#ifndef TAKT_VM_DISASSEMBLER_H_
#define TAKT_VM_DISASSEMBLER_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "vm/bytecode_archive.h"

namespace takt::vm {

// The text of a function, one instruction a line, each after its pc:
//
//   ^0:
//        1: %i0 = const.i32 42
//        8: cond_br %i0, ^20(%i1 -> %i3, %r0! -> %r1), ^32
//
// ^n is the block at pc n, %i a word of the value bank (%i4:5 a 64-bit
// register), %r a ref register; ! marks a ref that is moved. The function need
// not be verified: an ordinal out of range is printed as a number.
// INVALID_ARGUMENT for an index without a function, or bytecode that does not
// decode.
absl::StatusOr<std::string> DisassembleFunction(const BytecodeArchive& archive,
                                                size_t function);

}  // namespace takt::vm

#endif  // TAKT_VM_DISASSEMBLER_H_
