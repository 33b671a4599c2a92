#include "tests/fuzz/bytecode_program.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <sstream>

#include "tests/vm/module_builder.h"

namespace takt::fuzz {
namespace {

using vm::Op;
using vm::OpInfo;

constexpr uint64_t kBufferBytes = 64;

bool IsWide(char letter) { return letter == 'I' || letter == 'F'; }

// The fields of an instruction, as opcodes.inc spells them.
struct Fields {
  std::vector<std::string> operands;
  std::vector<std::string> results;
};
Fields FieldsOf(Op op) {
  Fields fields;
  std::istringstream text(vm::InfoOf(op).fields);
  bool is_result = false;
  for (std::string field; text >> field;) {
    if (field == ">") {
      is_result = true;
    } else {
      (is_result ? fields.results : fields.operands).push_back(field);
    }
  }
  return fields;
}

// Instructions that Draw() takes as they are: their fields say all of them.
std::vector<Op> PlainOps() {
  static constexpr const char* kFields[] = {"i",  "I",  "f",  "F",  "k4",
                                            "k8", "kf", "kd", "g4", "g8"};
  // Globals by an offset that may be out of bounds.
  static constexpr char kExcluded[] = "indirect";
  std::vector<Op> ops;
  for (uint16_t i = 0; i < static_cast<uint16_t>(Op::kCount); ++i) {
    const OpInfo& info = vm::InfoOf(static_cast<Op>(i));
    if (info.is_terminator || info.fields[0] == '\0') continue;
    const Fields fields = FieldsOf(info.op);
    const auto is_plain = [](const std::string& field) {
      return std::find(std::begin(kFields), std::end(kFields), field) !=
             std::end(kFields);
    };
    if (std::string(info.mnemonic).find(kExcluded) == std::string::npos &&
        std::all_of(fields.operands.begin(), fields.operands.end(), is_plain) &&
        std::all_of(fields.results.begin(), fields.results.end(), is_plain)) {
      ops.push_back(info.op);
    }
  }
  return ops;
}

class Drawer {
 public:
  Drawer(const uint8_t* data, size_t size) : data_(data), left_(size) {}

  BytecodeProgram Draw() {
    BytecodeProgram program;
    program.functions.resize(1 + Below(3));
    for (ProgramFunction& function : program.functions) {
      function.arguments = Letters(4);
      function.results = Letters(3);
    }
    // The first one returns all its words.
    program.functions[0].results = std::string(kWordCount / 2, 'I');
    for (size_t i = 0; i < program.functions.size(); ++i) {
      Fill(program.functions, i);
    }
    for (char letter : program.functions[0].arguments) {
      program.arguments.push_back(Bits(letter));
    }
    return program;
  }

 private:
  // 0 when the bytes are used up, so that a short input is a short program.
  uint8_t Byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  size_t Below(size_t bound) { return Byte() % bound; }

  std::string Letters(size_t most) {
    std::string letters;
    for (size_t left = Below(most + 1); left > 0; --left) {
      letters += "iIfF"[Below(4)];
    }
    return letters;
  }

  // Small numbers, edges, and any.
  uint64_t Bits(char letter) {
    static constexpr uint64_t kEdges[] = {0,
                                          1,
                                          2,
                                          ~uint64_t{0},
                                          0x7fffffff,
                                          0x80000000,
                                          0x7fffffffffffffff,
                                          uint64_t{1} << 63};
    static constexpr double kNumbers[] = {0.0, -0.0, 1.0,   -1.5,
                                          2.5, 3e9,  -1e19, 1e-310};
    const size_t choice = Below(4);
    if (choice < 2 && (letter == 'f' || letter == 'F')) {
      const double number = kNumbers[Below(std::size(kNumbers))];
      const auto narrow = static_cast<float>(number);
      uint64_t bits = 0;
      if (letter == 'F') {
        std::memcpy(&bits, &number, sizeof(number));
      } else {
        std::memcpy(&bits, &narrow, sizeof(narrow));
      }
      return bits;
    }
    uint64_t bits = Byte();
    if (choice == 2) bits = kEdges[bits % std::size(kEdges)];
    for (int i = 1; i < 8 && choice == 3; ++i) bits = bits << 8 | Byte();
    return IsWide(letter) ? bits : static_cast<uint32_t>(bits);
  }

