#include "vm/function_translator.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/math.h"
#include "base/narrow.h"
#include "base/status.h"
#include "vm/import_call.h"

namespace takt::vm {
namespace {

// A type that no object has: what a ref is checked against where the wire names
// a value type.
constexpr ObjectType kNoObject{"a value type"};

bool HasValueResult(const WireInstruction& instruction) {
  const WireField& last = instruction.fields.back();
  return last.is_result && last.kind <= WireFieldKind::kF64;
}
bool IsWide(WireFieldKind kind) {
  return kind == WireFieldKind::kI64 || kind == WireFieldKind::kF64;
}

bool IsRegister(WireFieldKind kind) { return kind <= WireFieldKind::kRefMove; }

// The refs of a list that the instruction takes over.
std::vector<uint16_t> MovedRefsOf(const std::vector<uint16_t>& registers) {
  std::vector<uint16_t> moved;
  for (WireRegister reg : registers) {
    if (IsRef(reg) && (reg & kWireMoveBit) != 0) moved.push_back(reg);
  }
  return moved;
}

// True if the import may park although the compiler never marks its calls as
// yieldable. Programs of --iree-execution-model=inline-dynamic do not know that
// their dispatches wait for a device.
bool WaitsInPlainCalls(const BytecodeArchive& archive, uint32_t import) {
  return archive.imports[import].full_name == "hal_loader.executable.dispatch";
}

}  // namespace

void FunctionTranslator::AppendList(const std::vector<int16_t>& list) {
  vm::AppendList(list, &code_);
}

std::vector<int16_t> FunctionTranslator::AddressesOf(
    const std::vector<uint16_t>& registers) {
  std::vector<int16_t> list;
  for (WireRegister reg : registers) list.push_back(AddressOf(reg));
  return list;
}

void FunctionTranslator::AppendAddresses(
    const std::vector<uint16_t>& registers) {
  AppendList(AddressesOf(registers));
}

void FunctionTranslator::ResolveFixups() {
  for (const Fixup& fixup : fixups_) {
    TAKT_CHECK(positions_[fixup.label] < code_.size());
    const int64_t distance =
        Narrow<int64_t>(positions_[fixup.label]) - Narrow<int64_t>(fixup.unit);
    Unit& unit = code_[fixup.unit];
    if (fixup.distance == Distance::kWide) {
      unit.set_wide(Narrow<int32_t>(distance));
    } else if (distance < INT16_MIN || distance > INT16_MAX) {
      fits_ = false;
    } else if (fixup.distance == Distance::kInC) {
      unit.c = Narrow<int16_t>(distance);
    } else {
      code_[fixup.unit + 1].a = Narrow<int16_t>(distance);
    }
  }
}

absl::Status FunctionTranslator::Run() {
  positions_.resize(graph_.block_count());
  const size_t word_count = value_count_ + 1;
  named_.resize(std::max(named_.size(), word_count));
  definitions_.resize(std::max(definitions_.size(), word_count));
  written_.resize(std::max(written_.size(), word_count));
  WireInstruction instruction;
  uint32_t next_block = 0;
  for (uint32_t pc = 0; pc < source_.body.size(); pc = instruction.next_pc) {
    TAKT_RETURN_IF_ERROR(Decode(pc, &instruction));
    if (instruction.info->op == Op::kBlock) {
      block_ = next_block++;
      Bind(block_);
      last_ = kNone;
      before_last_ = kNone;
      result_ = {};
      block_number_ = number_ + 1;
      continue;
    }
    function_.pcs.emplace_back(Narrow<uint32_t>(code_.size() - begin_), pc);
    latest_ = kNone;
    latest_result_ = {};
    NoteNames(instruction);
    Translate(instruction);
    before_last_ = last_;
    last_ = latest_;
    result_ = latest_result_;
  }
  ResolveFixups();
  if (value_count_ > kMaxValueRegisters) {
    return absl::UnimplementedError(absl::StrCat(
        function_.name, ": its registers and the values that a branch saves ",
        "take more than ", kMaxValueRegisters, " words"));
  }
  // The interpreter reads 8 bytes of any register, so the last one has 4 more.
  function_.value_bytes =
      Narrow<uint32_t>(AlignUp(uint64_t{value_count_} * 4 + 4, 16));
  for (size_t call : calls_) {
    const auto* const callee = code_[call + 1].payload<const Function*>();
    code_[call].set_wide(Narrow<int32_t>(DistanceOf(function_, *callee)));
  }
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
      registers.push_back(AddressOf(Narrow<WireRegister>(field.value)));
    }
  }
  if (fuse_ && (FoldConstant(op, registers) || FoldPair(op, registers))) return;
  std::vector<int16_t> rest;
  if (registers.size() > 3) rest.assign(registers.begin() + 3, registers.end());
  registers.resize(3);
  latest_ = code_.size();
  if (HasValueResult(instruction)) {
    const bool is_wide = IsWide(instruction.fields.back().kind);
    NoteDefinition(registers[0], is_wide, latest_);
    if (LeavesResult(op)) latest_result_ = {registers[0], is_wide};
  }
  Append(fuse_ ? Chain(op, instruction) : op, registers[0], registers[1],
         registers[2]);
  AppendList(rest);
  for (const WireField& field : instruction.fields) {
    if (field.kind != WireFieldKind::kType) continue;
    if (op != InnerOp::kListAlloc) return AppendType(field);
    AppendPayload(
        static_cast<const ElementType*>(&program_.types[field.value]));
  }
}

