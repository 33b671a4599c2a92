// A BlockGraph holds what the translator must know about a whole function
// before it emits the first instruction: where blocks start, which words are
// scratch, and which values are live at the start and end of a block.
#ifndef TAKT_VM_BLOCK_GRAPH_H_
#define TAKT_VM_BLOCK_GRAPH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "vm/bytecode_archive.h"
#include "vm/wire_decoder.h"

namespace takt::vm {

// The letters of the registers in the lists of a call or return.
struct CallShape {
  std::vector<Letter> operands;  // Spans repeated as the instruction says.
  std::vector<Letter> results;
};
CallShape ShapeOf(const BytecodeArchive& archive,
                  const ArchiveFunction& function,
                  const WireInstruction& instruction);
// The convention of the function or import that the operand `fn` of a call
// names.
const CallingConvention& CalleeConvention(const BytecodeArchive& archive,
                                          uint32_t callee);
constexpr bool IsWide(Letter letter) {
  return letter == Letter::kI64 || letter == Letter::kF64;
}

class BlockGraph {
 public:
  // `archive` has passed VerifyArchive().
  static absl::StatusOr<BlockGraph> Build(const BytecodeArchive& archive,
                                          const ArchiveFunction& function);

  size_t block_count() const { return blocks_.size(); }
  // The index of the block that starts at `pc`.
  uint32_t BlockAt(uint32_t pc) const;
  // True for a word that is no argument and that only remap lists name: the
  // compiler's own temporary for breaking cycles.
  bool IsScratch(WireRegister word) const { return !named_[word]; }
  // False only if no instruction reads `word` between the end of `block` and
  // the next write of it.
  bool IsLiveAtEnd(uint32_t block, uint32_t word) const;
  // False only if no instruction reads `word` between the start of the block at
  // `pc` and the next write of it.
  bool IsLiveAtStart(uint32_t pc, uint32_t word) const;
  // True if some word other than an argument may be read before it is written.
  bool ReadsUnwrittenWords() const { return reads_unwritten_words_; }

 private:
  using Bits = std::vector<uint64_t>;
  struct Block {
    uint32_t pc = 0;
    Bits reads;   // Before any write in the block.
    Bits writes;  // All of them.
    Bits live_in;
    Bits live_out;
    std::vector<WireBranch> branches;
  };

  void Visit(const WireInstruction& instruction, const CallShape& shape);
  void VisitField(const WireField& field, const CallShape& shape);
  void VisitRegister(WireRegister reg, bool is_write, bool is_wide);
  void VisitWord(uint32_t word, bool is_write);
  void SolveLiveness();
  bool UpdateLiveness(Block& block);  // True if something changed.

  uint32_t word_count_ = 0;
  uint64_t max_bits_ = 0;  // Of blocks or branches times words.
  uint32_t argument_words_ = 0;
  std::vector<bool> named_;
  std::vector<Block> blocks_;
  bool solved_ = false;
  bool reads_unwritten_words_ = true;
};

}  // namespace takt::vm

#endif  // TAKT_VM_BLOCK_GRAPH_H_
