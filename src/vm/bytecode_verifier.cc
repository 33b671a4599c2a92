#include "vm/bytecode_verifier.h"

#include <algorithm>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/narrow.h"
#include "base/status.h"
#include "vm/wire_decoder.h"

namespace takt::vm {
namespace {

// Checks one body from front to back. The block markers are known only at the
// end, so branch targets are collected on the way.
class FunctionVerifier {
 public:
  FunctionVerifier(const BytecodeArchive& archive,
                   const ArchiveFunction& function)
      : archive_(archive), function_(function) {}

  absl::Status Verify() {
    uint32_t pc = 0;
    while (pc < function_.body.size()) {
      TAKT_RETURN_IF_ERROR(DecodeInstruction(
          *archive_.bytecode_version, function_.body, pc, &instruction_));
      TAKT_RETURN_IF_ERROR(CheckFlow());
      TAKT_RETURN_IF_ERROR(CheckFeature());
      for (const WireField& field : instruction_.fields) {
        TAKT_RETURN_IF_ERROR(CheckField(field));
      }
      TAKT_RETURN_IF_ERROR(CheckSignature());
      pc = instruction_.next_pc;
    }
    if (in_block_) return Fault("the body ends, a terminator expected");
    if (markers_.size() != function_.block_count) {
      return absl::InvalidArgumentError(
          absl::StrCat(markers_.size(), " blocks, but the descriptor says ",
                       function_.block_count));
    }
    return CheckTargets();
  }

 private:
  struct Target {
    uint32_t pc;
    uint32_t from;
    const OpInfo* info;
  };

  template <typename... Args>
  absl::Status Fault(const Args&... args) const {
    return absl::InvalidArgumentError(absl::StrCat("pc ", instruction_.pc, ": ",
                                                   instruction_.info->mnemonic,
                                                   ": ", args...));
  }
  template <typename... Args>
  absl::Status OperandFault(const WireField& field, const Args&... args) const {
    return Fault("operand ", &field - instruction_.fields.data(), " at ",
                 field.offset, ": ", args...);
  }

  // Rules 12 and 13: blocks open with the marker and close with a terminator.
  absl::Status CheckFlow() {
    if (instruction_.info->op == Op::kBlock) {
      if (in_block_) return Fault("a block begins before the last one ended");
      markers_.push_back(instruction_.pc);
      in_block_ = true;
      return absl::OkStatus();
    }
    if (!in_block_) return Fault("instruction outside a block");
    in_block_ = !instruction_.info->is_terminator;
    return absl::OkStatus();
  }

  // Rule 11.
  absl::Status CheckFeature() const {
    const OpSet set = instruction_.info->set;
    const uint32_t needed = set == OpSet::kF32   ? kFeatureF32
                            : set == OpSet::kF64 ? kFeatureF64
                                                 : 0;
    if ((function_.requirements & needed) == needed) return absl::OkStatus();
    return Fault("the function does not declare the feature ",
                 set == OpSet::kF32 ? "EXT_F32" : "EXT_F64");
  }