  uint16_t Word() { return static_cast<uint16_t>(Below(kWordCount)); }
  uint16_t Register(char letter) {
    if (letter == 'r' || letter == 'm') {
      return static_cast<uint16_t>(Below(kRefCount));
    }
    const uint16_t word = Word();
    return IsWide(letter) ? static_cast<uint16_t>(word & ~1) : word;
  }
  std::vector<uint16_t> Registers(const std::string& letters) {
    std::vector<uint16_t> registers;
    for (char letter : letters) registers.push_back(Register(letter));
    return registers;
  }

  static Instruction Constant(uint16_t word, uint64_t value, bool is_wide) {
    Instruction instruction;
    instruction.op = is_wide ? Op::kConstI64 : Op::kConstI32;
    instruction.results = {word};
    instruction.immediate = value;
    return instruction;
  }

  Instruction Plain(Op op) {
    Instruction instruction;
    instruction.op = op;
    const Fields fields = FieldsOf(op);
    for (const std::string& field : fields.operands) {
      if (field == "k4" || field == "kf") {
        instruction.immediate = Bits(field == "k4" ? 'i' : 'f');
      } else if (field == "k8" || field == "kd") {
        instruction.immediate = Bits(field == "k8" ? 'I' : 'F');
      } else if (field == "g4") {
        instruction.immediate = Below(kGlobalBytes / 4) * 4;
      } else if (field == "g8") {
        instruction.immediate = Below(kGlobalBytes / 8) * 8;
      } else {
        instruction.operands.push_back(Register(field[0]));
      }
    }
    for (const std::string& field : fields.results) {
      instruction.results.push_back(Register(field[0]));
    }
    return instruction;
  }

  static Instruction Allocate(uint16_t ref, uint16_t length) {
    Instruction instruction;
    instruction.op = Op::kBufferAlloc;
    instruction.operands = {length, static_cast<uint16_t>(length + 2)};
    instruction.results = {ref};
    return instruction;
  }

  // A division gets a divisor that is mostly not 0.
  void DrawPlain(Op op, Block* block) {
    const Instruction instruction = Plain(op);
    const std::string mnemonic = vm::InfoOf(op).mnemonic;
    const bool is_wide = mnemonic.find("i64") != std::string::npos;
    const bool is_division =
        mnemonic.find("div.i") == 0 || mnemonic.find("rem.i") == 0;
    if (is_division && Below(16) != 0) {
      block->instructions.push_back(Constant(
          instruction.operands[1], Bits(is_wide ? 'I' : 'i') | 1, is_wide));
    }
    block->instructions.push_back(instruction);
  }

  // Buffers of up to 64 bytes, with ranges that are mostly within.
  void DrawBuffer(Block* block) {
    static constexpr Op kOps[] = {
        Op::kBufferLoadI8U,  Op::kBufferLoadI8S,  Op::kBufferLoadI16U,
        Op::kBufferLoadI16S, Op::kBufferLoadI32,  Op::kBufferLoadI64,
        Op::kBufferStoreI8,  Op::kBufferStoreI16, Op::kBufferStoreI32,
        Op::kBufferStoreI64, Op::kBufferFillI8,   Op::kBufferFillI16,
        Op::kBufferFillI32,  Op::kBufferFillI64,  Op::kBufferLength};
    Instruction instruction;
    const uint16_t ref = Register('r');
    const size_t choice = Below(16);
    if (choice < 3) {
      block->instructions.push_back(
          Constant(12, choice == 0 ? Below(65) : kBufferBytes, true));
      block->instructions.push_back(Constant(14, 0, false));
      block->instructions.push_back(Allocate(ref, 12));
      return;
    }
    const size_t elements = choice == 3 ? 12 : kBufferBytes / 8 / 2;
    block->instructions.push_back(Constant(12, Below(elements), true));
    block->instructions.push_back(Constant(14, Below(elements), true));
    instruction.op = kOps[Below(std::size(kOps))];
    const Fields fields = FieldsOf(instruction.op);
    uint16_t next = 12;  // Offset, then length.
    for (const std::string& field : fields.operands) {
      if (field == "r") {
        instruction.operands.push_back(ref);
      } else if (field == "I" && next <= 14 &&
                 instruction.operands.size() < 3) {
        instruction.operands.push_back(next);
        next = static_cast<uint16_t>(next + 2);
      } else {
        instruction.operands.push_back(Register(field[0]));
      }
    }
    for (const std::string& field : fields.results) {
      instruction.results.push_back(Register(field[0]));
    }
    block->instructions.push_back(instruction);
  }

