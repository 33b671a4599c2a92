// The container that the compiler puts around an object file of
// hal.dispatch.extern: a 64-byte header ("CDA1", u32 version 0, u64 content
// size), then a FlatBuffer whose root's field 1 is a vector of modules, whose
// field 0 is the object file's bytes.
#ifndef TAKT_NPU_PROGRAM_CONTAINER_H_
#define TAKT_NPU_PROGRAM_CONTAINER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace takt::npu {

bool IsProgramContainer(absl::Span<const uint8_t> data);

// The object file, within `data`. DATA_LOSS if the container is damaged;
// UNIMPLEMENTED for one of several files.
absl::StatusOr<absl::Span<const uint8_t>> ReadProgramContainer(
    absl::Span<const uint8_t> data);

}  // namespace takt::npu

#endif  // TAKT_NPU_PROGRAM_CONTAINER_H_
