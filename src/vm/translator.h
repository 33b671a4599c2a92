// Translates a module's bytecode into the interpreter's own form.
#ifndef TAKT_VM_TRANSLATOR_H_
#define TAKT_VM_TRANSLATOR_H_

#include <memory>

#include "absl/status/statusor.h"
#include "vm/bytecode_archive.h"
#include "vm/program.h"
#include "vm/type_registry.h"

namespace takt::vm {

// `archive` has passed VerifyArchive(). `owner` keeps its bytes alive.
// NOT_FOUND for a type that `types` lacks; UNIMPLEMENTED for a function with
// more registers than a frame can address.
absl::StatusOr<std::unique_ptr<Program>> Translate(
    const BytecodeArchive& archive, const TypeRegistry& types,
    const Ref<Object>& owner);

}  // namespace takt::vm

#endif  // TAKT_VM_TRANSLATOR_H_