  // switch.i32 and its like: an index, a default, a list.
  Instruction Switch() {
    static constexpr Op kOps[] = {Op::kSwitchI32, Op::kSwitchI64,
                                  Op::kSwitchF32, Op::kSwitchF64};
    Instruction instruction;
    const size_t choice = Below(4);
    instruction.op = kOps[choice];
    const char letter = "iIfF"[choice];
    instruction.operands = {Register('i'), Register(letter)};
    for (size_t left = Below(4); left > 0; --left) {
      instruction.operands.push_back(Register(letter));
    }
    instruction.results = {Register(letter)};
    return instruction;
  }

  Instruction Call(const std::vector<ProgramFunction>& functions,
                   size_t callee) {
    Instruction instruction;
    instruction.op = Op::kCall;
    instruction.immediate = callee;
    instruction.operands = Registers(functions[callee].arguments);
    // What a call returns goes to places of its own.
    instruction.results = WordsOf(functions[callee].results);
    return instruction;
  }

  // Mostly ahead, so that most programs end.
  Jump DrawJump(size_t block, size_t block_count) {
    Jump jump;
    jump.block = Below(block_count);
    if (jump.block <= block && Below(4) != 0) {
      jump.block = std::min(block + 1, block_count - 1);
    }
    for (size_t left = Below(4); left > 0; --left) {
      const uint16_t from = Word();
      const uint16_t to = Word();
      if (from != to) jump.copies.emplace_back(from, to);
    }
    return jump;
  }

  Instruction Return(const ProgramFunction& function, size_t ordinal) {
    Instruction instruction;
    instruction.op = Op::kReturn;
    instruction.operands =
        ordinal == 0 ? WordsOf(function.results) : Registers(function.results);
    return instruction;
  }

  Instruction Terminator(const ProgramFunction& function, size_t ordinal,
                         size_t block) {
    Instruction instruction;
    const size_t count = function.blocks.size();
    if (block + 1 == count && Below(4) != 0) return Return(function, ordinal);
    switch (Below(8)) {
      case 1:
      case 2:
      case 3:
        instruction.op = Op::kCondBr;
        instruction.operands = {Register('i')};
        instruction.jumps = {DrawJump(block, count), DrawJump(block, count)};
        break;
      case 4:
        instruction.op = Op::kBrTable;
        instruction.operands = {Register('i')};
        for (size_t left = 1 + Below(4); left > 0; --left) {
          instruction.jumps.push_back(DrawJump(block, count));
        }
        break;
      case 5:
        instruction.op = Below(2) == 0 ? Op::kBreak : Op::kYield;
        instruction.jumps = {DrawJump(block, count)};
        break;
      case 6:
        instruction.op = Op::kBr;
        instruction.jumps = {DrawJump(block, count)};
        break;
      case 7:
        if (Below(4) != 0) return Return(function, ordinal);
        instruction.op = Op::kFail;
        instruction.operands = {Register('i')};
        break;
      default:
        return Return(function, ordinal);
    }
    return instruction;
  }

  void Fill(std::vector<ProgramFunction>& functions, size_t ordinal) {
    ProgramFunction& function = functions[ordinal];
    function.blocks.resize(1 + Below(5));
    // An instruction names every word, so that none is scratch for remap lists.
    std::vector<bool> is_argument(kWordCount, false);
    const std::vector<uint16_t> words = WordsOf(function.arguments);
    for (size_t i = 0; i < words.size(); ++i) {
      is_argument[words[i]] = true;
      if (IsWide(function.arguments[i])) is_argument[words[i] + 1u] = true;
    }
    for (uint16_t word = 0; word < kWordCount; ++word) {
      if (is_argument[word]) continue;
      function.blocks[0].instructions.push_back(
          Constant(word, Bits('i'), false));
    }
    std::vector<Instruction>& entry = function.blocks[0].instructions;
    for (uint16_t ref = 0; ref < kRefCount && Below(16) != 15; ++ref) {
      // In words that are no arguments: these are at most 8 words.
      entry.push_back(Constant(12, kBufferBytes, true));
      entry.push_back(Constant(14, 0, false));
      entry.push_back(Allocate(ref, 12));
    }
    static const std::vector<Op> kPlain = PlainOps();
    for (Block& block : function.blocks) {
      for (size_t left = Below(12); left > 0; --left) {
        const size_t choice = Below(16);
        if (choice == 0) {
          block.instructions.push_back(Switch());
        } else if (choice == 1 && ordinal + 1 < functions.size()) {
          const size_t later = functions.size() - ordinal - 1;
          block.instructions.push_back(
              Call(functions, ordinal + 1 + Below(later)));
        } else if (choice < 4) {
          DrawBuffer(&block);
        } else {
          DrawPlain(kPlain[Below(kPlain.size())], &block);
        }
      }
      block.instructions.push_back(
          Terminator(function, ordinal,
                     static_cast<size_t>(&block - function.blocks.data())));
    }
  }

