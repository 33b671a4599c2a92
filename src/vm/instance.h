// An Instance is one module in one context, as the interpreter sees it: its
// globals and the functions to which its imports are bound.
#ifndef TAKT_VM_INSTANCE_H_
#define TAKT_VM_INSTANCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/object.h"
#include "vm/call.h"
#include "vm/module.h"
#include "vm/program.h"

namespace takt::vm {

// The function to which an import or an export is bound. If it is neither
// native nor bytecode, no module provides an optional import.
struct Callee {
  NativeFunction native = nullptr;
  void* self = nullptr;
  const Function* function = nullptr;
  uint32_t module = 0;                // Index into the context's states.
  const std::string* name = nullptr;  // "module.function".
  const std::vector<Letter>* results = nullptr;
};

struct Instance {
  const Callee* imports = nullptr;             // By import ordinal.
  ModuleState* const* states = nullptr;        // Of the context, by module.
  const Instance* const* instances = nullptr;  // Likewise; native: NULL.
  uint8_t* globals = nullptr;
  Object** global_refs = nullptr;
};

class BytecodeState final : public ModuleState {
 public:
  // Every global 0 or null.
  explicit BytecodeState(const Program& program);
  ~BytecodeState() override;

  const Instance& instance() const { return instance_; }
  // Before the first call.
  void Link(const Callee* imports, ModuleState* const* states,
            const Instance* const* instances);

  size_t memory_bytes() const;

 private:
  const Program& program_;
  Instance instance_;
  std::unique_ptr<uint64_t[]> storage_;  // Refs, then values.
};

}  // namespace takt::vm

#endif  // TAKT_VM_INSTANCE_H_