// Makes `const r, k` and `r = add x, r` one instruction, `r = x + k`. No other
// instruction can see the constant, because its register is overwritten.
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
  if (constant.op != Narrow<uint16_t>(load) || value < INT16_MIN ||
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
  NoteDefinition(registers[0], is_64, code_.size());
  latest_result_ = {registers[0], is_64};
  Append(is_32 ? InnerOp::kAddConstantI32 : InnerOp::kAddConstantI64,
         registers[0], other, Narrow<int16_t>(value));
  return true;
}

// Makes an operation on the result of the last one a pair with it, if it writes
// the same register, so that nothing sees the first result.
bool FunctionTranslator::FoldPair(InnerOp op,
                                  const std::vector<int16_t>& registers) {
  if (last_ == kNone || registers[0] != code_[last_].a) return false;
  Unit& first = code_[last_];
  const auto form = static_cast<InnerOp>(first.op);
  const InnerOp first_op = UnchainedOf(form);
  for (const bool is_64 : {false, true}) {
    InnerOp pair = PairOf(first_op, op, is_64);
    if (pair == InnerOp::kCount) continue;
    int16_t other = registers[2];
    if (registers[1] != first.a) {
      if (other != first.a || !Commutes(op, is_64)) return false;
      other = registers[1];
    }
    if (other == first.a) return false;
    if (form == ChainedOf(first_op, 1) && Commutes(first_op, is_64)) {
      std::swap(first.b, first.c);
      pair = ChainedOf(pair, 0);
    } else if (form == ChainedOf(first_op, 0)) {
      pair = ChainedOf(pair, 0);
    }
    first.op = Narrow<uint16_t>(pair);
    NoteDefinition(registers[0], is_64, last_);
    latest_result_ = {registers[0], is_64};
    AppendPayload(std::array<int16_t, 4>{other, 0, 0, 0});
    return true;
  }
  return false;
}

// The form of `op` that takes an operand from the last result, if it can.
InnerOp FunctionTranslator::Chain(InnerOp op,
                                  const WireInstruction& instruction) const {
  if (result_.address == kNoResult) return op;
  size_t place = HasValueResult(instruction) ? 1 : 0;  // 1 is b, 2 is c, 3 d.
  for (const WireField& field : instruction.fields) {
    if (field.is_result || !IsRegister(field.kind)) continue;
    if (place > 0 && field.kind <= WireFieldKind::kF64 &&
        AddressOf(Narrow<WireRegister>(field.value)) == result_.address &&
        IsWide(field.kind) == result_.is_wide) {
      const InnerOp form = ChainedOf(op, place - 1);
      if (form != InnerOp::kCount) return form;
    }
    ++place;
  }
  return op;
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
  AppendWide(InnerOp::kLoadConstant32, Narrow<int16_t>(target.value),
             Truncate<uint32_t>(bits));
}

