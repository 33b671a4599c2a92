// The opcodes of bytecode 17.0. bytecode_version.cc lists those that older
// versions lack. Only the reader of the format (wire_decoder,
// bytecode_verifier, translator) knows them; the interpreter has instructions
// of its own.
#ifndef TAKT_VM_OPCODES_H_
#define TAKT_VM_OPCODES_H_

#include <cstdint>

namespace takt::vm {

enum class OpSet : uint8_t { kCore, kF32, kF64 };

enum class Op : uint16_t {
#define TAKT_VM_OP(set, code, name, mnemonic, fields, terminator) name,
#include "vm/opcodes.inc"
#undef TAKT_VM_OP
  kCount,
};

struct OpInfo {
  Op op;
  OpSet set;
  uint8_t code;
  bool is_terminator;
  const char* mnemonic;
  const char* fields;  // Syntax: opcodes.inc.
};

// nullptr if the set has no such code.
const OpInfo* FindOp(OpSet set, uint8_t code);
const OpInfo& InfoOf(Op op);

}  // namespace takt::vm

#endif  // TAKT_VM_OPCODES_H_
