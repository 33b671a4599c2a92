#include "vm/translator.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/math.h"
#include "base/status.h"
#include "vm/block_graph.h"
#include "vm/wire_decoder.h"

namespace takt::vm {
namespace {

// What a value type in a place for refs is checked against: no object has it.
constexpr ObjectType kNoObject{"a value type"};

// The instruction that does what `op` does with the same registers, or kCount
// where it takes more than that. Bits are bits: floats move as integers.
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

// A branch on the outcome of a comparison, if true and if false.
struct FusedBranch {
  InnerOp compare;
  InnerOp if_true;
  InnerOp if_false;
};
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

const FusedBranch* FusedOf(InnerOp compare) {
  for (const FusedBranch& candidate : kFusedBranches) {
    if (candidate.compare == compare) return &candidate;
  }
  return nullptr;
}

// The instruction that adds, then branches as `branch` does.
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

bool IsRef(WireRegister reg) { return (reg & kWireRefBit) != 0; }

// The address of a register; odd for a ref to be moved from.
int16_t AddressOf(WireRegister reg) {
  if (!IsRef(reg)) return static_cast<int16_t>(reg);
  const int16_t address = RefAddress(reg & kWireRefMask);
  return (reg & kWireMoveBit) != 0 ? static_cast<int16_t>(address + 1)
                                   : address;
}

bool HasValueResult(const WireInstruction& instruction) {
  const WireField& last = instruction.fields.back();
  return last.is_result && last.kind <= WireFieldKind::kF64;
}
bool HasWideResult(const WireInstruction& instruction) {
  const WireFieldKind kind = instruction.fields.back().kind;
  return kind == WireFieldKind::kI64 || kind == WireFieldKind::kF64;
}

bool IsRegister(WireFieldKind kind) { return kind <= WireFieldKind::kRefMove; }

// Emits one function.
class FunctionTranslator {
 public:
  FunctionTranslator(const BytecodeArchive& archive, Program& program,
                     uint32_t ordinal, const BlockGraph& graph, bool fuse)
      : archive_(archive),
        source_(archive.functions[ordinal]),
        graph_(graph),
        program_(program),
        function_(program.functions[ordinal]),
        code_(program.code),
        fuse_(fuse),
        begin_(program.code.size()),
        value_count_(source_.value_register_count) {}

  absl::Status Run();
  // False if a branch was too far for the form that was chosen.
  bool fits() const { return fits_; }
  size_t begin() const { return begin_; }

 private:
  using Label = uint32_t;                         // Blocks first, in order.
  enum class Distance { kWide, kInC, kInNextA };  // Where a branch has it.
  struct Fixup {
    size_t unit;
    Label label;
    Distance distance;
  };
  struct Move {
    int16_t target;
    int16_t source;
    bool is_ref;
    bool is_wide;
  };

  // Output.
  Unit& Append(InnerOp op, int16_t a = 0, int16_t b = 0, int16_t c = 0) {
    code_.push_back(Unit{static_cast<uint16_t>(op), a, b, c});
    return code_.back();
  }
  void AppendWide(InnerOp op, int16_t a, uint32_t wide) {
    Append(op, a).set_wide(static_cast<int32_t>(wide));
  }
  template <typename T>
  void AppendPayload(T value) {
    code_.push_back(Unit::FromPayload(value));
  }
  void AppendList(const std::vector<int16_t>& list);
  void AppendAddresses(const std::vector<uint16_t>& registers);

  // Labels.
  Label NewLabel() {
    positions_.push_back(0);
    return static_cast<Label>(positions_.size() - 1);
  }
  void Bind(Label label) { positions_[label] = code_.size(); }
  void ResolveFixups();

  // Instructions.
  void Translate(const WireInstruction& instruction);
  void TranslatePlain(InnerOp op, const WireInstruction& instruction);
  void TranslateOther(const WireInstruction& instruction);
  bool FoldConstant(InnerOp op, const std::vector<int16_t>& registers);
  bool FoldPair(InnerOp op, const std::vector<int16_t>& registers);
  void AppendConstant32(const WireField& target, uint64_t bits);
  void AppendConstant64(const WireField& target, uint64_t bits);
  void AppendSwitch(InnerOp op, const WireInstruction& instruction);
  void AppendGlobal(InnerOp op, const WireField& reg, const WireField& offset);
  void AppendGlobalRef(InnerOp op, const WireInstruction& instruction);
  void AppendType(const WireField& field);
  void AppendCall(const WireInstruction& instruction);
  void AppendReturn(const WireInstruction& instruction);
  void AppendFail(const WireInstruction& instruction);

  // Control flow.
  std::vector<Move> MovesOf(const WireBranch& branch);
  std::vector<Move> CollectMoves(const WireBranch& branch);
  bool IsBackward(const WireBranch& branch) const {
    return graph_.BlockAt(branch.target_pc) <= block_;
  }
  void AppendJump(uint32_t target_pc, bool may_fall_through);
  bool FoldHeader(uint32_t target_pc);
  bool FoldMove(uint32_t target);
  void AppendEdge(const std::vector<Move>& moves, const WireBranch& branch,
                  bool may_fall_through);
  void AppendConditional(WireRegister condition, const WireBranch& if_true,
                         const WireBranch& if_false);
  void AppendBranchOn(WireRegister condition, bool value, Label target,
                      bool backward);
  bool AppendAddBranch(InnerOp branch, Label target);
  void AppendTable(const WireInstruction& instruction);

  const BytecodeArchive& archive_;
  const ArchiveFunction& source_;
  const BlockGraph& graph_;
  Program& program_;
  Function& function_;
  std::vector<Unit>& code_;
  const bool fuse_;  // Several instructions into one.
  const size_t begin_;