  // Rules 15 to 19, one operand.
  absl::Status CheckField(const WireField& field) {
    switch (field.kind) {
      case WireFieldKind::kI32:
      case WireFieldKind::kF32:
        return CheckWord(field, field.value);
      case WireFieldKind::kI64:
      case WireFieldKind::kF64:
        return CheckPair(field, field.value);
      case WireFieldKind::kRef:
        return CheckRef(field, field.value, /*may_move=*/false);
      case WireFieldKind::kRefMove:
        return CheckRef(field, field.value, !field.is_result);
      case WireFieldKind::kI32List:
      case WireFieldKind::kF32List:
        for (uint16_t entry : field.list) {
          TAKT_RETURN_IF_ERROR(CheckWord(field, entry));
        }
        return absl::OkStatus();
      case WireFieldKind::kI64List:
      case WireFieldKind::kF64List:
        for (uint16_t entry : field.list) {
          TAKT_RETURN_IF_ERROR(CheckPair(field, entry));
        }
        return absl::OkStatus();
      case WireFieldKind::kRefMoveList:
        for (uint16_t entry : field.list) {
          TAKT_RETURN_IF_ERROR(CheckRef(field, entry, /*may_move=*/true));
        }
        return absl::OkStatus();
      case WireFieldKind::kAnyList:
        return CheckAnyList(field);
      case WireFieldKind::kSegments:
        return absl::OkStatus();  // CheckSignature().
      case WireFieldKind::kGlobal4:
        return CheckGlobal(field, 4);
      case WireFieldKind::kGlobal8:
        return CheckGlobal(field, 8);
      case WireFieldKind::kGlobalRef:
        return CheckOrdinal(field, "ref global", archive_.global_ref_count);
      case WireFieldKind::kType:
        return CheckType(field);
      case WireFieldKind::kRodata:
        return CheckOrdinal(field, "rodata", archive_.rodata.size());
      case WireFieldKind::kConstI32:
      case WireFieldKind::kConstI64:
      case WireFieldKind::kConstF32:
      case WireFieldKind::kConstF64:
      case WireFieldKind::kString:
        return absl::OkStatus();
      case WireFieldKind::kFunction:
        return CheckFunction(field);
      case WireFieldKind::kImport:
        if ((field.value & kWireImportBit) == 0) {
          return OperandFault(field, "an import expected, found function ",
                              field.value);
        }
        return CheckFunction(field);
      case WireFieldKind::kBranch:
      case WireFieldKind::kBranchTable:
        for (const WireBranch& branch : field.branches) {
          TAKT_RETURN_IF_ERROR(CheckBranch(field, branch));
        }
        return absl::OkStatus();
      case WireFieldKind::kTarget:
        AddTarget(field.value);
        return absl::OkStatus();
    }
    return absl::InternalError("field of an unknown kind");
  }

  absl::Status CheckWord(const WireField& field, uint64_t encoded) const {
    if ((encoded & kWireRefBit) != 0) {
      return OperandFault(field, "a value register expected, found ref ",
                          encoded & kWireRefMask);
    }
    if (encoded < function_.value_register_count) return absl::OkStatus();
    return OperandFault(field, "value register ", encoded, " of ",
                        function_.value_register_count);
  }

  absl::Status CheckPair(const WireField& field, uint64_t encoded) const {
    TAKT_RETURN_IF_ERROR(CheckWord(field, encoded));
    if (encoded % 2 != 0) {
      return OperandFault(field, "64-bit value register ", encoded,
                          " is not even");
    }
    if (encoded + 1 < function_.value_register_count) return absl::OkStatus();
    return OperandFault(field, "64-bit value register ", encoded, " of ",
                        function_.value_register_count);
  }

  absl::Status CheckRef(const WireField& field, uint64_t encoded,
                        bool may_move) const {
    if ((encoded & kWireRefBit) == 0) {
      return OperandFault(field, "a ref register expected, found value ",
                          encoded);
    }
    const uint64_t ordinal = encoded & kWireRefMask;
    if (ordinal >= function_.ref_register_count) {
      return OperandFault(field, "ref register ", ordinal, " of ",
                          function_.ref_register_count);
    }
    if (may_move || (encoded & kWireMoveBit) == 0) return absl::OkStatus();
    return OperandFault(field, "ref register ", ordinal,
                        " is marked moved where it cannot be");
  }

  // Banks and ordinals; CheckSignature() knows the widths.
  absl::Status CheckAnyList(const WireField& field) const {
    for (uint16_t entry : field.list) {
      TAKT_RETURN_IF_ERROR((entry & kWireRefBit) != 0
                               ? CheckRef(field, entry, !field.is_result)
                               : CheckWord(field, entry));
    }
    return absl::OkStatus();
  }

  absl::Status CheckGlobal(const WireField& field, uint64_t bytes) const {
    if (field.value + bytes <= archive_.global_bytes) return absl::OkStatus();
    return OperandFault(field, bytes, " bytes at ", field.value, " of ",
                        archive_.global_bytes, " bytes of globals");
  }

