#include "vm/wire_decoder.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/narrow.h"
#include "base/status.h"

namespace takt::vm {
namespace {

constexpr uint8_t kPrefixF32 = 0xe0;
constexpr uint8_t kPrefixF64 = 0xe1;

// Reads little-endian fields of one body. A read past its end returns false.
class Cursor {
 public:
  Cursor(absl::Span<const uint8_t> body, uint32_t pc)
      : body_(body), position_(pc) {}

  uint32_t position() const { return position_; }
  size_t remaining() const { return body_.size() - position_; }

  template <typename T>
  [[nodiscard]] bool Read(T* out) {
    if (remaining() < sizeof(T)) return false;
    std::memcpy(out, body_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return true;
  }
  template <typename T>
  [[nodiscard]] bool ReadValue(uint64_t* out) {
    T value;
    if (!Read(&value)) return false;
    *out = value;
    return true;
  }
  [[nodiscard]] bool ReadText(absl::string_view* out) {
    uint16_t length = 0;
    if (!Read(&length) || remaining() < length) return false;
    *out = {reinterpret_cast<const char*>(body_.data()) + position_, length};
    position_ += length;
    return true;
  }
  // A list starts at an even offset from the body's start.
  [[nodiscard]] bool ReadList(std::vector<uint16_t>* out) {
    uint16_t count = 0;
    if (!Align() || !Read(&count) || remaining() < size_t{count} * 2) {
      return false;
    }
    out->resize(count);
    if (count != 0) {
      std::memcpy(out->data(), body_.data() + position_, size_t{count} * 2);
    }
    position_ += uint32_t{count} * 2;
    return true;
  }
  [[nodiscard]] bool ReadBranch(WireBranch* out) {
    uint16_t count = 0;
    if (!Read(&out->target_pc) || !Align() || !Read(&count) ||
        remaining() < size_t{count} * 4) {
      return false;
    }
    out->remap.resize(count);
    for (auto& [source, target] : out->remap) {
      if (!Read(&source) || !Read(&target)) return false;
    }
    return true;
  }
  // `cases` keeps its storage from call to call. It cannot grow faster than the
  // body is read: a branch takes at least six bytes.
  [[nodiscard]] bool ReadBranchTable(std::vector<WireBranch>* cases) {
    uint16_t count = 0;
    if (!Read(&count) || remaining() / 6 < count) return false;
    cases->resize(count);
    for (WireBranch& branch : *cases) {
      if (!ReadBranch(&branch)) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] bool Align() {
    if (position_ % 2 == 0) return true;
    uint8_t padding = 0;
    return Read(&padding);
  }

  const absl::Span<const uint8_t> body_;
  uint32_t position_;
};

// A field's name in opcodes.inc as one number, which compares quickly.
constexpr uint32_t Token(absl::string_view text) {
  uint32_t packed = 0;
  for (char c : text) packed = packed << 8 | Truncate<uint8_t>(c);
  return packed;
}

constexpr struct {
  uint32_t token;
  WireFieldKind kind;
} kKinds[] = {
    {Token("i"), WireFieldKind::kI32},
    {Token("I"), WireFieldKind::kI64},
    {Token("f"), WireFieldKind::kF32},
    {Token("F"), WireFieldKind::kF64},
    {Token("r"), WireFieldKind::kRef},
    {Token("m"), WireFieldKind::kRefMove},
    {Token("i*"), WireFieldKind::kI32List},
    {Token("I*"), WireFieldKind::kI64List},
    {Token("f*"), WireFieldKind::kF32List},
    {Token("F*"), WireFieldKind::kF64List},
    {Token("m*"), WireFieldKind::kRefMoveList},
    {Token("a*"), WireFieldKind::kAnyList},
    {Token("seg"), WireFieldKind::kSegments},
    {Token("g4"), WireFieldKind::kGlobal4},
    {Token("g8"), WireFieldKind::kGlobal8},
    {Token("gr"), WireFieldKind::kGlobalRef},
    {Token("t"), WireFieldKind::kType},
    {Token("d"), WireFieldKind::kRodata},
    {Token("k4"), WireFieldKind::kConstI32},
    {Token("k8"), WireFieldKind::kConstI64},
    {Token("kf"), WireFieldKind::kConstF32},
    {Token("kd"), WireFieldKind::kConstF64},
    {Token("s"), WireFieldKind::kString},
    {Token("fn"), WireFieldKind::kFunction},
    {Token("im"), WireFieldKind::kImport},
    {Token("br"), WireFieldKind::kBranch},
    {Token("pc"), WireFieldKind::kTarget},
    {Token("tbl"), WireFieldKind::kBranchTable},
};

WireFieldKind KindOf(absl::string_view name) {
  const uint32_t token = Token(name);
  for (const auto& candidate : kKinds) {
    if (candidate.token == token) return candidate.kind;
  }
  TAKT_CHECK(false && "opcodes.inc names a field kind that kKinds lacks");
  return WireFieldKind::kI32;
}

[[nodiscard]] bool ReadField(Cursor& cursor, WireField* field) {
  switch (field->kind) {
    case WireFieldKind::kI32:
    case WireFieldKind::kI64:
    case WireFieldKind::kF32:
    case WireFieldKind::kF64:
    case WireFieldKind::kRef:
    case WireFieldKind::kRefMove:
      return cursor.ReadValue<uint16_t>(&field->value);
    case WireFieldKind::kI32List:
    case WireFieldKind::kI64List:
    case WireFieldKind::kF32List:
    case WireFieldKind::kF64List:
    case WireFieldKind::kRefMoveList:
    case WireFieldKind::kAnyList:
    case WireFieldKind::kSegments:
      return cursor.ReadList(&field->list);
    case WireFieldKind::kGlobal4:
    case WireFieldKind::kGlobal8:
    case WireFieldKind::kGlobalRef:
    case WireFieldKind::kType:
    case WireFieldKind::kRodata:
    case WireFieldKind::kConstI32:
    case WireFieldKind::kConstF32:
    case WireFieldKind::kFunction:
    case WireFieldKind::kImport:
    case WireFieldKind::kTarget:
      return cursor.ReadValue<uint32_t>(&field->value);
    case WireFieldKind::kConstI64:
    case WireFieldKind::kConstF64:
      return cursor.ReadValue<uint64_t>(&field->value);
    case WireFieldKind::kString:
      return cursor.ReadText(&field->text);
    case WireFieldKind::kBranch:
      field->branches.resize(1);
      return cursor.ReadBranch(&field->branches[0]);
    case WireFieldKind::kBranchTable:
      return cursor.ReadBranchTable(&field->branches);
  }
  return false;
}

absl::Status ReadOpcode(const BytecodeVersion& version, Cursor& cursor,
                        WireInstruction* out) {
  OpSet set = OpSet::kCore;
  uint8_t code = 0;
  bool complete = cursor.Read(&code);
  if (complete && (code == kPrefixF32 || code == kPrefixF64)) {
    set = code == kPrefixF32 ? OpSet::kF32 : OpSet::kF64;
    complete = cursor.Read(&code);
  }
  if (!complete) {
    return absl::InvalidArgumentError(
        absl::StrCat("pc ", out->pc, ": the body ends inside an opcode"));
  }
  out->info = FindOp(set, code);
  if (out->info != nullptr && version.Has(set, code)) return absl::OkStatus();
  const char* const prefix = set == OpSet::kF32   ? "e0 "
                             : set == OpSet::kF64 ? "e1 "
                                                  : "";
  return absl::InvalidArgumentError(
      absl::StrCat("pc ", out->pc, ": unknown opcode ", prefix,
                   absl::Hex(code, absl::kZeroPad2), " in bytecode ",
                   BytecodeVersionText(version.number)));
}

void ClearMoves(std::vector<uint16_t>* list) {
  for (uint16_t& entry : *list) {
    if ((entry & kWireRefBit) != 0) entry &= ~kWireMoveBit;
  }
}

// Changes an instruction of `version` into the one of the newest version that
// has the same meaning.
void Modernize(const BytecodeVersion& version, WireInstruction* instruction) {
  auto& fields = instruction->fields;
  if (version.ignores_single_moves) {
    for (WireField& field : fields) {
      if ((field.kind == WireFieldKind::kRef ||
           field.kind == WireFieldKind::kRefMove) &&
          !field.is_result && (field.value & kWireRefBit) != 0) {
        field.value &= ~uint64_t{kWireMoveBit};
      }
    }
  }
  const Op op = instruction->info->op;
  if (version.lends_to_imports &&
      (op == Op::kCall || op == Op::kCallVariadic) &&
      (fields[0].value & kWireImportBit) != 0) {
    ClearMoves(&fields[op == Op::kCall ? 1 : 2].list);
  }
}

}  // namespace

absl::Status DecodeInstruction(const BytecodeVersion& version,
                               absl::Span<const uint8_t> body, uint32_t pc,
                               WireInstruction* out) {
  out->pc = pc;
  if (pc >= body.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("pc ", pc, ": past the body's end at ", body.size()));
  }
  Cursor cursor(body, pc);
  TAKT_RETURN_IF_ERROR(ReadOpcode(version, cursor, out));

  size_t count = 0;
  bool is_result = false;
  absl::string_view rest = out->info->fields;
  while (!rest.empty()) {
    const absl::string_view token = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), token.size() + 1));
    if (token == ">") {
      is_result = true;
      continue;
    }
    if (count == out->fields.size()) out->fields.emplace_back();
    WireField& field = out->fields[count++];
    field.kind = KindOf(token);
    field.is_result = is_result;
    field.offset = cursor.position();
    if (!ReadField(cursor, &field)) {
      return absl::InvalidArgumentError(
          absl::StrCat("pc ", pc, ": ", out->info->mnemonic, ": operand ",
                       count - 1, " (", token, ") at ", field.offset,
                       " does not fit the body of ", body.size(), " bytes"));
    }
  }
  out->fields.resize(count);
  out->next_pc = cursor.position();
  Modernize(version, out);
  return absl::OkStatus();
}

}  // namespace takt::vm
