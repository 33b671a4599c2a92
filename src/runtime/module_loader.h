// Loads compiled modules for an instance.
//
// Thread-safety: any thread may load.
#ifndef TAKT_RUNTIME_MODULE_LOADER_H_
#define TAKT_RUNTIME_MODULE_LOADER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/object.h"
#include "runtime/instance.h"
#include "vm/module.h"

namespace takt::runtime {

// The alignment of a module's bytes: that of the constants in it.
inline constexpr size_t kModuleAlignment = 64;

// The module keeps the instance, whose types it uses, and `bytes_owner`.
// `source` names the bytes in messages.
absl::StatusOr<Ref<vm::Module>> LoadModule(Instance& instance,
                                           absl::Span<const uint8_t> bytes,
                                           Ref<Object> bytes_owner,
                                           const std::string& source,
                                           bool accept_unknown_types);

}  // namespace takt::runtime

#endif  // TAKT_RUNTIME_MODULE_LOADER_H_
