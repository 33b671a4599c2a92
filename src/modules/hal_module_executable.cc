// executable.*
#include <vector>

#include "base/status.h"
#include "modules/hal_arguments.h"
#include "modules/hal_state.h"

namespace takt::modules {
absl::StatusOr<Ref<hal::Executable>> HalState::ExecutableCreate(
    hal::Device& device, uint64_t affinity, vm::ByteBuffer& format,
    vm::ByteBuffer& data, vm::ByteBuffer* constants) {
  TAKT_ASSIGN_OR_RETURN(std::vector<uint32_t> words,
                        ExecutableConstants(constants));
  return device.LoadExecutable(format.text(), data.bytes(),
                               Ref<Object>::Retain(&data), words);
}

absl::StatusOr<uint64_t> HalState::ExecutableLookupFunction(
    hal::Executable& executable, vm::ByteBuffer& name) {
  return executable.LookupFunction(name.text());
}

}  // namespace takt::modules
