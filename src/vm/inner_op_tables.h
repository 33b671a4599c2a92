// Which instructions of the interpreter's own form stand for one of the wire,
// and which stand for several at once.
#ifndef TAKT_VM_INNER_OP_TABLES_H_
#define TAKT_VM_INNER_OP_TABLES_H_

#include "vm/opcodes.h"
#include "vm/program.h"

namespace takt::vm {

// The instruction that does what `op` does with the same registers, or kCount
// where it takes more than that. Bits are bits: floats move as integers.
InnerOp PlainOpOf(Op op);

// A branch on the outcome of a comparison, if true and if false.
struct FusedBranch {
  InnerOp compare;
  InnerOp if_true;
  InnerOp if_false;
};

// nullptr if no branch contains that comparison.
const FusedBranch* FusedOf(InnerOp compare);

// The form of a branch that goes back, where rounds are counted.
InnerOp BackwardOf(InnerOp branch);

// The instruction that adds, then branches as `branch` does.
InnerOp AddBranchOf(InnerOp branch);

// Whether a branch has its distance in `wide`, and whether it compares 64 bits.
bool IsWideBranch(InnerOp branch);
bool Is64(InnerOp branch);

// The instruction that does `first`, and then `second` on its result, both of
// 64 bits or both of 32; kCount if there is none.
InnerOp PairOf(InnerOp first, InnerOp second, bool is_64);

// True if an operation that comes in pairs may have its operands swapped.
bool Commutes(InnerOp op, bool is_64);

}  // namespace takt::vm

#endif  // TAKT_VM_INNER_OP_TABLES_H_
