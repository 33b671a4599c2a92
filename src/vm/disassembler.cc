#include "vm/disassembler.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "vm/bytecode_verifier.h"
#include "vm/wire_decoder.h"

namespace takt::vm {
namespace {

template <typename T>
T BitsAs(uint64_t bits) {
  T value;
  static_assert(sizeof(T) <= sizeof(bits));
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

std::string RegisterText(WireRegister encoded, bool is_wide) {
  if ((encoded & kWireRefBit) != 0) {
    return absl::StrCat("%r", encoded & kWireRefMask,
                        (encoded & kWireMoveBit) != 0 ? "!" : "");
  }
  if (!is_wide) return absl::StrCat("%i", encoded);
  return absl::StrCat("%i", encoded, ":", encoded + 1);
}

// Prints the instructions of one function.
class Printer {
 public:
  explicit Printer(const BytecodeArchive& archive) : archive_(archive) {}

  // "results = mnemonic operands".
  std::string Instruction(const WireInstruction& instruction) const {
    std::string results;
    std::string operands;
    for (const WireField& field : instruction.fields) {
      std::string* out = field.is_result ? &results : &operands;
      absl::StrAppend(out, out->empty() ? "" : ", ",
                      FieldText(instruction, field));
    }
    return absl::StrCat(results, results.empty() ? "" : " = ",
                        instruction.info->mnemonic, operands.empty() ? "" : " ",
                        operands);
  }

 private:
  std::string FieldText(const WireInstruction& instruction,
                        const WireField& field) const {
    switch (field.kind) {
      case WireFieldKind::kI32:
      case WireFieldKind::kF32:
      case WireFieldKind::kRef:
      case WireFieldKind::kRefMove:
        return RegisterText(field.value, /*is_wide=*/false);
      case WireFieldKind::kI64:
      case WireFieldKind::kF64:
        return RegisterText(field.value, /*is_wide=*/true);
      case WireFieldKind::kI32List:
      case WireFieldKind::kF32List:
      case WireFieldKind::kRefMoveList:
        return ListText(field, /*is_wide=*/false);
      case WireFieldKind::kI64List:
      case WireFieldKind::kF64List:
        return ListText(field, /*is_wide=*/true);
      case WireFieldKind::kAnyList:
        return AnyListText(instruction, field);
      case WireFieldKind::kSegments:
        return SegmentsText(field);
      case WireFieldKind::kGlobal4:
      case WireFieldKind::kGlobal8:
        return absl::StrCat("@global+", field.value);
      case WireFieldKind::kGlobalRef:
        return absl::StrCat("@ref", field.value);
      case WireFieldKind::kType:
        return TypeText(field.value);
      case WireFieldKind::kRodata:
        return RodataText(field.value);
      case WireFieldKind::kConstI32:
        return absl::StrCat(BitsAs<int32_t>(field.value));
      case WireFieldKind::kConstI64:
        return absl::StrCat(BitsAs<int64_t>(field.value));
      case WireFieldKind::kConstF32:
        return absl::StrFormat("%.9g", BitsAs<float>(field.value));
      case WireFieldKind::kConstF64:
        return absl::StrFormat("%.17g", BitsAs<double>(field.value));
      case WireFieldKind::kString:
        return absl::StrCat("\"", absl::CHexEscape(field.text), "\"");
      case WireFieldKind::kFunction:
      case WireFieldKind::kImport:
        return FunctionText(field.value);
      case WireFieldKind::kTarget:
        return absl::StrCat("^", field.value);
      case WireFieldKind::kBranch:
        return BranchText(field.branches[0]);
      case WireFieldKind::kBranchTable:
        return BranchTableText(field);
    }
    return "?";
  }

  static std::string ListText(const WireField& field, bool is_wide) {
    std::string out = "(";
    for (uint16_t entry : field.list) {
      absl::StrAppend(&out, out.size() == 1 ? "" : ", ",
                      RegisterText(entry, is_wide));
    }
    return out + ")";
  }

  // The callee's convention says which operands of a call are wide.
  std::string AnyListText(const WireInstruction& instruction,
                          const WireField& field) const {
    const std::vector<Letter> letters = LettersOf(instruction, field);
    std::string out = "(";
    for (size_t i = 0; i < field.list.size(); ++i) {
      const bool is_wide = i < letters.size() && (letters[i] == Letter::kI64 ||
                                                  letters[i] == Letter::kF64);
      absl::StrAppend(&out, i == 0 ? "" : ", ",
                      RegisterText(field.list[i], is_wide));
    }
    return out + ")";
  }

  // The letters of a call's operands or results that are known.
  std::vector<Letter> LettersOf(const WireInstruction& instruction,
                                const WireField& field) const {
    const WireField& callee = instruction.fields[0];
    if (callee.kind != WireFieldKind::kFunction) return {};
    const CallingConvention* convention = ConventionOf(callee.value);
    if (convention == nullptr) return {};
    if (field.is_result) return convention->results;
    const WireField& second = instruction.fields[1];
    const bool has_segments = second.kind == WireFieldKind::kSegments;
    std::vector<Letter> letters;
    for (size_t i = 0; i < convention->arguments.size(); ++i) {
      const CallingConvention::Argument& argument = convention->arguments[i];
      size_t repetitions = 1;
      if (argument.is_span) {
        if (!has_segments || i >= second.list.size()) return letters;
        repetitions = second.list[i];
      }
      while (repetitions-- > 0 && letters.size() < field.list.size()) {
        letters.insert(letters.end(), argument.letters.begin(),
                       argument.letters.end());
      }
    }
    return letters;
  }

  const CallingConvention* ConventionOf(uint64_t callee) const {
    const uint64_t ordinal = callee & ~uint64_t{kWireImportBit};
    if ((callee & kWireImportBit) != 0) {
      return ordinal < archive_.imports.size()
                 ? &archive_.imports[ordinal].convention
                 : nullptr;
    }
    return ordinal < archive_.functions.size()
               ? &archive_.functions[ordinal].convention
               : nullptr;
  }

  static std::string SegmentsText(const WireField& field) {
    std::string out = "[";
    for (uint16_t size : field.list) {
      absl::StrAppend(&out, out.size() == 1 ? "" : ", ");
      if (size == 0xffff) {
        out += '-';
      } else {
        absl::StrAppend(&out, size);
      }
    }
    return out + "]";
  }

  std::string TypeText(uint64_t ordinal) const {
    if (ordinal >= archive_.type_names.size()) {
      return absl::StrCat("type ", ordinal);
    }
    return absl::CHexEscape(archive_.type_names[ordinal]);
  }

  // If the segment is text, its start is printed.
  std::string RodataText(uint64_t ordinal) const {
    std::string out = absl::StrCat("@rodata", ordinal);
    if (ordinal >= archive_.rodata.size()) return out;
    const absl::Span<const uint8_t> data = archive_.rodata[ordinal];
    absl::StrAppend(&out, "[", data.size(), "]");
    constexpr size_t kMaxTextBytes = 40;
    if (data.empty() || data.size() > kMaxTextBytes) return out;
    for (uint8_t byte : data) {
      if (byte < 0x20 || byte > 0x7e) return out;
    }
    return absl::StrCat(
        out, " \"",
        absl::CHexEscape(absl::string_view(
            reinterpret_cast<const char*>(data.data()), data.size())),
        "\"");
  }

  std::string FunctionText(uint64_t callee) const {
    const uint64_t ordinal = callee & ~uint64_t{kWireImportBit};
    if ((callee & kWireImportBit) == 0) {
      for (const ArchiveExport& exported : archive_.exports) {
        if (exported.function == ordinal) {
          return absl::StrCat("@", absl::CHexEscape(exported.local_name));
        }
      }
      return absl::StrCat("@function", ordinal);
    }
    if (ordinal >= archive_.imports.size()) {
      return absl::StrCat("@import", ordinal);
    }
    return absl::StrCat("@",
                        absl::CHexEscape(archive_.imports[ordinal].full_name));
  }

  static std::string BranchText(const WireBranch& branch) {
    std::string out = absl::StrCat("^", branch.target_pc);
    if (branch.remap.empty()) return out;
    const char* separator = "(";
    for (const auto& [source, target] : branch.remap) {
      absl::StrAppend(&out, separator, RegisterText(source, false), " -> ",
                      RegisterText(target, false));
      separator = ", ";
    }
    return out + ")";
  }

  static std::string BranchTableText(const WireField& field) {
    std::string out = "[";
    for (const WireBranch& branch : field.branches) {
      absl::StrAppend(&out, out.size() == 1 ? "" : ", ", BranchText(branch));
    }
    return out + "]";
  }

  const BytecodeArchive& archive_;
};

}  // namespace

absl::StatusOr<std::string> DisassembleFunction(const BytecodeArchive& archive,
                                                size_t function) {
  if (function >= archive.functions.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("function ", function, " of ", archive.functions.size()));
  }
  const absl::Span<const uint8_t> body = archive.functions[function].body;
  const Printer printer(archive);
  std::string out;
  WireInstruction instruction;
  for (uint32_t pc = 0; pc < body.size(); pc = instruction.next_pc) {
    const absl::Status status =
        DecodeInstruction(*archive.bytecode_version, body, pc, &instruction);
    if (!status.ok()) {
      return Annotate(status, FunctionTitle(archive, function));
    }
    if (instruction.info->op == Op::kBlock) {
      absl::StrAppend(&out, "^", pc, ":\n");
    } else {
      absl::StrAppendFormat(&out, "%6d: %s\n", pc,
                            printer.Instruction(instruction));
    }
  }
  return out;
}

}  // namespace takt::vm
