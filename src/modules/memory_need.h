// The memory that a function will allocate on devices, as far as its bytecode
// shows: the allocations in it and in the functions that it calls, if their
// sizes are constants.
#ifndef TAKT_MODULES_MEMORY_NEED_H_
#define TAKT_MODULES_MEMORY_NEED_H_

#include <cstdint>
#include <vector>

#include "vm/context.h"
#include "vm/instance.h"

namespace takt::modules {

struct MemoryNeed {
  // Sizes of the allocations whose size is a constant, in the order of the
  // code.
  std::vector<uint64_t> byte_lengths;
  // The number of allocations with a computed size, and of calls of functions
  // without bytecode.
  uint32_t unknown_count = 0;
  // True if no allocation is in a loop or recursion, so that each is made once
  // at most.
  bool is_once = true;

  // The most that one call can have allocated; ~0 if that is not known.
  uint64_t BytesMax() const;
};

// The need of `callee`, a function of a module of `context`.
MemoryNeed QueryMemoryNeed(const vm::Context& context,
                           const vm::Callee& callee);

}  // namespace takt::modules

#endif  // TAKT_MODULES_MEMORY_NEED_H_
