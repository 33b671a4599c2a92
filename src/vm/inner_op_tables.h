// Tables from the wire's instructions to those of the interpreter: one for one,
// and one for several.
#ifndef TAKT_VM_INNER_OP_TABLES_H_
#define TAKT_VM_INNER_OP_TABLES_H_

#include <cstddef>

#include "vm/opcodes.h"
#include "vm/program.h"

namespace takt::vm {

// The instruction that does what `op` does with the same registers. kCount if
// the translator has to do more than copy the registers.
InnerOp PlainOpOf(Op op);

// The branches that include a comparison: taken if it is true, or if false.
struct FusedBranch {
  InnerOp compare;
  InnerOp if_true;
  InnerOp if_false;
};

// nullptr if no branch contains that comparison.
const FusedBranch* FusedOf(InnerOp compare);

// The same branch backward, which polls and so counts rounds of loops.
InnerOp BackwardOf(InnerOp branch);

// The instruction that adds, then branches as `branch` does.
InnerOp AddBranchOf(InnerOp branch);

// True if a branch has its distance in `wide`; true if it compares 64 bits.
bool IsWideBranch(InnerOp branch);
bool Is64(InnerOp branch);

// The instruction that does `first`, then `second` on its result, both with 64
// bits or both with 32. kCount if there is none.
InnerOp PairOf(InnerOp first, InnerOp second, bool is_64);

// True if `op` is part of pairs and its operands may be swapped.
bool Commutes(InnerOp op, bool is_64);

// True if the next instruction may use the result of `op` as the last one.
bool LeavesResult(InnerOp op);

// The form of `op` whose operand (0: b, 1: c, 2: d) is the last result. kCount
// if there is none.
InnerOp ChainedOf(InnerOp op, size_t operand);
// The instruction whose form `op` is; `op` itself if it is none.
InnerOp UnchainedOf(InnerOp op);

}  // namespace takt::vm

#endif  // TAKT_VM_INNER_OP_TABLES_H_
