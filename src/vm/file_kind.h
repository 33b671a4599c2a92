// What a file that is not a compiled module seems to be, so that the message
// of a failed load can say it and what to do.
//
// Thread-safety: pure.
#ifndef TAKT_VM_FILE_KIND_H_
#define TAKT_VM_FILE_KIND_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace takt::vm {

// A sentence such as "this is MLIR text, not a compiled module (.vmfb); compile
// it with ...". Empty for bytes that may be a module: the archive's own
// message says more about those. Reads the first bytes only.
std::string ExplainForeignFile(absl::Span<const uint8_t> bytes);

}  // namespace takt::vm

#endif  // TAKT_VM_FILE_KIND_H_
