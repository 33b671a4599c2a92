// Translates one function's bytecode into the interpreter's own form: one pass
// over its instructions, which folds some of them into one on the way.
#ifndef TAKT_VM_FUNCTION_TRANSLATOR_H_
#define TAKT_VM_FUNCTION_TRANSLATOR_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "base/narrow.h"
#include "vm/block_graph.h"
#include "vm/bytecode_archive.h"
#include "vm/inner_op_tables.h"
#include "vm/program.h"
#include "vm/wire_decoder.h"

namespace takt::vm {

inline bool IsRef(WireRegister reg) { return (reg & kWireRefBit) != 0; }

// The address of a register. Odd for a ref that is moved from.
inline int16_t AddressOf(WireRegister reg) {
  if (!IsRef(reg)) return Narrow<int16_t>(reg);
  const int16_t address = RefAddress(reg & kWireRefMask);
  return (reg & kWireMoveBit) != 0 ? Narrow<int16_t>(address + 1) : address;
}

// What the translation of one function leaves for the next, so that not each of
// them clears memory for the registers that it declares. Instructions have
// numbers that grow through all functions, so an old entry looks like one of a
// block that has ended.
struct TranslatorScratch {
  // The instruction that last wrote a value word, if its result can be
  // redirected.
  struct Definition {
    uint32_t number = 0;
    size_t unit = 0;  // Its `a` names the word.
    bool is_wide = false;
  };
  std::vector<uint32_t> named;  // By word: the last instruction that names it.
  std::vector<Definition> definitions;  // By word.
  uint32_t number = 0;                  // Of the current instruction.
  // By word: the last remap list that wrote it. Lists are numbered likewise.
  std::vector<uint32_t> written;
  uint32_t list_number = 0;
};

// Emits one function.
class FunctionTranslator {
 public:
  FunctionTranslator(const BytecodeArchive& archive, Program& program,
                     uint32_t ordinal, const BlockGraph& graph, bool fuse,
                     TranslatorScratch& scratch)
      : archive_(archive),
        source_(archive.functions[ordinal]),
        graph_(graph),
        program_(program),
        function_(program.functions[ordinal]),
        code_(program.code),
        fuse_(fuse),
        begin_(program.code.size()),
        named_(scratch.named),
        definitions_(scratch.definitions),
        number_(scratch.number),
        written_(scratch.written),
        list_number_(scratch.list_number),
        value_count_(source_.value_register_count) {}

  absl::Status Run();
  // False if the distance of a folded branch did not fit its 16 bits. Then the
  // function has to be translated again, without folding.
  bool fits() const { return fits_; }
  size_t begin() const { return begin_; }

 private:
  using Label = uint32_t;  // Blocks first, in order.
  // Where a branch has its distance: `wide`, `c`, or `a` of the unit after it.
  enum class Distance { kWide, kInC, kInNextA };
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
    code_.push_back(Unit{Narrow<uint16_t>(op), a, b, c});
    return code_.back();
  }
  void AppendWide(InnerOp op, int16_t a, uint32_t wide) {
    Append(op, a).set_wide(Truncate<int32_t>(wide));
  }
  template <typename T>
  void AppendPayload(T value) {
    code_.push_back(Unit::FromPayload(value));
  }
  void AppendList(const std::vector<int16_t>& list);
  std::vector<int16_t> AddressesOf(const std::vector<uint16_t>& registers);
  void AppendAddresses(const std::vector<uint16_t>& registers);

  // Labels.
  Label NewLabel() {
    positions_.push_back(0);
    return static_cast<Label>(positions_.size() - 1);
  }
  // The next unit is the label's. The unit before it must not become part of
  // what follows: a branch to the label passes it by.
  void Bind(Label label) {
    positions_[label] = code_.size();
    last_move_ = kNone;
    addition_ = kNone;
  }
  void ResolveFixups();