  uint32_t value_count_;  // Registers, and the words that branches need.
  uint32_t block_ = 0;    // The one being translated.
  std::vector<size_t> positions_;  // Of labels.
  std::vector<Fixup> fixups_;
  bool fits_ = true;

  // Where a value word was last written in this block, if that place can be
  // changed, and which instruction named it last. Instructions are numbered.
  struct Definition {
    uint32_t number = 0;
    size_t unit = 0;
    bool in_list = false;  // In the unit's first list entry; else in `a`.
    bool is_wide = false;
  };
  void NoteNames(const WireInstruction& instruction);
  void NoteDefinition(int16_t address, bool is_wide, size_t unit, bool in_list);
  bool IsNamedSince(int16_t word, bool is_wide, uint32_t number) const;
  void Retarget(const WireBranch& branch, std::vector<Move>* moves,
                const WireBranch* other, std::vector<Move>* other_moves);
  bool CanRetarget(const Move& move, const WireBranch& branch,
                   const std::vector<Move>& moves, const WireBranch* other,
                   const std::vector<Move>* other_moves) const;
  std::vector<uint32_t> named_;          // By word: instruction.
  std::vector<Definition> definitions_;  // By word.
  uint32_t number_ = 0;                  // Of the current instruction.
  uint32_t block_number_ = 0;            // Of the block's first one.
  uint32_t flag_named_ = 0;  // What named_ held before the last comparison.