void FunctionTranslator::AppendConstant64(const WireField& target,
                                          uint64_t bits) {
  const auto value = Truncate<int64_t>(bits);
  const auto address = Narrow<int16_t>(target.value);
  if (value == Truncate<int32_t>(value)) {
    latest_ = code_.size();
    return AppendWide(InnerOp::kLoadConstant64, address,
                      Truncate<uint32_t>(bits));
  }
  Append(InnerOp::kLoadConstantBig64, address);
  AppendPayload(bits);
}

void FunctionTranslator::AppendGlobal(InnerOp op, const WireField& reg,
                                      const WireField& offset) {
  AppendWide(op, AddressOf(Narrow<WireRegister>(reg.value)),
             Narrow<uint32_t>(offset.value));
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
    return AddressOf(Narrow<WireRegister>(fields[field].value));
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
      return AppendRodata(fields[1], fields[0]);
    case Op::kSwitchI32:
    case Op::kSwitchF32:
      return AppendSwitch(InnerOp::kSwitch32, instruction);
    case Op::kSwitchI64:
    case Op::kSwitchF64:
      return AppendSwitch(InnerOp::kSwitch64, instruction);
    case Op::kSwitchRef:
      return AppendSwitch(InnerOp::kSwitchRef, instruction);
    case Op::kImportResolved:
      return AppendWide(InnerOp::kImportResolved,
                        Narrow<int16_t>(fields[1].value),
                        Narrow<uint32_t>(fields[0].value) & ~kImportBit);
    case Op::kTrace:
    case Op::kPrint:  // Does nothing but consume the refs that are moved to it.
      return AppendDiscards(MovedRefsOf(fields[1].list));
    case Op::kDiscardRefs:
      return AppendDiscards(fields[0].list);
    default:
      return TranslateControl(instruction);
  }
}

void FunctionTranslator::TranslateControl(const WireInstruction& instruction) {
  const auto& fields = instruction.fields;
  switch (instruction.info->op) {
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
      return AppendConditional(Narrow<WireRegister>(fields[0].value),
                               fields[1].branches[0], fields[2].branches[0],
                               true);
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
    default:
      TAKT_CHECK(false && "an opcode that the translator does not know");
  }
}

void FunctionTranslator::AppendRodata(const WireField& target,
                                      const WireField& rodata) {
  Append(InnerOp::kLoadRodata, AddressOf(Narrow<WireRegister>(target.value)));
  AppendPayload(static_cast<Object*>(program_.rodata[rodata.value].get()));
}

void FunctionTranslator::AppendDiscards(const std::vector<uint16_t>& refs) {
  if (refs.empty()) return;
  AppendWide(InnerOp::kDiscardRefs, 0, Narrow<uint32_t>(refs.size()));
  AppendAddresses(refs);
}

void FunctionTranslator::AppendFail(const WireInstruction& instruction) {
  AppendWide(InnerOp::kFail, Narrow<int16_t>(instruction.fields[0].value),
             Narrow<uint32_t>(program_.texts.size()));
  program_.texts.emplace_back(instruction.fields[1].text);
}

void FunctionTranslator::AppendReturn(const WireInstruction& instruction) {
  const std::vector<uint16_t>& list = instruction.fields[0].list;
  const std::vector<Letter>& letters = source_.convention.results;
  if (list.empty()) {
    Append(InnerOp::kReturn);
  } else if (list.size() == 1) {
    const bool is_ref = letters[0] == Letter::kRef;
    const bool is_wide = IsWide(letters[0]);
    const bool is_last = fuse_ && !is_ref && result_.is_wide == is_wide &&
                         result_.address == AddressOf(list[0]);
    const InnerOp op =
        is_ref    ? InnerOp::kReturnRef
        : is_last ? is_wide ? InnerOp::kReturnLast64 : InnerOp::kReturnLast32
        : is_wide ? InnerOp::kReturn64
                  : InnerOp::kReturn32;
    Append(op, AddressOf(list[0]));
  } else {
    AppendWide(InnerOp::kReturnMany, 0, Narrow<uint32_t>(list.size()));
    std::vector<int16_t> pairs;
    for (size_t i = 0; i < list.size(); ++i) {
      pairs.push_back(AddressOf(list[i]));
      pairs.push_back(IsWide(letters[i]) ? 8 : 4);
    }
    AppendList(pairs);
  }
}