  absl::Status CheckOrdinal(const WireField& field, absl::string_view what,
                            uint64_t count) const {
    if (field.value < count) return absl::OkStatus();
    return OperandFault(field, what, " ", field.value, " of ", count);
  }

  // The type of a list's elements can be any type. In every other instruction
  // the type is that of a ref.
  absl::Status CheckType(const WireField& field) const {
    TAKT_RETURN_IF_ERROR(
        CheckOrdinal(field, "type", archive_.type_names.size()));
    const std::string& name = archive_.type_names[field.value];
    if (instruction_.info->op == Op::kListAlloc ||
        absl::StartsWith(name, "!")) {
      return absl::OkStatus();
    }
    return OperandFault(field, "a ref type expected, found type ", field.value,
                        " (", absl::CHexEscape(name), ")");
  }

  absl::Status CheckFunction(const WireField& field) const {
    const uint64_t ordinal = field.value & ~uint64_t{kWireImportBit};
    const bool is_import = (field.value & kWireImportBit) != 0;
    const uint64_t count =
        is_import ? archive_.imports.size() : archive_.functions.size();
    if (ordinal < count) return absl::OkStatus();
    return OperandFault(field, is_import ? "import " : "function ", ordinal,
                        " of ", count);
  }

  // Rule 17. A 64-bit value is two pairs of words here, so neither end need
  // be even.
  absl::Status CheckBranch(const WireField& field, const WireBranch& branch) {
    for (const auto& [source, target] : branch.remap) {
      if ((source & kWireRefBit) != (target & kWireRefBit)) {
        return OperandFault(field, "remap of ", source, " to ", target,
                            ": one is a ref register, one is not");
      }
      if ((source & kWireRefBit) != 0) {
        TAKT_RETURN_IF_ERROR(CheckRef(field, source, /*may_move=*/true));
        TAKT_RETURN_IF_ERROR(CheckRef(field, target, /*may_move=*/false));
      } else {
        TAKT_RETURN_IF_ERROR(CheckWord(field, source));
        TAKT_RETURN_IF_ERROR(CheckWord(field, target));
      }
    }
    AddTarget(branch.target_pc);
    return absl::OkStatus();
  }

  void AddTarget(uint64_t pc) {
    targets_.push_back(
        {Narrow<uint32_t>(pc), instruction_.pc, instruction_.info});
  }

  // Rule 20: operands and results against the calling convention.
  absl::Status CheckSignature() const {
    const auto& fields = instruction_.fields;
    switch (instruction_.info->op) {
      case Op::kReturn:
        return CheckLetters(fields[0], function_.convention.results);
      case Op::kCall:
        return CheckCall(fields[0], nullptr, fields[1], fields[2]);
      case Op::kCallYieldable:
        return CheckCall(fields[0], nullptr, fields[1], fields[3]);
      case Op::kCallVariadic:
        return CheckCall(fields[0], &fields[1], fields[2], fields[3]);
      case Op::kCallVariadicYieldable:
        return CheckCall(fields[0], &fields[1], fields[2], fields[4]);
      default:
        return absl::OkStatus();
    }
  }

  absl::Status CheckCall(const WireField& callee, const WireField* segments,
                         const WireField& operands,
                         const WireField& results) const {
    const bool is_import = (callee.value & kWireImportBit) != 0;
    if (segments != nullptr && !is_import) {
      return OperandFault(callee, "only imports take segments, found function ",
                          callee.value);
    }
    const CallingConvention& convention =
        is_import ? archive_.imports[callee.value & ~kWireImportBit].convention
                  : archive_.functions[callee.value].convention;
    if (segments != nullptr &&
        segments->list.size() != convention.arguments.size()) {
      return OperandFault(*segments, segments->list.size(),
                          " segments for the ", convention.arguments.size(),
                          " arguments of ", convention.text);
    }
    TAKT_RETURN_IF_ERROR(CheckOperands(convention, segments, operands));
    return CheckLetters(results, convention.results);
  }

