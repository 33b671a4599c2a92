#include "vm/opcodes.h"

#include <array>
#include <cstddef>
#include <iterator>

#include "base/check.h"
#include "base/narrow.h"

namespace takt::vm {
namespace {

constexpr OpInfo kOps[] = {
#define TAKT_VM_OP(set, code, name, mnemonic, fields, terminator) \
  {Op::name, OpSet::set, code, terminator, mnemonic, fields},
#include "vm/opcodes.inc"
#undef TAKT_VM_OP
};
constexpr size_t kOpCount = Narrow<size_t>(Op::kCount);
static_assert(std::size(kOps) == kOpCount);

constexpr uint16_t kNoOp = 0xffff;
using CodeTable = std::array<std::array<uint16_t, 256>, 3>;

// Index into kOps by set and code byte.
constexpr CodeTable MakeCodeTable() {
  CodeTable table{};
  for (auto& codes : table) codes.fill(kNoOp);
  for (size_t i = 0; i < kOpCount; ++i) {
    table[Narrow<size_t>(kOps[i].set)][kOps[i].code] = Narrow<uint16_t>(i);
  }
  return table;
}
constexpr CodeTable kCodeTable = MakeCodeTable();

}  // namespace

const OpInfo* FindOp(OpSet set, uint8_t code) {
  const uint16_t index = kCodeTable[Narrow<size_t>(set)][code];
  return index == kNoOp ? nullptr : &kOps[index];
}

const OpInfo& InfoOf(Op op) {
  TAKT_DCHECK(op < Op::kCount);
  return kOps[Narrow<size_t>(op)];
}

}  // namespace takt::vm