// The numbers of 32-bit values, 64-bit values and refs that a call passes, then
// their addresses in the frames of the caller and of the callee. A 32-bit value
// before a word that no argument has counts as 64 bits, to fill that word.
void FunctionTranslator::AppendArguments(const std::vector<int16_t>& arguments,
                                         uint32_t callee) {
  const auto& convention = archive_.functions[callee].convention.arguments;
  const std::vector<int16_t>& targets = program_.functions[callee].arguments;
  std::vector<size_t> groups(arguments.size());
  int next_word = -1;  // Of the value argument after this one.
  for (size_t i = arguments.size(); i-- > 0;) {
    const Letter letter = convention[i].letters[0];
    if (letter == Letter::kRef) {
      groups[i] = 2;
      continue;
    }
    const bool has_gap = next_word > targets[i] + 1;
    groups[i] = IsWide(letter) || has_gap ? 1 : 0;
    next_word = targets[i];
  }
  std::array<int16_t, 4> counts{};
  std::vector<int16_t> moves;
  for (size_t group = 0; group < 3; ++group) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (groups[i] != group) continue;
      ++counts[group];
      moves.push_back(arguments[i]);
      moves.push_back(targets[i]);
    }
  }
  AppendPayload(counts);
  AppendList(moves);
}

// kCall: units before the list of results, distance of the frames (known when
// the function is done); Function*; the arguments; the results' addresses.
// kCallImport: may park, import; what import_call.h says.
void FunctionTranslator::AppendCall(const WireInstruction& instruction) {
  const Op op = instruction.info->op;
  const bool variadic =
      op == Op::kCallVariadic || op == Op::kCallVariadicYieldable;
  const bool yieldable =
      op == Op::kCallYieldable || op == Op::kCallVariadicYieldable;
  const auto& fields = instruction.fields;
  const auto callee = Narrow<uint32_t>(fields[0].value);
  const std::vector<uint16_t>& operands = fields[variadic ? 2 : 1].list;
  const std::vector<uint16_t>& results = fields.back().list;
  function_.callees.push_back(callee);

  std::vector<int16_t> arguments;
  std::vector<ImportCall::Span> spans;
  if (variadic) {
    const CallingConvention& convention = CalleeConvention(archive_, callee);
    size_t next = 0;
    for (size_t i = 0; i < convention.arguments.size(); ++i) {
      const CallingConvention::Argument& argument = convention.arguments[i];
      size_t count = 1;
      if (argument.is_span) {
        const uint16_t repetitions = fields[1].list[i];
        spans.push_back({Narrow<uint32_t>(arguments.size()), repetitions});
        arguments.push_back(0);
        count = argument.letters.size() * repetitions;
      }
      for (size_t n = 0; n < count; ++n) {
        arguments.push_back(AddressOf(operands[next++]));
      }
    }
  } else {
    arguments = AddressesOf(operands);
  }

  if ((callee & kImportBit) != 0) {
    const bool may_park = yieldable ||
                          archive_.bytecode_version->plain_calls_may_wait ||
                          WaitsInPlainCalls(archive_, callee & ~kImportBit);
    AppendWide(InnerOp::kCallImport, may_park, callee & ~kImportBit);
    ImportCall::Append(arguments, spans, AddressesOf(results), &code_);
  } else {
    const size_t call = code_.size();
    calls_.push_back(call);
    Append(InnerOp::kCall);
    AppendPayload(static_cast<const Function*>(&program_.functions[callee]));
    AppendArguments(arguments, callee);
    code_[call].a = Truncate<int16_t>(Narrow<uint16_t>(code_.size() - call));
    AppendAddresses(results);
  }
  if (!yieldable) return;
  const WireField& target = fields[variadic ? 3 : 2];
  AppendJump(Narrow<uint32_t>(target.value), true);
}

}  // namespace takt::vm
