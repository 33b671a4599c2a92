#include "hal/device.h"

namespace takt::hal {

Ref<File> File::Wrap(Ref<Object> owner, uint8_t* data, uint64_t byte_length,
                     MemoryAccess access) {
  return Ref<File>::Adopt(
      new File(std::move(owner), data, byte_length, access));
}

}  // namespace takt::hal
