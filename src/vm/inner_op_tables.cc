#include "vm/inner_op_tables.h"

namespace takt::vm {
namespace {

constexpr FusedBranch kFusedBranches[] = {
    {InnerOp::kCmpEqI32, InnerOp::kBranchEqI32, InnerOp::kBranchNeI32},
    {InnerOp::kCmpNeI32, InnerOp::kBranchNeI32, InnerOp::kBranchEqI32},
    {InnerOp::kCmpLtI32S, InnerOp::kBranchLtI32S, InnerOp::kBranchGeI32S},
    {InnerOp::kCmpLtI32U, InnerOp::kBranchLtI32U, InnerOp::kBranchGeI32U},
    {InnerOp::kCmpEqI64, InnerOp::kBranchEqI64, InnerOp::kBranchNeI64},
    {InnerOp::kCmpNeI64, InnerOp::kBranchNeI64, InnerOp::kBranchEqI64},
    {InnerOp::kCmpLtI64S, InnerOp::kBranchLtI64S, InnerOp::kBranchGeI64S},
    {InnerOp::kCmpLtI64U, InnerOp::kBranchLtI64U, InnerOp::kBranchGeI64U},
    {InnerOp::kCmpNzI32, InnerOp::kBranchNzI32, InnerOp::kBranchZI32},
    {InnerOp::kCmpNzI64, InnerOp::kBranchNzI64, InnerOp::kBranchZI64},
    {InnerOp::kCmpNzRef, InnerOp::kBranchNzRef, InnerOp::kBranchZRef},
};

// Of the operations that come in pairs, the place in the table of pairs.
struct PairHalf {
  InnerOp op32;
  InnerOp op64;
  bool commutes;
};
constexpr PairHalf kPairHalves[] = {
    {InnerOp::kAddI32, InnerOp::kAddI64, true},
    {InnerOp::kSubI32, InnerOp::kSubI64, false},
    {InnerOp::kMulI32, InnerOp::kMulI64, true},
    {InnerOp::kAndI32, InnerOp::kAndI64, true},
    {InnerOp::kOrI32, InnerOp::kOrI64, true},
    {InnerOp::kXorI32, InnerOp::kXorI64, true},
};
constexpr int kPairHalfCount = 6;
int PairIndexOf(InnerOp op, bool is_64) {
  for (int i = 0; i < kPairHalfCount; ++i) {
    if (op == (is_64 ? kPairHalves[i].op64 : kPairHalves[i].op32)) return i;
  }
  return -1;
}

}  // namespace

InnerOp PlainOpOf(Op op) {
  switch (op) {
#define TAKT_VM_PLAIN_OP(name) \
  case Op::name:               \
    return InnerOp::name;
#define TAKT_VM_INNER_OP(name)
#define TAKT_VM_BRANCH_OP(name)
#define TAKT_VM_PAIR_OP(first, second)
#include "vm/inner_ops.inc"
#undef TAKT_VM_PLAIN_OP
#undef TAKT_VM_INNER_OP
#undef TAKT_VM_BRANCH_OP
#undef TAKT_VM_PAIR_OP
    case Op::kSelectF32:
      return InnerOp::kSelectI32;
    case Op::kSelectF64:
      return InnerOp::kSelectI64;
    case Op::kExtI8I32U:
      return InnerOp::kTruncI32I8;
    case Op::kExtI16I32U:
      return InnerOp::kTruncI32I16;
    case Op::kTruncI64I32:  // The low word.
    case Op::kBitcastI32F32:
    case Op::kBitcastF32I32:
      return InnerOp::kMove32;
    case Op::kBitcastI64F64:
    case Op::kBitcastF64I64:
      return InnerOp::kMove64;
    case Op::kCastF32Ui32:  // The low word of the same 64 bits.
      return InnerOp::kCastF32Si32;
    case Op::kCastF64Ui32:
      return InnerOp::kCastF64Si32;
    case Op::kCastF64Ui64:
      return InnerOp::kCastF64Si64;
    case Op::kCmpNeF32O:  // 1 for a NaN, whatever its name says.
      return InnerOp::kCmpNeF32U;
    case Op::kCmpNeF64O:
      return InnerOp::kCmpNeF64U;
    case Op::kBufferLoadF32:
      return InnerOp::kBufferLoadI32;
    case Op::kBufferLoadF64:
      return InnerOp::kBufferLoadI64;
    case Op::kBufferStoreF32:
      return InnerOp::kBufferStoreI32;
    case Op::kBufferStoreF64:
      return InnerOp::kBufferStoreI64;
    case Op::kBufferFillF32:
      return InnerOp::kBufferFillI32;
    case Op::kBufferFillF64:
      return InnerOp::kBufferFillI64;
    case Op::kGlobalLoadIndirectF32:
      return InnerOp::kGlobalLoadIndirectI32;
    case Op::kGlobalLoadIndirectF64:
      return InnerOp::kGlobalLoadIndirectI64;
    case Op::kGlobalStoreIndirectF32:
      return InnerOp::kGlobalStoreIndirectI32;
    case Op::kGlobalStoreIndirectF64:
      return InnerOp::kGlobalStoreIndirectI64;
    default:
      return InnerOp::kCount;
  }
}

InnerOp BackwardOf(InnerOp branch) {
  return static_cast<InnerOp>(static_cast<int>(branch) + 1);
}

const FusedBranch* FusedOf(InnerOp compare) {
  for (const FusedBranch& candidate : kFusedBranches) {
    if (candidate.compare == compare) return &candidate;
  }
  return nullptr;
}

InnerOp AddBranchOf(InnerOp branch) {
  return static_cast<InnerOp>(static_cast<int>(branch) -
                              static_cast<int>(InnerOp::kBranchEqI32) +
                              static_cast<int>(InnerOp::kAddBranchEqI32));
}
bool IsWideBranch(InnerOp branch) { return branch <= InnerOp::kBranchZRefBack; }
bool Is64(InnerOp branch) {
  return branch >= InnerOp::kBranchEqI64 &&
         branch <= InnerOp::kBranchGeI64UBack;
}

InnerOp PairOf(InnerOp first, InnerOp second, bool is_64) {
  const int i = PairIndexOf(first, is_64);
  const int j = PairIndexOf(second, is_64);
  if (i < 0 || j < 0) return InnerOp::kCount;
  // The table has the 32-bit and the 64-bit form side by side.
  return static_cast<InnerOp>(static_cast<int>(InnerOp::kAddAddI32) +
                              2 * (i * kPairHalfCount + j) + (is_64 ? 1 : 0));
}

bool Commutes(InnerOp op, bool is_64) {
  const int index = PairIndexOf(op, is_64);
  return index >= 0 && kPairHalves[index].commutes;
}

}  // namespace takt::vm
