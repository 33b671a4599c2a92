// The `check` module: expectations of self-checking programs. If one fails, it
// is reported, and the program continues.
//
// Thread-safety: the module is immutable; the sink is called on the thread that
// runs the program.
#ifndef TAKT_MODULES_CHECK_MODULE_H_
#define TAKT_MODULES_CHECK_MODULE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "vm/module.h"
#include "vm/type_registry.h"

namespace takt::modules {

// Gets "expect_eq: ..." for each expectation that fails: what was expected,
// what came, and the first few elements that differ, with their indices.
using CheckSink = std::function<void(const std::string& message)>;

// INVALID_ARGUMENT without a sink.
absl::StatusOr<Ref<vm::Module>> CreateCheckModule(vm::TypeRegistry& registry,
                                                  CheckSink sink);

}  // namespace takt::modules

#endif  // TAKT_MODULES_CHECK_MODULE_H_