  // The last instruction, if it may be folded into the next one.
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();
  size_t last_ = kNone;
  size_t before_last_ = kNone;  // The one before, likewise.
  size_t latest_ = kNone;       // What last_ will be.
  size_t last_move_ = kNone;    // The last move of an edge.
  bool in_header_ = false;      // Inside FoldHeader().
  // The comparison that the branch at the end of the block will contain, and
  // the instruction before it.
  const FusedBranch* fused_ = nullptr;
  Unit compare_{};
  size_t addition_ = kNone;
};

void FunctionTranslator::AppendList(const std::vector<int16_t>& list) {
  for (size_t i = 0; i < list.size(); i += 4) {
    std::array<int16_t, 4> entries{};
    std::copy_n(list.begin() + static_cast<ptrdiff_t>(i),
                std::min<size_t>(4, list.size() - i), entries.begin());
    code_.push_back(Unit::FromPayload(entries));
  }
}

void FunctionTranslator::AppendAddresses(
    const std::vector<uint16_t>& registers) {
  std::vector<int16_t> list;
  for (WireRegister reg : registers) list.push_back(AddressOf(reg));
  AppendList(list);
}

void FunctionTranslator::ResolveFixups() {
  for (const Fixup& fixup : fixups_) {
    const int64_t distance = static_cast<int64_t>(positions_[fixup.label]) -
                             static_cast<int64_t>(fixup.unit);
    Unit& unit = code_[fixup.unit];
    if (fixup.distance == Distance::kWide) {
      unit.set_wide(static_cast<int32_t>(distance));
    } else if (distance < INT16_MIN || distance > INT16_MAX) {
      fits_ = false;
    } else if (fixup.distance == Distance::kInC) {
      unit.c = static_cast<int16_t>(distance);
    } else {
      code_[fixup.unit + 1].a = static_cast<int16_t>(distance);
    }
  }
}

absl::Status FunctionTranslator::Run() {
  positions_.resize(graph_.block_count());
  named_.resize(value_count_ + 1);
  definitions_.resize(value_count_ + 1);
  WireInstruction instruction;
  uint32_t next_block = 0;
  for (uint32_t pc = 0; pc < source_.body.size(); pc = instruction.next_pc) {
    TAKT_RETURN_IF_ERROR(DecodeInstruction(source_.body, pc, &instruction));
    if (instruction.info->op == Op::kBlock) {
      block_ = next_block++;
      Bind(block_);
      last_ = kNone;
      before_last_ = kNone;
      block_number_ = number_ + 1;
      continue;
    }
    function_.pcs.emplace_back(static_cast<uint32_t>(code_.size() - begin_),
                               pc);
    latest_ = kNone;
    NoteNames(instruction);
    Translate(instruction);
    before_last_ = last_;
    last_ = latest_;
  }
  ResolveFixups();
  if (value_count_ > kMaxValueRegisters) {
    return absl::UnimplementedError(absl::StrCat(
        function_.name, ": ", value_count_, " value registers; at most ",
        kMaxValueRegisters, " are supported"));
  }
  // 8 bytes are read at once of any register, the last one too.
  function_.value_bytes =
      static_cast<uint32_t>(AlignUp(uint64_t{value_count_} * 4 + 4, 16));
  if (!graph_.ReadsUnwrittenWords()) {
    function_.zero_begin = function_.value_bytes;
  }
  std::sort(function_.callees.begin(), function_.callees.end());
  function_.callees.erase(
      std::unique(function_.callees.begin(), function_.callees.end()),
      function_.callees.end());
  return absl::OkStatus();
}

void FunctionTranslator::Translate(const WireInstruction& instruction) {
  const InnerOp plain = PlainOpOf(instruction.info->op);
  if (plain == InnerOp::kCount) return TranslateOther(instruction);
  TranslatePlain(plain, instruction);
}

void FunctionTranslator::TranslatePlain(InnerOp op,
                                        const WireInstruction& instruction) {
  std::vector<int16_t> registers;
  for (const bool results : {true, false}) {
    for (const WireField& field : instruction.fields) {
      if (field.is_result != results || !IsRegister(field.kind)) continue;
      registers.push_back(AddressOf(static_cast<WireRegister>(field.value)));
    }
  }
  if (fuse_ && (FoldConstant(op, registers) || FoldPair(op, registers))) return;
  std::vector<int16_t> rest;
  if (registers.size() > 3) rest.assign(registers.begin() + 3, registers.end());
  registers.resize(3);
  latest_ = code_.size();
  if (HasValueResult(instruction)) {
    NoteDefinition(registers[0], HasWideResult(instruction), latest_, false);
  }
  Append(op, registers[0], registers[1], registers[2]);
  AppendList(rest);
  for (const WireField& field : instruction.fields) {
    if (field.kind != WireFieldKind::kType) continue;
    if (op != InnerOp::kListAlloc) return AppendType(field);
    AppendPayload(
        static_cast<const ElementType*>(&program_.types[field.value]));
  }
}

// `const r, k` then `r = add x, r` is `r = x + k`: the constant's register is
// overwritten, so nobody else sees it.
bool FunctionTranslator::FoldConstant(InnerOp op,
                                      const std::vector<int16_t>& registers) {
  const bool is_sub = op == InnerOp::kSubI32 || op == InnerOp::kSubI64;
  const bool is_32 = op == InnerOp::kAddI32 || op == InnerOp::kSubI32;
  const bool is_64 = op == InnerOp::kAddI64 || op == InnerOp::kSubI64;
  if (last_ == kNone || (!is_32 && !is_64)) return false;
  const Unit constant = code_[last_];
  const InnerOp load =
      is_32 ? InnerOp::kLoadConstant32 : InnerOp::kLoadConstant64;
  const int64_t value = is_sub ? -int64_t{constant.wide()} : constant.wide();
  if (constant.op != static_cast<uint16_t>(load) || value < INT16_MIN ||
      value > INT16_MAX || registers[0] != constant.a) {
    return false;
  }
  int16_t other = registers[1];
  if (registers[2] != constant.a) {
    if (is_sub || other != constant.a) return false;
    other = registers[2];
  }
  if (other == constant.a) return false;
  code_.pop_back();
  NoteDefinition(registers[0], is_64, code_.size(), false);
  Append(is_32 ? InnerOp::kAddConstantI32 : InnerOp::kAddConstantI64,
         registers[0], other, static_cast<int16_t>(value));
  return true;
}

// Two operations, the second on the result of the first.
bool FunctionTranslator::FoldPair(InnerOp op,
                                  const std::vector<int16_t>& registers) {
  if (last_ == kNone) return false;
  Unit& first = code_[last_];
  for (const bool is_64 : {false, true}) {
    const int i = PairIndexOf(static_cast<InnerOp>(first.op), is_64);
    const int j = PairIndexOf(op, is_64);
    if (i < 0 || j < 0) continue;
    int16_t other = registers[2];
    if (registers[1] != first.a) {
      if (registers[2] != first.a || !kPairHalves[j].commutes) return false;
      other = registers[1];
    }
    // The table has the 32-bit and the 64-bit form side by side.
    first.op =
        static_cast<uint16_t>(static_cast<int>(InnerOp::kAddAddI32) +
                              2 * (i * kPairHalfCount + j) + (is_64 ? 1 : 0));
    NoteDefinition(registers[0], is_64, code_.size(), true);
    AppendPayload(std::array<int16_t, 4>{registers[0], other, 0, 0});
    return true;
  }
  return false;
}

void FunctionTranslator::AppendType(const WireField& field) {
  const ElementType& type = program_.types[field.value];
  const ObjectType* expected =
      type.kind == ValueKind::kRef || type.kind == ValueKind::kNone
          ? type.ref_type
          : &kNoObject;
  AppendPayload(expected);
}

void FunctionTranslator::AppendConstant32(const WireField& target,
                                          uint64_t bits) {
  latest_ = code_.size();
  AppendWide(InnerOp::kLoadConstant32, static_cast<int16_t>(target.value),
             static_cast<uint32_t>(bits));
}

void FunctionTranslator::AppendConstant64(const WireField& target,
                                          uint64_t bits) {
  const auto value = static_cast<int64_t>(bits);
  const auto address = static_cast<int16_t>(target.value);
  if (value == static_cast<int32_t>(value)) {
    latest_ = code_.size();
    return AppendWide(InnerOp::kLoadConstant64, address,
                      static_cast<uint32_t>(bits));
  }
  Append(InnerOp::kLoadConstantBig64, address);
  AppendPayload(bits);
}

void FunctionTranslator::AppendGlobal(InnerOp op, const WireField& reg,
                                      const WireField& offset) {
  AppendWide(op, AddressOf(static_cast<WireRegister>(reg.value)),
             static_cast<uint32_t>(offset.value));
}

void FunctionTranslator::AppendGlobalRef(InnerOp op,
                                         const WireInstruction& instruction) {
  AppendGlobal(op, instruction.fields[2], instruction.fields[0]);
  AppendType(instruction.fields[1]);
}

// Fields: index, [type,] default, list; result.
void FunctionTranslator::AppendSwitch(InnerOp op,
                                      const WireInstruction& instruction) {
  const auto& fields = instruction.fields;
  const bool is_ref = op == InnerOp::kSwitchRef;
  const WireField& list = fields[is_ref ? 3 : 2];
  const auto address = [&](size_t field) {
    return AddressOf(static_cast<WireRegister>(fields[field].value));
  };
  Append(op, address(fields.size() - 1), address(0), address(is_ref ? 2 : 1));
  if (is_ref) AppendType(fields[1]);
  AppendPayload(uint64_t{list.list.size()});
  AppendAddresses(list.list);
}

void FunctionTranslator::TranslateOther(const WireInstruction& instruction) {
  const auto& fields = instruction.fields;
  switch (instruction.info->op) {
    case Op::kGlobalLoadI32:
    case Op::kGlobalLoadF32:
      return AppendGlobal(InnerOp::kGlobalLoad32, fields[1], fields[0]);
    case Op::kGlobalLoadI64:
    case Op::kGlobalLoadF64:
      return AppendGlobal(InnerOp::kGlobalLoad64, fields[1], fields[0]);
    case Op::kGlobalStoreI32:
    case Op::kGlobalStoreF32:
      return AppendGlobal(InnerOp::kGlobalStore32, fields[1], fields[0]);
    case Op::kGlobalStoreI64:
    case Op::kGlobalStoreF64:
      return AppendGlobal(InnerOp::kGlobalStore64, fields[1], fields[0]);
    case Op::kGlobalLoadRef:
      return AppendGlobalRef(InnerOp::kGlobalLoadRef, instruction);
    case Op::kGlobalStoreRef:
      return AppendGlobalRef(InnerOp::kGlobalStoreRef, instruction);
    case Op::kConstI32Zero:
    case Op::kConstF32Zero:
      return AppendConstant32(fields[0], 0);
    case Op::kConstI32:
    case Op::kConstF32:
      return AppendConstant32(fields[1], fields[0].value);
    case Op::kConstI64Zero:
    case Op::kConstF64Zero:
      return AppendConstant64(fields[0], 0);
    case Op::kConstI64:
    case Op::kConstF64:
      return AppendConstant64(fields[1], fields[0].value);
    case Op::kConstRefRodata:
      Append(InnerOp::kLoadRodata,
             AddressOf(static_cast<WireRegister>(fields[1].value)));
      return AppendPayload(
          static_cast<Object*>(program_.rodata[fields[0].value].get()));
    case Op::kSwitchI32:
    case Op::kSwitchF32:
      return AppendSwitch(InnerOp::kSwitch32, instruction);
    case Op::kSwitchI64:
    case Op::kSwitchF64:
      return AppendSwitch(InnerOp::kSwitch64, instruction);
    case Op::kSwitchRef:
      return AppendSwitch(InnerOp::kSwitchRef, instruction);
    case Op::kBr:
    case Op::kBreak: {
      const WireBranch& branch = fields[0].branches[0];
      std::vector<Move> moves = MovesOf(branch);
      Retarget(branch, &moves, nullptr, nullptr);
      return AppendEdge(moves, branch, true);
    }
    case Op::kYield: {
      const WireBranch& branch = fields[0].branches[0];
      Append(InnerOp::kYield);
      return AppendEdge(MovesOf(branch), branch, true);
    }
    case Op::kCondBreak: {
      const WireBranch& branch = fields[1].branches[0];
      return AppendEdge(MovesOf(branch), branch, true);
    }
    case Op::kCondBr:
      return AppendConditional(static_cast<WireRegister>(fields[0].value),
                               fields[1].branches[0], fields[2].branches[0]);
    case Op::kBrTable:
      return AppendTable(instruction);
    case Op::kCall:
    case Op::kCallVariadic:
    case Op::kCallYieldable:
    case Op::kCallVariadicYieldable:
      return AppendCall(instruction);
    case Op::kReturn:
      return AppendReturn(instruction);
    case Op::kFail:
      return AppendFail(instruction);
    case Op::kImportResolved:
      return AppendWide(InnerOp::kImportResolved,
                        static_cast<int16_t>(fields[1].value),
                        static_cast<uint32_t>(fields[0].value) & ~kImportBit);
    case Op::kTrace:
    case Op::kPrint: {
      std::vector<uint16_t> moved;
      for (WireRegister reg : fields[1].list) {
        if (IsRef(reg) && (reg & kWireMoveBit) != 0) moved.push_back(reg);
      }
      if (moved.empty()) return;
      AppendWide(InnerOp::kDiscardRefs, 0, static_cast<uint32_t>(moved.size()));
      return AppendAddresses(moved);
    }
    case Op::kDiscardRefs:
      AppendWide(InnerOp::kDiscardRefs, 0,
                 static_cast<uint32_t>(fields[0].list.size()));
      return AppendAddresses(fields[0].list);
    default:
      TAKT_CHECK(false && "an instruction that no table lists");
  }
}

void FunctionTranslator::AppendFail(const WireInstruction& instruction) {
  AppendWide(InnerOp::kFail, static_cast<int16_t>(instruction.fields[0].value),
             static_cast<uint32_t>(program_.texts.size()));
  program_.texts.emplace_back(instruction.fields[1].text);
}

void FunctionTranslator::AppendReturn(const WireInstruction& instruction) {
  const std::vector<uint16_t>& list = instruction.fields[0].list;
  const std::vector<Letter>& letters = source_.convention.results;
  if (list.empty()) {
    Append(InnerOp::kReturn);
  } else if (list.size() == 1) {
    const InnerOp op = letters[0] == Letter::kRef ? InnerOp::kReturnRef
                       : IsWide(letters[0])       ? InnerOp::kReturn64
                                                  : InnerOp::kReturn32;
    Append(op, AddressOf(list[0]));
  } else {
    AppendWide(InnerOp::kReturnMany, 0, static_cast<uint32_t>(list.size()));
    std::vector<int16_t> pairs;
    for (size_t i = 0; i < list.size(); ++i) {
      pairs.push_back(AddressOf(list[i]));
      pairs.push_back(IsWide(letters[i]) ? 8 : 4);
    }
    AppendList(pairs);
  }
}

// kCall: arguments, caller's value bytes (known when the function is done);
// Function*; the arguments' addresses; the results'.
// kCallImport: may park, import; {entries, results}; entries; results.
void FunctionTranslator::AppendCall(const WireInstruction& instruction) {
  const Op op = instruction.info->op;
  const bool variadic =
      op == Op::kCallVariadic || op == Op::kCallVariadicYieldable;
  const bool yieldable =
      op == Op::kCallYieldable || op == Op::kCallVariadicYieldable;
  const auto& fields = instruction.fields;
  const auto callee = static_cast<uint32_t>(fields[0].value);
  const std::vector<uint16_t>& operands = fields[variadic ? 2 : 1].list;
  const std::vector<uint16_t>& results = fields.back().list;
  function_.callees.push_back(callee);

  std::vector<int16_t> entries;
  if (variadic) {
    const CallingConvention& convention = CalleeConvention(archive_, callee);
    size_t next = 0;
    for (size_t i = 0; i < convention.arguments.size(); ++i) {
      const CallingConvention::Argument& argument = convention.arguments[i];
      size_t count = 1;
      if (argument.is_span) {
        const uint16_t repetitions = fields[1].list[i];
        entries.push_back(kSpanCount);
        entries.push_back(static_cast<int16_t>(repetitions));
        count = argument.letters.size() * repetitions;
      }
      for (size_t n = 0; n < count; ++n) {
        entries.push_back(AddressOf(operands[next++]));
      }
    }
  } else {
    for (WireRegister reg : operands) entries.push_back(AddressOf(reg));
  }

  if ((callee & kImportBit) != 0) {
    AppendWide(InnerOp::kCallImport, yieldable, callee & ~kImportBit);
    const std::array<uint32_t, 2> counts{static_cast<uint32_t>(entries.size()),
                                         static_cast<uint32_t>(results.size())};
    AppendPayload(counts);
  } else {
    Append(InnerOp::kCall, static_cast<int16_t>(entries.size()));
    AppendPayload(static_cast<const Function*>(&program_.functions[callee]));
  }
  AppendList(entries);
  AppendAddresses(results);
  if (!yieldable) return;
  const WireField& target = fields[variadic ? 3 : 2];
  AppendJump(static_cast<uint32_t>(target.value), true);
}

// The moves of a remap list, one after the other. A value word that an earlier
// pair overwrites is read before the first one, unless it is scratch: the
// compiler orders pairs so that this never happens, but does not see that a
// 64-bit register overlaps two 32-bit ones.
std::vector<FunctionTranslator::Move> FunctionTranslator::CollectMoves(
    const WireBranch& branch) {
  std::vector<Move> saves;
  std::vector<Move> moves;
  std::vector<uint16_t> written;  // Sorted.
  for (const auto& [source, target] : branch.remap) {
    if (IsRef(source)) {
      moves.push_back({AddressOf(target), AddressOf(source), true, true});
      continue;
    }
    auto from = static_cast<int16_t>(source);
    if (!graph_.IsScratch(source) &&
        std::binary_search(written.begin(), written.end(), source)) {
      from = static_cast<int16_t>(source_.value_register_count + saves.size());
      saves.push_back({from, static_cast<int16_t>(source), false, false});
    }
    moves.push_back({static_cast<int16_t>(target), from, false, false});
    written.insert(std::upper_bound(written.begin(), written.end(), target),
                   target);
  }
  value_count_ = std::max(
      value_count_,
      static_cast<uint32_t>(source_.value_register_count + saves.size()));
  saves.insert(saves.end(), moves.begin(), moves.end());
  return saves;
}

// As above, with the two halves of a 64-bit value moved as one.
std::vector<FunctionTranslator::Move> FunctionTranslator::MovesOf(
    const WireBranch& branch) {
  std::vector<Move> moves;
  for (const Move& move : CollectMoves(branch)) {
    if (!moves.empty() && !move.is_ref) {
      Move& last = moves.back();
      if (!last.is_ref && !last.is_wide && last.target % 2 == 0 &&
          last.source % 2 == 0 && move.target == last.target + 1 &&
          move.source == last.source + 1) {
        last.is_wide = true;
        continue;
      }
    }
    moves.push_back(move);
  }
  return moves;
}

void FunctionTranslator::NoteNames(const WireInstruction& instruction) {
  ++number_;
  for (const WireField& field : instruction.fields) {
    const auto note = [this](WireRegister reg) {
      if (IsRef(reg)) return;
      named_[reg] = number_;
      named_[reg + 1u] = number_;  // At worst it was not named.
    };
    if (field.kind <= WireFieldKind::kF64) {
      const auto word = static_cast<WireRegister>(field.value);
      if (field.is_result) flag_named_ = named_[word];
      named_[word] = number_;
      if (field.kind == WireFieldKind::kI64 ||
          field.kind == WireFieldKind::kF64) {
        named_[word + 1u] = number_;
      }
    } else if (field.kind <= WireFieldKind::kAnyList &&
               field.kind >= WireFieldKind::kI32List) {
      for (WireRegister reg : field.list) note(reg);
    }
  }
}

void FunctionTranslator::NoteDefinition(int16_t address, bool is_wide,
                                        size_t unit, bool in_list) {
  definitions_[static_cast<size_t>(address)] = {number_, unit, in_list,
                                                is_wide};
}

bool FunctionTranslator::IsNamedSince(int16_t word, bool is_wide,
                                      uint32_t number) const {
  const auto index = static_cast<size_t>(word);
  return named_[index] > number || (is_wide && named_[index + 1] > number);
}

// True if what `move` copies at the end of the block could have been written
// to its target in the first place.
bool FunctionTranslator::CanRetarget(
    const Move& move, const WireBranch& branch, const std::vector<Move>& moves,
    const WireBranch* other, const std::vector<Move>* other_moves) const {
  const auto count = static_cast<int16_t>(source_.value_register_count);
  if (move.is_ref || move.source >= count || move.target >= count) return false;
  const Definition& definition = definitions_[static_cast<size_t>(move.source)];
  if (definition.number < block_number_ || definition.is_wide != move.is_wide ||
      IsNamedSince(move.source, move.is_wide, definition.number) ||
      IsNamedSince(move.target, move.is_wide, definition.number)) {
    return false;
  }
  const auto overlaps = [&move](int16_t word, bool is_wide, int16_t with) {
    return word < with + (move.is_wide ? 2 : 1) &&
           with < word + (is_wide ? 2 : 1);
  };
  for (const Move& m : moves) {
    if (&m == &move || m.is_ref) continue;
    if (overlaps(m.source, m.is_wide, move.source) ||
        overlaps(m.source, m.is_wide, move.target) ||
        overlaps(m.target, m.is_wide, move.source) ||
        overlaps(m.target, m.is_wide, move.target)) {
      return false;
    }
  }
  const auto live = [&](const WireBranch& at, int16_t word) {
    const auto w = static_cast<uint32_t>(word);
    return graph_.IsLiveAtStart(at.target_pc, w) ||
           (move.is_wide && graph_.IsLiveAtStart(at.target_pc, w + 1));
  };
  if (live(branch, move.source)) return false;
  if (other == nullptr) return true;
  if (live(*other, move.target)) return false;
  for (const Move& m : *other_moves) {
    if (m.is_ref) continue;
    if (overlaps(m.source, m.is_wide, move.target) ||
        overlaps(m.target, m.is_wide, move.target) ||
        overlaps(m.source, m.is_wide, move.source) ||
        overlaps(m.target, m.is_wide, move.source)) {
      return false;
    }
  }
  return true;
}

// A value that goes round a loop is better written where the next round reads
// it than copied there: a copy doubles the way through memory, which is what
// such a loop waits for. `other`: the branch that leaves the loop.
void FunctionTranslator::Retarget(const WireBranch& branch,
                                  std::vector<Move>* moves,
                                  const WireBranch* other,
                                  std::vector<Move>* other_moves) {
  if (!fuse_ || !IsBackward(branch)) return;
  for (size_t i = moves->size(); i-- > 0;) {
    const Move move = (*moves)[i];
    if (!CanRetarget((*moves)[i], branch, *moves, other, other_moves)) continue;
    const Definition definition =
        definitions_[static_cast<size_t>(move.source)];
    Unit& unit = code_[definition.unit];
    if (definition.in_list) {
      unit.op = static_cast<uint16_t>(move.target);
    } else {
      unit.a = move.target;
    }
    moves->erase(moves->begin() + static_cast<ptrdiff_t>(i));
    // Where the other branch goes, the value may be wanted in its old place.
    if (other_moves != nullptr) {
      other_moves->insert(other_moves->begin(),
                          {move.source, move.target, false, move.is_wide});
    }
  }
}

void FunctionTranslator::AppendJump(uint32_t target_pc, bool may_fall_through) {
  const uint32_t target = graph_.BlockAt(target_pc);
  if (may_fall_through && target == block_ + 1) return;
  if (fuse_ && target <= block_ &&
      (FoldHeader(target_pc) || FoldMove(target))) {
    return;
  }
  fixups_.push_back({code_.size(), target, Distance::kWide});
  Append(target <= block_ ? InnerOp::kJumpBack : InnerOp::kJump);
}

// A loop whose first block only compares and branches: the jump back to it
// does so itself.
bool FunctionTranslator::FoldHeader(uint32_t target_pc) {
  if (in_header_) return false;
  WireInstruction compare;
  WireInstruction branch;
  uint32_t pc = target_pc;
  // Verified: a block is its marker and at least one instruction.
  if (!DecodeInstruction(source_.body, pc, &compare).ok() ||
      !DecodeInstruction(source_.body, compare.next_pc, &compare).ok() ||
      compare.info->is_terminator ||
      !DecodeInstruction(source_.body, compare.next_pc, &branch).ok() ||
      branch.info->op != Op::kCondBr ||
      FusedOf(PlainOpOf(compare.info->op)) == nullptr) {
    return false;
  }
  const auto condition = static_cast<WireRegister>(branch.fields[0].value);
  if (compare.fields.back().value != condition ||
      graph_.IsLiveAtEnd(graph_.BlockAt(target_pc), condition)) {
    return false;
  }
  in_header_ = true;
  before_last_ = last_;
  last_ = kNone;  // A comparison is folded into nothing.
  TranslatePlain(PlainOpOf(compare.info->op), compare);
  last_ = latest_;
  AppendConditional(condition, branch.fields[1].branches[0],
                    branch.fields[2].branches[0]);
  in_header_ = false;
  return true;
}

// The last move before a jump back, as part of it.
bool FunctionTranslator::FoldMove(uint32_t target) {
  if (last_move_ == kNone || last_move_ + 1 != code_.size()) return false;
  Unit& move = code_.back();
  const bool is_32 = move.op == static_cast<uint16_t>(InnerOp::kMove32);
  if (!is_32 && move.op != static_cast<uint16_t>(InnerOp::kMove64)) {
    return false;
  }
  move.op = static_cast<uint16_t>(is_32 ? InnerOp::kMove32JumpBack
                                        : InnerOp::kMove64JumpBack);
  fixups_.push_back({last_move_, target, Distance::kInC});
  return true;
}

void FunctionTranslator::AppendEdge(const std::vector<Move>& moves,
                                    const WireBranch& branch,
                                    bool may_fall_through) {
  for (const Move& move : moves) {
    const InnerOp op = move.is_ref    ? InnerOp::kAssignRef
                       : move.is_wide ? InnerOp::kMove64
                                      : InnerOp::kMove32;
    last_move_ = code_.size();
    Append(op, move.target, move.source);
  }
  AppendJump(branch.target_pc, may_fall_through);
}

void FunctionTranslator::AppendBranchOn(WireRegister condition, bool value,
                                        Label target, bool backward) {
  if (fused_ == nullptr) {
    const InnerOp op = value ? InnerOp::kBranchNzI32 : InnerOp::kBranchZI32;
    fixups_.push_back({code_.size(), target, Distance::kWide});
    Append(backward ? BackwardOf(op) : op, static_cast<int16_t>(condition));
    return;
  }
  InnerOp op = value ? fused_->if_true : fused_->if_false;
  if (backward) op = BackwardOf(op);
  if (AppendAddBranch(op, target)) return;
  fixups_.push_back({code_.size(), target,
                     IsWideBranch(op) ? Distance::kWide : Distance::kInC});
  Append(op, compare_.b, compare_.c);
}

// An addition just before whose result the branch compares is part of it.
bool FunctionTranslator::AppendAddBranch(InnerOp branch, Label target) {
  if (addition_ == kNone || addition_ + 1 != code_.size() ||
      IsWideBranch(branch)) {
    return false;
  }
  const Unit add = code_[addition_];
  const InnerOp wanted = Is64(branch) ? InnerOp::kAddI64 : InnerOp::kAddI32;
  if (add.op != static_cast<uint16_t>(wanted) || add.a != compare_.b) {
    return false;
  }
  code_.pop_back();
  fixups_.push_back({addition_, target, Distance::kInNextA});
  Append(AddBranchOf(branch), add.a, add.b, add.c);
  AppendPayload(std::array<int16_t, 4>{compare_.c, 0, 0, 0});
  addition_ = kNone;
  return true;
}

void FunctionTranslator::AppendConditional(WireRegister condition,
                                           const WireBranch& if_true,
                                           const WireBranch& if_false) {
  // A comparison just before whose result nobody else reads is part of the
  // branch.
  fused_ = nullptr;
  if (fuse_ && last_ != kNone &&
      (in_header_ || !graph_.IsLiveAtEnd(block_, condition))) {
    const Unit& last = code_[last_];
    if (last.a == static_cast<int16_t>(condition)) {
      fused_ = FusedOf(static_cast<InnerOp>(last.op));
    }
    if (fused_ != nullptr) {
      compare_ = last;
      addition_ = before_last_;
      code_.pop_back();
    }
  }
  std::vector<Move> true_moves = MovesOf(if_true);
  std::vector<Move> false_moves = MovesOf(if_false);
  if (!in_header_ && fused_ != nullptr) {
    named_[condition] = flag_named_;  // The comparison does not write it now.
    Retarget(if_true, &true_moves, &if_false, &false_moves);
    Retarget(if_false, &false_moves, &if_true, &true_moves);
  }
  const uint32_t true_block = graph_.BlockAt(if_true.target_pc);
  const uint32_t false_block = graph_.BlockAt(if_false.target_pc);
  if (false_moves.empty() &&
      (!true_moves.empty() || true_block == block_ + 1)) {
    AppendBranchOn(condition, false, false_block, IsBackward(if_false));
    return AppendEdge(true_moves, if_true, true);
  }
  if (true_moves.empty()) {
    AppendBranchOn(condition, true, true_block, IsBackward(if_true));
    return AppendEdge(false_moves, if_false, true);
  }
  const Label stub = NewLabel();
  AppendBranchOn(condition, true, stub, false);
  AppendEdge(false_moves, if_false, false);
  Bind(stub);
  AppendEdge(true_moves, if_true, true);
}

void FunctionTranslator::AppendTable(const WireInstruction& instruction) {
  const auto& fields = instruction.fields;
  std::vector<const WireBranch*> edges;
  for (const WireBranch& branch : fields[2].branches) edges.push_back(&branch);
  edges.push_back(&fields[1].branches[0]);  // The default comes last.
  AppendWide(InnerOp::kJumpTable, static_cast<int16_t>(fields[0].value),
             static_cast<uint32_t>(edges.size() - 1));
  const size_t table = code_.size();
  std::vector<Label> stubs;
  for (size_t i = 0; i < edges.size(); ++i) {
    stubs.push_back(NewLabel());
    fixups_.push_back({table + i, stubs.back(), Distance::kWide});
    Append(InnerOp::kJump);
  }
  for (size_t i = 0; i < edges.size(); ++i) {
    Bind(stubs[i]);
    AppendEdge(MovesOf(*edges[i]), *edges[i], false);
  }
}

absl::StatusOr<ElementType> ResolveType(const std::string& name,
                                        const TypeRegistry& types) {
  constexpr std::pair<const char*, ValueKind> kValueTypes[] = {
      {"i8", ValueKind::kI8},   {"i16", ValueKind::kI16},
      {"i32", ValueKind::kI32}, {"i64", ValueKind::kI64},
      {"f32", ValueKind::kF32}, {"f64", ValueKind::kF64}};
  for (const auto& [text, kind] : kValueTypes) {
    if (name == text) return ElementType{kind, nullptr};
  }
  if (name == "!vm.opaque") return ElementType{};
  if (absl::StartsWith(name, "!vm.list")) {
    return ElementType{ValueKind::kRef, &List::kType};
  }
  const ObjectType* type =
      absl::StartsWith(name, "!") ? types.Find(name.substr(1)) : nullptr;
  if (type == nullptr) {
    return absl::NotFoundError(absl::StrCat("no type is known as ", name));
  }
  return ElementType{ValueKind::kRef, type};
}

// Where the arguments of a function land: spec 6.2.
void PlaceArguments(const ArchiveFunction& source, Function& function) {
  uint32_t word = 0;
  uint32_t ref = 0;
  for (const CallingConvention::Argument& argument :
       source.convention.arguments) {
    const Letter letter = argument.letters[0];
    if (letter == Letter::kRef) {
      function.arguments.push_back(RefAddress(ref++));
      continue;
    }
    if (IsWide(letter)) word = (word + 1) / 2 * 2;
    function.arguments.push_back(static_cast<int16_t>(word));
    word += IsWide(letter) ? 2 : 1;
  }
  function.zero_begin = word * 4;
}

void NameFunctions(const BytecodeArchive& archive, Program& program) {
  for (const ArchiveExport& e : archive.exports) {
    std::string& name = program.functions[e.function].name;
    if (name.empty()) name = absl::StrCat(archive.name, ".", e.local_name);
  }
  for (Function& function : program.functions) {
    if (!function.name.empty()) continue;
    function.name = absl::StrCat(archive.name, ".#", function.ordinal);
  }
}

absl::Status TranslateFunction(const BytecodeArchive& archive, uint32_t ordinal,
                               Program& program) {
  Function& function = program.functions[ordinal];
  const ArchiveFunction& source = archive.functions[ordinal];
  if (source.value_register_count > kMaxValueRegisters ||
      source.ref_register_count > kMaxRefRegisters) {
    return absl::UnimplementedError(absl::StrCat(
        function.name, ": ", source.value_register_count, " value and ",
        source.ref_register_count, " ref registers; at most ",
        kMaxValueRegisters, " and ", kMaxRefRegisters, " are supported"));
  }
  function.ref_count = source.ref_register_count;
  function.ref_bytes =
      static_cast<uint32_t>(AlignUp(uint64_t{function.ref_count} * 8, 16));
  PlaceArguments(source, function);
  absl::StatusOr<BlockGraph> graph = BlockGraph::Build(archive, source);
  if (!graph.ok()) return graph.status();
  const size_t begin = program.code.size();
  for (const bool fuse : {true, false}) {
    FunctionTranslator translator(archive, program, ordinal, *graph, fuse);
    TAKT_RETURN_IF_ERROR(translator.Run());
    if (translator.fits()) break;
    program.code.resize(begin);
    function.pcs.clear();
  }
  return absl::OkStatus();
}

void WrapRodata(const BytecodeArchive& archive, const Ref<Object>& owner,
                Program& program) {
  for (absl::Span<const uint8_t> segment : archive.rodata) {
    // Read-only: nothing writes through the pointer.
    program.rodata.push_back(Buffer::Wrap(
        owner, const_cast<uint8_t*>(segment.data()), segment.size(), false));
  }
}

// The code has stopped growing: functions learn where theirs is, and calls how
// big their caller's frame is.
void FinishCode(const std::vector<size_t>& begins, Program& program) {
  for (size_t i = 0; i < begins.size(); ++i) {
    Function& function = program.functions[i];
    function.code = program.code.data() + begins[i];
    for (const auto& [unit, pc] : function.pcs) {
      Unit& first = program.code[begins[i] + unit];
      if (first.op != static_cast<uint16_t>(InnerOp::kCall)) continue;
      first.set_wide(static_cast<int32_t>(function.value_bytes));
    }
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Program>> Translate(
    const BytecodeArchive& archive, const TypeRegistry& types,
    const Ref<Object>& owner) {
  auto program = std::make_unique<Program>();
  program->name = archive.name;
  program->global_bytes = archive.global_bytes;
  program->global_ref_count = archive.global_ref_count;
  for (const std::string& name : archive.type_names) {
    TAKT_ASSIGN_OR_RETURN(ElementType type, ResolveType(name, types));
    program->types.push_back(type);
  }
  for (const ImportInfo& import : archive.imports) {
    program->import_results.push_back(import.convention.results);
    program->import_names.push_back(import.full_name);
  }
  WrapRodata(archive, owner, *program);
  program->functions.resize(archive.functions.size());
  for (uint32_t i = 0; i < program->functions.size(); ++i) {
    program->functions[i].program = program.get();
    program->functions[i].ordinal = i;
  }
  NameFunctions(archive, *program);
  std::vector<size_t> begins;
  for (uint32_t i = 0; i < program->functions.size(); ++i) {
    begins.push_back(program->code.size());
    TAKT_RETURN_IF_ERROR(TranslateFunction(archive, i, *program));
  }
  FinishCode(begins, *program);
  return program;
}

std::string DescribePlace(const Function& function, const Unit* pc) {
  const auto unit = static_cast<uint32_t>(pc - function.code);
  auto it = std::upper_bound(
      function.pcs.begin(), function.pcs.end(), unit,
      [](uint32_t u, const auto& entry) { return u < entry.first; });
  if (it == function.pcs.begin()) return function.name;
  return absl::StrCat(function.name, "+", std::prev(it)->second);
}

}  // namespace takt::vm
