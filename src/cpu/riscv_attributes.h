// Reads the processor requirements of a RISC-V executable: the segment
// .riscv.attributes of its ELF file names the extensions for which it was
// compiled. An instruction that the processor lacks would end the process, so
// such an executable is refused.
#ifndef TAKT_CPU_RISCV_ATTRIBUTES_H_
#define TAKT_CPU_RISCV_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace takt::cpu {

// The extensions of an ISA string, in its order and without their versions:
// "rv64i2p1_m2p0_zvl32b1p0" has "i", "m" and "zvl32b". Empty for what is none.
std::vector<std::string> RiscvExtensions(absl::string_view isa);

// The ISA string of an attributes segment; empty if it has none. DATA_LOSS with
// the offset in `segment` of what is damaged.
absl::StatusOr<std::string> ReadRiscvIsa(absl::Span<const uint8_t> segment);

// OK if `elf` is no RISC-V file, says nothing, or needs no feature of
// riscv_64::Bit (by its name) that is not among `features`: only of those can
// it be known that they are absent. UNIMPLEMENTED naming what is needed and
// what there is; DATA_LOSS.
absl::Status CheckRiscvIsa(absl::Span<const uint8_t> elf,
                           absl::Span<const std::string> features);

}  // namespace takt::cpu

#endif  // TAKT_CPU_RISCV_ATTRIBUTES_H_
