#include "tests/fuzz/reference_interpreter.h"

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace takt::fuzz {
namespace {

using vm::Op;
using Wide = __int128;
using Buffer = std::vector<uint8_t>;

// A program ends at once by throwing its ending.
struct End {
  Ending ending;
};

template <typename T>
T FromBits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
template <typename T>
uint64_t ToBits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

template <typename F>
uint64_t FloatBits(F value) {
  if (std::isnan(value)) throw End{Ending::kUnspecified};
  return ToBits(value);
}

bool IsWide(absl::string_view type) {
  return type == "i64" || type == "f64" || type == "si64" || type == "ui64";
}

// ---- Integers ----

Wide Signed(uint64_t bits, int width) {
  const Wide value = bits;
  const Wide limit = Wide{1} << width;
  return value >= limit / 2 ? value - limit : value;
}

// The low `width` bits.
uint64_t Low(Wide value, int width) {
  return static_cast<uint64_t>(value & ((Wide{1} << width) - 1));
}

uint64_t Integer(absl::string_view name, int width, bool is_signed,
                 const std::vector<uint64_t>& bits) {
  std::vector<Wide> x;
  for (uint64_t operand : bits) {
    x.push_back(is_signed ? Signed(operand, width) : Wide{operand});
  }
  const auto low = [width](Wide value) { return Low(value, width); };
  if (name == "add") return low(x[0] + x[1]);
  if (name == "sub") return low(x[0] - x[1]);
  // Unsigned, as products of 64 bits fit in 128 then.
  if (name == "mul") return static_cast<uint64_t>(low(bits[0] * bits[1]));
  if (name == "fma") return low(bits[0] * bits[1] + bits[2]);
  if (name == "div" || name == "rem") {
    if (x[1] == 0) throw End{Ending::kFailed};
    return low(name == "div" ? x[0] / x[1] : x[0] % x[1]);
  }
  if (name == "not") return low(~x[0]);
  if (name == "and") return low(x[0] & x[1]);
  if (name == "or") return low(x[0] | x[1]);
  if (name == "xor") return low(x[0] ^ x[1]);
  // The shift counts modulo the width, as the hardware does.
  const auto count = [&] { return static_cast<int>(bits[1] % width); };
  if (name == "shl") return low(Wide{bits[0]} << count());
  if (name == "shr") return low(x[0] >> count());
  if (name == "abs") {
    const Wide value = Signed(bits[0], width);
    return low(value < 0 ? -value : value);
  }
  if (name == "min") return low(x[0] < x[1] ? x[0] : x[1]);
  if (name == "max") return low(x[0] > x[1] ? x[0] : x[1]);
  if (name == "ctlz") {
    int zeros = 0;
    while (zeros < width && (bits[0] >> (width - 1 - zeros) & 1) == 0) ++zeros;
    return static_cast<uint64_t>(zeros);
  }
  __builtin_trap();
}

bool CompareIntegers(absl::string_view name, int width, bool is_signed,
                     const std::vector<uint64_t>& bits) {
  if (name == "nz") return bits[0] != 0;
  if (name == "eq") return bits[0] == bits[1];
  if (name == "ne") return bits[0] != bits[1];
  if (!is_signed) return bits[0] < bits[1];
  return Signed(bits[0], width) < Signed(bits[1], width);
}

// ---- Floats ----

template <typename F>
bool CompareFloats(absl::string_view name, bool is_ordered, F a, F b) {
  if (name == "nan") return std::isnan(a);
  const bool is_unordered = std::isnan(a) || std::isnan(b);
  if (name == "ne") return a != b;  // Both forms are alike.
  if (is_unordered) return !is_ordered;
  if (name == "eq") return a == b;
  return name == "lt" ? a < b : a <= b;
}

// Squares and products, each rounded, then the reciprocal.
template <typename F>
F Power(F base, int32_t exponent) {
  F result = 1;
  int64_t rest = std::abs(int64_t{exponent});
  while (rest > 0) {
    if (rest % 2 == 1) result *= base;
    rest /= 2;
    if (rest > 0) base *= base;
  }
  return exponent < 0 ? 1 / result : result;
}

template <typename F>
F Float(absl::string_view name, bool is_even,
        const std::vector<uint64_t>& bits) {
  using Unary = F (*)(F);
  static const std::map<absl::string_view, Unary> kUnary = {
      {"abs", [](F x) { return std::fabs(x); }},
      {"neg", [](F x) { return -x; }},
      {"ceil", [](F x) { return std::ceil(x); }},
      {"floor", [](F x) { return std::floor(x); }},
      {"atan", [](F x) { return std::atan(x); }},
      {"cos", [](F x) { return std::cos(x); }},
      {"sin", [](F x) { return std::sin(x); }},
      {"exp", [](F x) { return std::exp(x); }},
      {"exp2", [](F x) { return std::exp2(x); }},
      {"expm1", [](F x) { return std::expm1(x); }},
      {"log", [](F x) { return std::log(x); }},
      {"log10", [](F x) { return std::log10(x); }},
      {"log1p", [](F x) { return std::log1p(x); }},
      {"log2", [](F x) { return std::log2(x); }},
      {"rsqrt", [](F x) { return 1 / std::sqrt(x); }},
      {"sqrt", [](F x) { return std::sqrt(x); }},
      {"tanh", [](F x) { return std::tanh(x); }},
      {"erf", [](F x) { return std::erf(x); }},
  };
  const F a = FromBits<F>(bits[0]);
  if (name == "round") return is_even ? std::nearbyint(a) : std::round(a);
  if (name == "fpowi") return Power(a, FromBits<int32_t>(bits[1]));
  const auto unary = kUnary.find(name);
  if (unary != kUnary.end()) return unary->second(a);
  const F b = FromBits<F>(bits[1]);
  if (name == "add") return a + b;
  if (name == "sub") return a - b;
  if (name == "mul") return a * b;
  if (name == "div") return a / b;
  if (name == "rem") return std::remainder(a, b);
  if (name == "min") return b < a ? b : a;
  if (name == "max") return b > a ? b : a;
  if (name == "atan2") return std::atan2(a, b);
  if (name == "pow") return std::pow(a, b);
  if (name == "fma") {
    const volatile F product = a * b;  // Rounded before the sum.
    return product + FromBits<F>(bits[2]);
  }
  __builtin_trap();
}

// To the nearest integer, ties away from zero. What does not fit is not
// compared.
template <typename F>
uint64_t RoundToInteger(F value, absl::string_view to) {
  const F rounded = std::round(value);
  const F limit = std::ldexp(F{1}, IsWide(to) ? 63 : 31);
  if (!(rounded >= -limit && rounded < limit)) {
    throw End{Ending::kUnspecified};
  }
  return Low(static_cast<int64_t>(rounded), IsWide(to) ? 64 : 32);
}

uint64_t Cast(absl::string_view from, absl::string_view to, uint64_t bits) {
  if (from == "f32") return RoundToInteger(FromBits<float>(bits), to);
  if (from == "f64") {
    const auto value = FromBits<double>(bits);
    if (IsWide(to)) return RoundToInteger(value, to);
    return RoundToInteger(static_cast<float>(value), to);
  }
  const int width = IsWide(from) ? 64 : 32;
  const Wide value = from[0] == 's' ? Signed(bits, width) : Wide{bits};
  // The conversion rounds once: each of these integers has a type of its own.
  if (to == "f32") {
    return ToBits(value < 0 ? static_cast<float>(static_cast<int64_t>(value))
                            : static_cast<float>(static_cast<uint64_t>(value)));
  }
  return ToBits(value < 0 ? static_cast<double>(static_cast<int64_t>(value))
                          : static_cast<double>(static_cast<uint64_t>(value)));
}

// ---- Instructions on values alone ----

uint64_t Scalar(const std::string& mnemonic,
                const std::vector<uint64_t>& operands) {
  const std::vector<absl::string_view> part = absl::StrSplit(mnemonic, '.');
  const absl::string_view name = part[0];
  const absl::string_view last = part.back();
  if (name == "select") return operands[0] != 0 ? operands[1] : operands[2];
  if (name == "bitcast") return operands[0];
  if (name == "cast") return Cast(part[1], part[2], operands[0]);
  if (name == "trunc" && part[1] == "f64") {
    return FloatBits(static_cast<float>(FromBits<double>(operands[0])));
  }
  if (name == "ext" && part[1] == "f32") {
    return FloatBits(static_cast<double>(FromBits<float>(operands[0])));
  }
  if (name == "trunc") {
    return Low(operands[0], part[2] == "i8" ? 8 : part[2] == "i16" ? 16 : 32);
  }
  if (name == "ext") {
    const int width = part[1] == "i8" ? 8 : part[1] == "i16" ? 16 : 32;
    const uint64_t value = Low(operands[0], width);
    return Low(last == "s" ? Signed(value, width) : Wide{value},
               IsWide(part[2]) ? 64 : 32);
  }
  const bool is_compare = name == "cmp";
  const absl::string_view type = part[is_compare ? 2 : 1];
  const int width = IsWide(type) ? 64 : 32;
  if (type == "f32" && is_compare) {
    return CompareFloats(part[1], last == "o", FromBits<float>(operands[0]),
                         FromBits<float>(operands.back()));
  }
  if (type == "f64" && is_compare) {
    return CompareFloats(part[1], last == "o", FromBits<double>(operands[0]),
                         FromBits<double>(operands.back()));
  }
  if (is_compare) {
    return CompareIntegers(part[1], width, last == "s", operands);
  }
  if (type == "f32") {
    return FloatBits(Float<float>(name, last == "even", operands));
  }
  if (type == "f64") {
    return FloatBits(Float<double>(name, last == "even", operands));
  }
  return Integer(name, width, last == "s", operands);
}

// ---- Functions ----

class Interpreter {
 public:
  explicit Interpreter(const BytecodeProgram& program) : program_(program) {}

  std::vector<uint64_t> Call(size_t ordinal,
                             const std::vector<uint64_t>& arguments);

 private:
  struct Frame {
    std::array<uint32_t, kWordCount> words{};
    std::array<std::shared_ptr<Buffer>, kRefCount> refs;

    uint64_t Get(uint16_t word, bool is_wide) const {
      return is_wide ? words[word] | uint64_t{words[word + 1u]} << 32
                     : words[word];
    }
    void Set(uint16_t word, bool is_wide, uint64_t value) {
      words[word] = static_cast<uint32_t>(value);
      if (is_wide) words[word + 1u] = static_cast<uint32_t>(value >> 32);
    }
  };

  // The values of the fields before and behind the '>'.
  static std::vector<std::string> Fields(Op op, bool of_results) {
    const std::vector<std::string> sides =
        absl::StrSplit(vm::InfoOf(op).fields, '>');
    if (of_results && sides.size() < 2) return {};
    return absl::StrSplit(sides[of_results ? 1 : 0], ' ', absl::SkipEmpty());
  }
  static bool IsWideField(const std::string& field) {
    return field == "I" || field == "F";
  }

  std::vector<uint64_t> Operands(const Frame& frame,
                                 const Instruction& instruction) {
    std::vector<uint64_t> values;
    size_t next = 0;
    for (const std::string& field : Fields(instruction.op, false)) {
      if (field.size() != 1 || field == "s") continue;
      const uint16_t operand = instruction.operands[next++];
      values.push_back(field == "r" ? operand
                                    : frame.Get(operand, IsWideField(field)));
    }
    return values;
  }

  void Run(Frame& frame, const Instruction& instruction);
  void CallFrom(Frame& frame, const Instruction& instruction);
  uint64_t AtBuffer(Frame& frame, const Instruction& instruction,
                    absl::string_view name, absl::string_view type,
                    bool is_signed, const std::vector<uint64_t>& operands);
  // The jump that a terminator takes.
  static const Jump& Choose(const Frame& frame, const Instruction& instruction);

  const BytecodeProgram& program_;
  std::array<uint8_t, kGlobalBytes> globals_{};
  int instruction_count_ = 0;
};

void Interpreter::CallFrom(Frame& frame, const Instruction& instruction) {
  const ProgramFunction& callee = program_.functions[instruction.immediate];
  const auto is_wide = [](char letter) {
    return letter == 'I' || letter == 'F';
  };
  std::vector<uint64_t> arguments;
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    arguments.push_back(
        frame.Get(instruction.operands[i], is_wide(callee.arguments[i])));
  }
  const std::vector<uint64_t> results = Call(instruction.immediate, arguments);
  for (size_t i = 0; i < results.size(); ++i) {
    frame.Set(instruction.results[i], is_wide(callee.results[i]), results[i]);
  }
}

uint64_t Interpreter::AtBuffer(Frame& frame, const Instruction& instruction,
                               absl::string_view name, absl::string_view type,
                               bool is_signed,
                               const std::vector<uint64_t>& operands) {
  if (name == "alloc") {
    frame.refs[instruction.results[0]] =
        std::make_shared<Buffer>(operands[0], uint8_t{0});
    return 0;
  }
  const std::shared_ptr<Buffer> buffer = frame.refs[operands[0]];
  if (buffer == nullptr) throw End{Ending::kFailed};
  if (name == "length") return buffer->size();
  const size_t bytes = type == "i8"    ? 1
                       : type == "i16" ? 2
                       : IsWide(type)  ? 8
                                       : 4;
  const Wide count = name == "fill" ? Wide{operands[2]} : 1;
  if ((operands[1] + count) * static_cast<Wide>(bytes) >
      static_cast<Wide>(buffer->size())) {
    throw End{Ending::kFailed};
  }
  uint8_t* at = buffer->data() + operands[1] * bytes;
  if (name == "load") {
    uint64_t value = 0;
    std::memcpy(&value, at, bytes);
    const int width = static_cast<int>(bytes) * 8;
    return is_signed ? Low(Signed(value, width), 32) : value;
  }
  for (Wide i = 0; i < count; ++i, at += bytes) {
    std::memcpy(at, &operands.back(), bytes);
  }
  return 0;
}

void Interpreter::Run(Frame& frame, const Instruction& instruction) {
  const std::string mnemonic = vm::InfoOf(instruction.op).mnemonic;
  const std::vector<absl::string_view> part = absl::StrSplit(mnemonic, '.');
  const std::vector<uint64_t> operands = Operands(frame, instruction);
  uint64_t result = 0;
  if (part[0] == "call") {
    CallFrom(frame, instruction);
    return;
  }
  if (part[0] == "const") {
    result = part.back() == "zero" ? 0 : instruction.immediate;
    if (part[1] == "ref") {
      frame.refs[instruction.results[0]] = nullptr;
      return;
    }
  } else if (part[0] == "global") {
    uint8_t* const global = &globals_[instruction.immediate];
    const size_t bytes = IsWide(part[2]) ? 8 : 4;
    if (part[1] == "store") {
      std::memcpy(global, operands.data(), bytes);
    } else {
      std::memcpy(&result, global, bytes);
    }
  } else if (part[0] == "buffer") {
    result =
        AtBuffer(frame, instruction, part[1], part.size() > 2 ? part[2] : "",
                 part.back() == "s", operands);
    if (part[1] == "alloc") return;
  } else if (part[0] == "switch") {
    const auto index = FromBits<int32_t>(operands[0]);
    const auto count = static_cast<int32_t>(instruction.operands.size()) - 2;
    const size_t chosen =
        index >= 0 && index < count ? static_cast<size_t>(index) + 2 : 1;
    result = frame.Get(instruction.operands[chosen], IsWide(part[1]));
  } else {
    result = Scalar(mnemonic, operands);
  }
  if (instruction.results.empty()) return;
  frame.Set(instruction.results[0],
            IsWideField(Fields(instruction.op, true)[0]), result);
}

const Jump& Interpreter::Choose(const Frame& frame,
                                const Instruction& instruction) {
  if (instruction.op == Op::kCondBr) {
    return instruction.jumps[frame.words[instruction.operands[0]] != 0 ? 0 : 1];
  }
  if (instruction.op == Op::kBrTable) {
    const auto index = FromBits<int32_t>(frame.words[instruction.operands[0]]);
    const auto count = static_cast<int32_t>(instruction.jumps.size()) - 1;
    return instruction
        .jumps[index >= 0 && index < count ? static_cast<size_t>(index) + 1
                                           : 0];
  }
  return instruction.jumps[0];
}

std::vector<uint64_t> Interpreter::Call(
    size_t ordinal, const std::vector<uint64_t>& arguments) {
  const ProgramFunction& function = program_.functions[ordinal];
  Frame frame;
  const std::vector<uint16_t> words = WordsOf(function.arguments);
  for (size_t i = 0; i < words.size(); ++i) {
    const char letter = function.arguments[i];
    frame.Set(words[i], letter == 'I' || letter == 'F', arguments[i]);
  }
  for (size_t block = 0;;) {
    for (const Instruction& instruction : function.blocks[block].instructions) {
      if (++instruction_count_ > kInstructionsMax) throw End{Ending::kEndless};
      if (instruction.op == Op::kFail) throw End{Ending::kFailed};
      if (instruction.op == Op::kReturn) {
        std::vector<uint64_t> results;
        for (size_t i = 0; i < function.results.size(); ++i) {
          const char letter = function.results[i];
          results.push_back(frame.Get(instruction.operands[i],
                                      letter == 'I' || letter == 'F'));
        }
        return results;
      }
      if (instruction.jumps.empty()) {
        Run(frame, instruction);
        continue;
      }
      const Jump& jump = Choose(frame, instruction);
      const Frame before = frame;
      for (const auto& [from, to] : jump.copies) {
        frame.words[to] = before.words[from];
      }
      block = jump.block;
      break;
    }
  }
}

}  // namespace

Outcome Interpret(const BytecodeProgram& program) {
  Outcome outcome;
  try {
    outcome.results = Interpreter(program).Call(0, program.arguments);
  } catch (const End& end) {
    outcome.ending = end.ending;
  }
  return outcome;
}

}  // namespace takt::fuzz
