// Programs of bytecode that are valid by construction, drawn from the bytes of
// a fuzzer: functions of blocks, with instructions on scalars, globals and
// buffers, branches of every kind with remap lists, and calls of functions
// that come later.
#ifndef TAKT_TESTS_FUZZ_BYTECODE_PROGRAM_H_
#define TAKT_TESTS_FUZZ_BYTECODE_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "vm/opcodes.h"

namespace takt::fuzz {

// The sizes of every function and of the module's globals.
inline constexpr uint16_t kWordCount = 16;  // 64-bit values lie in even pairs.
inline constexpr uint16_t kRefCount = 3;
inline constexpr uint32_t kGlobalBytes = 32;

// A branch: the words that its remap list copies, all at the same time.
struct Jump {
  size_t block = 0;
  std::vector<std::pair<uint16_t, uint16_t>> copies;  // From, to.
};

struct Instruction {
  vm::Op op = vm::Op::kBlock;
  // In the order of the encoding, without the results. An entry is the first
  // word of a value, or the ordinal of a ref.
  std::vector<uint16_t> operands;
  std::vector<uint16_t> results;
  uint64_t immediate = 0;   // A constant, an offset, a function's ordinal.
  std::vector<Jump> jumps;  // Of a terminator; the default one first.
};

struct Block {
  std::vector<Instruction> instructions;  // The last one is a terminator.
};

struct ProgramFunction {
  std::string arguments;  // Letters of the calling convention: i I f F.
  std::string results;
  std::vector<Block> blocks;
};

// The words of values of these kinds, one after the other.
std::vector<uint16_t> WordsOf(const std::string& letters);

// Function 0 is the one that is exported, as "f".
struct BytecodeProgram {
  std::vector<ProgramFunction> functions;
  std::vector<uint64_t> arguments;  // Of function 0: bits.

  static BytecodeProgram Draw(const uint8_t* data, size_t size);
  // As a file of one module, "m".
  std::vector<uint8_t> Encode() const;
};

}  // namespace takt::fuzz

#endif  // TAKT_TESTS_FUZZ_BYTECODE_PROGRAM_H_
