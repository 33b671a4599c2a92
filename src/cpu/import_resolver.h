// An ImportResolver finds the host function for the name of an import of a
// compiled kernel.
//
// Thread-safety: Resolve() may run on any thread, and on several threads at the
// same time.
#ifndef TAKT_CPU_IMPORT_RESOLVER_H_
#define TAKT_CPU_IMPORT_RESOLVER_H_

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace takt::cpu {

struct ImportFunction {
  // `parameters` is the struct that the kernel built: results first, then
  // arguments, then the fields it asked for. Non-zero fails the dispatch.
  int (*function)(void* parameters, void* context, void* reserved) = nullptr;
  void* context = nullptr;  // Outlives every executable that resolved it.
};

class ImportResolver {
 public:
  virtual ~ImportResolver() = default;
  // nullopt if there is no such function.
  virtual absl::optional<ImportFunction> Resolve(absl::string_view name) = 0;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_IMPORT_RESOLVER_H_
