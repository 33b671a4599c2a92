// Makes programs of Takt's command format for tests.
#ifndef TAKT_TESTS_NPU_ASSEMBLER_H_
#define TAKT_TESTS_NPU_ASSEMBLER_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "npu/command_program.h"

namespace takt::npu {

// A field: a number, or a constant of the dispatch.
struct Field {
  Field(uint32_t number) : value(number) {}  // NOLINT
  static Field Constant(uint32_t index) {
    Field field(index);
    field.is_constant = true;
    return field;
  }
  uint32_t value;
  bool is_constant = false;
};

class Assembler {
 public:
  Assembler& Function(const std::string& name, uint16_t constant_count,
                      uint16_t binding_count) {
    functions_.push_back({static_cast<uint32_t>(names_.size()),
                          static_cast<uint32_t>(commands_.size()), 0,
                          constant_count, binding_count});
    names_ += name;
    names_ += '\0';
    return *this;
  }
  Assembler& Add(Opcode opcode, const std::vector<Field>& fields) {
    Command command;
    command.opcode = static_cast<uint16_t>(opcode);
    for (size_t i = 0; i < fields.size(); ++i) {
      command.fields[i] = fields[i].value;
      if (fields[i].is_constant) command.mask |= 1u << i;
    }
    commands_.push_back(command);
    ++functions_.back().command_count;
    return *this;
  }
  std::vector<uint8_t> Assemble() const {
    std::vector<uint8_t> bytes;
    const uint32_t header[] = {0x43504e54,
                               CommandProgram::kVersion,
                               static_cast<uint32_t>(functions_.size()),
                               static_cast<uint32_t>(commands_.size()),
                               static_cast<uint32_t>(names_.size()),
                               0,
                               0,
                               0};
    Put(header, sizeof(header), &bytes);
    Put(functions_.data(), functions_.size() * sizeof(Entry), &bytes);
    Put(commands_.data(), commands_.size() * sizeof(Command), &bytes);
    Put(names_.data(), names_.size(), &bytes);
    return bytes;
  }

 private:
  struct Entry {
    uint32_t name;
    uint32_t first_command;
    uint32_t command_count;
    uint16_t constant_count;
    uint16_t binding_count;
  };
  static_assert(sizeof(Entry) == CommandProgram::kFunctionBytes);
  static void Put(const void* data, size_t length,
                  std::vector<uint8_t>* bytes) {
    const auto* const from = static_cast<const uint8_t*>(data);
    bytes->insert(bytes->end(), from, from + length);
  }

  std::vector<Entry> functions_;
  std::vector<Command> commands_;
  std::string names_;
};

}  // namespace takt::npu

#endif  // TAKT_TESTS_NPU_ASSEMBLER_H_
