// The translation of branches: their moves, which of them can be avoided, and
// which instructions become part of the branch itself.
#include <algorithm>
#include <array>

#include "base/narrow.h"
#include "vm/function_translator.h"

namespace takt::vm {

// The moves of a remap list, in order. A value word that an earlier pair
// overwrites is saved before the first move, unless it is scratch. The compiler
// orders pairs so that no pair reads what an earlier one wrote, but it does not
// see that a 64-bit register overlaps two 32-bit ones.
std::vector<FunctionTranslator::Move> FunctionTranslator::CollectMoves(
    const WireBranch& branch) {
  std::vector<Move> saves;
  std::vector<Move> moves;
  ++list_number_;
  for (const auto& [source, target] : branch.remap) {
    if (IsRef(source)) {
      // Copied even where it is marked as moved: compilers mark the last use of
      // a ref in the list, and may leave it in its register as another
      // parameter of the block. The copy goes when the register is written.
      const auto kept = Narrow<WireRegister>(source & ~kWireMoveBit);
      moves.push_back({AddressOf(target), AddressOf(kept), true, true});
      continue;
    }
    auto from = Narrow<int16_t>(source);
    if (!graph_.IsScratch(source) && written_[source] == list_number_) {
      const auto word =
          Narrow<uint32_t>(source_.value_register_count + saves.size());
      if (word >= kMaxValueRegisters) {  // No move can name it: Run() fails.
        value_count_ = kMaxValueRegisters + 1;
        return {};
      }
      from = Narrow<int16_t>(word);
      saves.push_back({from, Narrow<int16_t>(source), false, false});
    }
    moves.push_back({Narrow<int16_t>(target), from, false, false});
    written_[target] = list_number_;
  }
  value_count_ =
      std::max(value_count_,
               Narrow<uint32_t>(source_.value_register_count + saves.size()));
  saves.insert(saves.end(), moves.begin(), moves.end());
  return saves;
}

// The same, with the two halves of a 64-bit value as one move.
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
      named_[reg + 1u] = number_;  // Lists have no widths: assume 64 bits.
    };
    if (field.kind <= WireFieldKind::kF64) {
      const auto word = Narrow<WireRegister>(field.value);
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
                                        size_t unit) {
  definitions_[Narrow<size_t>(address)] = {number_, unit, is_wide};
}

bool FunctionTranslator::IsNamedSince(int16_t word, bool is_wide,
                                      uint32_t number) const {
  const auto index = Narrow<size_t>(word);
  return named_[index] > number || (is_wide && named_[index + 1] > number);
}

