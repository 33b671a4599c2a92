// Decodes one instruction of a function body from the wire. The decoder checks
// bounds (it reads nothing past the body); the verifier checks operands. An
// instruction of an older version becomes the equal one of the newest version:
// move bits without an effect are cleared.
#ifndef TAKT_VM_WIRE_DECODER_H_
#define TAKT_VM_WIRE_DECODER_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "vm/bytecode_version.h"
#include "vm/opcodes.h"

namespace takt::vm {

// A register as encoded: bit 15 marks a ref, and bit 14 a ref that is moved.
using WireRegister = uint16_t;
inline constexpr WireRegister kWireRefBit = 0x8000;
inline constexpr WireRegister kWireMoveBit = 0x4000;
inline constexpr WireRegister kWireRefMask = 0x3fff;
// This bit of a function's ordinal marks an import.
inline constexpr uint32_t kWireImportBit = 0x80000000u;

enum class WireFieldKind : uint8_t {
  kI32,
  kI64,
  kF32,
  kF64,  // i I f F
  kRef,
  kRefMove,  // r m
  kI32List,
  kI64List,
  kF32List,
  kF64List,  // i* I* f* F*
  kRefMoveList,
  kAnyList,
  kSegments,  // m* a* seg
  kGlobal4,
  kGlobal8,
  kGlobalRef,
  kType,
  kRodata,  // g4 g8 gr t d
  kConstI32,
  kConstI64,
  kConstF32,
  kConstF64,  // k4 k8 kf kd
  kString,
  kFunction,
  kImport,  // s fn im
  kBranch,
  kTarget,
  kBranchTable,  // br pc tbl
};

struct WireBranch {
  uint32_t target_pc = 0;
  std::vector<std::pair<WireRegister, WireRegister>> remap;  // Source, target.
};

struct WireField {
  WireFieldKind kind;
  bool is_result = false;
  uint32_t offset = 0;               // Of the field, from the body's start.
  uint64_t value = 0;                // Register, ordinal, immediate bits, pc.
  std::vector<uint16_t> list;        // Register lists and segments.
  absl::string_view text;            // kString.
  std::vector<WireBranch> branches;  // kBranch: one. kBranchTable: the cases.
};

struct WireInstruction {
  const OpInfo* info = nullptr;
  uint32_t pc = 0;       // Of the opcode (or its prefix).
  uint32_t next_pc = 0;  // Of the byte after the instruction.
  absl::InlinedVector<WireField, 6> fields;  // In encoding order.
};

// Decodes the instruction at `pc` of `body`, which is of that version, into
// *out, whose storage is reused. INVALID_ARGUMENT for an opcode that the
// version does not have, or a field that does not fit; the message names pc,
// opcode and field.
absl::Status DecodeInstruction(const BytecodeVersion& version,
                               absl::Span<const uint8_t> body, uint32_t pc,
                               WireInstruction* out);

}  // namespace takt::vm

#endif  // TAKT_VM_WIRE_DECODER_H_