  // One register for each letter; the segments give the repetitions of each
  // span. Ends with the registers, however large the counts of a hostile file
  // are.
  absl::Status CheckOperands(const CallingConvention& convention,
                             const WireField* segments,
                             const WireField& operands) const {
    size_t used = 0;
    for (size_t i = 0; i < convention.arguments.size(); ++i) {
      const CallingConvention::Argument& argument = convention.arguments[i];
      if (argument.is_span && segments == nullptr) {
        return OperandFault(operands, convention.text,
                            " has a span and needs a call with segments");
      }
      const uint32_t repetitions = argument.is_span ? segments->list[i] : 1;
      for (uint32_t k = 0; k < repetitions; ++k) {
        for (Letter letter : argument.letters) {
          if (used == operands.list.size()) {
            return OperandFault(operands, used, " registers do not suffice ",
                                "for argument ", i, " of ", convention.text);
          }
          TAKT_RETURN_IF_ERROR(
              CheckLetter(operands, operands.list[used++], letter));
        }
      }
    }
    if (used == operands.list.size()) return absl::OkStatus();
    return OperandFault(operands, operands.list.size(), " registers for the ",
                        used, " values that ", convention.text, " takes");
  }

  absl::Status CheckLetters(const WireField& field,
                            const std::vector<Letter>& letters) const {
    if (field.list.size() != letters.size()) {
      return OperandFault(field, letters.size(), " registers expected, found ",
                          field.list.size());
    }
    for (size_t i = 0; i < letters.size(); ++i) {
      TAKT_RETURN_IF_ERROR(CheckLetter(field, field.list[i], letters[i]));
    }
    return absl::OkStatus();
  }

  absl::Status CheckLetter(const WireField& field, uint16_t encoded,
                           Letter letter) const {
    switch (letter) {
      case Letter::kI32:
      case Letter::kF32:
        return CheckWord(field, encoded);
      case Letter::kI64:
      case Letter::kF64:
        return CheckPair(field, encoded);
      case Letter::kRef:
        return CheckRef(field, encoded, !field.is_result);
    }
    return absl::InternalError("unknown letter");
  }

  // Rule 14.
  absl::Status CheckTargets() const {
    for (const Target& target : targets_) {
      if (!std::binary_search(markers_.begin(), markers_.end(), target.pc)) {
        return absl::InvalidArgumentError(
            absl::StrCat("pc ", target.from, ": ", target.info->mnemonic,
                         ": target ", target.pc, " is no block"));
      }
    }
    return absl::OkStatus();
  }

  const BytecodeArchive& archive_;
  const ArchiveFunction& function_;
  WireInstruction instruction_;
  std::vector<uint32_t> markers_;  // Ascending.
  std::vector<Target> targets_;
  bool in_block_ = false;
};

// The part of rule 9 that concerns one function.
absl::Status CheckConvention(const ArchiveFunction& function) {
  if (!function.convention.has_spans()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("calling convention ", function.convention.text,
                   ": only imports may have spans"));
}

}  // namespace

absl::Status VerifyFunction(const BytecodeArchive& archive, size_t function) {
  if (function >= archive.functions.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("function ", function, " of ", archive.functions.size()));
  }
  absl::Status status = CheckConvention(archive.functions[function]);
  if (status.ok()) {
    status = FunctionVerifier(archive, archive.functions[function]).Verify();
  }
  if (status.ok()) return status;
  return Annotate(status, FunctionTitle(archive, function));
}

absl::Status VerifyArchive(const BytecodeArchive& archive) {
  for (size_t i = 0; i < archive.functions.size(); ++i) {
    TAKT_RETURN_IF_ERROR(VerifyFunction(archive, i));
  }
  return absl::OkStatus();
}

std::string FunctionTitle(const BytecodeArchive& archive, size_t function) {
  std::string title = absl::StrCat("function ", function);
  for (const ArchiveExport& exported : archive.exports) {
    if (exported.function != function) continue;
    absl::StrAppend(&title, " (", absl::CHexEscape(exported.local_name), ")");
    break;
  }
  return title;
}

}  // namespace takt::vm