// True if the instruction that computes the source of `move` can write to the
// target of `move` instead.
bool FunctionTranslator::CanRetarget(
    const Move& move, const WireBranch& branch, const std::vector<Move>& moves,
    const WireBranch* other, const std::vector<Move>* other_moves) const {
  const auto count = Narrow<int16_t>(source_.value_register_count);
  if (move.is_ref || move.source >= count || move.target >= count) return false;
  const Definition& definition = definitions_[Narrow<size_t>(move.source)];
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
    const auto w = Narrow<uint32_t>(word);
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

// Lets instructions write a loop's values where the next round reads them, in
// place of a move. The moves would double the latency of a loop whose rounds
// depend on each other. `other` is the branch that leaves the loop, if any.
void FunctionTranslator::Retarget(const WireBranch& branch,
                                  std::vector<Move>* moves,
                                  const WireBranch* other,
                                  std::vector<Move>* other_moves) {
  // The tests compare every move with every other one. No loop of compiled
  // code has that many values.
  constexpr size_t kMaxMoves = 256;
  if (!fuse_ || !IsBackward(branch) || moves->size() > kMaxMoves ||
      (other_moves != nullptr && other_moves->size() > kMaxMoves)) {
    return;
  }
  for (size_t i = moves->size(); i-- > 0;) {
    const Move move = (*moves)[i];
    if (!CanRetarget((*moves)[i], branch, *moves, other, other_moves)) continue;
    const Definition definition = definitions_[Narrow<size_t>(move.source)];
    code_[definition.unit].a = move.target;
    moves->erase(moves->begin() + Narrow<ptrdiff_t>(i));
    // The other branch's target may read the value in its old register.
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
      (FoldHeader(target_pc, may_fall_through) || FoldMove(target))) {
    return;
  }
  fixups_.push_back({code_.size(), target, Distance::kWide});
  Append(target <= block_ ? InnerOp::kJumpBack : InnerOp::kJump);
}

// If the first block of a loop only compares and branches, the jump back to it
// becomes a copy of that comparison and branch.
bool FunctionTranslator::FoldHeader(uint32_t target_pc, bool may_fall_through) {
  if (in_header_) return false;
  WireInstruction compare;
  WireInstruction branch;
  uint32_t pc = target_pc;
  // Verified: a block is its marker and at least one instruction.
  if (!Decode(pc, &compare).ok() || !Decode(compare.next_pc, &compare).ok() ||
      compare.info->is_terminator || !Decode(compare.next_pc, &branch).ok() ||
      branch.info->op != Op::kCondBr ||
      FusedOf(PlainOpOf(compare.info->op)) == nullptr) {
    return false;
  }
  const auto condition = Narrow<WireRegister>(branch.fields[0].value);
  if (compare.fields.back().value != condition ||
      graph_.IsLiveAtEnd(graph_.BlockAt(target_pc), condition)) {
    return false;
  }
  in_header_ = true;
  before_last_ = last_;
  last_ = kNone;  // The comparison starts a new sequence.
  result_ = {};
  TranslatePlain(PlainOpOf(compare.info->op), compare);
  last_ = latest_;
  AppendConditional(condition, branch.fields[1].branches[0],
                    branch.fields[2].branches[0], may_fall_through);
  in_header_ = false;
  return true;
}

// Makes the last move before a jump back part of the jump.
bool FunctionTranslator::FoldMove(uint32_t target) {
  if (last_move_ == kNone || last_move_ + 1 != code_.size()) return false;
  Unit& move = code_.back();
  const bool is_32 = move.op == Narrow<uint16_t>(InnerOp::kMove32);
  if (!is_32 && move.op != Narrow<uint16_t>(InnerOp::kMove64)) {
    return false;
  }
  move.op = Narrow<uint16_t>(is_32 ? InnerOp::kMove32JumpBack
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
    Append(backward ? BackwardOf(op) : op, Narrow<int16_t>(condition));
    return;
  }
  InnerOp op = value ? fused_->if_true : fused_->if_false;
  if (backward) op = BackwardOf(op);
  if (AppendAddBranch(op, target)) return;
  fixups_.push_back({code_.size(), target,
                     IsWideBranch(op) ? Distance::kWide : Distance::kInC});
  Append(op, compare_.b, compare_.c);
}

// Makes the addition just before part of the branch that compares its result.
bool FunctionTranslator::AppendAddBranch(InnerOp branch, Label target) {
  if (addition_ == kNone || addition_ + 1 != code_.size() ||
      IsWideBranch(branch)) {
    return false;
  }
  const Unit add = code_[addition_];
  const InnerOp wanted = Is64(branch) ? InnerOp::kAddI64 : InnerOp::kAddI32;
  if (UnchainedOf(static_cast<InnerOp>(add.op)) != wanted ||
      add.a != compare_.b) {
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
                                           const WireBranch& if_false,
                                           bool may_fall_through) {
  // The comparison just before becomes part of the branch, if only the branch
  // reads its result.
  fused_ = nullptr;
  if (fuse_ && last_ != kNone &&
      (in_header_ || !graph_.IsLiveAtEnd(block_, condition))) {
    const Unit& last = code_[last_];
    if (last.a == Narrow<int16_t>(condition)) {
      fused_ = FusedOf(UnchainedOf(static_cast<InnerOp>(last.op)));
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
    return AppendEdge(true_moves, if_true, may_fall_through);
  }
  if (true_moves.empty()) {
    AppendBranchOn(condition, true, true_block, IsBackward(if_true));
    return AppendEdge(false_moves, if_false, may_fall_through);
  }
  const Label stub = NewLabel();
  AppendBranchOn(condition, true, stub, false);
  AppendEdge(false_moves, if_false, false);
  Bind(stub);
  AppendEdge(true_moves, if_true, may_fall_through);
}

void FunctionTranslator::AppendTable(const WireInstruction& instruction) {
  const auto& fields = instruction.fields;
  std::vector<const WireBranch*> edges;
  for (const WireBranch& branch : fields[2].branches) edges.push_back(&branch);
  edges.push_back(&fields[1].branches[0]);  // The default comes last.
  AppendWide(InnerOp::kJumpTable, Narrow<int16_t>(fields[0].value),
             Narrow<uint32_t>(edges.size() - 1));
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

}  // namespace takt::vm
