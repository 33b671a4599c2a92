#include "hal/command_buffer.h"

namespace takt::hal {

Object* CommandBuffer::Clone(Object& object, CloneMap& clones) {
  auto& command_buffer = static_cast<CommandBuffer&>(object);
  const bool never_changes = command_buffer.finalized() &&
                             !command_buffer.one_shot() &&
                             !command_buffer.has_direct_mutable_buffers();
  return never_changes ? CloneIsSame(object, clones) : nullptr;
}

}  // namespace takt::hal