  const uint8_t* data_;
  size_t left_;
};

void EncodeJump(const Jump& jump, const std::vector<uint32_t>& labels,
                vm::BodyBuilder* body) {
  body->Branch(labels[jump.block], jump.copies);
}

void EncodeInstruction(const Instruction& instruction,
                       const std::vector<uint32_t>& labels,
                       vm::BodyBuilder* body) {
  body->Emit(instruction.op);
  size_t next = 0;
  const auto put = [&](const std::string& field, uint16_t ordinal) {
    body->U16(field[0] == 'r' || field[0] == 'm' ? vm::R(ordinal) : ordinal);
  };
  const Fields fields = FieldsOf(instruction.op);
  for (const std::string& field : fields.operands) {
    if (field == "k4" || field == "kf" || field == "g4" || field == "g8" ||
        field == "fn") {
      body->U32(static_cast<uint32_t>(instruction.immediate));
    } else if (field == "k8" || field == "kd") {
      body->U64(instruction.immediate);
    } else if (field == "s") {
      body->Text("failed");
    } else if (field.back() == '*') {
      body->List({instruction.operands.begin() + static_cast<ptrdiff_t>(next),
                  instruction.operands.end()});
    } else if (field == "br" || field == "tbl") {
      continue;  // Below.
    } else {
      put(field, instruction.operands[next++]);
    }
  }
  if (!instruction.jumps.empty()) {
    EncodeJump(instruction.jumps[0], labels, body);
    if (instruction.op == Op::kBrTable) {
      body->U16(static_cast<uint16_t>(instruction.jumps.size() - 1));
    }
    for (size_t i = 1; i < instruction.jumps.size(); ++i) {
      EncodeJump(instruction.jumps[i], labels, body);
    }
  }
  for (size_t i = 0; i < fields.results.size(); ++i) {
    if (fields.results[i].back() == '*') {
      body->List(instruction.results);
    } else {
      put(fields.results[i], instruction.results[i]);
    }
  }
}

}  // namespace

std::vector<uint16_t> WordsOf(const std::string& letters) {
  std::vector<uint16_t> words;
  uint16_t next = 0;
  for (char letter : letters) {
    if (IsWide(letter)) next = static_cast<uint16_t>((next + 1) / 2 * 2);
    words.push_back(next);
    next = static_cast<uint16_t>(next + (IsWide(letter) ? 2 : 1));
  }
  return words;
}

BytecodeProgram BytecodeProgram::Draw(const uint8_t* data, size_t size) {
  return Drawer(data, size).Draw();
}

std::vector<uint8_t> BytecodeProgram::Encode() const {
  vm::ModuleBuilder module("m");
  module.global_bytes = kGlobalBytes;
  for (const ProgramFunction& function : functions) {
    vm::BodyBuilder body;
    std::vector<uint32_t> labels;
    for (size_t i = 0; i < function.blocks.size(); ++i) {
      labels.push_back(body.NewLabel());
    }
    for (size_t i = 0; i < function.blocks.size(); ++i) {
      body.Block(labels[i]);
      for (const Instruction& instruction : function.blocks[i].instructions) {
        EncodeInstruction(instruction, labels, &body);
      }
    }
    const auto text = [](const std::string& letters) {
      return letters.empty() ? "v" : letters;
    };
    module.AddFunction(
        "0" + text(function.arguments) + "_" + text(function.results), body,
        kWordCount, kRefCount);
  }
  module.Export("f", 0);
  return module.Build();
}

}  // namespace takt::fuzz
