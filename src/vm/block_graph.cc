#include "vm/block_graph.h"

#include <algorithm>

#include "base/check.h"
#include "base/narrow.h"
#include "base/status.h"

namespace takt::vm {
namespace {

// Liveness takes a few bits for each word of each block, and some passes over
// them. A function with more of them than its body justifies goes without it:
// then every word counts as live. Compiled functions have some 30 bits a byte.
uint64_t MaxBits(size_t body_bytes) {
  constexpr uint64_t kMaxBits = uint64_t{1} << 25;
  constexpr uint64_t kSmallFunctionBits = uint64_t{1} << 16;
  return std::min(kMaxBits, kSmallFunctionBits + 256 * uint64_t{body_bytes});
}

bool IsRef(WireRegister reg) { return (reg & kWireRefBit) != 0; }

bool Test(const std::vector<uint64_t>& bits, uint32_t index) {
  return (bits[index / 64] >> (index % 64) & 1) != 0;
}
void Set(std::vector<uint64_t>& bits, uint32_t index) {
  bits[index / 64] |= uint64_t{1} << (index % 64);
}
void Clear(std::vector<uint64_t>& bits, uint32_t index) {
  bits[index / 64] &= ~(uint64_t{1} << (index % 64));
}

uint32_t WordsOfArguments(const CallingConvention& convention) {
  uint32_t words = 0;
  for (const CallingConvention::Argument& argument : convention.arguments) {
    const Letter letter = argument.letters[0];
    if (letter == Letter::kRef) continue;
    words = IsWide(letter) ? (words + 1) / 2 * 2 + 2 : words + 1;
  }
  return words;
}

// Liveness of compiled functions settles within a few passes, about one for
// each level of nested loops. A function that needs more was made to be slow.
constexpr int kMaxPasses = 64;

const WireField* FindField(const WireInstruction& instruction,
                           WireFieldKind kind) {
  for (const WireField& field : instruction.fields) {
    if (field.kind == kind) return &field;
  }
  return nullptr;
}

}  // namespace

const CallingConvention& CalleeConvention(const BytecodeArchive& archive,
                                          uint32_t callee) {
  constexpr uint32_t kImport = 0x80000000u;
  return (callee & kImport) != 0 ? archive.imports[callee & ~kImport].convention
                                 : archive.functions[callee].convention;
}

CallShape ShapeOf(const BytecodeArchive& archive,
                  const ArchiveFunction& function,
                  const WireInstruction& instruction) {
  CallShape shape;
  if (instruction.info->op == Op::kReturn) {
    shape.operands = function.convention.results;
    return shape;
  }
  const WireField* callee = FindField(instruction, WireFieldKind::kFunction);
  if (callee == nullptr) return shape;
  const WireField* segments = FindField(instruction, WireFieldKind::kSegments);
  const CallingConvention& convention =
      CalleeConvention(archive, Narrow<uint32_t>(callee->value));
  for (size_t i = 0; i < convention.arguments.size(); ++i) {
    const CallingConvention::Argument& argument = convention.arguments[i];
    const size_t times =
        argument.is_span && segments != nullptr ? segments->list[i] : 1;
    for (size_t n = 0; n < times; ++n) {
      shape.operands.insert(shape.operands.end(), argument.letters.begin(),
                            argument.letters.end());
    }
  }
  shape.results = convention.results;
  return shape;
}

absl::StatusOr<BlockGraph> BlockGraph::Build(const BytecodeArchive& archive,
                                             const ArchiveFunction& function) {
  BlockGraph graph;
  graph.word_count_ = function.value_register_count;
  graph.argument_words_ = WordsOfArguments(function.convention);
  graph.named_.assign(graph.word_count_ + 1, false);
  std::fill_n(graph.named_.begin(), graph.argument_words_, true);
  graph.max_bits_ = MaxBits(function.body.size());
  graph.solved_ =
      uint64_t{function.block_count} * graph.word_count_ <= graph.max_bits_;
  WireInstruction instruction;
  for (uint32_t pc = 0; pc < function.body.size(); pc = instruction.next_pc) {
    TAKT_RETURN_IF_ERROR(DecodeInstruction(*archive.bytecode_version,
                                           function.body, pc, &instruction));
    graph.Visit(instruction, ShapeOf(archive, function, instruction));
  }
  if (graph.solved_) graph.SolveLiveness();
  return graph;
}

void BlockGraph::Visit(const WireInstruction& instruction,
                       const CallShape& shape) {
  if (instruction.info->op == Op::kBlock) {
    Block block;
    block.pc = instruction.pc;
    if (solved_) {
      const size_t length = word_count_ / 64 + 1;
      block.reads.resize(length);
      block.writes.resize(length);
      block.live_in.resize(length);
      block.live_out.resize(length);
    }
    blocks_.push_back(std::move(block));
    return;
  }
  for (const WireField& field : instruction.fields) {
    if (!field.is_result) VisitField(field, shape);
  }
  for (const WireField& field : instruction.fields) {
    if (field.is_result) VisitField(field, shape);
  }
}

void BlockGraph::VisitField(const WireField& field, const CallShape& shape) {
  // Meant where the field is a register; other fields may have larger numbers.
  const auto reg = Truncate<WireRegister>(field.value);
  switch (field.kind) {
    case WireFieldKind::kI32:
    case WireFieldKind::kF32:
      return VisitRegister(reg, field.is_result, false);
    case WireFieldKind::kI64:
    case WireFieldKind::kF64:
      return VisitRegister(reg, field.is_result, true);
    case WireFieldKind::kI32List:
    case WireFieldKind::kF32List:
      for (WireRegister entry : field.list) VisitRegister(entry, false, false);
      return;
    case WireFieldKind::kI64List:
    case WireFieldKind::kF64List:
      for (WireRegister entry : field.list) VisitRegister(entry, false, true);
      return;
    case WireFieldKind::kAnyList: {
      // Trace and print have no shape: the interpreter ignores their operands.
      const auto& letters = field.is_result ? shape.results : shape.operands;
      for (size_t i = 0; i < field.list.size() && i < letters.size(); ++i) {
        VisitRegister(field.list[i], field.is_result, IsWide(letters[i]));
      }
      return;
    }
    case WireFieldKind::kTarget: {
      WireBranch branch;
      branch.target_pc = Narrow<uint32_t>(field.value);
      blocks_.back().branches.push_back(std::move(branch));
      return;
    }
    case WireFieldKind::kBranch:
    case WireFieldKind::kBranchTable:
      for (const WireBranch& branch : field.branches) {
        blocks_.back().branches.push_back(branch);
      }
      return;
    default:
      return;
  }
}

void BlockGraph::VisitRegister(WireRegister reg, bool is_write, bool is_wide) {
  if (IsRef(reg)) return;
  VisitWord(reg, is_write);
  if (is_wide) VisitWord(reg + 1u, is_write);
}

void BlockGraph::VisitWord(uint32_t word, bool is_write) {
  named_[word] = true;
  if (!solved_) return;
  Block& block = blocks_.back();
  if (is_write) {
    Set(block.writes, word);
  } else if (!Test(block.writes, word)) {
    Set(block.reads, word);
  }
}

uint32_t BlockGraph::BlockAt(uint32_t pc) const {
  const auto it =
      std::lower_bound(blocks_.begin(), blocks_.end(), pc,
                       [](const Block& b, uint32_t p) { return b.pc < p; });
  TAKT_DCHECK(it != blocks_.end() && it->pc == pc);
  return Narrow<uint32_t>(it - blocks_.begin());
}

bool BlockGraph::IsLiveAtEnd(uint32_t block, uint32_t word) const {
  return !solved_ || Test(blocks_[block].live_out, word);
}

bool BlockGraph::IsLiveAtStart(uint32_t pc, uint32_t word) const {
  return !solved_ || Test(blocks_[BlockAt(pc)].live_in, word);
}

void BlockGraph::SolveLiveness() {
  uint64_t branch_count = 0;
  for (const Block& block : blocks_) branch_count += block.branches.size();
  bool changed = branch_count * word_count_ <= max_bits_;
  solved_ = changed;
  for (int pass = 0; changed; ++pass) {
    changed = false;
    if (pass == kMaxPasses) {
      solved_ = false;
      return;
    }
    for (size_t i = blocks_.size(); i-- > 0;) {
      changed |= UpdateLiveness(blocks_[i]);
    }
  }
  if (!solved_) return;
  reads_unwritten_words_ = false;
  for (uint32_t word = argument_words_; word < word_count_; ++word) {
    reads_unwritten_words_ |= Test(blocks_[0].live_in, word);
  }
}

bool BlockGraph::UpdateLiveness(Block& block) {
  bool changed = false;
  for (const WireBranch& branch : block.branches) {
    Bits live = blocks_[BlockAt(branch.target_pc)].live_in;
    for (size_t i = branch.remap.size(); i-- > 0;) {
      const auto& [source, target] = branch.remap[i];
      if (IsRef(source)) continue;
      if (!Test(live, target)) continue;
      Clear(live, target);
      Set(live, source);
    }
    // All sources but scratch may be read before the list's first move.
    for (const auto& [source, target] : branch.remap) {
      if (!IsRef(source) && !IsScratch(source)) Set(live, source);
    }
    for (size_t i = 0; i < live.size(); ++i) block.live_out[i] |= live[i];
  }
  for (size_t i = 0; i < block.live_in.size(); ++i) {
    const uint64_t live_in =
        block.reads[i] | (block.live_out[i] & ~block.writes[i]);
    changed |= live_in != block.live_in[i];
    block.live_in[i] = live_in;
  }
  return changed;
}

}  // namespace takt::vm
