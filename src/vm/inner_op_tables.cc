#include "vm/inner_op_tables.h"

#include <array>
#include <cstddef>

#include "base/narrow.h"

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

// The operations that come in pairs, in the order of inner_ops.inc.
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

// Instructions of the wire that an instruction of another name carries out:
// bits are bits, so floats move as integers do.
constexpr struct {
  Op op;
  InnerOp inner;
} kAliases[] = {
    {Op::kSelectF32, InnerOp::kSelectI32},
    {Op::kSelectF64, InnerOp::kSelectI64},
    {Op::kExtI8I32U, InnerOp::kTruncI32I8},
    {Op::kExtI16I32U, InnerOp::kTruncI32I16},
    // The low word.
    {Op::kTruncI64I32, InnerOp::kMove32},
    {Op::kBitcastI32F32, InnerOp::kMove32},
    {Op::kBitcastF32I32, InnerOp::kMove32},
    {Op::kBitcastI64F64, InnerOp::kMove64},
    {Op::kBitcastF64I64, InnerOp::kMove64},
    // The low word of the same 64 bits.
    {Op::kCastF32Ui32, InnerOp::kCastF32Si32},
    {Op::kCastF64Ui32, InnerOp::kCastF64Si32},
    {Op::kCastF64Ui64, InnerOp::kCastF64Si64},
    // 1 for a NaN, although the wire's name says ordered.
    {Op::kCmpNeF32O, InnerOp::kCmpNeF32U},
    {Op::kCmpNeF64O, InnerOp::kCmpNeF64U},
    {Op::kBufferLoadF32, InnerOp::kBufferLoadI32},
    {Op::kBufferLoadF64, InnerOp::kBufferLoadI64},
    {Op::kBufferStoreF32, InnerOp::kBufferStoreI32},
    {Op::kBufferStoreF64, InnerOp::kBufferStoreI64},
    {Op::kBufferFillF32, InnerOp::kBufferFillI32},
    {Op::kBufferFillF64, InnerOp::kBufferFillI64},
    {Op::kGlobalLoadIndirectF32, InnerOp::kGlobalLoadIndirectI32},
    {Op::kGlobalLoadIndirectF64, InnerOp::kGlobalLoadIndirectI64},
    {Op::kGlobalStoreIndirectF32, InnerOp::kGlobalStoreIndirectI32},
    {Op::kGlobalStoreIndirectF64, InnerOp::kGlobalStoreIndirectI64},
};

constexpr size_t kOpCount = Narrow<size_t>(Op::kCount);

// What PlainOpOf() answers, by Op.
constexpr std::array<InnerOp, kOpCount> kPlainOps = [] {
  std::array<InnerOp, kOpCount> table{};
  table.fill(InnerOp::kCount);
#define TAKT_VM_PLAIN_OP(name) table[Narrow<size_t>(Op::name)] = InnerOp::name;
#define TAKT_VM_INNER_OP(name)
#define TAKT_VM_BRANCH_OP(name)
#include "vm/inner_ops.inc"
  for (const auto& alias : kAliases) {
    table[Narrow<size_t>(alias.op)] = alias.inner;
  }
  return table;
}();

// What ChainedOf() knows of an instruction.
struct Forms {
  bool leaves_result = false;
  InnerOp plain = InnerOp::kCount;
  std::array<InnerOp, 3> chained{InnerOp::kCount, InnerOp::kCount,
                                 InnerOp::kCount};
};
constexpr std::array<Forms, Narrow<size_t>(InnerOp::kCount)> kForms = [] {
  std::array<Forms, Narrow<size_t>(InnerOp::kCount)> table{};
  const auto add_form = [&table](InnerOp plain, InnerOp form, size_t operand) {
    table[Narrow<size_t>(plain)].chained[operand] = form;
    table[Narrow<size_t>(form)].plain = plain;
    table[Narrow<size_t>(form)].leaves_result =
        table[Narrow<size_t>(plain)].leaves_result;
  };
#define TAKT_VM_PLAIN_OP(name)
#define TAKT_VM_VALUE_OP(name) \
  table[Narrow<size_t>(InnerOp::name)].leaves_result = true;
#define TAKT_VM_FORM_B(name) add_form(InnerOp::name, InnerOp::name##B, 0);
#define TAKT_VM_FORM_C(name) add_form(InnerOp::name, InnerOp::name##C, 1);
#define TAKT_VM_FORM_D(name) add_form(InnerOp::name, InnerOp::name##D, 2);
#define TAKT_VM_INNER_OP(name)
#define TAKT_VM_BRANCH_OP(name)
#include "vm/inner_ops.inc"
  return table;
}();

}  // namespace

InnerOp PlainOpOf(Op op) { return kPlainOps[Narrow<size_t>(op)]; }

InnerOp BackwardOf(InnerOp branch) {
  return static_cast<InnerOp>(Narrow<int>(branch) + 1);
}

const FusedBranch* FusedOf(InnerOp compare) {
  for (const FusedBranch& candidate : kFusedBranches) {
    if (candidate.compare == compare) return &candidate;
  }
  return nullptr;
}

InnerOp AddBranchOf(InnerOp branch) {
  return static_cast<InnerOp>(Narrow<int>(branch) -
                              Narrow<int>(InnerOp::kBranchEqI32) +
                              Narrow<int>(InnerOp::kAddBranchEqI32));
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
  // The table has the 32-bit and the 64-bit instruction side by side, each with
  // its form B.
  return static_cast<InnerOp>(Narrow<int>(InnerOp::kAddAddI32) +
                              4 * (i * kPairHalfCount + j) + (is_64 ? 2 : 0));
}

bool Commutes(InnerOp op, bool is_64) {
  const int index = PairIndexOf(op, is_64);
  return index >= 0 && kPairHalves[index].commutes;
}

bool LeavesResult(InnerOp op) {
  return kForms[Narrow<size_t>(op)].leaves_result;
}

InnerOp ChainedOf(InnerOp op, size_t operand) {
  return kForms[Narrow<size_t>(op)].chained[operand];
}

InnerOp UnchainedOf(InnerOp op) {
  const InnerOp plain = kForms[Narrow<size_t>(op)].plain;
  return plain == InnerOp::kCount ? op : plain;
}

}  // namespace takt::vm