  // Instructions.
  absl::Status Decode(uint32_t pc, WireInstruction* out) const {
    return DecodeInstruction(*archive_.bytecode_version, source_.body, pc, out);
  }
  void Translate(const WireInstruction& instruction);
  void TranslatePlain(InnerOp op, const WireInstruction& instruction);
  void TranslateOther(const WireInstruction& instruction);
  // Branches, calls and ends.
  void TranslateControl(const WireInstruction& instruction);
  bool FoldConstant(InnerOp op, const std::vector<int16_t>& registers);
  bool FoldPair(InnerOp op, const std::vector<int16_t>& registers);
  InnerOp Chain(InnerOp op, const WireInstruction& instruction) const;
  void AppendConstant32(const WireField& target, uint64_t bits);
  void AppendConstant64(const WireField& target, uint64_t bits);
  void AppendSwitch(InnerOp op, const WireInstruction& instruction);
  void AppendGlobal(InnerOp op, const WireField& reg, const WireField& offset);
  void AppendGlobalRef(InnerOp op, const WireInstruction& instruction);
  void AppendType(const WireField& field);
  void AppendCall(const WireInstruction& instruction);
  void AppendArguments(const std::vector<int16_t>& arguments, uint32_t callee);
  void AppendReturn(const WireInstruction& instruction);
  void AppendFail(const WireInstruction& instruction);
  void AppendRodata(const WireField& target, const WireField& rodata);
  void AppendDiscards(const std::vector<uint16_t>& refs);

  // Control flow.
  std::vector<Move> MovesOf(const WireBranch& branch);
  std::vector<Move> CollectMoves(const WireBranch& branch);
  bool IsBackward(const WireBranch& branch) const {
    return graph_.BlockAt(branch.target_pc) <= block_;
  }
  void AppendJump(uint32_t target_pc, bool may_fall_through);
  bool FoldHeader(uint32_t target_pc, bool may_fall_through);
  bool FoldMove(uint32_t target);
  void AppendEdge(const std::vector<Move>& moves, const WireBranch& branch,
                  bool may_fall_through);
  void AppendConditional(WireRegister condition, const WireBranch& if_true,
                         const WireBranch& if_false, bool may_fall_through);
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
  const bool fuse_;  // Whether several instructions may become one.
  const size_t begin_;
  using Definition = TranslatorScratch::Definition;
  std::vector<uint32_t>& named_;
  std::vector<Definition>& definitions_;
  uint32_t& number_;
  std::vector<uint32_t>& written_;
  uint32_t& list_number_;

  uint32_t value_count_;  // Words: the registers, and what branches save.
  uint32_t block_ = 0;    // The one being translated.
  std::vector<size_t> positions_;  // Of labels.
  std::vector<Fixup> fixups_;
  std::vector<size_t> calls_;  // The units of kCall.
  bool fits_ = true;

  void NoteNames(const WireInstruction& instruction);
  void NoteDefinition(int16_t address, bool is_wide, size_t unit);
  bool IsNamedSince(int16_t word, bool is_wide, uint32_t number) const;
  void Retarget(const WireBranch& branch, std::vector<Move>* moves,
                const WireBranch* other, std::vector<Move>* other_moves);
  bool CanRetarget(const Move& move, const WireBranch& branch,
                   const std::vector<Move>& moves, const WireBranch* other,
                   const std::vector<Move>* other_moves) const;
  uint32_t block_number_ = 0;  // Of the block's first one.
  uint32_t flag_named_ = 0;    // What named_ held before the last comparison.

  // The last instruction, if it may be folded into the next one.
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();
  size_t last_ = kNone;
  size_t before_last_ = kNone;  // The instruction before it, likewise.
  size_t latest_ = kNone;       // Becomes last_ after this instruction.
  // The register that the last instruction wrote, if it left the value as the
  // last result.
  static constexpr int16_t kNoResult = -1;
  struct Result {
    int16_t address = kNoResult;
    bool is_wide = false;
  };
  Result result_;
  Result latest_result_;      // Becomes result_ after this instruction.
  size_t last_move_ = kNone;  // The last move of an edge.
  bool in_header_ = false;    // Inside FoldHeader().
  // The comparison that the branch at the end of the block will contain, and
  // the instruction before it.
  const FusedBranch* fused_ = nullptr;
  Unit compare_{};
  size_t addition_ = kNone;
};

}  // namespace takt::vm

#endif  // TAKT_VM_FUNCTION_TRANSLATOR_H_
