// The contents of a recorded command buffer: lists of plain records, in memory
// of its arena. Ranges name a base, which is resolved to an address when the
// command buffer executes: an entry of the binding table, or a storage that
// was recorded directly.
#ifndef TAKT_CPU_COMMAND_H_
#define TAKT_CPU_COMMAND_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "cpu/dispatch_route.h"
#include "cpu/loaded_executable.h"
#include "hal/buffer.h"

namespace takt::cpu {

// Bases [0, binding capacity) are the binding table, those after it the direct
// storages in the order of the command buffer's list.
struct Range {
  uint32_t base = 0;
  uint64_t offset = 0;
  uint64_t length = 0;  // hal::kWholeBuffer: what remains of the base.
};

// A base while the command buffer executes: pinned memory.
struct Base {
  uint8_t* data = nullptr;  // nullptr: a slot that no command uses.
  uint64_t length = 0;
  hal::Storage* storage = nullptr;  // Pinned; borrowed.
  bool is_writable = true;
};

struct Command {
  enum class Kind : uint8_t { kFill, kUpdate, kCopy, kDispatch };
  Kind kind;
  Command* next = nullptr;  // In the same region.
};

// `source` is used by kCopy only, `bytes` by kUpdate, `pattern` by kFill.
struct TransferCommand : Command {
  Range target;
  Range source;
  const uint8_t* bytes = nullptr;
  uint32_t pattern = 0;
  uint32_t pattern_length = 0;
};

struct DispatchCommand : Command {
  const LoadedExecutable* executable = nullptr;
  uint32_t function = 0;
  uint32_t constant_count = 0;
  uint32_t binding_count = 0;
  bool is_indirect = false;  // Counts are read from `counts`.
  std::array<uint32_t, 3> workgroup_count = {};  // Else they are these.
  Range counts;
  const uint32_t* constants = nullptr;
  const Range* bindings = nullptr;

  // Null: the dispatch has this one target.
  const DispatchRoute* route() const {
    return route_.load(std::memory_order_acquire);
  }
  // `route` outlives the command. Others may run the command meanwhile: release
  // pairs with the acquire of route(), so that they see a complete route.
  void SetRoute(const DispatchRoute& route) {
    TAKT_CHECK(route_.load(std::memory_order_relaxed) == nullptr);
    route_.store(&route, std::memory_order_release);
  }
  DispatchCost& cost() const {
    return executable->cost(
        function, is_indirect ? DispatchCosts::Grid{0, 0, 0} : workgroup_count);
  }

 private:
  std::atomic<const DispatchRoute*> route_{nullptr};
};

// Commands between two barriers.
struct Region {
  Command* first = nullptr;
  Command* last = nullptr;
  Region* next = nullptr;
  uint32_t command_count = 0;
  uint32_t dispatch_count = 0;
  uint32_t binding_count = 0;  // All dispatches together.
};

// How the commands use an entry of the binding table.
struct SlotUse {
  uint64_t bytes_min = 0;  // The greatest end of a range in it.
  bool is_used = false;
  bool is_dispatched = false;  // Bound to a kernel: must start aligned.
  bool is_read = false;        // By a transfer.
  bool is_written = false;     // By a transfer.
};

// A storage recorded directly; the command buffer holds it.
struct DirectStorage {
  hal::Storage* storage;
  DirectStorage* next;
  bool is_writable = false;  // One of the buffers over it may be written.
};

// An object that dispatches keep alive.
struct RetainedObject {
  const Object* object;
  RetainedObject* next;
};

}  // namespace takt::cpu

#endif  // TAKT_CPU_COMMAND_H_
