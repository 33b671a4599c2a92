// What a program computes, by the words of docs/module_format.md. It is written
// to be read: each instruction is found by its mnemonic, and integers are
// computed with more bits than they have.
#ifndef TAKT_TESTS_FUZZ_REFERENCE_INTERPRETER_H_
#define TAKT_TESTS_FUZZ_REFERENCE_INTERPRETER_H_

#include <cstdint>
#include <vector>

#include "tests/fuzz/bytecode_program.h"

namespace takt::fuzz {

enum class Ending {
  kReturned,
  kFailed,       // By a `fail`, a division by zero, a buffer's bounds, ...
  kEndless,      // More than kInstructionsMax.
  kUnspecified,  // A NaN, whose bits are not specified, has come up.
};

struct Outcome {
  Ending ending = Ending::kReturned;
  std::vector<uint64_t> results;  // Bits; those of 32-bit values are low.
};

inline constexpr int kInstructionsMax = 1000;

Outcome Interpret(const BytecodeProgram& program);

}  // namespace takt::fuzz

#endif  // TAKT_TESTS_FUZZ_REFERENCE_INTERPRETER_H_
