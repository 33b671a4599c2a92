// A Program is a module's code in the interpreter's own form, together with
// the objects that the code refers to. It is made once, at load, from verified
// bytecode.
//
// Form: an instruction is one or more 8-byte units. The first unit has the
// opcode and up to three operands. Operands b and c may be one 32-bit number
// ("wide"): an immediate, an ordinal, or the distance of a jump in units from
// the instruction. Further operands follow in units of their own: first a list
// of 16-bit operands, four a unit, then 8-byte payloads (pointers, immediates).
//
// A register's address is a signed 16-bit number: its distance from the frame's
// base in words of 4 bytes. Values have addresses from 0 up; refs are below the
// header.
//
//   | ref n-1 ... ref 1 | ref 0 | FrameHeader | value 0 | value 1 ... |
//                                             ^ base
//
// Refs have even addresses. An odd address means: move from the ref at the
// address minus one.
#ifndef TAKT_VM_PROGRAM_H_
#define TAKT_VM_PROGRAM_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/object.h"
#include "vm/byte_buffer.h"
#include "vm/calling_convention.h"
#include "vm/list.h"

namespace takt::vm {

enum class InnerOp : uint16_t {
#define TAKT_VM_PLAIN_OP(name) name,
#define TAKT_VM_INNER_OP(name) name,
#define TAKT_VM_BRANCH_OP(name) name, name##Back,
#include "vm/inner_ops.inc"
  kCount,
};

struct alignas(8) Unit {
  uint16_t op;
  int16_t a, b, c;

  int32_t wide() const {
    int32_t value;
    std::memcpy(&value, &b, sizeof(value));
    return value;
  }
  void set_wide(int32_t value) { std::memcpy(&b, &value, sizeof(value)); }
  // The unit as a payload.
  template <typename T>
  T payload() const {
    static_assert(sizeof(T) == sizeof(Unit));
    T value;
    std::memcpy(&value, this, sizeof(value));
    return value;
  }
  template <typename T>
  static Unit FromPayload(T value) {
    static_assert(sizeof(T) == sizeof(Unit));
    Unit unit;
    std::memcpy(&unit, &value, sizeof(value));
    return unit;
  }
  // Units from here as a list of 16-bit operands.
  const int16_t* list() const { return reinterpret_cast<const int16_t*>(this); }
};
static_assert(sizeof(Unit) == 8);

constexpr size_t UnitsOfList(size_t count) { return (count + 3) / 4; }

struct Program;
struct Function;
struct Instance;

struct FrameHeader {
  const Unit* return_pc;     // At the caller's list of results.
  const Function* function;  // The function that the frame belongs to.
  const Instance* instance;  // Its module in this context.
  uint64_t caller_distance;  // Bytes from the caller's base to this one.
};
inline constexpr int kHeaderWords = sizeof(FrameHeader) / 4;

// The address of a ref register.
constexpr int16_t RefAddress(uint32_t ordinal) {
  return static_cast<int16_t>(-kHeaderWords - 2 -
                              2 * static_cast<int>(ordinal));
}
inline constexpr uint32_t kMaxRefRegisters = 8192;
inline constexpr uint32_t kMaxValueRegisters = 32000;

struct Function {
  const Unit* code = nullptr;
  uint32_t value_bytes = 0;  // Values, a multiple of 16, with 8 to spare.
  uint32_t ref_bytes = 0;
  // Where the arguments end. The values after them must be zero at entry.
  uint32_t zero_begin = 0;
  uint32_t ref_count = 0;
  std::vector<int16_t> arguments;  // The address of each.
  const Program* program = nullptr;
  uint32_t ordinal = 0;

  // Cold: the functions that it calls (imports with kImportBit), and the pc of
  // the wire for each instruction. Both ascend.
  std::vector<uint32_t> callees;
  std::vector<std::pair<uint32_t, uint32_t>> pcs;  // Unit, pc.
  std::string name;                                // For messages.
};
// The bytes from the base of a caller's frame to that of its callee's.
inline uint64_t DistanceOf(const Function& caller, const Function& callee) {
  return uint64_t{caller.value_bytes} + callee.ref_bytes + sizeof(FrameHeader);
}
inline constexpr uint32_t kImportBit = 0x80000000u;

struct Program {
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  std::string name;
  std::vector<Unit> code;
  std::vector<Function> functions;
  std::vector<ElementType> types;  // The type table.
  // The first of them that is not registered; the program must not run then.
  std::string unknown_type;
  std::vector<Ref<ByteBuffer>> rodata;
  std::vector<std::vector<Letter>> import_results;
  std::vector<std::string> import_names;
  std::vector<std::string> texts;  // Of the fail instructions.
  uint32_t global_bytes = 0;
  uint32_t global_ref_count = 0;
};

// "module.function+pc" for messages.
std::string DescribePlace(const Function& function, const Unit* pc);

}  // namespace takt::vm

#endif  // TAKT_VM_PROGRAM_H_
