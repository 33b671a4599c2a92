// Recognizes files that are no compiled modules, so that the message of a
// failed load can name the kind of file and what to do with it.
//
// Thread-safety: pure.
#ifndef TAKT_VM_FILE_KIND_H_
#define TAKT_VM_FILE_KIND_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace takt::vm {

// A sentence such as "this is MLIR text, not a compiled module (.vmfb); compile
// it with ...". Empty for bytes that may be a module, for which the archive's
// own message is more precise. Reads the first bytes only.
std::string ExplainForeignFile(absl::Span<const uint8_t> bytes);

}  // namespace takt::vm

#endif  // TAKT_VM_FILE_KIND_H_
