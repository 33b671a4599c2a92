#include "modules/memory_need.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "base/hash_map.h"
#include "base/math.h"
#include "vm/bytecode_archive.h"
#include "vm/bytecode_module.h"
#include "vm/program.h"
#include "vm/wire_decoder.h"

namespace takt::modules {
namespace {

using vm::WireField;
using vm::WireFieldKind;
using vm::WireInstruction;

// Imports that allocate, and the operand that has the size.
struct Allocator {
  absl::string_view import;
  size_t size_operand;
};
constexpr Allocator kAllocators[] = {
    {"hal.device.queue.alloca", 7},
    {"hal.allocator.allocate", 4},
    {"hal_inline.buffer.allocate", 1},
    {"hal_inline.buffer.allocate.initialized", 3},
};

// Takt's own modules, whose other functions allocate nothing.
bool IsKnownModule(absl::string_view import) {
  return absl::StartsWith(import, "hal.") ||
         absl::StartsWith(import, "hal_inline.") ||
         absl::StartsWith(import, "hal_loader.") ||
         absl::StartsWith(import, "vmvx.") ||
         absl::StartsWith(import, "check.") ||
         absl::StartsWith(import, "io_parameters.");
}

// Collects the needs of one module's functions.
class Scan {
 public:
  explicit Scan(const vm::BytecodeArchive& archive) : archive_(archive) {}

  void Function(uint32_t ordinal) {
    if (ordinal >= archive_.functions.size()) return;
    if (active_.size() >= kDepthMax || !active_.insert(ordinal).second) {
      need_.is_once = false;  // It calls itself, or lies too deep.
      ++need_.unknown_count;
      return;
    }
    const absl::Span<const uint8_t> body = archive_.functions[ordinal].body;
    const Constants constants = ConstantsOf(body);
    const std::vector<Loop> loops = LoopsOf(body);
    Visit(body, [&](const WireInstruction& instruction) {
      const size_t count = need_.byte_lengths.size() + need_.unknown_count;
      Instruction(instruction, constants);
      if (need_.byte_lengths.size() + need_.unknown_count == count) return;
      for (const Loop& loop : loops) {
        if (loop.first <= instruction.pc && instruction.pc <= loop.second) {
          need_.is_once = false;
        }
      }
    });
    active_.erase(ordinal);
  }

  MemoryNeed Take() { return std::move(need_); }

 private:
  // By the first word of the register.
  using Constants = HashMap<uint64_t, uint64_t>;
  // From the target of a jump back to the jump.
  using Loop = std::pair<uint32_t, uint32_t>;
  // Without recursion, too, the number of calls may be exponential.
  static constexpr uint32_t kStepsMax = 1 << 20;
  static constexpr size_t kDepthMax = 64;

  template <typename Visitor>
  void Visit(absl::Span<const uint8_t> body, Visitor visitor) {
    WireInstruction instruction;
    for (uint32_t pc = 0; pc < body.size(); pc = instruction.next_pc) {
      if (++step_count_ > kStepsMax ||
          !vm::DecodeInstruction(*archive_.bytecode_version, body, pc,
                                 &instruction)
               .ok()) {
        ++need_.unknown_count;
        return;
      }
      visitor(instruction);
    }
  }

  // The values of i64 registers whose only write is a constant.
  Constants ConstantsOf(absl::Span<const uint8_t> body) {
    HashMap<uint64_t, int> write_counts;
    Constants constants;
    const auto count_write = [&](uint64_t word, bool is_wide) {
      ++write_counts[word];
      if (is_wide) ++write_counts[word + 1];
    };
    Visit(body, [&](const WireInstruction& instruction) {
      for (const WireField& field : instruction.fields) {
        for (const vm::WireBranch& branch : field.branches) {
          for (const auto& [source, target] : branch.remap) {
            count_write(target, false);
          }
        }
        if (!field.is_result) continue;
        const bool is_wide = field.kind == WireFieldKind::kI64 ||
                             field.kind == WireFieldKind::kF64;
        if (field.kind == WireFieldKind::kAnyList) {
          // The width is not known here: both words count as written.
          for (const uint16_t word : field.list) count_write(word, true);
        } else {
          count_write(field.value, is_wide);
        }
      }
      const vm::Op op = instruction.info->op;
      if (op == vm::Op::kConstI64) {
        constants[instruction.fields[1].value] = instruction.fields[0].value;
      } else if (op == vm::Op::kConstI64Zero) {
        constants[instruction.fields[0].value] = 0;
      }
    });
    for (auto it = constants.begin(); it != constants.end();) {
      const auto written = it++;
      if (write_counts[written->first] != 1 ||
          write_counts[written->first + 1] != 1) {
        constants.erase(written);
      }
    }
    return constants;
  }

  std::vector<Loop> LoopsOf(absl::Span<const uint8_t> body) {
    std::vector<Loop> loops;
    Visit(body, [&](const WireInstruction& instruction) {
      for (const WireField& field : instruction.fields) {
        for (const vm::WireBranch& branch : field.branches) {
          if (branch.target_pc <= instruction.pc) {
            loops.emplace_back(branch.target_pc, instruction.pc);
          }
        }
      }
    });
    return loops;
  }

  void Instruction(const WireInstruction& instruction,
                   const Constants& constants) {
    const WireField& callee =
        instruction.fields.empty() ? WireField{} : instruction.fields[0];
    if (callee.kind != WireFieldKind::kFunction || callee.is_result) return;
    if ((callee.value & vm::kImportBit) == 0) {
      Function(static_cast<uint32_t>(callee.value));
      return;
    }
    const uint64_t ordinal = callee.value & ~uint64_t{vm::kImportBit};
    if (ordinal >= archive_.imports.size()) return;
    const std::string& import = archive_.imports[ordinal].full_name;
    for (const Allocator& allocator : kAllocators) {
      if (import != allocator.import) continue;
      for (const WireField& field : instruction.fields) {
        if (field.kind != WireFieldKind::kAnyList || field.is_result) continue;
        Allocation(field.list, allocator.size_operand, constants);
        return;
      }
    }
    if (!IsKnownModule(import)) ++need_.unknown_count;
  }

  void Allocation(const std::vector<uint16_t>& operands, size_t size_operand,
                  const Constants& constants) {
    const auto found = size_operand < operands.size()
                           ? constants.find(operands[size_operand])
                           : constants.end();
    if (found != constants.end()) {
      need_.byte_lengths.push_back(found->second);
    } else {
      ++need_.unknown_count;
    }
  }

  const vm::BytecodeArchive& archive_;
  HashSet<uint32_t> active_;  // Functions on the current path.
  uint32_t step_count_ = 0;
  MemoryNeed need_;
};

}  // namespace

uint64_t MemoryNeed::BytesMax() const {
  uint64_t total = 0;
  for (const uint64_t byte_length : byte_lengths) {
    if (!CheckedAdd(total, byte_length, &total)) return ~uint64_t{0};
  }
  return unknown_count == 0 && is_once ? total : ~uint64_t{0};
}

MemoryNeed QueryMemoryNeed(const vm::Context& context,
                           const vm::Callee& callee) {
  auto* module =
      DynCast<vm::BytecodeModule>(context.modules()[callee.module].get());
  if (module == nullptr || callee.function == nullptr) {
    MemoryNeed need;
    need.unknown_count = 1;
    return need;
  }
  Scan scan(module->archive());
  scan.Function(callee.function->ordinal);
  return scan.Take();
}

}  // namespace takt::modules
