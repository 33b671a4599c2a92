// Draws a program that is valid by construction, has Takt load and run it, and
// compares the results with those of a reference interpreter.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tests/fuzz/bytecode_program.h"
#include "tests/fuzz/reference_interpreter.h"
#include "vm/bytecode_archive.h"
#include "vm/bytecode_module.h"
#include "vm/context.h"
#include "vm/disassembler.h"
#include "vm/invocation.h"
#include "vm/type_registry.h"
#include "vm/value.h"

namespace takt::fuzz {
namespace {

using vm::Value;

// Branches, calls and pieces of buffers count; a program that ends has fewer.
constexpr uint64_t kStepLimit = 20 * kInstructionsMax;
// The limit for a program that the reference did not see end.
constexpr uint64_t kEndlessStepLimit = kInstructionsMax;

Value ToValue(char letter, uint64_t bits) {
  float narrow;
  double wide;
  std::memcpy(&narrow, &bits, sizeof(narrow));
  std::memcpy(&wide, &bits, sizeof(wide));
  switch (letter) {
    case 'i':
      return Value::I32(static_cast<int32_t>(bits));
    case 'I':
      return Value::I64(static_cast<int64_t>(bits));
    case 'f':
      return Value::F32(narrow);
    default:
      return Value::F64(wide);
  }
}

uint64_t BitsOf(char letter, const Value& value) {
  const bool is_wide = letter == 'I' || letter == 'F';
  const uint64_t bits = static_cast<uint64_t>(value.slot().i64);
  return is_wide ? bits : static_cast<uint32_t>(value.slot().i32);
}

// Prints the program, and ends.
[[noreturn]] void Report(const std::vector<uint8_t>& file,
                         const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  const absl::StatusOr<vm::BytecodeArchive> archive =
      vm::BytecodeArchive::Parse(file);
  for (size_t i = 0; archive.ok() && i < archive->functions.size(); ++i) {
    const absl::StatusOr<std::string> text =
        vm::DisassembleFunction(*archive, i);
    std::fprintf(stderr, "%s\n",
                 text.ok() ? text->c_str() : text.status().ToString().c_str());
  }
  __builtin_trap();
}

absl::StatusOr<std::vector<Value>> RunInTakt(const BytecodeProgram& program,
                                             const std::vector<uint8_t>& file,
                                             uint64_t step_limit) {
  static const vm::TypeRegistry* const kTypes = new vm::TypeRegistry;
  absl::StatusOr<Ref<vm::BytecodeModule>> module =
      vm::BytecodeModule::Load(*kTypes, file, nullptr, "fuzz");
  if (!module.ok()) Report(file, module.status().ToString());
  absl::StatusOr<Ref<vm::Context>> context =
      vm::Context::Create({*module}, nullptr);
  if (!context.ok()) Report(file, context.status().ToString());
  absl::StatusOr<vm::FunctionRef> function = (*context)->FindFunction("m.f");
  if (!function.ok()) Report(file, function.status().ToString());
  std::vector<Value> arguments;
  for (size_t i = 0; i < program.arguments.size(); ++i) {
    arguments.push_back(
        ToValue(program.functions[0].arguments[i], program.arguments[i]));
  }
  absl::StatusOr<Ref<vm::Invocation>> invocation =
      vm::Invocation::Create(**context, *function, absl::MakeSpan(arguments));
  if (!invocation.ok()) Report(file, invocation.status().ToString());
  (*invocation)->SetStepLimit(step_limit);
  const absl::Status status = (*invocation)->RunToEnd();
  if (!status.ok()) return status;
  return (*invocation)->TakeResults();
}

void Compare(const BytecodeProgram& program, const std::vector<uint8_t>& file,
             const Outcome& expected,
             const absl::StatusOr<std::vector<Value>>& actual) {
  switch (expected.ending) {
    case Ending::kUnspecified:
      return;
    case Ending::kEndless:
      if (actual.ok()) Report(file, "ended, but has no end");
      return;
    case Ending::kFailed:
      if (actual.ok()) Report(file, "succeeded, but fails");
      if (actual.status().message().find("step limit") != std::string::npos) {
        Report(file, actual.status().ToString());
      }
      return;
    case Ending::kReturned:
      break;
  }
  if (!actual.ok()) Report(file, actual.status().ToString());
  const std::string& letters = program.functions[0].results;
  for (size_t i = 0; i < letters.size(); ++i) {
    const uint64_t bits = BitsOf(letters[i], (*actual)[i]);
    if (bits == expected.results[i]) continue;
    char text[128];
    std::snprintf(text, sizeof(text),
                  "result %zu (%c) is %016" PRIx64 ", not %016" PRIx64, i,
                  letters[i], bits, expected.results[i]);
    Report(file, text);
  }
}

}  // namespace
}  // namespace takt::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace takt::fuzz;  // NOLINT(google-build-using-namespace)
  const BytecodeProgram program = BytecodeProgram::Draw(data, size);
  const std::vector<uint8_t> file = program.Encode();
  const Outcome expected = Interpret(program);
  const bool has_ended = expected.ending == Ending::kReturned ||
                         expected.ending == Ending::kFailed;
  const uint64_t step_limit = has_ended ? kStepLimit : kEndlessStepLimit;
  Compare(program, file, expected, RunInTakt(program, file, step_limit));
  return 0;
}
